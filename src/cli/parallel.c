/* parallel.c - reading in turns, working side by side
 *
 * A thread that has nothing to do reads the next block of whole records into memory of its
 * own, lets the next one read, and works on the block: what it works on is in its own
 * cache, and nothing is handed from one processor to another but the half record at the
 * end.
 *
 * Where something is put out for every block they are numbered, and a worker that is
 * through with one waits until all before it are out.  Each block has a thread from the
 * moment it was read, so the one whose turn it is always comes to its end, and nobody waits
 * for ever. */
#include "parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "cutter.h"
#include "message.h"
#include "number.h"
#include "system.h"

/* ------------------------------------------------------------------- option */

static size_t processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof set, &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;
}

static bool take_option(void *context, int letter, const char *value)
{
	struct parallel_options *options = context;
	struct number_error error;

	(void)letter;
	if (!number_count(value, 0, PARALLEL_MOST, &options->threads, &error)) {
		message("--threads: %s", error.text);
		return false;
	}
	if (options->threads == 0)
		options->threads = processors();
	return true;
}

struct option_group parallel_option_group(struct parallel_options *options, const char *purpose)
{
	options->threads = 1;
	options->spec = (struct option_spec){ 'j', "threads", "N", purpose };
	return (struct option_group){ "", &options->spec, 1, take_option, options };
}

bool parallel_refuse(const struct parallel_options *options, const char *why)
{
	if (options->threads > 1)
		option_complain("--threads: %s", why);
	return options->threads <= 1;
}

/* -------------------------------------------------------------------- crew */

struct crew {
	struct records *records;
	size_t count;

	pthread_mutex_t mutex;
	pthread_cond_t may_read, next_turn;
	atomic_bool reading; /* some thread is; changes with the mutex held */
	bool read_all;       /* no further block will come */
	bool unread;         /* since reading failed */
	uint64_t taken;      /* blocks that were read */
	uint64_t turn;       /* the block that is next to go out; how many are done */
	bool stopped, failed;
	struct records_tally tally;
};

/* A thread, the block that it works on, and how it cuts it. */
struct hand {
	struct crew *crew;
	const struct parallel_worker *worker;
	struct cutter cutter;
	struct cutter_bytes block;
	uint64_t number;
	pthread_t thread;
};

/* With the mutex held. */
static bool is_over(const struct crew *crew)
{
	return crew->stopped || crew->failed;
}

/* ------------------------------------------------------------------ reading */

/* Called in a read that would block: what was read goes out first.  It may be that nothing
 * further is needed, or nobody is left to take it; then there is no waiting. */
static bool finish_blocks(void *context)
{
	struct crew *crew = context;
	bool over;

	pthread_mutex_lock(&crew->mutex);
	while (crew->turn < crew->taken)
		pthread_cond_wait(&crew->next_turn, &crew->mutex);
	over = is_over(crew);
	pthread_mutex_unlock(&crew->mutex);
	return !over;
}

/* A read from a file is over sooner than a thread that sleeps is awake again, so it is worth
 * a few looks before; a processor that others want is left to them.  Called with the mutex
 * held, which is given back meanwhile. */
static void wait_to_read(struct crew *crew)
{
	if (crew->reading) {
		pthread_mutex_unlock(&crew->mutex);
		for (int looks = 0; looks < 50 && crew->reading; looks++)
			sched_yield();
		pthread_mutex_lock(&crew->mutex);
	}
	while (crew->reading)
		pthread_cond_wait(&crew->may_read, &crew->mutex);
}

/* Reads the next block; false where there is none, or it is over.  Called with the mutex
 * held, which is given back meanwhile. */
static bool take_block(struct hand *hand)
{
	struct crew *crew = hand->crew;
	enum records_outcome outcome;

	wait_to_read(crew);
	if (crew->read_all || is_over(crew)) {
		/* So will the next that waits find. */
		pthread_cond_signal(&crew->may_read);
		return false;
	}
	crew->reading = true;
	pthread_mutex_unlock(&crew->mutex);
	system_interrupt_here(true);
	outcome = records_next_block(crew->records, &hand->block);
	system_interrupt_here(false);
	pthread_mutex_lock(&crew->mutex);
	crew->reading = false;
	hand->number = crew->taken;
	if (outcome == RECORDS_BATCH_READY)
		crew->taken++;
	else
		crew->read_all = true;
	/* A read that finish_blocks gave up, since it is over, has not failed. */
	crew->unread |= outcome == RECORDS_FAILED && !is_over(crew);
	pthread_cond_signal(&crew->may_read);
	return outcome == RECORDS_BATCH_READY;
}

/* ------------------------------------------------------------------ working */

static enum parallel_step work(struct hand *hand)
{
	struct records_batch batch;

	for (;;) {
		enum parallel_step step;

		if (!cutter_next(&hand->cutter, &hand->block, &batch))
			return PARALLEL_FAILED;
		if (batch.count == 0)
			return PARALLEL_ON;
		step = hand->worker->batch(hand->worker->context, &batch);
		if (step != PARALLEL_ON)
			return step;
	}
}

/* Puts out what a block has given, in its turn.  Called with the mutex held, which is given
 * back meanwhile: nobody else comes to put out until the turn is given on. */
static enum parallel_step put_out(struct hand *hand, enum parallel_step step)
{
	struct crew *crew = hand->crew;
	bool good = true;

	while (crew->turn != hand->number)
		pthread_cond_wait(&crew->next_turn, &crew->mutex);
	if (is_over(crew))
		return PARALLEL_ON;
	if (step != PARALLEL_FAILED) {
		pthread_mutex_unlock(&crew->mutex);
		good = hand->worker->block(hand->worker->context);
		pthread_mutex_lock(&crew->mutex);
	}
	return good ? step : PARALLEL_FAILED;
}

/* Called with the mutex held, which is given back meanwhile. */
static void do_block(struct hand *hand)
{
	struct crew *crew = hand->crew;
	enum parallel_step step = PARALLEL_ON;

	if (!is_over(crew)) {
		pthread_mutex_unlock(&crew->mutex);
		step = work(hand);
		pthread_mutex_lock(&crew->mutex);
	}
	if (hand->worker->block != NULL)
		step = put_out(hand, step);
	crew->turn++;
	crew->stopped |= step == PARALLEL_STOP;
	crew->failed |= step == PARALLEL_FAILED;
	pthread_cond_broadcast(&crew->next_turn);
}

static void *run_hand(void *argument)
{
	struct hand *hand = argument;
	struct crew *crew = hand->crew;

	pthread_mutex_lock(&crew->mutex);
	while (take_block(hand))
		do_block(hand);
	crew->tally.records += hand->cutter.tally.records;
	crew->tally.without_key += hand->cutter.tally.without_key;
	pthread_mutex_unlock(&crew->mutex);
	return NULL;
}

/* Starts all threads but the calling one, of which none reads before all are there; false
 * after a message. */
static bool start(struct crew *crew, struct hand *hands)
{
	size_t started = 1;
	int problem = 0;

	crew->reading = true;
	while (started < crew->count && problem == 0) {
		problem = pthread_create(&hands[started].thread, NULL, run_hand, &hands[started]);
		started += problem == 0;
	}
	pthread_mutex_lock(&crew->mutex);
	crew->reading = false;
	crew->failed = problem != 0;
	pthread_cond_broadcast(&crew->may_read);
	pthread_mutex_unlock(&crew->mutex);
	if (problem == 0)
		return true;
	message_errno("threads", problem);
	while (started > 1)
		pthread_join(hands[--started].thread, NULL);
	return false;
}

static bool run_crew(struct crew *crew, struct hand *hands)
{
	if (!start(crew, hands))
		return false;
	(void)run_hand(&hands[0]);
	for (size_t i = 1; i < crew->count; i++)
		pthread_join(hands[i].thread, NULL);
	records_add_tally(crew->records, &crew->tally);
	return !crew->unread && !crew->failed;
}

static bool stream_alone(struct records *records, const struct parallel_worker *worker)
{
	struct records_batch batch;
	enum records_outcome outcome;

	while ((outcome = records_next(records, &batch)) == RECORDS_BATCH_READY) {
		enum parallel_step step = worker->batch(worker->context, &batch);

		if (step != PARALLEL_ON)
			return step == PARALLEL_STOP;
	}
	return outcome == RECORDS_END;
}

bool parallel_stream(struct records *records, const struct parallel_worker *workers, size_t count)
{
	struct crew crew = { .records = records, .count = count };
	struct hand *hands;
	bool good;

	if (count == 1)
		return stream_alone(records, workers);
	hands = calloc(count, sizeof *hands);
	if (hands == NULL) {
		message("out of memory");
		return false;
	}
	pthread_mutex_init(&crew.mutex, NULL);
	pthread_cond_init(&crew.may_read, NULL);
	pthread_cond_init(&crew.next_turn, NULL);
	for (size_t i = 0; i < count; i++) {
		hands[i].crew = &crew;
		hands[i].worker = &workers[i];
		hands[i].cutter.rules = records_rules(records);
		hands[i].cutter.touch = &workers[i].touch;
	}
	records_set_idle(records, finish_blocks, &crew);
	good = run_crew(&crew, hands);
	for (size_t i = 0; i < count; i++) {
		cutter_end(&hands[i].cutter);
		records_free_block(&hands[i].block);
	}
	pthread_cond_destroy(&crew.next_turn);
	pthread_cond_destroy(&crew.may_read);
	pthread_mutex_destroy(&crew.mutex);
	free(hands);
	return good;
}

/* ------------------------------------------------------------------- sums */

bool parallel_add_up(struct records *records, const struct parallel_sum *how, void *first,
		     size_t threads)
{
	struct parallel_worker *workers = calloc(threads, sizeof *workers);
	struct sketch_error error = { .text = "out of memory" };
	bool good = workers != NULL, read = false;

	for (size_t i = 0; good && i < threads; i++) {
		void *sum = i == 0 ? first : how->like(first, system_memory() / threads, &error);

		good = sum != NULL;
		workers[i] = (struct parallel_worker){ .batch = how->batch, .context = sum };
		if (good && how->touch != NULL)
			how->touch(&workers[i].touch, sum);
	}
	if (good) {
		read = parallel_stream(records, workers, threads);
		for (size_t i = 1; read && good && i < threads; i++)
			good = how->join(first, workers[i].context, &error) == SKETCH_OK;
	}
	if (!good)
		message("--threads=%zu: %s", threads, error.text);
	for (size_t i = 1; workers != NULL && i < threads; i++)
		how->free(workers[i].context);
	free(workers);
	return good && read;
}
