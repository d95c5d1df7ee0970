/* driver.c - runs a fuzzer without libFuzzer
 *
 *   fuzz_X                        the seeds, then fuzz_short mutations: speaks TAP
 *   fuzz_X --runs N [--dice S]    the seeds, then N mutations from the dice S
 *   fuzz_X --seconds N [--dice S] the same for so long
 *   fuzz_X --seeds FOLDER         writes the seeds into the folder, for libFuzzer
 *   fuzz_X FILE...                these inputs
 *
 * The same seeds, dice and N give the same inputs on every machine.  The input that ends
 * the process is left in the file "finding-X" of the working folder.  An input that takes
 * longer than a second fails the run, and so does a peak of memory that grew by more than
 * MEMORY_MOST since the seeds were loaded (not with a sanitizer, which is slow and large
 * by itself). */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#define INPUT_MOST ((size_t)256 << 10)
#define MEMORY_MOST 50000 /* KB */
#define SECOND 1000000000u

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SLOWED true
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(undefined_behavior_sanitizer)
#define SLOWED true
#endif
#endif
#ifndef SLOWED
#define SLOWED false
#endif

struct input {
	uint8_t *data;
	size_t size;
};

struct run {
	const char *name;
	struct input *seeds;
	size_t count;
	uint64_t slowest; /* nanoseconds */
	struct input current;
};

/* For the handler of signals. */
static struct run the_run;

static uint64_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

static void leave_finding(int number)
{
	char name[64] = "finding-";
	int fd;

	strncat(name, the_run.name, 40);
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (write(fd, the_run.current.data, the_run.current.size) < 0)
		perror(name);
	close(fd);
	fprintf(stderr, "the input is in %s\n", name);
	signal(number, SIG_DFL);
	raise(number);
}

static struct input copy_of(const void *data, size_t size)
{
	struct input copy = { malloc(size > 0 ? size : 1), size };

	if (copy.data == NULL)
		exit(2);
	memcpy(copy.data, data, size);
	return copy;
}

static void run_one(const uint8_t *data, size_t size)
{
	/* In memory of its own, so that a sanitizer sees where it ends. */
	struct input copy = copy_of(data, size);
	uint64_t begun = now(CLOCK_THREAD_CPUTIME_ID), took;

	the_run.current = copy;
	LLVMFuzzerTestOneInput(copy.data, size);
	took = now(CLOCK_THREAD_CPUTIME_ID) - begun;
	if (took > the_run.slowest)
		the_run.slowest = took;
	fuzz_require(SLOWED || took < SECOND, "it took %" PRIu64 " ns", took);
	free(copy.data);
}

static void keep_seed(void *context, const void *data, size_t size)
{
	struct run *run = context;
	struct input *seeds = realloc(run->seeds, (run->count + 1) * sizeof *seeds);

	if (seeds == NULL)
		exit(2);
	run->seeds = seeds;
	seeds[run->count++] = copy_of(data, size);
}

/* ------------------------------------------------------------------ mutations */

static const uint64_t odd_numbers[] = { 0,
					1,
					7,
					8,
					63,
					64,
					127,
					128,
					255,
					256,
					511,
					512,
					4095,
					4096,
					65535,
					65536,
					INT32_MAX,
					UINT32_MAX,
					1ull << 32,
					INT64_MAX,
					1ull << 63,
					UINT64_MAX,
					UINT64_MAX - 63,
					1ull << 40 };

/* Puts a number of 1, 2, 4 or 8 bytes somewhere, in little-endian order. */
static void put_number(uint8_t *data, size_t size, uint64_t *dice)
{
	size_t width = (size_t)1 << fuzz_dice(dice) % 4, at;
	uint64_t value = odd_numbers[fuzz_dice(dice) % (sizeof odd_numbers / sizeof *odd_numbers)];

	if (width > size)
		return;
	/* Fields of files lie at multiples of their size. */
	at = fuzz_dice(dice) % (size - width + 1) / width * width;
	if (fuzz_dice(dice) % 4 == 0) {
		value = fuzz_dice(dice) % 35 - 17;
		for (size_t i = 0; i < width; i++)
			value += (uint64_t)data[at + i] << 8 * i;
	}
	for (size_t i = 0; i < width; i++)
		data[at + i] = (uint8_t)(value >> 8 * i);
}

/* Removes, doubles, or takes from another seed a stretch. */
static size_t move_stretch(const struct run *run, uint8_t *data, size_t size, uint64_t *dice)
{
	const struct input *other = &run->seeds[fuzz_dice(dice) % run->count];
	size_t from = fuzz_dice(dice) % (size + 1), length;
	uint64_t way = fuzz_dice(dice) % 3;

	if (way == 0) {
		length = fuzz_dice(dice) % (size - from + 1);
		length = length > 64 && fuzz_dice(dice) % 4 != 0 ? length % 64 : length;
		memmove(data + from, data + from + length, size - from - length);
		return size - length;
	}
	length = fuzz_dice(dice) % 64 + 1;
	if (way == 2 && other->size > 0) {
		size_t at = fuzz_dice(dice) % other->size;

		length = length > other->size - at ? other->size - at : length;
		length = length > INPUT_MOST - from ? INPUT_MOST - from : length;
		memcpy(data + from, other->data + at, length);
		return from + length > size ? from + length : size;
	}
	length = length > size - from ? size - from : length;
	if (size + length > INPUT_MOST)
		return size;
	memmove(data + from + length, data + from, size - from);
	return size + length;
}

static size_t mutate_once(const struct run *run, uint8_t *data, size_t size, uint64_t *dice)
{
	uint64_t way = fuzz_dice(dice) % 8;

	if (size == 0 || way >= 6)
		return move_stretch(run, data, size, dice);
	if (way >= 4) {
		put_number(data, size, dice);
		return size;
	}
	/* Headers are at the front: half of what is changed lies there. */
	size_t reach = way >= 2 && size > 512 ? 512 : size;
	uint8_t *at = data + fuzz_dice(dice) % reach;

	if (way % 2 == 0)
		*at ^= (uint8_t)(1u << fuzz_dice(dice) % 8);
	else
		*at = (uint8_t)fuzz_dice(dice);
	return size;
}

static void run_mutation(const struct run *run, uint8_t *room, uint64_t *dice)
{
	const struct input *seed = &run->seeds[fuzz_dice(dice) % run->count];
	size_t size = seed->size < INPUT_MOST ? seed->size : INPUT_MOST;
	unsigned times = 1u << fuzz_dice(dice) % 5;

	memcpy(room, seed->data, size);
	for (unsigned i = 0; i < times; i++)
		size = mutate_once(run, room, size, dice);
	run_one(room, size);
}

/* ----------------------------------------------------------------------- ways */

static uint64_t number_of(const char *word)
{
	char *end;
	uint64_t value = strtoull(word, &end, 10);

	if (*word == '\0' || *end != '\0') {
		fprintf(stderr, "%s: '%s' is no number\n", the_run.name, word);
		exit(2);
	}
	return value;
}

static long peak(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static void write_seed(void *context, const void *data, size_t size)
{
	static unsigned number;
	char path[4096];
	FILE *file;

	snprintf(path, sizeof path, "%s/seed-%04u", (const char *)context, number++);
	file = fopen(path, "wb");
	if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
		perror(path);
		exit(2);
	}
}

static void run_files(char **paths)
{
	for (; *paths != NULL; paths++) {
		FILE *file = fopen(*paths, "rb");
		uint8_t *data = malloc(INPUT_MOST);

		if (file == NULL || data == NULL) {
			perror(*paths);
			exit(2);
		}
		run_one(data, fread(data, 1, INPUT_MOST, file));
		fclose(file);
		free(data);
	}
}

/* The seeds and their mutations: so many, or until the time is up. */
static void run_all(uint64_t runs, uint64_t seconds, uint64_t dice)
{
	uint64_t until = now(CLOCK_MONOTONIC) + seconds * SECOND, done = 0;
	uint8_t *room = malloc(INPUT_MOST + 64);
	long before;

	if (room == NULL)
		exit(2);
	fuzz_seeds(keep_seed, &the_run);
	before = peak();
	printf("1..2\n");
	for (size_t i = 0; i < the_run.count; i++)
		run_one(the_run.seeds[i].data, the_run.seeds[i].size);
	printf("%sok 1 - %s: %zu seeds\n", the_run.count > 0 ? "" : "not ", the_run.name,
	       the_run.count);
	fflush(stdout);
	while (the_run.count > 0 && (seconds > 0 ? now(CLOCK_MONOTONIC) < until : done < runs)) {
		run_mutation(&the_run, room, &dice);
		done++;
	}
	fuzz_require(SLOWED || peak() - before < MEMORY_MOST, "%ld KB were taken", peak() - before);
	printf("ok 2 - %s: %" PRIu64 " mutations, the slowest of %.1f ms, for %ld KB\n",
	       the_run.name, done, (double)the_run.slowest / 1e6, peak() - before);
	for (size_t i = 0; i < the_run.count; i++)
		free(the_run.seeds[i].data);
	free(the_run.seeds);
	free(room);
}

int main(int argc, char **argv)
{
	static const int fatal[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL };
	uint64_t runs = fuzz_short, seconds = 0, dice = 1;
	const char *slash = strrchr(argv[0], '/');
	int at = 1;

	the_run.name = slash == NULL ? argv[0] : slash + 1;
	for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
		signal(fatal[i], leave_finding);
	if (argc == 3 && strcmp(argv[1], "--seeds") == 0) {
		fuzz_seeds(write_seed, argv[2]);
		return 0;
	}
	for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
		if (strcmp(argv[at], "--runs") == 0)
			runs = number_of(argv[at + 1]);
		else if (strcmp(argv[at], "--seconds") == 0)
			seconds = number_of(argv[at + 1]);
		else if (strcmp(argv[at], "--dice") == 0)
			dice = number_of(argv[at + 1]);
		else
			break;
	}
	if (at < argc && strncmp(argv[at], "--", 2) == 0) {
		fprintf(stderr, "%s: see the head of tests/fuzz/driver.c\n", the_run.name);
		return 2;
	}
	if (at < argc)
		run_files(argv + at);
	else
		run_all(runs, seconds, dice);
	return 0;
}
