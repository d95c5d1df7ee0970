/* Command lines, good and bad, and what --help, --version and --describe print. */
#include "option.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture.h"
#include "output.h"

enum { ONLY_LONG = 256, HIDDEN };

static const struct option_spec own_specs[] = {
	{ 'n', "capacity", "N", "size the filter for this many keys" },
	{ 'L', "layout", "NAME", "classic or blocked" },
	{ 's', "seed", "N",
	  "seed of the hash; a filter made with one seed and another made with "
	  "another are independent of each other" },
	{ ONLY_LONG, "stats", NULL, "print a summary to standard error" },
	{ HIDDEN, "secret", NULL, NULL },
};

static const struct option_spec input_specs[] = {
	{ 'q', "quiet", NULL, "print nothing" },
	{ 'x', NULL, "FILE", "an option without a long name" },
	{ 257 + 1, "colour", "[=WHEN]", "colour the output" },
	{ 257 + 2, "an-option-with-a-very-long-name", "ARGUMENT", "help on a line of its own" },
};

/* What the options taken were, in order: "n=10 q ". */
static char taken[512];
static bool refuse;

static bool take(void *context, int letter, const char *value)
{
	size_t used = strlen(taken);

	if (letter < 256)
		snprintf(taken + used, sizeof taken - used, "%s%c", (const char *)context, letter);
	else
		snprintf(taken + used, sizeof taken - used, "%s%d", (const char *)context, letter);
	used = strlen(taken);
	snprintf(taken + used, sizeof taken - used, "%s%s ", value != NULL ? "=" : "",
		 value != NULL ? value : "");
	if (refuse)
		option_complain("'%s' is not liked", value);
	return !refuse;
}

static const char *const examples[] = { "tool -n 10M -o users.bloom users.txt",
					"tool --stats < list > filter", NULL };
static const char *const notes[] = { "A last word.", "And another.", NULL };

static struct option_group groups[] = {
	{ NULL, own_specs, COUNT_OF(own_specs), take, "" },
	{ "Input", input_specs, COUNT_OF(input_specs), take, "i:" },
	{ NULL, NULL, 0, NULL, NULL },
};

static const struct option_values values[] = {
	{ "colour", "always never" },
	{ NULL, NULL },
};

static const struct option_tool tool = {
	.name = "tool",
	.synopsis = "[OPTION]... [FILE]...\n-q FILTER",
	.purpose = "Makes a filter from the records of its input, and from nothing else than "
		   "that, in one pass",
	.examples = examples,
	.notes = notes,
	.groups = groups,
	.values = values,
	.first_operand = "*.bloom",
	.other_operands = OPTION_ANY_FILE,
	.instead = 'x',
};

struct line {
	char *words[8]; /* without argv[0], NULL at the end */
};

/* What option_parse has said, as the status of a process of its own: GOES_ON, or 60 and
 * the status to end with.  Options and operands are printed. */
#define GOES_ON 50
#define ENDS_WITH(status) (60 + (status))

static int parse(void *context)
{
	const struct line *line = context;
	char *argv[10] = { "tool" };
	int argc = 1, status = -1;
	struct operands operands;
	struct output *output;

	for (; line->words[argc - 1] != NULL; argc++)
		argv[argc] = line->words[argc - 1];
	if (!option_parse(&tool, argc, argv, &operands, &status))
		return ENDS_WITH(status);
	assert_int_equal(status, 2);
	output = output_open(STDOUT_FILENO, "standard output");
	output_text(output, "%s|", taken);
	for (size_t i = 0; i < operands.count; i++)
		output_text(output, " %s", operands.items[i]);
	output_close(output);
	return GOES_ON;
}

#define PARSE(capture, ...)                                                                        \
	do {                                                                                       \
		struct line line_ = { .words = { __VA_ARGS__ } };                                  \
		capture_run(capture, parse, &line_);                                               \
	} while (0)

static void assert_runs(const struct capture *capture, const char *expected)
{
	assert_string_equal(capture->err, "");
	assert_string_equal(capture->out, expected);
	assert_int_equal(capture->status, GOES_ON);
}

static void assert_bad(const struct capture *capture, const char *expected)
{
	assert_string_equal(capture->err, expected);
	assert_string_equal(capture->out, "");
	assert_int_equal(capture->status, ENDS_WITH(2));
}

/* -------------------------------------------------------------- good lines */

static void parse__options_of_every_form__taken_in_order(void **state)
{
	struct capture capture;

	(void)state;
	PARSE(&capture, NULL);
	assert_runs(&capture, "|");
	PARSE(&capture, "-n", "10", "-qn20", "--capacity=30", "--capacity", "40");
	assert_runs(&capture, "n=10 i:q n=20 n=30 n=40 |");
	PARSE(&capture, "--colour", "--colour=always", "--stats", "-x", "y", "--secret");
	assert_runs(&capture, "i:258 i:258=always 256 i:x=y 257 |");
	PARSE(&capture, "-n=1000", "-L", "-0.01", "--seed=");
	assert_runs(&capture, "n==1000 L=-0.01 s= |");
}

static void parse__operands_mixed_with_options__come_last(void **state)
{
	struct capture capture;

	(void)state;
	PARSE(&capture, "a", "-q", "b", "--stats", "-", "c");
	assert_runs(&capture, "i:q 256 | a b - c");
	PARSE(&capture, "-q", "--", "-n", "--help");
	assert_runs(&capture, "i:q | -n --help");
	setenv("POSIXLY_CORRECT", "1", 1);
	PARSE(&capture, "-q", "a", "-n", "b");
	unsetenv("POSIXLY_CORRECT");
	assert_runs(&capture, "i:q | a -n b");
}

static void parse__name_shortened__taken(void **state)
{
	struct capture capture;

	(void)state;
	PARSE(&capture, "--cap=5", "--la", "x", "--se=3", "--st");
	assert_bad(&capture, "tool: '--se' could be --seed or --secret; try 'tool --help'\n");
	PARSE(&capture, "--cap=5", "--la", "x", "--see=3", "--st");
	assert_runs(&capture, "n=5 L=x s=3 256 |");
	/* --describe is hidden so well that it makes nothing ambiguous. */
	PARSE(&capture, "--h", "x");
	assert_int_equal(capture.status, 60);
}

/* --------------------------------------------------------------- bad lines */

static void parse__unknown_option__one_line_with_the_nearest(void **state)
{
	struct capture capture;

	(void)state;
	PARSE(&capture, "--layuot");
	assert_bad(&capture, "tool: unknown option '--layuot' (did you mean '--layout'?); "
			     "try 'tool --help'\n");
	PARSE(&capture, "--capicity=5");
	assert_bad(&capture, "tool: unknown option '--capicity' (did you mean '--capacity'?); "
			     "try 'tool --help'\n");
	PARSE(&capture, "--color");
	assert_bad(&capture, "tool: unknown option '--color' (did you mean '--colour'?); "
			     "try 'tool --help'\n");
	PARSE(&capture, "--Version");
	assert_bad(&capture, "tool: unknown option '--Version' (did you mean '--version'?); "
			     "try 'tool --help'\n");
	PARSE(&capture, "--unheard-of");
	assert_bad(&capture, "tool: unknown option '--unheard-of'; try 'tool --help'\n");
	PARSE(&capture, "--secrte"); /* hidden, so not suggested */
	assert_bad(&capture, "tool: unknown option '--secrte'; try 'tool --help'\n");
	PARSE(&capture, "--=5");
	assert_int_equal(capture.status, ENDS_WITH(2));
	PARSE(&capture, "--bad\nword\033[2J=x");
	assert_bad(&capture, "tool: unknown option '--bad\\nword\\033[2J'; try 'tool --help'\n");
	PARSE(&capture, "-q", "-Z");
	assert_bad(&capture, "tool: unknown option '-Z'; try 'tool --help'\n");
	PARSE(&capture, "-q\377");
	assert_bad(&capture, "tool: unknown option '-\\377'; try 'tool --help'\n");
	PARSE(&capture, "-q=5");
	assert_bad(&capture, "tool: unknown option '-='; try 'tool --help'\n");
}

static void parse__name_behind_one_hyphen__hinted(void **state)
{
	struct capture capture;

	(void)state;
	PARSE(&capture, "-colour", "x");
	assert_bad(&capture, "tool: unknown option '-c' (did you mean '--colour'?); "
			     "try 'tool --help'\n");
	PARSE(&capture, "a", "-q", "-colour=always");
	assert_bad(&capture, "tool: unknown option '-c' (did you mean '--colour'?); "
			     "try 'tool --help'\n");
	PARSE(&capture, "-quiet"); /* -q is one */
	assert_bad(&capture, "tool: unknown option '-u' (did you mean '--quiet'?); "
			     "try 'tool --help'\n");
	PARSE(&capture, "-coloured");
	assert_bad(&capture, "tool: unknown option '-c'; try 'tool --help'\n");
	PARSE(&capture, "-c", "-colour");
	assert_bad(&capture, "tool: unknown option '-c'; try 'tool --help'\n");
}

static void parse__very_long_unknown_option__one_short_line(void **state)
{
	static char word[100000];
	struct capture capture;

	(void)state;
	memset(word, '-', sizeof word - 1);
	PARSE(&capture, word);
	assert_int_equal(capture.status, ENDS_WITH(2));
	assert_true(capture.err_length < 120);
	assert_non_null(strstr(capture.err, "...'; try 'tool --help'\n"));
}

static void parse__argument_lacking_or_too_many__one_line(void **state)
{
	struct capture capture;

	(void)state;
	PARSE(&capture, "-n");
	assert_bad(&capture, "tool: option '-n' needs an argument (N); try 'tool --help'\n");
	PARSE(&capture, "a", "-qn");
	assert_bad(&capture, "tool: option '-n' needs an argument (N); try 'tool --help'\n");
	PARSE(&capture, "--lay");
	assert_bad(&capture,
		   "tool: option '--layout' needs an argument (NAME); try 'tool --help'\n");
	PARSE(&capture, "--quiet=1");
	assert_bad(&capture, "tool: option '--quiet' takes no argument; try 'tool --help'\n");
}

static void parse__ambiguous_name__candidates_listed(void **state)
{
	struct capture capture;

	(void)state;
	PARSE(&capture, "--s");
	assert_bad(&capture,
		   "tool: '--s' could be --seed, --stats or --secret; try 'tool --help'\n");
}

static void parse__option_refused_by_the_tool__stops(void **state)
{
	struct capture capture;

	(void)state;
	refuse = true;
	PARSE(&capture, "-n", "3x2", "--help");
	refuse = false;
	assert_bad(&capture, "tool: '3x2' is not liked; try 'tool --help'\n");
}

/* ------------------------------------------------------------------- words */

static int take_word(void *word)
{
	size_t place = 9;

	return option_word("layout", word, "blocked classic neither", "a layout", &place) ?
		       (int)place :
		       50;
}

static void word__of_the_list__its_place(void **state)
{
	struct capture capture;

	(void)state;
	capture_run(&capture, take_word, "blocked");
	assert_int_equal(capture.status, 0);
	capture_run(&capture, take_word, "neither");
	assert_int_equal(capture.status, 2);
	assert_string_equal(capture.err, "");
}

static void word__of_no_list__one_line_with_all_and_the_nearest(void **state)
{
	static const struct {
		char word[24];
		const char *shown, *hint;
	} cases[] = {
		{ "clasic", "clasic", "; did you mean classic?" },
		{ "Blocked", "Blocked", "; did you mean blocked?" },
		{ "block", "block", "; did you mean blocked?" },
		{ "sideways", "sideways", "" },
		{ "", "", "" },
		{ "\033[2J", "\\033[2J", "" },
		{ "blocked classic", "blocked classic", "" },
	};
	struct capture capture;
	char want[200];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		capture_run(&capture, take_word, (void *)cases[i].word);
		assert_int_equal(capture.status, 50);
		snprintf(want, sizeof want,
			 "tool: --layout: '%s' is not a layout: write blocked, classic or "
			 "neither%s\n",
			 cases[i].shown, cases[i].hint);
		assert_string_equal(capture.err, want);
	}
}

/* -------------------------------------------------------------------- help */

static void help__asked_for__on_standard_output(void **state)
{
	static const char expected[] =
		"Usage: tool [OPTION]... [FILE]...\n"
		"   or: tool -q FILTER\n"
		"Makes a filter from the records of its input, and from nothing else than that,\n"
		"in one pass\n"
		"\n"
		"Examples:\n"
		"  tool -n 10M -o users.bloom users.txt\n"
		"  tool --stats < list > filter\n"
		"\n"
		"Options:\n"
		"  -n, --capacity=N     size the filter for this many keys\n"
		"  -L, --layout=NAME    classic or blocked\n"
		"  -s, --seed=N         seed of the hash; a filter made with one seed and\n"
		"                       another made with another are independent of each other\n"
		"      --stats          print a summary to standard error\n"
		"\n"
		"Input:\n"
		"  -q, --quiet          print nothing\n"
		"  -x FILE              an option without a long name\n"
		"      --colour[=WHEN]  colour the output\n"
		"      --an-option-with-a-very-long-name=ARGUMENT\n"
		"                       help on a line of its own\n"
		"\n"
		"      --help           print this help and exit\n"
		"      --version        print the version and the file formats, and exit\n"
		"A last word.\n"
		"And another.\n";
	struct capture capture;

	(void)state;
	PARSE(&capture, "-q", "--help", "--nonsense");
	assert_string_equal(capture.out, expected);
	assert_string_equal(capture.err, "");
	assert_int_equal(capture.status, 60);
}

static void help__any__fits_80_columns(void **state)
{
	struct capture capture;

	(void)state;
	PARSE(&capture, "--help");
	for (const char *line = capture.out; *line != '\0';) {
		size_t length = strcspn(line, "\n");

		assert_true(length < 80);
		line += length + (line[length] == '\n');
	}
}

static void version__asked_for__names_tool_and_formats(void **state)
{
	struct capture capture;
	char expected[128];

	(void)state;
	snprintf(expected, sizeof expected,
		 "tool (sketch tools) %s\nreads sketch format 1, writes 1\n", sketch_version());
	PARSE(&capture, "--version");
	assert_string_equal(capture.out, expected);
	assert_string_equal(capture.err, "");
	assert_int_equal(capture.status, 60);
}

static void describe__only_word__lists_the_table(void **state)
{
	struct capture capture;

	(void)state;
	PARSE(&capture, "--describe");
	assert_int_equal(capture.status, 60);
	assert_non_null(strstr(capture.out,
			       "option\tn\tcapacity\tN\tsize the filter for this many keys\t-\n"));
	assert_non_null(
		strstr(capture.out, "option\t-\tstats\t-\tprint a summary to standard error\t-\n"));
	assert_non_null(
		strstr(capture.out, "option\tx\t-\tFILE\tan option without a long name\t*\n"));
	assert_non_null(strstr(capture.out,
			       "option\t-\tcolour\t[=WHEN]\tcolour the output\talways never\n"));
	assert_non_null(strstr(capture.out, "option\t-\thelp\t-\t"));
	assert_null(strstr(capture.out, "secret"));
	assert_non_null(strstr(capture.out, "\noperand\tfirst\t*.bloom\tx\n"
					    "operand\tothers\t*\t-\n"));
	PARSE(&capture, "-q", "--describe");
	assert_bad(&capture, "tool: unknown option '--describe'; try 'tool --help'\n");
}

struct target {
	const char *path; /* NULL: a pipe that nobody reads */
	int flags;
	char *word;
};

static int parse_to(void *context)
{
	const struct target *target = context;
	struct line line = { .words = { target->word } };
	int ends[2] = { -1, -1 };

	if (target->path == NULL) {
		signal(SIGPIPE, SIG_IGN);
		if (pipe(ends) != 0)
			return 1;
		close(ends[0]);
	} else {
		ends[1] = open(target->path, target->flags);
	}
	dup2(ends[1], STDOUT_FILENO);
	return parse(&line);
}

static void help__standard_output_fails__status_2_and_one_message(void **state)
{
	static const struct {
		struct target target;
		const char *err;
	} cases[] = {
		{ { "/dev/full", O_WRONLY, "--help" },
		  "tool: standard output: No space left on device\n" },
		{ { "/dev/full", O_WRONLY, "--version" },
		  "tool: standard output: No space left on device\n" },
		{ { "/dev/null", O_RDONLY, "--help" },
		  "tool: standard output: Bad file descriptor\n" },
		{ { NULL, 0, "--help" }, "" },
	};
	struct capture capture;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct target target = cases[i].target;

		capture_run(&capture, parse_to, &target);
		assert_int_equal(capture.status, 62);
		assert_string_equal(capture.err, cases[i].err);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parse__options_of_every_form__taken_in_order),
		cmocka_unit_test(parse__operands_mixed_with_options__come_last),
		cmocka_unit_test(parse__name_shortened__taken),
		cmocka_unit_test(parse__unknown_option__one_line_with_the_nearest),
		cmocka_unit_test(parse__name_behind_one_hyphen__hinted),
		cmocka_unit_test(parse__very_long_unknown_option__one_short_line),
		cmocka_unit_test(parse__argument_lacking_or_too_many__one_line),
		cmocka_unit_test(parse__ambiguous_name__candidates_listed),
		cmocka_unit_test(parse__option_refused_by_the_tool__stops),
		cmocka_unit_test(word__of_the_list__its_place),
		cmocka_unit_test(word__of_no_list__one_line_with_all_and_the_nearest),
		cmocka_unit_test(help__asked_for__on_standard_output),
		cmocka_unit_test(help__any__fits_80_columns),
		cmocka_unit_test(version__asked_for__names_tool_and_formats),
		cmocka_unit_test(describe__only_word__lists_the_table),
		cmocka_unit_test(help__standard_output_fails__status_2_and_one_message),
	};

	return cmocka_run_group_tests_name("option", tests, NULL, NULL);
}
