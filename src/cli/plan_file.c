#include "plan_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "filter.h"
#include "message.h"
#include "plan_report.h"

#define MOST_KEYS 1e18

static double rounded(double x)
{
	return x < 0x1p52 ? (double)(uint64_t)(x + 0.5) : x;
}

/* The case of as many keys as the filter holds; n is 1 where it holds none. */
static void make_case(struct plan_file *file, const struct sketch_params *params)
{
	double keys = fmin(fmax(rounded(file->distinct), 1), MOST_KEYS);
	struct plan_case *now = &file->now;

	*now = (struct plan_case){
		.used = *params, .counter_bits = file->counter_bits, .made = true, .sized = true
	};
	now->used.n = (uint64_t)keys;
	now->used.p = sketch_rate_bound(params, now->used.n);
	now->book = textbook_complete(
		&(struct textbook_request){ .n = keys, .m = (double)params->m, .k = params->k });
}

bool plan_file_read(struct sketch_bloom *filter, const char *name, struct plan_file *file)
{
	enum sketch_arrangement arrangement = sketch_bloom_identity(filter)->arrangement;
	double absent = 1, ones = 0;
	struct sketch_error error;

	*file = (struct plan_file){
		.layers = sketch_bloom_layers(filter),
		.single = arrangement == SKETCH_SINGLE,
		.grows = arrangement == SKETCH_LADDER,
		/* As sketch-info: the first layer of others has half of what was asked for. */
		.p = (arrangement == SKETCH_SINGLE ? 1 : 2) * sketch_bloom_params(filter, 0)->p,
		.bytes = sketch_bloom_payload(filter),
		.counter_bits = sketch_bloom_counter_bits(filter),
		.records = sketch_bloom_records(filter),
	};
	for (size_t i = 0; i < file->layers; i++) {
		const struct sketch_params *params = sketch_bloom_params(filter, i);
		struct sketch_bloom_state state;

		if (sketch_bloom_state(filter, i, &state, &error) != SKETCH_OK) {
			message_file(message_input_name(name), &error);
			return false;
		}
		absent *= 1 - state.rate;
		ones += (double)state.ones;
		file->distinct += state.distinct;
		file->n = file->n + params->n < file->n ? UINT64_MAX : file->n + params->n;
		file->m += params->m;
		file->past_capacity = state.past_capacity;
		file->rate = file->layers == 1 ? state.rate : 1 - absent;
	}
	file->fill = ones / (double)file->m;
	make_case(file, sketch_bloom_params(filter, file->layers - 1));
	return true;
}

void plan_file_read_dcso(const struct sketch_dcso *dcso, struct plan_file *file)
{
	const struct sketch_dcso_params *own = sketch_dcso_params(dcso);
	struct sketch_params params = {
		SKETCH_CLASSIC, (uint32_t)own->k, 0, own->m, own->n, own->p
	};
	struct sketch_bloom_state state;

	sketch_dcso_state(dcso, &state);
	*file = (struct plan_file){
		.layers = 1,
		.single = true,
		.p = own->p,
		.n = own->n,
		.m = own->m,
		.bytes = (own->m + 63) / 64 * 8,
		.records = own->inserts,
		.distinct = state.distinct,
		.rate = state.rate,
		.fill = state.fill,
		.past_capacity = state.past_capacity,
	};
	make_case(file, &params);
}

/* -------------------------------------------------------------------- report */

static void add_facts(struct sheet *sheet, const struct plan_file *file)
{
	const struct sketch_params *used = &file->now.used;
	const struct textbook *book = &file->now.book;
	bool single = file->single;
	struct cell none = cell_none();

	sheet_pair(sheet, "layout", cell_word(filter_layout_name(used->layout)),
		   cell_word("classic"));
	sheet_pair(sheet, "layers", cell_count(file->layers), none);
	sheet_pair(sheet, "n", cell_count(file->n), none);
	sheet_pair(sheet, "p", cell_rate(file->p), none);
	sheet_pair(sheet, "m", cell_count(file->m), cell_count(file->m));
	sheet_pair(sheet, "k", single ? cell_count(used->k) : none,
		   single ? cell_count(used->k) : none);
	sheet_pair(sheet, "g", single && used->g > 0 ? cell_count(used->g) : none, none);
	sheet_pair(sheet, "bytes", cell_bytes(file->bytes), cell_bytes(file->bytes));
	sheet_pair(sheet, "records", cell_count(file->records), none);
	sheet_pair(sheet, "distinct",
		   isfinite(file->distinct) ? cell_whole(rounded(file->distinct)) :
					      cell_number(INFINITY),
		   none);
	sheet_pair(sheet, "load", cell_number(file->distinct / (double)file->m),
		   cell_number(file->distinct / (double)file->m));
	sheet_pair(sheet, "fill", cell_number(file->fill),
		   single ? cell_number(file->distinct > 0 ? book->fill : 0) : none);
	sheet_pair(sheet, "rate", cell_rate(file->rate),
		   single ? cell_rate(file->distinct > 0 ? book->rate : 0) : none);
	sheet_pair(sheet, "past_capacity", cell_word(file->past_capacity ? "yes" : "no"), none);
}

/* Keys that a new filter should have room for; 0 where the old one cannot tell. */
static uint64_t keys_to_come(const struct plan_file *file)
{
	double keys = fmax(2 * rounded(file->distinct), 2);

	return keys <= MOST_KEYS ? (uint64_t)keys : 0;
}

static bool plan_anew(const struct plan_file *file, double p, struct sketch_params *params)
{
	struct sketch_request request = { .layout = file->now.used.layout,
					  .n = keys_to_come(file),
					  .p = p };

	return request.n != 0 && sketch_plan(&request, params, NULL) == SKETCH_OK;
}

static uint64_t rebuild_bytes(const struct plan_file *file, const struct sketch_params *anew)
{
	return anew->m / 8 * (file->counter_bits > 0 ? file->counter_bits : 1);
}

static void add_until(struct sheet *sheet, const struct plan_file *file, double p)
{
	const struct sketch_params *used = &file->now.used;
	uint64_t most = plan_case_keys_until(used, p);
	double more = (double)most - rounded(file->distinct);

	if (!file->single) {
		sheet_pair(sheet, "until_p", cell_rate(p), cell_none());
		return;
	}
	if (file->distinct > 0 && isfinite(file->distinct)) {
		plan_report_until(sheet, &file->now, p);
		return;
	}
	sheet_pair(sheet, "until_p", cell_rate(p), cell_rate(p));
	sheet_pair(sheet, "until_n", cell_count(most), cell_none());
	sheet_pair(sheet, "until_more", cell_whole(fmax(more, 0)), cell_none());
}

void plan_file_report(struct sheet *sheet, const struct plan_file *file, double p)
{
	static const char *const columns[] = { "name", "used", "textbook" };
	struct sketch_params anew;
	struct textbook book;

	sheet_begin(sheet, columns, 3);
	add_facts(sheet, file);
	add_until(sheet, file, p);
	if (!plan_anew(file, p, &anew))
		return;
	book = textbook_complete(&(struct textbook_request){ .n = (double)anew.n, .p = p });
	sheet_pair(sheet, "rebuild_n", cell_count(anew.n), cell_count(anew.n));
	sheet_pair(sheet, "rebuild_m", cell_count(anew.m), cell_whole(book.m_whole));
	sheet_pair(sheet, "rebuild_k", cell_count(anew.k), cell_whole(book.k_whole));
	sheet_pair(sheet, "rebuild_bytes", cell_bytes(rebuild_bytes(file, &anew)),
		   cell_whole(plan_case_bytes(plan_case_bits(&file->now, book.m_whole))));
}

const char *plan_file_advice(const struct plan_file *file, double p, char text[240])
{
	char rate[32], asked[32], size[32];
	struct sketch_params anew;
	uint64_t most = file->single ? plan_case_keys_until(&file->now.used, p) : 0;

	filter_print_rate(rate, file->rate);
	filter_print_rate(asked, p);
	if (!isfinite(file->distinct))
		snprintf(text, 240,
			 "every bit is set: it says maybe to all, and cannot tell how "
			 "many keys it holds; make a new one from the keys");
	else if (file->rate <= p && file->single)
		snprintf(text, 240, "the rate is %s now; it reaches %s with %.0f keys more", rate,
			 asked, fmax((double)most - rounded(file->distinct), 0));
	else if (file->rate <= p && file->grows && p >= file->p)
		snprintf(text, 240, "the rate is %s now, and it stays below %s: the filter grows",
			 rate, asked);
	else if (file->rate <= p)
		snprintf(text, 240, "the rate is %s now, below %s", rate, asked);
	else if (plan_anew(file, p, &anew))
		snprintf(text, 240,
			 "the rate is %s, above %s: make a new one from the keys; with room for "
			 "%" PRIu64 " it takes m = %" PRIu64 " %s (%s)",
			 rate, asked, anew.n, anew.m, file->counter_bits > 0 ? "counters" : "bits",
			 number_size(size, rebuild_bytes(file, &anew)));
	else
		snprintf(text, 240, "the rate is %s, above %s", rate, asked);
	return text;
}
