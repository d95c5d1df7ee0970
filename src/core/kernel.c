/* kernel.c - probing a layer, a batch of keys at a time
 *
 * A filter beyond the cache is a sequence of cache misses, 100 ns and more each
 * if one waits for the other.  So every kernel walks a batch twice: first it
 * finds where all keys lie and asks for those lines (prefetch), then it probes,
 * and the misses overlap.
 *
 * Three kinds of layer:
 *   classic     k bits anywhere in m; k misses a key
 *   free lines  k/g bits anywhere in each of g lines of 512 bits
 *   words       one bit in each of the eight 64-bit words of a line: the eight
 *               are found, tested and set at once by vector instructions
 * The blocked forms are those of Putze, Sanders and Singler ("Cache-, hash- and
 * space-efficient Bloom filters", 2007: blocked, multi-blocking) and, for words,
 * the register-blocked split of Lang, Neumann, Kemper and Boncz
 * ("Performance-optimal filtering: Bloom overtakes cuckoo at high throughput",
 * 2019). */
#include "bits.h"
#include "bloom.h"
#include "positions.h"

enum walk { WALK_ADD, WALK_TEST, WALK_TEST_AND_ADD };

/* Lines under way at once: at g = 4 a whole batch, and never less than one key. */
#define WALK_LINES 256

static inline uint8_t *walk_line(const struct layer *layer, struct sketch_hash hash, uint32_t j)
{
	uint64_t line = j * layer->lines + positions_below(positions_u(hash, j), layer->lines);

	return layer->bits + line * (SKETCH_BLOCK_BITS / 8);
}

static inline __attribute__((always_inline)) void walk_prefetch(const uint8_t *line, enum walk walk)
{
	if (walk == WALK_TEST)
		__builtin_prefetch(line, 0);
	else
		__builtin_prefetch(line, 1);
}

/* ----------------------------------------------------------------- classic */

static inline __attribute__((always_inline)) uint64_t classic_walk(const struct layer *layer,
								   const struct sketch_hash *hashes,
								   size_t count, enum walk walk)
{
	uint64_t positions[2 * WALK_LINES], verdict = 0;
	uint32_t k = layer->params.k;
	size_t step = 2 * WALK_LINES / k;

	for (size_t first = 0; first < count; first += step) {
		size_t last = count - first < step ? count : first + step;
		uint64_t *at = positions;

		for (size_t i = first; i < last; i++) {
			for (uint32_t j = 0; j < k; j++, at++) {
				*at = positions_below(positions_u(hashes[i], j), layer->params.m);
				walk_prefetch(layer->bits + (*at >> 3), walk);
			}
		}
		at = positions;
		for (size_t i = first; i < last; i++, at += k) {
			bool all = true;

			for (uint32_t j = 0; j < k && (all || walk != WALK_TEST); j++) {
				if (walk != WALK_ADD)
					all &= bits_test(layer->bits, at[j]);
				if (walk != WALK_TEST)
					bits_set(layer->bits, at[j]);
			}
			verdict |= (uint64_t)all << i;
		}
	}
	return verdict;
}

static void classic_add(const struct layer *layer, const struct sketch_hash *hashes, size_t count)
{
	classic_walk(layer, hashes, count, WALK_ADD);
}

static uint64_t classic_test(const struct layer *layer, const struct sketch_hash *hashes,
			     size_t count)
{
	return classic_walk(layer, hashes, count, WALK_TEST);
}

static uint64_t classic_test_and_add(const struct layer *layer, const struct sketch_hash *hashes,
				     size_t count)
{
	return classic_walk(layer, hashes, count, WALK_TEST_AND_ADD);
}

static const struct kernel classic_kernel = { classic_add, classic_test, classic_test_and_add };

/* -------------------------------------------------------------- free lines */

/* Sets the bits of `mask` in a line and tells whether all were set. */
static inline bool free_line(uint8_t *line, const uint64_t mask[8], enum walk walk)
{
	uint64_t missing = 0;

	for (int w = 0; w < 8; w++) {
		uint64_t word = load_u64(line + 8 * w);

		missing |= mask[w] & ~word;
		if (walk != WALK_TEST)
			store_u64(line + 8 * w, word | mask[w]);
	}
	return missing == 0;
}

static inline __attribute__((always_inline)) uint64_t
free_walk(const struct layer *layer, const struct sketch_hash *hashes, size_t count, enum walk walk)
{
	uint8_t *lines[WALK_LINES];
	uint32_t g = layer->params.g;
	size_t step = WALK_LINES / g;
	uint64_t verdict = 0;

	for (size_t first = 0; first < count; first += step) {
		size_t last = count - first < step ? count : first + step;
		uint8_t **at = lines;

		for (size_t i = first; i < last; i++) {
			for (uint32_t j = 0; j < g; j++, at++) {
				*at = walk_line(layer, hashes[i], j);
				walk_prefetch(*at, walk);
			}
		}
		at = lines;
		for (size_t i = first; i < last; i++) {
			bool all = true;

			for (uint32_t j = 0; j < g; j++, at++) {
				uint64_t mask[8] = { 0 };

				positions_in_line(positions_u(hashes[i], j),
						  positions_v(hashes[i], j), layer->per_line, mask);
				all &= free_line(*at, mask, walk);
			}
			verdict |= (uint64_t)all << i;
		}
	}
	return verdict;
}

static void free_add(const struct layer *layer, const struct sketch_hash *hashes, size_t count)
{
	free_walk(layer, hashes, count, WALK_ADD);
}

static uint64_t free_test(const struct layer *layer, const struct sketch_hash *hashes, size_t count)
{
	return free_walk(layer, hashes, count, WALK_TEST);
}

static uint64_t free_test_and_add(const struct layer *layer, const struct sketch_hash *hashes,
				  size_t count)
{
	return free_walk(layer, hashes, count, WALK_TEST_AND_ADD);
}

static const struct kernel free_kernel = { free_add, free_test, free_test_and_add };

/* ------------------------------------------------------------------- words */

static inline void portable_words_mask(uint64_t v, uint64_t mask[8])
{
	for (unsigned int w = 0; w < 8; w++)
		mask[w] = UINT64_C(1) << positions_in_word(v, w);
}

static inline bool portable_words_has(const uint8_t *line, uint64_t v)
{
	uint64_t mask[8], missing = 0;

	portable_words_mask(v, mask);
	for (int w = 0; w < 8; w++)
		missing |= mask[w] & ~load_u64(line + 8 * w);
	return missing == 0;
}

static inline bool portable_words_swap(uint8_t *line, uint64_t v)
{
	uint64_t mask[8];

	portable_words_mask(v, mask);
	return free_line(line, mask, WALK_TEST_AND_ADD);
}

static inline void portable_words_put(uint8_t *line, uint64_t v)
{
	(void)portable_words_swap(line, v);
}

#define WORDS(name) portable_words_##name
#define WORDS_TARGET
#include "kernel_words.h"

#if defined(__x86_64__) && !defined(SKETCH_PORTABLE)

#include <immintrin.h>

#define TARGET_AVX2 __attribute__((target("avx2")))

/* The bits that v chooses in words 0..3 (half 0) or 4..7 (half 1). */
static inline TARGET_AVX2 __m256i avx2_words_mask(uint64_t v, int half)
{
	__m256i shifts =
		half == 0 ? _mm256_setr_epi64x(0, 6, 12, 18) : _mm256_setr_epi64x(24, 30, 36, 42);
	__m256i fields = _mm256_srlv_epi64(_mm256_set1_epi64x((long long)v), shifts);

	fields = _mm256_and_si256(fields, _mm256_set1_epi64x(63));
	return _mm256_sllv_epi64(_mm256_set1_epi64x(1), fields);
}

static inline TARGET_AVX2 bool avx2_words_has(const uint8_t *line, uint64_t v)
{
	const __m256i *words = (const __m256i *)(const void *)line;
	__m256i low = _mm256_andnot_si256(_mm256_load_si256(words), avx2_words_mask(v, 0));
	__m256i high = _mm256_andnot_si256(_mm256_load_si256(words + 1), avx2_words_mask(v, 1));
	__m256i missing = _mm256_or_si256(low, high);

	return _mm256_testz_si256(missing, missing);
}

static inline TARGET_AVX2 bool avx2_words_swap(uint8_t *line, uint64_t v)
{
	__m256i *words = (__m256i *)(void *)line;
	__m256i low = _mm256_load_si256(words), high = _mm256_load_si256(words + 1);
	__m256i low_mask = avx2_words_mask(v, 0), high_mask = avx2_words_mask(v, 1);
	__m256i missing = _mm256_or_si256(_mm256_andnot_si256(low, low_mask),
					  _mm256_andnot_si256(high, high_mask));

	_mm256_store_si256(words, _mm256_or_si256(low, low_mask));
	_mm256_store_si256(words + 1, _mm256_or_si256(high, high_mask));
	return _mm256_testz_si256(missing, missing);
}

static inline TARGET_AVX2 void avx2_words_put(uint8_t *line, uint64_t v)
{
	(void)avx2_words_swap(line, v);
}

#define WORDS(name) avx2_words_##name
#define WORDS_TARGET TARGET_AVX2
#include "kernel_words.h"

#define TARGET_AVX512 __attribute__((target("avx512f")))

static inline TARGET_AVX512 __m512i avx512_words_mask(uint64_t v)
{
	__m512i shifts = _mm512_setr_epi64(0, 6, 12, 18, 24, 30, 36, 42);
	__m512i fields = _mm512_srlv_epi64(_mm512_set1_epi64((long long)v), shifts);

	fields = _mm512_and_si512(fields, _mm512_set1_epi64(63));
	return _mm512_sllv_epi64(_mm512_set1_epi64(1), fields);
}

/* A word that has its one bit gives a mask bit of 1: all eight, or one misses. */
static inline TARGET_AVX512 bool avx512_words_has(const uint8_t *line, uint64_t v)
{
	return _mm512_test_epi64_mask(_mm512_load_si512(line), avx512_words_mask(v)) == 0xff;
}

static inline TARGET_AVX512 bool avx512_words_swap(uint8_t *line, uint64_t v)
{
	__m512i words = _mm512_load_si512(line), mask = avx512_words_mask(v);

	_mm512_store_si512(line, _mm512_or_si512(words, mask));
	return _mm512_test_epi64_mask(words, mask) == 0xff;
}

static inline TARGET_AVX512 void avx512_words_put(uint8_t *line, uint64_t v)
{
	_mm512_store_si512(line, _mm512_or_si512(_mm512_load_si512(line), avx512_words_mask(v)));
}

#define WORDS(name) avx512_words_##name
#define WORDS_TARGET TARGET_AVX512
#include "kernel_words.h"

enum kernel_machine kernel_best(void)
{
	if (__builtin_cpu_supports("avx512f"))
		return KERNEL_AVX512;
	return __builtin_cpu_supports("avx2") ? KERNEL_AVX2 : KERNEL_PORTABLE;
}

static const struct kernel *words_kernel(enum kernel_machine machine)
{
	switch (machine) {
	case KERNEL_AVX512:
		return &avx512_words_kernel;
	case KERNEL_AVX2:
		return &avx2_words_kernel;
	case KERNEL_PORTABLE:
		break;
	}
	return &portable_words_kernel;
}

#else

enum kernel_machine kernel_best(void)
{
	return KERNEL_PORTABLE;
}

static const struct kernel *words_kernel(enum kernel_machine machine)
{
	(void)machine;
	return &portable_words_kernel;
}

#endif

const struct kernel *kernel_choose(const struct sketch_params *params, enum kernel_machine machine)
{
	if (params->layout == SKETCH_CLASSIC)
		return &classic_kernel;
	if (params->k == POSITIONS_WORDS * params->g)
		return words_kernel(machine);
	return &free_kernel;
}
