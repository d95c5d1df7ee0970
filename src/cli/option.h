/* option.h - one table a tool: its options, their help, and what reads them
 *
 * A tool describes its command line once.  From that description come the
 * arguments of getopt_long, the text of --help, and (where --describe is the only
 * word) a machine-readable listing of all options not hidden, tab-separated:
 *     option<TAB>LETTER or -<TAB>LONG<TAB>ARGUMENT or -<TAB>help<TAB>VALUES or -
 *     operand<TAB>first, others<TAB>VALUES<TAB>LETTER or -
 * from which lint compares the manual, and scripts/make-completions makes what
 * shells complete a command line by.  VALUES are words or patterns of file names,
 * split by blanks.
 * --help and --version are added to every table, print to standard output and
 * give status 0.  A faulty command line gives one line on standard error that
 * ends with "try 'TOOL --help'", and status 2. */
#ifndef CLI_OPTION_H
#define CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTION_LIMIT 96

struct option_spec {
	int letter;           /* the short option, or a number of 256 and more where
	                       * there is only a long one */
	const char *name;     /* the long option without "--", or NULL */
	const char *argument; /* how help names the argument ("N"), or NULL for none;
	                       * "[=WHEN]" where it is optional */
	const char *help;     /* one line, no full stop; NULL hides the option */
};

struct option_group {
	const char *title; /* "Input"; NULL for the tool's own; "" where help goes on
	                    * without one */
	const struct option_spec *specs;
	size_t count;
	/* Takes one option: returns true, or prints one message and returns false.
	 * `value` is NULL where none was given. */
	bool (*take)(void *context, int letter, const char *value);
	void *context;
};

/* What an argument can be: words, "blocked classic", or patterns of the names of fitting
 * files, "*.bloom *.cuckoo".  Of an argument called FILE or F not named so, any file. */
struct option_values {
	const char *option; /* its long name; NULL ends a table */
	const char *values;
};

#define OPTION_ANY_FILE "*"
#define OPTION_FILTER_FILES "*.bloom *.cuckoo"
#define OPTION_COUNTS_FILES "*.cms"
#define OPTION_DISTINCT_FILES "*.hll"
#define OPTION_SKETCH_FILES OPTION_FILTER_FILES " " OPTION_COUNTS_FILES " " OPTION_DISTINCT_FILES

struct option_tool {
	const char *name;            /* of the program */
	const char *synopsis;        /* "[OPTION]... FILTER [INPUT]..."; lines split by \n */
	const char *purpose;         /* one sentence */
	const char *const *examples; /* commands as typed, NULL at the end */
	const char *const *notes;    /* lines after the options, NULL at the end, or NULL */
	/* In the order of --help; the last has specs == NULL.  At most
	 * OPTION_LIMIT options in all, letters and names all different. */
	const struct option_group *groups;
	const struct option_values *values; /* or NULL */
	/* Titles of groups that --help=all lists and --help does not, NULL at the end, so that
	 * that fits on a screen; NULL where there are none. */
	const char *const *more;
	/* Patterns of the files that the first operand can be, and those behind it; NULL
	 * where there can be none.  An option of the letter `instead` (0: none) takes the
	 * place of the first. */
	const char *first_operand, *other_operands;
	int instead;
};

/* Words of a command line that belong to no option; they stay where they are. */
struct operands {
	const char *const *items;
	size_t count;
};

/* Reads argv, and puts the operands last in it.  Long options may be shortened while
 * they stay unambiguous; operands and options may be mixed, "--" ends options
 * (POSIXLY_CORRECT obeyed by getopt_long).  False where the tool is to end with *status: 0
 * after --help and the like (2 where standard output failed), 2 after a message.  Where it
 * goes on *status is 2: what is found wrong later needs no word about it. */
bool option_parse(const struct option_tool *tool, int argc, char **argv, struct operands *operands,
		  int *status);

/* The place of a value among words split by blanks; false after a message
 *     --layout: 'clasic' is not a layout: write blocked or classic; did you mean classic?
 * where it is none of them.  `what` is "a layout". */
bool option_word(const char *option, const char *value, const char *words, const char *what,
		 size_t *place);

/* Whether a word is one that the value may have been meant for, and nearer than the best
 * one so far, by its distance in *best: SIZE_MAX to begin with. */
bool option_nearer(const char *value, const char *word, size_t *best);

/* "tool: text; try 'tool --help'" */
void option_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
