#include "facts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "chart.h"
#include "filter.h"
#include "message.h"
#include "number.h"

#define NAME_WIDTH 15
#define NAME_WIDTH_BELOW 21 /* layer.0.past_capacity */
#define GAUGE_WIDTH 20

void facts_begin(struct facts *facts, struct output *out, bool as_json)
{
	*facts = (struct facts){
		.out = out,
		.as_json = as_json,
		.terminal = !as_json && isatty(STDOUT_FILENO) == 1,
		.json = { out, false },
	};
}

void facts_open(struct facts *facts)
{
	if (facts->as_json) {
		facts->json.comma = false;
		json_open(&facts->json, NULL);
	} else if (facts->begun) {
		output_write(facts->out, "\n", 1);
	}
	facts->begun = true;
}

void facts_close(struct facts *facts)
{
	if (!facts->as_json)
		return;
	json_close(&facts->json);
	output_write(facts->out, "\n", 1);
}

void facts_open_list(struct facts *facts, const char *name)
{
	if (facts->as_json)
		json_open_array(&facts->json, name);
}

void facts_open_element(struct facts *facts, const char *element, size_t index)
{
	if (facts->as_json)
		json_open(&facts->json, NULL);
	else
		snprintf(facts->prefix, sizeof facts->prefix, "%s.%zu.", element, index);
}

void facts_close_element(struct facts *facts)
{
	if (facts->as_json)
		json_close(&facts->json);
	facts->prefix[0] = '\0';
}

void facts_close_list(struct facts *facts)
{
	if (facts->as_json)
		json_close_array(&facts->json);
}

static void line(const struct facts *facts, const char *name, const char *value)
{
	char full[64];

	snprintf(full, sizeof full, "%s%s", facts->prefix, name);
	if (facts->terminal)
		output_text(facts->out, "%-*s  %s\n",
			    facts->prefix[0] == '\0' ? NAME_WIDTH : NAME_WIDTH_BELOW, full, value);
	else
		output_text(facts->out, "%s\t%s\n", full, value);
}

void facts_word(struct facts *facts, const char *name, const char *word)
{
	char shown[512];

	if (facts->as_json)
		json_word(&facts->json, name, word);
	else if (facts->terminal || strchr(word, '\n') != NULL)
		/* A name with a newline in it must not look like two facts. */
		line(facts, name, message_escape(shown, sizeof shown, word, strlen(word)));
	else
		line(facts, name, word);
}

void facts_count(struct facts *facts, const char *name, uint64_t value)
{
	char text[32];

	if (facts->as_json) {
		json_count(&facts->json, name, value);
		return;
	}
	if (facts->terminal)
		number_grouped(text, value);
	else
		snprintf(text, sizeof text, "%" PRIu64, value);
	line(facts, name, text);
}

void facts_bytes(struct facts *facts, const char *name, uint64_t value)
{
	char text[32];

	if (facts->terminal)
		line(facts, name, number_size(text, value));
	else
		facts_count(facts, name, value);
}

void facts_number(struct facts *facts, const char *name, double value)
{
	char text[32];

	if (facts->as_json)
		json_number(&facts->json, name, value);
	else
		line(facts, name, number_print(text, value));
}

void facts_digits(struct facts *facts, const char *name, const char *digits)
{
	if (facts->as_json)
		json_digits(&facts->json, name, digits);
	else
		line(facts, name, digits);
}

void facts_rate(struct facts *facts, const char *name, double rate)
{
	char text[32];

	if (facts->terminal)
		line(facts, name, filter_print_rate(text, rate));
	else
		facts_number(facts, name, rate);
}

void facts_fill(struct facts *facts, const char *name, double fill)
{
	char text[3 * CHART_BAR_MOST + 32] = "[", *end;
	bool unicode = chart_unicode();
	unsigned marks;

	if (!facts->terminal) {
		facts_number(facts, name, fill);
		return;
	}
	marks = chart_bar(text + 1, unicode, GAUGE_WIDTH, fill);
	end = text + strlen(text);
	for (; marks < GAUGE_WIDTH; marks++)
		*end++ = unicode ? ' ' : '.';
	snprintf(end, 16, "] %.1f %%", fill * 100);
	line(facts, name, text);
}

void facts_truth(struct facts *facts, const char *name, bool value)
{
	if (facts->as_json)
		json_truth(&facts->json, name, value);
	else
		line(facts, name, value ? "yes" : "no");
}

void facts_keys(struct facts *facts, const char *name, double keys)
{
	if (isfinite(keys) && keys < 18e18)
		facts_count(facts, name, (uint64_t)rint(keys));
	else if (facts->as_json || isfinite(keys))
		facts_number(facts, name, keys);
	else
		line(facts, name, "inf");
}

void facts_none(struct facts *facts, const char *name)
{
	if (facts->as_json)
		json_null(&facts->json, name);
}
