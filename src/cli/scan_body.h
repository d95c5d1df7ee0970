/* scan_body.h - the scanner, a template included by scan.c once for each machine
 *   SCAN(name)    the name with a suffix of its own
 *   SCAN_TARGET   the function attribute that allows the instructions
 * and SCAN(mask)(bytes, terminator): bit i is whether bytes[i] is the terminator,
 * for 64 bytes. */

static inline __attribute__((always_inline)) SCAN_TARGET size_t
SCAN(walk)(struct scan *scan, size_t limit, const uint8_t **starts, struct sketch_hash *hashes)
{
	const uint8_t *at = scan->from, *end = scan->end, *start = starts[0];
	size_t found = 0;

	for (; at < end; at += 64) {
		uint64_t mask = SCAN(mask)(at, scan->terminator);

		if (end - at < 64)
			mask &= (UINT64_C(1) << (end - at)) - 1;
		for (; mask != 0; mask &= mask - 1) {
			const uint8_t *stop = at + __builtin_ctzll(mask);

			/* Here the record is in the nearest cache: a second pass over
			 * the batch would cost more than the hash of a short key. */
			if (hashes != NULL) {
				hashes[found] =
					murmur3_padded(start, (size_t)(stop - start), scan->seed);
				touch_key(scan->touch, hashes[found]);
			}
			start = stop + 1;
			starts[++found] = start;
			if (found == limit) {
				scan->from = start;
				return found;
			}
		}
	}
	scan->from = end;
	return found;
}

static SCAN_TARGET size_t SCAN(records)(struct scan *scan, size_t limit, const uint8_t **starts,
					struct sketch_hash *hashes)
{
	if (hashes == NULL)
		return SCAN(walk)(scan, limit, starts, NULL);
	return SCAN(walk)(scan, limit, starts, hashes);
}

/* A bit for each of 64 bytes of a record that ends a field: a separator that no quotes
 * hide, and all from the record's end on, which `beyond` names.  *mixed gets a bit that is
 * not 0 where a separator within the record is another blank than a space. */
static inline __attribute__((always_inline)) SCAN_TARGET uint64_t
SCAN(ends_in)(const uint8_t *bytes, uint64_t beyond, int delimiter, bool newline, bool quoted,
	      struct quotes *state, uint64_t *mixed)
{
	bool blanks = delimiter == FIELD_BLANKS;
	uint64_t ends = SCAN(mask)(bytes, blanks ? ' ' : (uint8_t)delimiter), others = 0;

	if (blanks) {
		others = SCAN(mask)(bytes, '\t');
		if (newline)
			others |= SCAN(mask)(bytes, '\n');
		ends |= others;
	}
	if (quoted)
		ends &= ~quoted_bytes(SCAN(mask)(bytes, '"') & ~beyond,
				      SCAN(mask)(bytes, '\\') & ~beyond, ends & ~beyond, state);
	if (mixed != NULL)
		*mixed |= others & ends & ~beyond;
	return ends | beyond;
}

/* Field `number` of a record.  A field begins behind a separator, and where blanks
 * separate, at no other blank; it ends at the next separator, or where the record does. */
static inline __attribute__((always_inline)) SCAN_TARGET bool
SCAN(find)(const uint8_t *record, size_t length, int delimiter, bool newline, bool quoted,
	   uint64_t number, const uint8_t **field, size_t *field_length)
{
	struct quotes state = { .opens = 1 };
	uint64_t before = 1; /* whether the byte before separates: the record's edge does */

	for (size_t at = 0; at <= length; at += 64) {
		uint64_t beyond = beyond_end(length, at), starts, count;
		uint64_t ends = SCAN(ends_in)(record + at, beyond, delimiter, newline, quoted,
					      &state, NULL);

		starts = ends << 1 | before;
		starts &= delimiter == FIELD_BLANKS ? ~ends : ~(beyond << 1);
		count = (uint64_t)__builtin_popcountll(starts);
		before = ends >> 63;
		if (count < number) {
			number -= count;
			continue;
		}
		for (; number > 1; number--)
			starts &= starts - 1;
		*field = record + at + __builtin_ctzll(starts);
		ends &= -(starts & -starts);
		while (ends == 0) {
			at += 64;
			ends = SCAN(ends_in)(record + at, beyond_end(length, at), delimiter,
					     newline, quoted, &state, NULL);
		}
		*field_length = (size_t)(record + at + __builtin_ctzll(ends) - *field);
		return true;
	}
	return false;
}

/* The key of a record of several fields. */
static inline __attribute__((always_inline)) SCAN_TARGET bool
SCAN(join)(const uint8_t *record, size_t length, int delimiter, bool newline, bool quoted,
	   const struct field_list *list, struct field_join *join)
{
	struct quotes state = { .opens = 1 };
	uint64_t ends[FIELD_ENDS(SCAN_LONGEST)], mixed = 0;
	struct field_walk walk = { .ends = ends,
				   .length = length,
				   .blanks = delimiter == FIELD_BLANKS };

	for (size_t at = 0; at <= length; at += 64)
		ends[at / 64] = SCAN(ends_in)(record + at, beyond_end(length, at), delimiter,
					      newline, quoted, &state, &mixed);
	walk.mixed = mixed != 0;
	return field_walk_list(&walk, list, record, join);
}

static inline __attribute__((always_inline)) SCAN_TARGET uint64_t
SCAN(field_by)(const struct scan_keys *wanted, const uint8_t *const *starts, size_t count,
	       const uint8_t **keys, size_t *lengths, int delimiter, bool newline, bool quoted)
{
	uint64_t found = 0, number = wanted->split->list.ranges[0].first;

	for (size_t i = 0; i < count; i++)
		found |= (uint64_t)SCAN(find)(starts[i], length_of(wanted, &starts[i]), delimiter,
					      newline, quoted, number, &keys[i], &lengths[i])
			 << i;
	return found;
}

static inline __attribute__((always_inline)) SCAN_TARGET uint64_t
SCAN(fields_by)(const struct scan_keys *wanted, const uint8_t *const *starts, size_t count,
		const uint8_t **keys, size_t *lengths, uint8_t **room, int delimiter, bool newline,
		bool quoted)
{
	uint64_t found = 0;

	for (size_t i = 0; i < count; i++) {
		struct field_join join = field_join_begin(wanted->split, *room);
		size_t length = length_of(wanted, &starts[i]), used = 0;
		bool there;

		if (length > SCAN_LONGEST) {
			there = field_key(wanted->split, starts[i], length, *room, &keys[i],
					  &lengths[i], &used);
		} else {
			there = SCAN(join)(starts[i], length, delimiter, newline, quoted,
					   &wanted->split->list, &join);
			field_join_end(&join, &keys[i], &lengths[i], &used);
		}
		found |= (uint64_t)there << i;
		*room += there ? used : 0;
	}
	return found;
}

/* function(arguments..., delimiter, newline, quoted) of wanted->split, compiled for each
 * sort: of quotes and newlines nothing is to be seen where there are none. */
#define SCAN_CALL(function, ...)                                                                   \
	(wanted->split->delimiter != FIELD_BLANKS ?                                                \
		 wanted->split->quoted ?                                                           \
		 function(__VA_ARGS__, (uint8_t)wanted->split->delimiter, false, true) :           \
		 function(__VA_ARGS__, (uint8_t)wanted->split->delimiter, false, false) :          \
	 wanted->split->newline_blank ?                                                            \
		 function(__VA_ARGS__, FIELD_BLANKS, true, wanted->split->quoted) :                \
	 wanted->split->quoted ? function(__VA_ARGS__, FIELD_BLANKS, false, true) :                \
				 function(__VA_ARGS__, FIELD_BLANKS, false, false))

static SCAN_TARGET uint64_t SCAN(field)(const struct scan_keys *wanted,
					const uint8_t *const *starts, size_t count,
					const uint8_t **keys, size_t *lengths,
					struct sketch_hash *hashes)
{
	uint64_t found = SCAN_CALL(SCAN(field_by), wanted, starts, count, keys, lengths);

	for (uint64_t left = hashes == NULL ? 0 : found; left != 0; left &= left - 1) {
		size_t i = (size_t)__builtin_ctzll(left);

		hashes[i] = murmur3_padded(keys[i], lengths[i], wanted->seed);
		touch_key(wanted->touch, hashes[i]);
	}
	return found;
}

static SCAN_TARGET uint64_t SCAN(fields)(const struct scan_keys *wanted,
					 const uint8_t *const *starts, size_t count,
					 const uint8_t **keys, size_t *lengths, uint8_t **room)
{
	return SCAN_CALL(SCAN(fields_by), wanted, starts, count, keys, lengths, room);
}

static const struct scan_machine SCAN(machine) = { SCAN(records), SCAN(field), SCAN(fields) };

#undef SCAN
#undef SCAN_CALL
#undef SCAN_TARGET
