#include "sheet.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chart.h"
#include "number.h"

#define WIDEST 40    /* a longer cell is not padded for */
#define NARROWEST 16 /* that a text is folded to */
#define EXACT 0x1p53

struct cell cell_none(void)
{
	return (struct cell){ .kind = CELL_NONE };
}

struct cell cell_count(uint64_t count)
{
	return (struct cell){ .kind = CELL_COUNT, .count = count };
}

struct cell cell_bytes(uint64_t bytes)
{
	return (struct cell){ .kind = CELL_BYTES, .count = bytes };
}

struct cell cell_number(double number)
{
	return (struct cell){ .kind = CELL_NUMBER, .number = number };
}

struct cell cell_rate(double rate)
{
	return (struct cell){ .kind = CELL_RATE, .number = rate };
}

struct cell cell_word(const char *word)
{
	return (struct cell){ .kind = CELL_WORD, .word = word };
}

struct cell cell_whole(double number)
{
	if (number >= 0 && number < EXACT)
		return cell_count((uint64_t)number);
	return cell_number(number);
}

void sheet_begin(struct sheet *sheet, const char *const *columns, size_t count)
{
	sheet->column_count = count;
	sheet->row_count = 0;
	for (size_t i = 0; i < count; i++)
		sheet->columns[i] = columns[i];
}

void sheet_row(struct sheet *sheet, const struct cell *cells)
{
	if (sheet->row_count == SHEET_ROWS)
		return;
	memcpy(sheet->cells[sheet->row_count++], cells, sheet->column_count * sizeof *cells);
}

void sheet_pair(struct sheet *sheet, const char *name, struct cell first, struct cell second)
{
	const struct cell cells[] = { cell_word(name), first, second };

	sheet_row(sheet, cells);
}

const struct cell *sheet_find(const struct sheet *sheet, const char *name)
{
	for (size_t i = 0; i < sheet->row_count; i++) {
		const struct cell *cells = sheet->cells[i];

		if (cells->kind == CELL_WORD && strcmp(cells->word, name) == 0)
			return cells;
	}
	return NULL;
}

/* ---------------------------------------------------------------------- text */

const char *cell_text(char out[32], const struct cell *cell)
{
	switch (cell->kind) {
	case CELL_COUNT:
	case CELL_BYTES:
		snprintf(out, 32, "%" PRIu64, cell->count);
		return out;
	case CELL_NUMBER:
	case CELL_RATE:
		return isfinite(cell->number) ? number_print(out, cell->number) : "inf";
	case CELL_WORD:
		return cell->word;
	case CELL_NONE:
		break;
	}
	return "-";
}

/* Six digits of a number, with separators. */
static const char *shown_number(char out[32], double number)
{
	char text[32], *rest;

	if (!isfinite(number))
		return "inf";
	if (number >= 1e6 && number < 1e15)
		return number_grouped(out, (uint64_t)(number + 0.5));
	snprintf(text, sizeof text, "%.6g", number);
	if (number < 1000 || number >= 1e6)
		return strcpy(out, text);
	number_grouped(out, strtoull(text, &rest, 10));
	return strcat(out, rest);
}

/* The cell as people read it. */
static const char *cell_shown(char out[32], const struct cell *cell)
{
	switch (cell->kind) {
	case CELL_COUNT:
		return number_grouped(out, cell->count);
	case CELL_BYTES:
		return number_size(out, cell->count);
	case CELL_RATE:
		snprintf(out, 32, cell->number >= 0.0001 ? "%.4g %%" : "%.4g",
			 cell->number >= 0.0001 ? cell->number * 100 : cell->number);
		return out;
	case CELL_NUMBER:
		return shown_number(out, cell->number);
	default:
		return cell_text(out, cell);
	}
}

static void print_plain(const struct sheet *sheet, struct output *out)
{
	char text[32];

	for (size_t i = 0; i < sheet->column_count; i++)
		output_text(out, "%s%s", i > 0 ? "\t" : "", sheet->columns[i]);
	output_write(out, "\n", 1);
	for (size_t row = 0; row < sheet->row_count; row++) {
		for (size_t i = 0; i < sheet->column_count; i++)
			output_text(out, "%s%s", i > 0 ? "\t" : "",
				    cell_text(text, &sheet->cells[row][i]));
		output_write(out, "\n", 1);
	}
}

static int width_of(const struct sheet *sheet, size_t column)
{
	size_t width = strlen(sheet->columns[column]);
	char text[32];

	for (size_t row = 0; row < sheet->row_count; row++) {
		size_t length = strlen(cell_shown(text, &sheet->cells[row][column]));

		if (length > width && length <= WIDEST)
			width = length;
	}
	return (int)width;
}

bool sheet_colours(void)
{
	const char *no_colour = getenv("NO_COLOR"), *kind = getenv("TERM");

	return (no_colour == NULL || no_colour[0] == '\0') && kind != NULL && kind[0] != '\0' &&
	       strcmp(kind, "dumb") != 0;
}

/* Whether a column is of words, most of it. */
static bool has_words(const struct sheet *sheet, size_t column)
{
	size_t words = 0, numbers = 0;

	for (size_t row = 0; row < sheet->row_count; row++) {
		words += sheet->cells[row][column].kind == CELL_WORD;
		numbers += sheet->cells[row][column].kind > CELL_NONE &&
			   sheet->cells[row][column].kind < CELL_WORD;
	}
	return words > numbers;
}

void sheet_fold(struct output *out, const char *text, size_t indent)
{
	size_t window = chart_columns(STDOUT_FILENO);
	size_t room = window >= indent + NARROWEST ? window - indent : NARROWEST;

	while (strlen(text) > room) {
		size_t length = room;

		while (length > 0 && text[length] != ' ')
			length--;
		if (length == 0)
			length = strcspn(text, " ");
		if (text[length] == '\0')
			break;
		output_text(out, "%.*s\n%*s", (int)length, text, (int)indent, "");
		text += length + 1;
	}
	output_text(out, "%s", text);
}

/* Numbers to the right, words to the left; the last words are folded. */
static void print_padded(const struct sheet *sheet, struct output *out)
{
	bool colours = sheet_colours();
	int widths[SHEET_COLUMNS];
	size_t indent = 0;
	char text[32];

	for (size_t i = 0; i < sheet->column_count; i++) {
		widths[i] = width_of(sheet, i);
		if (has_words(sheet, i)) /* the last one needs no blanks behind it */
			widths[i] = i + 1 == sheet->column_count ? 0 : -widths[i];
		indent += (size_t)abs(widths[i]) + (i > 0 ? 2 : 0);
		output_text(out, "%s%s%*s%s", i > 0 ? "  " : "", colours ? "\033[1m" : "",
			    widths[i], sheet->columns[i], colours ? "\033[0m" : "");
	}
	output_write(out, "\n", 1);
	for (size_t row = 0; row < sheet->row_count; row++) {
		for (size_t i = 0; i < sheet->column_count; i++) {
			const char *shown = cell_shown(text, &sheet->cells[row][i]);

			output_text(out, "%s%*s", i > 0 ? "  " : "", widths[i],
				    widths[i] == 0 ? "" : shown);
			if (widths[i] == 0)
				sheet_fold(out, shown, indent);
		}
		output_write(out, "\n", 1);
	}
}

void sheet_print(const struct sheet *sheet, struct output *out, bool terminal)
{
	if (terminal)
		print_padded(sheet, out);
	else
		print_plain(sheet, out);
}

/* ---------------------------------------------------------------------- JSON */

static void json_cell(struct json *json, const char *name, const struct cell *cell)
{
	switch (cell->kind) {
	case CELL_COUNT:
	case CELL_BYTES:
		json_count(json, name, cell->count);
		break;
	case CELL_NUMBER:
	case CELL_RATE:
		json_number(json, name, cell->number);
		break;
	case CELL_WORD:
		json_word(json, name, cell->word);
		break;
	case CELL_NONE:
		json_null(json, name);
		break;
	}
}

void sheet_json_columns(const struct sheet *sheet, struct json *json)
{
	for (size_t i = 1; i < sheet->column_count; i++) {
		json_open(json, sheet->columns[i]);
		for (size_t row = 0; row < sheet->row_count; row++)
			json_cell(json, sheet->cells[row][0].word, &sheet->cells[row][i]);
		json_close(json);
	}
}

void sheet_json_rows(const struct sheet *sheet, struct json *json, const char *name)
{
	json_open_array(json, name);
	for (size_t row = 0; row < sheet->row_count; row++) {
		json_open(json, NULL);
		for (size_t i = 0; i < sheet->column_count; i++)
			json_cell(json, sheet->columns[i], &sheet->cells[row][i]);
		json_close(json);
	}
	json_close_array(json);
}
