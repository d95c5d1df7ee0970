/* distinct.h - HyperLogLog sketches by name, and what they say */
#ifndef CLI_DISTINCT_H
#define CLI_DISTINCT_H

#include "sketch.h"

/* Reads a sketch from a file, "-" for standard input; NULL after a message. */
struct sketch_hll *distinct_open(const char *name);

/* The same of a file that was read; it is used up. */
struct sketch_hll *distinct_of_file(const char *name, struct sketch_file *file);

/* Writes it to a descriptor: an open_writer of a struct sketch_hll. */
enum sketch_status distinct_write(void *hll, int fd, struct sketch_error *error);

/* Adds `part`, read from `name`, to `whole`, whose first part was read from `first`;
 * false after a message that names both and what differs. */
bool distinct_join(struct sketch_hll *whole, const char *first, const struct sketch_hll *part,
		   const char *name);

/* "tool: 1964 distinct keys, exact" and what else --stats says of a sketch. */
void distinct_print_state(const struct sketch_hll *hll);

/* The number as it is printed: rounded, "inf" where it is none. */
char *distinct_text(char out[32], double distinct);

#endif
