#include "touch.h"

#include "bloom.h"

/* A layer that the second-level cache holds, or nearly, comes soon enough. */
#define TOUCH_LEAST_BYTES (256u << 10)

static void touch_layer(struct touch *touch, const struct layer *layer, uint32_t lines)
{
	/* Counters of a line lie in several; which of them are needed, one bit does not tell. */
	if (layer->params.layout != SKETCH_BLOCKED || layer->bytes < TOUCH_LEAST_BYTES ||
	    layer->counter_bits != 0)
		return;
	for (uint32_t j = 0; j < lines && touch->count < TOUCH_MOST; j++) {
		uint64_t before = j * layer->lines * (SKETCH_BLOCK_BITS / 8);

		touch->probes[touch->count++] =
			(struct touch_probe){ layer->bits + before, layer->lines, j };
	}
}

void touch_filter(struct touch *touch, const struct sketch_bloom *filter, bool added)
{
	size_t last = filter->layer_count - 1;

	touch->count = 0;
	touch_layer(touch, &filter->layers[last], added ? filter->layers[last].params.g : 1);
	while (last-- > 0)
		touch_layer(touch, &filter->layers[last], 1);
}
