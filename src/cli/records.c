/* records.c - records in
 *
 * One buffer, with room for a carry in front of a page boundary:
 *
 *        +-----------------+---------------------------------+---------+
 *        |          carry  | what read(2) brings             | padding |
 *        +-----------------+---------------------------------+---------+
 *        base              base + RECORDS_CARRY (page-aligned)
 *
 * A record that is cut by the end of a read is moved in front of the boundary
 * and continued by the next read, which so has an aligned destination: the
 * kernel copies several times slower to addresses a little past a boundary.  A
 * record longer than the carry's room stays where it is, and the buffer grows
 * behind it; what was searched is not searched again. */
#include "records.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "message.h"
#include "murmur3.h"
#include "progress.h"
#include "scan.h"
#include "system.h"

#define RECORDS_READ ((size_t)256 << 10)
#define RECORDS_CARRY ((size_t)64 << 10)
#define RECORDS_PIPE (1 << 20)
#define RECORDS_SPLIT ((size_t)4096) /* a longer record is split byte by byte */
#define RECORDS_FLUSH 100000000      /* nanoseconds */

struct records {
	struct records_setup setup;
	struct field_split split, weights;
	uint8_t terminator;
	bool plain; /* a key is the whole record as it is */
	const struct scan_machine *scan;
	uint64_t one_field; /* the only one in the key, where the machine can find it, by */
	bool (*field)(const uint8_t *record, size_t length, int delimiter, uint64_t number,
		      const uint8_t **field, size_t *field_length);

	bool many_fields; /* or one that the machine cannot find */

	/* Inputs. */
	FILE *list; /* --files0-from */
	char *listed;
	size_t listed_room, next_name;
	const char *name; /* of the input that is open */
	int fd;           /* -1 while none is */
	bool regular;
	struct stat forbidden[RECORDS_FORBIDDEN];
	size_t forbidden_count;

	/* The buffer: records begin at `begin`; up to `searched` there is no further
	 * terminator; the data ends at `end`. */
	uint8_t *base;
	size_t size;
	uint8_t *begin, *searched, *end;
	bool ended; /* this input has no more */

	uint8_t *scratch; /* keys that had to be copied */
	size_t scratch_size;

	uint64_t last_tick, last_flush;
	bool trouble;
	struct progress progress;
	struct records_tally tally;
};

/* ------------------------------------------------------------------ opening */

/* The size of all inputs where each is a regular file, for the time to go. */
static uint64_t total_size(const struct records_setup *setup)
{
	uint64_t total = 0;
	size_t count = setup->count == 0 ? 1 : setup->count;

	if (setup->options->files0_from != NULL)
		return 0;
	for (size_t i = 0; i < count; i++) {
		const char *name = setup->count == 0 ? "-" : setup->names[i];
		struct stat st;
		bool known = strcmp(name, "-") == 0 ? fstat(STDIN_FILENO, &st) == 0 :
						      stat(name, &st) == 0;

		if (!known || !S_ISREG(st.st_mode))
			return 0;
		total += (uint64_t)st.st_size;
	}
	return total;
}

static bool open_list(struct records *r)
{
	const char *name = r->setup.options->files0_from;

	if (name == NULL)
		return true;
	r->list = strcmp(name, "-") == 0 ? fdopen(STDIN_FILENO, "r") : fopen(name, "re");
	if (r->list == NULL)
		message_errno(message_input_name(name), errno);
	return r->list != NULL;
}

static uint8_t *map_buffer(size_t size)
{
	void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return base == MAP_FAILED ? NULL : base;
}

static void reset_buffer(struct records *r)
{
	r->begin = r->searched = r->end = r->base + RECORDS_CARRY;
	r->ended = false;
}

struct records *records_open(const struct records_setup *setup)
{
	const struct record_options *options = setup->options;
	struct records *r = calloc(1, sizeof *r);

	if (r != NULL) {
		r->size = RECORDS_CARRY + RECORDS_READ + SCAN_PADDING;
		r->base = map_buffer(r->size);
	}
	if (r == NULL || r->base == NULL) {
		message("out of memory");
		free(r);
		return NULL;
	}
	r->setup = *setup;
	r->fd = -1;
	r->terminator = options->zero_terminated ? '\0' : '\n';
	r->plain =
		!options->has_fields && !options->crlf && !setup->fold && setup->weight_field == 0;
	r->split = (struct field_split){ options->fields, options->delimiter,
					 options->zero_terminated, options->quoted };
	r->weights = r->split;
	r->weights.list = (struct field_list){ 1,
					       { { setup->weight_field, setup->weight_field } },
					       setup->weight_field };
	r->scan = scan_best();
	r->field = options->quoted ? r->scan->quoted_field : r->scan->field;
	if (options->has_fields && options->fields.count == 1 &&
	    options->fields.ranges[0].first == options->fields.ranges[0].last &&
	    !(options->zero_terminated && options->delimiter == FIELD_BLANKS))
		r->one_field = options->fields.needed;
	r->many_fields = (options->has_fields && r->one_field == 0) || setup->weight_field > 0;
	r->last_tick = r->last_flush = system_clock();
	reset_buffer(r);
	progress_begin(&r->progress, options->progress);
	if (r->progress.shown)
		progress_expect(&r->progress, total_size(setup));
	if (!open_list(r)) {
		records_close(r);
		return NULL;
	}
	return r;
}

void records_forbid(struct records *r, const struct stat *output)
{
	if (S_ISREG(output->st_mode) && r->forbidden_count < RECORDS_FORBIDDEN)
		r->forbidden[r->forbidden_count++] = *output;
}

void records_close(struct records *r)
{
	if (r == NULL)
		return;
	progress_end(&r->progress);
	if (r->fd > STDIN_FILENO)
		close(r->fd);
	if (r->list != NULL)
		fclose(r->list);
	free(r->listed);
	free(r->scratch);
	munmap(r->base, r->size);
	free(r);
}

/* ------------------------------------------------------------------- inputs */

enum step { STEP_ON, STEP_END, STEP_FAILED };

/* After a message on one input: pass over it, or give up. */
static enum step give_up_input(struct records *r)
{
	r->trouble = true;
	return r->setup.all_needed ? STEP_FAILED : STEP_ON;
}

static bool is_forbidden(const struct records *r, const struct stat *st)
{
	for (size_t i = 0; i < r->forbidden_count; i++) {
		if (st->st_dev == r->forbidden[i].st_dev && st->st_ino == r->forbidden[i].st_ino)
			return true;
	}
	return false;
}

/* The next name, or NULL at the end or on failure (*step says which). */
static const char *next_name(struct records *r, enum step *step)
{
	ssize_t length;
	struct stat st;

	*step = STEP_END;
	if (r->list == NULL) {
		if (r->setup.count == 0)
			return r->next_name++ == 0 ? "-" : NULL;
		return r->next_name < r->setup.count ? r->setup.names[r->next_name++] : NULL;
	}
	if (r->listed == NULL && fstat(fileno(r->list), &st) == 0 && is_forbidden(r, &st)) {
		message("%s: is the output, too",
			message_input_name(r->setup.options->files0_from));
		*step = STEP_FAILED;
		return NULL;
	}
	length = getdelim(&r->listed, &r->listed_room, '\0', r->list);
	if (length < 0) {
		if (ferror(r->list) && !(errno == EINTR && system_signal() != 0)) {
			message_errno(message_input_name(r->setup.options->files0_from), errno);
			*step = STEP_FAILED;
		}
		return NULL;
	}
	if (r->listed[0] != '\0')
		return r->listed;
	message("%s: empty file name in the list",
		message_input_name(r->setup.options->files0_from));
	*step = STEP_FAILED;
	return NULL;
}

/* Opens one input. */
static enum step open_input(struct records *r, const char *name)
{
	bool standard = strcmp(name, "-") == 0;
	int fd = standard ? STDIN_FILENO : open(name, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	const char *why = NULL;

	if (fd < 0 && errno == EINTR && system_signal() != 0)
		return STEP_END;
	if (standard && r->list != NULL && strcmp(r->setup.options->files0_from, "-") == 0)
		why = "holds the list of files already";
	else if (fd < 0 || fstat(fd, &st) != 0)
		why = strerror(errno);
	else if (S_ISDIR(st.st_mode))
		why = strerror(EISDIR);
	else if (is_forbidden(r, &st))
		why = "is the output, too";
	if (why != NULL) {
		message("%s: %s", message_input_name(name), why);
		if (fd > STDIN_FILENO)
			close(fd);
		return give_up_input(r);
	}
	r->name = name;
	r->fd = fd;
	r->regular = S_ISREG(st.st_mode);
	if (r->regular)
		(void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	else if (S_ISFIFO(st.st_mode) && fcntl(fd, F_GETPIPE_SZ) < RECORDS_PIPE)
		(void)fcntl(fd, F_SETPIPE_SZ, RECORDS_PIPE);
	r->tally.inputs++;
	reset_buffer(r);
	return STEP_ON;
}

static void close_input(struct records *r)
{
	if (r->fd > STDIN_FILENO)
		close(r->fd);
	r->fd = -1;
}

/* Makes sure that an input is open. */
static enum step next_input(struct records *r)
{
	while (r->fd < 0) {
		enum step step;
		const char *name = next_name(r, &step);

		if (name == NULL)
			return step;
		step = open_input(r, name);
		if (step != STEP_ON)
			return step;
	}
	return STEP_ON;
}

/* ------------------------------------------------------------------ waiting */

/* Output is flushed before a read would block; where reads never do, because what
 * comes is mostly held back, every tenth of a second has to do. */
static bool flush_in_time(struct records *r)
{
	uint64_t now;

	if (r->setup.idle == NULL)
		return true;
	now = system_clock();
	if (now - r->last_flush < RECORDS_FLUSH)
		return true;
	r->last_flush = now;
	return r->setup.idle(r->setup.context);
}

static bool tick(struct records *r)
{
	uint64_t now;

	if (r->setup.tick == NULL)
		return true;
	now = system_clock();
	if (now - r->last_tick < r->setup.interval)
		return true;
	r->last_tick = now;
	return r->setup.tick(r->setup.context);
}

/* Waits until there is something to read, or a signal, or time for a tick.
 * Signals are let through only while it waits: one that came just before would
 * else be noticed after the next byte, which may never come. */
static bool wait_readable(struct records *r)
{
	struct pollfd wanted = { r->fd, POLLIN, 0 };
	struct timespec timeout, *limit = NULL;
	sigset_t block, before;

	if (poll(&wanted, 1, 0) != 0)
		return true;
	if (r->setup.idle != NULL && !r->setup.idle(r->setup.context))
		return false;
	if (r->setup.tick != NULL) {
		uint64_t passed = system_clock() - r->last_tick;
		uint64_t left = passed < r->setup.interval ? r->setup.interval - passed : 0;

		timeout.tv_sec = (time_t)(left / 1000000000);
		timeout.tv_nsec = (long)(left % 1000000000);
		limit = &timeout;
	}
	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGTERM);
	sigaddset(&block, SIGHUP);
	sigprocmask(SIG_BLOCK, &block, &before);
	if (system_signal() == 0)
		(void)ppoll(&wanted, 1, limit, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return true;
}

/* ------------------------------------------------------------------ reading */

/* Makes room for a read behind the data, and a place for it. */
static bool make_room(struct records *r)
{
	size_t carry = (size_t)(r->end - r->begin), looked = (size_t)(r->searched - r->begin);
	size_t used = (size_t)(r->end - r->base), begin = (size_t)(r->begin - r->base);

	if (carry <= RECORDS_CARRY) {
		uint8_t *to = r->base + RECORDS_CARRY - carry;

		memmove(to, r->begin, carry);
		r->begin = to;
		r->searched = to + looked;
		r->end = to + carry;
		return true;
	}
	if (r->size - used >= RECORDS_READ + SCAN_PADDING)
		return true;
	if (begin > RECORDS_CARRY) {
		/* What lies in front was handed out. */
		memmove(r->base, r->begin, carry);
		begin = 0;
		used = carry;
	}
	if (r->size - used < RECORDS_READ + SCAN_PADDING) {
		uint8_t *grown = NULL;

		if (r->size < system_memory() / 2)
			grown = mremap(r->base, r->size, 2 * r->size, MREMAP_MAYMOVE);
		if (grown == NULL || grown == MAP_FAILED) {
			message("%s: a record of more than %zu bytes: out of memory",
				message_input_name(r->name), carry);
			return false;
		}
		r->base = grown;
		r->size *= 2;
	}
	r->begin = r->base + begin;
	r->searched = r->begin + looked;
	r->end = r->base + used;
	return true;
}

/* Reads on. */
static enum step refill(struct records *r)
{
	if (!flush_in_time(r) || !tick(r))
		return STEP_FAILED;
	if (!make_room(r))
		return STEP_FAILED;
	for (;;) {
		ssize_t got;

		if (!r->regular && !wait_readable(r))
			return STEP_FAILED;
		if (system_signal() != 0)
			return STEP_END;
		if (!r->regular && !tick(r))
			return STEP_FAILED;
		/* A growing record is read in growing pieces, else in the usual ones. */
		got = read(r->fd, r->end, (size_t)(r->base + r->size - r->end) - SCAN_PADDING);
		if (got > 0) {
			r->end += got;
			r->tally.bytes += (uint64_t)got;
			progress_update(&r->progress, r->tally.bytes);
			return STEP_ON;
		}
		if (got == 0) {
			r->ended = true;
			return STEP_ON;
		}
		if (errno != EINTR && errno != EAGAIN) {
			message_errno(message_input_name(r->name), errno);
			close_input(r);
			return give_up_input(r);
		}
	}
}

/* --------------------------------------------------------------------- keys */

void records_fold(uint8_t *to, const uint8_t *from, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		uint8_t byte = from[i];

		to[i] = (uint8_t)(byte + ((uint8_t)(byte - 'A') < 26 ? 'a' - 'A' : 0));
	}
}

static bool scratch_room(struct records *r, size_t size)
{
	uint8_t *grown;

	if (size + MURMUR3_PADDING <= r->scratch_size)
		return true;
	grown = realloc(r->scratch, 2 * size + MURMUR3_PADDING);
	if (grown == NULL) {
		message("out of memory");
		return false;
	}
	r->scratch = grown;
	r->scratch_size = 2 * size + MURMUR3_PADDING;
	return true;
}

/* Reads a weight; false, after a message that names the record, where it is none. */
static bool read_weight(const struct records *r, const uint8_t *field, size_t length,
			uint64_t number, uint64_t *weight)
{
	char shown[80];
	uint64_t value = 0;
	bool good = length > 0;

	if (length == 1 && field[0] == '-') {
		*weight = 0;
		return true;
	}
	for (size_t i = 0; i < length && good; i++)
		good = field[i] >= '0' && field[i] <= '9' &&
		       !__builtin_mul_overflow(value, 10, &value) &&
		       !__builtin_add_overflow(value, (uint64_t)(field[i] - '0'), &value);
	*weight = value;
	if (!good)
		message("%s: record %" PRIu64 ": '%s' is no weight from 0 to 2^64 - 1",
			message_input_name(r->name), number,
			message_escape(shown, sizeof shown, (const char *)field, length));
	return good;
}

/* The weight of record i of a batch: false where it lacks one; *step tells of a bad
 * one. */
static bool find_weight(const struct records *r, struct records_batch *batch, size_t i,
			size_t length, const uint64_t *ends, enum step *step)
{
	const uint8_t *field;
	size_t field_length, used;
	uint64_t before = r->tally.records - batch->count;

	if (!field_key(&r->weights, batch->starts[i], length, ends, NULL, &field, &field_length,
		       &used))
		return false;
	if (r->weights.quoted && field_length > 1 && field[0] == '"' &&
	    field[field_length - 1] == '"') {
		field++;
		field_length -= 2;
	}
	if (!read_weight(r, field, field_length, before + i + 1, &batch->weights[i]))
		*step = STEP_FAILED;
	return true;
}

/* Finds the key of record i: false where it lacks one, or has a bad weight (*step).
 * *used is what was taken of the scratch memory. */
static bool find_key(struct records *r, struct records_batch *batch, size_t i, uint8_t *scratch,
		     size_t *used, enum step *step)
{
	const struct record_options *options = r->setup.options;
	const uint8_t *record = batch->starts[i], *key = record;
	bool cut = batch->unterminated && i + 1 == batch->count, found = true;
	size_t length = (size_t)(batch->starts[i + 1] - record) - (cut ? 0 : 1), whole;
	uint64_t words[FIELD_ENDS(RECORDS_SPLIT)], *ends = NULL;

	if (options->crlf && length > 0 && record[length - 1] == '\r')
		length--;
	whole = length;
	*used = 0;
	if (whole <= RECORDS_SPLIT && r->many_fields) {
		ends = words;
		r->scan->ends(record, whole, &r->split, ends);
	}
	if (r->one_field > 0)
		found = r->field(record, whole, options->delimiter, r->one_field, &key, &length);
	else if (options->has_fields)
		found = field_key(&r->split, record, whole, ends, scratch, &key, &length, used);
	if (found && r->setup.weight_field > 0 && !find_weight(r, batch, i, whole, ends, step)) {
		found = false;
		r->tally.without_weight++;
	}
	if (found && r->setup.fold) {
		records_fold(scratch, key, length);
		key = scratch;
		*used = length;
	}
	batch->keys[i] = key;
	batch->key_lengths[i] = length;
	return found;
}

/* The usual case of make_keys: one field, as it is, of records with their terminators. */
static void make_field_keys(struct records *r, struct records_batch *batch)
{
	const struct scan_field wanted = { r->setup.options->delimiter, r->one_field,
					   r->setup.options->crlf, r->setup.options->quoted,
					   r->setup.seed };

	for (size_t i = 0; i < batch->count; i += 64) {
		size_t count = batch->count - i < 64 ? batch->count - i : 64;

		batch->keyed[i / 64] =
			r->scan->keys(&wanted, &batch->starts[i], count, &batch->keys[i],
				      &batch->key_lengths[i], &batch->hashes[i]);
		r->tally.without_key += count - (size_t)__builtin_popcountll(batch->keyed[i / 64]);
	}
}

/* Finds and hashes the key of each record where it is not simply the record. */
static bool make_keys(struct records *r, struct records_batch *batch)
{
	enum step step = STEP_ON;
	uint8_t *scratch;
	size_t used;

	/* No key is longer than its record. */
	if (!scratch_room(r, (size_t)(batch->starts[batch->count] - batch->starts[0])))
		return false;
	scratch = r->scratch;
	for (size_t i = 0; i < batch->count; i++) {
		if (find_key(r, batch, i, scratch, &used, &step)) {
			batch->hashes[i] = murmur3_padded(batch->keys[i], batch->key_lengths[i],
							  r->setup.seed);
			scratch += used;
		} else {
			batch->keyed[i / 64] &= ~(UINT64_C(1) << i % 64);
			r->tally.without_key++;
		}
		if (step == STEP_FAILED)
			return false;
	}
	return true;
}

static void note_keys(struct records_batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		batch->keys[i] = batch->starts[i];
		batch->key_lengths[i] = (size_t)(batch->starts[i + 1] - batch->starts[i]) - 1;
	}
	if (batch->unterminated)
		batch->key_lengths[batch->count - 1]++;
}

/* Takes records from the buffer: 0 where there is no whole one. */
static size_t take_records(struct records *r, struct records_batch *batch)
{
	struct scan scan = { r->searched, r->end, r->terminator, r->setup.seed };
	size_t count;

	batch->starts[0] = r->begin;
	batch->unterminated = false;
	count = r->scan->records(&scan, RECORDS_BATCH, batch->starts,
				 r->plain ? batch->hashes : NULL);
	r->begin += batch->starts[count] - batch->starts[0];
	r->searched += scan.from - r->searched;
	if (count == 0 && r->ended && r->begin < r->end) {
		/* The last one, without its terminator. */
		batch->unterminated = true;
		batch->starts[1] = r->end;
		if (r->plain)
			batch->hashes[0] = murmur3_padded(r->begin, (size_t)(r->end - r->begin),
							  r->setup.seed);
		r->begin = r->searched = r->end;
		count = 1;
	}
	batch->count = count;
	return count;
}

static uint64_t low_bits(size_t count)
{
	return count >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
}

enum records_outcome records_next(struct records *r, struct records_batch *batch)
{
	for (;;) {
		enum step step = next_input(r);

		if (step == STEP_ON && take_records(r, batch) > 0)
			break;
		if (step == STEP_ON && r->ended) {
			close_input(r);
			continue;
		}
		if (step == STEP_ON)
			step = refill(r);
		if (step == STEP_END)
			return RECORDS_END;
		if (step == STEP_FAILED)
			return RECORDS_FAILED;
	}
	r->tally.records += batch->count;
	batch->keyed[0] = low_bits(batch->count);
	batch->keyed[1] = batch->count > 64 ? low_bits(batch->count - 64) : 0;
	if (r->one_field > 0 && !batch->unterminated && !r->setup.fold &&
	    r->setup.weight_field == 0)
		make_field_keys(r, batch);
	else if (!r->plain && !make_keys(r, batch))
		return RECORDS_FAILED;
	if (r->plain && r->setup.keep_keys)
		note_keys(batch);
	return RECORDS_BATCH_READY;
}

/* ---------------------------------------------------------------- summaries */

bool records_trouble(const struct records *r)
{
	return r->trouble;
}

const struct records_tally *records_tally(const struct records *r)
{
	return &r->tally;
}

void records_warn_no_key(const struct records *r)
{
	const struct records_tally *tally = &r->tally;
	bool by_weight = tally->without_weight == tally->records;

	if (tally->records > 0 && tally->without_key == tally->records)
		message("no record has field %" PRIu64,
			by_weight ? r->setup.weight_field : r->split.list.needed);
}

/* "1 record", "2 records" */
static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

void records_print_tally(const struct records *r)
{
	const struct records_tally *tally = &r->tally;

	message("%" PRIu64 " record%s, %" PRIu64 " byte%s, %" PRIu64 " input%s, %" PRIu64
		" without key",
		tally->records, plural(tally->records), tally->bytes, plural(tally->bytes),
		tally->inputs, plural(tally->inputs), tally->without_key);
}
