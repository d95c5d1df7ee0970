/* Messages: what is escaped, what is cut, and that each is one write. */
#include "message.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "capture.h"

/* ---------------------------------------------------------------- escaping */

static void assert_escaped(const char *text, size_t length, size_t size, const char *expected)
{
	char out[64];

	memset(out, 'x', sizeof out);
	assert_ptr_equal(message_escape(out, size, text, length), out);
	assert_string_equal(out, expected);
	for (size_t i = size; i < sizeof out; i++)
		assert_int_equal(out[i], 'x');
}

#define ASSERT_ESCAPED(text, expected) assert_escaped(text, sizeof text - 1, 64, expected)

static void escape__printable_text__unchanged(void **state)
{
	(void)state;
	ASSERT_ESCAPED("", "");
	ASSERT_ESCAPED("a b~!'\"\\", "a b~!'\"\\");
	ASSERT_ESCAPED("\xc3\xa9\xe3\x81\x82\xf0\x9f\x8c\xb8",
		       "\xc3\xa9\xe3\x81\x82\xf0\x9f\x8c\xb8");
	/* The edges of what two, three and four bytes can say. */
	ASSERT_ESCAPED("\xc2\xa0\xdf\xbf", "\xc2\xa0\xdf\xbf");
	ASSERT_ESCAPED("\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf",
		       "\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf");
	ASSERT_ESCAPED("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
}

static void escape__control_bytes__shown(void **state)
{
	(void)state;
	ASSERT_ESCAPED("1000\r", "1000\\r");
	ASSERT_ESCAPED("a\nb\tc", "a\\nb\\tc");
	ASSERT_ESCAPED("\0\001\033[2J\177", "\\000\\001\\033[2J\\177");
	ASSERT_ESCAPED("\xc2\x80\xc2\x9b\xc2\x9f", "\\302\\200\\302\\233\\302\\237");
}

static void escape__malformed_utf8__shown_byte_by_byte(void **state)
{
	(void)state;
	ASSERT_ESCAPED("caf\xe9", "caf\\351");
	ASSERT_ESCAPED("\xe9tat", "\\351tat");
	ASSERT_ESCAPED("\xc0\x80", "\\300\\200");                   /* overlong */
	ASSERT_ESCAPED("\xe0\x9f\xbf", "\\340\\237\\277");          /* overlong */
	ASSERT_ESCAPED("\xf0\x8f\xbf\xbf", "\\360\\217\\277\\277"); /* overlong */
	ASSERT_ESCAPED("\xed\xa0\x80", "\\355\\240\\200");          /* a surrogate */
	ASSERT_ESCAPED("\xf4\x90\x80\x80", "\\364\\220\\200\\200"); /* above U+10FFFF */
	ASSERT_ESCAPED("\xf5\x80\x80\x80", "\\365\\200\\200\\200");
	ASSERT_ESCAPED("\xff\xfe", "\\377\\376");
	ASSERT_ESCAPED("\xe3\x81", "\\343\\201"); /* ends too early */
	ASSERT_ESCAPED("\xe3\x81x", "\\343\\201x");
	ASSERT_ESCAPED("\xc3\xc3\xa9", "\\303\xc3\xa9");
}

static void escape__too_long__cut_between_characters(void **state)
{
	(void)state;
	assert_escaped("abcdefgh", 8, 9, "abcdefgh");
	assert_escaped("abcdefgh", 8, 8, "abcd...");
	assert_escaped("ab\xe3\x81\x82gh", 7, 8, "ab\xe3\x81\x82gh");
	assert_escaped("ab\xe3\x81\x82gh", 7, 7, "ab...");
	assert_escaped("abc\rdefgh", 9, 8, "abc...");
	assert_escaped("\001\002\003", 3, 12, "\\001\\002...");
	assert_escaped("abcdefgh", 8, 4, "...");
	assert_escaped("abcdefgh", 8, 3, "..");
	assert_escaped("abcdefgh", 8, 1, "");
}

static void escape__every_pair_of_bytes__safe_and_stable(void **state)
{
	(void)state;
	for (unsigned pair = 0; pair < 65536; pair++) {
		char text[2] = { (char)(pair >> 8), (char)(pair & 255) };
		char once[16], twice[16];

		message_escape(once, sizeof once, text, 2);
		for (const char *at = once; *at != '\0'; at++)
			assert_true((unsigned char)*at >= 0x20 && *at != 0x7f);
		message_escape(twice, sizeof twice, once, strlen(once));
		assert_string_equal(twice, once);
	}
}

/* ---------------------------------------------------------------- messages */

static int say(void *context)
{
	errno = ENOTTY;
	message("%s: %d", (const char *)context, 7);
	return errno == ENOTTY ? 0 : 1;
}

static void message__text__one_line_on_standard_error(void **state)
{
	struct capture capture;

	(void)state;
	capture_run(&capture, say, "file");
	assert_int_equal(capture.status, 0);
	assert_string_equal(capture.err, "tool: file: 7\n");
	assert_string_equal(capture.out, "");
	capture_run(&capture, say, "bad\nname\033[31m");
	assert_string_equal(capture.err, "tool: bad\\nname\\033[31m: 7\n");
}

static void message__very_long__cut_to_4096_bytes(void **state)
{
	static char name[20000];
	struct capture capture;

	(void)state;
	memset(name, 'n', sizeof name - 1);
	capture_run(&capture, say, name);
	assert_int_equal(capture.err_length, 4095);
	assert_string_equal(capture.err + 4090, "n...\n");
	memset(name, '\001', sizeof name - 1);
	capture_run(&capture, say, name);
	assert_true(capture.err_length <= 4096 && capture.err_length > 4085);
	assert_string_equal(capture.err + capture.err_length - 8, "\\001...\n");
}

/* A socket of datagrams keeps each write apart. */
static void message__any__is_one_write(void **state)
{
	int ends[2];
	char datagram[8192];
	struct sketch_error error = { SKETCH_IO, ENOSPC, "cannot write" };
	int saved = dup(STDERR_FILENO);

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
	dup2(ends[1], STDERR_FILENO);
	message_begin("tool");
	message("%s", "first");
	message_file("f", &error);
	dup2(saved, STDERR_FILENO);
	close(saved);
	assert_int_equal(recv(ends[0], datagram, sizeof datagram, MSG_DONTWAIT), 12);
	assert_memory_equal(datagram, "tool: first\n", 12);
	assert_int_equal(recv(ends[0], datagram, sizeof datagram, MSG_DONTWAIT), 47);
	assert_memory_equal(datagram, "tool: f: cannot write: No space left on device\n", 47);
	close(ends[0]);
	close(ends[1]);
}

static int say_of_file(void *context)
{
	message_file("a\rb", context);
	return 0;
}

static void message_file__each_kind_of_error__gives_its_reason(void **state)
{
	static const struct {
		struct sketch_error error;
		const char *line;
	} cases[] = {
		{ { SKETCH_IO, ENOENT, "" }, "tool: a\\rb: No such file or directory\n" },
		{ { SKETCH_IO, ENOENT, "open" }, "tool: a\\rb: open: No such file or directory\n" },
		{ { SKETCH_IO, 0, "odd" }, "tool: a\\rb: odd\n" },
		{ { SKETCH_DAMAGED, 0, "chunk 3 is damaged" },
		  "tool: a\\rb: chunk 3 is damaged\n" },
		{ { SKETCH_FOREIGN, 0, "" }, NULL },
	};
	struct capture capture;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct sketch_error error = cases[i].error;
		char expected[256];

		snprintf(expected, sizeof expected, "tool: a\\rb: %s\n",
			 sketch_status_text(error.status));
		capture_run(&capture, say_of_file, &error);
		assert_string_equal(capture.err, cases[i].line != NULL ? cases[i].line : expected);
	}
}

static int say_of_long_file(void *context)
{
	message_errno(context, EACCES);
	return 0;
}

static void message_errno__very_long_name__keeps_the_reason(void **state)
{
	static char name[9000];
	struct capture capture;

	(void)state;
	memset(name, '\002', sizeof name - 1);
	capture_run(&capture, say_of_long_file, name);
	assert_true(capture.err_length < 4096);
	assert_non_null(strstr(capture.err, "\\002...: Permission denied\n"));
}

static int say_to_closed(void *context)
{
	(void)context;
	close(STDERR_FILENO);
	message("lost");
	return 0;
}

static void message__standard_error_closed__returns(void **state)
{
	struct capture capture;

	(void)state;
	capture_run(&capture, say_to_closed, NULL);
	assert_int_equal(capture.status, 0);
}

static void input_name__dash__is_standard_input(void **state)
{
	(void)state;
	assert_string_equal(message_input_name("-"), "standard input");
	assert_string_equal(message_input_name("./-"), "./-");
	assert_string_equal(message_input_name(""), "");
}

/* ----------------------------------------------------------------- status */

static int show_status(void *context)
{
	(void)context;
	message_status("one of three");
	message_status("two");
	message("file: gone");
	message_status("three");
	message_status("");
	message_status("");
	return 0;
}

static void status__redrawn__covers_the_old_text_and_is_wiped(void **state)
{
	struct capture capture;

	(void)state;
	capture_run(&capture, show_status, NULL);
	assert_string_equal(capture.err, "\rtool: one of three"
					 "\rtool: two         "
					 "\r         \rtool: file: gone\n"
					 "\rtool: three"
					 "\r           \r");
}

static int show_long_status(void *context)
{
	char text[1000];
	int *terminal = context;

	dup2(*terminal, STDERR_FILENO);
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	message_status(text);
	message_status("");
	return 0;
}

static void status__narrow_terminal__cut_to_its_width(void **state)
{
	struct capture capture;
	char text[512];
	int tool, terminal = terminal_open(20, &tool);
	ssize_t length;

	(void)state;
	capture_run(&capture, show_long_status, &tool);
	assert_int_equal(capture.status, 0);
	length = read(terminal, text, sizeof text - 1);
	assert_true(length > 0);
	text[length] = '\0';
	assert_string_equal(text, "\rtool: xxxxxxxxxxxxx\r                   \r");
	close(tool);
	close(terminal);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escape__printable_text__unchanged),
		cmocka_unit_test(escape__control_bytes__shown),
		cmocka_unit_test(escape__malformed_utf8__shown_byte_by_byte),
		cmocka_unit_test(escape__too_long__cut_between_characters),
		cmocka_unit_test(escape__every_pair_of_bytes__safe_and_stable),
		cmocka_unit_test(message__text__one_line_on_standard_error),
		cmocka_unit_test(message__very_long__cut_to_4096_bytes),
		cmocka_unit_test(message__any__is_one_write),
		cmocka_unit_test(message_file__each_kind_of_error__gives_its_reason),
		cmocka_unit_test(message_errno__very_long_name__keeps_the_reason),
		cmocka_unit_test(message__standard_error_closed__returns),
		cmocka_unit_test(input_name__dash__is_standard_input),
		cmocka_unit_test(status__redrawn__covers_the_old_text_and_is_wiped),
		cmocka_unit_test(status__narrow_terminal__cut_to_its_width),
	};

	return cmocka_run_group_tests_name("message", tests, NULL, NULL);
}
