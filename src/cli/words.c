#include "words.h"

#include <stdlib.h>

#include "message.h"

bool words_add(struct words *words, const char *word)
{
	const char **grown = realloc(words->items, (words->count + 1) * sizeof *grown);

	if (grown == NULL) {
		message("out of memory");
		return false;
	}
	words->items = grown;
	words->items[words->count++] = word;
	return true;
}
