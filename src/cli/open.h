/* open.h - sketch files by name */
#ifndef CLI_OPEN_H
#define CLI_OPEN_H

#include "sketch.h"

/* Reads a sketch file of any kind, "-" standing for standard input, or prints why not
 * and returns NULL.  What would not fit this machine is refused. */
struct sketch_file *open_sketch(const char *name, enum sketch_access access);

#endif
