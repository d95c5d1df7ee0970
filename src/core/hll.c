/* hll.c - how many different keys were seen?
 *
 * HyperLogLog (Flajolet, Fusy, Gandouet and Meunier, "HyperLogLog: the analysis of a
 * near-optimal cardinality estimation algorithm", 2007).  Hashes look random, so a
 * hash that begins with r - 1 zero bits turns up among about 2^r of them.  The upper
 * bits of a key's hash choose one of m = 2^precision registers; of the others the
 * number of zeros before the first 1, plus 1, is what the register must at least be:
 *
 *     precision 4      0110 0001011010...    register 6 is at least 4
 *                      0110 1001000001...    register 6 is at least 1
 *                      1011 0111100110...    register 11 is at least 2
 *
 * A key that comes again changes nothing, and neither does the order.  What the
 * registers of all m say together, hll_estimate.c knows.  h1 alone is used: 64 bits
 * are enough for 10^12 keys and far more.
 *
 * As long as the hashes themselves take no more room than the registers would, they
 * are kept instead: 8 bytes each, m / 8 of them.  So small numbers are exact, but for
 * two keys with one hash among 2^64.  With one more key the registers take over, for
 * good: the set of hashes alone decides what the sketch is, and sketches of parts,
 * joined, are the sketch of the whole.  (Heule, Nunkesser and Hall, "HyperLogLog in
 * practice", 2013, keep 25 bits of each, which is not exact.)
 *
 * A register is a byte, though 6 bits would do: a quarter of the memory buys a plain
 * maximum for a key and for a union. */
#include "hll.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "endian.h"
#include "error.h"
#include "hll_estimate.h"
#include "identity.h"
#include "murmur3.h"
#include "portable.h"

#define HLL_BATCH 64
#define HLL_PREFETCHED 16 /* registers from this precision on are beyond the first cache */

/* -------------------------------------------------------------------- sizing */

/* ln 2 / (pi^2 / 6 - 1), the variance at many keys times the registers */
#define HLL_VARIANCE 1.074756655276926

double sketch_hll_error(uint32_t precision)
{
	return portable_sqrt(HLL_VARIANCE / (double)hll_registers(precision));
}

enum sketch_status sketch_hll_plan(double error, uint32_t *precision, struct sketch_error *failure)
{
	uint32_t least = SKETCH_HLL_LEAST_PRECISION;

	if (!(error > 0))
		return error_set(failure, SKETCH_RANGE, "an error of %g is not above 0", error);
	while (least <= SKETCH_HLL_MOST_PRECISION && sketch_hll_error(least) > error)
		least++;
	if (least > SKETCH_HLL_MOST_PRECISION)
		return error_set(failure, SKETCH_UNREACHABLE,
				 "a standard error of %.6g %% cannot be kept: the least is %.3g %% "
				 "(precision %d)",
				 100 * error, 100 * sketch_hll_error(SKETCH_HLL_MOST_PRECISION),
				 SKETCH_HLL_MOST_PRECISION);
	*precision = least;
	return SKETCH_OK;
}

enum sketch_status hll_check_precision(uint32_t precision, struct sketch_error *error)
{
	if (precision >= SKETCH_HLL_LEAST_PRECISION && precision <= SKETCH_HLL_MOST_PRECISION)
		return SKETCH_OK;
	return error_set(error, SKETCH_RANGE, "precision %" PRIu32 " is out of range (%d to %d)",
			 precision, SKETCH_HLL_LEAST_PRECISION, SKETCH_HLL_MOST_PRECISION);
}

/* ------------------------------------------------------------ life and death */

enum sketch_status sketch_hll_new(struct sketch_hll **hll, const struct sketch_identity *identity,
				  uint32_t precision, uint64_t budget, struct sketch_error *error)
{
	enum sketch_status status = hll_check_precision(precision, error);
	struct sketch_hll *made;
	uint64_t table, all;

	if (status != SKETCH_OK)
		return status;
	status = identity_check_single(identity, error);
	if (status != SKETCH_OK)
		return status;
	table = hll_slots(precision) * sizeof(uint64_t);
	all = table + hll_registers(precision);
	if (all > budget)
		return error_set(error, SKETCH_NO_MEMORY,
				 "precision %" PRIu32 " needs %" PRIu64
				 " bytes of memory, and %" PRIu64 " are to be had",
				 precision, all, budget);
	made = calloc(1, sizeof *made);
	if (made == NULL || !region_new(&made->table, (size_t)table) ||
	    !region_new(&made->registers, (size_t)hll_registers(precision))) {
		sketch_hll_free(made);
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	}
	made->identity = *identity;
	made->precision = precision;
	made->salt = (uint64_t)(uintptr_t)made;
	*hll = made;
	return SKETCH_OK;
}

void sketch_hll_free(struct sketch_hll *hll)
{
	if (hll == NULL)
		return;
	region_free(&hll->table);
	region_free(&hll->registers);
	free(hll);
}

const struct sketch_identity *sketch_hll_identity(const struct sketch_hll *hll)
{
	return &hll->identity;
}

uint32_t sketch_hll_precision(const struct sketch_hll *hll)
{
	return hll->precision;
}

uint64_t sketch_hll_records(const struct sketch_hll *hll)
{
	return hll->records;
}

void sketch_hll_set_records(struct sketch_hll *hll, uint64_t records)
{
	hll->records = records;
}

/* -------------------------------------------------------------------- adding */

static inline uint64_t index_of(uint64_t hash, uint32_t precision)
{
	return hash >> (64 - precision);
}

/* The zeros before the first 1 of the bits that are not index, plus 1. */
static inline uint8_t rank_of(uint64_t hash, uint32_t precision)
{
	uint64_t rest = hash << precision | UINT64_C(1) << (precision - 1);

	return (uint8_t)(__builtin_clzll(rest) + 1);
}

static inline void raise_to(uint8_t *value, uint8_t rank)
{
	if (rank > *value)
		*value = rank;
}

static void add_to_registers(struct sketch_hll *hll, uint64_t hash)
{
	raise_to(&hll->registers.data[index_of(hash, hll->precision)],
		 rank_of(hash, hll->precision));
}

static uint64_t *slots_of(const struct sketch_hll *hll)
{
	return (uint64_t *)(void *)hll->table.data;
}

/* Goes over to registers, for good. */
static void make_dense(struct sketch_hll *hll)
{
	const uint64_t *slots = slots_of(hll);
	uint64_t count = hll_slots(hll->precision);

	if (hll->dense)
		return;
	for (uint64_t i = 0; i < count; i++) {
		if (slots[i] != 0)
			add_to_registers(hll, slots[i]);
	}
	if (hll->has_zero)
		add_to_registers(hll, 0);
	hll->dense = true;
	region_free(&hll->table);
}

/* Whether the hash is there, or else the slot for it. */
static bool find_slot(const struct sketch_hll *hll, uint64_t hash, uint64_t **slot)
{
	uint64_t *slots = slots_of(hll), mask = hll_slots(hll->precision) - 1;
	/* The table has 2^(precision - 2) slots. A file whose hashes all begin alike would
	 * else make one long run of them, to be gone through for each. */
	uint64_t at = index_of(murmur3_mix(hash ^ hll->salt), hll->precision - 2);

	while (slots[at] != 0 && slots[at] != hash)
		at = (at + 1) & mask;
	*slot = &slots[at];
	return slots[at] == hash;
}

void hll_add_one(struct sketch_hll *hll, uint64_t hash)
{
	uint64_t *slot = NULL;

	if (!hll->dense) {
		if (hash == 0 ? hll->has_zero : find_slot(hll, hash, &slot))
			return;
		if (hll->hashes < hll_most_hashes(hll->precision)) {
			hll->hashes++;
			if (hash == 0)
				hll->has_zero = true;
			else
				*slot = hash;
			return;
		}
		make_dense(hll);
	}
	add_to_registers(hll, hash);
}

/* Beyond the first cache a register is asked for before it is needed. */
static void add_ahead(struct sketch_hll *hll, const struct sketch_hash *hashes, size_t count)
{
	uint32_t precision = hll->precision;
	uint8_t *registers = hll->registers.data;

	while (count > 0) {
		size_t some = count < HLL_BATCH ? count : HLL_BATCH;

		for (size_t i = 0; i < some; i++)
			__builtin_prefetch(&registers[index_of(hashes[i].h1, precision)], 1);
		for (size_t i = 0; i < some; i++)
			raise_to(&registers[index_of(hashes[i].h1, precision)],
				 rank_of(hashes[i].h1, precision));
		hashes += some;
		count -= some;
	}
}

void sketch_hll_add(struct sketch_hll *hll, const struct sketch_hash *hashes, size_t count)
{
	uint32_t precision = hll->precision;
	uint8_t *registers = hll->registers.data;

	for (; count > 0 && !hll->dense; count--)
		hll_add_one(hll, (hashes++)->h1);
	if (precision >= HLL_PREFETCHED) {
		add_ahead(hll, hashes, count);
		return;
	}
	for (size_t i = 0; i < count; i++)
		raise_to(&registers[index_of(hashes[i].h1, precision)],
			 rank_of(hashes[i].h1, precision));
}

/* -------------------------------------------------------------------- asking */

static int by_value(const void *a, const void *b)
{
	uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;

	return p < q ? -1 : p > q;
}

void hll_list(const struct sketch_hll *hll, uint64_t *hashes)
{
	const uint64_t *slots = slots_of(hll);
	uint64_t count = hll_slots(hll->precision);
	size_t used = 0;

	if (hll->has_zero)
		hashes[used++] = 0;
	for (uint64_t i = 0; i < count; i++) {
		if (slots[i] != 0)
			hashes[used++] = slots[i];
	}
	qsort(hashes, used, sizeof *hashes, by_value);
}

/* The limits of a 95 % interval lie this many standard errors away. */
#define HLL_SIGMAS 1.959963984540054

void sketch_hll_state(const struct sketch_hll *hll, struct sketch_hll_state *state)
{
	uint64_t registers[HLL_VALUES] = { 0 }, m = hll_registers(hll->precision);
	double least = (double)hll_most_hashes(hll->precision) + 1, factor;

	if (!hll->dense) {
		double distinct = (double)hll->hashes;

		*state = (struct sketch_hll_state){ distinct, distinct, distinct, 0, true, 0 };
		return;
	}
	for (uint64_t i = 0; i < m; i++)
		registers[hll->registers.data[i]]++;
	state->exact = false;
	state->zero = registers[0];
	/* Fewer would be counted exactly. */
	state->distinct = fmax(hll_estimate(registers, hll->precision), least);
	state->error = state->distinct < INFINITY ?
			       hll_estimate_error(state->distinct, hll->precision) :
			       INFINITY;
	factor = portable_exp(HLL_SIGMAS * state->error);
	state->low = state->distinct < INFINITY ? fmax(state->distinct / factor, least) : least;
	state->high = state->distinct * factor;
}

/* --------------------------------------------------------------------- union */

enum sketch_status sketch_hll_compatible(const struct sketch_hll *a, const struct sketch_hll *b,
					 struct sketch_error *error)
{
	if (a->precision != b->precision)
		return error_differ(error, "precision", a->precision, b->precision);
	return identity_compare(&a->identity, &b->identity, error);
}

enum sketch_status sketch_hll_union(struct sketch_hll *into, const struct sketch_hll *from,
				    struct sketch_error *error)
{
	enum sketch_status status = sketch_hll_compatible(into, from, error);
	uint64_t slots = hll_slots(into->precision), m = hll_registers(into->precision);

	if (status != SKETCH_OK)
		return status;
	if (from->dense) {
		make_dense(into);
		for (uint64_t i = 0; i < m; i++)
			raise_to(&into->registers.data[i], from->registers.data[i]);
	}
	for (uint64_t i = 0; i < slots && !from->dense; i++) {
		if (slots_of(from)[i] != 0)
			hll_add_one(into, slots_of(from)[i]);
	}
	if (!from->dense && from->has_zero)
		hll_add_one(into, 0);
	if (__builtin_add_overflow(into->records, from->records, &into->records))
		into->records = UINT64_MAX;
	return SKETCH_OK;
}
