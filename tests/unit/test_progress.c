/* Progress: when it is shown, what it says, and that it leaves nothing behind. */
#include "progress.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture.h"

#define SECOND UINT64_C(1000000000)

struct scene {
	int err, out; /* descriptors to print to, or -1 for files */
	bool forced;
	uint64_t total, bytes, seconds; /* seconds that have gone by */
};

static int play(void *context)
{
	const struct scene *scene = context;
	struct progress progress;
	uint64_t now;

	if (scene->err >= 0)
		dup2(scene->err, STDERR_FILENO);
	if (scene->out >= 0)
		dup2(scene->out, STDOUT_FILENO);
	progress_begin(&progress, scene->forced);
	progress_expect(&progress, scene->total);
	now = progress.begun;
	progress_update_at(&progress, 1, now); /* too early to be shown */
	now += scene->seconds * SECOND;
	progress_update_at(&progress, scene->bytes, now);
	progress_update_at(&progress, scene->bytes, now); /* too early again */
	progress_end(&progress);
	progress_update_at(&progress, scene->bytes, now + 1000 * SECOND);
	return 0;
}

/* What a scene shows on a terminal, "" where nothing comes. */
static void play_on_terminal(struct scene scene, bool both, char text[512])
{
	struct capture capture;
	int tool, terminal = terminal_open(80, &tool);
	struct pollfd ready = { .fd = terminal, .events = POLLIN };
	ssize_t length = 0, got = 1;

	scene.err = tool;
	scene.out = both ? tool : -1;
	capture_run(&capture, play, &scene);
	assert_int_equal(capture.status, 0);
	assert_string_equal(capture.out, "");
	/* What was written passes a queue of the system's before it can be read. */
	for (; got > 0 && poll(&ready, 1, 100) > 0; length += got) {
		got = read(terminal, text + length, (size_t)(511 - length));
		assert_true(got >= 0);
	}
	text[length] = '\0';
	close(tool);
	close(terminal);
}

static void assert_drawn(const char *text, const char *expected)
{
	char line[256], blanks[256];
	int length = snprintf(line, sizeof line, "tool: %s", expected);
	char all[600];

	assert_in_range(length, 1, 255);
	memset(blanks, ' ', sizeof blanks);
	snprintf(all, sizeof all, "\r%s\r%.*s\r", line, length, blanks);
	assert_string_equal(text, all);
}

static void progress__terminal__drawn_once_and_wiped(void **state)
{
	struct scene scene = { .total = 8000000000, .bytes = 1200000000, .seconds = 2 };
	char text[512];

	(void)state;
	play_on_terminal(scene, false, text);
	assert_drawn(text, "1.2 GB of 8.0 GB, 600 MB/s, 0:11 left");
	scene.seconds = 60;
	play_on_terminal(scene, false, text);
	assert_drawn(text, "1.2 GB of 8.0 GB, 20.0 MB/s, 5:40 left");
}

static void progress__long_way_to_go__in_hours_or_untold(void **state)
{
	struct scene scene = { .total = 800000000000, .bytes = 6000000000, .seconds = 600 };
	char text[512];

	(void)state;
	play_on_terminal(scene, false, text);
	assert_drawn(text, "6.0 GB of 800 GB, 10.0 MB/s, 22:03:20 left");
	scene.total = 80000000000000;
	play_on_terminal(scene, false, text);
	assert_drawn(text, "6.0 GB of 80.0 TB, 10.0 MB/s");
}

static void progress__size_unknown_or_outrun__no_estimate(void **state)
{
	struct scene scene = { .total = 0, .bytes = 1200000000, .seconds = 60 };
	char text[512];

	(void)state;
	play_on_terminal(scene, false, text);
	assert_drawn(text, "1.2 GB, 20.0 MB/s");
	scene.total = 1000;
	play_on_terminal(scene, false, text);
	assert_drawn(text, "1.2 GB, 20.0 MB/s");
	scene.bytes = 0;
	play_on_terminal(scene, false, text);
	assert_drawn(text, "0 B of 1.0 kB, 0 B/s");
}

static void progress__first_second_or_output_on_terminal__not_shown(void **state)
{
	struct scene scene = { .bytes = 1000, .seconds = 0 };
	char text[512];

	(void)state;
	play_on_terminal(scene, false, text);
	assert_string_equal(text, "");
	scene.seconds = 60;
	play_on_terminal(scene, true, text);
	assert_string_equal(text, "");
	scene.forced = true;
	play_on_terminal(scene, true, text);
	assert_string_not_equal(text, "");
}

static void progress__no_terminal__plain_lines_only_where_forced(void **state)
{
	struct scene scene = { -1, -1, false, 0, 1200000000, 60 };
	struct capture capture;

	(void)state;
	capture_run(&capture, play, &scene);
	assert_string_equal(capture.err, "");
	scene.forced = true;
	capture_run(&capture, play, &scene);
	assert_string_equal(capture.err, "tool: 1.2 GB, 20.0 MB/s\n");
	scene.seconds = 8;
	capture_run(&capture, play, &scene);
	assert_string_equal(capture.err, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(progress__terminal__drawn_once_and_wiped),
		cmocka_unit_test(progress__long_way_to_go__in_hours_or_untold),
		cmocka_unit_test(progress__size_unknown_or_outrun__no_estimate),
		cmocka_unit_test(progress__first_second_or_output_on_terminal__not_shown),
		cmocka_unit_test(progress__no_terminal__plain_lines_only_where_forced),
	};

	return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
