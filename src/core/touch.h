/* touch.h - asking for a key's cache lines the moment it is hashed
 *
 * A kernel asks for the lines of a whole batch before it probes, so the misses of a batch
 * overlap with each other; but the processor has room for some twenty of them, and while
 * it waits for the rest nothing else is done.  Asked for between the hashes of the
 * batch, as these come, they overlap with the hashing. */
#ifndef CORE_TOUCH_H
#define CORE_TOUCH_H

#include "positions.h"
#include "sketch.h"

#define TOUCH_MOST 6

struct touch {
	uint32_t count; /* 0: nothing is to be gained */
	struct touch_probe {
		const uint8_t *lines; /* of one segment of a layer, */
		uint64_t count;       /* so many, */
		uint32_t j;           /* chosen by u(j) */
	} probes[TOUCH_MOST];
};

/* Where the next keys will be looked for, those of the largest layers first; where keys
 * are `added`, all lines of the last layer, else only the line that decides on most of
 * the absent ones.  What it says goes stale when the filter changes, which does no
 * harm. */
void touch_filter(struct touch *touch, const struct sketch_bloom *filter, bool added);

static inline void touch_key(const struct touch *touch, struct sketch_hash hash)
{
	for (uint32_t i = 0; i < touch->count; i++) {
		const struct touch_probe *probe = &touch->probes[i];
		uint64_t line = positions_below(positions_u(hash, probe->j), probe->count);

		__builtin_prefetch(probe->lines + line * (SKETCH_BLOCK_BITS / 8));
	}
}

#endif
