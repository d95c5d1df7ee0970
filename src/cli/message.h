/* message.h - what the tools say on standard error
 *
 * One line a message: "tool: text", in one write.  Bytes that a terminal would
 * act on (control bytes, DEL, bytes of malformed UTF-8 and C1 controls) are shown
 * as \n, \r, \t or \ooo, so that a file name or a word of the command line can
 * neither break the line nor drive the terminal.  A line longer than 4 KiB is cut
 * and ends in "...".  No function here changes errno. */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "sketch.h"

/* Names the program; to be called first.  `name` must outlive the process. */
void message_begin(const char *name);
const char *message_program(void);

/* Prints "tool: " and the text. */
void message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same with a text that stands already: async-signal-safe. */
void message_text(const char *text, size_t length);

/* "tool: file: reason"; the reason is error->text, or sketch_status_text where
 * that is empty; for SKETCH_IO it is strerror(errnum), with error->text before it
 * where that is not empty. */
void message_file(const char *file, const struct sketch_error *error);

/* "tool: file: strerror(errnum)". */
void message_errno(const char *file, int errnum);

/* `before` is called before each message is written, and must be async-signal-safe: for
 * a tool that has taken the whole screen, on which the message would not last. */
void message_precede(void (*before)(void));

/* "standard input" for "-", else the name. */
const char *message_input_name(const char *file);

/* Shows "tool: text" on a terminal without ending the line, in place of the text
 * shown so before, cut to the terminal's width; "" wipes it.  A message wipes
 * it, too.  The text is printable ASCII. */
void message_status(const char *text);

/* Writes `length` bytes of text into `out`, at most `size` bytes with the final
 * NUL, escaped as above; a cut is marked by "...".  A text escaped twice is the
 * text escaped once.  Returns out.  Async-signal-safe. */
char *message_escape(char *out, size_t size, const char *text, size_t length);

/* Shows what stands at `at`, up to `left` bytes of it, as message_escape does: a character or
 * a byte, in `unit`, sets its length, and returns how many bytes were shown. */
size_t message_escape_unit(const uint8_t *at, size_t left, char unit[4], size_t *length);

/* The same of one byte, whatever it is but printable ASCII. */
size_t message_escape_byte(uint8_t byte, char unit[4]);

#endif
