/* filter.h - filters by name, for the tools that read them */
#ifndef CLI_FILTER_H
#define CLI_FILTER_H

#include <stdbool.h>

#include "records.h"
#include "sketch.h"
#include "state.h"

/* A filter of any kind, to be used alike: a Bloom filter, plain or counting, or a cuckoo
 * filter; the other is NULL.  None is there yet where both are. */
struct filter {
	struct sketch_bloom *bloom;
	struct sketch_cuckoo *cuckoo;
};

bool filter_is_none(const struct filter *filter);

/* Reads the filter in a file, "-" standing for standard input: false after a message.  A
 * filter is refused where it would not fit this machine. */
bool filter_open(struct filter *filter, const char *name, enum sketch_access access);

/* The same of a file that was read; it is used up. */
bool filter_of_file(struct filter *filter, const char *name, struct sketch_file *file);

void filter_free(struct filter *filter);

/* Its enum sketch_kind, and that in words. */
uint32_t filter_kind(const struct filter *filter);
const char *filter_kind_name(const struct filter *filter);

/* Whether keys can be taken out: it then is a multiset. */
bool filter_can_remove(const struct filter *filter);

/* As the functions of sketch_bloom by these names. */
const struct sketch_identity *filter_identity(const struct filter *filter);
uint64_t filter_records(const struct filter *filter);
void filter_set_records(struct filter *filter, uint64_t records);
enum sketch_status filter_test(struct filter *filter, const struct sketch_hash *hashes,
			       size_t count, uint64_t *found, struct sketch_error *error);
enum sketch_status filter_union(struct filter *into, struct filter *from,
				struct sketch_error *error);

/* Writes it to a descriptor: an open_writer of a struct filter. */
enum sketch_status filter_write(void *filter, int fd, struct sketch_error *error);

/* Adds at most RECORDS_BATCH keys in order, to the last layer of one that grows.  Fails
 * where it cannot grow, or is full. */
enum sketch_status filter_add(struct filter *filter, const struct sketch_hash *hashes, size_t count,
			      struct sketch_error *error);

/* Takes keys out, in order, but for those that surely are not there; returns how many it
 * was.  filter_can_remove must hold, and count is at most RECORDS_BATCH. */
size_t filter_remove(struct filter *filter, const struct sketch_hash *hashes, size_t count);

/* A filter of DCSO's in a file that was read, which is used up; NULL after a message.
 * Where its bits are dependent a warning says so. */
struct sketch_dcso *filter_dcso_of_file(const char *name, struct sketch_file *file);

/* A filter that is kept in a file from run to run. */
struct filter_state {
	struct filter filter;
	struct state *state;
	bool removes;    /* the records of this run are taken out of it */
	uint64_t before; /* records in the file when it was read */
	uint64_t saved;  /* records of this run that it holds by now */
};

/* Claims the file and reads the filter in it, none where it holds none yet.  False
 * after a message or a signal. */
bool filter_claim(struct filter_state *kept, const struct state_options *options);

/* Saves it with the records of the file before and `records` of this run; nothing is
 * written where this run has read nothing new.  False after a message. */
bool filter_save(struct filter_state *kept, uint64_t records);

/* "classic" or "blocked". */
const char *filter_layout_name(enum sketch_layout layout);

/* Says on standard error where a layer holds more keys than it was made for, and
 * what its rate is by now; `name` is the file's, or NULL.  Layers whose number
 * of records cannot exceed their capacity are not looked at. */
void filter_warn_past_capacity(const char *name, struct filter *filter);

/* "tool: filter: 9600 bits, 0.5 of them set, ..." for --stats. */
void filter_print_state(struct filter *filter);

/* A rate for people: three significant digits, "1.23 %" or "4.5e-07". */
char *filter_print_rate(char out[32], double rate);

#endif
