/* json.h - one JSON object a line
 *
 * Names and values are written in the order of the calls; a number that JSON
 * cannot say (infinite, not a number) becomes null.  A text that is not valid
 * UTF-8 is written in hexadecimal under the name with "_hex" behind it. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output.h"

struct json {
	struct output *out;
	bool comma; /* the next member needs one in front */
};

/* An object; `name` is NULL for the outermost and for those in an array. */
void json_open(struct json *json, const char *name);
void json_close(struct json *json);
void json_open_array(struct json *json, const char *name);
void json_close_array(struct json *json);

void json_text(struct json *json, const char *name, const void *text, size_t length);
void json_word(struct json *json, const char *name, const char *word);
void json_count(struct json *json, const char *name, uint64_t value);
void json_number(struct json *json, const char *name, double value);
/* A number that stands already as JSON has it: "21.420". */
void json_digits(struct json *json, const char *name, const char *digits);
void json_truth(struct json *json, const char *name, bool value);
void json_null(struct json *json, const char *name);

/* Whether bytes are UTF-8 as RFC 3629 has it. */
bool json_is_utf8(const void *bytes, size_t length);

#endif
