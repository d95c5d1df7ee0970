/* sheet.h - a table that is printed as text, as JSON, or one value of it
 *
 * A sheet has named columns, the first of which names the rows or counts them.
 * Elsewhere than on a terminal a line is its cells with tabs between, under a line
 * with the names of the columns; what a column does not have is "-".  A terminal
 * gets padding, rounded rates, sizes with units and thousands separators. */
#ifndef CLI_SHEET_H
#define CLI_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json.h"
#include "output.h"

#define SHEET_COLUMNS 6
#define SHEET_ROWS 264

enum cell_kind {
	CELL_NONE,   /* "-", null */
	CELL_COUNT,  /* a whole number */
	CELL_BYTES,  /* a whole number of bytes */
	CELL_NUMBER, /* a real number */
	CELL_RATE,   /* a probability, to be shown as such */
	CELL_WORD
};

struct cell {
	enum cell_kind kind;
	uint64_t count;
	double number;
	const char *word; /* must stay valid */
};

struct cell cell_none(void);
struct cell cell_count(uint64_t count);
struct cell cell_bytes(uint64_t bytes);
struct cell cell_number(double number);
struct cell cell_rate(double rate);
struct cell cell_word(const char *word);

/* A real number that is whole, up to where a double loses count. */
struct cell cell_whole(double number);

struct sheet {
	const char *columns[SHEET_COLUMNS];
	size_t column_count, row_count;
	struct cell cells[SHEET_ROWS][SHEET_COLUMNS];
};

/* Begins a sheet of 1..SHEET_COLUMNS columns, whose names must stay valid. */
void sheet_begin(struct sheet *sheet, const char *const *columns, size_t count);

/* Adds a row: as many cells as there are columns.  Rows beyond SHEET_ROWS are
 * dropped. */
void sheet_row(struct sheet *sheet, const struct cell *cells);

/* The same for a name and two cells. */
void sheet_pair(struct sheet *sheet, const char *name, struct cell first, struct cell second);

/* The row whose first cell is the name; NULL where there is none. */
const struct cell *sheet_find(const struct sheet *sheet, const char *name);

/* The cell as scripts read it: digits alone, every one of a real number. */
const char *cell_text(char out[32], const struct cell *cell);

void sheet_print(const struct sheet *sheet, struct output *out, bool terminal);

/* Members of an open object, one object for each column but the first:
 * "used":{"n":1,...},"textbook":{...}. */
void sheet_json_columns(const struct sheet *sheet, struct json *json);

/* One member, an array with an object for each row. */
void sheet_json_rows(const struct sheet *sheet, struct json *json, const char *name);

/* Prints a text that begins behind `indent` columns of a terminal on standard output.  It
 * is broken at blanks, and goes on below its beginning, so that no line is wider than the
 * window, where there is room for a few words. */
void sheet_fold(struct output *out, const char *text, size_t indent);

/* Whether a terminal is to be coloured: NO_COLOR is not set to anything but nothing
 * (no-color.org), and TERM is, but not to "dumb". */
bool sheet_colours(void);

#endif
