#include "plan_counts.h"

#include <math.h>

#include "message.h"
#include "number.h"
#include "option.h"
#include "portable.h"
#include "sketch.h"

#define EULER 2.718281828459045
#define LOG_2 0.6931471805599453
#define TEXTBOOK_ERROR 1.04 /* of a HyperLogLog of one register */
#define TEXTBOOK_BITS 6     /* of a register */

enum {
	OPTION_CMS = 400,
	OPTION_HLL,
	OPTION_EPSILON,
	OPTION_DELTA,
	OPTION_WIDTH,
	OPTION_DEPTH,
	OPTION_SIZE,
	OPTION_TOTAL,
	OPTION_ERROR,
	OPTION_PRECISION
};

static const struct option_spec count_specs[] = {
	{ OPTION_CMS, "cms", NULL, "size a count-min sketch" },
	{ OPTION_EPSILON, "epsilon", "E", "counts are too high by E times their total at most" },
	{ OPTION_DELTA, "delta", "D", "but for this part of the keys: the chance of failure [1%]" },
	{ OPTION_WIDTH, "width", "W", "cells a row" },
	{ OPTION_DEPTH, "depth", "D", "rows" },
	{ OPTION_SIZE, "size", "SIZE", "size of all cells (1MiB)" },
	{ OPTION_TOTAL, "total", "N", "sum of all counts, to state the error in counts" },
	{ OPTION_HLL, "hll", NULL, "size a HyperLogLog" },
	{ OPTION_ERROR, "error", "E", "its standard error (2%)" },
	{ OPTION_PRECISION, "precision", "P", "its precision, 4 to 21" },
};

static const char *const columns[] = { "name", "used", "textbook" };

/* Rounded up, but for what the quotient of two rounded numbers is above a whole. */
static double rounded_up(double x)
{
	double whole = x < 0x1p53 ? (double)(uint64_t)x : x;

	return whole < x * (1 - 1e-13) ? whole + 1 : whole;
}

/* -------------------------------------------------------------- command line */

/* epsilon may be 1. */
static bool take_epsilon(const char *value, double *epsilon, struct number_error *error)
{
	uint64_t one;

	if (number_count(value, 1, 1, &one, error)) {
		*epsilon = 1;
		return true;
	}
	return number_probability(value, epsilon, error);
}

static bool take_value(struct plan_counts *counts, int letter, const char *value,
		       struct number_error *error)
{
	switch (letter) {
	case OPTION_EPSILON:
		return take_epsilon(value, &counts->epsilon, error);
	case OPTION_DELTA:
		return number_probability(value, &counts->delta, error);
	case OPTION_WIDTH:
		return number_count(value, 1, UINT64_C(1) << 40, &counts->width, error);
	case OPTION_DEPTH:
		return number_count(value, 1, 255, &counts->depth, error);
	case OPTION_SIZE:
		return number_bits(value, SKETCH_MAX_BITS, &counts->bits, error);
	case OPTION_TOTAL:
		return number_count(value, 1, UINT64_MAX, &counts->total, error);
	case OPTION_ERROR:
		return number_probability(value, &counts->error, error);
	}
	return number_count(value, SKETCH_HLL_LEAST_PRECISION, SKETCH_HLL_MOST_PRECISION,
			    &counts->precision, error);
}

static bool take_option(void *context, int letter, const char *value)
{
	struct plan_counts *counts = context;
	struct number_error error;

	if (letter == OPTION_CMS)
		return counts->cms = true;
	if (letter == OPTION_HLL)
		return counts->hll = true;
	if (take_value(counts, letter, value, &error))
		return true;
	for (size_t i = 0; i < sizeof count_specs / sizeof *count_specs; i++) {
		if (count_specs[i].letter == letter)
			message("--%s: %s", count_specs[i].name, error.text);
	}
	return false;
}

struct option_group plan_counts_option_group(struct plan_counts *counts)
{
	return (struct option_group){ "Counting sketches", count_specs,
				      sizeof count_specs / sizeof *count_specs, take_option,
				      counts };
}

const char *plan_counts_fault(const struct plan_counts *counts)
{
	bool table = counts->epsilon > 0 || counts->delta > 0 || counts->width > 0 ||
		     counts->depth > 0 || counts->bits > 0 || counts->total > 0;
	bool registers = counts->error > 0 || counts->precision > 0;

	if (table && !counts->cms)
		return "--epsilon, --delta, --width, --depth, --size and --total need --cms";
	if (registers && !counts->hll)
		return "--error and --precision need --hll";
	return NULL;
}

/* ------------------------------------------------------------------ count-min */

/* One of the two conventions. */
struct convention {
	const char *name;
	double numerator; /* w = numerator / epsilon */
	double log_base;  /* d = ln(1/delta) / log_base */
};

static const struct convention conventions[] = {
	{ "w=e/epsilon, d=ln(1/delta)", EULER, 1 },
	{ "w=2/epsilon, d=log2(1/delta)", 2, LOG_2 },
};

struct table {
	double width, depth, epsilon, delta;
};

static struct table size_table(const struct plan_counts *given, const struct convention *convention)
{
	struct table table = { (double)given->width, (double)given->depth, 0, 0 };
	double delta = given->delta > 0 ? given->delta : PLAN_DELTA;

	if (table.depth == 0)
		table.depth = fmax(rounded_up(-portable_log(delta) / convention->log_base), 1);
	if (given->bits != 0)
		table.width = (double)(uint64_t)((double)given->bits / 8 /
						 (PLAN_CELL_BYTES * table.depth));
	else if (table.width == 0)
		table.width = rounded_up(convention->numerator / given->epsilon);
	table.epsilon = convention->numerator / table.width;
	table.delta = portable_exp(-table.depth * convention->log_base);
	return table;
}

static bool check_counts(const struct plan_counts *given)
{
	bool accuracy = given->epsilon > 0, size = given->bits > 0, width = given->width > 0;

	if (accuracy + size + width > 1)
		option_complain("--epsilon, --width and --size each decide the width: give one");
	else if (accuracy + size + width == 0)
		option_complain("the width is missing: give --epsilon, --width or --size");
	else if (given->delta > 0 && given->depth > 0)
		option_complain("--delta and --depth each decide the depth: give one");
	else if (width && given->depth == 0 && !(given->delta > 0))
		option_complain("the depth is missing: give --depth or --delta");
	else
		return true;
	return false;
}

static void add_pair(struct sheet *sheet, const char *name, double used, double textbook)
{
	sheet_pair(sheet, name, cell_number(used), cell_number(textbook));
}

static struct cell bytes_of(const struct table *table)
{
	struct cell cell = cell_whole(table->width * table->depth * PLAN_CELL_BYTES);

	if (cell.kind == CELL_COUNT)
		cell.kind = CELL_BYTES;
	return cell;
}

static bool report_table(const struct plan_counts *given, struct sheet *sheet)
{
	struct table used, textbook;

	if (!check_counts(given))
		return false;
	used = size_table(given, &conventions[0]);
	textbook = size_table(given, &conventions[1]);
	if (used.width < 1 || textbook.width < 1) {
		message("--size: a row needs %d bytes at the least, and %.0f rows are wanted",
			PLAN_CELL_BYTES, fmax(used.depth, textbook.depth));
		return false;
	}
	sheet_begin(sheet, columns, 3);
	sheet_pair(sheet, "convention", cell_word(conventions[0].name),
		   cell_word(conventions[1].name));
	sheet_pair(sheet, "w", cell_whole(used.width), cell_whole(textbook.width));
	sheet_pair(sheet, "d", cell_whole(used.depth), cell_whole(textbook.depth));
	add_pair(sheet, "cell", 8 * PLAN_CELL_BYTES, 8 * PLAN_CELL_BYTES);
	sheet_pair(sheet, "bytes", bytes_of(&used), bytes_of(&textbook));
	add_pair(sheet, "epsilon", used.epsilon, textbook.epsilon);
	sheet_pair(sheet, "delta", cell_rate(used.delta), cell_rate(textbook.delta));
	if (given->total > 0) {
		sheet_pair(sheet, "total", cell_count(given->total), cell_count(given->total));
		add_pair(sheet, "error", used.epsilon * (double)given->total,
			 textbook.epsilon * (double)given->total);
	}
	return true;
}

/* ---------------------------------------------------------------- HyperLogLog */

/* What is usually written: registers of six bits, and any number of them. */
struct textbook {
	double precision, registers, error;
};

static struct textbook textbook_of(const struct plan_counts *given)
{
	struct textbook textbook = { .precision = (double)given->precision };

	if (given->error > 0)
		textbook.precision = 2 * portable_log(TEXTBOOK_ERROR / given->error) / LOG_2;
	textbook.registers = given->error > 0 ? portable_exp(textbook.precision * LOG_2) :
						(double)(UINT64_C(1) << given->precision);
	textbook.error = given->error > 0 ? given->error :
					    TEXTBOOK_ERROR / portable_sqrt(textbook.registers);
	return textbook;
}

static bool report_registers(const struct plan_counts *given, struct sheet *sheet)
{
	uint32_t precision = (uint32_t)given->precision;
	struct textbook textbook;
	struct sketch_error error;
	uint64_t registers;

	if ((given->error > 0) == (given->precision > 0)) {
		option_complain("--hll needs %s of --error and --precision",
				given->error > 0 ? "only one" : "one");
		return false;
	}
	if (given->error > 0 && sketch_hll_plan(given->error, &precision, &error) != SKETCH_OK) {
		message("--error: %s", error.text);
		return false;
	}
	registers = UINT64_C(1) << precision;
	textbook = textbook_of(given);
	sheet_begin(sheet, columns, 3);
	sheet_pair(sheet, "precision", cell_whole(precision), cell_number(textbook.precision));
	sheet_pair(sheet, "registers", cell_whole((double)registers),
		   cell_number(textbook.registers));
	sheet_pair(sheet, "bytes", cell_bytes(registers),
		   cell_number(textbook.registers * TEXTBOOK_BITS / 8));
	sheet_pair(sheet, "error", cell_rate(sketch_hll_error(precision)),
		   cell_rate(textbook.error));
	sheet_pair(sheet, "exact", cell_count(registers / 8), cell_none());
	return true;
}

bool plan_counts_report(const struct plan_counts *given, struct sheet *sheet)
{
	return given->cms ? report_table(given, sheet) : report_registers(given, sheet);
}
