#include "kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endian.h"
#include "format.h"

#define ASKED 128

static struct sketch_hash hash_of(uint64_t number, uint32_t seed)
{
	return sketch_murmur3_x64_128(&number, sizeof number, seed);
}

/* ------------------------------------------------------------------- filters */

static enum sketch_status bloom_of_file(void **sketch, struct sketch_file *file,
					struct sketch_error *error)
{
	struct sketch_bloom *filter;
	enum sketch_status status = sketch_bloom_of_file(&filter, file, error);

	if (status == SKETCH_OK)
		*sketch = filter;
	return status;
}

static enum sketch_status bloom_verify(void *sketch, struct sketch_error *error)
{
	return sketch_bloom_verify(sketch, error);
}

static enum sketch_status bloom_write(void *sketch, int fd, struct sketch_error *error)
{
	return sketch_bloom_write(sketch, fd, error);
}

static enum sketch_status bloom_unite(void *into, void *from, struct sketch_error *error)
{
	return sketch_bloom_union(into, from, error);
}

static void bloom_release(void *sketch)
{
	sketch_bloom_free(sketch);
}

static void bloom_hashes(const struct sketch_bloom *filter, struct sketch_hash hashes[ASKED])
{
	for (uint64_t i = 0; i < ASKED; i++)
		hashes[i] = hash_of(i, sketch_bloom_identity(filter)->seed);
}

static enum sketch_status bloom_ask(void *sketch, struct sketch_error *error)
{
	struct sketch_bloom *filter = sketch;
	struct sketch_hash hashes[ASKED];
	uint64_t found[ASKED / 64];
	struct sketch_bloom_state state;
	enum sketch_status status;

	bloom_hashes(filter, hashes);
	status = sketch_bloom_test(filter, hashes, ASKED, found, error);
	for (size_t i = 0; i < sketch_bloom_layers(filter) && status == SKETCH_OK; i++) {
		const struct sketch_params *params = sketch_bloom_params(filter, i);

		fuzz_require(sketch_params_check(params, NULL) == SKETCH_OK, "layer %zu", i);
		status = sketch_bloom_state(filter, i, &state, error);
		if (status != SKETCH_OK)
			break;
		fuzz_require(state.ones <= params->m, "%llu ones", (unsigned long long)state.ones);
		fuzz_require(state.rate >= 0 && state.rate <= 1, "rate %g", state.rate);
		fuzz_require(!isnan(state.distinct) && state.distinct >= 0, "distinct %g",
			     state.distinct);
	}
	return status;
}

/* Puts in as many of the keys as the current generation has room for; how many. */
static size_t change_window(struct sketch_bloom *filter, const struct sketch_window *window,
			    const struct sketch_hash *hashes)
{
	uint64_t found[ASKED / 64], room = ASKED;

	if (window->unit == SKETCH_WINDOW_RECORDS && window->span - window->records < room)
		room = window->span - window->records;
	sketch_window_insert(filter, hashes, (size_t)room, true, found);
	/* They are found for one generation more. */
	if (window->stamp < UINT64_C(1) << 61 &&
	    (window->unit == SKETCH_WINDOW_RECORDS ||
	     window->stamp + 1 < (uint64_t)INT64_MAX / window->span))
		sketch_window_advance(filter, window->stamp + 1);
	return (size_t)room;
}

static void bloom_change(void *sketch)
{
	struct sketch_bloom *filter = sketch;
	struct sketch_hash hashes[ASKED];
	uint64_t found[ASKED / 64];
	struct sketch_error error;
	struct sketch_window window;
	size_t count = ASKED;

	bloom_hashes(filter, hashes);
	if (sketch_window_get(filter, &window))
		count = change_window(filter, &window, hashes);
	else if (sketch_bloom_insert(filter, hashes, count, found, &error) != SKETCH_OK)
		return; /* a rung that does not fit */
	fuzz_require(sketch_bloom_test(filter, hashes, count, found, &error) == SKETCH_OK, "%s",
		     error.text);
	for (size_t i = 0; i < count; i++)
		fuzz_require(found[i / 64] >> i % 64 & 1, "key %zu is not found", i);
}

static void bloom_compare(void *both, void *part)
{
	struct sketch_hash hashes[ASKED];
	uint64_t of_both[ASKED / 64], of_part[ASKED / 64];
	struct sketch_error error;

	bloom_hashes(part, hashes);
	fuzz_require(sketch_bloom_test(both, hashes, ASKED, of_both, &error) == SKETCH_OK, "%s",
		     error.text);
	fuzz_require(sketch_bloom_test(part, hashes, ASKED, of_part, &error) == SKETCH_OK, "%s",
		     error.text);
	for (size_t i = 0; i < ASKED / 64; i++)
		fuzz_require((of_part[i] & ~of_both[i]) == 0, "a key is lost in word %zu", i);
}

/* ------------------------------------------------------------------ counting */

static enum sketch_status counting_ask(void *sketch, struct sketch_error *error)
{
	struct sketch_bloom *filter = sketch;
	unsigned int bits = sketch_bloom_counter_bits(filter);
	struct sketch_counting_state state;
	struct sketch_bloom_state bloom;
	enum sketch_status status = bloom_ask(sketch, error);

	if (status == SKETCH_OK)
		status = sketch_counting_state(filter, &state, error);
	if (status == SKETCH_OK)
		status = sketch_bloom_state(filter, 0, &bloom, error);
	if (status != SKETCH_OK)
		return status;
	fuzz_require(bits == 4 || bits == 8 || bits == 16, "%u bits", bits);
	fuzz_require(state.largest < 1u << bits, "%u in %u bits", state.largest, bits);
	fuzz_require(state.full <= bloom.ones && bloom.ones <= state.sum &&
			     state.sum <= bloom.ones * state.largest,
		     "%llu full, %llu not 0, %llu in all", (unsigned long long)state.full,
		     (unsigned long long)bloom.ones, (unsigned long long)state.sum);
	return SKETCH_OK;
}

/* What comes and goes leaves no trace but full counters; then it comes to stay.  Keys are
 * alike twice, for a multiset. */
static void counting_change(void *sketch)
{
	struct sketch_bloom *filter = sketch;
	struct sketch_hash hashes[ASKED];
	uint64_t before[ASKED / 64], found[ASKED / 64], removed[ASKED / 64];
	struct sketch_counting_state old, now;
	struct sketch_error error;
	size_t gone;

	bloom_hashes(filter, hashes);
	memcpy(hashes + ASKED / 2, hashes, sizeof hashes / 2);
	fuzz_require(sketch_bloom_test(filter, hashes, ASKED, before, &error) == SKETCH_OK, "%s",
		     error.text);
	fuzz_require(sketch_counting_state(filter, &old, &error) == SKETCH_OK, "%s", error.text);
	sketch_bloom_add(filter, hashes, ASKED);
	gone = sketch_counting_remove(filter, hashes, ASKED, removed);
	fuzz_require(gone == ASKED, "%zu of %d copies could be taken out", gone, ASKED);
	fuzz_require(sketch_counting_state(filter, &now, &error) == SKETCH_OK, "%s", error.text);
	fuzz_require(now.full >= old.full && now.sum >= old.sum &&
			     (now.full > old.full || now.sum == old.sum),
		     "%llu became %llu", (unsigned long long)old.sum, (unsigned long long)now.sum);
	fuzz_require(sketch_bloom_test(filter, hashes, ASKED, found, &error) == SKETCH_OK, "%s",
		     error.text);
	for (size_t i = 0; i < ASKED / 64; i++)
		fuzz_require((before[i] & ~found[i]) == 0 &&
				     (now.full > old.full || found[i] == before[i]),
			     "other keys are found in word %zu", i);
	bloom_change(sketch);
}

/* -------------------------------------------------------------------- cuckoo */

static enum sketch_status cuckoo_of_file(void **sketch, struct sketch_file *file,
					 struct sketch_error *error)
{
	struct sketch_cuckoo *cuckoo;
	enum sketch_status status = sketch_cuckoo_of_file(&cuckoo, file, error);

	if (status == SKETCH_OK)
		*sketch = cuckoo;
	return status;
}

static enum sketch_status cuckoo_verify(void *sketch, struct sketch_error *error)
{
	return sketch_cuckoo_verify(sketch, error);
}

static enum sketch_status cuckoo_write(void *sketch, int fd, struct sketch_error *error)
{
	return sketch_cuckoo_write(sketch, fd, error);
}

static enum sketch_status cuckoo_unite(void *into, void *from, struct sketch_error *error)
{
	return sketch_cuckoo_union(into, from, error);
}

static void cuckoo_release(void *sketch)
{
	sketch_cuckoo_free(sketch);
}

static void cuckoo_hashes(const struct sketch_cuckoo *cuckoo, struct sketch_hash hashes[ASKED])
{
	for (uint64_t i = 0; i < ASKED; i++)
		hashes[i] = hash_of(i, sketch_cuckoo_identity(cuckoo)->seed);
}

static void cuckoo_found(struct sketch_cuckoo *cuckoo, const struct sketch_hash *hashes,
			 uint64_t found[ASKED / 64])
{
	struct sketch_error error;

	fuzz_require(sketch_cuckoo_test(cuckoo, hashes, ASKED, found, &error) == SKETCH_OK, "%s",
		     error.text);
}

static enum sketch_status cuckoo_ask(void *sketch, struct sketch_error *error)
{
	struct sketch_cuckoo *cuckoo = sketch;
	const struct sketch_cuckoo_params *params = sketch_cuckoo_params(cuckoo);
	struct sketch_hash hashes[ASKED];
	uint64_t found[ASKED / 64];
	struct sketch_cuckoo_state state;
	enum sketch_status status;

	cuckoo_hashes(cuckoo, hashes);
	status = sketch_cuckoo_test(cuckoo, hashes, ASKED, found, error);
	if (status == SKETCH_OK)
		status = sketch_cuckoo_state(cuckoo, &state, error);
	if (status != SKETCH_OK)
		return status;
	fuzz_require(state.kinds <= state.entries &&
			     state.entries <= params->buckets * SKETCH_CUCKOO_SLOTS,
		     "%llu entries, %llu kinds", (unsigned long long)state.entries,
		     (unsigned long long)state.kinds);
	fuzz_require(state.load >= 0 && state.load <= 1, "load %g", state.load);
	fuzz_require(state.rate >= 0 &&
			     state.rate <= sketch_cuckoo_rate_bound(params, state.entries),
		     "rate %g", state.rate);
	return SKETCH_OK;
}

/* What comes and goes leaves the same multiset, though it may lie elsewhere; what there is
 * no room for changes nothing.  Then it comes to stay. */
static void cuckoo_change(void *sketch)
{
	struct sketch_cuckoo *cuckoo = sketch;
	struct sketch_hash hashes[ASKED];
	uint64_t before[ASKED / 64], found[ASKED / 64], removed[ASKED / 64];
	struct sketch_cuckoo_state old, now;
	struct sketch_error error;
	enum sketch_status status;
	size_t done, again, gone;

	cuckoo_hashes(cuckoo, hashes);
	memcpy(hashes + ASKED / 2, hashes, sizeof hashes / 2);
	cuckoo_found(cuckoo, hashes, before);
	fuzz_require(sketch_cuckoo_state(cuckoo, &old, &error) == SKETCH_OK, "%s", error.text);
	status = sketch_cuckoo_add(cuckoo, hashes, ASKED, &done, &error);
	fuzz_require((status == SKETCH_OK) == (done == ASKED) &&
			     (status == SKETCH_OK || status == SKETCH_FULL),
		     "%zu put in: %d", done, (int)status);
	cuckoo_found(cuckoo, hashes, found);
	for (size_t i = 0; i < done; i++)
		fuzz_require(found[i / 64] >> i % 64 & 1, "key %zu is not found", i);
	gone = sketch_cuckoo_remove(cuckoo, hashes, done, removed);
	fuzz_require(gone == done, "%zu of %zu could be taken out", gone, done);
	cuckoo_found(cuckoo, hashes, found);
	fuzz_require(memcmp(found, before, sizeof found) == 0, "other keys are found");
	fuzz_require(sketch_cuckoo_state(cuckoo, &now, &error) == SKETCH_OK, "%s", error.text);
	fuzz_require(now.entries == old.entries && now.kinds == old.kinds, "%llu became %llu",
		     (unsigned long long)old.entries, (unsigned long long)now.entries);
	(void)sketch_cuckoo_add(cuckoo, hashes, ASKED, &again, &error);
	cuckoo_found(cuckoo, hashes, found);
	for (size_t i = 0; i < again; i++)
		fuzz_require(found[i / 64] >> i % 64 & 1, "key %zu is not found again", i);
}

static void cuckoo_compare(void *both, void *part)
{
	struct sketch_hash hashes[ASKED];
	uint64_t of_both[ASKED / 64], of_part[ASKED / 64];

	cuckoo_hashes(part, hashes);
	cuckoo_found(both, hashes, of_both);
	cuckoo_found(part, hashes, of_part);
	for (size_t i = 0; i < ASKED / 64; i++)
		fuzz_require((of_part[i] & ~of_both[i]) == 0, "a key is lost in word %zu", i);
}

/* -------------------------------------------------------------------- counts */

static enum sketch_status counts_of_file(void **sketch, struct sketch_file *file,
					 struct sketch_error *error)
{
	struct sketch_counts *counts;
	enum sketch_status status = sketch_counts_of_file(&counts, file, error);

	if (status == SKETCH_OK)
		*sketch = counts;
	return status;
}

/* All of it was verified when it was read. */
static enum sketch_status nothing_left(void *sketch, struct sketch_error *error)
{
	(void)sketch;
	(void)error;
	return SKETCH_OK;
}

static enum sketch_status counts_write(void *sketch, int fd, struct sketch_error *error)
{
	return sketch_counts_write(sketch, fd, error);
}

static enum sketch_status counts_unite(void *into, void *from, struct sketch_error *error)
{
	return sketch_counts_union(into, from, error);
}

static void counts_release(void *sketch)
{
	sketch_counts_free(sketch);
}

static struct sketch_key key_of(const struct sketch_counts *counts, const uint64_t *number,
				uint64_t weight)
{
	return (struct sketch_key){ (const uint8_t *)number, sizeof *number,
				    hash_of(*number, sketch_counts_identity(counts)->seed),
				    weight };
}

static enum sketch_status counts_ask(void *sketch, struct sketch_error *error)
{
	struct sketch_counts *counts = sketch;
	struct sketch_counts_state state;
	struct sketch_heavy heavy[16];
	size_t there = sketch_counts_top(counts, heavy, 16);

	(void)error;
	sketch_counts_state(counts, &state);
	fuzz_require(state.in_table <= state.total && state.floor <= state.total, "the totals");
	fuzz_require(there == state.tracked, "%zu are tracked", there);
	for (size_t i = 0; i < there && i < 16; i++) {
		fuzz_require(heavy[i].stored <= heavy[i].length, "key %zu", i);
		fuzz_require(heavy[i].bounds.low <= heavy[i].bounds.high, "key %zu", i);
		fuzz_require(i == 0 || heavy[i].bounds.high <= heavy[i - 1].bounds.high,
			     "the order at %zu", i);
	}
	for (uint64_t i = 0; i < ASKED; i++) {
		struct sketch_key key = key_of(counts, &i, 0);
		struct sketch_bounds bounds = sketch_counts_query(counts, &key);

		fuzz_require(bounds.low <= bounds.high && bounds.high <= state.total,
			     "the bounds of key %llu", (unsigned long long)i);
	}
	for (uint32_t i = 0; i < sketch_counts_params(counts)->d; i++)
		fuzz_require(sketch_counts_fill(counts, i) <= 1, "row %u", i);
	return SKETCH_OK;
}

/* Whether what a key counts may become less. */
static bool counts_forget(const struct sketch_counts *counts)
{
	struct sketch_pane_window window;
	struct sketch_decay decay;

	return sketch_counts_window(counts, &window) || sketch_counts_decay(counts, &decay);
}

static void counts_change(void *sketch)
{
	struct sketch_counts *counts = sketch;
	uint64_t numbers[ASKED], estimates[ASKED];
	struct sketch_key keys[ASKED];
	struct sketch_bounds before[ASKED];
	struct sketch_error error;
	size_t done;

	for (uint64_t i = 0; i < ASKED; i++) {
		numbers[i] = i;
		keys[i] = key_of(counts, &numbers[i], i % 7 == 0 ? i << 29 : i);
		before[i] = sketch_counts_query(counts, &keys[i]);
	}
	(void)sketch_counts_add(counts, keys, ASKED, estimates, &done, &error);
	for (size_t i = 0; i < done; i++) {
		struct sketch_bounds bounds = sketch_counts_query(counts, &keys[i]);

		fuzz_require(estimates[i] >= keys[i].weight, "the estimate of key %zu", i);
		fuzz_require(counts_forget(counts) ||
				     (bounds.high >= keys[i].weight &&
				      (!before[i].sure || bounds.high >= before[i].low)),
			     "key %zu counts less than before", i);
	}
}

static void counts_compare(void *both, void *part)
{
	for (uint64_t i = 0; i < ASKED; i++) {
		struct sketch_key key = key_of(part, &i, 0);
		struct sketch_bounds of_part = sketch_counts_query(part, &key);

		fuzz_require(!of_part.sure || counts_forget(part) ||
				     sketch_counts_query(both, &key).high >= of_part.low,
			     "key %llu counts less in the sum", (unsigned long long)i);
	}
}

/* ------------------------------------------------------------------- distinct */

static enum sketch_status hll_of_file(void **sketch, struct sketch_file *file,
				      struct sketch_error *error)
{
	struct sketch_hll *hll;
	enum sketch_status status = sketch_hll_of_file(&hll, file, error);

	if (status == SKETCH_OK)
		*sketch = hll;
	return status;
}

static enum sketch_status hll_write(void *sketch, int fd, struct sketch_error *error)
{
	return sketch_hll_write(sketch, fd, error);
}

static enum sketch_status hll_unite(void *into, void *from, struct sketch_error *error)
{
	return sketch_hll_union(into, from, error);
}

static void hll_release(void *sketch)
{
	sketch_hll_free(sketch);
}

static enum sketch_status hll_ask(void *sketch, struct sketch_error *error)
{
	struct sketch_hll_state state;

	(void)error;
	sketch_hll_state(sketch, &state);
	fuzz_require(!isnan(state.distinct) && state.distinct >= 0, "distinct %g", state.distinct);
	fuzz_require(state.low <= state.distinct && state.distinct <= state.high,
		     "%g is not from %g to %g", state.distinct, state.low, state.high);
	fuzz_require(state.error >= 0 && (state.error == 0 || !state.exact), "error %g",
		     state.error);
	return SKETCH_OK;
}

/* Keys that are there already change nothing more. */
static void hll_change(void *sketch)
{
	struct sketch_hll *hll = sketch;
	struct sketch_hash hashes[ASKED];
	struct sketch_hll_state once, twice;

	for (uint64_t i = 0; i < ASKED; i++)
		hashes[i] = hash_of(i, sketch_hll_identity(hll)->seed);
	sketch_hll_add(hll, hashes, ASKED);
	sketch_hll_state(hll, &once);
	sketch_hll_add(hll, hashes, ASKED);
	sketch_hll_state(hll, &twice);
	fuzz_require(once.distinct == twice.distinct && once.zero == twice.zero,
		     "the same keys again: %g, then %g", once.distinct, twice.distinct);
	fuzz_require(!once.exact || once.distinct >= ASKED, "%g are fewer than were added",
		     once.distinct);
}

static void hll_compare(void *both, void *part)
{
	struct sketch_hll_state of_both, of_part;

	sketch_hll_state(both, &of_both);
	sketch_hll_state(part, &of_part);
	fuzz_require(!of_both.exact || (of_part.exact && of_both.distinct >= of_part.distinct),
		     "%g in both, %g in a part", of_both.distinct, of_part.distinct);
	fuzz_require(of_both.exact || of_part.exact || of_both.zero <= of_part.zero,
		     "registers were emptied");
}

/* ----------------------------------------------------------------- the table */

const struct kind kinds[] = {
	{ SKETCH_KIND_BLOOM, ".bloom", bloom_of_file, bloom_verify, bloom_write, bloom_unite,
	  bloom_release, bloom_ask, bloom_change, bloom_compare },
	{ SKETCH_KIND_COUNTS, ".cms", counts_of_file, nothing_left, counts_write, counts_unite,
	  counts_release, counts_ask, counts_change, counts_compare },
	{ SKETCH_KIND_COUNTING_BLOOM, ".bloom", bloom_of_file, bloom_verify, bloom_write,
	  bloom_unite, bloom_release, counting_ask, counting_change, bloom_compare },
	{ SKETCH_KIND_CUCKOO, ".cuckoo", cuckoo_of_file, cuckoo_verify, cuckoo_write, cuckoo_unite,
	  cuckoo_release, cuckoo_ask, cuckoo_change, cuckoo_compare },
	{ SKETCH_KIND_HYPERLOGLOG, ".hll", hll_of_file, nothing_left, hll_write, hll_unite,
	  hll_release, hll_ask, hll_change, hll_compare },
};
const size_t kinds_count = sizeof kinds / sizeof *kinds;

const struct kind *kind_of(uint32_t number)
{
	for (size_t i = 0; i < kinds_count; i++) {
		if (kinds[i].number == number)
			return &kinds[i];
	}
	return NULL;
}

/* ------------------------------------------------------------- load and save */

static struct loaded load_from(int fd, enum sketch_access access)
{
	struct loaded loaded = { NULL, NULL, { SKETCH_OK, 0, "" } };
	struct sketch_file *file;

	if (sketch_file_read(&file, fd, access, KINDS_BUDGET, NULL, &loaded.error) != SKETCH_OK)
		return loaded;
	loaded.kind = kind_of(sketch_file_kind(file));
	if (loaded.kind == NULL) {
		/* A number that is assigned, and a kind that nobody reads yet. */
		sketch_file_free(file);
		loaded.error.status = SKETCH_UNSUPPORTED;
		strcpy(loaded.error.text, "a kind without a row in the table");
	} else {
		(void)loaded.kind->of_file(&loaded.sketch, file, &loaded.error);
	}
	return loaded;
}

static bool fill_pipe(int ends[2], const uint8_t *data, size_t size)
{
	/* What a pipe holds at once; then nobody has to write while we read. */
	if (size > 65536 || pipe(ends) != 0)
		return false;
	if (write(ends[1], data, size) != (ssize_t)size)
		fuzz_fail(__FILE__, __LINE__, "write", "a pipe did not take %zu bytes", size);
	close(ends[1]);
	return true;
}

struct loaded kinds_load(const uint8_t *data, size_t size, enum sketch_access access, bool piped)
{
	int ends[2] = { -1, -1 };
	int fd = piped && fill_pipe(ends, data, size) ? ends[0] : fuzz_file(data, size);
	struct loaded loaded = load_from(fd, access);

	close(fd);
	if (loaded.sketch == NULL) {
		fuzz_require(loaded.error.status != SKETCH_OK, "refused without a reason");
		fuzz_require(loaded.error.status == SKETCH_IO ||
				     (loaded.error.text[0] != '\0' &&
				      strpbrk(loaded.error.text, "\n\r") == NULL),
			     "'%s' is no line", loaded.error.text);
	}
	return loaded;
}

uint8_t *kinds_save(const struct loaded *loaded, size_t *size)
{
	struct sketch_error error;
	int fd = fuzz_file(NULL, 0);
	uint8_t *data;

	fuzz_require(loaded->kind->write(loaded->sketch, fd, &error) == SKETCH_OK, "%s",
		     error.text);
	data = fuzz_content(fd, size);
	close(fd);
	return data;
}

void kinds_release(struct loaded *loaded)
{
	if (loaded->sketch != NULL)
		loaded->kind->release(loaded->sketch);
	loaded->sketch = NULL;
}

/* -------------------------------------------------------------------- sealing */

struct entry {
	uint32_t type, index;
	uint64_t offset, length;
};

static struct entry entry_of(const uint8_t *at)
{
	return (struct entry){ load_u32(at), load_u32(at + 4), load_u64(at + 8),
			       load_u64(at + 16) };
}

static bool lies_within(const struct entry *entry, size_t size)
{
	return entry->offset <= size && entry->length <= size - entry->offset;
}

static bool is_chunked(uint32_t type)
{
	return type == FORMAT_BITS || type == FORMAT_CELLS || type == FORMAT_KEYS ||
	       type == FORMAT_REGISTERS || type == FORMAT_HASHES || type == FORMAT_COUNTERS ||
	       type == FORMAT_BUCKETS;
}

/* The SUMS of a chunked section, as far as there is room for them; the sum of SUMS. */
static uint32_t seal_chunks(uint8_t *data, const struct entry *sums, const struct entry *chunked)
{
	uint64_t at = 0;

	for (uint64_t sum = 0; sum + 4 <= sums->length && at < chunked->length; sum += 4) {
		uint64_t left = chunked->length - at;
		size_t length = left < FORMAT_CHUNK_BYTES ? (size_t)left : FORMAT_CHUNK_BYTES;

		store_u32(data + sums->offset + sum,
			  sketch_crc32c(0, data + chunked->offset + at, length));
		at += length;
	}
	return sketch_crc32c(0, data + sums->offset, (size_t)sums->length);
}

/* The sections' own sums: those of chunks first, for SUMS are sections, too. */
static void seal_sections(uint8_t *data, size_t size, size_t count)
{
	uint8_t *table = data + FORMAT_HEADER_BYTES;

	for (size_t i = 0; i < count; i++) {
		struct entry chunked = entry_of(table + i * FORMAT_ENTRY_BYTES);

		if (!is_chunked(chunked.type) || !lies_within(&chunked, size))
			continue;
		for (size_t j = 0; j < count; j++) {
			struct entry sums = entry_of(table + j * FORMAT_ENTRY_BYTES);

			if (sums.type == FORMAT_SUMS && sums.index == chunked.index &&
			    lies_within(&sums, size)) {
				store_u32(table + i * FORMAT_ENTRY_BYTES + 24,
					  seal_chunks(data, &sums, &chunked));
				break;
			}
		}
	}
	for (size_t i = 0; i < count; i++) {
		struct entry entry = entry_of(table + i * FORMAT_ENTRY_BYTES);

		if (!is_chunked(entry.type) && lies_within(&entry, size))
			store_u32(table + i * FORMAT_ENTRY_BYTES + 24,
				  sketch_crc32c(0, data + entry.offset, (size_t)entry.length));
	}
}

void kinds_seal(uint8_t *data, size_t size)
{
	size_t count, room;

	if (size < FORMAT_HEADER_BYTES)
		return;
	if (load_u32(data + 36) == SKETCH_FAMILY_MURMUR3)
		store_u64(data + 56, format_fingerprint(data + 40));
	count = load_u32(data + 32);
	room = (size - FORMAT_HEADER_BYTES) / FORMAT_ENTRY_BYTES;
	if (count <= room) {
		seal_sections(data, size, count < 256 ? count : 256);
		store_u32(data + 120,
			  sketch_crc32c(0, data + FORMAT_HEADER_BYTES, count * FORMAT_ENTRY_BYTES));
	}
	store_u32(data + 124, format_header_sum(data));
}

/* ---------------------------------------------------------------------- seeds */

/* Hands on what is a file of the kind. */
struct choice {
	uint32_t number;
	fuzz_sink *sink;
	void *context;
};

static void hand_on(void *context, const void *data, size_t size)
{
	const struct choice *choice = context;
	const uint8_t *bytes = data;

	if (size >= FORMAT_HEADER_BYTES && load_u32(bytes + 12) == choice->number)
		choice->sink(choice->context, data, size);
}

void kinds_golden(const struct kind *kind, size_t most, fuzz_sink *sink, void *context)
{
	struct choice choice = { kind->number, sink, context };

	fuzz_folder("tests/golden", kind->ending, most, hand_on, &choice);
}

void kinds_seeds(size_t most, fuzz_sink *sink, void *context)
{
	for (size_t i = 0; i < kinds_count; i++)
		kinds_golden(&kinds[i], most, sink, context);
	fuzz_folder("build/damaged", NULL, most, sink, context);
}
