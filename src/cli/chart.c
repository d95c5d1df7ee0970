#include "chart.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>

#include "portable.h"

#define LOG_10 2.302585092994046
#define MARGIN 10 /* columns left of the curve: a rate, a blank and the axis */
#define WIDEST (CHART_MOST_COLUMNS - MARGIN)
#define ACROSS 2 /* dots in a braille character */
#define DOWN 4

/* Where the dots and the mark lie. */
struct canvas {
	unsigned columns, across, down; /* characters a row; dots in a character */
	double left, right, low, high;  /* what the edges stand for; y as log10 */
	uint8_t dots[CHART_ROWS][WIDEST];
	unsigned mark_row, mark_column; /* mark_row is CHART_ROWS where there is none */
};

/* -------------------------------------------------------------------- scales */

static double scaled_x(const struct chart *chart, double x)
{
	return chart->logarithmic ? portable_log(x) : x;
}

static double scaled_y(double y)
{
	return portable_log(y) / LOG_10;
}

static void set_scales(struct canvas *canvas, const struct chart *chart)
{
	canvas->left = scaled_x(chart, chart->x[0]);
	canvas->right = scaled_x(chart, chart->x[chart->count - 1]);
	canvas->low = 0;
	canvas->high = -400;
	for (size_t i = 0; i < chart->count; i++) {
		canvas->low = fmin(canvas->low, scaled_y(chart->y[i]));
		canvas->high = fmax(canvas->high, scaled_y(chart->y[i]));
	}
	/* a curve that is level is drawn in the middle */
	if (canvas->high - canvas->low < 0.02) {
		canvas->high += 0.01;
		canvas->low -= 0.01;
	}
	if (!(canvas->right > canvas->left))
		canvas->right = canvas->left + 1;
}

/* The dot of a value among `dots` from `first` to `last`. */
static unsigned place(double value, double first, double last, unsigned dots)
{
	double share = (value - first) / (last - first);

	if (!(share > 0))
		return 0;
	return share < 1 ? (unsigned)(share * (dots - 1) + 0.5) : dots - 1;
}

/* ---------------------------------------------------------------------- dots */

static void set_dot(struct canvas *canvas, unsigned x, unsigned y)
{
	/* the bits of braille characters: rows from above, columns 1-2-3-7, 4-5-6-8 */
	static const uint8_t bits[DOWN][ACROSS] = { { 1, 8 }, { 2, 16 }, { 4, 32 }, { 64, 128 } };

	canvas->dots[y / canvas->down][x / canvas->across] |=
		bits[y % canvas->down][x % canvas->across];
}

/* log10 of the curve at a scaled x, between the two points beside it. */
static double height_at(const struct chart *chart, double x)
{
	size_t i = 1;
	double from, to, share;

	if (chart->count == 1)
		return scaled_y(chart->y[0]);
	while (i + 1 < chart->count && scaled_x(chart, chart->x[i]) < x)
		i++;
	from = scaled_x(chart, chart->x[i - 1]);
	to = scaled_x(chart, chart->x[i]);
	share = fmin(fmax((x - from) / (to - from), 0), 1);
	return scaled_y(chart->y[i - 1]) * (1 - share) + scaled_y(chart->y[i]) * share;
}

static void draw_curve(struct canvas *canvas, const struct chart *chart)
{
	unsigned width = canvas->columns * canvas->across, height = CHART_ROWS * canvas->down;
	unsigned before = 0;

	for (unsigned dot = 0; dot < width; dot++) {
		double x = canvas->left +
			   (canvas->right - canvas->left) * dot / (width > 1 ? width - 1 : 1);
		unsigned y = place(height_at(chart, x), canvas->high, canvas->low, height);
		unsigned from = dot > 0 ? before : y;

		set_dot(canvas, dot, y);
		/* a steep piece is a line and not a spray of dots */
		for (unsigned at = from; at != y; at += at < y ? 1 : UINT32_MAX)
			set_dot(canvas, dot, at);
		before = y;
	}
}

static void place_mark(struct canvas *canvas, const struct chart *chart)
{
	double x = scaled_x(chart, chart->mark_x);

	canvas->mark_row = CHART_ROWS;
	if (!chart->marked || x < canvas->left || x > canvas->right)
		return;
	canvas->mark_row = place(scaled_y(chart->mark_y), canvas->high, canvas->low,
				 CHART_ROWS * canvas->down) /
			   canvas->down;
	canvas->mark_column =
		place(x, canvas->left, canvas->right, canvas->columns * canvas->across) /
		canvas->across;
}

/* ------------------------------------------------------------------- writing */

/* A braille character, U+2800 and its dots, in UTF-8. */
static void put_dots(struct output *out, uint8_t dots, bool ascii)
{
	unsigned char text[3] = { 0xe2, (unsigned char)(0xa0 | dots >> 6),
				  (unsigned char)(0x80 | (dots & 0x3f)) };

	if (dots == 0)
		output_write(out, " ", 1);
	else if (ascii)
		output_write(out, "*", 1);
	else
		output_write(out, text, sizeof text);
}

static void put_row(const struct canvas *canvas, const struct chart *chart, unsigned row,
		    struct output *out)
{
	unsigned last = canvas->columns;

	while (last > 0 && canvas->dots[row][last - 1] == 0 &&
	       !(row == canvas->mark_row && last - 1 == canvas->mark_column))
		last--;
	if (row % 5 == 0)
		output_text(out, "%8.1e ",
			    portable_exp(LOG_10 * (canvas->high - (canvas->high - canvas->low) *
									  row / (CHART_ROWS - 1))));
	else
		output_text(out, "%9s", "");
	output_text(out, "%s", chart->ascii ? "|" : "│");
	for (unsigned column = 0; column < last; column++) {
		if (row == canvas->mark_row && column == canvas->mark_column)
			output_text(out, "%s", chart->ascii ? "O" : "●");
		else
			put_dots(out, canvas->dots[row][column], chart->ascii);
	}
	output_write(out, "\n", 1);
}

static void put_axis(const struct canvas *canvas, const struct chart *chart, struct output *out)
{
	char first[32], last[32];
	int room;

	output_text(out, "%9s%s", "", chart->ascii ? "+" : "└");
	for (unsigned column = 0; column < canvas->columns; column++)
		output_text(out, "%s", chart->ascii ? "-" : "─");
	snprintf(first, sizeof first, "%.4g", chart->x[0]);
	snprintf(last, sizeof last, "%.4g", chart->x[chart->count - 1]);
	room = (int)canvas->columns - (int)strlen(first) - (int)strlen(last);
	if (room < (int)strlen(chart->label) + 2)
		output_text(out, "\n%10s%s\n", "", first);
	else
		output_text(out, "\n%10s%s%*s%*s%s\n", "", first,
			    (room + (int)strlen(chart->label)) / 2, chart->label,
			    room - (room + (int)strlen(chart->label)) / 2, "", last);
}

void chart_draw(const struct chart *chart, struct output *out)
{
	struct canvas canvas = { 0 };
	unsigned columns = chart->columns;

	if (chart->count == 0)
		return;
	if (columns < CHART_LEAST_COLUMNS)
		columns = CHART_LEAST_COLUMNS;
	if (columns > CHART_MOST_COLUMNS)
		columns = CHART_MOST_COLUMNS;
	canvas.columns = columns - MARGIN;
	canvas.across = chart->ascii ? 1 : ACROSS;
	canvas.down = chart->ascii ? 1 : DOWN;
	set_scales(&canvas, chart);
	draw_curve(&canvas, chart);
	place_mark(&canvas, chart);
	for (unsigned row = 0; row < CHART_ROWS; row++)
		put_row(&canvas, chart, row, out);
	put_axis(&canvas, chart, out);
}

/* ---------------------------------------------------------------------- bars */

unsigned chart_bar(char text[3 * CHART_BAR_MOST + 1], bool unicode, unsigned most, double part)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	unsigned steps = unicode ? 8 : 1;
	unsigned length = (unsigned)(part * most * steps + 0.5);

	if (length == 0 && part > 0)
		length = 1;
	if (length > most * steps)
		length = most * steps;
	for (unsigned i = 0; i < length / steps; i++)
		text = stpcpy(text, unicode ? "█" : "#");
	strcpy(text, eighths[length % steps]);
	return (length + steps - 1) / steps;
}

/* --------------------------------------------------------------- environment */

unsigned chart_columns(int fd)
{
	const char *columns = getenv("COLUMNS");
	struct winsize window;
	unsigned long width = 0;

	if (ioctl(fd, TIOCGWINSZ, &window) == 0 && window.ws_col > 0)
		return window.ws_col;
	if (columns != NULL && columns[0] >= '1' && columns[0] <= '9')
		width = strtoul(columns, NULL, 10);
	return width > 0 && width <= 10000 ? (unsigned)width : 80;
}

bool chart_unicode(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *locale = getenv(names[i]);

		if (locale != NULL && locale[0] != '\0')
			return strcasestr(locale, "utf-8") != NULL ||
			       strcasestr(locale, "utf8") != NULL;
	}
	return false;
}
