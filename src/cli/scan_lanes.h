/* scan_lanes.h - the machine that finds the fields of eight records at once (field_lanes.h)
 *
 * A part of scan.c, where AVX-512 is: behind the machine that finds them one by one, which
 * takes what is left.  The maps of 64 records are drawn before the first way is gone: a
 * vector that is read right behind its eight words waits until they are in the cache. */
#ifndef CLI_SCAN_LANES_H
#define CLI_SCAN_LANES_H

#include "field_lanes.h"

_Static_assert(FIELD_WINDOW <= SCAN_PADDING, "what may be read behind a record");

/* The windows of 64 records. */
struct maps {
	uint64_t low[64], high[64], plain_low[64], plain_high[64];
	size_t lengths[64];
};

static inline __attribute__((always_inline, target(AVX512_TARGET))) void
draw_maps(const struct scan_keys *wanted, const uint8_t *const *starts, size_t count,
	  struct maps *maps, bool ranges, int delimiter, bool newline, bool quoted)
{
	for (size_t i = 0; i < count; i++) {
		size_t length = length_of(wanted, &starts[i]);
		struct quotes state = { .opens = 1 };
		uint64_t low = 0, high = 0;

		if (quoted) {
			low = beyond_end(length, 0);
			high = length < 64 ? ~UINT64_C(0) : beyond_end(length, 64);
		}
		maps->lengths[i] = length;
		maps->low[i] =
			avx512_ends_in(starts[i], low, delimiter, newline, quoted, &state, NULL);
		maps->high[i] = avx512_ends_in(starts[i] + 64, high, delimiter, newline, quoted,
					       &state, NULL);
		if (delimiter == FIELD_BLANKS && ranges) {
			maps->plain_low[i] = avx512_mask(starts[i], ' ');
			maps->plain_high[i] = avx512_mask(starts[i] + 64, ' ');
		}
	}
}

static __attribute__((target(AVX512_TARGET))) void draw_singles(const struct scan_keys *wanted,
								const uint8_t *const *starts,
								size_t count, struct maps *maps)
{
	SPLIT_CALL(draw_maps, wanted, starts, count, maps, false);
}

static __attribute__((target(AVX512_TARGET))) void draw_ranges(const struct scan_keys *wanted,
							       const uint8_t *const *starts,
							       size_t count, struct maps *maps)
{
	SPLIT_CALL(draw_maps, wanted, starts, count, maps, true);
}

static inline __attribute__((always_inline, target(AVX512_TARGET))) void
store_pieces(const uint8_t *const *starts, struct field_spot spot, const uint8_t **keys,
	     size_t *lengths)
{
	__m512i records = _mm512_loadu_si512(starts);

	_mm512_storeu_si512(keys, _mm512_add_epi64(records, spot.start));
	_mm512_storeu_si512(lengths, _mm512_sub_epi64(spot.stop, spot.start));
}

static __attribute__((target(AVX512_TARGET))) uint64_t
lanes_field(const struct scan_keys *wanted, const uint8_t *const *starts, size_t count,
	    const uint8_t **keys, size_t *lengths)
{
	uint64_t number = wanted->split->list.ranges[0].first, found = 0;
	bool blanks = wanted->split->delimiter == FIELD_BLANKS;
	size_t whole = count / LANES * LANES;
	struct maps maps;

	draw_singles(wanted, starts, whole, &maps);
	for (size_t i = 0; i < whole; i += LANES) {
		struct field_lanes lanes =
			field_lanes_begin(&maps.low[i], &maps.high[i], &maps.lengths[i], blanks);
		struct field_spot spot = field_lanes_single(&lanes, number);

		store_pieces(&starts[i], spot, &keys[i], &lengths[i]);
		found |= (uint64_t)(uint8_t) ~(lanes.lacking | lanes.unknown) << i;
		for (uint32_t left = lanes.unknown & ~lanes.lacking; left != 0; left &= left - 1) {
			size_t at = i + (size_t)__builtin_ctz(left);

			found |= avx512_field(wanted, &starts[at], 1, &keys[at], &lengths[at])
				 << at;
		}
	}
	if (whole < count)
		found |= avx512_field(wanted, &starts[whole], count - whole, &keys[whole],
				      &lengths[whole])
			 << whole;
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

static __attribute__((target(AVX512_TARGET))) uint64_t
lanes_fields(const struct scan_keys *wanted, const uint8_t *const *starts, size_t count,
	     const uint8_t **keys, size_t *lengths, uint8_t **room)
{
	const struct field_list *list = &wanted->split->list;
	bool blanks = wanted->split->delimiter == FIELD_BLANKS;
	uint8_t joint = blanks ? ' ' : (uint8_t)wanted->split->delimiter;
	size_t whole = count / LANES * LANES;
	struct maps maps;
	uint64_t found = 0;

	if (list->count > FIELD_LANES_RANGES)
		return avx512_fields(wanted, starts, count, keys, lengths, room);
	if (field_list_singles(list))
		draw_singles(wanted, starts, whole, &maps);
	else
		draw_ranges(wanted, starts, whole, &maps);
	for (size_t i = 0; i < whole; i += LANES) {
		struct field_lanes lanes =
			field_lanes_begin(&maps.low[i], &maps.high[i], &maps.lengths[i], blanks);
		struct pieces pieces;
		struct field_spot spot = { 0 };
		uint32_t there, unknown;

		pieces.count = list->count;
		lanes.plain.low = _mm512_loadu_si512(&maps.plain_low[i]);
		lanes.plain.high = _mm512_loadu_si512(&maps.plain_high[i]);
		for (size_t r = 0; r < list->count; r++) {
			spot = field_lanes_range(&lanes, &list->ranges[r], list->needed);
			_mm512_storeu_si512(pieces.starts[r], spot.start);
			_mm512_storeu_si512(pieces.stops[r], spot.stop);
		}
		there = (uint8_t) ~(lanes.lacking | lanes.unknown);
		unknown = lanes.unknown & ~lanes.lacking;
		found |= (uint64_t)there << i;
		/* Between two ranges of a list there is a field at least, so the key is one
		 * piece of the record where there is one range. */
		if (list->count == 1) {
			store_pieces(&starts[i], spot, &keys[i], &lengths[i]);
			there = 0;
		}
		for (uint32_t left = there | unknown; left != 0; left &= left - 1) {
			size_t lane = (size_t)__builtin_ctz(left), at = i + lane;

			if (unknown >> lane & 1) {
				found |= avx512_fields(wanted, &starts[at], 1, &keys[at],
						       &lengths[at], room)
					 << at;
				continue;
			}
			keys[at] = *room;
			lengths[at] = join_pieces(&pieces, lane, starts[at], joint, *room);
			*room += lengths[at];
		}
	}
	if (whole < count)
		found |= avx512_fields(wanted, &starts[whole], count - whole, &keys[whole],
				       &lengths[whole], room)
			 << whole;
	return found;
}

static const struct scan_machine lanes_machine = { avx512_records, lanes_field, lanes_fields,
						   avx512_hash };

#endif
