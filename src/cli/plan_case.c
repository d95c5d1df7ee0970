#include "plan_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "option.h"
#include "sizing.h"

/* Of a ratio alone: so many keys that the rate no longer depends on their number,
 * and so many bits at the most. */
#define MANY_KEYS 1e12
#define MANY_BITS 0x1p62

/* --------------------------------------------------------------------- ratio */

static const char *skip_digits(const char *at, bool *any)
{
	for (; *at >= '0' && *at <= '9'; at++)
		*any = true;
	return at;
}

bool plan_case_ratio(const char *word, double *value, struct number_error *error)
{
	bool mantissa = false, exponent = true;
	const char *at = skip_digits(word, &mantissa);
	double number = 0, scale = 1;
	char shown[64];

	if (*at == '.')
		at = skip_digits(at + 1, &mantissa);
	if (mantissa && (*at == 'e' || *at == 'E')) {
		exponent = false;
		at += at[1] == '-' || at[1] == '+' ? 2 : 1;
		at = skip_digits(at, &exponent);
	}
	if (strcmp(at, "%") == 0) {
		scale = 100;
		at++;
	}
	if (mantissa && exponent && *at == '\0')
		number = strtod(word, NULL) / scale;
	if (number >= 1e-9 && number <= 1e9) {
		*value = number;
		return true;
	}
	snprintf(error->text, sizeof error->text,
		 "'%s' is not a ratio from 1e-9 to 1e9 (9.6, 0.7, 70%%)",
		 message_escape(shown, sizeof shown, word, strlen(word)));
	return false;
}

/* ------------------------------------------------------------------- request */

/* The ratio as bits per key, or 0. */
static double ratio_of(const struct plan_question *question)
{
	return question->load > 0 ? 1 / question->load : question->bits_per_key;
}

static bool check_ratio(const struct plan_question *question)
{
	if (question->load > 0 && question->bits_per_key > 0) {
		option_complain("--load and --bits-per-key say the same thing: give one of them");
		return false;
	}
	if (ratio_of(question) > 0 && question->request.n != 0 && question->request.m != 0) {
		option_complain("%s follows from -n and -m: leave one of the three out",
				question->load > 0 ? "--load" : "--bits-per-key");
		return false;
	}
	return true;
}

static bool check_enough(const struct plan_question *question)
{
	const struct sketch_request *given = &question->request;
	const char *missing = NULL;

	if (ratio_of(question) > 0)
		return true;
	if (given->n == 0 && given->m == 0 && (given->p == 0 || given->k == 0))
		missing = given->p != 0 ? "-n (how many keys?) or -m (how large?)" :
			  given->k != 0 ? "two of -n, -p and -m; or -p or --bits-per-key, for a "
					  "filter of any size" :
					  "two or three of -n (keys), -p (rate), -m (size), -k "
					  "(hashes)";
	else if (given->n != 0 && given->m == 0 && given->p == 0)
		missing = "-p (how often wrong?) or -m (how large?)";
	else if (given->m != 0 && given->n == 0 && given->p == 0)
		missing = "-n (how many keys?) or -p (how often wrong?)";
	if (missing == NULL)
		return true;
	option_complain("missing: %s", missing);
	return false;
}

/* bits / per, in whole numbers, 1 at least. */
static bool take_quotient(double quotient, const char *name, double most, uint64_t *value)
{
	if (!(quotient >= 1 && quotient <= most)) {
		message("%s = %.6g is out of range (1 to %.6g)", name, quotient, most);
		return false;
	}
	*value = (uint64_t)quotient;
	return true;
}

/* Puts n and m for the ratio into the request. */
static bool apply_ratio(const struct plan_question *question, struct sketch_request *request)
{
	double load = question->load, bits = question->bits_per_key;
	double n = (double)request->n, m = (double)request->m;

	if (request->n != 0)
		return take_quotient(load > 0 ? n / load : n * bits, "m", 0x1p63 - 1024,
				     &request->m);
	if (request->m != 0)
		return take_quotient(load > 0 ? m * load : m / bits, "n", 1e18, &request->n);
	bits = ratio_of(question);
	n = MANY_KEYS * bits < MANY_BITS ? MANY_KEYS : MANY_BITS / bits;
	request->n = (uint64_t)n;
	request->m = (uint64_t)(n * bits);
	return true;
}

/* ------------------------------------------------------------------ complete */

/* Whether the library refused for want of bits or keys that it can have, and not
 * because two of the numbers given exclude each other. */
static bool beyond_limits(const struct sketch_request *request, enum sketch_status status)
{
	if (request->m == 0)
		return status == SKETCH_UNREACHABLE && request->k == 0;
	return status == SKETCH_RANGE && request->p == 0 && request->n != 0 &&
	       request->m < SKETCH_BLOCK_BITS;
}

static void consult_textbook(const struct plan_question *question, struct plan_case *answer,
			     const struct sketch_request *request)
{
	struct textbook_request asked = {
		.n = (double)request->n,
		.m = (double)request->m,
		.p = request->p,
		.k = request->k,
	};
	struct textbook *book = &answer->book;

	if (!answer->sized && request->m != 0) {
		asked.n = 1;
		asked.m = ratio_of(question);
	}
	*book = textbook_complete(&asked);
	if (answer->sized)
		return;
	/* a ratio is not rounded */
	book->m_whole = book->m;
	book->rate = rates_exponential(book->k_whole, book->m, book->n);
	book->fill = rates_exponential(1, book->m, book->n * book->k_whole);
}

bool plan_case_complete(const struct plan_question *question, struct plan_case *answer)
{
	struct sketch_request request = question->request;
	struct sketch_error error;
	enum sketch_status status;

	if (!check_ratio(question) || !check_enough(question))
		return false;
	answer->counter_bits = question->counter_bits;
	if (question->counter_bits > 0)
		request.m /= question->counter_bits;
	answer->sized = request.n != 0 || request.m != 0;
	if (ratio_of(question) > 0 && !apply_ratio(question, &request))
		return false;
	if (request.n == 0 && request.m == 0)
		request.n = (uint64_t)MANY_KEYS;
	answer->refusal[0] = '\0';
	status = sketch_plan(&request, &answer->used, &error);
	answer->made = status == SKETCH_OK;
	if (!answer->made) {
		if (!beyond_limits(&request, status)) {
			message("%s", error.text);
			return false;
		}
		snprintf(answer->refusal, sizeof answer->refusal, "%s", error.text);
	}
	consult_textbook(question, answer, &request);
	return true;
}

/* --------------------------------------------------------------------- rates */

double plan_case_exact(const struct plan_case *answer)
{
	const struct sketch_params *used = &answer->used;

	if (!answer->made)
		return NAN;
	if (used->layout == SKETCH_BLOCKED)
		return sketch_rate_bound(used, used->n);
	return rates_exact(used->k, (double)used->m, (double)used->n);
}

uint64_t plan_case_keys_until(const struct sketch_params *params, double p)
{
	struct sketch_request request = {
		.layout = params->layout,
		.m = params->m,
		.k = params->k,
		.g = params->g,
		.p = p,
	};
	struct sketch_params found;

	if (sketch_plan(&request, &found, NULL) != SKETCH_OK)
		return 0;
	return found.n;
}

double plan_case_bits(const struct plan_case *answer, double m)
{
	return answer->counter_bits > 0 ? m * answer->counter_bits : m;
}

double plan_case_bytes(double bits)
{
	double bytes = bits / 8;
	double whole = bytes < 0x1p53 ? (double)(uint64_t)bytes : bytes;

	return whole < bytes ? whole + 1 : whole;
}
