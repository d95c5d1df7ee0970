/* scan_body.h - the scanner, a template included by scan.c once for each machine
 *   SCAN(name)    the name with a suffix of its own
 *   SCAN_TARGET   the function attribute that allows the instructions
 * and SCAN(mask)(bytes, terminator): bit i is whether bytes[i] is the terminator,
 * for 64 bytes. */

/* A bit for every byte that ends a field. */
static inline __attribute__((always_inline)) SCAN_TARGET uint64_t
SCAN(separators)(const uint8_t *bytes, int delimiter)
{
	if (delimiter != FIELD_BLANKS)
		return SCAN(mask)(bytes, (uint8_t)delimiter);
	return SCAN(mask)(bytes, ' ') | SCAN(mask)(bytes, '\t');
}

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
 * hide, and all from the record's end on, which `beyond` names. */
static inline __attribute__((always_inline)) SCAN_TARGET uint64_t
SCAN(ends_in)(const uint8_t *bytes, uint64_t beyond, int delimiter, bool newline, bool quoted,
	      struct quotes *state)
{
	uint64_t ends = SCAN(separators)(bytes, delimiter);

	if (newline)
		ends |= SCAN(mask)(bytes, '\n');
	if (quoted)
		ends &= ~quoted_bytes(SCAN(mask)(bytes, '"') & ~beyond,
				      SCAN(mask)(bytes, '\\') & ~beyond, ends & ~beyond, state);
	return ends | beyond;
}

static inline uint64_t SCAN(beyond)(size_t length, size_t at)
{
	return length - at < 64 ? ~UINT64_C(0) << (length - at) : 0;
}

/* Field `number` of a record.  A field begins behind a separator, and where blanks
 * separate, at no other blank; it ends at the next separator, or where the record does. */
static inline __attribute__((always_inline)) SCAN_TARGET bool
SCAN(field)(const uint8_t *record, size_t length, int delimiter, bool quoted, uint64_t number,
	    const uint8_t **field, size_t *field_length)
{
	struct quotes state = { .opens = 1 };
	uint64_t before = 1; /* whether the byte before separates: the record's edge does */

	for (size_t at = 0; at <= length; at += 64) {
		uint64_t beyond = SCAN(beyond)(length, at), starts, count;
		uint64_t ends =
			SCAN(ends_in)(record + at, beyond, delimiter, false, quoted, &state);

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
			ends = SCAN(ends_in)(record + at, SCAN(beyond)(length, at), delimiter,
					     false, quoted, &state);
		}
		*field_length = (size_t)(record + at + __builtin_ctzll(ends) - *field);
		return true;
	}
	return false;
}

static inline __attribute__((always_inline)) SCAN_TARGET void
SCAN(ends_of)(const uint8_t *record, size_t length, int delimiter, bool newline, bool quoted,
	      uint64_t *ends)
{
	struct quotes state = { .opens = 1 };

	for (size_t at = 0; at <= length; at += 64)
		*ends++ = SCAN(ends_in)(record + at, SCAN(beyond)(length, at), delimiter, newline,
					quoted, &state);
}

static SCAN_TARGET void SCAN(ends)(const uint8_t *record, size_t length,
				   const struct field_split *split, uint64_t *ends)
{
	bool blanks = split->delimiter == FIELD_BLANKS, newline = blanks && split->newline_blank;

	if (split->quoted || newline)
		SCAN(ends_of)(record, length, split->delimiter, newline, split->quoted, ends);
	else if (blanks)
		SCAN(ends_of)(record, length, FIELD_BLANKS, false, false, ends);
	else
		SCAN(ends_of)(record, length, split->delimiter, false, false, ends);
}

static inline __attribute__((always_inline)) SCAN_TARGET uint64_t SCAN(keys_of)(
	const struct scan_field *wanted, const uint8_t *const *starts, size_t count,
	const uint8_t **keys, size_t *lengths, struct sketch_hash *hashes, bool blanks, bool quoted)
{
	int delimiter = blanks ? FIELD_BLANKS : wanted->delimiter;
	uint64_t found = 0;

	for (size_t i = 0; i < count; i++) {
		const uint8_t *record = starts[i];
		size_t length = (size_t)(starts[i + 1] - record) - 1;

		length -= wanted->crlf && length > 0 && record[length - 1] == '\r';
		if (!SCAN(field)(record, length, delimiter, quoted, wanted->number, &keys[i],
				 &lengths[i]))
			continue;
		found |= UINT64_C(1) << i;
		if (hashes == NULL)
			continue;
		hashes[i] = murmur3_padded(keys[i], lengths[i], wanted->seed);
		touch_key(wanted->touch, hashes[i]);
	}
	return found;
}

static SCAN_TARGET uint64_t SCAN(keys)(const struct scan_field *wanted,
				       const uint8_t *const *starts, size_t count,
				       const uint8_t **keys, size_t *lengths,
				       struct sketch_hash *hashes)
{
	bool blanks = wanted->delimiter == FIELD_BLANKS;

	if (wanted->quoted)
		return blanks ? SCAN(keys_of)(wanted, starts, count, keys, lengths, hashes, true,
					      true) :
				SCAN(keys_of)(wanted, starts, count, keys, lengths, hashes, false,
					      true);
	return blanks ? SCAN(keys_of)(wanted, starts, count, keys, lengths, hashes, true, false) :
			SCAN(keys_of)(wanted, starts, count, keys, lengths, hashes, false, false);
}

static const struct scan_machine SCAN(machine) = { SCAN(records), SCAN(ends), SCAN(keys) };

#undef SCAN
#undef SCAN_TARGET
