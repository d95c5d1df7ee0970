#include "distinct.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "message.h"
#include "open.h"

struct sketch_hll *distinct_of_file(const char *name, struct sketch_file *file)
{
	struct sketch_hll *hll = NULL;
	struct sketch_error error;
	uint32_t kind = sketch_file_kind(file);

	if (sketch_hll_of_file(&hll, file, &error) != SKETCH_OK)
		open_refused(name, kind, kind == SKETCH_KIND_HYPERLOGLOG, &error);
	return hll;
}

struct sketch_hll *distinct_open(const char *name)
{
	struct sketch_file *file = open_sketch(name, SKETCH_WRITABLE);

	return file == NULL ? NULL : distinct_of_file(name, file);
}

enum sketch_status distinct_write(void *hll, int fd, struct sketch_error *error)
{
	return sketch_hll_write(hll, fd, error);
}

bool distinct_join(struct sketch_hll *whole, const char *first, const struct sketch_hll *part,
		   const char *name)
{
	struct sketch_error error;

	if (sketch_hll_union(whole, part, &error) == SKETCH_OK)
		return true;
	message("%s and %s: %s", message_input_name(first), message_input_name(name), error.text);
	return false;
}

char *distinct_text(char out[32], double distinct)
{
	/* From here on a number of 64 bits cannot say it. */
	if (distinct < 18e18)
		snprintf(out, 32, "%" PRIu64, (uint64_t)rint(distinct));
	else
		snprintf(out, 32, "inf");
	return out;
}

void distinct_print_state(const struct sketch_hll *hll)
{
	struct sketch_hll_state state;
	char number[32], low[32], high[32];

	sketch_hll_state(hll, &state);
	distinct_text(number, state.distinct);
	if (state.exact)
		message("%s distinct keys, exact", number);
	else
		message("about %s distinct keys, standard error %.3g %%, with confidence 0.95 from "
			"%s to %s",
			number, 100 * state.error, distinct_text(low, floor(state.low)),
			distinct_text(high, ceil(state.high)));
}
