/* decay.h - weights that grow, so that counts decay without being touched */
#ifndef CORE_DECAY_H
#define CORE_DECAY_H

#include <stdbool.h>
#include <stdint.h>

#include "sketch.h"

#define DECAY_PLACES 20 /* a record at the landmark weighs 2^DECAY_PLACES units */
#define DECAY_MOST_DOUBLINGS (62 - DECAY_PLACES)

struct decay {
	enum sketch_window_unit unit;
	uint64_t half_life; /* below 2^62; 0: there is no decay, and the rest means nothing */
	uint64_t now;       /* below 2^63, and no earlier than the landmark */
	uint64_t landmark;  /* a multiple of half_life */
	uint64_t doublings; /* whole half-lives since then, */
	uint64_t rest;      /* and what is left, below half_life */
	uint64_t (*powers)[256];
};

/* A decay that begins at `now`; `moment->half_life` is at least 1.  False without memory. */
bool decay_make(struct decay *decay, const struct sketch_decay *moment);
void decay_free(struct decay *decay);

/* Goes on to a later moment; an earlier one changes nothing. */
void decay_move(struct decay *decay, uint64_t now);

/* Makes the landmark `doublings` half-lives later; what was counted must be halved as
 * often. */
void decay_lift(struct decay *decay, uint64_t doublings);

/* What a weight is in units now, rounded up: by less than the part 2^-19 of it.  False where
 * it has no 64 bits. */
bool decay_weigh(const struct decay *decay, uint64_t weight, uint64_t *units);

/* What a number of units is now, in parts of SKETCH_DECAY_ONE: not below it; and not above
 * what it came from, each weight of it having been rounded up. */
uint64_t decay_high(const struct decay *decay, uint64_t units);
uint64_t decay_low(const struct decay *decay, uint64_t units);

/* value / 2^halvings, rounded up. */
static inline uint64_t decay_halved(uint64_t value, uint64_t halvings)
{
	if (halvings >= 64)
		return value > 0;
	return (value >> halvings) + ((value & ((UINT64_C(1) << halvings) - 1)) != 0);
}

#endif
