/* words.h - the values of an option that can be repeated */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct words {
	const char **items; /* to be freed; the words themselves are the command line's */
	size_t count;
};

/* Appends a word; false after a message. */
bool words_add(struct words *words, const char *word);

#endif
