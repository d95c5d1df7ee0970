#include "counts_support.h"

#include <math.h>
#include <unistd.h>

struct bytes counts_written(const struct sketch_counts *counts)
{
	struct sketch_error error;
	int fd = bytes_begin();

	assert_status(SKETCH_OK, sketch_counts_write(counts, fd, &error), &error);
	return bytes_end(fd);
}

enum sketch_status counts_reread(const struct bytes *bytes, uint64_t budget,
				 struct sketch_counts **counts, struct sketch_error *error)
{
	int fd = bytes_to_fd(bytes);
	struct sketch_file *file = NULL;
	enum sketch_status status =
		sketch_file_read(&file, fd, SKETCH_WRITABLE, budget, NULL, error);

	*counts = NULL;
	if (status == SKETCH_OK)
		status = sketch_counts_of_file(counts, file, error);
	close(fd);
	return status;
}

size_t draw_key(struct dice *dice, size_t count)
{
	double share = (double)(dice_next(dice) >> 11) * 0x1p-53;
	size_t key = (size_t)pow((double)count, share) - 1;

	return key < count ? key : count - 1;
}

uint64_t draw_weight(struct dice *dice, unsigned int kind)
{
	switch (kind) {
	case 0:
		return 1;
	case 1:
		return dice_below(dice, 4);
	case 2:
		return dice_below(dice, 16) > 0 ? dice_below(dice, 1000) :
						  dice_below(dice, UINT64_C(1) << 33);
	default:
		return dice_between(dice, (UINT64_C(1) << 32) - 3, (UINT64_C(1) << 32) + 3);
	}
}

size_t effort(size_t usual)
{
	return run_slow() ? usual / 8 : run_long() ? 20 * usual : usual;
}
