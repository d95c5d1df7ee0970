/* bench-helper.c - what scripts/bench and scripts/accuracy need done fast
 *
 *   bench-helper lines FIRST COUNT REPEATS WIDTH
 *       COUNT lines as of a web server's log, in an order that looks random: those
 *       numbered from FIRST on, each of them REPEATS times.
 *       WIDTH, 9 to 1000, is the length with the newline; 0: from 79 to 94, 86.5 on average.
 *   bench-helper keys FIRST COUNT DISTINCT
 *       COUNT keys of 8 to 12 bytes, one a line: number FIRST and on, beginning
 *       again after DISTINCT of them.
 *   bench-helper access COUNT KEYS
 *       COUNT lines as of a web server's log, 93 bytes on average, whose client (field 1)
 *       and path (field 7) are drawn, each by itself, from KEYS of them: number r with a
 *       weight of 1 / r.
 *   bench-helper zipf COUNT KEYS TENTHS ORDER TRUTH
 *       COUNT keys "k0" to "k(KEYS - 1)", one a line, up to 2^24 of them, drawn with
 *       weights 1 / r^(TENTHS / 10).  ORDER: "random"; "sorted" by number; or "drifting",
 *       where each key comes within a quarter of the stream only.  The number of times that
 *       each came is written to the file TRUTH: 8 bytes a key, as the machine has them.
 *   bench-helper run CPU REPORT COMMAND [ARGUMENT]...
 *       Runs a command on one processor (CPU is "-": on any) and writes to the file REPORT
 *       "WALL USER SYSTEM RESIDENT STATUS": seconds, and KiB at the peak.  A small
 *       process must do this: a child's peak begins at that of whoever forked it.
 *
 * Lines and keys of different numbers differ, and are the same on every machine.
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES (256 * 1024)
#define SHORTEST_LINE 79
#define LONGEST_LINE 1000

static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";

struct buffer {
	char bytes[BUFFER_BYTES + LONGEST_LINE];
	size_t used;
};

static void die(const char *what)
{
	fprintf(stderr, "bench-helper: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void flush(struct buffer *buffer)
{
	size_t done = 0;
	while (done < buffer->used) {
		ssize_t wrote = write(1, buffer->bytes + done, buffer->used - done);
		if (wrote < 0)
			die("standard output");
		done += (size_t)wrote;
	}
	buffer->used = 0;
}

/* SplitMix64's finaliser (Steele, Lea, Flood 2014): a permutation of 64 bits. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* A permutation of 0..count-1: four rounds of a Feistel network on the least even
 * number of bits that hold it, again and again until the result is below count. */
static uint64_t permute(uint64_t x, uint64_t count)
{
	unsigned half = 1;
	while (half < 32 && (UINT64_C(1) << (2 * half)) < count)
		half++;
	uint64_t mask = (UINT64_C(1) << half) - 1;
	do {
		uint64_t left = x >> half, right = x & mask;
		for (uint64_t round = 0; round < 4; round++) {
			uint64_t next = left ^ (mix(right ^ (round << 56)) & mask);
			left = right;
			right = next;
		}
		x = left << half | right;
	} while (x >= count);
	return x;
}

static char *put_text(char *out, const char *text)
{
	size_t length = strlen(text);
	memcpy(out, text, length);
	return out + length;
}

static char *put_two(char *out, unsigned value)
{
	*out++ = (char)('0' + value / 10);
	*out++ = (char)('0' + value % 10);
	return out;
}

/* Eight digits that are different for each number below 2^40, and `more` others. */
static char *put_number(char *out, uint64_t number, unsigned more)
{
	uint64_t bits = number * UINT64_C(0x9e3779b97f4a7c15) & ((UINT64_C(1) << 40) - 1);
	for (int i = 0; i < 8; i++, bits >>= 5)
		*out++ = digits[bits & 31];
	bits = number * UINT64_C(0xd1342543de82ef95);
	for (unsigned i = 0; i < more; i++, bits = bits >> 5 | bits << 59)
		*out++ = digits[bits & 31];
	return out;
}

static char *put_line(char *out, uint64_t number, size_t width)
{
	uint64_t random = mix(number);
	if (width > 0 && width < SHORTEST_LINE) {
		out = put_number(out, number, (unsigned)width - 9);
		*out++ = '\n';
		return out;
	}
	out = put_text(out, "192.0.2.");
	*out++ = (char)('1' + random % 2);
	out = put_two(out, (unsigned)(random >> 8) % 50);
	out = put_text(out, " - - [30/Nov/2026:");
	out = put_two(out, (unsigned)(random >> 16) % 24);
	*out++ = ':';
	out = put_two(out, (unsigned)(random >> 24) % 60);
	*out++ = ':';
	out = put_two(out, (unsigned)(random >> 32) % 60);
	out = put_text(out, " +0000] \"GET /");
	unsigned more = (unsigned)(random >> 40) % 16;
	if (width > 0)
		more = (unsigned)width - SHORTEST_LINE;
	out = put_number(out, number, more);
	out = put_text(out, " HTTP/1.1\" 200 ");
	out = put_two(out, 10 + (unsigned)(random >> 48) % 90);
	out = put_two(out, (unsigned)(random >> 56) % 100);
	*out++ = '\n';
	return out;
}

static void lines(uint64_t first, uint64_t count, uint64_t repeats, size_t width)
{
	static struct buffer buffer;
	if (width > LONGEST_LINE || (width > 0 && width < 9)) {
		fprintf(stderr, "bench-helper: lines of %zu bytes are not made\n", width);
		exit(2);
	}
	for (uint64_t i = 0; i < count; i++) {
		char *out = buffer.bytes + buffer.used;
		uint64_t number = first + permute(i, count) / repeats;
		buffer.used += (size_t)(put_line(out, number, width) - out);
		if (buffer.used >= BUFFER_BYTES)
			flush(&buffer);
	}
	flush(&buffer);
}

static void keys(uint64_t first, uint64_t count, uint64_t distinct)
{
	static struct buffer buffer;
	uint64_t at = 0;
	for (uint64_t i = 0; i < count; i++) {
		char *out = buffer.bytes + buffer.used;
		uint64_t number = first + at;
		at = at + 1 == distinct ? 0 : at + 1;
		char *end = put_number(out, number, (unsigned)(number % 5));
		*end++ = '\n';
		buffer.used += (size_t)(end - out);
		if (buffer.used >= BUFFER_BYTES)
			flush(&buffer);
	}
	flush(&buffer);
}

/* Adds up weights 1 / r^(tenths / 10) for r = 1, 2, ... into totals[r - 1].  The tenth
 * root is found by Newton's method from the one before: with + - * / alone the result is
 * the same on every machine. */
static double *add_up_weights(uint64_t count, unsigned tenths)
{
	double *totals = malloc((size_t)count * sizeof *totals);
	double root = 1, total = 0;
	if (totals == NULL)
		die("weights");
	for (uint64_t r = 1; r <= count; r++) {
		double weight = 1;
		for (int step = 0; step < 8; step++) {
			double power = root * root * root;
			power = power * power * power;
			root -= (power * root - (double)r) / (10 * power);
		}
		for (unsigned i = 0; i < tenths; i++)
			weight /= root;
		total += weight;
		totals[r - 1] = total;
	}
	return totals;
}

/* Draws from 0..count-1 by weight. */
static uint64_t draw(const double *totals, uint64_t count, uint64_t random)
{
	double at = (double)(random >> 11) / 9007199254740992.0 * totals[count - 1];
	uint64_t low = 0, high = count - 1;
	while (low < high) {
		uint64_t middle = (low + high) / 2;
		if (totals[middle] > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static uint64_t random_at(uint64_t stream, uint64_t i)
{
	return mix((i + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ mix(stream));
}

static char *put_decimal(char *out, uint64_t value)
{
	char reversed[20];
	int length = 0;
	do {
		reversed[length++] = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0);
	while (length > 0)
		*out++ = reversed[--length];
	return out;
}

static char *put_access(char *out, uint64_t client, uint64_t path, uint64_t random)
{
	uint64_t address = permute(client, UINT64_C(1) << 24);
	out = put_text(out, "10.");
	out = put_decimal(out, address >> 16);
	*out++ = '.';
	out = put_decimal(out, address >> 8 & 255);
	*out++ = '.';
	out = put_decimal(out, address & 255);
	out = put_text(out, " - - [30/Nov/2026:");
	out = put_two(out, (unsigned)(random >> 16) % 24);
	*out++ = ':';
	out = put_two(out, (unsigned)(random >> 24) % 60);
	*out++ = ':';
	out = put_two(out, (unsigned)(random >> 32) % 60);
	out = put_text(out, " +0000] \"GET /p/");
	out = put_number(out, path, (unsigned)(path % 9));
	out = put_text(out, "/index HTTP/1.1\" 200 ");
	out = put_decimal(out, (random >> 40) % 100000);
	*out++ = '\n';
	return out;
}

static void access_log(uint64_t count, uint64_t keys)
{
	static struct buffer buffer;
	double *totals = add_up_weights(keys, 10);
	for (uint64_t i = 0; i < count; i++) {
		char *out = buffer.bytes + buffer.used;
		uint64_t client = draw(totals, keys, random_at(1, i));
		uint64_t path = draw(totals, keys, random_at(2, i));
		buffer.used += (size_t)(put_access(out, client, path, random_at(3, i)) - out);
		if (buffer.used >= BUFFER_BYTES)
			flush(&buffer);
	}
	flush(&buffer);
	free(totals);
}

#define KEY_BITS 24

static int by_value(const void *a, const void *b)
{
	uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
	return (p > q) - (p < q);
}

/* The time at which a key comes, 0 to 2^40, above its number, so that sorting puts a
 * stream in order. */
static uint64_t place(uint64_t key, uint64_t random, const char *order)
{
	uint64_t most = (UINT64_C(1) << 40) - 1, time = random & most;
	if (strcmp(order, "sorted") == 0)
		time = key << 16;
	else if (strcmp(order, "drifting") == 0)
		time = (mix(key + 1) & most) / 4 * 3 + time / 4;
	return time << KEY_BITS | key;
}

static void save_truth(const char *name, const uint64_t *counts, uint64_t keys)
{
	FILE *file = fopen(name, "wb");
	if (file == NULL || fwrite(counts, sizeof *counts, (size_t)keys, file) != keys ||
	    fclose(file) != 0)
		die(name);
}

static void zipf(uint64_t count, uint64_t keys, unsigned tenths, const char *order,
		 const char *truth)
{
	static struct buffer buffer;
	uint64_t *stream = malloc((size_t)count * sizeof *stream);
	uint64_t *counts = calloc((size_t)keys, sizeof *counts);
	double *totals = add_up_weights(keys, tenths);
	if (stream == NULL || counts == NULL)
		die("stream");
	for (uint64_t i = 0; i < count; i++) {
		/* Heavy keys are not the first ones in any order of their numbers. */
		uint64_t key = permute(draw(totals, keys, random_at(1, i)), keys);
		counts[key]++;
		stream[i] = place(key, random_at(2, i), order);
	}
	if (strcmp(order, "random") != 0)
		qsort(stream, (size_t)count, sizeof *stream, by_value);
	save_truth(truth, counts, keys);
	for (uint64_t i = 0; i < count; i++) {
		char *out = buffer.bytes + buffer.used;
		*out = 'k';
		char *end = put_decimal(out + 1, stream[i] & ((1 << KEY_BITS) - 1));
		*end++ = '\n';
		buffer.used += (size_t)(end - out);
		if (buffer.used >= BUFFER_BYTES)
			flush(&buffer);
	}
	flush(&buffer);
	free(totals);
	free(counts);
	free(stream);
}

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static void stay_on(unsigned cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set) != 0)
		die("sched_setaffinity");
}

static void run(const char *report, char **command)
{
	double begun = now();
	pid_t child = fork();
	if (child < 0)
		die("fork");
	if (child == 0) {
		execvp(command[0], command);
		die(command[0]);
	}
	int status;
	struct rusage usage;
	if (wait4(child, &status, 0, &usage) < 0)
		die("wait4");
	double wall = now() - begun;
	FILE *file = fopen(report, "w");
	if (file == NULL)
		die(report);
	fprintf(file, "%.6f %.6f %.6f %ld %d\n", wall, seconds(usage.ru_utime),
		seconds(usage.ru_stime), usage.ru_maxrss,
		WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	if (fclose(file) != 0)
		die(report);
}

static uint64_t number(const char *word)
{
	char *end;
	uint64_t value = strtoull(word, &end, 10);
	if (end == word || *end != '\0') {
		fprintf(stderr, "bench-helper: '%s' is no number\n", word);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	if (argc == 6 && strcmp(argv[1], "lines") == 0)
		lines(number(argv[2]), number(argv[3]), number(argv[4]), number(argv[5]));
	else if (argc == 5 && strcmp(argv[1], "keys") == 0)
		keys(number(argv[2]), number(argv[3]), number(argv[4]));
	else if (argc == 4 && strcmp(argv[1], "access") == 0)
		access_log(number(argv[2]), number(argv[3]));
	else if (argc == 7 && strcmp(argv[1], "zipf") == 0 && number(argv[3]) <= 1 << KEY_BITS)
		zipf(number(argv[2]), number(argv[3]), (unsigned)number(argv[4]), argv[5], argv[6]);
	else if (argc >= 5 && strcmp(argv[1], "run") == 0) {
		if (strcmp(argv[2], "-") != 0)
			stay_on((unsigned)number(argv[2]));
		run(argv[3], argv + 4);
	} else {
		fputs("bench-helper: see the head of scripts/bench-helper.c\n", stderr);
		return 2;
	}
	return 0;
}
