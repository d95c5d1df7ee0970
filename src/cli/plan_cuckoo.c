#include "plan_cuckoo.h"

#include "portable.h"
#include "sketch.h"

#define LOG_2 0.6931471805599453
#define TEXTBOOK_LOAD 0.95

/* Bits of a fingerprint by the textbook: log2(2b / p), rounded up. */
static double textbook_fingerprint(double p)
{
	double bits = portable_log(2 * SKETCH_CUCKOO_SLOTS / p) / LOG_2;
	double whole = (double)(uint64_t)bits;

	return whole < bits * (1 - 1e-12) ? whole + 1 : whole;
}

static double textbook_bits(double n, double p)
{
	return n * textbook_fingerprint(p) / TEXTBOOK_LOAD;
}

double plan_cuckoo_bits(uint64_t n, double p)
{
	struct sketch_cuckoo_params params;

	if (sketch_cuckoo_plan(n, p, 0, &params, NULL) == SKETCH_OK)
		return 8 * (double)sketch_cuckoo_size(&params);
	return textbook_bits((double)n, p);
}

bool plan_cuckoo_report(const struct plan_options *options, double rate, struct sheet *sheet)
{
	static const char *const columns[] = { "name", "used", "textbook" };
	struct sketch_cuckoo_params used;
	double slots, n, bits, bytes, book;

	if (!plan_complete_cuckoo(options, rate, &used))
		return false;
	slots = (double)used.buckets * SKETCH_CUCKOO_SLOTS;
	n = (double)used.n;
	bytes = (double)sketch_cuckoo_size(&used);
	bits = textbook_fingerprint(used.p);
	book = textbook_bits(n, used.p);
	sheet_begin(sheet, columns, 3);
	sheet_pair(sheet, "n", cell_count(used.n), cell_count(used.n));
	sheet_pair(sheet, "p", cell_rate(used.p), cell_rate(used.p));
	sheet_pair(sheet, "m", cell_count(used.buckets * SKETCH_CUCKOO_SLOTS * used.f),
		   cell_number(book));
	sheet_pair(sheet, "fingerprint", cell_count(used.f), cell_number(bits));
	sheet_pair(sheet, "buckets", cell_count(used.buckets),
		   cell_number(n / TEXTBOOK_LOAD / SKETCH_CUCKOO_SLOTS));
	sheet_pair(sheet, "slots", cell_count(used.buckets * SKETCH_CUCKOO_SLOTS),
		   cell_number(n / TEXTBOOK_LOAD));
	sheet_pair(sheet, "fill", cell_number(n / slots), cell_number(TEXTBOOK_LOAD));
	sheet_pair(sheet, "bytes", cell_bytes(sketch_cuckoo_size(&used)), cell_number(book / 8));
	sheet_pair(sheet, "bits_per_key", cell_number(8 * bytes / n), cell_number(book / n));
	sheet_pair(sheet, "rate", cell_rate(sketch_cuckoo_rate_bound(&used, used.n)),
		   cell_rate(2 * SKETCH_CUCKOO_SLOTS / portable_exp(bits * LOG_2)));
	return true;
}
