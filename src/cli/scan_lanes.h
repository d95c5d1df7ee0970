/* scan_lanes.h - the machine that finds the fields of eight records at once (field_lanes.h)
 *
 * A part of scan.c, where AVX-512 is: behind the machine that finds them one by one, which
 * takes what is left.  The maps of 64 records are all written before the first of them are
 * loaded as a vector: a load right behind the eight stores of its words would have to wait
 * until these are in the cache. */
#ifndef CLI_SCAN_LANES_H
#define CLI_SCAN_LANES_H

#include "bits.h"
#include "field_lanes.h"

#define EIGHT_INLINE static inline __attribute__((always_inline, target(AVX512_TARGET)))
#define EIGHT_TARGET __attribute__((target(AVX512_TARGET)))

_Static_assert(FIELD_WINDOW <= SCAN_PADDING, "what may be read behind a record");

/* The windows of 64 records. */
struct maps {
	uint64_t low[64], high[64];             /* separators */
	uint64_t space_low[64], space_high[64]; /* where they were asked for */
	size_t lengths[64];
};

EIGHT_INLINE void draw_maps(const struct scan_keys *wanted, const uint8_t *const *starts,
			    size_t from, size_t to, struct maps *maps, bool spaces, int delimiter,
			    bool newline, bool quoted)
{
	for (size_t i = from; i < to; i++) {
		size_t length = length_of(wanted, &starts[i]);
		struct quotes state = { .opens = 1 };
		uint64_t low = 0, high = 0;

		/* Quotes behind the record would be looked at for nothing. */
		if (quoted) {
			low = beyond_end(length, 0);
			high = length < 64 ? ~UINT64_C(0) : beyond_end(length, 64);
		}
		maps->lengths[i] = length;
		maps->low[i] =
			avx512_ends_in(starts[i], low, delimiter, newline, quoted, &state, NULL);
		maps->high[i] = avx512_ends_in(starts[i] + 64, high, delimiter, newline, quoted,
					       &state, NULL);
		if (spaces) {
			maps->space_low[i] = avx512_mask(starts[i], ' ');
			maps->space_high[i] = avx512_mask(starts[i] + 64, ' ');
		}
	}
}

static EIGHT_TARGET void eight_draw(const struct scan_keys *wanted, const uint8_t *const *starts,
				    size_t from, size_t to, struct maps *maps, bool spaces)
{
	SPLIT_CALL(wanted->split, draw_maps, wanted, starts, from, to, maps, spaces);
}

/* Eight records from `at` on, of `whole` that are looked at.  Of the maps those of the first
 * eight are drawn, then the others: these may turn out not to be wanted. */
EIGHT_INLINE struct field_lanes eight_begin(const struct scan_keys *wanted,
					    const uint8_t *const *starts, size_t at, size_t whole,
					    struct maps *maps, bool spaces)
{
	struct field_lanes eight;

	if (at <= LANES)
		eight_draw(wanted, starts, at, at == 0 ? LANES : whole, maps, spaces);
	eight = field_lanes_begin(&maps->low[at], &maps->high[at], &maps->lengths[at],
				  wanted->split->delimiter == FIELD_BLANKS);
	if (spaces)
		eight.spaces = field_bits_load(&maps->space_low[at], &maps->space_high[at]);
	return eight;
}

/* Where a piece of each record is its key. */
EIGHT_INLINE void eight_store(const uint8_t *const *starts, struct field_spot spot,
			      const uint8_t **keys, size_t *lengths)
{
	__m512i records = _mm512_loadu_si512(starts);

	_mm512_storeu_si512(keys, _mm512_add_epi64(records, spot.start));
	_mm512_storeu_si512(lengths, _mm512_sub_epi64(spot.stop, spot.start));
}

/* Where most of the first eight records leave open what was asked for, the others will, too:
 * how many are looked at then. */
static inline size_t eight_most(size_t whole, size_t at, unsigned int unknown)
{
	return at == 0 && __builtin_popcount(unknown) > LANES / 2 ? LANES : whole;
}

/* Takes the first run of ones out of bits, of which there are: where it begins; how long it is
 * goes to *count. */
static inline size_t take_run(uint64_t *bits, size_t *count)
{
	size_t at = (size_t)__builtin_ctzll(*bits);
	uint64_t rest = ~(*bits >> at);

	*count = rest == 0 ? 64 : (size_t)__builtin_ctzll(rest);
	*bits &= ~(bits_below(*count) << at);
	return at;
}

static EIGHT_TARGET uint64_t eight_field(const struct scan_keys *wanted,
					 const uint8_t *const *starts, size_t count,
					 const uint8_t **keys, size_t *lengths)
{
	uint64_t number = wanted->split->list.ranges[0].first, found = 0, unknown = 0;
	size_t whole = number < FIELD_WINDOW ? count / LANES * LANES : 0, run;
	struct maps maps;

	for (size_t i = 0; i < whole; i += LANES) {
		struct field_lanes eight = eight_begin(wanted, starts, i, whole, &maps, false);
		struct field_spot spot = field_lanes_single(&eight, number);

		eight_store(&starts[i], spot, &keys[i], &lengths[i]);
		found |= (uint64_t)field_lanes_there(&eight) << i;
		unknown |= (uint64_t)field_lanes_unknown(&eight) << i;
		whole = eight_most(whole, i, field_lanes_unknown(&eight));
	}
	unknown |= bits_below(count) & ~bits_below(whole);
	while (unknown != 0) {
		size_t at = take_run(&unknown, &run);

		found |= avx512_field(wanted, &starts[at], run, &keys[at], &lengths[at]) << at;
	}
	return found;
}

/* Where the ranges of a list are in eight records. */
struct pieces {
	size_t count, starts[FIELD_LANES_RANGES][LANES], stops[FIELD_LANES_RANGES][LANES];
};

/* Puts those of one record together; returns how long they are then. */
static inline __attribute__((always_inline)) size_t join_pieces(const struct pieces *pieces,
								size_t lane, const uint8_t *record,
								uint8_t joint, uint8_t *to)
{
	size_t put = 0;

	for (size_t r = 0; r < pieces->count; r++) {
		size_t start = pieces->starts[r][lane], length = pieces->stops[r][lane] - start;

		field_copy(to + put, record + start, length, true);
		put += length;
		to[put++] = joint;
	}
	return put - 1;
}

static EIGHT_TARGET uint64_t eight_fields(const struct scan_keys *wanted,
					  const uint8_t *const *starts, size_t count,
					  const uint8_t **keys, size_t *lengths, uint8_t **room)
{
	const struct field_list *list = &wanted->split->list;
	bool spaces = wanted->split->delimiter == FIELD_BLANKS && !field_list_singles(list);
	bool near = list->needed < FIELD_WINDOW && list->count <= FIELD_LANES_RANGES;
	size_t whole = near ? count / LANES * LANES : 0, run;
	uint64_t found = 0, unknown = 0;
	struct pieces pieces;
	struct maps maps;

	pieces.count = list->count;
	for (size_t i = 0; i < whole; i += LANES) {
		struct field_lanes eight = eight_begin(wanted, starts, i, whole, &maps, spaces);
		struct field_spot spot = { 0 };
		unsigned int there;

		for (size_t r = 0; r < list->count; r++) {
			spot = field_lanes_range(&eight, &list->ranges[r], list->needed);
			_mm512_storeu_si512(pieces.starts[r], spot.start);
			_mm512_storeu_si512(pieces.stops[r], spot.stop);
		}
		there = field_lanes_there(&eight);
		found |= (uint64_t)there << i;
		unknown |= (uint64_t)field_lanes_unknown(&eight) << i;
		whole = eight_most(whole, i, field_lanes_unknown(&eight));
		/* Between two ranges of a list there is a field at least: the key is one piece
		 * of the record exactly where there is one range. */
		if (list->count == 1) {
			eight_store(&starts[i], spot, &keys[i], &lengths[i]);
			continue;
		}
		for (; there != 0; there &= there - 1) {
			size_t lane = (size_t)__builtin_ctz(there), at = i + lane;

			keys[at] = *room;
			lengths[at] = join_pieces(&pieces, lane, starts[at],
						  field_joint(wanted->split), *room);
			*room += lengths[at];
		}
	}
	unknown |= bits_below(count) & ~bits_below(whole);
	while (unknown != 0) {
		size_t at = take_run(&unknown, &run);

		found |= avx512_fields(wanted, &starts[at], run, &keys[at], &lengths[at], room)
			 << at;
	}
	return found;
}

static const struct scan_machine eight_machine = { avx512_records, eight_field, eight_fields,
						   avx512_hash };

#endif
