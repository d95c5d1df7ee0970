/* plan_explain.h - the derivation of a filter's numbers, step by step */
#ifndef CLI_PLAN_EXPLAIN_H
#define CLI_PLAN_EXPLAIN_H

#include "output.h"
#include "plan_case.h"

/* Writes it in plain sentences, with the numbers of the case; lines of at most 79
 * columns. */
void plan_explain(const struct plan_case *answer, struct output *out);

#endif
