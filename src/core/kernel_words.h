/* kernel_words.h - blocked layers with one bit in each word of a line
 *
 * A template, included by kernel.c once for each machine, with
 *   WORDS(name)    the name with a suffix of its own
 *   WORDS_TARGET   the function attribute that allows the instructions
 * and, named by WORDS, operations on one line (64 bytes, aligned) and the 48
 * bits that choose one bit in each of its words:
 *   has(line, v)   whether all eight are set
 *   put(line, v)   sets them
 *   swap(line, v)  sets them and tells whether all were set */

static inline __attribute__((always_inline)) WORDS_TARGET uint64_t
WORDS(walk)(const struct layer *layer, const struct sketch_hash *hashes, size_t count,
	    enum walk walk, uint32_t g)
{
	uint8_t *lines[WALK_LINES];
	uint64_t v[WALK_LINES], verdict = 0;

	for (size_t i = 0; i < count; i++) {
		for (uint32_t j = 0; j < g; j++) {
			lines[i * g + j] = walk_line(layer, hashes[i], j);
			v[i * g + j] = positions_v(hashes[i], j);
			walk_prefetch(lines[i * g + j], walk);
		}
	}
	for (size_t i = 0; i < count; i++) {
		bool all = true;

		for (uint32_t j = 0; j < g; j++) {
			size_t at = i * g + j;

			if (walk == WALK_ADD)
				WORDS(put)(lines[at], v[at]);
			else if (walk == WALK_TEST)
				all &= WORDS(has)(lines[at], v[at]);
			else
				all &= WORDS(swap)(lines[at], v[at]);
		}
		verdict |= (uint64_t)all << i;
	}
	return verdict;
}

/* One to three lines a key are what nearly every filter has: unrolled. */
static inline __attribute__((always_inline)) WORDS_TARGET uint64_t WORDS(steps)(
	const struct layer *layer, const struct sketch_hash *hashes, size_t count, enum walk walk)
{
	uint32_t g = layer->params.g;
	size_t step = WALK_LINES / g;
	uint64_t verdict = 0;

	if (g == 1)
		return WORDS(walk)(layer, hashes, count, walk, 1);
	if (g == 2)
		return WORDS(walk)(layer, hashes, count, walk, 2);
	if (g == 3)
		return WORDS(walk)(layer, hashes, count, walk, 3);
	for (size_t i = 0; i < count; i += step) {
		size_t n = count - i < step ? count - i : step;

		verdict |= WORDS(walk)(layer, hashes + i, n, walk, g) << i;
	}
	return verdict;
}

static WORDS_TARGET void WORDS(add)(const struct layer *layer, const struct sketch_hash *hashes,
				    size_t count)
{
	WORDS(steps)(layer, hashes, count, WALK_ADD);
}

/* A key that misses a bit in its first line is absent whatever the others hold: they
 * are not even asked for.  So an absent key costs one cache miss, as if g were 1. */
static WORDS_TARGET uint64_t WORDS(test)(const struct layer *layer,
					 const struct sketch_hash *hashes, size_t count)
{
	const uint8_t *lines[KERNEL_BATCH];
	uint8_t alive[KERNEL_BATCH];
	uint64_t v[KERNEL_BATCH], verdict = 0;
	uint32_t g = layer->params.g;

	if (g == 1)
		return WORDS(walk)(layer, hashes, count, WALK_TEST, 1);
	for (size_t i = 0; i < count; i++)
		alive[i] = (uint8_t)i;
	for (uint32_t j = 0; j < g; j++) {
		size_t kept = 0;

		for (size_t i = 0; i < count; i++) {
			lines[i] = walk_line(layer, hashes[alive[i]], j);
			v[i] = positions_v(hashes[alive[i]], j);
			walk_prefetch(lines[i], WALK_TEST);
		}
		for (size_t i = 0; i < count; i++) {
			alive[kept] = alive[i];
			kept += WORDS(has)(lines[i], v[i]);
		}
		count = kept;
	}
	for (size_t i = 0; i < count; i++)
		verdict |= UINT64_C(1) << alive[i];
	return verdict;
}

static WORDS_TARGET uint64_t WORDS(test_and_add)(const struct layer *layer,
						 const struct sketch_hash *hashes, size_t count)
{
	return WORDS(steps)(layer, hashes, count, WALK_TEST_AND_ADD);
}

static const struct kernel WORDS(kernel) = { WORDS(add), WORDS(test), WORDS(test_and_add) };

#undef WORDS
#undef WORDS_TARGET
