/* example.c - says of each word whether it came before, in any run
 *
 *     cc -o example example.c $(pkg-config --cflags --libs libsketch)
 *     ./example seen.bloom alice bob */
#include <sketch.h>
#include <stdio.h>
#include <string.h>

#define MEMORY 100000000 /* bytes that a filter may take */

static int fail(const char *file, const struct sketch_error *error)
{
	fprintf(stderr, "example: %s: %s\n", file,
		error->status == SKETCH_IO ? strerror(error->errnum) : error->text);
	return 2;
}

/* The filter in the claimed file; a new one where there is none yet. */
static enum sketch_status load(struct sketch_bloom **filter, const struct sketch_claim *claim,
			       struct sketch_error *error)
{
	struct sketch_request request = { .layout = SKETCH_BLOCKED, .n = 1000000, .p = 1e-6 };
	struct sketch_identity identity = { .family = SKETCH_FAMILY_MURMUR3 };
	struct sketch_params params;
	enum sketch_status status;

	if (!sketch_claim_is_empty(claim))
		return sketch_bloom_read(filter, sketch_claim_fd(claim), SKETCH_WRITABLE, MEMORY,
					 NULL, error);
	status = sketch_plan(&request, &params, error);
	if (status != SKETCH_OK)
		return status;
	return sketch_bloom_new(filter, &identity, &params, 1, MEMORY, error);
}

static enum sketch_status ask(struct sketch_bloom *filter, char **words, size_t count,
			      struct sketch_error *error)
{
	uint32_t seed = sketch_bloom_identity(filter)->seed;

	for (size_t i = 0; i < count; i++) {
		struct sketch_hash hash = sketch_murmur3_x64_128(words[i], strlen(words[i]), seed);
		uint64_t found;
		enum sketch_status status = sketch_bloom_insert(filter, &hash, 1, &found, error);

		if (status != SKETCH_OK)
			return status;
		printf("%s\t%s\n", found ? "seen" : "new", words[i]);
	}
	sketch_bloom_set_records(filter, sketch_bloom_records(filter) + count);
	return SKETCH_OK;
}

/* The old file or the new one: whatever happens, never half of one. */
static enum sketch_status save(struct sketch_bloom *filter, struct sketch_claim *claim,
			       struct sketch_error *error)
{
	struct sketch_save *new_file;
	enum sketch_status status;
	int fd;

	status = sketch_claim_begin(claim, &new_file, &fd, error);
	if (status != SKETCH_OK)
		return status;
	status = sketch_bloom_write(filter, fd, error);
	if (status == SKETCH_OK)
		return sketch_claim_commit(claim, new_file, error);
	sketch_save_abort(new_file);
	return status;
}

int main(int argc, char **argv)
{
	struct sketch_claim *claim = NULL;
	struct sketch_bloom *filter = NULL;
	struct sketch_error error;
	enum sketch_status status;

	if (argc < 2) {
		fputs("usage: example FILE [WORD]...\n", stderr);
		return 2;
	}
	status = sketch_claim(&claim, argv[1], true, &error);
	if (status == SKETCH_OK)
		status = load(&filter, claim, &error);
	if (status == SKETCH_OK)
		status = ask(filter, argv + 2, (size_t)argc - 2, &error);
	if (status == SKETCH_OK)
		status = save(filter, claim, &error);
	sketch_bloom_free(filter);
	sketch_claim_release(claim);
	return status == SKETCH_OK ? 0 : fail(argv[1], &error);
}
