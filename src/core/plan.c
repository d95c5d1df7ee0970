/* plan.c - finds the parameters of a filter that are not given
 *
 * Two of n, p and m are known, perhaps k and g.  The bound on the rate rises with n
 * and falls with m, so for a given k and g the missing one of the three is found by
 * bisection on whole numbers: the answer keeps p, and the next smaller m (or next
 * larger n) does not.  What remains is the choice of k and g.
 *
 * A classic filter tries all k.
 *
 * In a blocked one every further line costs a cache miss and saves bits: the fewer
 * bits a key has in each line, the less it matters that some lines are fuller than
 * others [1].  The cost at (p, g) is nearly that at (p^{1/g}, 1); beside the classic
 * optimum one line costs 4 % more bits at p = 1e-2, 8 % at 1e-3, 35 % at 1e-6.  So g
 * is the least that costs at most 10 %.
 *
 * Within a line, one bit in each of the eight words is fastest to probe.  It is
 * taken where it costs at most 3 % more than the best h = k/g of the others.  Their
 * bits per key have one minimum as a function of h, which a climb from the classic
 * optimum finds; the words stand beside that curve, and the climb steps over them.
 *
 * Where p is known, g and the words follow from p alone: what decides are the bits
 * per key of a filter so large that the number of keys in a line is as good as
 * Poisson.  Hence filters for the same p probe alike whatever their n, and m never
 * falls as n grows, nor as p falls, as long as p asks for the same g.  At those p
 * where it asks for one more (8.5e-4, 7.3e-7, 6e-10, ...) m drops by 4 to 8 %: so much
 * was paid for being faster, and no rule that pays for speed can do without a drop.
 *
 * [1] F. Putze, P. Sanders, J. Singler, "Cache-, hash- and space-efficient Bloom
 *     filters", WEA 2007, section 3.
 */
#include "sizing.h"

#include <inttypes.h>
#include <stdio.h>

#include "error.h"
#include "portable.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#define MOST_KEYS UINT64_C(1000000000000000000)
#define LEAST_RATE 1e-300

#define LINES_MAY_COST 1.10 /* times the classic optimum */
#define WORDS_MAY_COST 1.03 /* times the best h */

/* Of so many keys, those in a line are as good as Poisson. */
#define PLENTY 1e12

#define LOG_2 0.6931471805599453

struct plan {
	struct sketch_request want;
	struct sketch_params found;
	struct occupancy line;
	double target; /* of a climb: the rate of one segment */
	double blocks; /* of a climb: lines in one segment */
};

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint64_t whole(double x, uint64_t least, uint64_t most)
{
	if (!(x > (double)least))
		return least;
	return x < (double)most ? (uint64_t)x : most;
}

/* ------------------------------------------------- one missing whole number */

typedef bool condition(struct plan *plan, uint64_t value);

static uint64_t longer(uint64_t step)
{
	return step > UINT64_MAX / 8 ? step : step * 8;
}

/* The least value in [1, limit] that holds, where all above it hold too; 0 where
 * limit does not.  The nearer the guess, the faster. */
static uint64_t least_that(struct plan *plan, condition *holds, double guess, uint64_t limit)
{
	uint64_t low = 0, high = whole(guess, 1, limit), step = high / 4096 + 1;

	/* throughout, low is 0 or does not hold */
	for (; !holds(plan, high); step = longer(step)) {
		if (high == limit)
			return 0;
		low = high;
		high = step < limit - high ? high + step : limit;
	}
	for (; high - low > step && holds(plan, high - step); step = longer(step))
		high -= step;
	if (high - low > step)
		low = high - step;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (holds(plan, middle))
			high = middle;
		else
			low = middle;
	}
	return high;
}

static bool size_keeps_rate(struct plan *plan, uint64_t units)
{
	plan->found.m = units * sizing_unit(plan->found.layout, plan->found.g);
	return sizing_rate_bound(&plan->found, plan->found.n, &plan->line) <= plan->want.p;
}

static bool keys_break_rate(struct plan *plan, uint64_t keys)
{
	return sizing_rate_bound(&plan->found, keys, &plan->line) > plan->want.p;
}

/* Finds m or n for the k and g in plan->found; false where there is none. */
static bool find_missing(struct plan *plan, double bits_per_key)
{
	struct sketch_params *found = &plan->found;
	uint64_t unit = sizing_unit(found->layout, found->g);
	uint64_t units, too_many;

	if (plan->want.m == 0) {
		found->n = plan->want.n;
		units = least_that(plan, size_keeps_rate,
				   bits_per_key * (double)found->n / (double)unit,
				   SKETCH_MAX_BITS / unit);
		found->m = units * unit;
		return units != 0;
	}
	found->m = plan->want.m - plan->want.m % unit;
	too_many =
		least_that(plan, keys_break_rate, (double)found->m / bits_per_key, MOST_KEYS + 1);
	found->n = too_many == 0 ? MOST_KEYS : too_many - 1;
	return found->n != 0;
}

/* ------------------------------------------------ bits per key, n being large */

static double classic_bits(double p, uint32_t k)
{
	return k / sizing_classic_load(p, k);
}

/* The least bits per key of the k that are allowed. */
static double least_classic_bits(const struct sketch_request *want)
{
	double least, bits;

	if (want->k != 0)
		return classic_bits(want->p, want->k);
	least = classic_bits(want->p, 1);
	for (uint32_t k = 2; k <= SKETCH_MAX_HASHES; k++) {
		bits = classic_bits(want->p, k);
		least = bits < least ? bits : least;
	}
	return least;
}

/* The keys a line at which a large segment errs at plan->target. */
static double line_load(struct plan *plan, uint32_t hashes)
{
	struct occupancy *line = &plan->line;
	double low = SKETCH_BLOCK_BITS * sizing_classic_load(plan->target, hashes) / hashes;
	double high, middle;

	occupancy_ready(line, hashes);
	while (occupancy_rate(line, PLENTY, PLENTY / low) > plan->target)
		low /= 2;
	high = 2 * low;
	/* the limit is met where p is so near to 1 that every load will do */
	while (high < OCCUPANCY_FULL &&
	       occupancy_rate(line, PLENTY, PLENTY / high) <= plan->target) {
		low = high;
		high *= 2;
	}
	for (int i = 0; i < 32; i++) {
		middle = (low + high) / 2;
		if (occupancy_rate(line, PLENTY, PLENTY / middle) <= plan->target)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static double segment_rate(struct plan *plan, uint32_t hashes, double blocks)
{
	occupancy_ready(&plan->line, hashes);
	return occupancy_rate(&plan->line, (double)plan->want.n, blocks);
}

/* -------------------------------------------------------- the best h of a line */

/* About the best h of a line, where the classic optimum were the best otherwise.
 * A guess, fitted to the rates from 1e-1 to 1e-12. */
static double crowded(double classic)
{
	return classic / (1 + classic / 90);
}

/* What a climb makes as large as it can. */
typedef double score(struct plan *plan, uint32_t hashes);

static double score_of_rate(struct plan *plan, uint32_t hashes)
{
	return -segment_rate(plan, hashes, plan->blocks);
}

/* The h of a line save eight, counted from 1. */
static uint32_t nth_hashes(uint32_t i)
{
	return i < OCCUPANCY_WORDS ? i : i + 1;
}

static uint32_t rank_of_hashes(uint32_t hashes)
{
	return hashes < OCCUPANCY_WORDS ? hashes : hashes - 1;
}

/* The best h in [1, limit] save eight, and its score: steps to what is better grow,
 * and shrink where neither side is. */
static uint32_t climb(struct plan *plan, score *value_of, double guess, uint32_t limit, double *top)
{
	uint32_t last = rank_of_hashes(limit), best = (uint32_t)whole(guess, 1, last), step = 1;
	double value;

	*top = value_of(plan, nth_hashes(best));
	while (step > 0) {
		if (last - best >= step &&
		    (value = value_of(plan, nth_hashes(best + step))) > *top) {
			best += step;
		} else if (best > step &&
			   (value = value_of(plan, nth_hashes(best - step))) >= *top) {
			best -= step;
		} else {
			step /= 2;
			continue;
		}
		*top = value;
		step *= 2;
	}
	return nth_hashes(best);
}

/* ------------------------------------------------------------ the choice of g */

/* How the bits of a key lie: `hashes` of them in each of g lines. */
struct form {
	uint32_t g, hashes;
	double cost;
};

/* Fills in the best hashes for form->g, and a cost that falls with their merit. */
typedef void appraisal(struct plan *plan, struct form *form);

/* p is known: the cost is in bits per key. */
static void appraise_by_bits(struct plan *plan, struct form *form)
{
	uint32_t limit = SKETCH_MAX_HASHES / form->g;
	double load, words;

	plan->target = portable_exp(portable_log(plan->want.p) / form->g);
	if (plan->want.k != 0) {
		form->hashes = plan->want.k / form->g;
		load = line_load(plan, form->hashes);
	} else {
		form->hashes = climb(plan, line_load, crowded(-portable_log(plan->target) / LOG_2),
				     limit, &load);
		words = limit < OCCUPANCY_WORDS ? 0 : line_load(plan, OCCUPANCY_WORDS);
		if (words * WORDS_MAY_COST >= load) {
			form->hashes = OCCUPANCY_WORDS;
			load = words;
		}
	}
	form->cost = SKETCH_BLOCK_BITS * (double)form->g / load;
}

/* n and m are known: the cost is the rate.  What a rate costs in bits is seen by
 * comparing with the rate of fewer bits. */
static void appraise_by_rate(struct plan *plan, struct form *form)
{
	uint64_t unit = sizing_unit(SKETCH_BLOCKED, form->g);
	uint32_t limit = SKETCH_MAX_HASHES / form->g;
	double rate, words, bits_per_key;

	plan->blocks = (double)(plan->want.m / unit);
	if (plan->want.k != 0) {
		form->hashes = plan->want.k / form->g;
		rate = segment_rate(plan, form->hashes, plan->blocks);
	} else {
		bits_per_key = SKETCH_BLOCK_BITS * plan->blocks / (double)plan->want.n;
		form->hashes =
			climb(plan, score_of_rate, crowded(bits_per_key * LOG_2), limit, &rate);
		rate = -rate;
		words = limit < OCCUPANCY_WORDS ? 1 :
						  segment_rate(plan, OCCUPANCY_WORDS, plan->blocks);
		if (words < 1 &&
		    words <= segment_rate(plan, form->hashes, plan->blocks / WORDS_MAY_COST)) {
			form->hashes = OCCUPANCY_WORDS;
			rate = words;
		}
	}
	form->cost = portable_power(rate, form->g);
}

/* The form with the least g whose cost is acceptable, else that of least cost.
 * `hashes` is the classic optimum of k: where that makes more than forty a line,
 * the line costs twice the bits and more, and need not be appraised. */
static struct form choose_form(struct plan *plan, appraisal *appraise, double acceptable,
			       double hashes)
{
	const struct sketch_request *want = &plan->want;
	struct form best = { 0 }, form;
	uint32_t first = 1, last = SKETCH_MAX_HASHES;

	if (want->g != 0)
		first = last = want->g;
	else if (want->k != 0)
		last = want->k;
	else
		first += (uint32_t)whole(hashes, 0, SKETCH_MAX_HASHES) / 40;
	if (want->m != 0)
		last = smaller(last, (uint32_t)whole((double)(want->m / SKETCH_BLOCK_BITS), 1,
						     SKETCH_MAX_HASHES));
	for (form.g = smaller(first, last); form.g <= last; form.g++) {
		if (want->k % form.g != 0)
			continue;
		appraise(plan, &form);
		if (best.g == 0 || form.cost < best.cost)
			best = form;
		if (form.cost <= acceptable)
			return form;
	}
	return best;
}

/* ------------------------------------------------------------------ p is known */

/* Keeps what was found in *best, where that has no smaller m (or larger n). */
static bool try_hashes(struct plan *plan, uint32_t k, double bits_per_key,
		       struct sketch_params *best)
{
	const struct sketch_params *found = &plan->found;

	plan->found.k = k;
	if (!find_missing(plan, bits_per_key))
		return false;
	if (best->k != 0 && (found->m > best->m || found->n < best->n))
		return false;
	*best = *found;
	return true;
}

static void solve_classic(struct plan *plan, struct sketch_params *best)
{
	uint32_t first = plan->want.k != 0 ? plan->want.k : 1;
	uint32_t last = plan->want.k != 0 ? plan->want.k : SKETCH_MAX_HASHES;

	/* downwards, so that of equal ones the least k is kept */
	for (uint32_t k = last; k >= first; k--)
		try_hashes(plan, k, classic_bits(plan->want.p, k), best);
}

/* The form's h is the best for large n; here n may be small. */
static void solve_blocked(struct plan *plan, const struct form *form, struct sketch_params *best)
{
	uint32_t g = form->g, h = form->hashes, rank;

	plan->found.g = g;
	if (plan->want.k != 0 || h == OCCUPANCY_WORDS) {
		try_hashes(plan, h * g, form->cost, best);
		return;
	}
	rank = smaller(rank_of_hashes(h) + 2, rank_of_hashes(SKETCH_MAX_HASHES / g));
	for (; rank >= 1; rank--) {
		if (!try_hashes(plan, nth_hashes(rank) * g, form->cost, best) &&
		    nth_hashes(rank) < h)
			break;
	}
}

/* "; m = 640 would", where a larger filter serves n keys, else nothing. */
static void suggest_size(const struct plan *plan, uint64_t n, char *text, size_t size)
{
	struct sketch_request larger = plan->want;
	struct sketch_params found;

	larger.n = n;
	larger.m = 0;
	if (sketch_plan(&larger, &found, NULL) == SKETCH_OK)
		snprintf(text, size, "; m = %" PRIu64 " would", found.m);
	else
		text[0] = '\0';
}

static enum sketch_status refuse_to_solve(const struct plan *plan, double bits_per_key,
					  struct sketch_error *error)
{
	double bytes = bits_per_key * (double)plan->want.n / 8;
	char needed[32], suggestion[40];

	if (plan->want.m == 0) {
		snprintf(needed, sizeof needed, bytes < 1e20 ? "%.0f" : "%.3g", bytes);
		return error_set(error, SKETCH_UNREACHABLE,
				 "n = %" PRIu64 " at p = %g needs %s bytes; the limit is %" PRIu64
				 " bytes",
				 plan->want.n, plan->want.p, needed, SKETCH_MAX_BITS / 8);
	}
	suggest_size(plan, 1, suggestion, sizeof suggestion);
	return error_set(error, SKETCH_UNREACHABLE,
			 "m = %" PRIu64 " does not keep p = %g even for one key%s", plan->want.m,
			 plan->want.p, suggestion);
}

static enum sketch_status solve(struct plan *plan, struct sketch_error *error)
{
	double classic = least_classic_bits(&plan->want), bits = classic;
	struct sketch_params best = { 0 };
	struct form form;

	if (plan->want.layout == SKETCH_CLASSIC) {
		solve_classic(plan, &best);
	} else {
		form = choose_form(plan, appraise_by_bits, classic * LINES_MAY_COST,
				   -portable_log(plan->want.p) / LOG_2);
		bits = form.cost;
		solve_blocked(plan, &form, &best);
	}
	if (best.k == 0)
		return refuse_to_solve(plan, bits, error);
	plan->found = best;
	return SKETCH_OK;
}

/* --------------------------------------------------------------- n, m are known */

static void set_size(struct plan *plan)
{
	plan->found.m =
		plan->want.m - plan->want.m % sizing_unit(plan->found.layout, plan->found.g);
}

/* The bound of the best k for m bits, and that k. */
static double least_classic_bound(const struct plan *plan, double m, uint32_t *best)
{
	uint32_t first = plan->want.k != 0 ? plan->want.k : 1;
	uint32_t last = plan->want.k != 0 ? plan->want.k : SKETCH_MAX_HASHES;
	double least = 0, bound;

	*best = 0;
	for (uint32_t k = first; k <= last; k++) {
		bound = sizing_classic_bound(k, m, (double)plan->want.n);
		if (*best == 0 || bound < least) {
			least = bound;
			*best = k;
		}
	}
	return least;
}

static enum sketch_status least_rate(struct plan *plan)
{
	struct sketch_params *found = &plan->found;
	struct form form;
	double classic;

	if (found->layout == SKETCH_CLASSIC) {
		set_size(plan);
		least_classic_bound(plan, (double)found->m, &found->k);
	} else {
		classic =
			least_classic_bound(plan, (double)plan->want.m / LINES_MAY_COST, &found->k);
		form = choose_form(plan, appraise_by_rate, classic,
				   LOG_2 * (double)plan->want.m / (double)found->n);
		found->g = form.g;
		found->k = form.g * form.hashes;
		set_size(plan);
	}
	found->p = sizing_rate_bound(found, found->n, &plan->line);
	return SKETCH_OK;
}

static bool keeps_rate(struct plan *plan)
{
	const struct sketch_params *found = &plan->found;
	double floor;

	/* By Jensen's inequality a rate is at least the k-th power of the expected
	 * fill, which is known at once. */
	floor = portable_power(sketch_fill_expected(found, found->n), found->k);
	return floor <= plan->want.p * (1 + 1e-9) &&
	       sizing_rate_bound(found, found->n, &plan->line) <= plan->want.p;
}

/* The least k, a multiple of `step`, that keeps p with the g in plan->found. */
static bool find_hashes(struct plan *plan, uint32_t step)
{
	struct sketch_params *found = &plan->found;
	uint32_t wanted = plan->want.k;

	set_size(plan);
	for (found->k = step; found->m != 0 && found->k <= SKETCH_MAX_HASHES; found->k += step) {
		if ((wanted == 0 || found->k == wanted) && keeps_rate(plan))
			return true;
	}
	return false;
}

/* A line more is a cache miss more for every key, so the least g comes first. */
static bool find_lines(struct plan *plan)
{
	struct sketch_params *found = &plan->found;
	uint32_t last = plan->want.k != 0 ? plan->want.k : SKETCH_MAX_HASHES;

	if (found->layout == SKETCH_CLASSIC)
		return find_hashes(plan, 1);
	if (plan->want.g != 0)
		return find_hashes(plan, plan->want.g);
	for (found->g = 1; found->g <= last; found->g++) {
		if (find_hashes(plan, found->g))
			return true;
	}
	return false;
}

static enum sketch_status least_hashes(struct plan *plan, struct sketch_error *error)
{
	char with_k[24] = "", suggestion[40];

	if (find_lines(plan))
		return SKETCH_OK;
	if (plan->want.k != 0)
		snprintf(with_k, sizeof with_k, " with k = %" PRIu32, plan->want.k);
	suggest_size(plan, plan->want.n, suggestion, sizeof suggestion);
	return error_set(error, SKETCH_UNREACHABLE,
			 "m = %" PRIu64 " does not keep p = %g for n = %" PRIu64 "%s%s",
			 plan->want.m, plan->want.p, plan->want.n, with_k, suggestion);
}

/* --------------------------------------------------------------------- request */

static enum sketch_status check_lines(const struct sketch_request *want, struct sketch_error *error)
{
	if (want->layout != SKETCH_CLASSIC && want->layout != SKETCH_BLOCKED)
		return error_set(error, SKETCH_RANGE,
				 "layout %d is unknown (1 is classic, "
				 "2 blocked)",
				 (int)want->layout);
	if (want->k > SKETCH_MAX_HASHES)
		return sizing_refuse_range(error, "k", want->k, 1, SKETCH_MAX_HASHES);
	if (want->g == 0)
		return SKETCH_OK;
	if (want->layout == SKETCH_CLASSIC)
		return error_set(error, SKETCH_RANGE,
				 "g = %" PRIu32 " is given, but a "
				 "classic filter has no lines",
				 want->g);
	if (want->g > SKETCH_MAX_HASHES)
		return sizing_refuse_range(error, "g", want->g, 1, SKETCH_MAX_HASHES);
	if (want->k % want->g != 0)
		return error_set(error, SKETCH_RANGE,
				 "k = %" PRIu32 " is no multiple of g = %" PRIu32, want->k,
				 want->g);
	return SKETCH_OK;
}

static enum sketch_status check_request(const struct sketch_request *want,
					struct sketch_error *error)
{
	enum sketch_status status = check_lines(want, error);
	bool n = want->n != 0, p = want->p != 0, m = want->m != 0;
	uint64_t unit;

	if (status != SKETCH_OK)
		return status;
	unit = sizing_unit(want->layout, want->g != 0 ? want->g : 1);
	if (want->n > MOST_KEYS)
		return sizing_refuse_range(error, "n", want->n, 1, MOST_KEYS);
	if (m && (want->m < unit || want->m > SKETCH_MAX_BITS))
		return sizing_refuse_range(error, "m", want->m, unit, SKETCH_MAX_BITS);
	if (p && !(want->p >= LEAST_RATE && want->p < 1))
		return error_set(error, SKETCH_RANGE,
				 "p = %g is out of range (1e-300 to less than 1)", want->p);
	if (n + p + m < 2)
		return error_set(error, SKETCH_RANGE, "%s is missing",
				 n ? "p or m" :
				 p ? "n or m" :
				 m ? "n or p" :
				     "two of n, p and m are needed: one of them");
	return SKETCH_OK;
}

enum sketch_status sketch_plan(const struct sketch_request *request, struct sketch_params *params,
			       struct sketch_error *error)
{
	enum sketch_status status = check_request(request, error);
	struct plan plan;

	if (status != SKETCH_OK)
		return status;
	plan.want = *request;
	plan.line.hashes = 0;
	plan.found = (struct sketch_params){ .layout = request->layout,
					     .k = request->k,
					     .g = request->g,
					     .m = request->m,
					     .n = request->n,
					     .p = request->p };
	if (request->n == 0 || request->m == 0)
		status = solve(&plan, error);
	else if (request->p == 0)
		status = least_rate(&plan);
	else
		status = least_hashes(&plan, error);
	if (status == SKETCH_OK)
		*params = plan.found;
	return status;
}
