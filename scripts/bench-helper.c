/* bench-helper.c - what scripts/bench needs done fast
 *
 *   bench-helper lines FIRST COUNT REPEATS WIDTH
 *       COUNT lines as of a web server's log, in an order that looks random: those
 *       numbered from FIRST on, each of them REPEATS times.
 *       WIDTH, 9 to 1000, is the length with the newline; 0: from 79 to 94, 86.5 on average.
 *   bench-helper keys FIRST COUNT DISTINCT
 *       COUNT keys of 8 to 12 bytes, one a line: number FIRST and on, beginning
 *       again after DISTINCT of them.
 *   bench-helper run CPU REPORT COMMAND [ARGUMENT]...
 *       Runs a command on one processor and writes to the file REPORT
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

static void run(int cpu, const char *report, char **command)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((unsigned)cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set) != 0)
		die("sched_setaffinity");
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
	else if (argc >= 5 && strcmp(argv[1], "run") == 0)
		run((int)number(argv[2]), argv[3], argv + 4);
	else {
		fputs("bench-helper: see the head of scripts/bench-helper.c\n", stderr);
		return 2;
	}
	return 0;
}
