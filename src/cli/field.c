#include "field.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "field_walk.h"
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

static bool find_ranges(const struct field_split *split, const uint8_t *record, size_t length,
			struct field_join *join)
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
			field_join_add(join, field, field_length, false);
	}
	return number >= split->list.needed;
}

bool field_key(const struct field_split *split, const uint8_t *record, size_t record_length,
	       uint8_t *scratch, const uint8_t **key, size_t *length, size_t *used)
{
	struct field_join join = field_join_begin(split, scratch);

	if (!find_ranges(split, record, record_length, &join))
		return false;
	field_join_end(&join, key, length, used);
	return true;
}
