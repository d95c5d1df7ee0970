#include "live.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "chart.h"
#include "message.h"
#include "number.h"
#include "rows.h"
#include "sheet.h"
#include "system.h"

/* ECMA-48, and the private modes that all its descendants have: 1049 is the alternate
 * screen, 7 wraps long lines, 25 shows the cursor. */
#define ENTER "\033[?1049h\033[?7l\033[?25l"
#define LEAVE "\033[m\033[H\033[J\033[?25h\033[?7h\033[?1049l"
#define HOME "\033[H"
#define ERASE_LINE "\033[K" /* what is behind the cursor */
#define ERASE_BELOW "\033[J"

#define USUAL_LINES 24

/* The count of a key at some redraw. */
struct seen {
	uint64_t key; /* its hash */
	uint64_t count;
};

/* All that a later redraw is compared with. */
struct snapshot {
	struct seen *seen; /* by hash; NULL where there was none yet, or no memory */
	size_t count;
	bool complete;
	uint64_t total, time;
};

struct live {
	struct output *out;
	bool lows, unicode, colours;
	struct snapshot last, before; /* of the last two timed redraws */
};

/* ------------------------------------------------------------------- screen */

static int screen;
static volatile sig_atomic_t taken;

/* Async-signal-safe. */
static void leave(void)
{
	const char *text = LEAVE;
	size_t left = taken ? sizeof LEAVE - 1 : 0;
	int saved = errno;

	taken = 0;
	while (left > 0) {
		ssize_t done = write(screen, text, left);

		if (done > 0) {
			text += done;
			left -= (size_t)done;
		} else if (done < 0 && errno == EAGAIN) {
			struct pollfd ready = { .fd = screen, .events = POLLOUT };

			(void)poll(&ready, 1, -1);
		} else if (done == 0 || errno != EINTR) {
			break;
		}
	}
	errno = saved;
}

bool live_possible(int fd)
{
	const char *kind = getenv("TERM");

	return kind != NULL && kind[0] != '\0' && strcmp(kind, "dumb") != 0 && isatty(fd) == 1;
}

struct live *live_open(struct output *out, bool lows)
{
	struct live *live = calloc(1, sizeof *live);

	if (live == NULL) {
		message("out of memory");
		return NULL;
	}
	live->out = out;
	live->lows = lows;
	live->unicode = chart_unicode();
	live->colours = sheet_colours();
	screen = out->fd;
	message_precede(leave);
	system_catch_redraws(leave);
	return live;
}

void live_close(struct live *live)
{
	if (live == NULL)
		return;
	leave();
	message_precede(NULL);
	free(live->last.seen);
	free(live->before.seen);
	free(live);
}

/* Whether the terminal is ours: a job in the background draws over nobody. */
static bool in_foreground(int fd)
{
	pid_t owner = tcgetpgrp(fd);

	return owner < 0 || owner == getpgrp();
}

static size_t window_lines(int fd)
{
	struct winsize window;

	return ioctl(fd, TIOCGWINSZ, &window) == 0 && window.ws_row > 0 ? window.ws_row :
									  USUAL_LINES;
}

/* ------------------------------------------------------------------ changes */

static uint64_t hash_of(const struct sketch_heavy *heavy)
{
	/* Keys longer than what is kept of them are told apart by their length. */
	return sketch_murmur3_x64_128(heavy->data, heavy->stored, (uint32_t)heavy->length).h1;
}

static int by_key(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

/* Fills in what changed since the snapshot: nothing, where there is none. */
static void compare(const struct snapshot *snapshot, const struct sketch_heavy *heavy,
		    struct rows_entry *entry)
{
	struct seen wanted = { hash_of(heavy), 0 };
	const struct seen *found;

	if (snapshot->seen == NULL)
		return;
	found = bsearch(&wanted, snapshot->seen, snapshot->count, sizeof wanted, by_key);
	entry->is_new = found == NULL && !snapshot->complete;
	entry->before = found != NULL ? found->count : 0;
}

static void take_snapshot(struct live *live, const struct live_table *table)
{
	struct seen *seen = malloc((table->count + 1) * sizeof *seen);

	free(live->before.seen);
	live->before = live->last;
	live->last = (struct snapshot){ seen, table->count, table->complete, table->total,
					system_clock() };
	if (seen == NULL)
		return;
	for (size_t i = 0; i < table->count; i++)
		seen[i] = (struct seen){ hash_of(&table->heavy[i]), table->heavy[i].bounds.high };
	qsort(seen, table->count, sizeof *seen, by_key);
}

/* ------------------------------------------------------------------- frames */

/* "12,345 records, +678 in 2.0 s; 90 keys, every count exact" */
static void put_summary(const struct live *live, const struct live_table *table,
			const struct snapshot *since, size_t room)
{
	char text[400], change[60] = "", digits[32];
	bool less = table->total < since->total;

	if (since->seen != NULL)
		snprintf(change, sizeof change, ", %c%s in %.1f s", less ? '-' : '+',
			 number_grouped(digits, less ? since->total - table->total :
						       table->total - since->total),
			 (double)(system_clock() - since->time) / 1e9);
	snprintf(text, sizeof text, "%s%s; %s", table->what, change, table->state);
	rows_print_text(live->out, live->unicode, (const uint8_t *)text, strlen(text), room, false);
}

static void end_line(const struct live *live, bool last)
{
	output_text(live->out, "%s", last ? ERASE_LINE ERASE_BELOW : ERASE_LINE "\r\n");
}

static void put_frame(const struct live *live, const struct live_table *table,
		      const struct snapshot *since, struct rows_entry *entries, size_t lines)
{
	const struct rows_style style = {
		chart_columns(live->out->fd), live->unicode, live->colours, true, live->lows, true
	};
	size_t above = lines < 2 ? 0 : lines < 4 ? 1 : 2;
	size_t fit = lines - above, count = table->count;
	struct rows_plan plan;

	count = count < table->shown ? count : table->shown;
	count = count < fit ? count : fit;
	for (size_t i = 0; i < count; i++) {
		entries[i] =
			rows_entry_of(&table->heavy[i], table->total, table->heavy[0].bounds.high);
		compare(since, &table->heavy[i], &entries[i]);
	}
	rows_lay_out(&plan, &style, entries, count);
	output_text(live->out, "%s%s", taken ? "" : ENTER, HOME);
	if (above > 0) {
		put_summary(live, table, since, style.columns - 1);
		end_line(live, above + count == 1);
	}
	if (above > 1) {
		rows_print_heading(&plan, live->out);
		end_line(live, count == 0);
	}
	if (above + count == 0)
		end_line(live, true);
	for (size_t i = 0; i < count; i++) {
		rows_print(&plan, live->out, i + 1, &entries[i]);
		end_line(live, i + 1 == count);
	}
}

bool live_draw(struct live *live, const struct live_table *table, bool timed)
{
	size_t lines = window_lines(live->out->fd);
	struct rows_entry *entries;
	sigset_t block, before;
	bool drawn = true;

	if (in_foreground(live->out->fd)) {
		entries = calloc(lines, sizeof *entries);
		if (entries == NULL) {
			message("out of memory");
			return false;
		}
		/* A stop comes before a frame or after it. */
		sigemptyset(&block);
		sigaddset(&block, SIGTSTP);
		sigprocmask(SIG_BLOCK, &block, &before);
		put_frame(live, table, timed ? &live->last : &live->before, entries, lines);
		taken = 1;
		drawn = output_flush(live->out);
		sigprocmask(SIG_SETMASK, &before, NULL);
		free(entries);
	}
	if (timed)
		take_snapshot(live, table);
	return drawn;
}
