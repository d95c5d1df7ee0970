#include <string.h>

#include "message.h"
#include "number.h"
#include "records.h"

enum { OPTION_CRLF = 256, OPTION_FILES0_FROM, OPTION_STATS, OPTION_PROGRESS };

static const struct option_spec record_specs[] = {
	{ 'f', "field", "LIST", "the key is these fields: 2, or 1,3, or 2-4, or 4-" },
	{ 'd', "delimiter", "C", "fields end at byte C (\\t: a tab), not at blanks" },
	{ 'Q', "quoted", NULL, "a field in double quotes stays whole" },
	{ 'i', "ignore-case", NULL, "the key's A-Z count as a-z" },
	{ OPTION_CRLF, "crlf", NULL, "a CR at the record's end is not part of the key" },
	{ 'z', "zero-terminated", NULL, "records end with NUL, not with a newline" },
	{ OPTION_FILES0_FROM, "files0-from", "F", "read the NUL-separated file names in F" },
	{ OPTION_STATS, "stats", NULL, "print a summary to standard error at the end" },
	{ OPTION_PROGRESS, "progress", NULL, "show progress on standard error" },
};

static bool take_record_option(void *context, int letter, const char *value)
{
	struct record_options *options = context;
	struct number_error error;
	uint8_t byte;

	switch (letter) {
	case 'f':
		options->has_fields = true;
		if (field_parse(value, &options->fields, &error))
			return true;
		break;
	case 'd':
		if (number_byte(value, &byte, &error)) {
			options->delimiter = byte;
			return true;
		}
		break;
	case 'Q':
		options->quoted = true;
		return true;
	case 'i':
		options->fold = true;
		return true;
	case OPTION_CRLF:
		options->crlf = true;
		return true;
	case 'z':
		options->zero_terminated = true;
		return true;
	case OPTION_FILES0_FROM:
		options->files0_from = value;
		return true;
	case OPTION_STATS:
		options->stats = true;
		return true;
	case OPTION_PROGRESS:
		options->progress = true;
		return true;
	}
	message("--%s: %s", letter == 'f' ? "field" : "delimiter", error.text);
	return false;
}

struct option_group record_option_group(struct record_options *options)
{
	return (struct option_group){ "Records", record_specs,
				      sizeof record_specs / sizeof *record_specs,
				      take_record_option, options };
}

bool record_options_check(const struct record_options *options, const struct operands *inputs)
{
	if (options->files0_from != NULL && inputs->count > 0) {
		option_complain("--files0-from names the inputs; no operands can be given as well");
		return false;
	}
	if (options->delimiter != FIELD_BLANKS && !options->has_fields) {
		option_complain("--delimiter needs --field");
		return false;
	}
	if (options->quoted && !options->has_fields) {
		option_complain("--quoted says what a field is: it needs --field");
		return false;
	}
	if (options->quoted && (options->delimiter == '"' || options->delimiter == '\\')) {
		option_complain("--delimiter: with --quoted the byte %c has a meaning of its own",
				options->delimiter);
		return false;
	}
	return true;
}

bool record_options_need_records(const struct record_options *options)
{
	return options->files0_from != NULL || options->has_fields || options->fold ||
	       options->crlf || options->progress;
}

static size_t times_stdin(const char *const *names, size_t count)
{
	size_t times = 0;

	for (size_t i = 0; i < count; i++)
		times += strcmp(names[i], "-") == 0;
	return times;
}

bool record_options_check_stdin(const struct record_options *options, const struct operands *inputs,
				bool otherwise, const struct words *sketches)
{
	size_t named = times_stdin(sketches->items, sketches->count);
	bool read = options->files0_from != NULL ? times_stdin(&options->files0_from, 1) > 0 :
		    inputs->count > 0            ? times_stdin(inputs->items, inputs->count) > 0 :
						   otherwise;

	if (named + read <= 1 || named == 0)
		return true;
	option_complain("standard input can be one sketch, and nothing else besides");
	return false;
}
