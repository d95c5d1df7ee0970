/* width.h - how many columns of a terminal a character takes */
#ifndef CLI_WIDTH_H
#define CLI_WIDTH_H

#include <stddef.h>
#include <stdint.h>

/* The columns of a character by its number in Unicode: 0 for marks that are put on the one
 * before, 2 for wide ones.  -1 for what should not be shown as it is: characters that
 * control, that are not assigned, or that turn the direction of the text round them. */
int width_of(uint32_t character);

/* The character that the well-formed UTF-8 sequence of `length` bytes, 1 to 4, stands for. */
uint32_t width_decode(const uint8_t *bytes, size_t length);

#endif
