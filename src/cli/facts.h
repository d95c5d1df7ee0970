/* facts.h - named values of a file, as lines for people and awk or as JSON
 *
 *     name<TAB>value       elsewhere than on a terminal, digits alone
 *     name       value     on a terminal, padded, with thousands separators
 *     "name":value         one JSON object a file
 *
 * The same calls in the same order make either. */
#ifndef CLI_FACTS_H
#define CLI_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "json.h"
#include "output.h"

struct facts {
	struct output *out;
	bool as_json, terminal;
	struct json json;
	char prefix[32]; /* of names in lines: "" or "layer.0." */
	bool begun;      /* there was a file before: lines are separated from its */
};

void facts_begin(struct facts *facts, struct output *out, bool as_json);

/* Before the first and after the last of a file's. */
void facts_open(struct facts *facts);
void facts_close(struct facts *facts);

/* A list of `name`s: an array, or lines "name.0.x"; each element is opened with its
 * index and closed. */
void facts_open_list(struct facts *facts, const char *name);
void facts_open_element(struct facts *facts, const char *element, size_t index);
void facts_close_element(struct facts *facts);
void facts_close_list(struct facts *facts);

void facts_word(struct facts *facts, const char *name, const char *word);
void facts_count(struct facts *facts, const char *name, uint64_t value);
void facts_bytes(struct facts *facts, const char *name, uint64_t value);
void facts_number(struct facts *facts, const char *name, double value);
/* The same of a number that stands already: "21.420". */
void facts_digits(struct facts *facts, const char *name, const char *digits);
void facts_rate(struct facts *facts, const char *name, double rate);
void facts_fill(struct facts *facts, const char *name, double fill); /* a gauge */
void facts_truth(struct facts *facts, const char *name, bool value);
/* A number of keys: "inf" or null where it is infinite. */
void facts_keys(struct facts *facts, const char *name, double keys);
/* Not to be said: null, or no line. */
void facts_none(struct facts *facts, const char *name);

#endif
