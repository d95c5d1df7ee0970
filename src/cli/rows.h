/* rows.h - the heaviest keys as people read them: a row of a terminal each
 *
 *      #    count      low    share                    change  key
 *      1    1,234    1,230   12.3 %  ██████████▍         +56   /index.html
 *
 * No row is wider than the window less a column, whatever is in the keys, from 12
 * columns on: columns of little use go first where it is narrow, and what is left is the
 * key's, which is cut with an ellipsis.  Control bytes are escaped as message.h says, and
 * so is what no terminal would show in its place (width.h). */
#ifndef CLI_ROWS_H
#define CLI_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output.h"
#include "sketch.h"

/* What the terminal can do, and which columns are wanted besides count, share, bar and
 * key. */
struct rows_style {
	unsigned columns; /* of the window, at least 1 */
	bool unicode;     /* else all is ASCII */
	bool colours;     /* ECMA-48 "select graphic rendition" */
	bool ranks, lows, changes;
};

struct rows_entry {
	const uint8_t *key;
	size_t length;
	bool cut; /* the key goes on behind what there is of it */
	uint64_t count, low;
	double share; /* of the total, 0 to 1 */
	double part;  /* the bar: of the heaviest count, 0 to 1 */
	bool is_new;  /* was not there before; else its count was `before` */
	uint64_t before;
};

/* What a sketch says of a key, which did not change; `heaviest` is the count of the first. */
struct rows_entry rows_entry_of(const struct sketch_heavy *heavy, uint64_t total,
				uint64_t heaviest);

/* The width of each column, 0 where it was left out. */
struct rows_plan {
	struct rows_style style;
	unsigned rank, count, low, share, bar, change, key;
	bool brief; /* even the counts do not fit: 1.23e+12 */
};

/* Lays out rows so that these entries are in columns, and with them any that count no
 * more and did not change. */
void rows_lay_out(struct rows_plan *plan, const struct rows_style *style,
		  const struct rows_entry *entries, size_t count);

/* The row of an entry, or of the columns' names; without an end of line. */
void rows_print(const struct rows_plan *plan, struct output *out, size_t rank,
		const struct rows_entry *entry);
void rows_print_heading(const struct rows_plan *plan, struct output *out);

/* A text cut to `room` columns, with an ellipsis where it is cut; `cut` asks for one even
 * where all of it fits. */
void rows_print_text(struct output *out, bool unicode, const uint8_t *text, size_t length,
		     size_t room, bool cut);

#endif
