/* Two files, joined: refused with a reason and the first as it was, or a union that knows
 * what both knew.
 *
 * An input is the length of the first file, 4 bytes, least first, and both files; the
 * length counts modulo what is there.  Checksums are made right. */
#include <stdlib.h>
#include <string.h>

#include "endian.h"
#include "kinds.h"

#define MOST 12000

const unsigned long fuzz_short = 12000;

/* Keeps the file before, to pair each with itself and the next. */
struct pairing {
	fuzz_sink *sink;
	void *context;
	uint8_t before[MOST];
	size_t before_size;
};

static void hand_pair(struct pairing *pairing, const void *a, size_t a_size, const void *b,
		      size_t b_size)
{
	uint8_t both[4 + 2 * MOST];

	store_u32(both, (uint32_t)a_size);
	memcpy(both + 4, a, a_size);
	memcpy(both + 4 + a_size, b, b_size);
	pairing->sink(pairing->context, both, 4 + a_size + b_size);
}

static void pair(void *context, const void *data, size_t size)
{
	struct pairing *pairing = context;

	hand_pair(pairing, data, size, data, size);
	hand_pair(pairing, pairing->before, pairing->before_size, data, size);
	memcpy(pairing->before, data, size);
	pairing->before_size = size;
}

void fuzz_seeds(fuzz_sink *sink, void *context)
{
	static struct pairing pairing;

	pairing.sink = sink;
	pairing.context = context;
	for (size_t i = 0; i < kinds_count; i++)
		kinds_golden(&kinds[i], MOST, pair, &pairing);
}

static struct loaded load_sealed(const uint8_t *data, size_t size)
{
	uint8_t *sealed = malloc(size + 1);
	struct loaded loaded;

	memcpy(sealed, data, size);
	kinds_seal(sealed, size);
	loaded = kinds_load(sealed, size, SKETCH_WRITABLE, false);
	free(sealed);
	return loaded;
}

static void join(struct loaded *into, struct loaded *from, struct loaded *first)
{
	size_t before_size, after_size;
	uint8_t *before = kinds_save(into, &before_size), *after;
	struct sketch_error error;

	if (into->kind->unite(into->sketch, from->sketch, &error) == SKETCH_OK) {
		into->kind->compare(into->sketch, first->sketch);
		into->kind->compare(into->sketch, from->sketch);
		after = kinds_save(into, &after_size);
		*first = (kinds_release(first), load_sealed(after, after_size));
		fuzz_require(first->sketch != NULL, "the union is refused: %s", first->error.text);
	} else {
		fuzz_require(error.text[0] != '\0' && strchr(error.text, '\n') == NULL,
			     "'%s' is no line", error.text);
		after = kinds_save(into, &after_size);
		fuzz_require(before_size == after_size && memcmp(before, after, after_size) == 0,
			     "refused, and not as before: %s", error.text);
	}
	free(before);
	free(after);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t split = size < 4 ? 0 : load_u32(data) % (size - 3);
	struct loaded a, b, copy;

	if (size < 4)
		return 0;
	data += 4;
	size -= 4;
	a = load_sealed(data, split);
	b = load_sealed(data + split, size - split);
	if (a.sketch != NULL && b.sketch != NULL && a.kind == b.kind) {
		copy = load_sealed(data, split);
		join(&a, &b, &copy);
		kinds_release(&copy);
	}
	kinds_release(&a);
	kinds_release(&b);
	return 0;
}
