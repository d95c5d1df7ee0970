#include "message.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* PIPE_BUF of Linux: up to here a write to a pipe that several processes share is
 * never torn.  A name may take half of it, so that the reason after it survives. */
#define LINE_SIZE 4096
#define NAME_SIZE (LINE_SIZE / 2)
#define STATUS_COLUMNS 200

static const char *program = "sketch";

/* Columns of the status line that the cursor stands behind. */
static size_t status_shown;
static void (*volatile precede)(void);

void message_begin(const char *name)
{
	program = name;
}

void message_precede(void (*before)(void))
{
	precede = before;
}

const char *message_program(void)
{
	return program;
}

const char *message_input_name(const char *file)
{
	return strcmp(file, "-") == 0 ? "standard input" : file;
}

/* ---------------------------------------------------------------- escaping */

static bool is_continuation(uint8_t byte, uint8_t low, uint8_t high)
{
	return byte >= low && byte <= high;
}

/* The length of the well-formed UTF-8 sequence of two bytes or more at `at`, 0
 * where there is none (The Unicode Standard, table 3-7: no overlong forms, no
 * surrogates, nothing above U+10FFFF). */
static size_t utf8_sequence(const uint8_t *at, size_t left)
{
	uint8_t low = 0x80, high = 0xBF;
	size_t length;

	if (at[0] >= 0xC2 && at[0] <= 0xDF)
		length = 2;
	else if (at[0] >= 0xE0 && at[0] <= 0xEF)
		length = 3;
	else if (at[0] >= 0xF0 && at[0] <= 0xF4)
		length = 4;
	else
		return 0;
	if (at[0] == 0xE0)
		low = 0xA0;
	else if (at[0] == 0xED)
		high = 0x9F;
	else if (at[0] == 0xF0)
		low = 0x90;
	else if (at[0] == 0xF4)
		high = 0x8F;
	if (length > left || !is_continuation(at[1], low, high))
		return 0;
	for (size_t i = 2; i < length; i++)
		if (!is_continuation(at[i], 0x80, 0xBF))
			return 0;
	return length;
}

size_t message_escape_byte(uint8_t byte, char unit[4])
{
	static const char letters[] = { '\t', 't', '\n', 'n', '\r', 'r' };

	unit[0] = '\\';
	for (size_t i = 0; i < sizeof letters; i += 2) {
		if (byte == (uint8_t)letters[i]) {
			unit[1] = letters[i + 1];
			return 2;
		}
	}
	unit[1] = (char)('0' + (byte >> 6));
	unit[2] = (char)('0' + (byte >> 3 & 7));
	unit[3] = (char)('0' + (byte & 7));
	return 4;
}

size_t message_escape_unit(const uint8_t *at, size_t left, char unit[4], size_t *length)
{
	size_t sequence = utf8_sequence(at, left);
	bool c1_control = sequence == 2 && at[0] == 0xC2 && at[1] < 0xA0;

	if (sequence > 0 && !c1_control) {
		memcpy(unit, at, sequence);
		*length = sequence;
		return sequence;
	}
	if (at[0] >= 0x20 && at[0] < 0x7F) {
		unit[0] = (char)at[0];
		*length = 1;
	} else {
		*length = message_escape_byte(at[0], unit);
	}
	return 1;
}

char *message_escape(char *out, size_t size, const char *text, size_t length)
{
	const uint8_t *at = (const uint8_t *)text;
	size_t used = 0, room_for_dots = 0;

	if (size == 0)
		return out;
	while (length > 0) {
		char unit[4];
		size_t unit_length;
		size_t taken = message_escape_unit(at, length, unit, &unit_length);

		if (used + 3 < size)
			room_for_dots = used;
		if (unit_length >= size - used) {
			for (used = room_for_dots; used + 1 < size && used < room_for_dots + 3;)
				out[used++] = '.';
			break;
		}
		memcpy(out + used, unit, unit_length);
		used += unit_length;
		at += taken;
		length -= taken;
	}
	out[used] = '\0';
	return out;
}

/* ----------------------------------------------------------------- writing */

static void write_line(const char *line, size_t length)
{
	int saved = errno;

	while (length > 0) {
		ssize_t taken = write(STDERR_FILENO, line, length);

		if (taken >= 0) {
			line += taken;
			length -= (size_t)taken;
		} else if (errno == EAGAIN) {
			struct pollfd ready = { .fd = STDERR_FILENO, .events = POLLOUT };

			(void)poll(&ready, 1, -1);
		} else if (errno != EINTR) {
			break;
		}
	}
	errno = saved;
}

/* Puts what returns the cursor to the margin of an empty line; by blanks, since
 * every terminal knows those.  Returns the length, at most STATUS_COLUMNS + 2. */
static size_t put_wipe(char *out)
{
	size_t columns = status_shown;

	if (columns == 0)
		return 0;
	out[0] = '\r';
	memset(out + 1, ' ', columns);
	out[columns + 1] = '\r';
	status_shown = 0;
	return columns + 2;
}

static size_t put_program(char *out, size_t size)
{
	size_t length;

	message_escape(out, size - 2, program, strlen(program));
	length = strlen(out);
	memcpy(out + length, ": ", 2);
	return length + 2;
}

void message_text(const char *text, size_t length)
{
	char line[LINE_SIZE];
	size_t used = put_wipe(line);

	if (precede != NULL)
		precede();
	used += put_program(line + used, 128);
	message_escape(line + used, sizeof line - used - 1, text, length);
	used += strlen(line + used);
	line[used++] = '\n';
	write_line(line, used);
}

void message(const char *format, ...)
{
	/* As long as the line, so that a text cut here is cut, and marked, there. */
	char text[LINE_SIZE];
	int saved = errno;
	va_list arguments;

	va_start(arguments, format);
	if (vsnprintf(text, sizeof text, format, arguments) < 0)
		text[0] = '\0';
	va_end(arguments);
	errno = saved;
	message_text(text, strlen(text));
}

void message_errno(const char *file, int errnum)
{
	char name[NAME_SIZE];

	message_escape(name, sizeof name, file, strlen(file));
	message("%s: %s", name, strerror(errnum));
}

void message_file(const char *file, const struct sketch_error *error)
{
	char name[NAME_SIZE];
	bool system_call = error->status == SKETCH_IO && error->errnum != 0;

	message_escape(name, sizeof name, file, strlen(file));
	if (system_call && error->text[0] != '\0')
		message("%s: %s: %s", name, error->text, strerror(error->errnum));
	else if (system_call)
		message("%s: %s", name, strerror(error->errnum));
	else if (error->text[0] != '\0')
		message("%s: %s", name, error->text);
	else
		message("%s: %s", name, sketch_status_text(error->status));
}

/* One column is left free: a terminal may wrap as soon as the last is filled. */
static size_t status_width(void)
{
	struct winsize window;
	int saved = errno;
	size_t width = STATUS_COLUMNS;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 &&
	    window.ws_col <= STATUS_COLUMNS)
		width = window.ws_col - 1u;
	errno = saved;
	return width;
}

void message_status(const char *text)
{
	char line[2 * STATUS_COLUMNS + 8], shown[STATUS_COLUMNS + 1];
	size_t before = status_shown, used = 0, columns = 0;

	if (text[0] != '\0') {
		columns = put_program(shown, sizeof shown);
		message_escape(shown + columns, sizeof shown - columns, text, strlen(text));
		columns = strlen(shown);
		if (columns > status_width())
			columns = status_width();
	}
	if (columns == 0) {
		used = put_wipe(line);
	} else {
		/* Text first, then blanks over the rest of the old one: no flicker. */
		line[used++] = '\r';
		memcpy(line + used, shown, columns);
		used += columns;
		for (; before > columns; before--)
			line[used++] = ' ';
	}
	status_shown = columns;
	write_line(line, used);
}
