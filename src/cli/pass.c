#include "pass.h"

void pass_present(const struct records_batch *batch, uint64_t present[PASS_WORDS])
{
	for (size_t w = 0; w < PASS_WORDS; w++) {
		size_t first = 64 * w;

		if (batch->count >= first + 64)
			present[w] = ~UINT64_C(0);
		else if (batch->count > first)
			present[w] = (UINT64_C(1) << (batch->count - first)) - 1;
		else
			present[w] = 0;
	}
}

bool pass_range(struct output *out, const struct records_batch *batch, size_t first, size_t last,
		uint8_t terminator)
{
	size_t length = (size_t)(batch->starts[last] - batch->starts[first]);
	bool good = output_write(out, batch->starts[first], length);

	if (good && batch->unterminated && last == batch->count)
		good = output_write(out, &terminator, 1);
	return good;
}

/* Neighbours go out in one piece: whole batches where all pass. */
bool pass_selected(struct output *out, const struct records_batch *batch,
		   const uint64_t selected[PASS_WORDS], uint8_t terminator)
{
	size_t first = 0, pending = 0; /* records first..pending-1 are to go out */

	for (size_t w = 0; w < PASS_WORDS; w++) {
		uint64_t left = selected[w];

		while (left != 0) {
			unsigned int from = (unsigned int)__builtin_ctzll(left);
			uint64_t gap = ~(left >> from);
			unsigned int length = gap == 0 ? 64 : (unsigned int)__builtin_ctzll(gap);

			if (64 * w + from != pending) {
				if (pending > first &&
				    !pass_range(out, batch, first, pending, terminator))
					return false;
				first = 64 * w + from;
			}
			pending = 64 * w + from + length;
			left = from + length >= 64 ? 0 : left & (~UINT64_C(0) << (from + length));
		}
	}
	return pending == first || pass_range(out, batch, first, pending, terminator);
}
