/* Output: every byte arrives in order, and every failure is seen. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "capture.h"

#define STREAM_LENGTH ((size_t)3 << 20)

/* Byte i of the stream that these tests write. */
static uint8_t stream_byte(size_t i)
{
	return (uint8_t)((uint32_t)i * 2654435761u >> 24);
}

static uint8_t *stream_make(void)
{
	uint8_t *stream = malloc(STREAM_LENGTH);

	assert_non_null(stream);
	for (size_t i = 0; i < STREAM_LENGTH; i++)
		stream[i] = stream_byte(i);
	return stream;
}

/* Writes the stream in pieces of random lengths around every threshold. */
static bool write_stream(struct output *output, const uint8_t *stream, uint64_t seed)
{
	static const size_t around[] = { 0, 1, 100, OUTPUT_DIRECT, OUTPUT_BUFFER };
	struct dice dice = { seed };
	size_t written = 0;

	while (written < STREAM_LENGTH) {
		size_t length = around[dice_below(&dice, COUNT_OF(around))] +
				dice_below(&dice, dice_below(&dice, 4) > 0 ? 3 : 5000);

		if (length > STREAM_LENGTH - written)
			length = STREAM_LENGTH - written;
		if (!output_write(output, stream + written, length))
			return false;
		written += length;
	}
	return true;
}

static void assert_stream(const struct bytes *bytes)
{
	assert_int_equal(bytes->length, STREAM_LENGTH);
	for (size_t i = 0; i < STREAM_LENGTH; i++)
		if (bytes->data[i] != stream_byte(i))
			fail_msg("byte %zu is %u", i, bytes->data[i]);
}

static void write__pieces_of_all_sizes__arrive_in_order(void **state)
{
	uint8_t *stream = stream_make();

	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		int fd = bytes_begin();
		struct output *output = output_open(dup(fd), "file");
		struct bytes bytes;

		assert_non_null(output);
		assert_true(write_stream(output, stream, seed));
		assert_false(output_failed(output));
		assert_true(output_close(output));
		bytes = bytes_end(fd);
		assert_stream(&bytes);
		bytes_free(&bytes);
	}
	free(stream);
}

static void take__pieces_of_all_sizes_in_memory__arrive_in_order(void **state)
{
	uint8_t *stream = stream_make();
	int fd = bytes_begin();
	struct output *output = output_open(dup(fd), "file"), *memory = output_open_memory();
	struct bytes bytes;

	(void)state;
	assert_non_null(output);
	assert_non_null(memory);
	assert_true(output_take(output, memory));
	assert_true(write_stream(memory, stream, 1));
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	assert_true(output_take(output, memory));
	assert_int_equal(lseek(fd, 0, SEEK_END), STREAM_LENGTH);
	assert_true(output_take(output, memory));
	assert_true(output_text(memory, "%d", 12));
	assert_true(output_take(output, memory));
	assert_true(output_close(memory));
	assert_true(output_close(output));
	assert_int_equal(lseek(fd, 0, SEEK_END), STREAM_LENGTH + 2);
	assert_int_equal(ftruncate(fd, STREAM_LENGTH), 0);
	bytes = bytes_end(fd);
	assert_stream(&bytes);
	bytes_free(&bytes);
	free(stream);
}

static void write__small_pieces__kept_until_flushed(void **state)
{
	int fd = bytes_begin();
	struct output *output = output_open(dup(fd), "file");

	(void)state;
	assert_true(output_write(output, "abc", 3));
	assert_true(output_write(output, NULL, 0));
	assert_true(output_text(output, "%s-%d", "def", 5));
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	assert_true(output_flush(output));
	assert_int_equal(lseek(fd, 0, SEEK_END), 8);
	assert_true(output_flush(output));
	assert_true(output_close(output));
	assert_int_equal(lseek(fd, 0, SEEK_END), 8);
	close(fd);
}

static void write__buffer__page_aligned(void **state)
{
	struct output *output = output_open(open("/dev/null", O_WRONLY), "null");

	(void)state;
	assert_int_equal((uintptr_t)output->buffer % (uintptr_t)sysconf(_SC_PAGESIZE), 0);
	assert_true(output_close(output));
}

static void text__longer_than_the_buffer__whole(void **state)
{
	int fd = bytes_begin();
	struct output *output = output_open(dup(fd), "file");
	uint8_t *stream = stream_make();
	struct bytes bytes;

	(void)state;
	for (size_t i = 0; i < STREAM_LENGTH; i++)
		stream[i] = (uint8_t)('a' + i % 26);
	for (int i = 0; i < 40; i++)
		assert_true(output_text(output, "%.*s", 9999, (const char *)stream));
	assert_true(output_text(output, "<%.*s>", (int)STREAM_LENGTH, (const char *)stream));
	assert_true(output_close(output));
	bytes = bytes_end(fd);
	assert_int_equal(bytes.length, 40 * 9999 + STREAM_LENGTH + 2);
	for (size_t i = 0; i < 40; i++)
		assert_memory_equal(bytes.data + i * 9999, stream, 9999);
	assert_int_equal(bytes.data[40 * 9999], '<');
	assert_memory_equal(bytes.data + 40 * 9999 + 1, stream, STREAM_LENGTH);
	assert_int_equal(bytes.data[bytes.length - 1], '>');
	bytes_free(&bytes);
	free(stream);
}

/* ------------------------------------------------------------------- pipes */

struct slow_pipe {
	int ends[2];
	bool nonblocking, alarms;
	const uint8_t *stream;
};

static void nothing(int signal_number)
{
	(void)signal_number;
}

static int write_to_pipe(void *context)
{
	struct slow_pipe *pipes = context;
	struct sigaction action = { .sa_handler = nothing };
	struct itimerval often = { { 0, 500 }, { 0, 500 } };
	struct output *output;

	close(pipes->ends[0]);
	if (pipes->nonblocking)
		fcntl(pipes->ends[1], F_SETFL, O_NONBLOCK);
	output = output_open(pipes->ends[1], "pipe");
	if (output == NULL)
		return 1;
	if (pipes->alarms) {
		sigaction(SIGALRM, &action, NULL);
		setitimer(ITIMER_REAL, &often, NULL);
	}
	if (!write_stream(output, pipes->stream, 9))
		return 2;
	return output_close(output) ? 0 : 3;
}

static void check_slow_pipe(bool nonblocking, bool alarms)
{
	uint8_t *stream = stream_make();
	struct slow_pipe pipes = { { -1, -1 }, nonblocking, alarms, stream };
	struct bytes bytes = { malloc(STREAM_LENGTH + 1), 0 };
	pid_t child;
	ssize_t taken;

	assert_int_equal(pipe(pipes.ends), 0);
	child = child_start(write_to_pipe, &pipes);
	close(pipes.ends[1]);
	while ((taken = read(pipes.ends[0], bytes.data + bytes.length,
			     STREAM_LENGTH + 1 - bytes.length)) > 0) {
		bytes.length += (size_t)taken;
		sleep_ms(2);
	}
	assert_int_equal(child_end(child), 0);
	assert_stream(&bytes);
	bytes_free(&bytes);
	free(stream);
	close(pipes.ends[0]);
}

static void write__nonblocking_pipe_and_slow_reader__waits(void **state)
{
	(void)state;
	check_slow_pipe(true, false);
}

static void write__interrupted_by_signals__goes_on(void **state)
{
	(void)state;
	check_slow_pipe(false, true);
	check_slow_pipe(true, true);
}

static void open__pipe__made_larger_never_smaller(void **state)
{
#ifdef F_SETPIPE_SZ
	int ends[2];
	struct output *output;
	int before;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	before = fcntl(ends[1], F_GETPIPE_SZ);
	output = output_open(dup(ends[1]), "pipe");
	assert_true(fcntl(ends[1], F_GETPIPE_SZ) >= before);
	if (fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) >= 1 << 20)
		assert_true(fcntl(ends[1], F_GETPIPE_SZ) >= 1 << 20);
	assert_true(output_close(output));
	if (fcntl(ends[1], F_SETPIPE_SZ, 2 << 20) >= 2 << 20) {
		output = output_open(dup(ends[1]), "pipe");
		assert_true(fcntl(ends[1], F_GETPIPE_SZ) >= 2 << 20);
		assert_true(output_close(output));
	}
	close(ends[0]);
	close(ends[1]);
#else
	(void)state;
	skip();
#endif
}

/* ---------------------------------------------------------------- failures */

/* 0 where all went as it should after a failure. */
static int fail_at(int fd, bool large)
{
	static const char piece[OUTPUT_DIRECT + 5];
	struct output *output = output_open(fd, "standard output");
	bool written = true;

	if (output == NULL)
		return 10;
	for (int i = 0; written && i < 100000; i++)
		written = output_write(output, piece, large ? sizeof piece : 100);
	if (written)
		return 11;
	if (!output_failed(output) || output_write(output, "x", 1) ||
	    output_write(output, piece, sizeof piece) || output_write(output, "", 0) ||
	    output_text(output, "%d", 5) || output_flush(output))
		return 12;
	return output_close(output) ? 13 : 0;
}

static int fill_device(void *context)
{
	return fail_at(open("/dev/full", O_WRONLY), context != NULL);
}

static int write_to_reading_end(void *context)
{
	return fail_at(open("/dev/null", O_RDONLY), context != NULL);
}

static int write_past_size_limit(void *context)
{
	struct rlimit limit = { 1000000, 1000000 };

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
		return 1;
	return fail_at(memfd_create("test", 0), context != NULL);
}

static int write_to_nobody(void *context)
{
	int ends[2];

	signal(SIGPIPE, SIG_IGN);
	if (pipe(ends) != 0)
		return 1;
	close(ends[0]);
	return fail_at(ends[1], context != NULL);
}

static int die_writing_to_nobody(void *context)
{
	int ends[2];

	signal(SIGPIPE, SIG_DFL);
	if (pipe(ends) != 0)
		return 1;
	close(ends[0]);
	return fail_at(ends[1], context != NULL);
}

static void check_failure(int (*body)(void *context), int status, const char *err)
{
	struct capture capture;
	char large[] = "large";

	capture_run(&capture, body, NULL);
	assert_string_equal(capture.err, err);
	assert_int_equal(capture.status, status);
	capture_run(&capture, body, large);
	assert_string_equal(capture.err, err);
	assert_int_equal(capture.status, status);
}

static void write__full_device__one_message_and_false_for_ever(void **state)
{
	(void)state;
	check_failure(fill_device, 0, "tool: standard output: No space left on device\n");
}

static void write__closed_output__one_message(void **state)
{
	(void)state;
	check_failure(write_to_reading_end, 0, "tool: standard output: Bad file descriptor\n");
}

static void write__file_size_limit__one_message(void **state)
{
	(void)state;
	check_failure(write_past_size_limit, 0, "tool: standard output: File too large\n");
}

static void write__reader_gone__silent(void **state)
{
	(void)state;
	check_failure(write_to_nobody, 0, "");
	check_failure(die_writing_to_nobody, 128 + SIGPIPE, "");
}

static int close_full_device(void *context)
{
	struct output *output = output_open(open("/dev/full", O_WRONLY), "standard output");

	(void)context;
	if (output == NULL || !output_write(output, "abc", 3))
		return 10;
	return output_close(output) ? 11 : 0;
}

static int close_closed(void *context)
{
	int fd = open("/dev/null", O_WRONLY);
	struct output *output = output_open(fd, "standard output");

	(void)context;
	close(fd);
	return output == NULL || output_close(output) ? 11 : 0;
}

static void close__error_found_only_then__reported(void **state)
{
	struct capture capture;

	(void)state;
	capture_run(&capture, close_full_device, NULL);
	assert_string_equal(capture.err, "tool: standard output: No space left on device\n");
	assert_int_equal(capture.status, 0);
	capture_run(&capture, close_closed, NULL);
	assert_string_equal(capture.err, "tool: standard output: Bad file descriptor\n");
	assert_int_equal(capture.status, 0);
}

/* No file opened later becomes standard output, for others to write into. */
static int open_after_close(void *context)
{
	struct output *output = output_open(STDOUT_FILENO, "standard output");

	(void)context;
	if (output == NULL || !output_write(output, "abc", 3) || !output_close(output))
		return 10;
	if (open("/dev/null", O_RDONLY) <= STDERR_FILENO)
		return 11;
	return write(STDOUT_FILENO, "x", 1) == -1 && errno == EBADF ? 0 : 12;
}

static void close__standard_output__number_stays_taken(void **state)
{
	struct capture capture;

	(void)state;
	capture_run(&capture, open_after_close, NULL);
	assert_int_equal(capture.status, 0);
	assert_string_equal(capture.out, "abc");
	assert_string_equal(capture.err, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(write__pieces_of_all_sizes__arrive_in_order),
		cmocka_unit_test(take__pieces_of_all_sizes_in_memory__arrive_in_order),
		cmocka_unit_test(write__small_pieces__kept_until_flushed),
		cmocka_unit_test(write__buffer__page_aligned),
		cmocka_unit_test(text__longer_than_the_buffer__whole),
		cmocka_unit_test(write__nonblocking_pipe_and_slow_reader__waits),
		cmocka_unit_test(write__interrupted_by_signals__goes_on),
		cmocka_unit_test(open__pipe__made_larger_never_smaller),
		cmocka_unit_test(write__full_device__one_message_and_false_for_ever),
		cmocka_unit_test(write__closed_output__one_message),
		cmocka_unit_test(write__file_size_limit__one_message),
		cmocka_unit_test(write__reader_gone__silent),
		cmocka_unit_test(close__error_found_only_then__reported),
		cmocka_unit_test(close__standard_output__number_stays_taken),
	};

	return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
