#include "field.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

/* --------------------------------------------------------------------- list */

static bool refuse_list(const char *word, const char *why, struct number_error *error)
{
	char shown[80];

	message_escape(shown, sizeof shown, word, strlen(word));
	snprintf(error->text, sizeof error->text,
		 "'%s' is not a list of fields (%s): write 2, or 1,3, or 2-4, or 4-", shown, why);
	return false;
}

/* Reads digits; *number stays as it is where there are none. */
static const char *read_number(const char *at, uint64_t *number, bool *good)
{
	uint64_t value = 0;
	const char *begin = at;

	for (; *at >= '0' && *at <= '9'; at++) {
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
			*good = false;
	}
	if (at != begin) {
		if (value == 0 || value == UINT64_MAX)
			*good = false;
		*number = value;
	}
	return at;
}

static int by_first(const void *a, const void *b)
{
	const struct field_range *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* Sorts the ranges and joins those that touch. */
static void tidy(struct field_list *list)
{
	size_t kept = 0;

	qsort(list->ranges, list->count, sizeof list->ranges[0], by_first);
	for (size_t i = 1; i < list->count; i++) {
		struct field_range *last = &list->ranges[kept], *next = &list->ranges[i];

		if (last->last == UINT64_MAX || next->first <= last->last + 1) {
			if (next->last > last->last)
				last->last = next->last;
		} else {
			list->ranges[++kept] = *next;
		}
	}
	list->count = kept + 1;
}

bool field_parse(const char *word, struct field_list *list, struct number_error *error)
{
	struct field_list read = { 0 };
	const char *at = word;

	do {
		struct field_range range = { 1, UINT64_MAX };
		const char *begin = at;
		bool good = true, dash, from, to;

		at = read_number(at, &range.first, &good);
		from = at != begin;
		dash = *at == '-';
		if (dash) {
			const char *after = ++at;

			at = read_number(at, &range.last, &good);
			to = at != after;
		} else {
			range.last = range.first;
			to = false;
		}
		if ((!from && !to) || (*at != ',' && *at != '\0'))
			return refuse_list(word, "numbers and ranges", error);
		if (!good)
			return refuse_list(word, "fields are numbered from 1", error);
		if (range.last < range.first)
			return refuse_list(word, "a range runs upwards", error);
		if (read.count == FIELD_MAX_RANGES)
			return refuse_list(word, "too many ranges", error);
		if (range.first > read.needed)
			read.needed = range.first;
		if (range.last != UINT64_MAX && range.last > read.needed)
			read.needed = range.last;
		read.ranges[read.count++] = range;
	} while (*at++ == ',');
	tidy(&read);
	*list = read;
	return true;
}

/* --------------------------------------------------------------------- keys */

/* A key under construction: one piece of the record while it can be, else
 * copied. */
struct key {
	const uint8_t *data;
	size_t length;
	uint8_t *scratch;
	bool copied, begun;
	uint8_t joint; /* between fields */
};

static void key_add(struct key *key, const uint8_t *field, size_t length)
{
	const uint8_t *end = key->data + key->length;

	if (!key->begun) {
		key->data = field;
		key->length = length;
		key->begun = true;
		return;
	}
	if (!key->copied && field == end + 1 && *end == key->joint) {
		key->length += 1 + length;
		return;
	}
	if (!key->copied) {
		memcpy(key->scratch, key->data, key->length);
		key->data = key->scratch;
		key->copied = true;
	}
	key->scratch[key->length] = key->joint;
	memcpy(key->scratch + key->length + 1, field, length);
	key->length += 1 + length;
}

static bool is_blank(uint8_t byte, bool newline)
{
	return byte == ' ' || byte == '\t' || (newline && byte == '\n');
}

/* Behind the closing quote of the field that begins at `p` with a quote. */
static const uint8_t *quote_end(const uint8_t *p, const uint8_t *end)
{
	for (p++; p < end; p++) {
		bool pair = *p == '"' && end - p > 1 && p[1] == '"';

		if (*p == '\\' || pair)
			p++;
		else if (*p == '"')
			return p + 1;
	}
	return end;
}

/* From where on the field that begins at `p` ends at the next separator. */
static const uint8_t *field_tail(const struct field_split *split, const uint8_t *p,
				 const uint8_t *end)
{
	return split->quoted && p < end && *p == '"' ? quote_end(p, end) : p;
}

/* The next field from *at on: false where there is none. */
static bool next_field(const struct field_split *split, const uint8_t **at, const uint8_t *end,
		       const uint8_t **field, size_t *length)
{
	const uint8_t *p = *at, *stop;

	if (split->delimiter == FIELD_BLANKS) {
		while (p < end && is_blank(*p, split->newline_blank))
			p++;
		if (p == end)
			return false;
		for (stop = field_tail(split, p, end);
		     stop < end && !is_blank(*stop, split->newline_blank);)
			stop++;
		*at = stop;
	} else {
		if (p > end)
			return false;
		stop = field_tail(split, p, end);
		stop = memchr(stop, split->delimiter, (size_t)(end - stop));
		if (stop == NULL)
			stop = end;
		/* One past the end once the last field, which may be empty, was given. */
		*at = stop + 1;
	}
	*field = p;
	*length = (size_t)(stop - p);
	return true;
}

/* Byte by byte. */
static bool find_ranges(const struct field_split *split, const uint8_t *record, size_t length,
			struct key *key)
{
	const struct field_range *range = split->list.ranges;
	const struct field_range *last = range + split->list.count - 1;
	const uint8_t *at = record, *end = record + length, *field;
	uint64_t number = 0;
	size_t field_length;

	while (number < last->last && next_field(split, &at, end, &field, &field_length)) {
		number++;
		if (number > range->last)
			range++;
		if (number >= range->first)
			key_add(key, field, field_length);
	}
	return number >= split->list.needed;
}

/* ------------------------------------------------------------- keys, from ends */

/* The way through the fields of a record whose ends are known: in a word of starts those
 * of many fields are counted, and passed over, at once. */
struct walk {
	const uint64_t *ends;
	size_t length;
	bool blanks;
	size_t word;
	uint64_t starts; /* in that word, of fields that were not passed yet */
	uint64_t passed; /* fields before those */
};

/* A field begins behind an end, where blanks separate at no other blank; the byte in
 * front of the record is such an end. */
static uint64_t starts_in(const struct walk *walk, size_t word)
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
static bool seek(struct walk *walk, uint64_t number, size_t *start)
{
	uint64_t wanted = number - walk->passed, found;

	while ((found = (uint64_t)__builtin_popcountll(walk->starts)) < wanted) {
		walk->passed += found;
		wanted -= found;
		if (++walk->word == FIELD_ENDS(walk->length)) {
			walk->word--;
			walk->starts = 0;
			return false;
		}
		walk->starts = starts_in(walk, walk->word);
	}
	for (; wanted > 1; wanted--)
		walk->starts &= walk->starts - 1;
	*start = 64 * walk->word + (size_t)__builtin_ctzll(walk->starts);
	walk->starts &= walk->starts - 1;
	walk->passed = number;
	return true;
}

/* The first end from a byte on; the byte behind the record is one. */
static size_t end_from(const struct walk *walk, size_t at)
{
	size_t word = at / 64;
	uint64_t bits = walk->ends[word] & ~UINT64_C(0) << at % 64;

	while (bits == 0)
		bits = walk->ends[++word];
	return 64 * word + (size_t)__builtin_ctzll(bits);
}

/* Behind the last byte from `start` on, which is no end, that is none. */
static size_t last_end(const struct walk *walk, size_t start)
{
	size_t word = walk->length / 64;
	uint64_t bits = ~walk->ends[word];

	while (bits == 0 && word > start / 64)
		bits = ~walk->ends[--word];
	return 64 * word + 64 - (size_t)__builtin_clzll(bits);
}

/* Whether what separates fields between two bytes is just what joins them. */
static bool is_joined(const struct walk *walk, const uint8_t *record, size_t start, size_t stop,
		      uint8_t joint)
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
		for (uint64_t left = bits; left != 0; left &= left - 1) {
			if (record[64 * word + (size_t)__builtin_ctzll(left)] != joint)
				return false;
		}
	}
	return true;
}

/* Adds fields first to last, of which the first begins at `start`; false where there are
 * fewer, or there is no field `needed` in an open range. */
static bool add_range(struct walk *walk, const struct field_range *range, uint64_t needed,
		      const uint8_t *record, size_t start, struct key *key)
{
	struct walk again = *walk;
	bool open = range->last == UINT64_MAX;
	uint64_t highest = open ? needed : range->last;
	size_t stop = start;

	if (range->first < highest && !seek(walk, highest, &stop))
		return false;
	if (!open)
		stop = end_from(walk, stop);
	else
		stop = walk->blanks ? last_end(walk, start) : walk->length;
	if (!walk->blanks || range->first == range->last ||
	    is_joined(walk, record, start, stop, key->joint)) {
		key_add(key, record + start, stop - start);
		return true;
	}
	do {
		key_add(key, record + start, end_from(&again, start) - start);
	} while (again.passed < range->last && seek(&again, again.passed + 1, &start));
	return true;
}

static bool walk_ranges(const struct field_split *split, const uint8_t *record, size_t length,
			const uint64_t *ends, struct key *key)
{
	struct walk walk = { ends, length, split->delimiter == FIELD_BLANKS, 0, 0, 0 };

	walk.starts = starts_in(&walk, 0);
	for (size_t i = 0; i < split->list.count; i++) {
		size_t start;

		if (!seek(&walk, split->list.ranges[i].first, &start) ||
		    !add_range(&walk, &split->list.ranges[i], split->list.needed, record, start,
			       key))
			return false;
	}
	return true;
}

bool field_key(const struct field_split *split, const uint8_t *record, size_t record_length,
	       const uint64_t *ends, uint8_t *scratch, const uint8_t **key, size_t *length,
	       size_t *used)
{
	struct key made = { .data = record,
			    .scratch = scratch,
			    .joint = split->delimiter == FIELD_BLANKS ? (uint8_t)' ' :
									(uint8_t)split->delimiter };
	bool found = ends == NULL ? find_ranges(split, record, record_length, &made) :
				    walk_ranges(split, record, record_length, ends, &made);

	if (!found)
		return false;
	*key = made.data;
	*length = made.length;
	*used = made.copied ? made.length : 0;
	return true;
}
