/* parallel.c - reading in one thread, working in many
 *
 * The first thread reads block after block and queues them.  When enough are waiting for
 * the others it works on one itself: so it neither idles nor lets them wait, and a block
 * that it reads for itself is still in its cache.
 *
 * Where something is put out for every block they are numbered, and a worker that is
 * through with one waits until all before it are out.  The queue is taken from in order, so
 * the block whose turn it is always has a thread, and nobody waits for ever. */
#include "parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
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

/* ------------------------------------------------------------------- blocks */

struct block {
	struct cutter_bytes bytes;
	uint64_t number;
	struct block *next;
};

struct crew {
	struct records *records;
	const struct parallel_worker *workers;
	size_t count;
	struct block *blocks;

	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct block *first, **last; /* the queue */
	size_t queued;
	uint64_t put;       /* blocks that were ever in it */
	struct block *idle; /* blocks that wait to be filled */
	uint64_t turn;      /* the block that is next to go out; how many are done */
	bool closed;        /* no further blocks will come */
	bool stopped, failed;
	struct records_tally tally;
};

/* What follows is called with the mutex held. */

static void put_block(struct crew *crew, struct block *block)
{
	block->next = NULL;
	block->number = crew->put++;
	*crew->last = block;
	crew->last = &block->next;
	crew->queued++;
	pthread_cond_broadcast(&crew->changed);
}

static struct block *take_block(struct crew *crew)
{
	struct block *block = crew->first;

	crew->first = block->next;
	if (crew->first == NULL)
		crew->last = &crew->first;
	crew->queued--;
	return block;
}

static void wait_turn(struct crew *crew, const struct block *block)
{
	while (crew->turn != block->number)
		pthread_cond_wait(&crew->changed, &crew->mutex);
}

static void end_block(struct crew *crew, struct block *block, enum parallel_step step)
{
	crew->turn++;
	crew->stopped |= step == PARALLEL_STOP;
	crew->failed |= step == PARALLEL_FAILED;
	block->next = crew->idle;
	crew->idle = block;
	pthread_cond_broadcast(&crew->changed);
}

static bool is_over(const struct crew *crew)
{
	return crew->stopped || crew->failed;
}

/* ------------------------------------------------------------------ working */

static enum parallel_step work(const struct parallel_worker *worker, struct cutter *cutter,
			       struct cutter_bytes *bytes)
{
	struct records_batch batch;

	for (;;) {
		enum parallel_step step;

		if (!cutter_next(cutter, bytes, &batch))
			return PARALLEL_FAILED;
		if (batch.count == 0)
			return PARALLEL_ON;
		step = worker->batch(worker->context, &batch);
		if (step != PARALLEL_ON)
			return step;
	}
}

/* Takes one block off the queue and does it.  Called with the mutex held, which is given
 * back meanwhile. */
static void do_block(struct crew *crew, const struct parallel_worker *worker, struct cutter *cutter)
{
	struct block *block = take_block(crew);
	bool over = is_over(crew);
	enum parallel_step step = PARALLEL_ON;

	pthread_mutex_unlock(&crew->mutex);
	if (!over)
		step = work(worker, cutter, &block->bytes);
	pthread_mutex_lock(&crew->mutex);
	if (worker->block != NULL)
		wait_turn(crew, block);
	over = over || is_over(crew);
	pthread_mutex_unlock(&crew->mutex);
	/* Nobody else gets past wait_turn until the turn is given on. */
	if (!over && step != PARALLEL_FAILED && worker->block != NULL &&
	    !worker->block(worker->context))
		step = PARALLEL_FAILED;
	pthread_mutex_lock(&crew->mutex);
	end_block(crew, block, over ? PARALLEL_ON : step);
}

static void add_tally(struct crew *crew, const struct cutter *cutter)
{
	crew->tally.records += cutter->tally.records;
	crew->tally.without_key += cutter->tally.without_key;
}

/* A thread's own copy of what it needs to know. */
struct hand {
	struct crew *crew;
	const struct parallel_worker *worker;
	pthread_t thread;
};

static void *run_hand(void *argument)
{
	struct hand *hand = argument;
	struct crew *crew = hand->crew;
	struct cutter cutter = { .rules = records_rules(crew->records),
				 .touch = &hand->worker->touch };

	pthread_mutex_lock(&crew->mutex);
	for (;;) {
		if (crew->first != NULL)
			do_block(crew, hand->worker, &cutter);
		else if (crew->closed)
			break;
		else
			pthread_cond_wait(&crew->changed, &crew->mutex);
	}
	add_tally(crew, &cutter);
	pthread_mutex_unlock(&crew->mutex);
	cutter_end(&cutter);
	return NULL;
}

/* ------------------------------------------------------------------ reading */

/* A block to be filled, or NULL where it is over; works while there is none. */
static struct block *next_idle(struct crew *crew, struct cutter *cutter)
{
	struct block *block;

	while (!is_over(crew) && (crew->idle == NULL || crew->queued >= crew->count)) {
		if (crew->first != NULL)
			do_block(crew, &crew->workers[0], cutter);
		else
			pthread_cond_wait(&crew->changed, &crew->mutex);
	}
	if (is_over(crew))
		return NULL;
	block = crew->idle;
	crew->idle = block->next;
	return block;
}

/* What the reader does itself. */
struct reader {
	struct crew *crew;
	struct cutter cutter;
};

/* Before a read that would block: what was read goes out first.  It may be that nothing
 * further is needed, or nobody is left to take it; then there is no waiting. */
static bool finish_blocks(void *context)
{
	struct reader *reader = context;
	struct crew *crew = reader->crew;
	bool over;

	pthread_mutex_lock(&crew->mutex);
	while (crew->turn < crew->put) {
		if (crew->first != NULL)
			do_block(crew, &crew->workers[0], &reader->cutter);
		else
			pthread_cond_wait(&crew->changed, &crew->mutex);
	}
	over = is_over(crew);
	pthread_mutex_unlock(&crew->mutex);
	return !over;
}

static bool read_all(struct crew *crew)
{
	struct reader reader = {
		crew, { .rules = records_rules(crew->records), .touch = &crew->workers[0].touch }
	};
	enum records_outcome outcome = RECORDS_END;
	struct block *block;
	bool good;

	records_set_idle(crew->records, finish_blocks, &reader);
	pthread_mutex_lock(&crew->mutex);
	while ((block = next_idle(crew, &reader.cutter)) != NULL) {
		pthread_mutex_unlock(&crew->mutex);
		outcome = records_next_block(crew->records, &block->bytes);
		pthread_mutex_lock(&crew->mutex);
		if (outcome != RECORDS_BATCH_READY)
			break;
		put_block(crew, block);
	}
	crew->closed = true;
	pthread_cond_broadcast(&crew->changed);
	while (crew->first != NULL)
		do_block(crew, &crew->workers[0], &reader.cutter);
	add_tally(crew, &reader.cutter);
	/* A read that finish_blocks gave up, since it is over, has not failed. */
	good = outcome != RECORDS_FAILED || is_over(crew);
	pthread_mutex_unlock(&crew->mutex);
	cutter_end(&reader.cutter);
	return good;
}

/* Starts the other threads, which no signal is to reach; false after a message. */
static bool start(struct hand *hands, size_t count)
{
	sigset_t all, before;
	size_t started = 0;
	int problem = 0;

	sigfillset(&all);
	/* These come to the thread that caused them. */
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	while (started < count && problem == 0) {
		problem = pthread_create(&hands[started].thread, NULL, run_hand, &hands[started]);
		started += problem == 0;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (problem == 0)
		return true;
	message_errno("threads", problem);
	if (started > 0) {
		struct crew *crew = hands[0].crew;

		pthread_mutex_lock(&crew->mutex);
		crew->closed = true;
		pthread_cond_broadcast(&crew->changed);
		pthread_mutex_unlock(&crew->mutex);
	}
	while (started > 0)
		pthread_join(hands[--started].thread, NULL);
	return false;
}

static bool run_crew(struct crew *crew, struct hand *hands)
{
	bool good;

	for (size_t i = 1; i < crew->count; i++)
		hands[i - 1] = (struct hand){ .crew = crew, .worker = &crew->workers[i] };
	if (!start(hands, crew->count - 1))
		return false;
	good = read_all(crew);
	for (size_t i = 1; i < crew->count; i++)
		pthread_join(hands[i - 1].thread, NULL);
	records_add_tally(crew->records, &crew->tally);
	return good && !crew->failed;
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
	size_t blocks = 2 * count + 1; /* one at each thread, as many waiting, one being read */
	struct crew crew = { .records = records, .workers = workers, .count = count };
	struct hand *hands;
	bool good;

	if (count == 1)
		return stream_alone(records, workers);
	hands = calloc(count, sizeof *hands);
	crew.blocks = calloc(blocks, sizeof *crew.blocks);
	good = hands != NULL && crew.blocks != NULL;
	if (!good)
		message("out of memory");
	pthread_mutex_init(&crew.mutex, NULL);
	pthread_cond_init(&crew.changed, NULL);
	crew.last = &crew.first;
	for (size_t i = 0; good && i < blocks; i++) {
		crew.blocks[i].next = crew.idle;
		crew.idle = &crew.blocks[i];
	}
	good = good && run_crew(&crew, hands);
	for (size_t i = 0; crew.blocks != NULL && i < blocks; i++)
		records_free_block(&crew.blocks[i].bytes);
	pthread_cond_destroy(&crew.changed);
	pthread_mutex_destroy(&crew.mutex);
	free(crew.blocks);
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
