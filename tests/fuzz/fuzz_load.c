/* Any bytes as a sketch file, of every kind.
 *
 * As they are, and with every checksum made right, as by somebody who means it: mapped,
 * verified, read into memory, through a pipe.  All of these agree; what is accepted can be
 * asked, changed and saved, and what was saved is accepted and saved alike. */
#include <stdlib.h>
#include <string.h>

#include "endian.h"
#include "kinds.h"

const unsigned long fuzz_short = 12000;

void fuzz_seeds(fuzz_sink *sink, void *context)
{
	kinds_seeds(100000, sink, context);
}

/* Whether the file holds nothing that a reader may leave out. */
static bool is_plain(const uint8_t *data, size_t size)
{
	size_t sections = load_u32(data + 32);

	for (size_t i = 0; i < sections; i++) {
		if (load_u32(data + 128 + 32 * i) >= 0x80000000u)
			return false;
	}
	return size >= 128 && load_u32(data + 20) == 0;
}

static void check_saved(struct loaded *loaded, const uint8_t *data, size_t size)
{
	size_t saved_size, again_size;
	uint8_t *saved = kinds_save(loaded, &saved_size), *again;
	struct loaded other = kinds_load(saved, saved_size, SKETCH_WRITABLE, false);

	fuzz_require(other.sketch != NULL, "what was saved is refused: %s", other.error.text);
	again = kinds_save(&other, &again_size);
	fuzz_require(again_size == saved_size && memcmp(saved, again, saved_size) == 0,
		     "saved twice it is two files, of %zu and %zu bytes", saved_size, again_size);
	if (data != NULL && is_plain(data, size))
		fuzz_require(saved_size == size && memcmp(saved, data, size) == 0,
			     "a file of %zu bytes was saved as another of %zu", size, saved_size);
	kinds_release(&other);
	free(saved);
	free(again);
}

/* Asks a filter that is verified as it goes. */
static void check_lazy(const uint8_t *data, size_t size, const struct loaded *sound)
{
	struct loaded lazy = kinds_load(data, size, SKETCH_READ, false);
	struct sketch_error error;
	enum sketch_status status;

	if (lazy.sketch == NULL) {
		fuzz_require(sound->sketch == NULL, "refused only when mapped: %s",
			     lazy.error.text);
		return;
	}
	status = lazy.kind->ask(lazy.sketch, &error);
	if (status == SKETCH_OK)
		status = lazy.kind->verify(lazy.sketch, &error);
	fuzz_require((status == SKETCH_OK) == (sound->sketch != NULL), "mapped it is %d, read '%s'",
		     (int)status, sound->error.text);
	kinds_release(&lazy);
}

static void load_all_ways(const uint8_t *data, size_t size)
{
	struct loaded sound = kinds_load(data, size, SKETCH_WRITABLE, false);
	struct loaded verified = kinds_load(data, size, SKETCH_VERIFIED, false);
	/* What does not come through a pipe is mapped, and would be verified later. */
	struct loaded piped = kinds_load(data, size, SKETCH_VERIFIED, true);
	struct sketch_error error;

	fuzz_require((verified.sketch != NULL) == (sound.sketch != NULL), "'%s', but '%s'",
		     verified.error.text, sound.error.text);
	fuzz_require((piped.sketch != NULL) == (sound.sketch != NULL), "'%s', but '%s'",
		     piped.error.text, sound.error.text);
	check_lazy(data, size, &sound);
	if (sound.sketch != NULL) {
		fuzz_require(verified.kind->ask(verified.sketch, &error) == SKETCH_OK, "%s",
			     error.text);
		fuzz_require(piped.kind->ask(piped.sketch, &error) == SKETCH_OK, "%s", error.text);
		check_saved(&sound, data, size);
		sound.kind->change(sound.sketch);
		check_saved(&sound, NULL, 0);
	}
	kinds_release(&sound);
	kinds_release(&verified);
	kinds_release(&piped);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *sealed = malloc(size + 1);

	load_all_ways(data, size);
	memcpy(sealed, data, size);
	kinds_seal(sealed, size);
	if (memcmp(sealed, data, size) != 0)
		load_all_ways(sealed, size);
	free(sealed);
	return 0;
}
