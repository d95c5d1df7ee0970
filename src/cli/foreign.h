/* foreign.h - inputs that are no records
 *
 * A sketch or a compressed file given for records would be cut at whatever bytes happen to
 * be newlines, and give an answer that looks like one. */
#ifndef CLI_FOREIGN_H
#define CLI_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOREIGN_TEXT 120
#define FOREIGN_LENGTH 16 /* so many bytes are always enough */

enum foreign { FOREIGN_NOT, FOREIGN_UNDECIDED, FOREIGN_IS };

/* Judges an input by its first `length` bytes: FOREIGN_IS, and in `why` what it is and what
 * helps ("is compressed by gzip: ..."); FOREIGN_NOT, as soon as they cannot become such a
 * beginning; FOREIGN_UNDECIDED, never where `ended` says that there are no more. */
enum foreign foreign_look(const uint8_t *bytes, size_t length, bool ended, char why[FOREIGN_TEXT]);

/* What answers for a kind of sketch, in words: "ask it with hll-count --query". */
const char *foreign_asker(uint32_t kind);

#endif
