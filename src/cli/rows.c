#include "rows.h"

#include <stdio.h>

#include "chart.h"
#include "message.h"
#include "number.h"
#include "width.h"

#define GAP 2
#define SHARE 7        /* "100.0 %" */
#define COUNT_USUAL 9  /* "1,234,567": so that columns do not move all the time */
#define CHANGE_USUAL 8 /* "+123,456" */
#define BRIEF 8        /* "1.23e+19" */
#define COUNT_LEAST 5  /* its name */
#define KEY_LEAST 16
#define KEY_LAST 6
#define BAR_LEAST 4

#define BOLD "\033[1m"
#define RED "\033[31m"
#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define CYAN "\033[36m"
#define PLAIN "\033[m"

struct rows_entry rows_entry_of(const struct sketch_heavy *heavy, uint64_t total, uint64_t heaviest)
{
	double count = (double)heavy->bounds.high;

	return (struct rows_entry){
		.key = heavy->data,
		.length = heavy->stored,
		.cut = heavy->length > heavy->stored,
		.count = heavy->bounds.high,
		.low = heavy->bounds.low,
		.share = total > 0 ? count / (double)total : 0,
		.part = heaviest > 0 ? count / (double)heaviest : 0,
		.before = heavy->bounds.high,
	};
}

/* ------------------------------------------------------------------- layout */

/* "+12", "-3", "new", or nothing where nothing changed. */
static const char *change_text(char out[40], const struct rows_entry *entry)
{
	char digits[32];
	bool less = entry->count < entry->before;

	if (entry->is_new)
		return "new";
	if (entry->count == entry->before)
		return "";
	snprintf(out, 40, "%c%s", less ? '-' : '+',
		 number_grouped(digits, less ? entry->before - entry->count :
					       entry->count - entry->before));
	return out;
}

static unsigned longer(unsigned width, const char *text)
{
	size_t length = strlen(text);

	return length > width ? (unsigned)length : width;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned digits_of(size_t number)
{
	unsigned digits = 1;

	for (; number >= 10; number /= 10)
		digits++;
	return digits;
}

/* What the columns beside key and bar take, with the gap behind each. */
static unsigned taken(const struct rows_plan *plan)
{
	const unsigned widths[] = { plan->rank, plan->count, plan->low, plan->share, plan->change };
	unsigned sum = 0;

	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
		sum += widths[i] > 0 ? widths[i] + GAP : 0;
	return sum;
}

/* Leaves columns out, the least useful first, until a key has room. */
static void make_room(struct rows_plan *plan, unsigned width, unsigned longest_count)
{
	unsigned *const dispensable[] = { &plan->rank, &plan->share, &plan->change, &plan->low };

	for (size_t i = 0; i < sizeof dispensable / sizeof *dispensable; i++) {
		if (taken(plan) + KEY_LEAST > width)
			*dispensable[i] = 0;
	}
	if (taken(plan) + KEY_LEAST > width)
		plan->count = longest_count > COUNT_LEAST ? longest_count : COUNT_LEAST;
	if (taken(plan) + KEY_LAST > width && plan->count > BRIEF) {
		plan->count = BRIEF;
		plan->brief = true;
	}
}

void rows_lay_out(struct rows_plan *plan, const struct rows_style *style,
		  const struct rows_entry *entries, size_t count)
{
	unsigned width = style->columns > 1 ? style->columns - 1 : 1, room;
	unsigned counts = 1, changes = CHANGE_USUAL;

	for (size_t i = 0; i < count; i++) {
		char text[40];

		counts = longer(counts, number_grouped(text, entries[i].count));
		changes = longer(changes, change_text(text, &entries[i]));
	}
	*plan = (struct rows_plan){ .style = *style, .share = SHARE };
	plan->count = counts > COUNT_USUAL ? counts : COUNT_USUAL;
	plan->rank = style->ranks ? digits_of(count) + 1 : 0;
	plan->low = style->lows ? plan->count : 0;
	plan->change = style->changes ? changes : 0;
	make_room(plan, width, counts);
	room = width > taken(plan) ? width - taken(plan) : 0;
	if (room >= KEY_LEAST + GAP + BAR_LEAST) {
		plan->bar = least((room - GAP) / 3, least(room - GAP - KEY_LEAST, CHART_BAR_MOST));
		room -= plan->bar + GAP;
	}
	plan->key = room;
}

/* --------------------------------------------------------------------- text */

/* A character or byte as it is shown. */
struct unit {
	char text[4];
	size_t length, taken;
	unsigned width;
};

static void next_unit(struct unit *unit, bool unicode, const uint8_t *at, size_t left)
{
	unit->taken = message_escape_unit(at, left, unit->text, &unit->length);
	unit->width = (unsigned)unit->length;
	if (unit->taken > 1) {
		int width = unicode ? width_of(width_decode(at, unit->taken)) : -1;

		if (width < 0) {
			unit->taken = 1;
			unit->length = message_escape_byte(at[0], unit->text);
			unit->width = (unsigned)unit->length;
		} else {
			unit->width = (unsigned)width;
		}
	}
}

/* The bytes of a text that fit into so many columns. */
static size_t fitting(bool unicode, const uint8_t *text, size_t length, size_t room)
{
	size_t used = 0, done = 0;

	while (done < length) {
		struct unit unit;

		next_unit(&unit, unicode, text + done, length - done);
		if (used + unit.width > room)
			break;
		used += unit.width;
		done += unit.taken;
	}
	return done;
}

void rows_print_text(struct output *out, bool unicode, const uint8_t *text, size_t length,
		     size_t room, bool cut)
{
	const char *ellipsis = unicode ? "…" : "...";
	size_t dots = unicode ? 1 : 3;

	if (dots > room) {
		ellipsis += unicode ? 3 : dots - room;
		dots = room;
	}
	cut = cut || fitting(unicode, text, length, room) < length;
	if (cut)
		length = fitting(unicode, text, length, room - dots);
	for (size_t done = 0; done < length;) {
		struct unit unit;

		next_unit(&unit, unicode, text + done, length - done);
		output_write(out, unit.text, unit.length);
		done += unit.taken;
	}
	if (cut)
		output_text(out, "%s", ellipsis);
}

/* --------------------------------------------------------------------- rows */

static void put_coloured(const struct rows_plan *plan, struct output *out, const char *colour,
			 const char *text)
{
	bool coloured = plan->style.colours && text[0] != '\0';

	output_text(out, "%s%s%s", coloured ? colour : "", text, coloured ? PLAIN : "");
}

static void put_bar(const struct rows_plan *plan, struct output *out, double part)
{
	char bar[3 * CHART_BAR_MOST + 1];
	unsigned marks = chart_bar(bar, plan->style.unicode, plan->bar, part);

	put_coloured(plan, out, CYAN, bar);
	output_text(out, "%*s", (int)(plan->bar - marks + GAP), "");
}

static void put_count(const struct rows_plan *plan, struct output *out, unsigned width,
		      uint64_t count)
{
	char text[32];

	if (width == 0)
		return;
	if (plan->brief)
		snprintf(text, sizeof text, "%.3g", (double)count);
	else
		number_grouped(text, count);
	output_text(out, "%*s%*s", (int)width, text, GAP, "");
}

static void put_change(const struct rows_plan *plan, struct output *out,
		       const struct rows_entry *entry)
{
	char room[40];
	const char *text = change_text(room, entry);

	if (plan->change == 0)
		return;
	output_text(out, "%*s", (int)(plan->change - strlen(text)), "");
	put_coloured(plan, out,
		     entry->is_new                ? YELLOW :
		     entry->count < entry->before ? RED :
						    GREEN,
		     text);
	output_text(out, "%*s", GAP, "");
}

void rows_print(const struct rows_plan *plan, struct output *out, size_t rank,
		const struct rows_entry *entry)
{
	if (plan->rank > 0)
		output_text(out, "%*zu%*s", (int)plan->rank, rank, GAP, "");
	put_count(plan, out, plan->count, entry->count);
	put_count(plan, out, plan->low, entry->low);
	if (plan->share > 0)
		output_text(out, "%5.1f %%%*s", 100 * entry->share, GAP, "");
	if (plan->bar > 0)
		put_bar(plan, out, entry->part);
	put_change(plan, out, entry);
	rows_print_text(out, plan->style.unicode, entry->key, entry->length, plan->key, entry->cut);
}

void rows_print_heading(const struct rows_plan *plan, struct output *out)
{
	const struct {
		unsigned width;
		const char *name;
	} columns[] = { { plan->rank, "#" },  { plan->count, "count" },
			{ plan->low, "low" }, { plan->share, "share" },
			{ plan->bar, "" },    { plan->change, "change" } };

	output_text(out, "%s", plan->style.colours ? BOLD : "");
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
		if (columns[i].width > 0)
			output_text(out, "%*s%*s", (int)columns[i].width, columns[i].name, GAP, "");
	}
	rows_print_text(out, false, (const uint8_t *)"key", 3, plan->key, false);
	output_text(out, "%s", plan->style.colours ? PLAIN : "");
}
