#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "number.h"

bool json_is_utf8(const void *bytes, size_t length)
{
	const uint8_t *at = bytes, *end = at + length;

	while (at < end) {
		size_t more = *at < 0x80 ? 0 :
			      *at < 0xc2 ? 9 :
			      *at < 0xe0 ? 1 :
			      *at < 0xf0 ? 2 :
			      *at < 0xf5 ? 3 :
					   9;

		if (more > 3 || (size_t)(end - at) <= more)
			return false;
		/* Overlong forms, surrogates, and what lies beyond U+10FFFF. */
		if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) ||
		    (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f))
			return false;
		for (size_t i = 1; i <= more; i++) {
			if (at[i] >> 6 != 2)
				return false;
		}
		at += more + 1;
	}
	return true;
}

static void separate(struct json *json)
{
	if (json->comma)
		output_write(json->out, ",", 1);
	json->comma = true;
}

static void name_member(struct json *json, const char *name, const char *suffix)
{
	separate(json);
	if (name != NULL)
		output_text(json->out, "\"%s%s\":", name, suffix);
}

void json_open(struct json *json, const char *name)
{
	name_member(json, name, "");
	output_write(json->out, "{", 1);
	json->comma = false;
}

void json_close(struct json *json)
{
	output_write(json->out, "}", 1);
	json->comma = true;
}

void json_open_array(struct json *json, const char *name)
{
	name_member(json, name, "");
	output_write(json->out, "[", 1);
	json->comma = false;
}

void json_close_array(struct json *json)
{
	output_write(json->out, "]", 1);
	json->comma = true;
}

void json_text(struct json *json, const char *name, const void *text, size_t length)
{
	const uint8_t *bytes = text;
	bool hex = !json_is_utf8(text, length);

	name_member(json, name, hex ? "_hex" : "");
	output_write(json->out, "\"", 1);
	for (size_t i = 0; i < length; i++) {
		if (hex)
			output_text(json->out, "%02x", bytes[i]);
		else if (bytes[i] == '"' || bytes[i] == '\\')
			output_text(json->out, "\\%c", bytes[i]);
		else if (bytes[i] < 0x20 || bytes[i] == 0x7f)
			output_text(json->out, "\\u%04x", bytes[i]);
		else
			output_write(json->out, bytes + i, 1);
	}
	output_write(json->out, "\"", 1);
}

void json_word(struct json *json, const char *name, const char *word)
{
	json_text(json, name, word, strlen(word));
}

void json_count(struct json *json, const char *name, uint64_t value)
{
	name_member(json, name, "");
	output_text(json->out, "%" PRIu64, value);
}

void json_number(struct json *json, const char *name, double value)
{
	char text[32];

	name_member(json, name, "");
	output_text(json->out, "%s", isfinite(value) ? number_print(text, value) : "null");
}

void json_digits(struct json *json, const char *name, const char *digits)
{
	name_member(json, name, "");
	output_text(json->out, "%s", digits);
}

void json_truth(struct json *json, const char *name, bool value)
{
	name_member(json, name, "");
	output_text(json->out, "%s", value ? "true" : "false");
}

void json_null(struct json *json, const char *name)
{
	name_member(json, name, "");
	output_write(json->out, "null", 4);
}
