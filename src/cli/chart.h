/* chart.h - curves and bars drawn with characters
 *
 * Rates on a logarithmic scale upwards, something else to the right.  Unicode has
 * eight dots to a character (braille), ASCII one. */
#ifndef CLI_CHART_H
#define CLI_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "output.h"

#define CHART_ROWS 16
#define CHART_LEAST_COLUMNS 40
#define CHART_MOST_COLUMNS 160
#define CHART_BAR_MOST 40 /* characters */

struct chart {
	const char *label;   /* of the x axis */
	const double *x, *y; /* the points, x ascending, y above 0 */
	size_t count;
	bool logarithmic; /* the x axis, too; then x is above 0 */
	bool marked;      /* there is a point to be marked, at mark_x, mark_y */
	double mark_x, mark_y;
	unsigned columns; /* of the whole; brought into the limits above */
	bool ascii;
};

/* Draws CHART_ROWS lines of curve, and two below them for the x axis. */
void chart_draw(const struct chart *chart, struct output *out);

/* A bar that is as long as its part, 0 to 1, of at most CHART_BAR_MOST characters, to an
 * eighth of one where there are such; never nothing for something.  Returns its length in
 * characters. */
unsigned chart_bar(char text[3 * CHART_BAR_MOST + 1], bool unicode, unsigned most, double part);

/* The width of the terminal on a descriptor, else COLUMNS where that is a number,
 * else 80. */
unsigned chart_columns(int fd);

/* Whether the locale in the environment is one that has UTF-8: LC_ALL, LC_CTYPE or
 * LANG, the first of them that is set and not empty, says so. */
bool chart_unicode(void);

#endif
