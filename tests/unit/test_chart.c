/* test_chart.c - curves keep to their width, their characters and their shape */
#include "chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture.h"

#define LINES (CHART_ROWS + 2)

static int draw(void *context)
{
	struct output *out = output_open(STDOUT_FILENO, "standard output");

	chart_draw(context, out);
	return output_close(out) ? 0 : 1;
}

static void draw_into(struct capture *capture, struct chart *chart)
{
	capture_run(capture, draw, chart);
	assert_int_equal(capture->status, 0);
	assert_string_equal(capture->err, "");
}

/* Characters of a line of UTF-8, up to its newline. */
static size_t width_of(const char *line)
{
	size_t width = 0;

	for (; *line != '\n' && *line != '\0'; line++)
		width += ((unsigned char)*line & 0xc0) != 0x80;
	return width;
}

static size_t widest(const char *text, size_t *lines)
{
	size_t most = 0;

	for (*lines = 0; *text != '\0'; (*lines)++) {
		size_t width = width_of(text);

		most = width > most ? width : most;
		text = strchr(text, '\n') + 1;
	}
	return most;
}

static void curve(double *x, double *y, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		x[i] = (double)(i + 1);
		y[i] = pow(10, -(double)i / 5);
	}
}

static void chart__any_width__kept(void **state)
{
	static const unsigned widths[][2] = { { 80, 80 },
					      { 100, 100 },
					      { 10, CHART_LEAST_COLUMNS },
					      { 0, CHART_LEAST_COLUMNS },
					      { 5000, CHART_MOST_COLUMNS } };
	double x[50], y[50];
	struct chart chart = { .label = "things", .x = x, .y = y, .count = 50 };
	struct capture capture;
	size_t lines;

	(void)state;
	curve(x, y, 50);
	for (int ascii = 0; ascii < 2; ascii++) {
		for (size_t i = 0; i < COUNT_OF(widths); i++) {
			chart.columns = widths[i][0];
			chart.ascii = ascii;
			draw_into(&capture, &chart);
			assert_int_equal(widest(capture.out, &lines), widths[i][1]);
			assert_int_equal(lines, LINES);
			assert_non_null(strstr(capture.out, "things"));
		}
	}
}

static void chart__ascii__no_other_bytes(void **state)
{
	double x[50], y[50];
	struct chart chart = { .label = "k",
			       .x = x,
			       .y = y,
			       .count = 50,
			       .columns = 60,
			       .ascii = true,
			       .marked = true,
			       .mark_x = 25,
			       .mark_y = 1e-5 };
	struct capture capture;

	(void)state;
	curve(x, y, 50);
	draw_into(&capture, &chart);
	for (size_t i = 0; i < capture.out_length; i++)
		assert_true(capture.out[i] == '\n' ||
			    (capture.out[i] >= ' ' && capture.out[i] <= '~'));
	assert_non_null(strchr(capture.out, 'O'));
	assert_non_null(strchr(capture.out, '*'));
	chart.ascii = false;
	draw_into(&capture, &chart);
	assert_non_null(strstr(capture.out, "●"));
	assert_non_null(strstr(capture.out, "⠉"));
}

/* A falling curve begins at the top on the left and ends at the bottom on the right. */
static void chart__falling_curve__corner_to_corner(void **state)
{
	double x[50], y[50];
	struct chart chart = {
		.label = "k", .x = x, .y = y, .count = 50, .columns = 60, .ascii = true
	};
	struct capture capture;
	const char *line;

	(void)state;
	curve(x, y, 50);
	draw_into(&capture, &chart);
	line = capture.out;
	assert_memory_equal(line, " 1.0e+00 |*", 11);
	for (int row = 0; row < CHART_ROWS - 1; row++)
		line = strchr(line, '\n') + 1;
	assert_memory_equal(line, " 1.6e-10 |", 10);
	assert_int_equal(width_of(line), 60);
	assert_int_equal(line[59], '*');
}

static void chart__odd_curves__drawn(void **state)
{
	double x[2] = { 3, 3 }, y[2] = { 1e-300, 1e-300 };
	struct chart chart = { .label = "n",
			       .x = x,
			       .y = y,
			       .count = 1,
			       .columns = 40,
			       .logarithmic = true,
			       .ascii = true,
			       .marked = true,
			       .mark_x = 3,
			       .mark_y = 1e-300 };
	struct capture capture;
	size_t lines;

	(void)state;
	draw_into(&capture, &chart);
	assert_null(strstr(capture.out, "nan"));
	widest(capture.out, &lines);
	assert_int_equal(lines, LINES);
	chart.count = 2;
	draw_into(&capture, &chart);
	assert_null(strstr(capture.out, "nan"));
	chart.count = 0;
	draw_into(&capture, &chart);
	assert_string_equal(capture.out, "");
}

static void bar__part__that_of_the_width(void **state)
{
	static const struct {
		bool unicode;
		unsigned most;
		double part;
		unsigned length;
		const char *text;
	} cases[] = {
		{ true, 4, 0, 0, "" },
		{ false, 4, 0, 0, "" },
		{ true, 4, 1e-9, 1, "▏" },
		{ false, 4, 1e-9, 1, "#" },
		{ true, 4, 1, 4, "████" },
		{ false, 4, 1, 4, "####" },
		{ true, 4, 2, 4, "████" },
		{ false, 4, 0.62, 2, "##" },
		{ true, 4, 18.0 / 32, 3, "██▎" },
		{ true, 4, 31.0 / 32, 4, "███▉" },
	};
	char text[3 * CHART_BAR_MOST + 1];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(chart_bar(text, cases[i].unicode, cases[i].most, cases[i].part),
				 cases[i].length);
		assert_string_equal(text, cases[i].text);
	}
	assert_int_equal(chart_bar(text, true, CHART_BAR_MOST, 1), CHART_BAR_MOST);
	assert_int_equal(strlen(text), 3 * CHART_BAR_MOST);
}

static void unicode__environment__first_that_is_set(void **state)
{
	(void)state;
	unsetenv("LC_ALL");
	unsetenv("LC_CTYPE");
	unsetenv("LANG");
	assert_false(chart_unicode());
	setenv("LANG", "de_DE.UTF-8", 1);
	assert_true(chart_unicode());
	setenv("LC_CTYPE", "C", 1);
	assert_false(chart_unicode());
	setenv("LC_ALL", "", 1);
	assert_false(chart_unicode());
	setenv("LC_ALL", "C.utf8", 1);
	assert_true(chart_unicode());
}

static void columns__terminal_or_environment__else_eighty(void **state)
{
	int tool, terminal = terminal_open(123, &tool);

	(void)state;
	assert_int_equal(chart_columns(tool), 123);
	close(tool);
	close(terminal);
	setenv("COLUMNS", "66", 1);
	assert_int_equal(chart_columns(-1), 66);
	setenv("COLUMNS", "many", 1);
	assert_int_equal(chart_columns(-1), 80);
	setenv("COLUMNS", "99999999999999999999", 1);
	assert_int_equal(chart_columns(-1), 80);
	unsetenv("COLUMNS");
	assert_int_equal(chart_columns(-1), 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chart__any_width__kept),
		cmocka_unit_test(chart__ascii__no_other_bytes),
		cmocka_unit_test(chart__falling_curve__corner_to_corner),
		cmocka_unit_test(chart__odd_curves__drawn),
		cmocka_unit_test(bar__part__that_of_the_width),
		cmocka_unit_test(unicode__environment__first_that_is_set),
		cmocka_unit_test(columns__terminal_or_environment__else_eighty),
	};

	return cmocka_run_group_tests_name("chart", tests, NULL, NULL);
}
