/* plan_case.h - one question of capacity, and its answer
 *
 * The answer is twofold: the filter that the tools make (used, by sketch_plan and
 * sketch_rate_bound, and nothing else), and what a textbook says. */
#ifndef CLI_PLAN_CASE_H
#define CLI_PLAN_CASE_H

#include <stdbool.h>

#include "number.h"
#include "rates.h"
#include "sketch.h"

/* What is asked: n, p, m and k in the request, 0 where not given, and perhaps one
 * of two ratios, which stand for n and m together up to their scale. */
struct plan_question {
	struct sketch_request request;
	double bits_per_key;       /* m/n, or 0 */
	double load;               /* n/m, or 0 */
	unsigned int counter_bits; /* of a counting filter, whose m in the request is in
	                            * bits; else 0 */
};

struct plan_case {
	struct sketch_params used;
	unsigned int counter_bits; /* where m is a number of counters, else 0 */
	bool made;                 /* there is such a filter, else `refusal` says why not */
	char refusal[200];         /* of the size alone; a contradiction is no case at all */
	bool sized;                /* n and m are known, not their ratio alone; else those in
	                    * `used` and `book` are large and their ratio is right */
	struct textbook book;
};

/* Answers, or prints one message that says what is missing or contradictory. */
bool plan_case_complete(const struct plan_question *question, struct plan_case *answer);

/* A positive number for a ratio: 9.6, 0.7, 70%. */
bool plan_case_ratio(const char *word, double *value, struct number_error *error);

/* The rate of a case by the exact formula; NAN where there is none to give. */
double plan_case_exact(const struct plan_case *answer);

/* The most keys that keep the rate p in the filter of *params; 0 where none do. */
uint64_t plan_case_keys_until(const struct sketch_params *params, double p);

/* The bits that m stands for: itself, or those of m counters. */
double plan_case_bits(const struct plan_case *answer, double m);

/* Bytes of so many bits, the last one perhaps not full. */
double plan_case_bytes(double bits);

#endif
