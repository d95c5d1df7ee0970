/* field_walk.h - a key of several fields, put together; and the way to them through a
 * record of which the ends of all fields are known
 *
 * All of it is inlined: where scan.c does so for one machine, counting bits is an
 * instruction and what separates fields a constant. */
#ifndef CLI_FIELD_WALK_H
#define CLI_FIELD_WALK_H

#include <string.h>

#include "field.h"

#define FIELD_WALK static inline __attribute__((always_inline))

/* Bytes that may be read behind a record and written behind scratch memory, where it is
 * said that there is padding. */
#define FIELD_PADDING 32

/* ------------------------------------------------------------------ joining */

/* A key under construction: one piece of the record while it can be, else copied. */
struct field_join {
	const uint8_t *data;
	size_t length;
	uint8_t *scratch;
	bool copied, begun;
	uint8_t joint; /* between fields */
};

/* What is between fields that are joined. */
FIELD_WALK uint8_t field_joint(const struct field_split *split)
{
	return split->delimiter == FIELD_BLANKS ? (uint8_t)' ' : (uint8_t)split->delimiter;
}

FIELD_WALK struct field_join field_join_begin(const struct field_split *split, uint8_t *scratch)
{
	return (struct field_join){ .scratch = scratch, .joint = field_joint(split) };
}

/* Most fields are short: then one copy of a fixed length, beyond their end. */
FIELD_WALK void field_copy(uint8_t *to, const uint8_t *from, size_t length, bool padded)
{
	if (padded && length <= FIELD_PADDING)
		memcpy(to, from, FIELD_PADDING);
	else
		memcpy(to, from, length);
}

FIELD_WALK void field_join_add(struct field_join *join, const uint8_t *field, size_t length,
			       bool padded)
{
	const uint8_t *end;

	if (!join->begun) {
		join->data = field;
		join->length = length;
		join->begun = true;
		return;
	}
	end = join->data + join->length;
	if (!join->copied && field == end + 1 && *end == join->joint) {
		join->length += 1 + length;
		return;
	}
	if (!join->copied) {
		field_copy(join->scratch, join->data, join->length, padded);
		join->data = join->scratch;
		join->copied = true;
	}
	join->scratch[join->length] = join->joint;
	field_copy(join->scratch + join->length + 1, field, length, padded);
	join->length += 1 + length;
}

/* *used: how much of the scratch memory was taken. */
FIELD_WALK void field_join_end(const struct field_join *join, const uint8_t **key, size_t *length,
			       size_t *used)
{
	*key = join->data;
	*length = join->length;
	*used = join->copied ? join->length : 0;
}

/* ------------------------------------------------------------------ walking */

/* Words of bits for a record of that many bytes, and for the byte behind it. */
#define FIELD_ENDS(length) ((length) / 64 + 1)

/* The way through the fields of a record: in a word of starts those of many fields are
 * counted, and passed over, at once. */
struct field_walk {
	const uint64_t *ends; /* FIELD_ENDS(length) words: which bytes end a field (a
			       * separator that quotes do not hide, and all from the
			       * record's end on) */
	size_t length;        /* of the record */
	bool blanks;          /* separate, any number of them */
	bool mixed;           /* and not all of them are what joins fields */
	size_t word;
	uint64_t starts; /* in that word, of fields that were not passed yet */
	uint64_t passed; /* fields before those */
};

/* A field begins behind an end, where blanks separate at no other blank; the byte in
 * front of the record is such an end. */
FIELD_WALK uint64_t field_walk_starts(const struct field_walk *walk, size_t word)
{
	uint64_t ends = walk->ends[word];
	uint64_t starts = ends << 1 | (word == 0 ? 1 : walk->ends[word - 1] >> 63);

	if (walk->blanks)
		return starts & ~ends;
	/* The last field may be empty, and then begins where the record ends. */
	return word < walk->length / 64 ? starts : starts & ~(~UINT64_C(1) << walk->length % 64);
}

/* Where field `number` begins, which must not have been passed; false where there is
 * none. */
FIELD_WALK bool field_walk_seek(struct field_walk *walk, uint64_t number, size_t *start)
{
	uint64_t wanted = number - walk->passed, found;

	while ((found = (uint64_t)__builtin_popcountll(walk->starts)) < wanted) {
		walk->passed += found;
		wanted -= found;
		walk->starts = 0;
		if (walk->word == walk->length / 64)
			return false;
		walk->starts = field_walk_starts(walk, ++walk->word);
	}
	for (; wanted > 1; wanted--)
		walk->starts &= walk->starts - 1;
	*start = 64 * walk->word + (size_t)__builtin_ctzll(walk->starts);
	walk->starts &= walk->starts - 1;
	walk->passed = number;
	return true;
}

/* The first end from a byte on; the byte behind the record is one. */
FIELD_WALK size_t field_walk_end(const struct field_walk *walk, size_t at)
{
	size_t word = at / 64;
	uint64_t bits = walk->ends[word] & ~UINT64_C(0) << at % 64;
	bool next = bits == 0;

	/* In this word or in the next is a coin toss, which no branch is to guess. */
	word += next;
	bits |= walk->ends[word] & -(uint64_t)next;
	while (bits == 0)
		bits = walk->ends[++word];
	return 64 * word + (size_t)__builtin_ctzll(bits);
}

/* Behind the last byte from `start` on, which is no end, that is none. */
FIELD_WALK size_t field_walk_last_end(const struct field_walk *walk, size_t start)
{
	size_t word = walk->length / 64;
	uint64_t bits = ~walk->ends[word];

	while (bits == 0 && word > start / 64)
		bits = ~walk->ends[--word];
	return 64 * word + 64 - (size_t)__builtin_clzll(bits);
}

/* Whether what separates fields between two bytes is just what joins them. */
FIELD_WALK bool field_walk_is_joined(const struct field_walk *walk, const uint8_t *record,
				     size_t start, size_t stop, uint8_t joint)
{
	uint64_t before = 0, bits;

	for (size_t word = start / 64; word <= stop / 64; word++, before = bits >> 63) {
		bits = walk->ends[word];
		if (word == start / 64)
			bits &= ~UINT64_C(0) << start % 64;
		if (word == stop / 64)
			bits &= ~(~UINT64_C(0) << stop % 64);
		if ((bits & (bits << 1 | before)) != 0)
			return false;
		for (uint64_t left = walk->mixed ? bits : 0; left != 0; left &= left - 1) {
			if (record[64 * word + (size_t)__builtin_ctzll(left)] != joint)
				return false;
		}
	}
	return true;
}

/* The same way from the record's beginning again. */
FIELD_WALK void field_walk_begin(struct field_walk *walk)
{
	walk->word = 0;
	walk->passed = 0;
	walk->starts = field_walk_starts(walk, 0);
}

/* Adds fields first to last one by one, which are there: what separates them is not what
 * joins them. */
FIELD_WALK void field_walk_add_each(struct field_walk walk, const struct field_range *range,
				    const uint8_t *record, struct field_join *join)
{
	size_t start;

	field_walk_begin(&walk);
	for (uint64_t number = range->first;; number = walk.passed + 1) {
		if (number > range->last || !field_walk_seek(&walk, number, &start))
			return;
		field_join_add(join, record + start, field_walk_end(&walk, start) - start, true);
	}
}

/* Adds fields first to last, of which the first begins at `start`; false where there are
 * fewer, or there is no field `needed` in an open range. */
FIELD_WALK bool field_walk_add(struct field_walk *walk, const struct field_range *range,
			       uint64_t needed, const uint8_t *record, size_t start,
			       struct field_join *join)
{
	size_t stop = start;
	uint64_t highest;
	bool open;

	if (range->first == range->last) {
		field_join_add(join, record + start, field_walk_end(walk, start) - start, true);
		return true;
	}
	open = range->last == UINT64_MAX;
	highest = open ? needed : range->last;
	if (range->first < highest && !field_walk_seek(walk, highest, &stop))
		return false;
	if (!open)
		stop = field_walk_end(walk, stop);
	else
		stop = walk->blanks ? field_walk_last_end(walk, start) : walk->length;
	if (!walk->blanks || field_walk_is_joined(walk, record, start, stop, join->joint))
		field_join_add(join, record + start, stop - start, true);
	else
		field_walk_add_each(*walk, range, record, join);
	return true;
}

/* Whether all ranges of a list are of one field. */
FIELD_WALK bool field_list_singles(const struct field_list *list)
{
	bool singles = true;

	for (size_t i = 0; i < list->count; i++)
		singles &= list->ranges[i].first == list->ranges[i].last;
	return singles;
}

/* Adds all fields of a list, from the record's beginning on; false where one is lacking.
 * There is padding. */
FIELD_WALK bool field_walk_list(struct field_walk *walk, const struct field_list *list,
				const uint8_t *record, struct field_join *join)
{
	field_walk_begin(walk);
	for (size_t i = 0; i < list->count; i++) {
		size_t start;

		if (!field_walk_seek(walk, list->ranges[i].first, &start) ||
		    !field_walk_add(walk, &list->ranges[i], list->needed, record, start, join))
			return false;
	}
	return true;
}

#endif
