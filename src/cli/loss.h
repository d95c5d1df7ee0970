/* loss.h - how many records were wrongly held back, in expectation
 *
 * A new key is taken for a known one at the rate of the filter as it is then, not as
 * it is at the end.  While the filter grew from a to b keys, each key that passed
 * stands for r(x) / (1 - r(x)) that did not, where r(x) was the rate at x keys: the
 * mean of that over a..b, times the keys that passed. */
#ifndef CLI_LOSS_H
#define CLI_LOSS_H

#include "sketch.h"

/* The records wrongly held back for each one passed, while the last layer grew
 * from `from` to `to` keys beside the older layers as they are now. */
double loss_per_pass(struct sketch_bloom *filter, size_t last, double from, double to);

/* The keys in a layer by its bits, at most its m. */
double loss_keys(struct sketch_bloom *filter, size_t layer);

/* All of a filter of one layer, or of a ladder, which began the run with `layers`
 * layers and `keys` keys in the last of them, and passed `passed` records since. */
double loss_since(struct sketch_bloom *filter, size_t layers, double keys, double passed);

#endif
