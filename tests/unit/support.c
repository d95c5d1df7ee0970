#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "format.h"
#include "support.h"

/* ------------------------------------------------------------- assertions */

void support_status(enum sketch_status expected, enum sketch_status status,
		    const struct sketch_error *error, const char *file, int line)
{
	if (status == expected)
		return;
	print_error("expected \"%s\" (%d), got \"%s\" (%d)", sketch_status_text(expected),
		    (int)expected, sketch_status_text(status), (int)status);
	if (error && status != SKETCH_OK)
		print_error(": %s (errno %d)", error->text, error->errnum);
	print_error("\n");
	_fail(file, line);
}

void support_near(double a, double b, double tolerance, const char *file, int line)
{
	double largest = a < 0 ? -a : a;
	double difference = a < b ? b - a : a - b;

	if (largest < b)
		largest = b;
	if (largest < -b)
		largest = -b;
	if (a == b || difference <= tolerance * largest)
		return;
	print_error("%.17g and %.17g differ by more than %g of the larger\n", a, b, tolerance);
	_fail(file, line);
}

void support_error(enum sketch_status status, const struct sketch_error *error, const char *file,
		   int line)
{
	size_t length = strnlen(error->text, sizeof error->text);
	bool fit = error->status == status && length < sizeof error->text;

	if (status != SKETCH_IO)
		fit = fit && length > 0 && error->errnum == 0;
	else
		fit = fit && error->errnum != 0;
	for (size_t i = 0; fit && i < length; i++)
		fit = (unsigned char)error->text[i] >= ' ';
	if (fit)
		return;
	print_error("expected an error of status %d, got %d, errno %d, \"%.200s\"\n", (int)status,
		    (int)error->status, error->errnum, error->text);
	_fail(file, line);
}

static bool in_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_';
}

bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		if ((at == text || !in_word(at[-1])) && !in_word(at[length]))
			return true;
	return false;
}

/* ------------------------------------------------------------ environment */

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value && strcmp(value, "0") != 0;
}

bool run_long(void)
{
	return is_set("LONG_TESTS") || is_set("LONG");
}

bool run_slow(void)
{
	static const char *const slow[] = { "asan", "tsan", "cov", "valgrind" };
	const char *variant = getenv("TEST_VARIANT");

	for (size_t i = 0; variant && i < COUNT_OF(slow); i++)
		if (strcmp(variant, slow[i]) == 0)
			return true;
	return false;
}

long run_pages(bool resident)
{
	long size = 0, rss = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%ld %ld", &size, &rss), 2);
	fclose(file);
	return resident ? rss : size;
}

void top_path(char path[512], const char *name)
{
	const char *top = getenv("TOP");

	snprintf(path, 512, "%s/%s", top && *top ? top : ".", name);
}

bool shared_path(char path[512], const char *name)
{
	const char *cases = getenv("SHARED_CASES");
	char inside[256];

	if (cases && *cases) {
		snprintf(path, 512, "%s/%s", cases, name);
	} else {
		snprintf(inside, sizeof inside, "../shared/cases/%s", name);
		top_path(path, inside);
	}
	return access(path, R_OK) == 0;
}

/* ------------------------------------------------------------------- dice */

uint64_t dice_next(struct dice *dice)
{
	uint64_t z = dice->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint64_t dice_below(struct dice *dice, uint64_t bound)
{
	return dice_next(dice) % bound;
}

uint64_t dice_between(struct dice *dice, uint64_t low, uint64_t high)
{
	return low + dice_below(dice, high - low + 1);
}

void dice_fill(struct dice *dice, void *data, size_t length)
{
	uint8_t *to = data;
	uint64_t word = 0;

	for (size_t i = 0; i < length; i++, word >>= 8) {
		if (i % 8 == 0)
			word = dice_next(dice);
		to[i] = (uint8_t)word;
	}
}

struct sketch_hash dice_hash(struct dice *dice)
{
	uint64_t h1 = dice_next(dice);

	return (struct sketch_hash){ h1, dice_next(dice) };
}

/* ------------------------------------------------------------------ bytes */

void bytes_free(struct bytes *bytes)
{
	free(bytes->data);
	bytes->data = NULL;
	bytes->length = 0;
}

/* Exactly as long as asked, so that instruments see a byte read beyond it. */
static struct bytes bytes_new(size_t length)
{
	struct bytes bytes = { malloc(length ? length : 1), length };

	assert_non_null(bytes.data);
	return bytes;
}

struct bytes bytes_copy(const struct bytes *bytes)
{
	struct bytes copy = bytes_new(bytes->length);

	memcpy(copy.data, bytes->data, bytes->length);
	return copy;
}

bool bytes_equal(const struct bytes *a, const struct bytes *b)
{
	return a->length == b->length && memcmp(a->data, b->data, a->length) == 0;
}

struct bytes bytes_from_fd(int fd)
{
	size_t room = 4096;
	struct bytes bytes = { malloc(room), 0 };
	ssize_t got = 0;

	assert_non_null(bytes.data);
	while ((got = read(fd, bytes.data + bytes.length, room - bytes.length)) > 0) {
		bytes.length += (size_t)got;
		if (bytes.length == room) {
			room *= 2;
			bytes.data = realloc(bytes.data, room);
			assert_non_null(bytes.data);
		}
	}
	assert_int_equal(got, 0);
	return bytes;
}

struct bytes bytes_from_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct bytes bytes = { NULL, 0 };

	if (fd < 0)
		return bytes;
	bytes = bytes_from_fd(fd);
	close(fd);
	return bytes;
}

static void write_whole(int fd, const struct bytes *bytes)
{
	size_t done = 0;

	while (done < bytes->length) {
		ssize_t put = write(fd, bytes->data + done, bytes->length - done);

		assert_true(put > 0);
		done += (size_t)put;
	}
}

void bytes_to_file(const struct bytes *bytes, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	assert_true(fd >= 0);
	write_whole(fd, bytes);
	assert_int_equal(close(fd), 0);
}

int bytes_begin(void)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

struct bytes bytes_end(int fd)
{
	struct bytes bytes;

	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	bytes = bytes_from_fd(fd);
	close(fd);
	return bytes;
}

int bytes_to_fd(const struct bytes *bytes)
{
	int fd = bytes_begin();

	write_whole(fd, bytes);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

uint32_t get32(const uint8_t *from)
{
	return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

uint64_t get64(const uint8_t *from)
{
	return get32(from) | (uint64_t)get32(from + 4) << 32;
}

void put32(uint8_t *to, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

void put64(uint8_t *to, uint64_t value)
{
	put32(to, (uint32_t)value);
	put32(to + 4, (uint32_t)(value >> 32));
}

static unsigned int hex_byte(const char *text)
{
	const char digits[3] = { text[0], text[1], 0 };

	return (unsigned int)strtoul(digits, NULL, 16);
}

struct bytes bytes_from_hex(const char *text)
{
	struct bytes bytes;

	if (strcmp(text, "(empty)") == 0)
		return bytes_new(0);
	if (text[0] && text[1] && text[2] == '*') {
		bytes = bytes_new(strtoul(text + 3, NULL, 10));
		memset(bytes.data, (int)hex_byte(text), bytes.length);
		return bytes;
	}
	bytes = bytes_new(strlen(text) / 2);
	for (size_t i = 0; i < bytes.length; i++)
		bytes.data[i] = (uint8_t)hex_byte(text + 2 * i);
	return bytes;
}

/* -------------------------------------------------------------- reference */

uint32_t reference_crc32c(uint32_t crc, const uint8_t *data, size_t length)
{
	crc = ~crc;
	for (size_t i = 0; i < length; i++) {
		crc ^= data[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
	}
	return ~crc;
}

uint64_t reference_mix(uint64_t x)
{
	x ^= x >> 33;
	x *= UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 33;
	x *= UINT64_C(0xc4ceb9fe1a85ec53);
	x ^= x >> 33;
	return x;
}

/* By long multiplication in digits of 16 bits. */
uint64_t reference_upper(uint64_t a, uint64_t b)
{
	uint64_t column[8] = { 0 };

	for (int i = 0; i < 4; i++) {
		for (int j = 0; j < 4; j++) {
			uint64_t product = (a >> 16 * i & 0xffff) * (b >> 16 * j & 0xffff);

			column[i + j] += product & 0xffff;
			column[i + j + 1] += product >> 16;
		}
	}
	for (int i = 0; i < 7; i++) {
		column[i + 1] += column[i] >> 16;
		column[i] &= 0xffff;
	}
	return column[4] | column[5] << 16 | column[6] << 32 | column[7] << 48;
}

static uint64_t plus(uint64_t first, uint64_t step, uint64_t i)
{
	return i == 0 ? first : reference_mix(first + i * (step | 1));
}

static uint64_t minus(uint64_t first, uint64_t step, uint64_t i)
{
	return i == 0 ? first : reference_mix(first - i * (step | 1));
}

void reference_positions(const struct sketch_params *params, struct sketch_hash hash,
			 uint64_t positions[SKETCH_MAX_HASHES])
{
	uint32_t h;
	uint64_t blocks;

	if (params->layout == SKETCH_CLASSIC) {
		for (uint32_t i = 0; i < params->k; i++)
			positions[i] = reference_upper(plus(hash.h1, hash.h2, i), params->m);
		return;
	}
	h = params->k / params->g;
	blocks = params->m / (512 * (uint64_t)params->g);
	for (uint32_t j = 0; j < params->g; j++) {
		uint64_t u = plus(hash.h1, hash.h2, j);
		uint64_t v = minus(hash.h2, hash.h1, j);
		uint64_t first = 512 * (j * blocks + reference_upper(u, blocks));

		for (uint32_t i = 0; i < h; i++)
			positions[j * h + i] =
				h == 8 ? first + 64 * i + (v >> 6 * i) % 64 :
					 first + (plus(v, u, i / 7) >> 9 * (i % 7)) % 512;
	}
}

void reference_add(uint8_t *bits, const struct sketch_params *params, struct sketch_hash hash)
{
	uint64_t positions[SKETCH_MAX_HASHES];

	reference_positions(params, hash, positions);
	for (uint32_t i = 0; i < params->k; i++)
		bits[positions[i] / 8] = (uint8_t)(bits[positions[i] / 8] | 1 << positions[i] % 8);
}

static unsigned int bit_at(const uint8_t *bits, uint64_t position)
{
	return (unsigned int)bits[position / 8] >> position % 8 & 1;
}

bool reference_test(const uint8_t *bits, const struct sketch_params *params,
		    struct sketch_hash hash)
{
	uint64_t positions[SKETCH_MAX_HASHES];

	reference_positions(params, hash, positions);
	for (uint32_t i = 0; i < params->k; i++)
		if (!bit_at(bits, positions[i]))
			return false;
	return true;
}

static double fill_of(const uint8_t *bits, uint64_t first, uint64_t count)
{
	uint64_t ones = 0;

	for (uint64_t i = 0; i < count; i++)
		ones += bit_at(bits, first + i);
	return (double)ones / (double)count;
}

static double power(double base, uint32_t exponent)
{
	double result = 1;

	while (exponent-- > 0)
		result *= base;
	return result;
}

double reference_rate(const uint8_t *bits, const struct sketch_params *params)
{
	double rate = 1;
	uint64_t blocks;

	if (params->layout == SKETCH_CLASSIC)
		return power(fill_of(bits, 0, params->m), params->k);
	blocks = params->m / (512 * (uint64_t)params->g);
	for (uint32_t j = 0; j < params->g; j++) {
		double sum = 0;

		for (uint64_t block = 0; block < blocks; block++) {
			uint64_t first = 512 * (j * blocks + block);
			double product = 1;

			if (params->k == 8 * params->g)
				for (uint64_t w = 0; w < 8; w++)
					product *= fill_of(bits, first + 64 * w, 64);
			else
				product = power(fill_of(bits, first, 512), params->k / params->g);
			sum += product;
		}
		rate *= sum / (double)blocks;
	}
	return rate;
}

struct section section_find(const struct bytes *file, uint32_t type, uint32_t index)
{
	uint32_t count = get32(file->data + 32);

	for (uint32_t i = 0; i < count; i++) {
		size_t entry = FORMAT_HEADER_BYTES + (size_t)i * FORMAT_ENTRY_BYTES;
		const uint8_t *at = file->data + entry;

		if (get32(at) == type && get32(at + 4) == index)
			return (struct section){ entry, (size_t)get64(at + 8),
						 (size_t)get64(at + 16) };
	}
	fail_msg("the file has no section of type %u, index %u", type, index);
	return (struct section){ 0, 0, 0 };
}

uint8_t *file_bits(const struct bytes *file, uint32_t layer)
{
	return file->data + section_find(file, FORMAT_BITS, layer).offset;
}

static bool lies_in(const struct bytes *file, const struct section *section)
{
	return section->offset <= file->length && section->length <= file->length - section->offset;
}

static bool is_chunked(uint32_t type)
{
	switch (type) {
	case FORMAT_BITS:
	case FORMAT_CELLS:
	case FORMAT_KEYS:
	case FORMAT_REGISTERS:
	case FORMAT_HASHES:
	case FORMAT_COUNTERS:
	case FORMAT_BUCKETS:
		return true;
	}
	return false;
}

/* The sums of all chunks of one section, into its SUMS section. */
static void seal_chunks(struct bytes *file, uint32_t type, uint32_t index)
{
	struct section bits = section_find(file, type, index);
	struct section sums = section_find(file, FORMAT_SUMS, index);

	if (!lies_in(file, &bits) || !lies_in(file, &sums))
		return;
	for (size_t i = 0; i * FORMAT_CHUNK_BYTES < bits.length && 4 * i + 4 <= sums.length; i++) {
		size_t left = bits.length - i * FORMAT_CHUNK_BYTES;
		size_t length = left < FORMAT_CHUNK_BYTES ? left : FORMAT_CHUNK_BYTES;

		put32(file->data + sums.offset + 4 * i,
		      reference_crc32c(0, file->data + bits.offset + i * FORMAT_CHUNK_BYTES,
				       length));
	}
}

void file_seal(struct bytes *file)
{
	uint32_t count = get32(file->data + 32);
	size_t table = (size_t)count * FORMAT_ENTRY_BYTES;

	assert_true(FORMAT_HEADER_BYTES + table <= file->length);
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *entry = file->data + FORMAT_HEADER_BYTES + i * FORMAT_ENTRY_BYTES;

		if (is_chunked(get32(entry)))
			seal_chunks(file, get32(entry), get32(entry + 4));
	}
	for (uint32_t i = 0; i < count; i++) {
		uint8_t *entry = file->data + FORMAT_HEADER_BYTES + i * FORMAT_ENTRY_BYTES;
		struct section section = { 0, (size_t)get64(entry + 8), (size_t)get64(entry + 16) };

		if (is_chunked(get32(entry)))
			section = section_find(file, FORMAT_SUMS, get32(entry + 4));
		if (lies_in(file, &section))
			put32(entry + 24,
			      reference_crc32c(0, file->data + section.offset, section.length));
	}
	put32(file->data + 120, reference_crc32c(0, file->data + FORMAT_HEADER_BYTES, table));
	put32(file->data + 124, reference_crc32c(0, file->data, 124));
}

/* ----------------------------------------------------------------- filters */

struct sketch_params params_classic(uint64_t m, uint32_t k)
{
	return (struct sketch_params){ SKETCH_CLASSIC, k, 0, m, 100, 0.01 };
}

struct sketch_params params_blocked(uint64_t blocks, uint32_t g, uint32_t k)
{
	return (struct sketch_params){ SKETCH_BLOCKED, k, g, 512 * g * blocks, 100, 0.01 };
}

struct sketch_params params_random(struct dice *dice)
{
	uint32_t g;
	uint64_t blocks;

	switch (dice_below(dice, 3)) {
	case 0:
		return params_classic(64 * dice_between(dice, 1, dice_below(dice, 2) ? 4 : 300),
				      (uint32_t)dice_between(dice, 1,
							     dice_below(dice, 9) ? 20 : 255));
	case 1:
		g = (uint32_t)dice_between(dice, 1, 4);
		blocks = dice_between(dice, 1, 10);
		return params_blocked(blocks, g, 8 * g);
	default:
		g = (uint32_t)dice_between(dice, 1, 4);
		blocks = dice_between(dice, 1, 10);
		return params_blocked(blocks, g, g * (uint32_t)dice_between(dice, 1, 30));
	}
}

struct sketch_bloom *filter_make(const struct sketch_params *params)
{
	struct sketch_bloom *filter = NULL;
	struct sketch_error error;

	assert_status(SKETCH_OK,
		      sketch_bloom_new(&filter, &IDENTITY, params, 1, UINT64_MAX, &error), &error);
	assert_non_null(filter);
	return filter;
}

struct sketch_bloom *filter_from_bytes(const struct bytes *file, enum sketch_access access)
{
	struct sketch_bloom *filter = NULL;
	struct sketch_error error;
	int fd = bytes_to_fd(file);

	assert_status(SKETCH_OK, sketch_bloom_read(&filter, fd, access, UINT64_MAX, NULL, &error),
		      &error);
	assert_non_null(filter);
	close(fd);
	return filter;
}

struct bytes filter_bytes(struct sketch_bloom *filter)
{
	struct sketch_error error;
	int fd = bytes_begin();

	assert_status(SKETCH_OK, sketch_bloom_write(filter, fd, &error), &error);
	return bytes_end(fd);
}

void assert_filter_bytes(struct sketch_bloom *filter, const struct bytes *expected)
{
	struct bytes bytes = filter_bytes(filter);

	assert_int_equal(bytes.length, expected->length);
	assert_memory_equal(bytes.data, expected->data, bytes.length);
	bytes_free(&bytes);
}

void filter_add(struct sketch_bloom *filter, struct sketch_hash hash)
{
	sketch_bloom_add(filter, &hash, 1);
}

bool filter_has(struct sketch_bloom *filter, struct sketch_hash hash)
{
	uint64_t found = 2;
	struct sketch_error error;

	assert_status(SKETCH_OK, sketch_bloom_test(filter, &hash, 1, &found, &error), &error);
	assert_true(found < 2);
	return found;
}

struct sketch_hash hash_text(const char *text, uint32_t seed)
{
	return sketch_murmur3_x64_128(text, strlen(text), seed);
}

/* ----------------------------------------------------------------- scratch */

void scratch_make(struct scratch *scratch)
{
	const char *parent = getenv("TMPDIR");

	snprintf(scratch->path, sizeof scratch->path, "%s/sketch-test.XXXXXX",
		 parent && *parent ? parent : "/tmp");
	assert_non_null(mkdtemp(scratch->path));
}

void scratch_path(const struct scratch *scratch, char path[512], const char *name)
{
	snprintf(path, 512, "%s/%s", scratch->path, name);
}

/* Calls visit(path, context) for each name in the folder; returns their number. */
static size_t each_name(const char *folder, void (*visit)(const char *path))
{
	DIR *stream = opendir(folder);
	size_t count = 0;
	struct dirent *entry;

	assert_non_null(stream);
	while ((entry = readdir(stream))) {
		char path[1024];

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		count++;
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		if (visit)
			visit(path);
	}
	closedir(stream);
	return count;
}

size_t scratch_count(const struct scratch *scratch)
{
	return each_name(scratch->path, NULL);
}

static void remove_tree(const char *path)
{
	struct stat status;

	if (lstat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
		chmod(path, 0700);
		each_name(path, remove_tree);
	}
	remove(path);
}

void scratch_remove(struct scratch *scratch)
{
	remove_tree(scratch->path);
}

/* --------------------------------------------------------------- processes */

pid_t child_start(int (*body)(void *context), void *context)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		/* A failed assertion there must not jump back into the test. */
		setenv("CMOCKA_TEST_ABORT", "1", 1);
		_exit(body(context));
	}
	return child;
}

int child_end(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int child_run(int (*body)(void *context), void *context)
{
	return child_end(child_start(body, context));
}

void sleep_ms(long milliseconds)
{
	struct timespec left = { milliseconds / 1000, milliseconds % 1000 * 1000000 };

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}
