/* plan_options.h - the options that size a filter, alike in every tool */
#ifndef CLI_PLAN_OPTIONS_H
#define CLI_PLAN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "keying.h"
#include "option.h"
#include "sketch.h"

/* What was given of -n -p -m -k -L -s; 0 in the request where it was not. */
struct plan_options {
	struct sketch_request request;
	bool has_layout, has_seed;
	uint32_t seed;
	enum sketch_kind kind; /* SKETCH_KIND_BLOOM where none was given */
	bool has_kind;
	unsigned int counter_bits; /* or 0 */
	struct keying keying;      /* of tools that have its group; read before use */
};

#define PLAN_OPTIONS_NONE                                                                          \
	((struct plan_options){ .request.layout = SKETCH_BLOCKED, .kind = SKETCH_KIND_BLOOM })

/* The words that some of the options take, in the order of their meaning; and rows of
 * struct option_values. */
#define PLAN_LAYOUTS "blocked classic"
#define PLAN_KINDS "bloom counting cuckoo"
#define PLAN_COUNTER_SIZES "4 8 16"
/* clang-format off */
#define PLAN_OPTION_VALUES { "layout", PLAN_LAYOUTS }
#define PLAN_KIND_OPTION_VALUES { "kind", PLAN_KINDS }, { "counter-bits", PLAN_COUNTER_SIZES }
/* clang-format on */

/* The group of these options; `options` must be PLAN_OPTIONS_NONE to begin with. */
struct option_group plan_option_group(struct plan_options *options);

/* The group of --kind and --counter-bits, for tools that know more than plain filters;
 * and whether they go together with the others: else one message says which do not. */
struct option_group plan_kind_option_group(struct plan_options *options);
bool plan_kind_check(const struct plan_options *options);

/* The bits of a counter of the filter asked for; 0 where it has none. */
unsigned int plan_counter_bits(const struct plan_options *options);

/* What the options ask for, completed: with neither n nor m it is the first rung of a
 * ladder (*grows).  The rate is `rate` where none was asked for, and n and m do not
 * decide it.  False with a message where there is none such. */
bool plan_complete(const struct plan_options *options, double rate, struct sketch_params *params,
		   bool *grows);

/* Makes the Bloom filter, plain or counting, that the options ask for; NULL with a
 * message.  `fold`: its keys are folded. */
struct sketch_bloom *plan_make_filter(const struct plan_options *options, double rate, bool fold);

/* The same of a cuckoo filter. */
struct sketch_cuckoo *plan_make_cuckoo(const struct plan_options *options, double rate, bool fold);

/* Its parameters; false after a message. */
bool plan_complete_cuckoo(const struct plan_options *options, double rate,
			  struct sketch_cuckoo_params *params);

/* The same for a window of two generations: each has half the rate and half of the
 * size asked for; `records` is the number of keys where -n was not given, or 0. */
struct sketch_bloom *plan_make_window(const struct plan_options *options, double rate, bool fold,
				      const struct sketch_window *window, uint64_t records);

/* Whether the options (and --ignore-case) say anything else than a filter read from
 * `file`; then a message named the field. */
bool plan_contradicts(const struct plan_options *options, bool fold, const char *file,
		      const struct sketch_bloom *filter);
bool plan_contradicts_cuckoo(const struct plan_options *options, bool fold, const char *file,
			     const struct sketch_cuckoo *cuckoo);

#endif
