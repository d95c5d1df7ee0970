/* plan_counts.h - sizes of sketches that count: count-min, HyperLogLog
 *
 * Both answers are sheets with the columns name, used, textbook. */
#ifndef CLI_PLAN_COUNTS_H
#define CLI_PLAN_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "option.h"
#include "sheet.h"

#define PLAN_CELL_BYTES 4 /* a count-min cell is 32 bits */

#define PLAN_DELTA 0.01

/* What is known; 0 stands for "not given". */
struct plan_counts {
	bool cms, hll; /* which of the two is to be sized */
	double epsilon, delta;
	uint64_t width, depth, bits, total;
	double error;
	uint64_t precision;
};

/* The options, which fill in *counts. */
struct option_group plan_counts_option_group(struct plan_counts *counts);

/* What is wrong with the options as a whole, or NULL. */
const char *plan_counts_fault(const struct plan_counts *counts);

/* Fills the sheet with the sketch that is to be sized.  False, after a message, where
 * the numbers given do not go together.
 *
 * A count-min sketch: an estimate is never below the true count, and above it by
 * more than epsilon times the total with a probability of at most delta.
 *   used      w = ceil(e/epsilon), d = ceil(ln(1/delta))
 *             (Cormode and Muthukrishnan 2005)
 *   textbook  w = ceil(2/epsilon), d = ceil(log2(1/delta)) (Cormode 2011), as
 *             other tools have it
 * from epsilon and delta, from width and depth, or from a size; delta is
 * PLAN_DELTA where nothing says otherwise.
 *
 * A HyperLogLog of 2^precision registers, from a precision, or the least that keeps an
 * error.
 *   used      as hll-count makes it: sketch_hll_plan, sketch_hll_error
 *   textbook  registers of six bits, any number of them, and a standard error of
 *             1.04 / sqrt(registers) (Flajolet, Fusy, Gandouet and Meunier 2007) */
bool plan_counts_report(const struct plan_counts *given, struct sheet *sheet);

#endif
