/* loss.h - how many records were wrongly held back, in expectation
 *
 * A new key is taken for a known one at the rate of the filter as it is then, not as
 * it is at the end.  While a filter was given the keys from the a-th to the b-th,
 * r(x) of the x-th were held back and 1 - r(x) passed, where r(x) is the rate at x
 * keys: with r the mean of r(x) over a..b, r / (1 - r) were held back for each that
 * passed.  (The keys in a layer by its bits are those it was given, since one that is
 * taken for known would have set no bit.) */
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
