/* decay.c - weights that grow, so that counts decay without being touched
 *
 * A count that halves every H would have to be touched all the time.  So time is
 * looked at from the other end (Cormode, Shkapenyuk, Srivastava and Xu, "Forward
 * decay: a practical time decay model for streaming systems", ICDE 2009): from a
 * landmark L in the past, a record at the time t weighs 2^((t - L)/H), and all that
 * is kept are sums of such weights.  Asked at the time T, a sum is divided by
 * 2^((T - L)/H), which makes of each weight 2^-((T - t)/H): its age in half-lives.
 *
 *     L           L + H         L + 2H        T
 *     |-------------|-------------|-----------|
 *     1             2             4           2^((T - L)/H)     weight of a record
 *
 * Weights grow for ever and numbers do not, so from time to time the landmark moves
 * on by whole half-lives, and all sums are halved as often.  Landmarks are multiples
 * of H, for two sketches to be brought to the same one.
 *
 * Everything is whole numbers: a record at the landmark weighs 2^20 units.  For
 * 2^(r/H), with 0 <= r < H, the first 32 binary digits of r/H choose factors among
 * 2^(1/2), 2^(1/4), ..., 2^(2^-32), each with 62 binary places and found by taking
 * square roots; eight digits at a time, from a table.  All of that is rounded down,
 * and by less than the part 2^-32 in all: the digits that are left out are worth less
 * than 2^(2^-32) = 1 + 0.6932 * 2^-32, and no more than 32 factors and as many
 * products are wrong by a few units in the 62nd place each.
 *
 * So of a weight w a sum has at least w 2^((t - L)/H) and at most the part
 * 2^-32 + 2^-20 more, for w is a whole number and its share at least 2^20 units,
 * rounded up to the next.  Halving keeps both true where it is rounded up for what
 * is to be a ceiling, and down for what is to be a floor. */
#include "decay.h"

#include <stdlib.h>

#include "positions.h"

#define ONE (UINT64_C(1) << 62)

static uint64_t times(uint64_t a, uint64_t b)
{
	return positions_below(a, b) << 2 | (a * b) >> 62;
}

/* The largest number whose square is not above x 2^62. */
static uint64_t root(uint64_t x)
{
	uint64_t found = 0, high = x >> 2, low = x << 62;

	for (int bit = 63; bit >= 0; bit--) {
		uint64_t next = found | UINT64_C(1) << bit, upper = positions_below(next, next);

		if (upper < high || (upper == high && next * next <= low))
			found = next;
	}
	return found;
}

/* powers[j][v]: the factors that the eight digits v choose, the first digits at j = 0. */
static void fill_powers(uint64_t (*powers)[256])
{
	uint64_t factor = 2 * ONE;

	for (int j = 0; j < 4; j++) {
		uint64_t factors[8];

		for (int i = 0; i < 8; i++)
			factors[i] = factor = root(factor);
		for (unsigned int v = 0; v < 256; v++) {
			powers[j][v] = ONE;
			for (int i = 0; i < 8; i++) {
				if (v & 0x80u >> i)
					powers[j][v] = times(powers[j][v], factors[i]);
			}
		}
	}
}

/* The first 32 binary digits of rest / half_life. */
static uint32_t digits_of(uint64_t rest, uint64_t half_life)
{
	uint32_t digits = 0;

	if (half_life <= UINT32_MAX)
		return (uint32_t)((rest << 32) / half_life);
	for (int i = 0; i < 32; i++) {
		rest *= 2;
		digits = digits << 1 | (rest >= half_life);
		rest -= rest >= half_life ? half_life : 0;
	}
	return digits;
}

/* ONE * 2^(rest / half_life), rounded down; and up. */
static uint64_t power_down(const struct decay *decay, uint64_t rest)
{
	uint32_t digits = digits_of(rest, decay->half_life);
	uint64_t power = decay->powers[0][digits >> 24];

	power = times(power, decay->powers[1][digits >> 16 & 255]);
	power = times(power, decay->powers[2][digits >> 8 & 255]);
	return times(power, decay->powers[3][digits & 255]);
}

static uint64_t power_up(const struct decay *decay, uint64_t rest)
{
	uint64_t power = power_down(decay, rest);

	return rest == 0 ? power : power + (power >> 32) + 1;
}

/* ------------------------------------------------------------ life and time */

bool decay_make(struct decay *decay, const struct sketch_decay *moment)
{
	*decay = (struct decay){
		.unit = moment->unit,
		.half_life = moment->half_life,
		.now = moment->now,
		.landmark = moment->now - moment->now % moment->half_life,
		.rest = moment->now % moment->half_life,
		.powers = malloc(4 * sizeof *decay->powers),
	};
	if (decay->powers == NULL)
		return false;
	fill_powers(decay->powers);
	return true;
}

void decay_free(struct decay *decay)
{
	free(decay->powers);
	*decay = (struct decay){ 0 };
}

void decay_move(struct decay *decay, uint64_t now)
{
	/* No file has a later moment. */
	if (now > (uint64_t)INT64_MAX)
		now = (uint64_t)INT64_MAX;
	if (now <= decay->now)
		return;
	decay->rest += now - decay->now;
	decay->now = now;
	if (decay->rest < decay->half_life)
		return;
	decay->doublings += decay->rest / decay->half_life;
	decay->rest %= decay->half_life;
}

void decay_lift(struct decay *decay, uint64_t doublings)
{
	decay->landmark += doublings * decay->half_life;
	decay->doublings -= doublings;
}

/* ------------------------------------------------------------------ numbers */

/* (a b) / 2^shift, rounded down or up; 0 <= shift < 128.  False where it has no 64
 * bits. */
static bool product_shifted(uint64_t a, uint64_t b, uint64_t shift, bool up, uint64_t *result)
{
	uint64_t high = positions_below(a, b), low = a * b;
	bool lost = false;

	if (shift >= 64) {
		lost = low != 0;
		low = high;
		high = 0;
		shift -= 64;
	}
	if (shift > 0) {
		lost = lost || low << (64 - shift) != 0;
		low = low >> shift | high << (64 - shift);
		high >>= shift;
	}
	if (high != 0 || (up && lost && low == UINT64_MAX))
		return false;
	*result = low + (up && lost);
	return true;
}

bool decay_weigh(const struct decay *decay, uint64_t weight, uint64_t *units)
{
	return decay->doublings <= DECAY_MOST_DOUBLINGS &&
	       product_shifted(weight, power_up(decay, decay->rest),
			       DECAY_MOST_DOUBLINGS - decay->doublings, true, units);
}

/* Units at the landmark are worth less by now: 2^-((doublings H + rest) / H), which
 * is half of 2^((H - rest) / H) where there is a rest. */
static uint64_t worth(const struct decay *decay, uint64_t units, bool up)
{
	uint64_t left = decay->half_life - decay->rest, most, value;

	if (decay->doublings >= 64)
		return up && units > 0;
	most = up ? decay_halved(units, decay->doublings) : units >> decay->doublings;
	if (decay->rest == 0 ||
	    !product_shifted(units, up ? power_up(decay, left) : power_down(decay, left),
			     63 + decay->doublings, up, &value))
		return most;
	return value < most ? value : most;
}

uint64_t decay_high(const struct decay *decay, uint64_t units)
{
	return worth(decay, units, true);
}

uint64_t decay_low(const struct decay *decay, uint64_t units)
{
	return worth(decay, units - decay_halved(units, 19), false);
}
