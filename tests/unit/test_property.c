/* Every key that was added is found: for a thousand sets of parameters, after a save
 * and a load, in another process, whose memory lies elsewhere. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

#define SETS 1000
#define BATCH 97 /* no divisor or multiple of what the library takes at once */

/* Everything about a set follows from its number, in whichever process. */
struct set {
	unsigned int number;
	uint32_t seed;
	uint64_t keys;
	struct sketch_params params;
};

static const double rates[] = { 0.9, 0.5, 0.1, 0.05, 0.01, 1e-3, 1e-4, 1e-6, 1e-9, 1e-15 };

/* A request that can be met: n and p, with k and g or without. */
static void plan_set(struct set *set, struct dice *dice)
{
	struct sketch_request request = {
		.layout = set->number % 2 ? SKETCH_CLASSIC : SKETCH_BLOCKED,
		.n = dice_between(dice, 1, dice_below(dice, 4) ? 300 : 3000),
		.p = rates[dice_below(dice, COUNT_OF(rates))],
	};
	struct sketch_error error;

	if (dice_below(dice, 3) == 0) {
		request.g = request.layout == SKETCH_BLOCKED;
		request.k = (uint32_t)dice_between(dice, 6, 20);
		request.p = rates[dice_below(dice, 6)];
	}
	assert_status(SKETCH_OK, sketch_plan(&request, &set->params, &error), &error);
	set->keys = request.n;
}

static struct set set_make(unsigned int number)
{
	struct dice dice = { number };
	struct set set = { .number = number, .seed = (uint32_t)dice_next(&dice) };

	if (number % 4 < 2) {
		set.params = params_random(&dice);
		set.keys = dice_between(&dice, 1, 500);
	} else {
		plan_set(&set, &dice);
	}
	/* None at all, one, the capacity, or far too many. */
	switch (number % 25) {
	case 0:
		set.keys = 0;
		break;
	case 1:
		set.keys = 1;
		break;
	case 2:
		set.keys *= 5;
		break;
	default:
		break;
	}
	return set;
}

static struct set set_million(enum sketch_layout layout)
{
	const struct sketch_request request = { .layout = layout, .n = 1000000, .p = 0.01 };
	struct set set = { .number = SETS + (unsigned int)layout, .seed = 5, .keys = 1000000 };
	struct sketch_error error;

	assert_status(SKETCH_OK, sketch_plan(&request, &set.params, &error), &error);
	return set;
}

static struct set set_of(unsigned int number)
{
	return number < SETS ? set_make(number) : set_million((enum sketch_layout)(number - SETS));
}

/* Numbers, paths, and any bytes at all, the empty key among them. */
static struct sketch_hash key_hash(const struct set *set, uint64_t i)
{
	struct dice dice = { (uint64_t)set->number << 32 ^ i };
	char key[100];
	int length;

	switch (i % 3) {
	case 0:
		length = snprintf(key, sizeof key, "%llu", (unsigned long long)i);
		break;
	case 1:
		length = snprintf(key, sizeof key, "https://example.org/%u/%06llx?page=2",
				  set->number, (unsigned long long)i);
		break;
	default:
		length = (int)dice_below(&dice, i == 2 ? 1 : sizeof key);
		dice_fill(&dice, key, (size_t)length);
		break;
	}
	return sketch_murmur3_x64_128(key, (size_t)length, set->seed);
}

static void set_path(char path[512], const char *folder, unsigned int number)
{
	snprintf(path, 512, "%s/%u.bloom", folder, number);
}

static size_t next_batch(const struct set *set, uint64_t first, struct sketch_hash hashes[BATCH])
{
	size_t count = 0;

	while (count < BATCH && first + count < set->keys) {
		hashes[count] = key_hash(set, first + count);
		count++;
	}
	return count;
}

static void build(const struct set *set, const char *folder)
{
	struct sketch_identity identity = IDENTITY;
	struct sketch_hash hashes[BATCH];
	struct sketch_bloom *filter = NULL;
	struct sketch_error error;
	struct sketch_save *save;
	char path[512];
	uint64_t found[(BATCH + 63) / 64];
	int fd;

	identity.seed = set->seed;
	assert_status(SKETCH_OK,
		      sketch_bloom_new(&filter, &identity, &set->params, 1, UINT64_MAX, &error),
		      &error);
	for (uint64_t first = 0, count; first < set->keys; first += count) {
		count = next_batch(set, first, hashes);
		if (set->number % 3)
			sketch_bloom_add(filter, hashes, (size_t)count);
		else
			sketch_bloom_test_and_add(filter, hashes, (size_t)count, found);
	}
	set_path(path, folder, set->number);
	assert_status(SKETCH_OK, sketch_save_begin(&save, path, &fd, &error), &error);
	assert_status(SKETCH_OK, sketch_bloom_write(filter, fd, &error), &error);
	assert_status(SKETCH_OK, sketch_save_commit(save, &error), &error);
	sketch_bloom_free(filter);
}

/* ----------------------------------------------------------- the other process */

static uint64_t count_bits(uint64_t word)
{
	uint64_t count = 0;

	for (; word; word &= word - 1)
		count++;
	return count;
}

/* The number of keys not found, or -1. */
static long missing(const struct set *set, const char *folder)
{
	static const enum sketch_access accesses[] = { SKETCH_READ, SKETCH_VERIFIED,
						       SKETCH_WRITABLE };
	struct sketch_hash hashes[BATCH];
	struct sketch_bloom *filter;
	uint64_t found[(BATCH + 63) / 64], hits = 0;
	char path[512];
	int fd;

	set_path(path, folder, set->number);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || sketch_bloom_read(&filter, fd, accesses[set->number % 3], UINT64_MAX, NULL,
					NULL) != SKETCH_OK)
		return -1;
	close(fd);
	for (uint64_t first = 0, count; first < set->keys; first += count) {
		count = next_batch(set, first, hashes);
		if (sketch_bloom_test(filter, hashes, (size_t)count, found, NULL) != SKETCH_OK)
			return -1;
		for (size_t i = 0; i < COUNT_OF(found); i++)
			hits += 64 * i < count ? count_bits(found[i]) : 0;
	}
	sketch_bloom_free(filter);
	return (long)(set->keys - hits);
}

static int child_main(const char *folder, const char *first_text, const char *count_text)
{
	unsigned int first = (unsigned int)strtoul(first_text, NULL, 10);
	unsigned int count = (unsigned int)strtoul(count_text, NULL, 10);
	int bad = 0;

	for (unsigned int number = first; number < first + count; number++) {
		struct set set = set_of(number);
		long lost = missing(&set, folder);

		if (lost == 0)
			continue;
		fprintf(stderr,
			"set %u: %ld of %llu keys not found (layout %d, k %u, g %u, m %llu)\n",
			number, lost, (unsigned long long)set.keys, (int)set.params.layout,
			set.params.k, set.params.g, (unsigned long long)set.params.m);
		bad = 1;
	}
	return bad;
}

struct range {
	const char *folder;
	unsigned int first, count;
};

/* This program anew, so that its memory is laid out anew. */
static int run_self(void *context)
{
	const struct range *range = context;
	char self[512], first[16], count[16];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

	if (length < 0)
		return 120;
	self[length] = 0;
	snprintf(first, sizeof first, "%u", range->first);
	snprintf(count, sizeof count, "%u", range->count);
	execl(self, "test_property", "--child", range->folder, first, count, (char *)NULL);
	return 121;
}

static void check_sets(unsigned int first, unsigned int count)
{
	struct scratch scratch;
	struct range range = { scratch.path, first, count };

	scratch_make(&scratch);
	for (unsigned int number = first; number < first + count; number++) {
		struct set set = set_of(number);

		build(&set, scratch.path);
	}
	assert_int_equal(child_run(run_self, &range), 0);
	scratch_remove(&scratch);
}

static void found__thousand_parameter_sets_in_another_process__every_key(void **state)
{
	const unsigned int sets = run_slow() ? 100 : SETS;

	(void)state;
	for (unsigned int first = 0; first < sets; first += 20)
		check_sets(first, 20);
}

static void found__million_keys_in_another_process__every_key(void **state)
{
	(void)state;
	if (run_slow())
		skip();
	check_sets(SETS + SKETCH_CLASSIC, 2);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found__thousand_parameter_sets_in_another_process__every_key),
		cmocka_unit_test(found__million_keys_in_another_process__every_key),
	};

	if (argc == 5 && strcmp(argv[1], "--child") == 0)
		return child_main(argv[2], argv[3], argv[4]);
	return cmocka_run_group_tests_name("property", tests, NULL, NULL);
}
