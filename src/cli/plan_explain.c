#include "plan_explain.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "filter.h"
#include "portable.h"

#define LOG_2 0.6931471805599453
#define WORTH 0.01 /* a rate below which more hashes rarely pay */

/* The numbers of the lesson: the textbook's, k being whole. */
struct lesson {
	const struct plan_case *answer;
	struct output *out;
	double n, m, k, bits_per_key, best;
	int step;
};

/* A number as one writes it on a blackboard: digits up to a million, then 48*10^6,
 * 2.2*10^-4. */
struct chalk {
	char text[40];
};

static struct chalk chalk(double x)
{
	struct chalk chalk;
	int exponent = 0;
	double mantissa = x;

	if (x == 0 || (x >= 0.001 && x < 1e6)) {
		snprintf(chalk.text, sizeof chalk.text, x < 1 ? "%.4g" : "%.6g", x);
		return chalk;
	}
	for (; mantissa >= 999.9995; mantissa /= 1000)
		exponent += 3;
	for (; mantissa < 0.99995; mantissa *= 10)
		exponent--;
	if (mantissa > 0.99999 && mantissa < 1.00001)
		snprintf(chalk.text, sizeof chalk.text, "10^%d", exponent);
	else
		snprintf(chalk.text, sizeof chalk.text, "%.4g*10^%d", mantissa, exponent);
	return chalk;
}

static void heading(struct lesson *lesson, const char *text)
{
	output_text(lesson->out, "%s%d. %s\n", lesson->step > 0 ? "\n" : "", lesson->step + 1,
		    text);
	lesson->step++;
}

static void say(struct lesson *lesson, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct lesson *lesson, const char *format, ...)
{
	char line[160];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	output_text(lesson->out, "   %s\n", line);
}

/* --------------------------------------------------------------------- steps */

static void explain_given(struct lesson *lesson)
{
	heading(lesson, "What there is");
	if (lesson->answer->sized) {
		say(lesson, "n = %s keys, m = %s bits (%s bytes), k = %.0f hashes.",
		    chalk(lesson->n).text, chalk(lesson->m).text, chalk(lesson->m / 8).text,
		    lesson->k);
		say(lesson, "That is c = m/n = %.4g bits a key, or a load n/m = %.4g.",
		    lesson->bits_per_key, lesson->n / lesson->m);
	} else {
		say(lesson, "c = m/n = %.4g bits a key (a load n/m of %.4g), k = %.0f hashes.",
		    lesson->bits_per_key, lesson->n / lesson->m, lesson->k);
		say(lesson, "Only this ratio matters, once the filter is large.");
	}
}

static void explain_one_bit(struct lesson *lesson)
{
	double balls = lesson->k * lesson->n;
	bool sized = lesson->answer->sized;

	heading(lesson, "Look at one bit");
	say(lesson, "One hash sets one bit of m, each as likely as the others. It misses");
	if (sized)
		say(lesson, "ours with probability 1 - 1/m = 1 - %s.", chalk(1 / lesson->m).text);
	else
		say(lesson, "ours with probability 1 - 1/m.");
	say(lesson, "The k = %.0f hashes of one key all miss it with (1 - 1/m)^k.", lesson->k);
	if (sized)
		say(lesson, "n keys throw k n = %s times: it is still 0 with (1 - 1/m)^(kn).",
		    chalk(balls).text);
	else
		say(lesson, "After n keys it is still 0 with probability (1 - 1/m)^(kn).");
}

static void explain_exponential(struct lesson *lesson)
{
	double throws = lesson->k * lesson->n / lesson->m, zero = portable_exp(-throws);

	heading(lesson, "The exponential");
	say(lesson, "(1 - 1/m)^m is nearly 1/e, so (1 - 1/m)^(kn) is nearly e^(-kn/m).");
	say(lesson, "kn/m = %.4g, so a bit is 0 with e^-%.4g = %.4g, and 1 with %.4g.", throws,
	    throws, zero, lesson->answer->book.fill);
}

static void explain_rate(struct lesson *lesson)
{
	const struct textbook *book = &lesson->answer->book;

	heading(lesson, "A false positive");
	say(lesson, "A key that was never inserted is taken for one that was if all of its");
	say(lesson, "k bits are 1:");
	say(lesson, "p = (1 - e^(-kn/m))^k = %.4g^%.0f = %s.", book->fill, lesson->k,
	    chalk(book->rate).text);
	say(lesson, "With ten times the bits, k and n as they are, it would be %s;",
	    chalk(rates_exponential(lesson->k, 10 * lesson->m, lesson->n)).text);
	say(lesson, "with twice the keys in the same bits, %s.",
	    chalk(rates_exponential(lesson->k, lesson->m, 2 * lesson->n)).text);
}

static void explain_best(struct lesson *lesson)
{
	double whole = lesson->best < 1 ? 1 : (double)(uint64_t)(lesson->best + 0.5);

	heading(lesson, "The best k");
	say(lesson, "More hashes ask more questions of a key, but fill the filter sooner.");
	say(lesson, "p is smallest where half of the bits are 1: at e^(-kn/m) = 1/2, that is");
	say(lesson, "k = (m/n) ln 2 = %.4g * 0.6931 = %.4g.", lesson->bits_per_key, lesson->best);
	say(lesson, "There p = (1/2)^k = 0.6185^(m/n) = 0.6185^%.4g = %s.", lesson->bits_per_key,
	    chalk(portable_exp(-lesson->best * LOG_2)).text);
	say(lesson, "k must be whole, so take the nearest: k = %.0f gives p = %s.", whole,
	    chalk(rates_exponential(whole, lesson->m, lesson->n)).text);
}

/* Whether the best k is worth its probes. */
static void explain_cost(struct lesson *lesson)
{
	double fewer = 1, whole = (double)(uint64_t)(lesson->best + 0.5);

	if (lesson->best < 1.5) {
		heading(lesson, "A crowded filter");
		say(lesson,
		    "At a load of n/m = %.3g about one hash is best: a second would set more",
		    lesson->n / lesson->m);
		say(lesson, "bits to 1 than it could ask about.");
		return;
	}
	while (fewer < lesson->best && rates_exponential(fewer, lesson->m, lesson->n) > WORTH)
		fewer++;
	if (fewer + 2 > lesson->best)
		return;
	heading(lesson, "Why nobody should use it");
	say(lesson, "%.0f hashes mean %.0f probes of memory for every event, each of them a", whole,
	    whole);
	say(lesson, "cache miss once the filter is large. k = %.0f gives p = %s already, and",
	    fewer, chalk(rates_exponential(fewer, lesson->m, lesson->n)).text);
	say(lesson, "below 1 %% more hashes rarely pay: what comes after errs more than that.");
}

static void explain_bound(struct lesson *lesson)
{
	const struct plan_case *answer = lesson->answer;
	const struct sketch_params *used = &answer->used;

	if (!answer->made) {
		heading(lesson, "What is used");
		say(lesson, "No such filter is made: %s.", answer->refusal);
		return;
	}
	heading(lesson, "What is used");
	say(lesson, "The number of 1s varies, and what a fuller filter errs more outweighs");
	say(lesson, "what an emptier one errs less: the truth is above the p of step 4.");
	say(lesson, "A promise that is to be kept needs an upper bound:");
	if (used->layout == SKETCH_CLASSIC) {
		say(lesson, "p <= (1 - e^(-k(n + 1/2)/(m - 1)))^k      (Goel and Gupta 2010).");
	} else {
		say(lesson,
		    "the k = %" PRIu32 " bits of a key lie in g = %" PRIu32
		    " cache line%s of 512 bits, %" PRIu32 " in each,",
		    used->k, used->g, used->g > 1 ? "s" : "", used->k / used->g);
		say(lesson,
		    "and a line that got more than its share of keys errs more. The bound is");
		say(lesson,
		    "the sum over j of P(a line has j keys) P(it says yes), to the power g.");
	}
	if (answer->sized)
		say(lesson, "The filter made: %s, m = %" PRIu64 ", k = %" PRIu32 ".",
		    filter_layout_name(used->layout), used->m, used->k);
	else
		say(lesson, "The filter made: %s, %.4g bits a key, k = %" PRIu32 ".",
		    filter_layout_name(used->layout), (double)used->m / (double)used->n, used->k);
	say(lesson, "Its rate is at most %s.", chalk(sketch_rate_bound(used, used->n)).text);
}

void plan_explain(const struct plan_case *answer, struct output *out)
{
	const struct textbook *book = &answer->book;
	struct lesson lesson = {
		.answer = answer,
		.out = out,
		.n = book->n,
		.m = book->m_whole,
		.k = book->k_whole,
		.bits_per_key = book->m_whole / book->n,
		.best = book->m_whole / book->n * LOG_2,
	};

	explain_given(&lesson);
	explain_one_bit(&lesson);
	explain_exponential(&lesson);
	explain_rate(&lesson);
	explain_best(&lesson);
	explain_cost(&lesson);
	explain_bound(&lesson);
}
