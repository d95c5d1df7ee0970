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
			if (hashes != NULL)
				hashes[found] = murmur3_padded(start, (size_t)(stop - start),
							       scan->seed);
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

#undef SCAN
#undef SCAN_TARGET
