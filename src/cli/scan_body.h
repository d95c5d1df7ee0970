/* scan_body.h - the scanner, a template included by scan.c once for each machine
 *   SCAN(name)    the name with a suffix of its own
 *   SCAN_TARGET   the function attribute that allows the instructions
 *   SCAN_LANES    how many keys are hashed together, 1 to 64
 * and
 *   SCAN(mask)(bytes, terminator)
 *       bit i is whether bytes[i] is the terminator, for 64 bytes
 *   SCAN(blanks)(bytes, newline)
 *       the same for a space and a tab, and where that is true a newline
 *   SCAN(parity)(bits)
 *       bit i is the sum, modulo 2, of bits 0 to i
 *   SCAN(hash_lanes)(wanted, keys, lengths, hashes, keyed)
 *       hashes SCAN_LANES keys; keyed: with the secret, which there is */

/* Adds the starts behind a mask's terminators; returns how many there are then. */
static inline __attribute__((always_inline)) SCAN_TARGET size_t
SCAN(add_starts)(const uint8_t *at, uint64_t mask, const uint8_t **starts, size_t found)
{
	/* Whether there is one is a coin toss, which no branch is to guess: a start is written
	 * in any case, and counted where it is one. */
	starts[found + 1] = at + __builtin_ctzll(mask | UINT64_C(1) << 63) + 1;
	found += mask != 0;
	for (mask &= mask - 1; mask != 0; mask &= mask - 1)
		starts[++found] = at + __builtin_ctzll(mask) + 1;
	return found;
}

static SCAN_TARGET size_t SCAN(records)(struct scan *scan, size_t limit, const uint8_t **starts)
{
	const uint8_t *at = scan->from, *end = scan->end;
	size_t found = 0;

	for (; end - at >= 64 && found < limit; at += 64)
		found = SCAN(add_starts)(at, SCAN(mask)(at, scan->terminator), starts, found);
	if (at < end && found < limit) {
		uint64_t within = (UINT64_C(1) << (end - at)) - 1;

		found = SCAN(add_starts)(at, SCAN(mask)(at, scan->terminator) & within, starts,
					 found);
	}
	if (found < limit) {
		scan->from = end;
		return found;
	}
	scan->from = starts[limit];
	return limit;
}

/* The bytes in quotes, the opening one included and the closing one not.
 *
 * Quotes that open and close in turn are a running parity, which no branch has to
 * guess.  But only those quotes do that which begin a field, end one, or come second of
 * two; where the parity opens a quote elsewhere, that is a byte as any other, and what is
 * behind it is worked out again.  A quote that is escaped outside of quotes is no first
 * byte of a field, for the backslash would be, so where a run of backslashes lies is of
 * no account. */
static inline __attribute__((always_inline)) SCAN_TARGET uint64_t
SCAN(quoted_bytes)(uint64_t quotes, uint64_t backslashes, uint64_t separators, struct quotes *state)
{
	uint64_t inside, may_open, stray;

	if ((backslashes | state->escapes) != 0)
		quotes &= ~escaped_bytes(backslashes, &state->escapes);
	for (;; quotes ^= stray & -stray) {
		inside = SCAN(parity)(quotes) ^ state->inside;
		may_open = (separators | quotes) & ~inside;
		stray = quotes & inside & ~(may_open << 1 | state->opens);
		if (stray == 0)
			break;
	}
	state->inside = -(inside >> 63);
	state->opens = may_open >> 63;
	return inside;
}

/* A bit for each of 64 bytes of a record that ends a field: a separator that no quotes
 * hide, and all from the record's end on, which `beyond` names.  *mixed gets a bit that is
 * not 0 where a separator within the record is another blank than a space. */
static inline __attribute__((always_inline)) SCAN_TARGET uint64_t
SCAN(ends_in)(const uint8_t *bytes, uint64_t beyond, int delimiter, bool newline, bool quoted,
	      struct quotes *state, uint64_t *mixed)
{
	bool blanks = delimiter == FIELD_BLANKS;
	uint64_t ends =
		blanks ? SCAN(blanks)(bytes, newline) : SCAN(mask)(bytes, (uint8_t)delimiter);

	if (quoted)
		ends &= ~SCAN(quoted_bytes)(SCAN(mask)(bytes, '"') & ~beyond,
					    SCAN(mask)(bytes, '\\') & ~beyond, ends & ~beyond,
					    state);
	if (blanks && mixed != NULL)
		*mixed |= ends & ~SCAN(mask)(bytes, ' ') & ~beyond;
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

/* Adds the fields of a list of single ones; false where one is lacking.  That is what
 * field_walk_list does as well, in many more steps. */
static inline __attribute__((always_inline)) SCAN_TARGET bool
SCAN(walk_singles)(const struct field_walk *walk, const struct field_list *list,
		   const uint8_t *record, struct field_join *join)
{
	uint64_t starts = field_walk_starts(walk, 0), passed = 0;
	size_t word = 0, last = walk->length / 64;

	for (size_t i = 0; i < list->count; i++) {
		uint64_t number = list->ranges[i].first, wanted = number - passed, found, first;
		size_t start;

		for (; (found = (uint64_t)__builtin_popcountll(starts)) < wanted; wanted -= found) {
			if (word == last)
				return false;
			starts = field_walk_starts(walk, ++word);
		}
		first = nth_bit(starts, wanted);
		starts &= -(first << 1);
		passed = number;
		start = 64 * word + (size_t)__builtin_ctzll(first);
		field_join_add(join, record + start, field_walk_end(walk, start) - start, true);
	}
	return true;
}

/* The key of a record of several fields. */
static inline __attribute__((always_inline)) SCAN_TARGET bool
SCAN(join)(const uint8_t *record, size_t length, int delimiter, bool newline, bool quoted,
	   const struct field_list *list, bool singles, struct field_join *join)
{
	struct quotes state = { .opens = 1 };
	uint64_t ends[FIELD_ENDS(SCAN_LONGEST)], mixed = 0;
	struct field_walk walk = { .ends = ends,
				   .length = length,
				   .blanks = delimiter == FIELD_BLANKS };

	for (size_t at = 0; at <= length; at += 64)
		ends[at / 64] = SCAN(ends_in)(record + at, beyond_end(length, at), delimiter,
					      newline, quoted, &state, singles ? NULL : &mixed);
	walk.mixed = mixed != 0;
	if (singles)
		return SCAN(walk_singles)(&walk, list, record, join);
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
	bool singles = field_list_singles(&wanted->split->list);
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
					   &wanted->split->list, singles, &join);
			field_join_end(&join, &keys[i], &lengths[i], &used);
		}
		found |= (uint64_t)there << i;
		*room += used;
	}
	return found;
}

static SCAN_TARGET uint64_t SCAN(field)(const struct scan_keys *wanted,
					const uint8_t *const *starts, size_t count,
					const uint8_t **keys, size_t *lengths)
{
	return SPLIT_CALL(wanted->split, SCAN(field_by), wanted, starts, count, keys, lengths);
}

static SCAN_TARGET uint64_t SCAN(fields)(const struct scan_keys *wanted,
					 const uint8_t *const *starts, size_t count,
					 const uint8_t **keys, size_t *lengths, uint8_t **room)
{
	return SPLIT_CALL(wanted->split, SCAN(fields_by), wanted, starts, count, keys, lengths,
			  room);
}

/* Hashes keys, SCAN_LANES at most. */
static inline __attribute__((always_inline)) SCAN_TARGET void
SCAN(hash_some)(const struct scan_hashing *wanted, const uint8_t *const *keys,
		const size_t *lengths, size_t count, struct sketch_hash *hashes, bool keyed)
{
	if (count == SCAN_LANES)
		SCAN(hash_lanes)(wanted, keys, lengths, hashes, keyed);
	else
		hash_each(wanted, keys, lengths, count, hashes, keyed);
	for (size_t i = 0; i < count; i++)
		touch_key(wanted->touch, hashes[i]);
}

static inline __attribute__((always_inline)) SCAN_TARGET void
SCAN(hash_by)(const struct scan_hashing *wanted, const uint8_t *const *keys, const size_t *lengths,
	      uint64_t present, struct sketch_hash *hashes, bool keyed)
{
	const uint64_t all = ~UINT64_C(0) >> (64 - SCAN_LANES);

	for (size_t i = 0; i < 64 && present >> i != 0; i += SCAN_LANES) {
		uint64_t group = present >> i & all;

		if (group == all) {
			SCAN(hash_some)
			(wanted, &keys[i], &lengths[i], SCAN_LANES, &hashes[i], keyed);
			continue;
		}
		for (; group != 0; group &= group - 1) {
			size_t at = i + (size_t)__builtin_ctzll(group);

			SCAN(hash_some)(wanted, &keys[at], &lengths[at], 1, &hashes[at], keyed);
		}
	}
}

static SCAN_TARGET void SCAN(hash)(const struct scan_hashing *wanted, const uint8_t *const *keys,
				   const size_t *lengths, uint64_t present,
				   struct sketch_hash *hashes)
{
	if (wanted->secret != NULL)
		SCAN(hash_by)(wanted, keys, lengths, present, hashes, true);
	else
		SCAN(hash_by)(wanted, keys, lengths, present, hashes, false);
}

static const struct scan_machine SCAN(machine) = { SCAN(records), SCAN(field), SCAN(fields),
						   SCAN(hash) };

#undef SCAN
#undef SCAN_LANES
#undef SCAN_TARGET
