/* Filters in files: written and read again, made by another program, damaged,
 * truncated, lengthened, hostile, and mapped with damage nobody looks at. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format.h"
#include "support.h"

#define CHUNK_BITS (8 * (uint64_t)FORMAT_CHUNK_BYTES)

/* ------------------------------------------------------------------- sources */

enum source {
	SOURCE_FILE,
	SOURCE_PIPE,
	SOURCE_CRUMBS /* a pipe that gives one byte a read */
};

static const enum sketch_access accesses[] = { SKETCH_READ, SKETCH_VERIFIED, SKETCH_WRITABLE };

struct feed {
	const struct bytes *bytes;
	int to, from;
	size_t piece;
};

static int feed_pipe(void *context)
{
	const struct feed *feed = context;
	size_t done = 0;

	close(feed->from);
	while (done < feed->bytes->length) {
		size_t left = feed->bytes->length - done;
		ssize_t put = write(feed->to, feed->bytes->data + done,
				    left < feed->piece ? left : feed->piece);

		if (put < 0)
			return 1;
		done += (size_t)put;
	}
	return 0;
}

/* A descriptor from which the bytes can be read; where *writer is not 0, a child
 * writes them. */
static int open_source(const struct bytes *bytes, enum source source, pid_t *writer)
{
	struct feed feed = { bytes, -1, -1, source == SOURCE_CRUMBS ? 1 : SIZE_MAX };
	int ends[2];

	*writer = 0;
	if (source == SOURCE_FILE)
		return bytes_to_fd(bytes);
	/* O_DIRECT: a read never gives more than one write put in. */
	assert_int_equal(pipe2(ends, O_CLOEXEC | (source == SOURCE_CRUMBS ? O_DIRECT : 0)), 0);
	feed.from = ends[0];
	feed.to = ends[1];
	/* What a pipe holds needs nobody to write it meanwhile. */
	if (source == SOURCE_PIPE && bytes->length <= 32768)
		assert_int_equal(write(ends[1], bytes->data, bytes->length), bytes->length);
	else
		*writer = child_start(feed_pipe, &feed);
	close(ends[1]);
	return ends[0];
}

static void close_source(int fd, pid_t writer)
{
	close(fd);
	if (writer)
		child_end(writer);
}

/* Reads a file and expects a status: no filter comes of a refusal. */
static void check_read(const struct bytes *bytes, enum source source, enum sketch_access access,
		       enum sketch_status expected)
{
	struct sketch_bloom *const before = (struct sketch_bloom *)&before;
	struct sketch_bloom *filter = before;
	struct sketch_error error = { 0 };
	pid_t writer;
	int fd = open_source(bytes, source, &writer);
	enum sketch_status status =
		sketch_bloom_read(&filter, fd, access, UINT64_MAX, NULL, &error);

	assert_true(fcntl(fd, F_GETFD) >= 0);
	close_source(fd, writer);
	assert_status(expected, status, &error);
	if (status == SKETCH_OK) {
		sketch_bloom_free(filter);
		return;
	}
	assert_error(expected, &error);
	assert_ptr_equal(filter, before);
}

/* ------------------------------------------------------------------- filters */

static void add_words(struct sketch_bloom *filter, unsigned int first, unsigned int count)
{
	uint32_t seed = sketch_bloom_identity(filter)->seed;

	for (unsigned int i = first; i < first + count; i++) {
		char word[32];

		snprintf(word, sizeof word, "word %u", i);
		filter_add(filter, hash_text(word, seed));
	}
}

/* The file of a filter that holds "word 0", "word 1", ... */
static struct bytes file_of(const struct sketch_params *params, unsigned int words)
{
	struct sketch_bloom *filter = filter_make(params);
	struct bytes file;

	add_words(filter, 0, words);
	sketch_bloom_set_records(filter, words);
	file = filter_bytes(filter);
	sketch_bloom_free(filter);
	return file;
}

static struct bytes small_file(void)
{
	struct sketch_params params = params_classic(640, 5);

	return file_of(&params, 50);
}

/* Three layers and a long seed. */
static struct bytes layered_file(void)
{
	const struct sketch_identity identity = { SKETCH_FAMILY_MURMUR3, SKETCH_FOLD_ASCII,
						  0xfedcba98, SKETCH_LADDER, 0 };
	const struct sketch_params layers[] = { params_classic(192, 3), params_blocked(3, 1, 8),
						params_blocked(1, 2, 10) };
	struct sketch_bloom *filter = NULL;
	struct bytes file;

	assert_status(SKETCH_OK,
		      sketch_bloom_new(&filter, &identity, layers, COUNT_OF(layers), UINT64_MAX,
				       NULL),
		      NULL);
	add_words(filter, 0, 20);
	sketch_bloom_set_records(filter, UINT64_C(0x123456789abcdef));
	file = filter_bytes(filter);
	sketch_bloom_free(filter);
	return file;
}

/* Eight whole chunks and a short one; each key lies in one of them. */
static struct sketch_params chunked_params(void)
{
	return params_blocked(8 * CHUNK_BITS / 512 + 3, 1, 8);
}

/* ------------------------------------------------------------ there and back */

static void assert_same_filter(struct sketch_bloom *filter, const struct bytes *file)
{
	struct bytes again = filter_bytes(filter);

	assert_true(bytes_equal(&again, file));
	bytes_free(&again);
}

static void check_there_and_back(const struct bytes *file, bool crumbs)
{
	for (size_t a = 0; a < COUNT_OF(accesses); a++) {
		for (int s = SOURCE_FILE; s <= (crumbs ? SOURCE_CRUMBS : SOURCE_PIPE); s++) {
			struct sketch_bloom *filter = NULL;
			struct sketch_error error;
			struct sketch_file_info info = { 0, 0, 0 };
			pid_t writer;
			int fd = open_source(file, (enum source)s, &writer);

			assert_status(SKETCH_OK,
				      sketch_bloom_read(&filter, fd, accesses[a], UINT64_MAX, &info,
							&error),
				      &error);
			close_source(fd, writer);
			assert_int_equal(info.version, 1);
			assert_int_equal(info.kind, SKETCH_KIND_BLOOM);
			assert_int_equal(info.length, file->length);
			assert_same_filter(filter, file);
			assert_status(SKETCH_OK, sketch_bloom_verify(filter, &error), &error);
			sketch_bloom_free(filter);
		}
	}
}

static void read__each_source_and_access__gives_the_filter_written(void **state)
{
	struct dice dice = { 1 };
	struct sketch_params large[] = { params_classic(9 * CHUNK_BITS + 64, 3), chunked_params() };
	struct bytes file = small_file();

	(void)state;
	check_there_and_back(&file, true);
	bytes_free(&file);
	file = layered_file();
	check_there_and_back(&file, true);
	bytes_free(&file);
	for (int i = 0; i < 30; i++) {
		struct sketch_params params = params_random(&dice);

		params.n = dice_between(&dice, 1, UINT64_C(1) << 60);
		params.p = 1 / (double)dice_between(&dice, 2, 1000000000);
		file = file_of(&params, 10);
		check_there_and_back(&file, i == 0);
		bytes_free(&file);
	}
	for (size_t i = 0; i < COUNT_OF(large); i++) {
		file = file_of(&large[i], 1000);
		check_there_and_back(&file, false);
		bytes_free(&file);
	}
}

/* Where no rate was asked for, p is the bound, and that may be 1. */
static void read__overfull_plan__gives_the_filter_written(void **state)
{
	const struct sketch_request request = { SKETCH_CLASSIC, 1000000, 0, 64, 1, 0 };
	struct sketch_params params;
	struct bytes file;

	(void)state;
	assert_status(SKETCH_OK, sketch_plan(&request, &params, NULL), NULL);
	assert_true(params.p == 1);
	file = file_of(&params, 10);
	check_there_and_back(&file, false);
	bytes_free(&file);
}

static void read__file__tells_what_was_written(void **state)
{
	struct bytes file = layered_file();
	struct sketch_bloom *filter = filter_from_bytes(&file, SKETCH_READ);
	const struct sketch_identity *identity = sketch_bloom_identity(filter);

	(void)state;
	assert_true(identity->family == SKETCH_FAMILY_MURMUR3);
	assert_true(identity->transforms == SKETCH_FOLD_ASCII);
	assert_true(identity->seed == 0xfedcba98);
	assert_true(identity->arrangement == SKETCH_LADDER);
	assert_int_equal(sketch_bloom_layers(filter), 3);
	assert_true(sketch_bloom_records(filter) == UINT64_C(0x123456789abcdef));
	assert_int_equal(sketch_bloom_params(filter, 0)->layout, SKETCH_CLASSIC);
	assert_int_equal(sketch_bloom_params(filter, 0)->m, 192);
	assert_int_equal(sketch_bloom_params(filter, 1)->k, 8);
	assert_int_equal(sketch_bloom_params(filter, 2)->g, 2);
	assert_int_equal(sketch_bloom_params(filter, 2)->n, 100);
	assert_true(sketch_bloom_params(filter, 2)->p == 0.01);
	assert_true(filter_has(filter, hash_text("word 0", 0xfedcba98)));
	assert_true(filter_has(filter, hash_text("word 19", 0xfedcba98)));
	bytes_free(&file);
	sketch_bloom_free(filter);
}

/* The places that a program in another language relies on. */
static void write__small_filter__puts_each_field_at_its_place(void **state)
{
	struct bytes file = small_file();
	const uint8_t *at = file.data;
	struct section layer = section_find(&file, FORMAT_LAYER, 0);
	struct section sums = section_find(&file, FORMAT_SUMS, 0);
	struct section bits = section_find(&file, FORMAT_BITS, 0);

	(void)state;
	assert_int_equal(file.length, 384 + 80);
	assert_memory_equal(at, "\x89SKE\r\n\x1a\n", 8);
	assert_int_equal(get32(at + 8), 1);
	assert_int_equal(get32(at + 12), 1);
	assert_int_equal(get64(at + 16), 0);
	assert_int_equal(get64(at + 24), file.length);
	assert_int_equal(get32(at + 32), 3);
	assert_int_equal(get32(at + 36), 1);
	assert_int_equal(get64(at + 40), 0);
	assert_int_equal(get64(at + 48), 0);
	assert_true(get64(at + 56) == sketch_murmur3_x64_128(at + 40, 16, 0).h1);
	assert_int_equal(get64(at + 64), 0);
	assert_int_equal(get64(at + 72), 50);
	assert_int_equal(get32(at + 120), reference_crc32c(0, at + 128, 96));
	assert_int_equal(get32(at + 124), reference_crc32c(0, at, 124));
	assert_true(layer.offset == 256 && layer.length == 64 && layer.entry == 128);
	assert_true(sums.offset == 320 && sums.length == 4 && sums.entry == 160);
	assert_true(bits.offset == 384 && bits.length == 80 && bits.entry == 192);
	assert_int_equal(get32(at + 320), reference_crc32c(0, at + 384, 80));
	assert_int_equal(get32(at + 256), SKETCH_CLASSIC);
	assert_int_equal(get32(at + 260), 5);
	assert_int_equal(get64(at + 264), 0);
	assert_int_equal(get64(at + 272), 640);
	assert_int_equal(get64(at + 280), 100);
	assert_true(get64(at + 288) == UINT64_C(0x3f847ae147ae147b)); /* 0.01 */
	assert_int_equal(get64(at + 296), 0);
	assert_int_equal(get64(at + 304), 0);
	bytes_free(&file);
}

static void write__descriptor_not_at_its_start__goes_on_from_there(void **state)
{
	struct bytes expected = layered_file(), got;
	struct sketch_bloom *filter = filter_from_bytes(&expected, SKETCH_READ);
	const struct bytes before = { (uint8_t[]){ 'o', 'l', 'd' }, 3 };
	int fd = bytes_to_fd(&before);

	(void)state;
	assert_int_equal(lseek(fd, 1, SEEK_SET), 1);
	assert_status(SKETCH_OK, sketch_bloom_write(filter, fd, NULL), NULL);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 1 + (off_t)expected.length);
	assert_int_equal(lseek(fd, 1, SEEK_SET), 1);
	got = bytes_from_fd(fd);
	assert_true(bytes_equal(&got, &expected));
	close(fd);
	bytes_free(&got);
	bytes_free(&expected);
	sketch_bloom_free(filter);
}

struct output {
	struct sketch_bloom *filter;
	int to, from;
};

static int write_pipe(void *context)
{
	const struct output *output = context;

	close(output->from);
	return sketch_bloom_write(output->filter, output->to, NULL) != SKETCH_OK;
}

/* More than a pipe holds, so that writes come back having done a part. */
static void write__pipe__carries_the_same_bytes(void **state)
{
	struct sketch_params params = chunked_params();
	struct bytes expected = file_of(&params, 100), got;
	struct output output = { filter_from_bytes(&expected, SKETCH_READ), -1, -1 };
	int ends[2];
	pid_t writer;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	output.from = ends[0];
	output.to = ends[1];
	writer = child_start(write_pipe, &output);
	close(ends[1]);
	got = bytes_from_fd(ends[0]);
	close(ends[0]);
	assert_int_equal(child_end(writer), 0);
	assert_true(bytes_equal(&got, &expected));
	bytes_free(&got);
	bytes_free(&expected);
	sketch_bloom_free(output.filter);
}

static void check_write_fails(int fd, int errnum)
{
	struct bytes file = layered_file();
	struct sketch_bloom *filter = filter_from_bytes(&file, SKETCH_WRITABLE);
	struct sketch_error error;

	assert_status(SKETCH_IO, sketch_bloom_write(filter, fd, &error), &error);
	assert_error(SKETCH_IO, &error);
	assert_int_equal(error.errnum, errnum);
	assert_same_filter(filter, &file);
	bytes_free(&file);
	sketch_bloom_free(filter);
}

static void write__descriptor_that_fails__says_how(void **state)
{
	int ends[2];
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	int read_only = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	check_write_fails(ends[1], EPIPE);
	close(ends[1]);
	signal(SIGPIPE, SIG_DFL);
	check_write_fails(-1, EBADF);
	check_write_fails(read_only, EBADF);
	close(read_only);
	if (full >= 0) {
		check_write_fails(full, ENOSPC);
		close(full);
	}
}

static void check_read_fails(int fd, int errnum)
{
	for (size_t a = 0; a < COUNT_OF(accesses); a++) {
		struct sketch_bloom *filter = NULL;
		struct sketch_error error;

		assert_status(SKETCH_IO,
			      sketch_bloom_read(&filter, fd, accesses[a], UINT64_MAX, NULL, &error),
			      &error);
		assert_error(SKETCH_IO, &error);
		assert_int_equal(error.errnum, errnum);
		assert_null(filter);
	}
}

static void read__descriptor_that_fails__says_how(void **state)
{
	int folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int write_only = open("/dev/null", O_WRONLY | O_CLOEXEC);

	(void)state;
	check_read_fails(-1, EBADF);
	check_read_fails(folder, EISDIR);
	check_read_fails(write_only, EBADF);
	close(folder);
	close(write_only);
}

/* -------------------------------------------------------------------- golden */

/* The key in tests/golden/keyed.key. */
static const struct sketch_secret golden_secret = { { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
						      14, 15 } };

static const struct sketch_secret *secret_for(const struct sketch_identity *identity)
{
	return identity->family == SKETCH_FAMILY_SIPHASH ? &golden_secret : NULL;
}

/* Calls check(filter, key hash, expected) for each line of a list. */
static size_t check_list(struct sketch_bloom *filter, const char *path, bool expected)
{
	struct bytes list = bytes_from_file(path);
	const struct sketch_identity *identity = sketch_bloom_identity(filter);
	size_t lines = 0;

	assert_non_null(list.data);
	for (size_t start = 0; start < list.length; lines++) {
		const uint8_t *end = memchr(list.data + start, '\n', list.length - start);
		size_t length;

		assert_non_null(end);
		length = (size_t)(end - list.data) - start;
		for (size_t i = start;
		     identity->transforms & SKETCH_FOLD_ASCII && i < start + length; i++)
			if (list.data[i] >= 'A' && list.data[i] <= 'Z')
				list.data[i] = (uint8_t)(list.data[i] + 'a' - 'A');
		if (filter_has(filter, sketch_key_hash(list.data + start, length, identity->seed,
						       secret_for(identity))) != expected)
			fail_msg("%s: line %zu", path, lines + 1);
		start += length + 1;
	}
	bytes_free(&list);
	return lines;
}

static void check_golden(const char *folder, const char *name)
{
	char path[1024];
	struct bytes file;
	int stem = (int)(strlen(name) - strlen(".bloom"));

	snprintf(path, sizeof path, "%s/%s", folder, name);
	file = bytes_from_file(path);
	assert_non_null(file.data);
	for (size_t a = 0; a < COUNT_OF(accesses); a++) {
		struct sketch_bloom *filter = filter_from_bytes(&file, accesses[a]);

		snprintf(path, sizeof path, "%s/%.*s.keys", folder, stem, name);
		check_list(filter, path, true);
		snprintf(path, sizeof path, "%s/%.*s.false", folder, stem, name);
		check_list(filter, path, true);
		snprintf(path, sizeof path, "%s/%.*s.absent", folder, stem, name);
		check_list(filter, path, false);
		assert_same_filter(filter, &file);
		sketch_bloom_free(filter);
	}
	bytes_free(&file);
}

static void golden__every_file_of_another_writer__reads_and_saves_identically(void **state)
{
	char folder[512];
	struct dirent *entry;
	DIR *stream;
	size_t files = 0;

	(void)state;
	top_path(folder, "tests/golden");
	stream = opendir(folder);
	assert_non_null(stream);
	while ((entry = readdir(stream))) {
		const char *dot = strrchr(entry->d_name, '.');

		if (!dot || strcmp(dot, ".bloom") != 0)
			continue;
		print_message("%s\n", entry->d_name);
		check_golden(folder, entry->d_name);
		files++;
	}
	closedir(stream);
	assert_in_range(files, 10, 1000);
}

/* From keys alone to the very bytes of the other writer. */
static void golden__filter_made_of_its_keys__is_the_file(void **state)
{
	static const struct {
		const char *name;
		struct sketch_params params;
		uint32_t seed;
		bool keyed;
	} cases[] = {
		{ "classic", { SKETCH_CLASSIC, 7, 0, 1024, 100, 0.01 }, 0, false },
		{ "classic-k255", { SKETCH_CLASSIC, 255, 0, 64 * 101, 100, 0.05 }, 0, false },
		{ "blocked-g1-k8", { SKETCH_BLOCKED, 8, 1, 512 * 3, 200, 0.05 }, 0, false },
		{ "blocked-g3-k24", { SKETCH_BLOCKED, 24, 3, 1536 * 2, 200, 0.05 }, 0, false },
		{ "blocked-g2-k20", { SKETCH_BLOCKED, 20, 2, 1024 * 2, 200, 0.1 }, 0, false },
		{ "seeded", { SKETCH_CLASSIC, 7, 0, 1024, 100, 0.01 }, 0xdeadbeef, false },
		{ "bytes", { SKETCH_CLASSIC, 10, 0, 64 * 101, 400, 0.001 }, 0, false },
		{ "keyed", { SKETCH_CLASSIC, 10, 0, 64 * 101, 400, 0.001 }, 0, true },
		{ "two-chunks", { SKETCH_CLASSIC, 7, 0, 8 * 98304, 80000, 0.01 }, 1, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct sketch_identity identity = IDENTITY;
		struct sketch_bloom *filter = NULL;
		char name[128], path[512];
		struct bytes keys, expected;

		identity.seed = cases[i].seed;
		if (cases[i].keyed) {
			identity.family = SKETCH_FAMILY_SIPHASH;
			identity.key_fingerprint = sketch_secret_fingerprint(&golden_secret);
		}
		assert_status(SKETCH_OK,
			      sketch_bloom_new(&filter, &identity, &cases[i].params, 1, UINT64_MAX,
					       NULL),
			      NULL);
		snprintf(name, sizeof name, "tests/golden/%s.keys", cases[i].name);
		top_path(path, name);
		keys = bytes_from_file(path);
		for (size_t start = 0, length; start < keys.length; start += length + 1) {
			const uint8_t *end = memchr(keys.data + start, '\n', keys.length - start);

			assert_non_null(end);
			length = (size_t)(end - keys.data) - start;
			filter_add(filter, sketch_key_hash(keys.data + start, length, identity.seed,
							   secret_for(&identity)));
			sketch_bloom_set_records(filter, sketch_bloom_records(filter) + 1);
		}
		snprintf(name, sizeof name, "tests/golden/%s.bloom", cases[i].name);
		top_path(path, name);
		expected = bytes_from_file(path);
		assert_non_null(expected.data);
		assert_same_filter(filter, &expected);
		bytes_free(&keys);
		bytes_free(&expected);
		sketch_bloom_free(filter);
	}
}

/* ----------------------------------------------------------- not as it should */

static void check_truncated(const struct bytes *whole, size_t step)
{
	for (size_t length = 0; length < whole->length; length += step) {
		struct bytes part = { whole->data, length };
		struct bytes copy = bytes_copy(&part);

		/* Less than the magic may as well be anything else. */
		if (length >= 8) {
			for (size_t a = 0; a < COUNT_OF(accesses); a++)
				check_read(&copy, SOURCE_FILE, accesses[a], SKETCH_TRUNCATED);
			if (length % 7 == 1)
				check_read(&copy, SOURCE_PIPE, SKETCH_READ, SKETCH_TRUNCATED);
		}
		bytes_free(&copy);
	}
}

static void read__truncated_at_any_length__is_refused(void **state)
{
	struct sketch_params params = chunked_params();
	struct bytes file = small_file();

	(void)state;
	check_truncated(&file, 1);
	bytes_free(&file);
	file = layered_file();
	check_truncated(&file, 1);
	bytes_free(&file);
	file = file_of(&params, 10);
	check_truncated(&file, 37123);
	bytes_free(&file);
}

static void read__less_than_a_magic__is_refused(void **state)
{
	struct bytes file = small_file();

	(void)state;
	for (size_t length = 0; length < 8; length++) {
		for (int s = SOURCE_FILE; s <= SOURCE_PIPE; s++) {
			struct bytes part = { file.data, length };
			struct sketch_bloom *filter = NULL;
			struct sketch_error error;
			pid_t writer;
			int fd = open_source(&part, (enum source)s, &writer);
			enum sketch_status status = sketch_bloom_read(&filter, fd, SKETCH_READ,
								      UINT64_MAX, NULL, &error);

			close_source(fd, writer);
			assert_true(status == SKETCH_FOREIGN || status == SKETCH_TRUNCATED);
			assert_error(status, &error);
			assert_null(filter);
		}
	}
	bytes_free(&file);
}

static void read__lengthened__is_refused(void **state)
{
	static const size_t more[] = { 1, 2, 63, 64, 4096, 65536 };
	struct bytes files[] = { small_file(), layered_file() };

	(void)state;
	for (size_t f = 0; f < COUNT_OF(files); f++) {
		for (size_t i = 0; i < COUNT_OF(more); i++) {
			struct bytes longer = { calloc(files[f].length + more[i], 1),
						files[f].length + more[i] };

			assert_non_null(longer.data);
			memcpy(longer.data, files[f].data, files[f].length);
			for (size_t a = 0; a < COUNT_OF(accesses); a++) {
				check_read(&longer, SOURCE_FILE, accesses[a], SKETCH_LENGTHENED);
				check_read(&longer, SOURCE_PIPE, accesses[a], SKETCH_LENGTHENED);
			}
			bytes_free(&longer);
		}
		bytes_free(&files[f]);
	}
}

static enum sketch_status status_of_flip(size_t byte)
{
	if (byte < 8)
		return SKETCH_FOREIGN;
	/* A version to come may have another header and another checksum. */
	if (byte < 12)
		return SKETCH_UNSUPPORTED;
	return SKETCH_DAMAGED;
}

static void check_refused(int fd, enum sketch_access access, enum sketch_status expected)
{
	struct sketch_bloom *filter = NULL;
	struct sketch_error error = { 0 };

	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_status(expected, sketch_bloom_read(&filter, fd, access, UINT64_MAX, NULL, &error),
		      &error);
	assert_error(expected, &error);
	assert_null(filter);
}

static void check_flips(struct bytes *file)
{
	int fd = bytes_to_fd(file);

	for (size_t byte = 0; byte < file->length; byte++) {
		for (unsigned int bit = 0; bit < 8; bit++) {
			enum sketch_status expected = status_of_flip(byte);

			file->data[byte] = (uint8_t)(file->data[byte] ^ 1u << bit);
			assert_int_equal(pwrite(fd, file->data + byte, 1, (off_t)byte), 1);
			check_refused(fd, SKETCH_VERIFIED, expected);
			if (bit == byte % 8)
				check_refused(fd, SKETCH_WRITABLE, expected);
			if (bit == byte % 61)
				check_read(file, SOURCE_PIPE, SKETCH_READ, expected);
			file->data[byte] = (uint8_t)(file->data[byte] ^ 1u << bit);
		}
		assert_int_equal(pwrite(fd, file->data + byte, 1, (off_t)byte), 1);
	}
	close(fd);
}

static void read__any_bit_flipped__is_refused(void **state)
{
	struct bytes file = small_file();

	(void)state;
	check_flips(&file);
	bytes_free(&file);
	file = layered_file();
	check_flips(&file);
	bytes_free(&file);
}

/* With access SKETCH_READ, damage to the bits is found at the first use. */
static void test__any_bit_of_a_mapped_file_flipped__is_never_absent(void **state)
{
	struct bytes file = small_file();
	size_t bits = section_find(&file, FORMAT_BITS, 0).offset;
	struct sketch_hash key = hash_text("word 0", 0);

	(void)state;
	for (size_t byte = 0; byte < file.length; byte++) {
		for (unsigned int bit = 0; bit < 8; bit++) {
			struct sketch_bloom *filter;
			struct sketch_error error;
			uint64_t found;

			file.data[byte] = (uint8_t)(file.data[byte] ^ 1u << bit);
			if (byte < bits) {
				check_read(&file, SOURCE_FILE, SKETCH_READ, status_of_flip(byte));
			} else {
				filter = filter_from_bytes(&file, SKETCH_READ);
				for (int again = 0; again < 2; again++)
					assert_status(SKETCH_DAMAGED,
						      sketch_bloom_test(filter, &key, 1, &found,
									&error),
						      &error);
				assert_error(SKETCH_DAMAGED, &error);
				sketch_bloom_free(filter);
			}
			file.data[byte] = (uint8_t)(file.data[byte] ^ 1u << bit);
		}
	}
	bytes_free(&file);
}

static void read__anything_else__is_foreign(void **state)
{
	struct dice dice = { 2 };
	const struct bytes text = { (uint8_t *)"Not a sketch, but a line of text.\n", 34 };
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	struct sketch_bloom *filter = NULL;
	struct sketch_error error;

	(void)state;
	check_read(&text, SOURCE_FILE, SKETCH_READ, SKETCH_FOREIGN);
	check_read(&text, SOURCE_PIPE, SKETCH_READ, SKETCH_FOREIGN);
	for (size_t length = 8; length <= 200; length++) {
		struct bytes noise = { malloc(length), length };

		assert_non_null(noise.data);
		dice_fill(&dice, noise.data, length);
		for (size_t a = 0; a < COUNT_OF(accesses); a++)
			check_read(&noise, SOURCE_FILE, accesses[a], SKETCH_FOREIGN);
		bytes_free(&noise);
	}
	/* Without an end. */
	assert_status(SKETCH_FOREIGN,
		      sketch_bloom_read(&filter, zero, SKETCH_READ, UINT64_MAX, NULL, &error),
		      &error);
	close(zero);
}

/* A field of a file whose checksums are all right is not as it may be. */
struct lie {
	const char *what;
	size_t offset; /* in small_file() */
	size_t width;
	uint64_t value;
	enum sketch_status status, or_status;
	const char *words[3]; /* in the error's text */
};

#define ENTRY(i, at) (FORMAT_HEADER_BYTES + (i)*FORMAT_ENTRY_BYTES + (at))
#define LAYER(at) (256 + (at))
#define U SKETCH_UNSUPPORTED
#define D SKETCH_DAMAGED

static const struct lie lies[] = {
	{ "version", 8, 4, 2, U, U, { "2", "1" } },
	{ "version", 8, 4, 0, U, U, { "0", "1" } },
	{ "version", 8, 4, UINT32_MAX, U, U, { "4294967295", "1" } },
	{ "kind", 12, 4, 2, U, U, { "count-min sketch" } },
	{ "kind", 12, 4, 5, U, U, { "HyperLogLog" } },
	{ "kind", 12, 4, 0, U, U, { "0" } },
	{ "kind", 12, 4, 99, U, U, { "99" } },
	{ "key elsewhere", 16, 4, 1, U, U, { NULL } },
	{ "must understand", 16, 4, 2, U, U, { NULL } },
	{ "must understand", 16, 4, UINT64_C(1) << 31, U, U, { NULL } },
	{ "family", 36, 4, 3, U, U, { "3", "1 and 2" } },
	{ "family", 36, 4, 0, U, U, { "0", "1 and 2" } },
	{ "family", 36, 4, 2, U, U, { "2", "key" } },
	{ "rest of the seed", 44, 4, 1, D, D, { NULL } },
	{ "rest of the seed", 52, 4, UINT64_C(1) << 31, D, D, { NULL } },
	{ "fingerprint", 56, 8, 0, D, D, { NULL } },
	{ "transforms", 64, 4, 2, U, U, { NULL } },
	{ "arrangement", 68, 4, SKETCH_WINDOW, D, D, { NULL } },
	{ "arrangement", 68, 4, 3, U, U, { NULL } },
	{ "not assigned", 80, 1, 1, D, U, { NULL } },
	{ "not assigned", 119, 1, 128, D, U, { NULL } },
	{ "type", ENTRY(0, 0), 4, 0, U, D, { NULL } },
	{ "type", ENTRY(0, 0), 4, 8, U, D, { NULL } },
	{ "type", ENTRY(1, 0), 4, FORMAT_CELLS, U, D, { NULL } },
	{ "type", ENTRY(1, 0), 4, FORMAT_WINDOW, U, D, { NULL } },
	{ "a layer missing", ENTRY(0, 0), 4, 0x80000001, D, D, { NULL } },
	{ "sums twice", ENTRY(0, 0), 4, FORMAT_SUMS, D, D, { NULL } },
	{ "index", ENTRY(0, 4), 4, 1, D, D, { NULL } },
	{ "index", ENTRY(0, 4), 4, 64, D, D, { NULL } },
	{ "index", ENTRY(0, 4), 4, UINT32_MAX, D, D, { NULL } },
	{ "offset", ENTRY(0, 8), 8, 0, D, D, { NULL } },
	{ "offset", ENTRY(0, 8), 8, 257, D, D, { NULL } },
	{ "offset", ENTRY(0, 8), 8, 320, D, D, { NULL } },
	{ "offset", ENTRY(1, 8), 8, 256, D, D, { NULL } },
	{ "offset", ENTRY(2, 8), 8, UINT64_MAX - 63, D, D, { NULL } },
	{ "offset", ENTRY(2, 8), 8, UINT64_C(1) << 62, D, D, { NULL } },
	{ "length", ENTRY(0, 16), 8, 63, D, D, { NULL } },
	{ "length", ENTRY(0, 16), 8, 0, D, D, { NULL } },
	{ "length", ENTRY(1, 16), 8, 8, D, D, { NULL } },
	{ "length", ENTRY(2, 16), 8, 72, D, D, { NULL } },
	{ "length", ENTRY(2, 16), 8, 88, D, D, { NULL } },
	{ "length", ENTRY(2, 16), 8, UINT64_MAX, D, D, { NULL } },
	{ "length", ENTRY(2, 16), 8, UINT64_MAX - 383, D, D, { NULL } },
	{ "not assigned", ENTRY(1, 28), 4, 1, D, D, { NULL } },
	{ "layout", LAYER(0), 4, 0, U, D, { NULL } },
	{ "layout", LAYER(0), 4, 3, U, D, { NULL } },
	{ "blocked without g", LAYER(0), 4, SKETCH_BLOCKED, D, D, { NULL } },
	{ "k", LAYER(4), 4, 0, D, D, { "k" } },
	{ "k", LAYER(4), 4, 256, D, D, { "k" } },
	{ "k", LAYER(4), 4, UINT32_MAX, D, D, { "k" } },
	{ "g", LAYER(8), 4, 1, D, D, { "g" } },
	{ "not assigned", LAYER(12), 4, 1, D, D, { NULL } },
	{ "m", LAYER(16), 8, 0, D, D, { NULL } },
	{ "m", LAYER(16), 8, 576, D, D, { NULL } },
	{ "m", LAYER(16), 8, 639, D, D, { NULL } },
	{ "m", LAYER(16), 8, 641, D, D, { NULL } },
	{ "m", LAYER(16), 8, 704, D, D, { NULL } },
	{ "m", LAYER(16), 8, (UINT64_C(1) << 32) + 640, D, D, { NULL } },
	{ "m", LAYER(16), 8, (UINT64_C(1) << 63) + 640, D, D, { NULL } },
	{ "m", LAYER(16), 8, UINT64_MAX, D, D, { NULL } },
	{ "n", LAYER(24), 8, 0, D, D, { "n" } },
	{ "p", LAYER(32), 8, 0, D, D, { "p" } },
	{ "p", LAYER(32), 8, UINT64_C(0x3ff0000000000001), D, D, { "p" } },
	{ "p", LAYER(32), 8, UINT64_C(0xbfe0000000000000), D, D, { "p" } },
	{ "p", LAYER(32), 8, UINT64_C(0x7ff8000000000000), D, D, { "p" } },
	{ "p", LAYER(32), 8, UINT64_C(0x7ff0000000000000), D, D, { "p" } },
	{ "records outside windows", LAYER(40), 8, 1, D, D, { NULL } },
	{ "stamp outside windows", LAYER(48), 8, 1, D, D, { NULL } },
	{ "not assigned", LAYER(56), 8, 1, D, D, { NULL } },
};

static void check_lie(const struct bytes *truth, const struct lie *lie)
{
	for (size_t a = 0; a < COUNT_OF(accesses); a++) {
		struct bytes file = bytes_copy(truth);
		struct sketch_bloom *filter = NULL;
		struct sketch_error error = { 0 };
		enum sketch_status status;
		int fd;

		for (size_t i = 0; i < lie->width; i++)
			file.data[lie->offset + i] = (uint8_t)(lie->value >> 8 * i);
		put32(file.data + 320, reference_crc32c(0, file.data + 384, 80));
		for (size_t i = 0; i < 3; i++) {
			static const size_t at[] = { 256, 320, 320 }, length[] = { 64, 4, 4 };

			put32(file.data + ENTRY(i, 24),
			      reference_crc32c(0, file.data + at[i], length[i]));
		}
		put32(file.data + 120, reference_crc32c(0, file.data + 128, 96));
		put32(file.data + 124, reference_crc32c(0, file.data, 124));
		fd = bytes_to_fd(&file);
		status = sketch_bloom_read(&filter, fd, accesses[a], UINT64_MAX, NULL, &error);
		close(fd);
		bytes_free(&file);
		if (status != lie->status && status != lie->or_status)
			print_error("%s: %llu\n", lie->what, (unsigned long long)lie->value);
		if (status != lie->or_status)
			assert_status(lie->status, status, &error);
		assert_error(status, &error);
		for (size_t i = 0; i < 3 && lie->words[i]; i++)
			if (!has_word(error.text, lie->words[i]))
				fail_msg("\"%s\" lacks \"%s\"", error.text, lie->words[i]);
	}
}

static void read__field_out_of_range_under_right_checksums__is_refused(void **state)
{
	struct bytes file = small_file();

	(void)state;
	for (size_t i = 0; i < COUNT_OF(lies); i++)
		check_lie(&file, &lies[i]);
	bytes_free(&file);
}

static void check_header_field(size_t offset, size_t width, uint64_t value,
			       enum sketch_status expected)
{
	struct bytes file = small_file();

	for (size_t i = 0; i < width; i++)
		file.data[offset + i] = (uint8_t)(value >> 8 * i);
	put32(file.data + 124, reference_crc32c(0, file.data, 124));
	for (size_t a = 0; a < COUNT_OF(accesses); a++) {
		check_read(&file, SOURCE_FILE, accesses[a], expected);
		check_read(&file, SOURCE_PIPE, accesses[a], expected);
	}
	bytes_free(&file);
}

static void read__length_or_sections_out_of_range__is_refused(void **state)
{
	struct bytes file = small_file();

	(void)state;
	check_header_field(24, 8, file.length + 1, SKETCH_TRUNCATED);
	check_header_field(24, 8, file.length - 1, SKETCH_LENGTHENED);
	check_header_field(24, 8, UINT64_C(1) << (sizeof(size_t) < 8 ? 30 : 40), SKETCH_TRUNCATED);
	check_header_field(32, 4, 0, SKETCH_DAMAGED);
	check_header_field(32, 4, 1025, SKETCH_DAMAGED);
	check_header_field(32, 4, UINT32_MAX, SKETCH_DAMAGED);
	check_header_field(32, 4, 1000, SKETCH_DAMAGED);
	check_header_field(32, 4, 2, SKETCH_DAMAGED);
	check_header_field(32, 4, 4, SKETCH_DAMAGED);
	bytes_free(&file);
}

/* ---------------------------------------------------------- what may be there */

static void read__flags_that_may_be_ignored__are_and_are_not_kept(void **state)
{
	struct bytes truth = small_file();
	struct bytes file = bytes_copy(&truth);
	struct sketch_bloom *filter;

	(void)state;
	put32(file.data + 20, UINT32_MAX);
	file_seal(&file);
	filter = filter_from_bytes(&file, SKETCH_VERIFIED);
	assert_same_filter(filter, &truth);
	sketch_bloom_free(filter);
	bytes_free(&file);
	bytes_free(&truth);
}

/* small_file() with a section of 5 bytes behind the others. */
static struct bytes extended_file(uint32_t type)
{
	struct bytes small = small_file();
	struct bytes file = { calloc(512 + 5, 1), 512 + 5 };

	assert_non_null(file.data);
	/* A fourth entry fits before the first section. */
	memcpy(file.data, small.data, small.length);
	bytes_free(&small);
	put64(file.data + 24, file.length);
	put32(file.data + 32, 4);
	put32(file.data + ENTRY(3, 0), type);
	put32(file.data + ENTRY(3, 4), 123);
	put64(file.data + ENTRY(3, 8), 512);
	put64(file.data + ENTRY(3, 16), 5);
	memcpy(file.data + 512, "extra", 5);
	file_seal(&file);
	return file;
}

static void read__section_that_may_be_ignored__is(void **state)
{
	struct bytes truth = small_file();
	struct bytes file = extended_file(FORMAT_TYPE_IGNORABLE + 77);

	(void)state;
	for (size_t a = 0; a < COUNT_OF(accesses); a++) {
		struct sketch_bloom *filter = filter_from_bytes(&file, accesses[a]);

		assert_true(filter_has(filter, hash_text("word 7", 0)));
		assert_same_filter(filter, &truth);
		sketch_bloom_free(filter);
	}
	bytes_free(&file);
	bytes_free(&truth);
}

static void read__section_that_must_be_understood__is_refused(void **state)
{
	static const uint32_t types[] = { FORMAT_TABLE, 8, 77, FORMAT_TYPE_IGNORABLE - 1 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(types); i++) {
		struct bytes file = extended_file(types[i]);

		check_read(&file, SOURCE_FILE, SKETCH_READ, SKETCH_UNSUPPORTED);
		bytes_free(&file);
	}
}

/* Sections may not be swapped, nor may one that can be ignored stand among them:
 * the places follow from the parameters. */
static void read__sections_in_another_order__is_refused(void **state)
{
	static const struct {
		uint32_t type;
		size_t offset, length;
	} orders[][4] = {
		{ { FORMAT_SUMS, 256, 4 }, { FORMAT_LAYER, 320, 64 }, { FORMAT_BITS, 384, 80 } },
		{ { FORMAT_LAYER, 256, 64 }, { FORMAT_BITS, 320, 80 }, { FORMAT_SUMS, 448, 4 } },
		{ { FORMAT_LAYER, 256, 64 },
		  { FORMAT_TYPE_IGNORABLE, 320, 8 },
		  { FORMAT_SUMS, 384, 4 },
		  { FORMAT_BITS, 448, 80 } },
	};
	struct bytes truth = small_file();

	(void)state;
	for (size_t o = 0; o < COUNT_OF(orders); o++) {
		uint32_t count = orders[o][3].length ? 4 : 3;
		size_t end = orders[o][count - 1].offset + orders[o][count - 1].length;
		struct bytes file = { calloc(end, 1), end };

		assert_non_null(file.data);
		memcpy(file.data, truth.data, FORMAT_HEADER_BYTES);
		put64(file.data + 24, end);
		put32(file.data + 32, count);
		for (uint32_t i = 0; i < count; i++) {
			uint32_t type = orders[o][i].type;

			put32(file.data + ENTRY(i, 0), type);
			put64(file.data + ENTRY(i, 8), orders[o][i].offset);
			put64(file.data + ENTRY(i, 16), orders[o][i].length);
			if (type < FORMAT_TYPE_IGNORABLE)
				memcpy(file.data + orders[o][i].offset,
				       truth.data + section_find(&truth, type, 0).offset,
				       orders[o][i].length);
		}
		file_seal(&file);
		/* What may be ignored is in the way of what may not. */
		check_read(&file, SOURCE_FILE, SKETCH_VERIFIED,
			   count == 3 ? SKETCH_DAMAGED : SKETCH_UNSUPPORTED);
		bytes_free(&file);
	}
	bytes_free(&truth);
}

static void check_info(size_t offset, uint32_t value, enum sketch_status expected, uint32_t version,
		       uint32_t kind)
{
	struct bytes file = small_file();
	struct sketch_file_info info = { 0, 0, 0 };
	struct sketch_bloom *filter = NULL;
	int fd;

	put32(file.data + offset, value);
	file_seal(&file);
	fd = bytes_to_fd(&file);
	assert_status(expected,
		      sketch_bloom_read(&filter, fd, SKETCH_READ, UINT64_MAX, &info, NULL), NULL);
	close(fd);
	assert_int_equal(info.version, version);
	assert_int_equal(info.kind, kind);
	bytes_free(&file);
}

static void read__file_not_supported__still_says_what_it_is(void **state)
{
	(void)state;
	check_info(12, SKETCH_KIND_COUNTS, SKETCH_UNSUPPORTED, 1, SKETCH_KIND_COUNTS);
	check_info(36, 7, SKETCH_UNSUPPORTED, 1, SKETCH_KIND_BLOOM);
	check_info(LAYER(4), 0, SKETCH_DAMAGED, 1, SKETCH_KIND_BLOOM);
}

/* ------------------------------------------------------------ chunks of a map */

/* A hash whose line lies in the chunk. */
static struct sketch_hash hash_in_chunk(struct dice *dice, const struct sketch_params *params,
					uint64_t chunk)
{
	uint64_t positions[SKETCH_MAX_HASHES];
	struct sketch_hash hash;

	do {
		hash = dice_hash(dice);
		reference_positions(params, hash, positions);
	} while (positions[0] / CHUNK_BITS != chunk);
	return hash;
}

#define CHUNKS 9

/* A file with a key in each chunk. */
static struct bytes chunked_file(struct sketch_hash keys[CHUNKS])
{
	struct dice dice = { 3 };
	struct sketch_params params = chunked_params();
	struct sketch_bloom *filter = filter_make(&params);
	struct bytes file;

	for (uint64_t chunk = 0; chunk < CHUNKS; chunk++) {
		keys[chunk] = hash_in_chunk(&dice, &params, chunk);
		filter_add(filter, keys[chunk]);
	}
	file = filter_bytes(filter);
	sketch_bloom_free(filter);
	return file;
}

static void flip_in_chunk(struct bytes *file, size_t chunk)
{
	struct section bits = section_find(file, FORMAT_BITS, 0);
	size_t at = chunk * FORMAT_CHUNK_BYTES + (chunk == CHUNKS - 1 ? 191 : 1000);

	assert_true(at < bits.length);
	file->data[bits.offset + at] ^= 0x10;
}

static void test__chunk_damaged__matters_where_it_is_touched(void **state)
{
	struct dice dice = { 4 };
	struct sketch_params params = chunked_params();

	(void)state;
	for (uint64_t bad = 0; bad < CHUNKS; bad++) {
		struct sketch_hash keys[CHUNKS];
		struct bytes file = chunked_file(keys);
		struct sketch_bloom *filter;
		struct sketch_error error;
		uint64_t found;

		flip_in_chunk(&file, (size_t)bad);
		filter = filter_from_bytes(&file, SKETCH_READ);
		bytes_free(&file);
		for (int round = 0; round < 2; round++) {
			for (uint64_t chunk = 0; chunk < CHUNKS; chunk++) {
				struct sketch_hash absent = hash_in_chunk(&dice, &params, chunk);

				if (chunk != bad) {
					assert_true(filter_has(filter, keys[chunk]));
					assert_false(filter_has(filter, absent));
					continue;
				}
				assert_status(SKETCH_DAMAGED,
					      sketch_bloom_test(filter, &keys[chunk], 1, &found,
								&error),
					      &error);
				assert_error(SKETCH_DAMAGED, &error);
				assert_status(SKETCH_DAMAGED,
					      sketch_bloom_test(filter, &absent, 1, &found, &error),
					      &error);
			}
		}
		sketch_bloom_free(filter);
	}
}

static void test__one_key_of_many_in_a_damaged_chunk__is_noticed(void **state)
{
	static const size_t counts[] = { 1, 2, 63, 64, 65, 200 };
	struct dice dice = { 5 };
	struct sketch_params params = chunked_params();
	struct sketch_hash present[CHUNKS];
	struct bytes file = chunked_file(present);

	(void)state;
	flip_in_chunk(&file, 4);
	for (size_t c = 0; c < COUNT_OF(counts); c++) {
		for (size_t at = 0; at < counts[c]; at += 1 + counts[c] / 8) {
			struct sketch_bloom *filter = filter_from_bytes(&file, SKETCH_READ);
			struct sketch_hash keys[200];
			uint64_t found[4];

			for (size_t i = 0; i < counts[c]; i++)
				keys[i] = hash_in_chunk(&dice, &params, i == at ? 4 : i % 4);
			assert_status(SKETCH_DAMAGED,
				      sketch_bloom_test(filter, keys, counts[c], found, NULL),
				      NULL);
			keys[at] = present[8];
			assert_status(SKETCH_OK,
				      sketch_bloom_test(filter, keys, counts[c], found, NULL),
				      NULL);
			assert_true(found[at / 64] >> at % 64 & 1);
			sketch_bloom_free(filter);
		}
	}
	bytes_free(&file);
}

/* A classic key may touch several chunks: present ones must never come out absent,
 * others may be found absent before the damage is met. */
static void test__classic_chunk_damaged__is_never_absent(void **state)
{
	struct sketch_params params = params_classic(CHUNKS * CHUNK_BITS, 3);
	struct bytes file = file_of(&params, 2000);
	struct sketch_bloom *filter;
	unsigned int untouched = 0, touched = 0;

	(void)state;
	flip_in_chunk(&file, 6);
	filter = filter_from_bytes(&file, SKETCH_READ);
	bytes_free(&file);
	for (unsigned int i = 0; i < 3000; i++) {
		uint64_t positions[SKETCH_MAX_HASHES], found = 0;
		struct sketch_hash hash;
		bool touches = false;
		char word[32];
		enum sketch_status status;

		snprintf(word, sizeof word, "word %u", i);
		hash = hash_text(word, 0);
		reference_positions(&params, hash, positions);
		for (uint32_t j = 0; j < params.k; j++)
			touches = touches || positions[j] / CHUNK_BITS == 6;
		status = sketch_bloom_test(filter, &hash, 1, &found, NULL);
		if (i < 2000 || !touches)
			assert_status(touches ? SKETCH_DAMAGED : SKETCH_OK, status, NULL);
		if (status == SKETCH_OK)
			assert_int_equal(found, i < 2000);
		*(touches ? &touched : &untouched) += 1;
	}
	assert_true(touched > 100 && untouched > 100);
	sketch_bloom_free(filter);
}

static void read__chunk_damaged__is_refused_where_all_is_verified(void **state)
{
	(void)state;
	for (size_t bad = 0; bad < CHUNKS; bad++) {
		struct sketch_hash keys[CHUNKS];
		struct bytes file = chunked_file(keys);

		flip_in_chunk(&file, bad);
		check_read(&file, SOURCE_FILE, SKETCH_VERIFIED, SKETCH_DAMAGED);
		check_read(&file, SOURCE_FILE, SKETCH_WRITABLE, SKETCH_DAMAGED);
		check_read(&file, SOURCE_PIPE, SKETCH_READ, SKETCH_DAMAGED);
		bytes_free(&file);
	}
}

/* What reads everything finds everything. */
static void whole__chunk_damaged__is_refused_everywhere(void **state)
{
	struct sketch_params params = chunked_params();

	(void)state;
	for (size_t bad = 0; bad < CHUNKS; bad += 4) {
		struct sketch_hash keys[CHUNKS];
		struct bytes file = chunked_file(keys);
		struct bytes other_file = file_of(&params, 100);
		struct sketch_bloom *into = filter_from_bytes(&other_file, SKETCH_WRITABLE);
		struct sketch_bloom *filter;
		struct sketch_bloom_state now;
		struct sketch_error error;
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		flip_in_chunk(&file, bad);
		for (int use = 0; use < 4; use++) {
			enum sketch_status status;

			filter = filter_from_bytes(&file, SKETCH_READ);
			status = use == 0 ? sketch_bloom_verify(filter, &error) :
				 use == 1 ? sketch_bloom_state(filter, 0, &now, &error) :
				 use == 2 ? sketch_bloom_union(into, filter, &error) :
					    sketch_bloom_write(filter, null, &error);
			assert_status(SKETCH_DAMAGED, status, &error);
			assert_error(SKETCH_DAMAGED, &error);
			sketch_bloom_free(filter);
		}
		assert_same_filter(into, &other_file);
		close(null);
		bytes_free(&file);
		bytes_free(&other_file);
		sketch_bloom_free(into);
	}
}

static void union__mapped_file__joins_it(void **state)
{
	struct sketch_hash keys[CHUNKS];
	struct sketch_params params = chunked_params();
	struct bytes file = chunked_file(keys);
	struct sketch_bloom *into = filter_make(&params);
	struct sketch_bloom *from = filter_from_bytes(&file, SKETCH_READ);

	(void)state;
	assert_status(SKETCH_OK, sketch_bloom_union(into, from, NULL), NULL);
	assert_same_filter(into, &file);
	bytes_free(&file);
	sketch_bloom_free(from);
	sketch_bloom_free(into);
}

static void add__file_read_to_be_written__is_as_if_never_saved(void **state)
{
	struct bytes file = small_file(), expected;
	struct sketch_params params = params_classic(640, 5);
	struct sketch_bloom *filter = filter_from_bytes(&file, SKETCH_WRITABLE);

	(void)state;
	add_words(filter, 50, 20);
	sketch_bloom_set_records(filter, 70);
	expected = file_of(&params, 70);
	assert_same_filter(filter, &expected);
	bytes_free(&file);
	bytes_free(&expected);
	sketch_bloom_free(filter);
}

/* -------------------------------------------------------------------- hostile */

static void assert_little_memory(long before)
{
	assert_in_range(run_pages(true) - before + 256, 0,
			256 + 50L * 1000 * 1000 / sysconf(_SC_PAGESIZE));
}

/* The head of a file of 2^30 bytes of bits, all 0, as far as its sums. */
static struct bytes gigabyte_head(uint64_t *length)
{
	const uint64_t m = UINT64_C(1) << 33, chunks = m / CHUNK_BITS;
	struct sketch_params params = params_classic(64, 7);
	struct bytes small = file_of(&params, 0);
	struct bytes head = { calloc((size_t)(320 + 4 * chunks), 1), (size_t)(320 + 4 * chunks) };
	uint8_t *chunk = calloc(FORMAT_CHUNK_BYTES, 1);
	uint32_t sum;

	assert_non_null(head.data);
	assert_non_null(chunk);
	sum = reference_crc32c(0, chunk, FORMAT_CHUNK_BYTES);
	free(chunk);
	memcpy(head.data, small.data, 320);
	bytes_free(&small);
	put64(head.data + LAYER(16), m);
	for (uint64_t i = 0; i < chunks; i++)
		put32(head.data + 320 + 4 * i, sum);
	*length = head.length + m / 8;
	assert_int_equal(head.length % FORMAT_ALIGNMENT, 0);
	put64(head.data + 24, *length);
	put64(head.data + ENTRY(1, 16), 4 * chunks);
	put64(head.data + ENTRY(2, 8), head.length);
	put64(head.data + ENTRY(2, 16), m / 8);
	put32(head.data + ENTRY(0, 24), reference_crc32c(0, head.data + LAYER(0), 64));
	sum = reference_crc32c(0, head.data + 320, head.length - 320);
	put32(head.data + ENTRY(1, 24), sum);
	put32(head.data + ENTRY(2, 24), sum);
	put32(head.data + 120, reference_crc32c(0, head.data + 128, 96));
	put32(head.data + 124, reference_crc32c(0, head.data, 124));
	return head;
}

static void read__header_claims_a_gigabyte_not_there__takes_little_memory(void **state)
{
	uint64_t length;
	struct bytes head = gigabyte_head(&length);
	long before = run_pages(true);

	(void)state;
	for (size_t a = 0; a < COUNT_OF(accesses); a++)
		for (int s = SOURCE_FILE; s <= SOURCE_PIPE; s++)
			check_read(&head, (enum source)s, accesses[a], SKETCH_TRUNCATED);
	assert_little_memory(before);
	bytes_free(&head);
}

/* Nothing is read of it, and what is said to be had is what one process can address. */
static void read__length_beyond_the_address_space__is_refused_with_what_there_is(void **state)
{
	struct bytes file = small_file();
	struct sketch_bloom *filter = NULL;
	struct sketch_error error;
	char most[32];
	pid_t writer;
	int fd;

	(void)state;
	put64(file.data + 24, (uint64_t)SIZE_MAX / 2 + 1);
	put32(file.data + 124, reference_crc32c(0, file.data, 124));
	fd = open_source(&file, SOURCE_PIPE, &writer);
	assert_status(SKETCH_NO_MEMORY,
		      sketch_bloom_read(&filter, fd, SKETCH_READ, UINT64_MAX, NULL, &error),
		      &error);
	close_source(fd, writer);
	snprintf(most, sizeof most, "and %" PRIu64 " are", (uint64_t)SIZE_MAX / 2);
	assert_non_null(strstr(error.text, most));
	assert_null(filter);
	bytes_free(&file);
}

/* There in full, but sparse: what is not touched is not read. */
static void read__gigabyte_file__is_mapped_and_touched_where_used(void **state)
{
	uint64_t length;
	struct bytes head = gigabyte_head(&length);
	struct sketch_bloom *filter = NULL;
	struct sketch_error error;
	struct scratch scratch;
	char path[512];
	long before;
	int fd;

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "big.bloom");
	bytes_to_file(&head, path);
	assert_int_equal(truncate(path, (off_t)length), 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	before = run_pages(true);
	assert_status(SKETCH_OK,
		      sketch_bloom_read(&filter, fd, SKETCH_READ, UINT64_MAX, NULL, &error),
		      &error);
	for (unsigned int i = 0; i < 20; i++)
		assert_false(filter_has(filter, (struct sketch_hash){ (uint64_t)i << 59, i }));
	assert_little_memory(before);
	sketch_bloom_free(filter);
	/* Read into memory it is beyond the budget. */
	filter = NULL;
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_status(SKETCH_NO_MEMORY,
		      sketch_bloom_read(&filter, fd, SKETCH_WRITABLE, 1 << 20, NULL, &error),
		      &error);
	assert_error(SKETCH_NO_MEMORY, &error);
	assert_null(filter);
	assert_little_memory(before);
	close(fd);
	scratch_remove(&scratch);
	bytes_free(&head);
}

static void check_budget(const struct bytes *file, enum source source, enum sketch_access access,
			 uint64_t budget, enum sketch_status expected)
{
	struct sketch_bloom *filter = NULL;
	struct sketch_error error;
	pid_t writer;
	int fd = open_source(file, source, &writer);

	assert_status(expected, sketch_bloom_read(&filter, fd, access, budget, NULL, &error),
		      &error);
	if (expected != SKETCH_OK)
		assert_error(expected, &error);
	close_source(fd, writer);
	sketch_bloom_free(filter);
}

static void read__beyond_budget__is_refused(void **state)
{
	struct sketch_params params = chunked_params();
	struct bytes file = file_of(&params, 10);

	(void)state;
	check_budget(&file, SOURCE_PIPE, SKETCH_READ, 100000, SKETCH_NO_MEMORY);
	check_budget(&file, SOURCE_PIPE, SKETCH_WRITABLE, 100000, SKETCH_NO_MEMORY);
	check_budget(&file, SOURCE_FILE, SKETCH_WRITABLE, 100000, SKETCH_NO_MEMORY);
	check_budget(&file, SOURCE_FILE, SKETCH_WRITABLE, 0, SKETCH_NO_MEMORY);
	check_budget(&file, SOURCE_PIPE, SKETCH_READ, 2 * file.length, SKETCH_OK);
	check_budget(&file, SOURCE_FILE, SKETCH_WRITABLE, 2 * file.length, SKETCH_OK);
	/* What is only mapped takes no memory. */
	check_budget(&file, SOURCE_FILE, SKETCH_READ, 100000, SKETCH_OK);
	bytes_free(&file);
}

static int feed_without_end(void *context)
{
	const struct feed *feed = context;
	static const uint8_t zeros[4096];
	ssize_t put = write(feed->to, feed->bytes->data, feed->bytes->length);

	close(feed->from);
	while (put > 0)
		put = write(feed->to, zeros, sizeof zeros);
	return 1;
}

static void read__pipe_that_goes_on_for_ever__is_refused_at_once(void **state)
{
	struct bytes file = small_file();
	struct feed feed = { &file, -1, -1, 0 };
	struct sketch_bloom *filter = NULL;
	struct sketch_error error;
	int ends[2];
	pid_t writer;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	feed.from = ends[0];
	feed.to = ends[1];
	writer = child_start(feed_without_end, &feed);
	close(ends[1]);
	assert_status(SKETCH_LENGTHENED,
		      sketch_bloom_read(&filter, ends[0], SKETCH_READ, UINT64_MAX, NULL, &error),
		      &error);
	close(ends[0]);
	assert_int_equal(child_end(writer), 128 + SIGPIPE);
	bytes_free(&file);
}

/* Whatever is read without complaint must also work. */
static void use(struct sketch_bloom *filter, struct dice *dice)
{
	struct sketch_bloom_state now;
	uint64_t found[2];
	struct sketch_hash keys[70];
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	for (size_t i = 0; i < COUNT_OF(keys); i++)
		keys[i] = dice_hash(dice);
	(void)sketch_bloom_test(filter, keys, COUNT_OF(keys), found, NULL);
	for (size_t layer = 0; layer < sketch_bloom_layers(filter); layer++) {
		assert_status(SKETCH_OK,
			      sketch_params_check(sketch_bloom_params(filter, layer), NULL), NULL);
		(void)sketch_bloom_state(filter, layer, &now, NULL);
	}
	(void)sketch_bloom_write(filter, null, NULL);
	close(null);
}

/* A few bytes of header, table or layers anyhow. */
static void tell_lies(struct dice *dice, struct bytes *file, size_t head)
{
	for (uint64_t i = dice_between(dice, 1, 4); i > 0; i--) {
		uint8_t *at = file->data + dice_between(dice, 8, head - 1);

		if (dice_below(dice, 2))
			*at = (uint8_t)dice_next(dice);
		else
			*at = (uint8_t)(*at ^ 1u << dice_below(dice, 8));
	}
}

/* Makes the checksums of table and header right, so that what they cover is looked
 * at; the table must lie in the file for that. */
static void seal_head(struct bytes *file, uint32_t sections)
{
	if (get32(file->data + 32) > (file->length - FORMAT_HEADER_BYTES) / FORMAT_ENTRY_BYTES)
		put32(file->data + 32, sections);
	put32(file->data + 120,
	      reference_crc32c(0, file->data + FORMAT_HEADER_BYTES,
			       (size_t)get32(file->data + 32) * FORMAT_ENTRY_BYTES));
	put32(file->data + 124, reference_crc32c(0, file->data, 124));
}

static void read_lies(struct dice *dice, const struct bytes *file, enum sketch_access access)
{
	struct sketch_bloom *filter = NULL;
	struct sketch_error error;
	int fd = bytes_to_fd(file);

	if (sketch_bloom_read(&filter, fd, access, 1 << 24, NULL, &error) == SKETCH_OK) {
		use(filter, dice);
		sketch_bloom_free(filter);
	} else {
		assert_error(error.status, &error);
		assert_null(filter);
	}
	close(fd);
}

static void read__random_lies_under_right_checksums__never_crash(void **state)
{
	const int rounds = run_slow() ? 2000 : run_long() ? 500000 : 20000;
	struct dice dice = { 6 };
	struct bytes truths[] = { small_file(), layered_file() };

	(void)state;
	for (int i = 0; i < rounds; i++) {
		const struct bytes *truth = &truths[i % 2];
		uint32_t sections = get32(truth->data + 32);
		size_t layers = section_find(truth, FORMAT_SUMS, 0).offset;
		struct bytes file = bytes_copy(truth);

		tell_lies(&dice, &file, layers);
		/* Else nearly all would be found at the length. */
		if (i % 3)
			put64(file.data + 24, file.length);
		/* Those of the layers, too, now and then. */
		for (uint32_t s = 0; i % 5 && s < sections; s++)
			if (get32(truth->data + ENTRY(s, 0)) == FORMAT_LAYER)
				put32(file.data + ENTRY(s, 24),
				      reference_crc32c(0,
						       file.data + get64(truth->data + ENTRY(s, 8)),
						       FORMAT_LAYER_BYTES));
		seal_head(&file, sections);
		read_lies(&dice, &file, accesses[i % 3]);
		bytes_free(&file);
	}
	bytes_free(&truths[0]);
	bytes_free(&truths[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read__each_source_and_access__gives_the_filter_written),
		cmocka_unit_test(read__overfull_plan__gives_the_filter_written),
		cmocka_unit_test(read__file__tells_what_was_written),
		cmocka_unit_test(write__small_filter__puts_each_field_at_its_place),
		cmocka_unit_test(write__descriptor_not_at_its_start__goes_on_from_there),
		cmocka_unit_test(write__pipe__carries_the_same_bytes),
		cmocka_unit_test(write__descriptor_that_fails__says_how),
		cmocka_unit_test(read__descriptor_that_fails__says_how),
		cmocka_unit_test(golden__every_file_of_another_writer__reads_and_saves_identically),
		cmocka_unit_test(golden__filter_made_of_its_keys__is_the_file),
		cmocka_unit_test(read__truncated_at_any_length__is_refused),
		cmocka_unit_test(read__less_than_a_magic__is_refused),
		cmocka_unit_test(read__lengthened__is_refused),
		cmocka_unit_test(read__any_bit_flipped__is_refused),
		cmocka_unit_test(test__any_bit_of_a_mapped_file_flipped__is_never_absent),
		cmocka_unit_test(read__anything_else__is_foreign),
		cmocka_unit_test(read__field_out_of_range_under_right_checksums__is_refused),
		cmocka_unit_test(read__length_or_sections_out_of_range__is_refused),
		cmocka_unit_test(read__flags_that_may_be_ignored__are_and_are_not_kept),
		cmocka_unit_test(read__section_that_may_be_ignored__is),
		cmocka_unit_test(read__section_that_must_be_understood__is_refused),
		cmocka_unit_test(read__sections_in_another_order__is_refused),
		cmocka_unit_test(read__file_not_supported__still_says_what_it_is),
		cmocka_unit_test(test__chunk_damaged__matters_where_it_is_touched),
		cmocka_unit_test(test__one_key_of_many_in_a_damaged_chunk__is_noticed),
		cmocka_unit_test(test__classic_chunk_damaged__is_never_absent),
		cmocka_unit_test(read__chunk_damaged__is_refused_where_all_is_verified),
		cmocka_unit_test(whole__chunk_damaged__is_refused_everywhere),
		cmocka_unit_test(union__mapped_file__joins_it),
		cmocka_unit_test(add__file_read_to_be_written__is_as_if_never_saved),
		cmocka_unit_test(read__header_claims_a_gigabyte_not_there__takes_little_memory),
		cmocka_unit_test(
			read__length_beyond_the_address_space__is_refused_with_what_there_is),
		cmocka_unit_test(read__gigabyte_file__is_mapped_and_touched_where_used),
		cmocka_unit_test(read__beyond_budget__is_refused),
		cmocka_unit_test(read__pipe_that_goes_on_for_ever__is_refused_at_once),
		cmocka_unit_test(read__random_lies_under_right_checksums__never_crash),
	};

	return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
