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

#include "cutter.h"
#include "foreign.h"
#include "message.h"
#include "open.h"
#include "progress.h"
#include "scan.h"
#include "system.h"

#define RECORDS_READ ((size_t)256 << 10)
#define RECORDS_CARRY ((size_t)64 << 10)
#define RECORDS_PIPE (1 << 20)
#define RECORDS_FLUSH 100000000 /* nanoseconds */

struct records {
	struct records_setup setup;
	struct cutter_rules rules;
	struct cutter cutter;
	struct touch no_touch; /* all 0 */

	/* Inputs. */
	FILE *list; /* --files0-from */
	char *listed;
	size_t listed_room, next_name;
	const char *name;     /* of the input that is open */
	int fd;               /* -1 while none is */
	bool regular, looked; /* it has been judged by its first bytes */
	struct stat forbidden[RECORDS_FORBIDDEN];
	size_t forbidden_count;

	struct cutter_bytes buffer;
	uint64_t last_tick, last_flush;
	bool trouble;
	struct progress progress;
};

/* ------------------------------------------------------------------ opening */

/* The size of all inputs where each is a regular file, for the time to go. */
static uint64_t total_size(const struct records_setup *setup)
{
	uint64_t total = 0;
	size_t count = setup->inputs.count == 0 ? 1 : setup->inputs.count;

	if (setup->options->files0_from != NULL)
		return 0;
	for (size_t i = 0; i < count; i++) {
		const char *name = setup->inputs.count == 0 ? "-" : setup->inputs.items[i];
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
		/* EINVAL: it is open, but not for reading, as system_begin leaves it. */
		message_errno(message_input_name(name), errno == EINVAL ? EBADF : errno);
	else if (open_spent(fileno(r->list)) != NULL)
		message("%s: %s", message_input_name(name), open_spent(fileno(r->list)));
	else
		return true;
	return false;
}

static uint8_t *map_buffer(size_t size)
{
	void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return base == MAP_FAILED ? NULL : base;
}

static void reset_buffer(struct records *r)
{
	r->buffer.begin = r->buffer.searched = r->buffer.end = r->buffer.base + RECORDS_CARRY;
	r->buffer.ended = false;
}

struct records *records_open(const struct records_setup *setup)
{
	const struct record_options *options = setup->options;
	struct records *r = calloc(1, sizeof *r);

	if (r != NULL) {
		r->buffer.size = RECORDS_CARRY + RECORDS_READ + SCAN_PADDING;
		r->buffer.base = map_buffer(r->buffer.size);
	}
	if (r == NULL || r->buffer.base == NULL) {
		message("out of memory");
		free(r);
		return NULL;
	}
	r->setup = *setup;
	r->fd = -1;
	cutter_rules_make(&r->rules, setup);
	r->cutter.rules = &r->rules;
	r->cutter.touch = setup->touch != NULL ? setup->touch : &r->no_touch;
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
	cutter_end(&r->cutter);
	munmap(r->buffer.base, r->buffer.size);
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
		if (r->setup.inputs.count == 0)
			return r->next_name++ == 0 ? "-" : NULL;
		return r->next_name < r->setup.inputs.count ?
			       r->setup.inputs.items[r->next_name++] :
			       NULL;
	}
	if (r->listed == NULL && fstat(fileno(r->list), &st) == 0 && is_forbidden(r, &st)) {
		message("%s: is the output, too",
			message_input_name(r->setup.options->files0_from));
		*step = STEP_FAILED;
		return NULL;
	}
	length = getdelim(&r->listed, &r->listed_room, '\0', r->list);
	if (length < 0) {
		/* Where memory is short it is no error of the stream, nor its end. */
		if (!feof(r->list) && !(errno == EINTR && system_signal() != 0)) {
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
	else if (fd >= 0 && open_spent(fd) != NULL)
		why = open_spent(fd);
	else if (fd < 0 || fstat(fd, &st) != 0)
		why = strerror(errno);
	else if (S_ISDIR(st.st_mode))
		why = strerror(EISDIR);
	else if (is_forbidden(r, &st))
		why = "is the output, too";
	if (why != NULL) {
		if (fd < 0 && errno == ENOENT && r->setup.absent != NULL && r->list == NULL)
			message("%s: %s (%s%s)", name, why, r->setup.absent, name);
		else
			message("%s: %s", message_input_name(name), why);
		if (fd > STDIN_FILENO)
			close(fd);
		return give_up_input(r);
	}
	r->name = r->cutter.name = name;
	r->fd = fd;
	r->regular = S_ISREG(st.st_mode);
	r->looked = false;
	if (r->regular)
		(void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	else if (S_ISFIFO(st.st_mode) && fcntl(fd, F_GETPIPE_SZ) < RECORDS_PIPE)
		(void)fcntl(fd, F_SETPIPE_SZ, RECORDS_PIPE);
	r->cutter.tally.inputs++;
	reset_buffer(r);
	return STEP_ON;
}

static void close_input(struct records *r)
{
	if (r->fd > STDIN_FILENO)
		close(r->fd);
	r->fd = -1;
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
	if (now - r->last_tick < r->setup.interval && !system_woken())
		return true;
	r->last_tick = now;
	return r->setup.tick(r->setup.context);
}

void records_set_idle(struct records *r, bool (*idle)(void *context), void *context)
{
	r->setup.idle = idle;
	r->setup.context = context;
}

void records_tick_after(struct records *r, uint64_t interval)
{
	r->last_tick = system_clock();
	r->setup.interval = interval;
}

/* Waits until there is something to read (*ready), or a signal, or time for a tick.
 * Signals are let through only while it waits: one that came just before would
 * else be noticed after the next byte, which may never come. */
static bool wait_readable(struct records *r, bool *ready)
{
	struct pollfd wanted = { r->fd, POLLIN, 0 };
	struct timespec timeout, *limit = NULL;
	sigset_t block, before;

	*ready = poll(&wanted, 1, 0) != 0;
	if (*ready)
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
	sigaddset(&block, SIGWINCH);
	sigaddset(&block, SIGCONT);
	pthread_sigmask(SIG_BLOCK, &block, &before);
	if (system_signal() == 0 && !system_woken())
		*ready = ppoll(&wanted, 1, limit, &before) > 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return true;
}

/* ------------------------------------------------------------------ reading */

/* Makes room for a read behind the data, and a place for it. */
static bool make_room(struct records *r)
{
	size_t carry = (size_t)(r->buffer.end - r->buffer.begin),
	       looked = (size_t)(r->buffer.searched - r->buffer.begin);
	size_t used = (size_t)(r->buffer.end - r->buffer.base),
	       begin = (size_t)(r->buffer.begin - r->buffer.base);

	if (carry <= RECORDS_CARRY) {
		uint8_t *to = r->buffer.base + RECORDS_CARRY - carry;

		memmove(to, r->buffer.begin, carry);
		r->buffer.begin = to;
		r->buffer.searched = to + looked;
		r->buffer.end = to + carry;
		return true;
	}
	if (r->buffer.size - used >= RECORDS_READ + SCAN_PADDING)
		return true;
	if (begin > RECORDS_CARRY) {
		/* What lies in front was handed out. */
		memmove(r->buffer.base, r->buffer.begin, carry);
		begin = 0;
		used = carry;
	}
	if (r->buffer.size - used < RECORDS_READ + SCAN_PADDING) {
		uint8_t *grown = NULL;

		if (r->buffer.size < system_memory() / 2)
			grown = mremap(r->buffer.base, r->buffer.size, 2 * r->buffer.size,
				       MREMAP_MAYMOVE);
		if (grown == NULL || grown == MAP_FAILED) {
			message("%s: a record of more than %zu bytes: out of memory",
				message_input_name(r->name), carry);
			return false;
		}
		r->buffer.base = grown;
		r->buffer.size *= 2;
	}
	r->buffer.begin = r->buffer.base + begin;
	r->buffer.searched = r->buffer.begin + looked;
	r->buffer.end = r->buffer.base + used;
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
		bool ready = true;
		ssize_t got;

		if (!r->regular && !wait_readable(r, &ready))
			return STEP_FAILED;
		if (system_signal() != 0)
			return STEP_END;
		if (!r->regular && !tick(r))
			return STEP_FAILED;
		if (!ready)
			continue;
		/* A growing record is read in growing pieces, else in the usual ones. */
		got = read(r->fd, r->buffer.end,
			   (size_t)(r->buffer.base + r->buffer.size - r->buffer.end) -
				   SCAN_PADDING);
		if (got > 0) {
			r->buffer.end += got;
			r->cutter.tally.bytes += (uint64_t)got;
			progress_update(&r->progress, r->cutter.tally.bytes);
			return STEP_ON;
		}
		if (got == 0) {
			r->buffer.ended = true;
			return STEP_ON;
		}
		if (errno != EINTR && errno != EAGAIN) {
			message_errno(message_input_name(r->name), errno);
			close_input(r);
			return give_up_input(r);
		}
	}
}

/* ------------------------------------------------------------------- records */

/* Judges an input by its first bytes, or reads them. */
static enum step look(struct records *r)
{
	size_t length = (size_t)(r->buffer.end - r->buffer.begin);
	char why[FOREIGN_TEXT];

	switch (foreign_look(r->buffer.begin, length, r->buffer.ended, why)) {
	case FOREIGN_UNDECIDED:
		return refill(r);
	case FOREIGN_NOT:
		r->looked = true;
		return STEP_ON;
	case FOREIGN_IS:
		break;
	}
	message("%s: %s", message_input_name(r->name), why);
	r->cutter.tally.inputs--;
	r->cutter.tally.bytes -= length;
	close_input(r);
	return give_up_input(r);
}

/* Makes sure that an input is open that is one of records. */
static enum step next_input(struct records *r)
{
	while (r->fd < 0 || !r->looked) {
		enum step step = STEP_ON;
		const char *name = r->fd < 0 ? next_name(r, &step) : r->name;

		if (name == NULL)
			return step;
		step = r->fd < 0 ? open_input(r, name) : look(r);
		if (step != STEP_ON)
			return step;
	}
	return STEP_ON;
}

/* Where there is no whole record: reads on, or leaves an input that has ended. */
static enum step read_on(struct records *r)
{
	if (!r->buffer.ended)
		return refill(r);
	close_input(r);
	return STEP_ON;
}

enum records_outcome records_next(struct records *r, struct records_batch *batch)
{
	for (;;) {
		enum step step = next_input(r);

		if (step == STEP_ON) {
			if (!cutter_next(&r->cutter, &r->buffer, batch))
				return RECORDS_FAILED;
			if (batch->count > 0)
				return RECORDS_BATCH_READY;
			step = read_on(r);
		}
		if (step != STEP_ON)
			return step == STEP_END ? RECORDS_END : RECORDS_FAILED;
	}
}

/* -------------------------------------------------------------------- blocks */

const struct cutter_rules *records_rules(const struct records *r)
{
	return &r->rules;
}

/* Memory for what comes after `tail` bytes that are there already. */
static bool make_block(struct cutter_bytes *bytes, size_t tail)
{
	size_t size =
		RECORDS_CARRY + RECORDS_READ + SCAN_PADDING + (tail > RECORDS_CARRY ? tail : 0);

	if (bytes->size >= size)
		return true;
	records_free_block(bytes);
	bytes->base = map_buffer(size);
	bytes->size = bytes->base == NULL ? 0 : size;
	return bytes->base != NULL;
}

/* Hands out the bytes up to `end`, and goes on with what is behind it in the memory that
 * comes in exchange. */
static bool exchange(struct records *r, struct cutter_bytes *bytes, const uint8_t *end)
{
	struct cutter_bytes full = r->buffer;
	size_t tail = (size_t)(full.end - end);
	uint8_t *to;

	if (!make_block(bytes, tail)) {
		message("out of memory");
		return false;
	}
	to = tail <= RECORDS_CARRY ? bytes->base + RECORDS_CARRY - tail : bytes->base;
	memcpy(to, end, tail);
	/* There is no terminator in the tail. */
	r->buffer = (struct cutter_bytes){ bytes->base, bytes->size, to,
					   to + tail,   to + tail,   full.ended };
	full.end = full.begin + (end - full.begin);
	full.searched = full.begin;
	*bytes = full;
	return true;
}

/* Behind the last whole record in the buffer; its beginning where there is none. */
static const uint8_t *whole_end(struct records *r)
{
	struct cutter_bytes *buffer = &r->buffer;
	size_t fresh = (size_t)(buffer->end - buffer->searched);
	const uint8_t *last = memrchr(buffer->searched, r->rules.terminator, fresh);

	buffer->searched = buffer->end;
	if (last != NULL)
		return last + 1;
	return buffer->ended ? buffer->end : buffer->begin;
}

enum records_outcome records_next_block(struct records *r, struct cutter_bytes *bytes)
{
	/* What follows is read into the caller's memory, which is in its cache: the reader's
	 * own holds but the half record between two blocks. */
	if (!exchange(r, bytes, r->buffer.begin))
		return RECORDS_FAILED;
	for (;;) {
		enum step step = next_input(r);

		if (step == STEP_ON) {
			const uint8_t *end = whole_end(r);

			if (end > r->buffer.begin)
				return exchange(r, bytes, end) ? RECORDS_BATCH_READY :
								 RECORDS_FAILED;
			step = read_on(r);
		}
		if (step != STEP_ON)
			return step == STEP_END ? RECORDS_END : RECORDS_FAILED;
	}
}

void records_free_block(struct cutter_bytes *bytes)
{
	if (bytes->base != NULL)
		munmap(bytes->base, bytes->size);
	*bytes = (struct cutter_bytes){ 0 };
}

void records_add_tally(struct records *r, const struct records_tally *tally)
{
	r->cutter.tally.records += tally->records;
	r->cutter.tally.without_key += tally->without_key;
}

/* ---------------------------------------------------------------- summaries */

bool records_trouble(const struct records *r)
{
	return r->trouble;
}

const struct records_tally *records_tally(const struct records *r)
{
	return &r->cutter.tally;
}

void records_warn_no_key(const struct records *r)
{
	const struct records_tally *tally = &r->cutter.tally;
	bool by_weight = tally->without_weight == tally->records;

	if (tally->records > 0 && tally->without_key == tally->records)
		message("no record has field %" PRIu64,
			by_weight ? r->setup.weight_field : r->rules.split.list.needed);
}

/* "1 record", "2 records" */
static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

void records_print_tally(const struct records *r)
{
	const struct records_tally *tally = &r->cutter.tally;

	message("%" PRIu64 " record%s, %" PRIu64 " byte%s, %" PRIu64 " input%s, %" PRIu64
		" without key",
		tally->records, plural(tally->records), tally->bytes, plural(tally->bytes),
		tally->inputs, plural(tally->inputs), tally->without_key);
}
