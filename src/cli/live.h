/* live.h - a table that is redrawn in place on a terminal
 *
 * It has the whole window, the alternate screen where the terminal has one, so that neither a
 * resize nor a long row leaves anything behind; a frame is one write, and is drawn over
 * the last without erasing it first, so that nothing flickers.  The screen is given
 * back before a message is written and before a stop, and taken again by the next
 * frame.  In the background nothing is drawn. */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output.h"
#include "sketch.h"

/* Whether the descriptor is a terminal on which the cursor can be moved: TERM is set, and
 * not to "dumb". */
bool live_possible(int fd);

struct live;

/* `out` is that terminal.  NULL where there is no memory (a message was printed).  There can
 * be but one at a time. */
struct live *live_open(struct output *out, bool lows);

/* As many keys as this are worth giving to live_draw, beyond those to be shown: of these it
 * knows the change when they come up. */
#define LIVE_KNOWN 4096

struct live_table {
	const struct sketch_heavy *heavy; /* heaviest first */
	size_t count, shown;              /* of them, at most `shown` are for the eye */
	bool complete;                    /* no key is missing among them */
	uint64_t total;
	const char *what, *state; /* printable ASCII for the line above: what has been read,
	                           * and how the counts are */
};

/* Draws the table.  Changes are those since the last redraw that was `timed`; one that is
 * not, after a resize, shows the same changes again.  What does not fit the window is
 * left out.  False where it could not be written (a message was printed). */
bool live_draw(struct live *live, const struct live_table *table, bool timed);

/* Gives the screen back, as it was before.  NULL is allowed. */
void live_close(struct live *live);

#endif
