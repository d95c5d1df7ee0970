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

/* The first byte from `at` on that ends a field; else the record's length. */
static inline SCAN_TARGET size_t SCAN(stop)(const uint8_t *record, size_t length, size_t at,
					    int delimiter)
{
	for (; at < length; at += 64) {
		uint64_t ends = SCAN(separators)(record + at, delimiter);

		if (ends != 0) {
			at += (size_t)__builtin_ctzll(ends);
			return at < length ? at : length;
		}
	}
	return length;
}

/* The field that begins at bit `bit` of the 64 bytes at `at`, whose ends are given; the
 * record's own end is among them. */
static inline __attribute__((always_inline)) SCAN_TARGET size_t
SCAN(field_length)(const uint8_t *record, size_t length, size_t at, unsigned int bit, uint64_t ends,
		   int delimiter)
{
	uint64_t rest = ends >> bit;

	if (rest != 0)
		return (size_t)__builtin_ctzll(rest);
	return SCAN(stop)(record, length, at + 64, delimiter) - at - bit;
}

static inline __attribute__((always_inline)) SCAN_TARGET bool
SCAN(field_of_blanks)(const uint8_t *record, size_t length, uint64_t number, const uint8_t **field,
		      size_t *field_length)
{
	uint64_t before = 1; /* whether the byte before is a blank: the record's edge is */

	for (size_t at = 0; at < length; at += 64) {
		uint64_t blanks = SCAN(separators)(record + at, FIELD_BLANKS), starts, found;
		unsigned int bit;

		if (length - at < 64)
			blanks |= ~UINT64_C(0) << (length - at);
		starts = ~blanks & (blanks << 1 | before);
		found = (uint64_t)__builtin_popcountll(starts);
		before = blanks >> 63;
		if (found < number) {
			number -= found;
			continue;
		}
		for (; number > 1; number--)
			starts &= starts - 1;
		bit = (unsigned int)__builtin_ctzll(starts);
		*field = record + at + bit;
		*field_length = SCAN(field_length)(record, length, at, bit, blanks, FIELD_BLANKS);
		return true;
	}
	return false;
}

static inline __attribute__((always_inline)) SCAN_TARGET bool
SCAN(field_of_bytes)(const uint8_t *record, size_t length, int delimiter, uint64_t number,
		     const uint8_t **field, size_t *field_length)
{
	size_t start = 0;

	for (size_t at = 0; number > 1; at += 64) {
		uint64_t ends, found;

		if (at >= length)
			return false;
		ends = SCAN(separators)(record + at, delimiter);
		if (length - at < 64)
			ends &= (UINT64_C(1) << (length - at)) - 1;
		found = (uint64_t)__builtin_popcountll(ends);
		if (found < number - 1) {
			number -= found;
			continue;
		}
		for (; number > 2; number--)
			ends &= ends - 1;
		start = at + (size_t)__builtin_ctzll(ends) + 1;
		break;
	}
	*field = record + start;
	*field_length = SCAN(stop)(record, length, start, delimiter) - start;
	return true;
}

static SCAN_TARGET bool SCAN(field)(const uint8_t *record, size_t length, int delimiter,
				    uint64_t number, const uint8_t **field, size_t *field_length)
{
	if (delimiter == FIELD_BLANKS)
		return SCAN(field_of_blanks)(record, length, number, field, field_length);
	return SCAN(field_of_bytes)(record, length, delimiter, number, field, field_length);
}

/* A field begins behind a separator, and where blanks separate, at no other blank; it
 * ends at the next separator, or where the record does. */
static inline __attribute__((always_inline)) SCAN_TARGET bool
SCAN(quoted)(const uint8_t *record, size_t length, int delimiter, uint64_t number,
	     const uint8_t **field, size_t *field_length)
{
	struct quotes state = { .opens = 1 };
	uint64_t before = 1; /* whether the byte before separates: the record's edge does */
	bool found = false;

	for (size_t at = 0; at <= length; at += 64) {
		const uint8_t *bytes = record + at;
		uint64_t beyond = length - at < 64 ? ~UINT64_C(0) << (length - at) : 0;
		uint64_t ends = SCAN(separators)(bytes, delimiter) & ~beyond;

		ends &= ~quoted_bytes(SCAN(mask)(bytes, '"') & ~beyond,
				      SCAN(mask)(bytes, '\\') & ~beyond, ends, &state);
		ends |= beyond;
		if (!found) {
			uint64_t starts = ends << 1 | before;
			uint64_t count;

			starts &= delimiter == FIELD_BLANKS ? ~ends : ~(beyond << 1);
			count = (uint64_t)__builtin_popcountll(starts);
			before = ends >> 63;
			if (count < number) {
				number -= count;
				continue;
			}
			for (; number > 1; number--)
				starts &= starts - 1;
			found = true;
			*field = bytes + __builtin_ctzll(starts);
			ends &= -(starts & -starts);
		}
		if (ends != 0) {
			*field_length = (size_t)(bytes + __builtin_ctzll(ends) - *field);
			return true;
		}
	}
	return false;
}

static SCAN_TARGET bool SCAN(quoted_field)(const uint8_t *record, size_t length, int delimiter,
					   uint64_t number, const uint8_t **field,
					   size_t *field_length)
{
	if (delimiter == FIELD_BLANKS)
		return SCAN(quoted)(record, length, FIELD_BLANKS, number, field, field_length);
	return SCAN(quoted)(record, length, delimiter, number, field, field_length);
}

static inline __attribute__((always_inline)) SCAN_TARGET void
SCAN(ends_of)(const uint8_t *record, size_t length, int delimiter, bool newline, bool quoted,
	      uint64_t *ends)
{
	struct quotes state = { .opens = 1 };

	for (size_t at = 0; at <= length; at += 64) {
		const uint8_t *bytes = record + at;
		uint64_t beyond = length - at < 64 ? ~UINT64_C(0) << (length - at) : 0;
		uint64_t word = SCAN(separators)(bytes, delimiter);

		if (newline)
			word |= SCAN(mask)(bytes, '\n');
		word &= ~beyond;
		if (quoted)
			word &= ~quoted_bytes(SCAN(mask)(bytes, '"') & ~beyond,
					      SCAN(mask)(bytes, '\\') & ~beyond, word, &state);
		*ends++ = word | beyond;
	}
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
		bool there;

		length -= wanted->crlf && length > 0 && record[length - 1] == '\r';
		if (quoted)
			there = SCAN(quoted)(record, length, delimiter, wanted->number, &keys[i],
					     &lengths[i]);
		else if (blanks)
			there = SCAN(field_of_blanks)(record, length, wanted->number, &keys[i],
						      &lengths[i]);
		else
			there = SCAN(field_of_bytes)(record, length, delimiter, wanted->number,
						     &keys[i], &lengths[i]);
		if (!there)
			continue;
		found |= UINT64_C(1) << i;
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

static const struct scan_machine SCAN(machine) = { SCAN(records), SCAN(field), SCAN(quoted_field),
						   SCAN(ends), SCAN(keys) };

#undef SCAN
#undef SCAN_TARGET
