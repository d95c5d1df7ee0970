/* option.h - one table a tool: its options, their help, and what reads them
 *
 * A tool describes its command line once.  From that description come the
 * arguments of getopt_long, the text of --help, and (where --describe is the only
 * word) a machine-readable listing of all options not hidden, tab-separated:
 *     option<TAB>LETTER or -<TAB>LONG<TAB>ARGUMENT or -<TAB>help
 * from which lint compares the manual and completions can be made.
 * --help and --version are added to every table, print to standard output and
 * give status 0.  A faulty command line gives one line on standard error that
 * ends with "try 'TOOL --help'", and status 2. */
#ifndef CLI_OPTION_H
#define CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>

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

struct option_tool {
	const char *name;            /* of the program */
	const char *synopsis;        /* "[OPTION]... FILTER [INPUT]..."; lines split by \n */
	const char *purpose;         /* one sentence */
	const char *const *examples; /* commands as typed, NULL at the end */
	const char *const *notes;    /* lines after the options, NULL at the end, or NULL */
	/* In the order of --help; the last has specs == NULL.  At most
	 * OPTION_LIMIT options in all, letters and names all different. */
	const struct option_group *groups;
};

/* Reads argv, and puts the operands last in it.  Long options may be shortened while
 * they stay unambiguous; operands and options may be mixed, "--" ends options
 * (POSIXLY_CORRECT obeyed by getopt_long).  Returns the index of the first operand, or 0
 * where the tool is to end with *status: 0 after --help and the like (2 where standard
 * output failed), 2 after a message.  Where it goes on *status is 2: what is found wrong
 * later needs no word about it. */
int option_parse(const struct option_tool *tool, int argc, char **argv, int *status);

/* "tool: text; try 'tool --help'" */
void option_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
