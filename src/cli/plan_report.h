/* plan_report.h - the tables of fpr-calc
 *
 * Each function fills a sheet, or adds rows to the main one, whose columns are
 * name, used, textbook. */
#ifndef CLI_PLAN_REPORT_H
#define CLI_PLAN_REPORT_H

#include "plan_case.h"
#include "sheet.h"
#include "simulate.h"

/* The main sheet: the filter, and its rate by each formula. */
void plan_report_case(struct sheet *sheet, const struct plan_case *answer);

/* Rows: how many keys until the rate p is reached. */
void plan_report_until(struct sheet *sheet, const struct plan_case *answer, double p);

/* What would be changed; 0 where nothing. */
struct plan_change {
	uint64_t n, m;
	uint32_t k;
};

/* Reads "n=2M", "m=6MB" or "k=3" into *change, or fills *error. */
bool plan_report_parse_change(const char *word, struct plan_change *change,
			      struct number_error *error);

/* Rows: what becomes of the filter if some of its numbers change and the others stay.
 * False, after a message, where there is no such filter. */
bool plan_report_change(struct sheet *sheet, const struct plan_case *answer,
			const struct plan_change *change);

/* Rows: what was measured, and whether the bound holds. */
void plan_report_simulation(struct sheet *sheet, const struct simulation_result *result,
			    double bound);

/* A sheet: the rate for each k, and by how much each further hash divides it. */
void plan_report_hashes(struct sheet *sheet, const struct plan_case *answer);

/* A sheet: bytes of other structures for the same keys, of which one has
 * `key_bytes` bytes in the mean. */
void plan_report_compare(struct sheet *sheet, const struct plan_case *answer, uint64_t key_bytes);

/* Words of advice, one by one: the i-th in `text`, or NULL where there is none. */
const char *plan_report_advice(const struct plan_case *answer, size_t i, char text[240]);

#endif
