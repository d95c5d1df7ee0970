/* test_rows.c - rows keep to their window, whatever is in the keys; the text that was cut
 * against a plain reading of the rule, over an alphabet of known widths */
#include "rows.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture.h"
#include "width.h"

/* What goes in, what is to be seen where characters are those of Unicode and where they are
 * bytes, and the columns of the first. */
static const struct letter {
	const char *in, *unicode, *ascii;
	unsigned columns;
} alphabet[] = {
	{ "a", "a", "a", 1 },
	{ " ", " ", " ", 1 },
	{ "\\", "\\", "\\", 1 },
	{ "\t", "\\t", "\\t", 2 },
	{ "\n", "\\n", "\\n", 2 },
	{ "\033", "\\033", "\\033", 4 },
	{ "\177", "\\177", "\\177", 4 },
	{ "\303\251", "\303\251", "\\303\\251", 1 },                           /* e with an acute */
	{ "\314\201", "\314\201", "\\314\\201", 0 },                           /* a combining one */
	{ "\346\274\242", "\346\274\242", "\\346\\274\\242", 2 },              /* a Han character */
	{ "\360\237\230\200", "\360\237\230\200", "\\360\\237\\230\\200", 2 }, /* a face */
	{ "\302\233", "\\302\\233", "\\302\\233", 8 },                         /* a C1 control */
	{ "\342\200\256", "\\342\\200\\256", "\\342\\200\\256", 12 },          /* right to left */
	{ "\377", "\\377", "\\377", 4 },
	{ "\355\240\200", "\\355\\240\\200", "\\355\\240\\200", 12 }, /* half a surrogate */
};

#define LONGEST 60

struct text {
	char in[LONGEST * 4 + 1];
	size_t length, letters;
	uint8_t letter[LONGEST];
};

/* Text in which no letter continues the one before. */
static void random_text(struct dice *dice, struct text *text, size_t kinds)
{
	*text = (struct text){ .letters = dice_below(dice, LONGEST) };
	for (size_t i = 0; i < text->letters; i++) {
		const char *in;

		text->letter[i] = (uint8_t)dice_below(dice, kinds);
		in = alphabet[text->letter[i]].in;
		memcpy(text->in + text->length, in, strlen(in));
		text->length += strlen(in);
	}
}

/* A piece of a letter: what is escaped may be cut between its bytes. */
static unsigned piece_columns(const struct letter *letter, bool unicode, const char **piece,
			      size_t *length)
{
	const char *shown = *piece;

	if (*shown == '\\' && shown[1] != '\0') {
		*length = shown[1] >= '0' && shown[1] <= '9' ? 4 : 2;
		return (unsigned)*length;
	}
	*length = strlen(shown);
	return unicode ? letter->columns : (unsigned)*length;
}

/* What of a text is to be seen within so many columns: all, or as much as leaves room for the
 * ellipsis, and that. */
static void expect_text(const struct text *text, bool unicode, unsigned room, char *out)
{
	unsigned dots = unicode ? 1 : 3, widths = 0;
	size_t all = 0, cut = 0;

	if (dots > room)
		dots = room;
	for (size_t i = 0; i < text->letters; i++) {
		const struct letter *letter = &alphabet[text->letter[i]];
		const char *piece = unicode ? letter->unicode : letter->ascii;
		size_t length;

		for (; *piece != '\0'; piece += length) {
			widths += piece_columns(letter, unicode, &piece, &length);
			memcpy(out + all, piece, length);
			all += length;
			if (widths <= room - dots)
				cut = all;
		}
	}
	out[all] = '\0';
	if (widths > room)
		strcpy(out + cut, unicode ? (room > 0 ? "…" : "") : &"..."[3 - dots]);
}

static struct output *open_output(int *fd)
{
	FILE *file = tmpfile();
	struct output *out;

	assert_non_null(file);
	*fd = dup(fileno(file));
	out = output_open(fileno(file), "output");
	assert_non_null(out);
	return out;
}

/* What was printed since the last time. */
static void read_back(struct output *out, int fd, char *text, size_t size)
{
	ssize_t got;

	assert_true(output_flush(out));
	got = pread(fd, text, size - 1, 0);
	assert_true(got >= 0);
	text[got] = '\0';
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
}

static bool have_widths(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);

	if (locale == (locale_t)0)
		return false;
	freelocale(locale);
	return true;
}

static void text__any_characters_and_room__is_cut_by_columns(void **state)
{
	struct dice dice = { 11 };
	struct text text;
	char expected[LONGEST * 16 + 8], got[LONGEST * 16 + 8];
	int fd;
	struct output *out;

	(void)state;
	if (!have_widths())
		skip();
	out = open_output(&fd);
	for (int round = 0; round < 20000; round++) {
		bool unicode = round % 2 == 0;
		unsigned room = (unsigned)dice_below(&dice, 100);

		random_text(&dice, &text, round % 4 < 2 ? COUNT_OF(alphabet) : 3);
		expect_text(&text, unicode, room, expected);
		rows_print_text(out, unicode, (const uint8_t *)text.in, text.length, room, false);
		read_back(out, fd, got, sizeof got);
		assert_string_equal(got, expected);
	}
	output_close(out);
	close(fd);
}

/* Columns of a line as printed: escapes for colours take none, nor do combining marks. */
static size_t columns_of(const char *line)
{
	size_t columns = 0;

	while (*line != '\0') {
		size_t length = 1;

		if (*line == '\033') {
			line = strchr(line, 'm') + 1;
			continue;
		}
		while ((line[length] & 0xC0) == 0x80)
			length++;
		for (size_t i = 0; i < COUNT_OF(alphabet); i++) {
			if (length > 1 && strlen(alphabet[i].in) == length &&
			    memcmp(alphabet[i].in, line, length) == 0)
				columns += (size_t)((long)alphabet[i].columns - 1);
		}
		columns++;
		line += length;
	}
	return columns;
}

static struct rows_entry random_entry(struct dice *dice, const struct text *text, uint64_t most)
{
	struct rows_entry entry = {
		.key = (const uint8_t *)text->in,
		.length = text->length,
		.count = dice_between(dice, 1, most),
		.is_new = dice_below(dice, 5) == 0,
		.before = dice_between(dice, 0, most),
	};

	entry.low = dice_between(dice, 0, entry.count);
	entry.share = (double)entry.count / (double)most;
	entry.part = entry.share;
	return entry;
}

#define ENTRIES 12

/* Prints rows that begin with a mark, and finds it in the same column of each. */
static void check_rows(struct output *out, int fd, struct dice *dice, unsigned columns, int round)
{
	struct rows_style style = { .columns = columns,
				    .unicode = round & 1,
				    .colours = round & 2,
				    .ranks = round & 4,
				    .lows = round & 8,
				    .changes = round & 16 };
	uint64_t most = (UINT64_MAX >> 1) >> dice_below(dice, 62);
	struct rows_entry entries[ENTRIES];
	struct text texts[ENTRIES];
	struct rows_plan plan;
	char line[4096];
	size_t keys = 0;

	for (size_t i = 0; i < ENTRIES; i++) {
		random_text(dice, &texts[i], COUNT_OF(alphabet));
		memmove(texts[i].in + 2, texts[i].in, texts[i].length);
		memcpy(texts[i].in, "\"@", 2);
		texts[i].length += 2;
		entries[i] = random_entry(dice, &texts[i], most);
	}
	rows_lay_out(&plan, &style, entries, ENTRIES);
	/* The longest count is of 26 columns, the gap of 2, and one is left free. */
	assert_true(plan.key >= 6 && (plan.key >= 16 || columns < 26 + 2 + 16 + 1));
	for (size_t i = 0; i < ENTRIES; i++) {
		char *mark;

		rows_print(&plan, out, i + 1, &entries[i]);
		read_back(out, fd, line, sizeof line);
		assert_in_range(columns_of(line), 1, columns - 1);
		assert_null(strchr(line, '\n'));
		assert_int_equal(strchr(line, '\033') != NULL && !style.colours, 0);
		mark = strstr(line, "\"@");
		assert_non_null(mark);
		*mark = '\0';
		if (i == 0)
			keys = columns_of(line);
		assert_int_equal(columns_of(line), keys);
	}
	rows_print_heading(&plan, out);
	read_back(out, fd, line, sizeof line);
	assert_in_range(columns_of(line), 1, columns - 1);
	strstr(line, "key")[0] = '\0';
	assert_int_equal(columns_of(line), keys);
}

static void rows__any_window_from_20_to_300__aligned_and_within(void **state)
{
	struct dice dice = { 12 };
	int fd;
	struct output *out;

	(void)state;
	if (!have_widths())
		skip();
	out = open_output(&fd);
	for (unsigned columns = 20; columns <= 300; columns++)
		for (int round = 0; round < 32; round++)
			check_rows(out, fd, &dice, columns, round);
	output_close(out);
	close(fd);
}

/* Lays out entries, prints one and compares. */
static void assert_row(const struct rows_style *style, const struct rows_entry *entries,
		       size_t count, size_t which, const char *expected)
{
	struct rows_plan plan;
	char line[2048];
	int fd;
	struct output *out = open_output(&fd);

	rows_lay_out(&plan, style, entries, count);
	if (which == count)
		rows_print_heading(&plan, out);
	else
		rows_print(&plan, out, which + 1, &entries[which]);
	read_back(out, fd, line, sizeof line);
	output_close(out);
	close(fd);
	assert_string_equal(line, expected);
}

#define KEY(text) .key = (const uint8_t *)(text), .length = sizeof(text) - 1

static const struct rows_entry three[] = {
	{ KEY("/"), .count = 1234, .low = 1230, .share = 0.5, .part = 1, .before = 1178 },
	{ KEY("/index.html"), .count = 617, .low = 617, .share = 0.25, .part = 0.5, .before = 700 },
	{ KEY("/new"), .count = 1, .low = 0, .share = 0.0004, .part = 1.0 / 1234, .is_new = true },
};

static void rows__usual_table__count_share_bar_key(void **state)
{
	const struct rows_style style = { .columns = 60 };

	(void)state;
	/* 59 columns, less 9 + 7 and the gaps behind them, are 39: a third of 37 is bar. */
	assert_row(&style, three, 3, 0, "    1,234   50.0 %  ############  /");
	assert_row(&style, three, 3, 1, "      617   25.0 %  ######        /index.html");
	assert_row(&style, three, 3, 2, "        1    0.0 %  #             /new");
	assert_row(&style, three, 3, 3, "    count    share                key");
}

static void rows__live_table__ranks_lows_and_changes(void **state)
{
	const struct rows_style style = {
		.columns = 80, .unicode = true, .ranks = true, .lows = true, .changes = true
	};

	(void)state;
	/* 79 columns, less 2 + 9 + 9 + 7 + 8 and the gaps behind them, are 34. */
	assert_row(&style, three, 3, 0,
		   " 1      1,234      1,230   50.0 %  ██████████       +56  /");
	assert_row(&style, three, 3, 1,
		   " 2        617        617   25.0 %  █████            -83  /index.html");
	assert_row(&style, three, 3, 2,
		   " 3          1          0    0.0 %  ▏                new  /new");
	assert_row(&style, three, 3, 3,
		   " #      count        low    share                change  key");
}

static void rows__colours__bar_and_change_and_none_for_nothing(void **state)
{
	struct rows_style style = { .columns = 60, .colours = true, .changes = true };
	struct rows_entry same = three[0];

	(void)state;
	same.before = same.count;
	assert_row(&style, three, 3, 0,
		   "    1,234   50.0 %  \033[36m#########\033[m       \033[32m+56\033[m  /");
	assert_row(
		&style, three, 3, 1,
		"      617   25.0 %  \033[36m#####\033[m           \033[31m-83\033[m  /index.html");
	assert_row(&style, &same, 1, 0, "    1,234   50.0 %  \033[36m#########\033[m            /");
}

static void rows__narrow_window__columns_go_and_counts_stay(void **state)
{
	const struct rows_entry large[] = { { KEY("/index.html"), .count = UINT64_MAX, .share = 1,
					      .part = 1 } };
	struct rows_style style = { .columns = 40, .ranks = true, .changes = true };

	(void)state;
	assert_row(&style, three, 3, 1, "      617       -83  /index.html");
	style.columns = 30;
	assert_row(&style, three, 3, 1, "      617  /index.html");
	style.columns = 20;
	assert_row(&style, three, 3, 1, "  617  /index.html");
	style.changes = false;
	assert_row(&style, large, 1, 0, "1.84e+19  /index...");
	style.columns = 60;
	assert_row(&style, large, 1, 0, " 1  18,446,744,073,709,551,615  100.0 %  /index.html");
}

static void rows__key_that_is_kept_in_part__ends_in_an_ellipsis(void **state)
{
	struct rows_entry entry = { KEY("abc"), .cut = true, .count = 1, .before = 1 };
	struct rows_style style = { .columns = 30 };

	(void)state;
	assert_row(&style, &entry, 1, 0, "        1  abc...");
	style.unicode = true;
	assert_row(&style, &entry, 1, 0, "        1  abc…");
}

static void width__marks_that_turn_the_text__are_not_shown(void **state)
{
	static const uint32_t turning[] = {
		0x061C, 0x200E, 0x200F, 0x202A, 0x202E, 0x2066, 0x2069
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(turning); i++)
		assert_int_equal(width_of(turning[i]), -1);
	for (uint32_t c = 0; c < 0xA0; c++)
		assert_int_equal(width_of(c), c < 0x20 || c >= 0x7F ? -1 : 1);
	assert_int_equal(width_of(0x110000), -1);
}

static void entry__of_a_sketch__has_share_and_part(void **state)
{
	const struct sketch_heavy heavy = { (const uint8_t *)"k", 1, 5000, { 10, 30, true } };
	struct rows_entry entry = rows_entry_of(&heavy, 120, 60);

	(void)state;
	assert_near(entry.share, 0.25, 0);
	assert_near(entry.part, 0.5, 0);
	assert_true(entry.cut && entry.count == 30 && entry.low == 10 && entry.before == 30);
	entry = rows_entry_of(&heavy, 0, 0);
	assert_near(entry.share, 0, 0);
	assert_near(entry.part, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text__any_characters_and_room__is_cut_by_columns),
		cmocka_unit_test(rows__any_window_from_20_to_300__aligned_and_within),
		cmocka_unit_test(rows__usual_table__count_share_bar_key),
		cmocka_unit_test(rows__live_table__ranks_lows_and_changes),
		cmocka_unit_test(rows__colours__bar_and_change_and_none_for_nothing),
		cmocka_unit_test(rows__narrow_window__columns_go_and_counts_stay),
		cmocka_unit_test(rows__key_that_is_kept_in_part__ends_in_an_ellipsis),
		cmocka_unit_test(width__marks_that_turn_the_text__are_not_shown),
		cmocka_unit_test(entry__of_a_sketch__has_share_and_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
