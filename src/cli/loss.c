#include "loss.h"

#include <math.h>

#define LOSS_STEPS 16

double loss_keys(struct sketch_bloom *filter, size_t layer)
{
	const struct sketch_params *params = sketch_bloom_params(filter, layer);
	struct sketch_bloom_state state;

	if (sketch_bloom_state(filter, layer, &state, NULL) != SKETCH_OK)
		return 0;
	return isfinite(state.distinct) ? state.distinct : (double)params->m;
}

/* The probability that no layer before `last` takes an absent key for known. */
static double passes_older(struct sketch_bloom *filter, size_t last)
{
	double passes = 1;

	for (size_t i = 0; i < last; i++) {
		struct sketch_bloom_state state;

		if (sketch_bloom_state(filter, i, &state, NULL) == SKETCH_OK)
			passes *= 1 - state.rate;
	}
	return passes;
}

/* Simpson's rule. */
double loss_per_pass(struct sketch_bloom *filter, size_t last, double from, double to)
{
	const struct sketch_params *params = sketch_bloom_params(filter, last);
	double older = passes_older(filter, last), mean = 0;

	for (int i = 0; i <= LOSS_STEPS; i++) {
		double keys = from + (to - from) * i / LOSS_STEPS;
		double passes = older * (1 - sketch_rate_bound(params, (uint64_t)keys));
		double weight = i == 0 || i == LOSS_STEPS ? 1 : i % 2 == 1 ? 4 : 2;

		mean += weight * (1 - passes) / (3 * LOSS_STEPS);
	}
	/* A filter that is full lets nothing pass at all. */
	return mean / fmax(1 - mean, 1e-12);
}

double loss_since(struct sketch_bloom *filter, size_t layers, double keys, double passed)
{
	size_t count = sketch_bloom_layers(filter);
	double grown[SKETCH_MAX_LAYERS], from[SKETCH_MAX_LAYERS], total = 0, expected = 0;

	/* What each layer took since tells how many of the passed fell to it. */
	for (size_t i = layers - 1; i < count; i++) {
		from[i] = i == layers - 1 ? keys : 0;
		grown[i] = fmax(loss_keys(filter, i) - from[i], 0);
		total += grown[i];
	}
	for (size_t i = layers - 1; i < count && total > 0; i++)
		expected += passed * grown[i] / total *
			    loss_per_pass(filter, i, from[i], from[i] + grown[i]);
	return expected;
}
