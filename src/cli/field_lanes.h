/* field_lanes.h - the fields of eight records at once, with AVX-512
 *
 * Where a record's separators are is a word of bits for each 64 of its bytes.  To find the
 * way through one such map is a chain of some dozens of steps; eight maps, each in a lane
 * of a vector, take the same steps together.
 *
 * Of a record only the first bytes are looked at, its window.  What that does not tell of
 * it is left to be found one by one. */
#ifndef CLI_FIELD_LANES_H
#define CLI_FIELD_LANES_H

#include "field.h"
#include "lanes.h"

/* Bytes of a window: a bit for each in two words. */
#define FIELD_WINDOW (2 * 64)

/* More ranges are left to be found one by one. */
#define FIELD_LANES_RANGES 8

#define FIELD_LANES_INLINE                                                                         \
	static inline __attribute__((always_inline, target("avx512f,avx512dq,avx512bw,avx512cd")))

/* A bit for each byte of eight windows. */
struct field_bits {
	__m512i low, high;
};

/* Eight records: a bit of a mask for each.
 *
 * Separators and starts that the window shows behind a record's end are those of other
 * bytes.  They are harmless: they come after all that is the record's own, so a field that
 * begins behind its end is one that it lacks, and one that ends there ends with it. */
struct field_lanes {
	struct field_bits ends;   /* separators */
	struct field_bits starts; /* of the fields that were not passed yet */
	struct field_bits spaces; /* to be set where blanks separate and there are ranges */
	__m512i length;
	uint64_t passed;  /* fields */
	__mmask8 lacking; /* what is wanted */
	__mmask8 unknown; /* to be found one by one, where it is not lacking */
	bool blanks;
};

/* Where a field or more of each record is. */
struct field_spot {
	__m512i start, stop;
};

/* The bytes behind those. */
FIELD_LANES_INLINE struct field_bits field_bits_behind(struct field_bits bits)
{
	return (struct field_bits){ _mm512_slli_epi64(bits.low, 1),
				    _mm512_or_si512(_mm512_slli_epi64(bits.high, 1),
						    _mm512_srli_epi64(bits.low, 63)) };
}

/* The bytes below `at`, in each window its own. */
FIELD_LANES_INLINE struct field_bits field_bits_below(__m512i at)
{
	const __m512i one = lanes_of(1), half = lanes_of(64);
	__m512i above = _mm512_sub_epi64(_mm512_max_epu64(at, half), half);

	/* A shift by 64 or more leaves nothing, and 0 - 1 is all. */
	return (struct field_bits){ _mm512_sub_epi64(_mm512_sllv_epi64(one, at), one),
				    _mm512_sub_epi64(_mm512_sllv_epi64(one, above), one) };
}

FIELD_LANES_INLINE __mmask8 field_bits_any(struct field_bits bits)
{
	__m512i all = _mm512_or_si512(bits.low, bits.high);

	return _mm512_test_epi64_mask(all, all);
}

/* Where the first bit is; anywhere where there is none. */
FIELD_LANES_INLINE __m512i field_bits_first(struct field_bits bits)
{
	__mmask8 far = _mm512_testn_epi64_mask(bits.low, bits.low);
	__m512i word = _mm512_mask_mov_epi64(bits.low, far, bits.high);
	__m512i first = _mm512_and_si512(word, _mm512_sub_epi64(_mm512_setzero_si512(), word));
	__m512i last = _mm512_mask_mov_epi64(lanes_of(63), far, lanes_of(FIELD_WINDOW - 1));

	return _mm512_sub_epi64(last, _mm512_lzcnt_epi64(first));
}

/* Takes out the first bit of each window. */
FIELD_LANES_INLINE struct field_bits field_bits_drop(struct field_bits bits)
{
	const __m512i minus = lanes_of(UINT64_MAX);
	__mmask8 far = _mm512_testn_epi64_mask(bits.low, bits.low);
	__m512i high = _mm512_mask_and_epi64(bits.high, far, bits.high,
					     _mm512_add_epi64(bits.high, minus));

	return (struct field_bits){ _mm512_and_si512(bits.low, _mm512_add_epi64(bits.low, minus)),
				    high };
}

FIELD_LANES_INLINE struct field_bits field_bits_load(const uint64_t *low, const uint64_t *high)
{
	return (struct field_bits){ _mm512_loadu_si512(low), _mm512_loadu_si512(high) };
}

FIELD_LANES_INLINE struct field_lanes field_lanes_begin(const uint64_t *low, const uint64_t *high,
							const size_t *lengths, bool blanks)
{
	struct field_lanes lanes = { .ends = field_bits_load(low, high),
				     .length = _mm512_loadu_si512(lengths),
				     .blanks = blanks };

	/* A field begins behind a separator, where blanks separate at no other blank; the
	 * byte in front of the record counts as one. */
	lanes.starts = field_bits_behind(lanes.ends);
	lanes.starts.low = _mm512_or_si512(lanes.starts.low, lanes_of(1));
	if (blanks) {
		lanes.starts.low = _mm512_andnot_si512(lanes.ends.low, lanes.starts.low);
		lanes.starts.high = _mm512_andnot_si512(lanes.ends.high, lanes.starts.high);
	}
	return lanes;
}

/* Those that have what was wanted so far, and those of which that is not known. */
FIELD_LANES_INLINE __mmask8 field_lanes_there(const struct field_lanes *lanes)
{
	return (__mmask8) ~(lanes->lacking | lanes->unknown);
}

FIELD_LANES_INLINE __mmask8 field_lanes_unknown(const struct field_lanes *lanes)
{
	return (__mmask8)(lanes->unknown & ~lanes->lacking);
}

/* Where field `number` begins, which must not have been passed; anywhere where it is lacking
 * or unknown. */
FIELD_LANES_INLINE __m512i field_lanes_seek(struct field_lanes *lanes, uint64_t number)
{
	uint64_t drops = number - 1 - lanes->passed;
	__m512i start, shortest;
	__mmask8 found;

	for (uint64_t i = 1; i <= drops; i++) {
		lanes->starts = field_bits_drop(lanes->starts);
		if (i % 8 == 0 && field_bits_any(lanes->starts) == 0)
			break;
	}
	lanes->passed = number - 1;
	found = field_bits_any(lanes->starts);
	start = field_bits_first(lanes->starts);
	/* An empty field may begin where the record ends. */
	shortest = _mm512_add_epi64(start, lanes_of(lanes->blanks ? 1 : 0));
	shortest = _mm512_mask_mov_epi64(lanes_of(FIELD_WINDOW), found, shortest);
	lanes->lacking |= _mm512_cmplt_epu64_mask(lanes->length, shortest);
	lanes->unknown |= (__mmask8)~found;
	return start;
}

/* Where the field that begins at `start` ends. */
FIELD_LANES_INLINE __m512i field_lanes_end(struct field_lanes *lanes, __m512i start)
{
	struct field_bits below = field_bits_below(start);
	struct field_bits left = { _mm512_andnot_si512(below.low, lanes->ends.low),
				   _mm512_andnot_si512(below.high, lanes->ends.high) };
	__mmask8 found = field_bits_any(left);
	__m512i stop = _mm512_mask_mov_epi64(lanes->length, found, field_bits_first(left));

	lanes->unknown |= _mm512_mask_cmpgt_epu64_mask((__mmask8)~found, lanes->length,
						       lanes_of(FIELD_WINDOW));
	return _mm512_min_epu64(stop, lanes->length);
}

FIELD_LANES_INLINE struct field_spot field_lanes_single(struct field_lanes *lanes, uint64_t number)
{
	__m512i start = field_lanes_seek(lanes, number);

	return (struct field_spot){ start, field_lanes_end(lanes, start) };
}

/* Records in which blanks between two bytes, the second of which is in the window or the
 * record's end, are not just what joins fields: one that is no space, that comes behind
 * another, or right before `stop`, as at the end of a record whose fields all are wanted. */
FIELD_LANES_INLINE __mmask8 field_lanes_odd(const struct field_lanes *lanes, struct field_spot spot)
{
	struct field_bits before = field_bits_below(spot.start),
			  below = field_bits_below(spot.stop);
	struct field_bits second = field_bits_behind(lanes->ends);
	/* Bytes that another one follows below `stop`. */
	struct field_bits followed = { _mm512_or_si512(_mm512_srli_epi64(below.low, 1),
						       _mm512_slli_epi64(below.high, 63)),
				       _mm512_srli_epi64(below.high, 1) };
	struct field_bits good = { _mm512_and_si512(lanes->spaces.low, followed.low),
				   _mm512_and_si512(lanes->spaces.high, followed.high) };
	struct field_bits blank = {
		_mm512_andnot_si512(before.low, _mm512_and_si512(lanes->ends.low, below.low)),
		_mm512_andnot_si512(before.high, _mm512_and_si512(lanes->ends.high, below.high)),
	};
	struct field_bits odd = {
		_mm512_and_si512(blank.low, second.low),
		_mm512_and_si512(blank.high, second.high),
	};

	odd.low = _mm512_or_si512(odd.low, _mm512_andnot_si512(good.low, blank.low));
	odd.high = _mm512_or_si512(odd.high, _mm512_andnot_si512(good.high, blank.high));
	return field_bits_any(odd);
}

/* The piece of each record that is all fields of a range; anything where they are lacking or
 * unknown. */
FIELD_LANES_INLINE struct field_spot
field_lanes_range(struct field_lanes *lanes, const struct field_range *range, uint64_t needed)
{
	bool open = range->last == UINT64_MAX;
	uint64_t highest = open ? needed : range->last;
	struct field_spot spot;

	if (range->first == range->last)
		return field_lanes_single(lanes, range->first);
	spot.start = spot.stop = field_lanes_seek(lanes, range->first);
	if (highest > range->first)
		spot.stop = field_lanes_seek(lanes, highest);
	if (!open) {
		spot.stop = field_lanes_end(lanes, spot.stop);
	} else {
		spot.stop = lanes->length;
		if (lanes->blanks)
			lanes->unknown |=
				_mm512_cmpgt_epu64_mask(lanes->length, lanes_of(FIELD_WINDOW));
	}
	if (lanes->blanks)
		lanes->unknown |= field_lanes_odd(lanes, spot);
	return spot;
}

#endif
