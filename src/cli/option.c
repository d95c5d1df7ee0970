#include "option.h"

#include <assert.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "output.h"
#include "sketch.h"

#define STATUS_TROUBLE 2
#define LONG_BASE 0x10000 /* what getopt_long returns for a long option: this + its place */
#define NAME_LIMIT 32     /* bytes of a name that a misspelt one is compared with */
#define WORD_SHOWN 64
#define LINE_WIDTH 79
#define LEFT_LIMIT 26 /* a longer option has its help on the next line */

enum common_option { COMMON_HELP = 256, COMMON_VERSION };

static const struct option_spec common_specs[] = {
	{ COMMON_HELP, "help", NULL, "print this help and exit" },
	{ COMMON_VERSION, "version", NULL, "print the version and the file formats, and exit" },
};

/* Of a tool whose options do not all fit on a screen. */
static const struct option_spec long_help = { COMMON_HELP, "help", "[=all]",
					      "print this help, or all of it, and exit" };

static const struct option_group common_group = {
	.specs = common_specs,
	.count = sizeof common_specs / sizeof common_specs[0],
};

/* All options of a tool in one row, and the same in the words of getopt_long. */
struct table {
	const struct option_tool *tool;
	const struct option_spec *specs[OPTION_LIMIT];
	const struct option_group *groups[OPTION_LIMIT];
	size_t count;
	struct option longs[OPTION_LIMIT + 1];
	size_t long_count;
	char shorts[3 * OPTION_LIMIT + 3];
	size_t short_length;
	bool all; /* of the help is asked for */
};

/* ------------------------------------------------------------------- table */

static int argument_kind(const struct option_spec *spec)
{
	if (spec->argument == NULL)
		return no_argument;
	return spec->argument[0] == '[' ? optional_argument : required_argument;
}

static bool has_letter(const struct option_spec *spec)
{
	return spec->letter < 256;
}

static void table_add(struct table *table, const struct option_spec *spec,
		      const struct option_group *group)
{
	int kind = argument_kind(spec);

	assert(table->count < OPTION_LIMIT);
	if (has_letter(spec)) {
		table->shorts[table->short_length++] = (char)spec->letter;
		for (int i = 0; i < kind; i++) /* one colon: required, two: optional */
			table->shorts[table->short_length++] = ':';
	}
	if (spec->name != NULL)
		table->longs[table->long_count++] = (struct option){
			.name = spec->name,
			.has_arg = kind,
			.val = LONG_BASE + (int)table->count,
		};
	table->specs[table->count] = spec;
	table->groups[table->count++] = group;
}

static void table_make(struct table *table, const struct option_tool *tool)
{
	const struct option_group *group;

	*table = (struct table){ .tool = tool };
	/* Not every C library looks at that itself. */
	if (getenv("POSIXLY_CORRECT") != NULL)
		table->shorts[table->short_length++] = '+';
	table->shorts[table->short_length++] = ':'; /* tell a lacking argument apart */
	for (group = tool->groups; group->specs != NULL; group++)
		for (size_t i = 0; i < group->count; i++)
			table_add(table, &group->specs[i], group);
	table_add(table, tool->more != NULL ? &long_help : &common_specs[0], &common_group);
	table_add(table, &common_specs[1], &common_group);
}

/* The place of the option that getopt_long means by `code`; table->count where it
 * means none. */
static size_t table_find(const struct table *table, int code)
{
	size_t i = 0;

	if (code >= LONG_BASE)
		return (size_t)(code - LONG_BASE);
	while (i < table->count && table->specs[i]->letter != code)
		i++;
	return i;
}

/* ------------------------------------------------------------------ faults */

void option_complain(const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	if (vsnprintf(text, sizeof text, format, arguments) < 0)
		text[0] = '\0';
	va_end(arguments);
	message("%s; try '%s --help'", text, message_program());
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The least number of insertions, deletions, replacements and swaps of neighbours
 * that make one name of the other (optimal string alignment); NAME_LIMIT where
 * one is too long to be compared. */
static size_t edit_distance(const char *a, size_t a_length, const char *b)
{
	size_t rows[3][NAME_LIMIT + 1];
	size_t *before = rows[0], *last = rows[1], *now = rows[2];
	size_t b_length = strlen(b);

	if (a_length >= NAME_LIMIT || b_length >= NAME_LIMIT)
		return NAME_LIMIT;
	for (size_t j = 0; j <= b_length; j++)
		now[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t *spare = before;

		before = last;
		last = now;
		now = spare;
		now[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			size_t replaced = last[j - 1] + (a[i - 1] != b[j - 1]);

			now[j] = least(replaced, least(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = least(now[j], before[j - 2] + 1);
		}
	}
	return now[b_length];
}

static bool is_nearer(const char *value, size_t length, const char *word, size_t *best)
{
	size_t distance = edit_distance(value, length, word);

	if (distance >= *best || distance >= strlen(word) || distance > (length + 2) / 3)
		return false;
	*best = distance;
	return true;
}

bool option_nearer(const char *value, const char *word, size_t *best)
{
	return is_nearer(value, strlen(value), word, best);
}

/* The visible long option most like the name; NULL where none is like it. */
static const char *nearest_name(const struct table *table, const char *name, size_t length)
{
	size_t best = SIZE_MAX;
	const char *found = NULL;

	for (size_t i = 0; i < table->count; i++) {
		const struct option_spec *spec = table->specs[i];

		if (spec->name != NULL && spec->help != NULL &&
		    is_nearer(name, length, spec->name, &best))
			found = spec->name;
	}
	return found;
}

/* Writes "--seed, --skip or --stats", the options that the name may be short for,
 * and returns how many they are. */
static size_t list_candidates(const struct table *table, const char *name, size_t length,
			      char *list, size_t size)
{
	const char *previous = NULL;
	size_t count = 0, used = 0;

	list[0] = '\0';
	for (size_t i = 0; i < table->long_count; i++) {
		const char *candidate = table->longs[i].name;

		if (strncmp(candidate, name, length) != 0)
			continue;
		if (previous != NULL && used < size)
			used += (size_t)snprintf(list + used, size - used, "%s--%s",
						 count > 1 ? ", " : "", previous);
		previous = candidate;
		count++;
	}
	if (previous != NULL && used < size)
		snprintf(list + used, size - used, "%s--%s", count > 1 ? " or " : "", previous);
	return count;
}

/* A word that begins with "--" and is no option, or may be several. */
static void complain_of_name(const struct table *table, const char *word)
{
	const char *name = word + 2;
	size_t length = strcspn(name, "=");
	char shown[WORD_SHOWN], list[512];
	const char *nearest;

	message_escape(shown, sizeof shown, word, length + 2);
	if (list_candidates(table, name, length, list, sizeof list) > 1) {
		option_complain("'%s' could be %s", shown, list);
		return;
	}
	nearest = nearest_name(table, name, length);
	if (nearest != NULL)
		option_complain("unknown option '%s' (did you mean '--%s'?)", shown, nearest);
	else
		option_complain("unknown option '%s'", shown);
}

/* The first word behind a single hyphen that has the letter, or NULL.  Where it stands
 * cannot be taken from optind, which every C library moves in its own way. */
static const char *word_with(char **argv, char letter)
{
	for (argv++; *argv != NULL && strcmp(*argv, "--") != 0; argv++) {
		if ((*argv)[0] == '-' && (*argv)[1] != '-' && strchr(*argv, letter) != NULL)
			return *argv;
	}
	return NULL;
}

/* The long option that a word with a single hyphen, "-append", was meant for; getopt_long
 * stopped at this letter of it.  NULL where there is none. */
static const char *meant_as_name(const struct table *table, char **argv, char letter)
{
	const char *word = letter == '\0' ? NULL : word_with(argv, letter);
	size_t length = word != NULL ? strcspn(word, "=") : 0;

	if (length < 3)
		return NULL;
	for (size_t i = 0; i < table->count; i++) {
		const struct option_spec *spec = table->specs[i];

		if (spec->name != NULL && spec->help != NULL && strlen(spec->name) == length - 1 &&
		    memcmp(spec->name, word + 1, length - 1) == 0)
			return spec->name;
	}
	return NULL;
}

/* Says in one line what getopt_long found wrong. */
static void complain(const struct table *table, char **argv, bool lacks_argument)
{
	char option[WORD_SHOWN], letter = (char)optopt;
	const char *nearest;
	size_t place;

	if (optopt == 0) {
		complain_of_name(table, argv[optind - 1]);
		return;
	}
	place = table_find(table, optopt);
	if (optopt >= LONG_BASE)
		snprintf(option, sizeof option, "--%s", table->specs[place]->name);
	else
		message_escape(option, sizeof option, (char[]){ '-', letter }, 2);
	if (lacks_argument)
		option_complain("option '%s' needs an argument (%s)", option,
				table->specs[place]->argument);
	else if (optopt >= LONG_BASE)
		option_complain("option '%s' takes no argument", option);
	else if ((nearest = meant_as_name(table, argv, letter)) != NULL)
		option_complain("unknown option '%s' (did you mean '--%s'?)", option, nearest);
	else
		option_complain("unknown option '%s'", option);
}

/* ------------------------------------------------------------------- words */

/* "write blocked, classic or both", and of the words the one most like the value. */
static void suggest_word(char *text, size_t size, const char *words, const char *value)
{
	size_t best = SIZE_MAX, used = 0;
	char word[NAME_LIMIT], nearest[NAME_LIMIT] = "";

	for (const char *rest = words; *rest != '\0'; rest += strspn(rest, " ")) {
		size_t length = strcspn(rest, " ");
		bool last = rest[length] == '\0';

		snprintf(word, sizeof word, "%.*s", (int)length, rest);
		used = least(used, size - 1);
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 rest == words ? "write " :
					 last          ? " or " :
							 ", ",
					 word);
		if (option_nearer(value, word, &best))
			memcpy(nearest, word, sizeof nearest);
		rest += length;
	}
	used = least(used, size - 1);
	if (nearest[0] != '\0')
		snprintf(text + used, size - used, "; did you mean %s?", nearest);
}

bool option_word(const char *option, const char *value, const char *words, const char *what,
		 size_t *place)
{
	char shown[WORD_SHOWN], advice[256];
	size_t i = 0;

	for (const char *rest = words; *rest != '\0'; rest += strspn(rest, " "), i++) {
		size_t length = strcspn(rest, " ");

		if (strlen(value) == length && memcmp(value, rest, length) == 0) {
			*place = i;
			return true;
		}
		rest += length;
	}
	suggest_word(advice, sizeof advice, words, value);
	message_escape(shown, sizeof shown, value, strlen(value));
	message("--%s: '%s' is not %s: %s", option, shown, what, advice);
	return false;
}

/* -------------------------------------------------------------------- help */

/* Puts words into lines of LINE_WIDTH; the cursor stands at `column`, further lines
 * begin at `indent`. */
static void put_wrapped(struct output *output, const char *text, size_t column, size_t indent)
{
	bool first = true;

	while (*text != '\0') {
		size_t length = strcspn(text, " ");

		if (!first && column + 1 + length > LINE_WIDTH) {
			output_text(output, "\n%*s", (int)indent, "");
			column = indent;
			first = true;
		}
		output_text(output, "%s%.*s", first ? "" : " ", (int)length, text);
		column += length + !first;
		first = false;
		text += length;
		text += strspn(text, " ");
	}
	output_text(output, "\n");
}

/* "-n, --capacity=N" */
static size_t format_option(char *left, size_t size, const struct option_spec *spec)
{
	const char *argument = spec->argument != NULL ? spec->argument : "";
	bool required = argument_kind(spec) == required_argument;
	int length;

	if (spec->name == NULL)
		length = snprintf(left, size, "-%c%s%s", spec->letter, required ? " " : "",
				  argument);
	else if (has_letter(spec))
		length = snprintf(left, size, "-%c, --%s%s%s", spec->letter, spec->name,
				  required ? "=" : "", argument);
	else
		length = snprintf(left, size, "    --%s%s%s", spec->name, required ? "=" : "",
				  argument);
	return least((size_t)length, size - 1);
}

static size_t left_width(const struct table *table)
{
	size_t width = 0;

	for (size_t i = 0; i < table->count; i++) {
		char left[80];
		size_t length = format_option(left, sizeof left, table->specs[i]);

		if (table->specs[i]->help != NULL && length <= LEFT_LIMIT && length > width)
			width = length;
	}
	return width;
}

static void put_option(struct output *output, const struct option_spec *spec, size_t width)
{
	char left[80];
	size_t length = format_option(left, sizeof left, spec);
	size_t indent = 2 + width + 2;

	output_text(output, "  %s", left);
	if (length > width)
		output_text(output, "\n%*s", (int)indent, "");
	else
		output_text(output, "%*s", (int)(width - length + 2), "");
	put_wrapped(output, spec->help, indent, indent);
}

static void put_synopsis(struct output *output, const struct option_tool *tool)
{
	const char *line = tool->synopsis, *before = "Usage:";

	for (;;) {
		size_t length = strcspn(line, "\n");

		output_text(output, "%s %s %.*s\n", before, tool->name, (int)length, line);
		if (line[length] == '\0')
			break;
		line += length + 1;
		before = "   or:";
	}
}

/* Whether help leaves the group to --help=all. */
static bool is_left_out(const struct table *table, const struct option_group *group)
{
	const char *const *title = table->tool->more;

	if (table->all || title == NULL || group->title == NULL)
		return false;
	while (*title != NULL && strcmp(*title, group->title) != 0)
		title++;
	return *title != NULL;
}

static void put_help(struct output *output, const struct table *table)
{
	const struct option_tool *tool = table->tool;
	const struct option_group *group = NULL;
	size_t width = left_width(table);

	put_synopsis(output, tool);
	put_wrapped(output, tool->purpose, 0, 0);
	if (tool->examples != NULL && tool->examples[0] != NULL)
		output_text(output, "\nExamples:\n");
	for (const char *const *line = tool->examples; line != NULL && *line != NULL; line++)
		output_text(output, "  %s\n", *line);
	for (size_t i = 0; i < table->count; i++) {
		if (table->specs[i]->help == NULL || is_left_out(table, table->groups[i]))
			continue;
		if (table->groups[i] != group) {
			group = table->groups[i];
			if (group == &common_group)
				output_text(output, "\n");
			else if (group->title == NULL || *group->title != '\0')
				output_text(output, "\n%s:\n",
					    group->title != NULL ? group->title : "Options");
		}
		put_option(output, table->specs[i], width);
	}
	for (const char *const *line = tool->notes; line != NULL && *line != NULL; line++)
		output_text(output, "%s\n", *line);
}

static void put_version(struct output *output, const struct table *table)
{
	output_text(output, "%s (sketch tools) %s\nreads sketch format 1, writes 1\n",
		    table->tool->name, sketch_version());
}

/* What the argument of an option can be; "-" where nothing is known of it. */
static const char *values_of(const struct option_tool *tool, const struct option_spec *spec)
{
	const struct option_values *row = tool->values;

	if (spec->argument == NULL)
		return "-";
	for (; row != NULL && row->option != NULL; row++)
		if (spec->name != NULL && strcmp(row->option, spec->name) == 0)
			return row->values;
	return strcmp(spec->argument, "FILE") == 0 || strcmp(spec->argument, "F") == 0 ?
		       OPTION_ANY_FILE :
		       "-";
}

static void put_description(struct output *output, const struct table *table)
{
	const struct option_tool *tool = table->tool;

	for (size_t i = 0; i < table->count; i++) {
		const struct option_spec *spec = table->specs[i];

		if (spec->help == NULL)
			continue;
		output_text(output, "option\t%c\t%s\t%s\t%s\t%s\n",
			    has_letter(spec) ? spec->letter : '-',
			    spec->name != NULL ? spec->name : "-",
			    spec->argument != NULL ? spec->argument : "-", spec->help,
			    values_of(tool, spec));
	}
	if (tool->first_operand != NULL)
		output_text(output, "operand\tfirst\t%s\t%c\n", tool->first_operand,
			    tool->instead != 0 ? tool->instead : '-');
	if (tool->other_operands != NULL)
		output_text(output, "operand\tothers\t%s\t-\n", tool->other_operands);
}

/* ----------------------------------------------------------------- parsing */

static int serve(void (*put)(struct output *, const struct table *), const struct table *table)
{
	struct output *output = output_open(STDOUT_FILENO, "standard output");

	if (output == NULL)
		return STATUS_TROUBLE;
	put(output, table);
	return output_close(output) ? 0 : STATUS_TROUBLE;
}

/* --help and --version. */
static int serve_common(struct table *table, const struct option_spec *spec, const char *value)
{
	size_t place;

	if (spec->letter == COMMON_VERSION)
		return serve(put_version, table);
	if (value != NULL && !option_word("help", value, "all", "a part of it", &place))
		return STATUS_TROUBLE;
	table->all = value != NULL;
	return serve(put_help, table);
}

bool option_parse(const struct option_tool *tool, int argc, char **argv, struct operands *operands,
		  int *status)
{
	struct table table;
	int code;

	*status = STATUS_TROUBLE;
	table_make(&table, tool);
	opterr = 0;
	optind = 0; /* begin anew, whatever was parsed before */
	/* No entry of the table, since that would make "--de" ambiguous. */
	if (argc == 2 && strcmp(argv[1], "--describe") == 0) {
		*status = serve(put_description, &table);
		return false;
	}
	while ((code = getopt_long(argc, argv, table.shorts, table.longs, NULL)) != -1) {
		size_t place = table_find(&table, code);

		if (code == '?' || code == ':') {
			complain(&table, argv, code == ':');
			return false;
		}
		if (table.groups[place] == &common_group) {
			*status = serve_common(&table, table.specs[place], optarg);
			return false;
		}
		if (!table.groups[place]->take(table.groups[place]->context,
					       table.specs[place]->letter, optarg))
			return false;
	}
	operands->items = (const char *const *)argv + optind;
	operands->count = (size_t)(argc - optind);
	return true;
}
