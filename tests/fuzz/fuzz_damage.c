/* Damage to a small file of every kind: each cut, each flipped bit, several bytes
 * replaced, bytes behind the end.  All of it is noticed where everything is verified; where
 * it is not, what was not read may be damaged, and then the answers are those of before.
 *
 * An input is the number of a file, a way to damage it, and what that needs. */
#include <stdlib.h>
#include <string.h>

#include "kinds.h"

#define MOST_FILES 32
#define MOST_SIZE 4000

const unsigned long fuzz_short = 8000;

/* The damaged files: of each kind the smallest golden ones, and what they answer. */
static struct file {
	uint8_t *data;
	size_t size;
} files[MOST_FILES];
static size_t file_count;

static void keep_smallest(void *context, const void *data, size_t size)
{
	size_t *first = context, at = file_count;

	/* Sorted by size from *first on; at most four of a kind. */
	while (at > *first && files[at - 1].size > size)
		at--;
	if (at - *first >= 4)
		return;
	fuzz_require(file_count < MOST_FILES, "room for %d files is too little", MOST_FILES);
	if (file_count - *first == 4)
		free(files[--file_count].data);
	memmove(&files[at + 1], &files[at], (file_count - at) * sizeof *files);
	files[at].data = malloc(size + 1);
	memcpy(files[at].data, data, size);
	files[at].size = size;
	file_count++;
}

static void find_files(void)
{
	if (file_count > 0)
		return;
	for (size_t i = 0; i < kinds_count; i++) {
		size_t first = file_count;

		kinds_golden(&kinds[i], MOST_SIZE, keep_smallest, &first);
	}
	fuzz_require(file_count == 4 * kinds_count,
		     "not four golden files of each kind: where is TOP?");
}

enum way { CUT, FLIP, LENGTHEN, REPLACE };

/* The file, damaged; its new size, or the old one and nothing changed. */
static size_t damage(const struct file *file, struct fuzz_bytes *bytes, uint8_t *data)
{
	uint8_t way = fuzz_byte(bytes);
	size_t size = file->size, at, more;

	memcpy(data, file->data, size);
	switch (way % 8) {
	case CUT:
		return fuzz_u32(bytes) % size;
	case FLIP:
		at = fuzz_u32(bytes) % (8 * size);
		data[at / 8] ^= (uint8_t)(1u << at % 8);
		return size;
	case LENGTHEN:
		more = fuzz_below(bytes, MOST_SIZE) + 1;
		for (at = 0; at < more; at++)
			data[size + at] = fuzz_byte(bytes);
		return size + more;
	default:
		for (int i = 0; i < 16 && bytes->at < bytes->end; i++) {
			at = fuzz_u32(bytes) % size;
			data[at] = fuzz_byte(bytes);
		}
		return size;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = { data, data + size };
	uint8_t damaged[2 * MOST_SIZE];
	const struct file *file;
	struct loaded loaded;
	size_t length;
	bool same;

	find_files();
	file = &files[fuzz_byte(&bytes) % file_count];
	length = damage(file, &bytes, damaged);
	same = length == file->size && memcmp(damaged, file->data, length) == 0;
	for (int way = 0; way < 3; way++) {
		loaded = kinds_load(damaged, length, way == 0 ? SKETCH_WRITABLE : SKETCH_VERIFIED,
				    way == 2);
		fuzz_require((loaded.sketch != NULL) == same, "%s",
			     same ? loaded.error.text : "the damage was not noticed");
		kinds_release(&loaded);
	}
	loaded = kinds_load(damaged, length, SKETCH_READ, false);
	if (loaded.sketch != NULL) {
		struct sketch_error error;

		(void)loaded.kind->ask(loaded.sketch, &error);
		fuzz_require((loaded.kind->verify(loaded.sketch, &error) == SKETCH_OK) == same,
			     "%s", same ? error.text : "the damage was not noticed at last");
	}
	kinds_release(&loaded);
	return 0;
}

static void hand_place(uint8_t number, enum way way, size_t place, fuzz_sink *sink, void *context)
{
	uint8_t input[6] = { number,
			     (uint8_t)way,
			     (uint8_t)(place >> 24),
			     (uint8_t)(place >> 16),
			     (uint8_t)(place >> 8),
			     (uint8_t)place };

	sink(context, input, sizeof input);
}

/* Every cut and every bit of the smallest file of each kind, and of each fourth place in
 * the others. */
void fuzz_seeds(fuzz_sink *sink, void *context)
{
	uint64_t dice = 3;

	find_files();
	for (size_t i = 0; i < file_count; i++) {
		size_t step = i % 4 == 0 ? 1 : 13;
		uint8_t input[100] = { (uint8_t)i, REPLACE };

		for (size_t at = 0; at < files[i].size; at += step)
			hand_place((uint8_t)i, CUT, at, sink, context);
		for (size_t at = 0; at < 8 * files[i].size; at += step)
			hand_place((uint8_t)i, FLIP, at, sink, context);
		hand_place((uint8_t)i, LENGTHEN, 0, sink, context);
		for (size_t at = 2; at < sizeof input; at++)
			input[at] = (uint8_t)fuzz_dice(&dice);
		for (size_t length = 2; length < sizeof input; length += 5)
			sink(context, input, length);
	}
}
