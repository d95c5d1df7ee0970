#include "plan_curve.h"

#include <math.h>

#include "chart.h"
#include "portable.h"

#define LOG_2 0.6931471805599453
#define LOG_10 2.302585092994046
#define POINTS 81

static const char *const columns_of_keys[] = { "n", "used", "textbook" };
static const char *const columns_of_hashes[] = { "k", "used", "textbook" };
static const char *const columns_of_bits[] = { "bits_per_key", "used", "textbook" };

static void add_point(struct sheet *sheet, struct cell x, double used, double textbook)
{
	sheet_row(sheet, (struct cell[]){ x, cell_rate(used), cell_rate(textbook) });
}

static void fill_by_keys(struct sheet *sheet, const struct plan_case *answer)
{
	const struct sketch_params *used = &answer->used;
	const struct textbook *book = &answer->book;
	uint64_t keys, before = 0;

	for (int i = 0; i < POINTS; i++) {
		double factor = portable_exp(LOG_10 * (2.0 * i / (POINTS - 1) - 1));
		double share = (double)used->n * factor;

		keys = share < 1e18 ? (uint64_t)(share + 0.5) : UINT64_C(1000000000000000000);
		if (keys == before || keys == 0) /* few keys have few tenths */
			continue;
		before = keys;
		add_point(sheet, answer->sized ? cell_count(keys) : cell_number(factor),
			  sketch_rate_bound(used, keys),
			  rates_exponential(book->k_whole, book->m_whole,
					    book->n * ((double)keys / (double)used->n)));
	}
}

static void fill_by_hashes(struct sheet *sheet, const struct plan_case *answer)
{
	struct sketch_params params = answer->used;
	const struct textbook *book = &answer->book;
	uint32_t step = params.g != 0 ? params.g : 1;
	double best = (double)params.m / (double)params.n * LOG_2;
	double last = fmax(2 * best, params.k + step);

	for (params.k = step; params.k <= last && params.k <= SKETCH_MAX_HASHES; params.k += step)
		add_point(sheet, cell_count(params.k), sketch_rate_bound(&params, params.n),
			  rates_exponential(params.k, book->m_whole, book->n));
}

static void fill_by_bits(struct sheet *sheet, const struct plan_case *answer)
{
	const struct sketch_params *used = &answer->used;
	struct sketch_request request = { .layout = used->layout, .n = used->n };
	struct sketch_params params;
	uint64_t before = 0;

	for (int i = 1; i < POINTS; i++) {
		double m = 2.0 * (double)used->m * i / (POINTS - 1);
		struct textbook book;

		request.m = m < 0x1p63 ? (uint64_t)m : SKETCH_MAX_BITS;
		if (sketch_plan(&request, &params, NULL) != SKETCH_OK || params.m == before)
			continue;
		before = params.m;
		book = textbook_complete(
			&(struct textbook_request){ .n = (double)used->n, .m = (double)params.m });
		add_point(sheet, cell_number((double)params.m / (double)used->n), params.p,
			  book.rate);
	}
}

void plan_curve_fill(struct sheet *sheet, const struct plan_case *answer, enum plan_curve curve)
{
	switch (curve) {
	case CURVE_KEYS:
		sheet_begin(sheet, columns_of_keys, 3);
		fill_by_keys(sheet, answer);
		break;
	case CURVE_HASHES:
		sheet_begin(sheet, columns_of_hashes, 3);
		fill_by_hashes(sheet, answer);
		break;
	default:
		sheet_begin(sheet, columns_of_bits, 3);
		fill_by_bits(sheet, answer);
	}
}

static double number_of(const struct cell *cell)
{
	return cell->kind == CELL_COUNT ? (double)cell->count : cell->number;
}

void plan_curve_draw(const struct sheet *sheet, const struct plan_case *answer,
		     enum plan_curve curve, struct output *out, unsigned columns, bool ascii)
{
	const struct sketch_params *used = &answer->used;
	double x[SHEET_ROWS], y[SHEET_ROWS];
	struct chart chart = {
		.label = curve == CURVE_KEYS   ? (answer->sized ? "n, keys" : "n, times the load") :
			 curve == CURVE_HASHES ? "k, hashes" :
						 "m/n, bits a key",
		.x = x,
		.y = y,
		.count = sheet->row_count,
		.logarithmic = curve == CURVE_KEYS,
		.marked = true,
		.mark_x = curve == CURVE_HASHES ? used->k :
			  curve == CURVE_BITS   ? (double)used->m / (double)used->n :
			  answer->sized         ? (double)used->n :
						  1,
		.mark_y = sketch_rate_bound(used, used->n),
		.columns = columns,
		.ascii = ascii,
	};

	for (size_t i = 0; i < sheet->row_count; i++) {
		x[i] = number_of(&sheet->cells[i][0]);
		y[i] = sheet->cells[i][1].number;
	}
	chart_draw(&chart, out);
}
