/* open.h - sketch files by name */
#ifndef CLI_OPEN_H
#define CLI_OPEN_H

#include <stdbool.h>
#include <sys/stat.h>

#include "sketch.h"

/* Reads a sketch file of any kind, "-" standing for standard input, or prints why not
 * and returns NULL.  What would not fit this machine is refused, and so are the very
 * file that standard output goes to, and standard input a second time. */
struct sketch_file *open_sketch(const char *name, enum sketch_access access);

/* Whether a regular file begins as a sketch does, ours or DCSO's; false of what cannot be
 * looked at. */
bool open_is_sketch(const char *name);

/* Why nobody reads from the descriptor any more: it is standard input, or the very pipe that
 * it is, and was the sketch or the key, by whatever name.  NULL where it was neither. */
const char *open_spent(int fd);

/* Notes that the key was read from the descriptor, which may be standard input, or another
 * description of the file that it is: that is no record. */
void open_note_key(int fd);

/* Says why no sketch came of a file of this kind, which was read; where it does not fit
 * what was wanted also what tool it is for. */
void open_refused(const char *name, uint32_t kind, bool fits, const struct sketch_error *error);

/* Begins to write a sketch to a file, as sketch_save_begin.  False after a message;
 * a terminal is refused. */
bool open_target(struct sketch_save **save, const char *name, int *fd);

/* What writes a sketch of some kind to a descriptor. */
typedef enum sketch_status open_writer(void *sketch, int fd, struct sketch_error *error);

/* Writes the sketch there and ends the save; to standard output where *save is NULL.  False
 * after a message, and without one where nobody reads standard output any more. */
bool open_target_write(struct sketch_save **save, const char *name, int fd, open_writer *writer,
		       void *sketch);

/* stat of what a name among inputs stands for, "-" for standard input; false where it cannot
 * be looked at. */
bool open_stat(const char *name, struct stat *st);

/* Whether two names are of the same regular file, or both of standard input. */
bool open_same_file(const char *name, const char *other);

/* Whether the descriptor is of the regular file that has this name. */
bool open_is_of(int fd, const char *name);

/* Whether the descriptor is of the regular file that standard output goes to. */
bool open_is_stdout(int fd);

#endif
