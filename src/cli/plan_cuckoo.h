/* plan_cuckoo.h - the planner's answer for a cuckoo filter */
#ifndef CLI_PLAN_CUCKOO_H
#define CLI_PLAN_CUCKOO_H

#include "plan_options.h"
#include "sheet.h"

/* The main sheet of the filter that the options ask for, where neither -p nor -m is given
 * at the rate `rate`: used is what bloom-build makes, textbook the formula of Fan et al.
 * False after a message. */
bool plan_cuckoo_report(const struct plan_options *options, double rate, struct sheet *sheet);

/* Bits of the table for n keys at the rate p. */
double plan_cuckoo_bits(uint64_t n, double p);

#endif
