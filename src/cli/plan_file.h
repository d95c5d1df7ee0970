/* plan_file.h - the planner's questions, put to a filter that exists */
#ifndef CLI_PLAN_FILE_H
#define CLI_PLAN_FILE_H

#include "plan_case.h"
#include "sheet.h"

/* What the bits of a filter say. */
struct plan_file {
	size_t layers;
	bool single, grows;          /* one layer of fixed size; a ladder */
	double distinct, rate, fill; /* of all layers together; distinct may be infinite */
	double p;                    /* promised for all layers together */
	uint64_t n, m, bytes, records;
	unsigned int counter_bits; /* of a counting filter, else 0 */
	bool past_capacity;
	struct plan_case now; /* of a single layer: the case of the keys it holds */
};

/* Reads them off.  False, after a message that names the file, where it is damaged. */
bool plan_file_read(struct sketch_bloom *filter, const char *name, struct plan_file *file);

/* The same of a filter of DCSO's. */
void plan_file_read_dcso(const struct sketch_dcso *dcso, struct plan_file *file);

/* The main sheet: used is what the bits say, textbook what the formulas say of as
 * many keys as they tell of; how many more until the rate is p; and how large a
 * filter would be that keeps p for twice the keys. */
void plan_file_report(struct sheet *sheet, const struct plan_file *file, double p);

/* One sentence of advice. */
const char *plan_file_advice(const struct plan_file *file, double p, char text[240]);

#endif
