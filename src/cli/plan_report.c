#include "plan_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "filter.h"
#include "message.h"
#include "plan_cuckoo.h"
#include "portable.h"
#include "sizing.h"

#define LOG_2 0.6931471805599453

static const char *const main_columns[] = { "name", "used", "textbook" };

/* ----------------------------------------------------------------- main sheet */

static struct cell if_sized(const struct plan_case *answer, struct cell cell)
{
	return answer->sized ? cell : cell_none();
}

static struct cell if_made(const struct plan_case *answer, struct cell cell)
{
	return answer->made ? cell : cell_none();
}

static struct cell if_both(const struct plan_case *answer, struct cell cell)
{
	return if_made(answer, if_sized(answer, cell));
}

static struct cell whole_bytes(double bits)
{
	struct cell cell = cell_whole(plan_case_bytes(bits));

	if (cell.kind == CELL_COUNT)
		cell.kind = CELL_BYTES;
	return cell;
}

static void add_shape(struct sheet *sheet, const struct plan_case *answer)
{
	const struct sketch_params *used = &answer->used;
	const struct textbook *book = &answer->book;

	double bits = plan_case_bits(answer, (double)used->m);

	sheet_pair(sheet, "layout", if_made(answer, cell_word(filter_layout_name(used->layout))),
		   cell_word("classic"));
	sheet_pair(sheet, "n", if_both(answer, cell_count(used->n)),
		   if_sized(answer, cell_number(book->n)));
	sheet_pair(sheet, "p", if_made(answer, cell_rate(used->p)), cell_rate(book->p));
	sheet_pair(sheet, "m", if_both(answer, cell_count(used->m)),
		   if_sized(answer, cell_number(book->m)));
	sheet_pair(sheet, "m_whole", if_both(answer, cell_count(used->m)),
		   if_sized(answer, cell_whole(book->m_whole)));
	sheet_pair(sheet, "k", if_made(answer, cell_count(used->k)), cell_number(book->k));
	sheet_pair(sheet, "k_whole", if_made(answer, cell_count(used->k)),
		   cell_whole(book->k_whole));
	sheet_pair(sheet, "g", if_made(answer, used->g != 0 ? cell_count(used->g) : cell_none()),
		   cell_none());
	sheet_pair(sheet, "bytes", if_both(answer, whole_bytes(bits)),
		   if_sized(answer, whole_bytes(plan_case_bits(answer, book->m_whole))));
	sheet_pair(sheet, "bits_per_key", if_made(answer, cell_number(bits / (double)used->n)),
		   cell_number(plan_case_bits(answer, book->m) / book->n));
	sheet_pair(sheet, "load", if_made(answer, cell_number((double)used->n / (double)used->m)),
		   cell_number(book->n / book->m));
	sheet_pair(sheet, "fill",
		   if_made(answer,
			   cell_number(answer->made ? sketch_fill_expected(used, used->n) : 0)),
		   cell_number(book->fill));
}

/* What is different where m counters stand for the bits. */
static void add_counters(struct sheet *sheet, const struct plan_case *answer)
{
	const struct sketch_params *used = &answer->used;
	double full = sketch_counting_overflow(used, answer->counter_bits, used->n);

	sheet_pair(sheet, "counter_bits", cell_count(answer->counter_bits),
		   cell_count(answer->counter_bits));
	sheet_pair(sheet, "counters_full", if_both(answer, cell_number(full)), cell_none());
}

struct rates {
	double exponential, classic, exact, bound; /* NAN where there is none */
};

static struct rates rates_used(const struct plan_case *answer)
{
	const struct sketch_params *used = &answer->used;
	struct rates rates = { NAN, NAN, NAN, NAN };

	if (!answer->made)
		return rates;
	if (used->layout == SKETCH_BLOCKED) {
		rates.exponential = rates_blocked_exponential(used, used->n);
		rates.classic = rates_blocked_classic(used, used->n);
	} else {
		rates.exponential = rates_exponential(used->k, (double)used->m, (double)used->n);
		rates.classic = rates_classic(used->k, (double)used->m, (double)used->n);
	}
	rates.exact = plan_case_exact(answer);
	rates.bound = sketch_rate_bound(used, used->n);
	return rates;
}

/* A number of keys that need not be whole is rounded down, and a ratio alone has
 * but the formula that needs no more. */
static struct rates rates_textbook(const struct plan_case *answer)
{
	const struct textbook *book = &answer->book;
	struct rates rates = { book->rate, NAN, NAN, NAN };
	double n = book->n < 0x1p53 ? (double)(uint64_t)book->n : book->n;

	if (!answer->sized || n < 1 || book->k_whole > SKETCH_MAX_HASHES)
		return rates;
	rates.classic = rates_classic((uint32_t)book->k_whole, book->m_whole, n);
	rates.exact = rates_exact((uint32_t)book->k_whole, book->m_whole, n);
	rates.bound = sizing_classic_bound((uint32_t)book->k_whole, book->m_whole, n);
	return rates;
}

static void add_rate(struct sheet *sheet, const char *name, double used, double textbook)
{
	sheet_pair(sheet, name, isnan(used) ? cell_none() : cell_rate(used),
		   isnan(textbook) ? cell_none() : cell_rate(textbook));
}

void plan_report_case(struct sheet *sheet, const struct plan_case *answer)
{
	struct rates used = rates_used(answer), textbook = rates_textbook(answer);

	sheet_begin(sheet, main_columns, 3);
	add_shape(sheet, answer);
	add_rate(sheet, "rate", used.bound, answer->book.rate);
	add_rate(sheet, "rate_exponential", used.exponential, textbook.exponential);
	add_rate(sheet, "rate_classic", used.classic, textbook.classic);
	add_rate(sheet, "rate_exact", used.exact, textbook.exact);
	add_rate(sheet, "rate_bound", used.bound, textbook.bound);
	if (answer->counter_bits > 0)
		add_counters(sheet, answer);
	if (!answer->made)
		sheet_pair(sheet, "refused", cell_word(answer->refusal), cell_none());
}

/* ------------------------------------------------------------ until, what if */

void plan_report_until(struct sheet *sheet, const struct plan_case *answer, double p)
{
	const struct sketch_params *used = &answer->used;
	struct textbook_request asked = {
		.m = answer->book.m_whole,
		.p = p,
		.k = (uint32_t)fmin(answer->book.k_whole, UINT32_MAX),
	};
	double keys = textbook_complete(&asked).n, now = answer->book.n;
	uint64_t most = answer->made ? plan_case_keys_until(used, p) : 0;

	sheet_pair(sheet, "until_p", cell_rate(p), cell_rate(p));
	sheet_pair(sheet, "until_n", if_both(answer, cell_count(most)),
		   if_sized(answer, cell_number(keys)));
	sheet_pair(sheet, "until_more",
		   if_both(answer, cell_count(most > used->n ? most - used->n : 0)),
		   if_sized(answer, cell_number(keys > now ? keys - now : 0)));
	sheet_pair(sheet, "until_load",
		   if_made(answer, cell_number((double)most / (double)used->m)),
		   cell_number(keys / answer->book.m_whole));
}

static bool parse_change(const char *word, struct plan_change *change, struct number_error *error)
{
	uint64_t hashes;

	switch (word[0]) {
	case 'n':
		return number_count(word + 2, 1, UINT64_C(1000000000000000000), &change->n, error);
	case 'm':
		return number_bits(word + 2, SKETCH_MAX_BITS, &change->m, error);
	}
	if (!number_count(word + 2, 1, SKETCH_MAX_HASHES, &hashes, error))
		return false;
	change->k = (uint32_t)hashes;
	return true;
}

bool plan_report_parse_change(const char *word, struct plan_change *change,
			      struct number_error *error)
{
	struct number_error fault;

	if (word[0] == '\0' || strchr("nmk", word[0]) == NULL || word[1] != '=')
		snprintf(error->text, sizeof error->text,
			 "'%.60s' is not a change: write n=2M, m=6MB or k=3", word);
	else if (parse_change(word, change, &fault))
		return true;
	else
		snprintf(error->text, sizeof error->text, "%.30s: %.200s", word, fault.text);
	return false;
}

/* The filter after the change. */
static bool change_used(const struct sketch_params *used, const struct plan_change *change,
			struct sketch_params *changed)
{
	struct sketch_request request = {
		.layout = used->layout,
		.n = change->n != 0 ? change->n : used->n,
		.m = change->m != 0 ? change->m : used->m,
		.k = change->k != 0 ? change->k : used->k,
		.g = change->k != 0 ? 0 : used->g,
	};
	struct sketch_error error;

	if (sketch_plan(&request, changed, &error) == SKETCH_OK)
		return true;
	message("--what-if: %s", error.text);
	return false;
}

bool plan_report_change(struct sheet *sheet, const struct plan_case *answer,
			const struct plan_change *change)
{
	const struct textbook *book = &answer->book;
	double n = change->n != 0 ? (double)change->n : book->n;
	double m = change->m != 0 ? (double)change->m : book->m_whole;
	double k = change->k != 0 ? change->k : book->k_whole;
	double rate = rates_exponential(k, m, n), before = 1, after = 1;
	struct sketch_params changed = answer->used;

	if (answer->made) {
		if (!change_used(&answer->used, change, &changed))
			return false;
		before = sketch_rate_bound(&answer->used, answer->used.n);
		after = sketch_rate_bound(&changed, changed.n);
	}
	sheet_pair(sheet, "what_if_n", if_made(answer, cell_count(changed.n)), cell_number(n));
	sheet_pair(sheet, "what_if_m", if_made(answer, cell_count(changed.m)), cell_number(m));
	sheet_pair(sheet, "what_if_k", if_made(answer, cell_count(changed.k)), cell_number(k));
	sheet_pair(sheet, "what_if_fill",
		   if_made(answer,
			   cell_number(answer->made ? sketch_fill_expected(&changed, changed.n) :
						      0)),
		   cell_number(rates_exponential(1, m, k * n)));
	sheet_pair(sheet, "what_if_rate", if_made(answer, cell_rate(after)), cell_rate(rate));
	sheet_pair(sheet, "what_if_times", if_made(answer, cell_number(after / before)),
		   cell_number(rate / book->rate));
	return true;
}

/* ----------------------------------------------------------------- simulation */

void plan_report_simulation(struct sheet *sheet, const struct simulation_result *result,
			    double bound)
{
	const struct interval_sample *sample = &result->sample;
	struct cell none = cell_none();

	sheet_pair(sheet, "simulated_filters", cell_count(sample->filters), none);
	sheet_pair(sheet, "simulated_queries", cell_count(sample->filters * sample->queries), none);
	sheet_pair(sheet, "simulated_hits", cell_count(sample->hits), none);
	sheet_pair(sheet, "simulated_rate", cell_rate(result->rate), none);
	sheet_pair(sheet, "simulated_low", cell_rate(result->interval.low), none);
	sheet_pair(sheet, "simulated_high", cell_rate(result->interval.high), none);
	sheet_pair(sheet, "simulated_method", cell_word(result->interval.method), none);
	sheet_pair(sheet, "bound", cell_rate(bound), none);
	sheet_pair(sheet, "bound_holds", cell_word(result->holds ? "yes" : "no"), none);
}

/* ---------------------------------------------------------------------- table */

/* The k with the lowest rate, by the textbook. */
static double best_hashes(const struct sketch_params *used)
{
	return (double)used->m / (double)used->n * LOG_2;
}

void plan_report_hashes(struct sheet *sheet, const struct plan_case *answer)
{
	static const char *const columns[] = { "k", "used", "textbook", "gain", "mark" };
	struct sketch_params params = answer->used;
	uint32_t step = params.g != 0 ? params.g : 1;
	double last = fmax(best_hashes(&params) + 4, answer->used.k + step), previous = 1, rate;
	double lowest = 1;
	size_t lowest_row = 0;

	sheet_begin(sheet, columns, 5);
	if (!answer->made)
		return;
	for (params.k = step; params.k <= SKETCH_MAX_HASHES && params.k <= last; params.k += step) {
		const struct textbook *book = &answer->book;

		rate = sketch_rate_bound(&params, params.n);
		sheet_row(sheet,
			  (struct cell[]){
				  cell_count(params.k), cell_rate(rate),
				  cell_rate(rates_exponential(params.k, book->m_whole, book->n)),
				  cell_number(previous / rate),
				  params.k == answer->used.k ? cell_word("used") : cell_none() });
		previous = rate;
		if (rate < lowest) {
			lowest = rate;
			lowest_row = sheet->row_count - 1;
		}
	}
	sheet->cells[lowest_row][4] = sheet->cells[lowest_row][4].kind == CELL_WORD ?
					      cell_word("used, lowest") :
					      cell_word("lowest");
}

/* -------------------------------------------------------------------- compare */

static void compare_with(struct sheet *sheet, const char *name, double bits, double n,
			 double filter_bits, const char *note)
{
	sheet_row(sheet, (struct cell[]){ cell_word(name), whole_bytes(bits), cell_number(bits / n),
					  cell_number(bits / filter_bits), cell_word(note) });
}

void plan_report_compare(struct sheet *sheet, const struct plan_case *answer, uint64_t key_bytes)
{
	static const char *const columns[] = { "structure", "bytes", "bits_per_key", "times",
					       "note" };
	const struct sketch_params *used = &answer->used;
	double n = (double)used->n, bits = (double)used->m;
	double p = sketch_rate_bound(used, used->n);

	sheet_begin(sheet, columns, 5);
	compare_with(sheet, "bloom", bits, n, bits, "this filter");
	compare_with(sheet, "least_possible", n * -portable_log(p) / LOG_2, n, bits,
		     "log2(1/p) bits a key: no structure with this rate is smaller");
	compare_with(sheet, "cuckoo", plan_cuckoo_bits(used->n, p), n, bits,
		     "log2(8/p) bits a slot, rounded up, 95 % full; keys can be deleted");
	compare_with(sheet, "counting_bloom", 4 * bits, n, bits,
		     "4 bits in place of each; keys can be deleted");
	compare_with(sheet, "hash_set_64", n * 64 / 0.75, n, bits,
		     "8 bytes of hash a key, table 75 % full; errs with n/2^64");
	compare_with(sheet, "hash_set", n * (64 / 0.75 + 8 * ((double)key_bytes + 16)), n, bits,
		     "the keys themselves: a pointer, 75 % full, and 16 bytes of overhead; exact");
}

/* --------------------------------------------------------------------- advice */

/* The least k of a filter of this size whose rate is at most p; 0 if none. */
static uint32_t least_hashes_for(const struct sketch_params *used, double p)
{
	struct sketch_params params = *used;
	uint32_t step = params.g != 0 ? params.g : 1;

	for (params.k = step; params.k < used->k; params.k += step) {
		if (sketch_rate_bound(&params, params.n) <= p)
			return params.k;
	}
	return 0;
}

static bool advise_on_hashes(const struct sketch_params *used, char text[240])
{
	uint32_t fewer = least_hashes_for(used, 0.01);
	struct sketch_params params = *used;
	char now[32], then[32];

	if (used->layout != SKETCH_CLASSIC || fewer == 0 || 2 * fewer > used->k)
		return false;
	params.k = fewer;
	filter_print_rate(now, sketch_rate_bound(used, used->n));
	filter_print_rate(then, sketch_rate_bound(&params, params.n));
	snprintf(text, 240,
		 "below 1 %% more hashes rarely pay: %" PRIu32 " hashes mean %" PRIu32
		 " probes for every event, for %s; %" PRIu32 " of them give %s already",
		 used->k, used->k, now, fewer, then);
	return true;
}

static bool advise_on_load(const struct sketch_params *used, char text[240])
{
	double load = (double)used->n / (double)used->m;

	if (load < 0.4)
		return false;
	snprintf(text, 240,
		 "at %.3g keys a bit about %s is best ((m/n) ln 2 = %.2f), and the rate is high "
		 "whatever k: give it more bits",
		 load, best_hashes(used) < 1.5 ? "one hash" : "two hashes", best_hashes(used));
	return true;
}

static bool advise_on_lines(const struct sketch_params *used, char text[240])
{
	if (used->layout != SKETCH_BLOCKED)
		return false;
	snprintf(text, 240,
		 "blocked: %" PRIu32 " cache line%s a look-up whatever k; a classic filter touches "
		 "up to %" PRIu32 " for a key that is there",
		 used->g, used->g > 1 ? "s" : "", used->k);
	return true;
}

static bool advise_on_growth(const struct sketch_params *used, char text[240])
{
	char now[32], then[32];

	if (used->n > UINT64_MAX / 2)
		return false;
	filter_print_rate(now, sketch_rate_bound(used, used->n));
	filter_print_rate(then, sketch_rate_bound(used, 2 * used->n));
	snprintf(text, 240,
		 "n counts distinct keys; with twice as many the rate is %s instead of %s, so "
		 "when in doubt plan for more",
		 then, now);
	return true;
}

const char *plan_report_advice(const struct plan_case *answer, size_t i, char text[240])
{
	static bool (*const advisers[])(const struct sketch_params *,
					char *) = { advise_on_hashes, advise_on_load,
						    advise_on_lines, advise_on_growth };

	for (size_t at = 0; answer->made && at < sizeof advisers / sizeof *advisers; at++) {
		if (advisers[at](&answer->used, text) && i-- == 0)
			return text;
	}
	return NULL;
}
