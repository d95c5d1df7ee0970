/* Descriptors, memory, signals, and mapped files that shrink. */
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture.h"

/* ------------------------------------------------------------- descriptors */

static int use_closed_descriptors(void *context)
{
	char byte;

	(void)context;
	close(0);
	close(1);
	close(2);
	system_begin();
	if (read(0, &byte, 1) != -1 || errno != EBADF)
		return 10;
	if (write(1, "x", 1) != -1 || errno != EBADF)
		return 11;
	return write(2, "x", 1) == 1 ? 0 : 12;
}

static int begin_with_one_closed(void *context)
{
	int fd = *(int *)context;

	close(fd);
	system_begin();
	return open("/dev/null", O_RDONLY) > STDERR_FILENO ? 0 : 10;
}

static void begin__closed_descriptors__taken_the_wrong_way_round(void **state)
{
	struct capture capture;

	(void)state;
	capture_run(&capture, use_closed_descriptors, NULL);
	assert_int_equal(capture.status, 0);
	for (int fd = 0; fd <= 2; fd++) {
		capture_run(&capture, begin_with_one_closed, &fd);
		assert_int_equal(capture.status, 0);
	}
}

static int begin_with_all_open(void *context)
{
	(void)context;
	system_begin();
	return write(1, "out", 3) == 3 && write(2, "err", 3) == 3 ? 0 : 10;
}

static void begin__open_descriptors__left_alone(void **state)
{
	struct capture capture;

	(void)state;
	capture_run(&capture, begin_with_all_open, NULL);
	assert_int_equal(capture.status, 0);
	assert_string_equal(capture.out, "out");
	assert_string_equal(capture.err, "err");
}

/* ------------------------------------------------------------------ memory */

/* A machine's /proc and /sys, as far as cgroups go. */
static void put_file(const struct scratch *scratch, const char *name, const char *text)
{
	struct bytes bytes = { (uint8_t *)(uintptr_t)text, strlen(text) };
	char path[512];

	scratch_path(scratch, path, name);
	for (char *slash = path + strlen(scratch->path) + 1; (slash = strchr(slash, '/')) != NULL;
	     slash++) {
		*slash = '\0';
		mkdir(path, 0777);
		*slash = '/';
	}
	bytes_to_file(&bytes, path);
}

static void group_memory__version_2__least_of_group_and_those_above(void **state)
{
	struct scratch scratch;

	(void)state;
	scratch_make(&scratch);
	assert_true(system_group_memory(scratch.path) == UINT64_MAX);
	put_file(&scratch, "proc/self/cgroup", "0::/a/b/c\n");
	assert_true(system_group_memory(scratch.path) == UINT64_MAX);
	put_file(&scratch, "sys/fs/cgroup/a/b/c/memory.max", "max\n");
	assert_true(system_group_memory(scratch.path) == UINT64_MAX);
	put_file(&scratch, "sys/fs/cgroup/a/b/memory.max", "7000000000\n");
	assert_int_equal(system_group_memory(scratch.path), 7000000000);
	put_file(&scratch, "sys/fs/cgroup/a/memory.max", "6000000000");
	assert_int_equal(system_group_memory(scratch.path), 6000000000);
	put_file(&scratch, "sys/fs/cgroup/memory.max", "5000000000\n");
	assert_int_equal(system_group_memory(scratch.path), 5000000000);
	put_file(&scratch, "sys/fs/cgroup/a/b/c/memory.max", "4096\n");
	assert_int_equal(system_group_memory(scratch.path), 4096);
	scratch_remove(&scratch);
}

static void group_memory__version_1_and_both__least_of_all(void **state)
{
	struct scratch scratch;

	(void)state;
	scratch_make(&scratch);
	put_file(&scratch, "proc/self/cgroup",
		 "9:name=systemd:/x\n4:cpu,memory,pids:/job/1\n3:memoryless:/y\n1:cpu:/\n0::/z\n");
	put_file(&scratch, "sys/fs/cgroup/memory/job/1/memory.limit_in_bytes",
		 "9223372036854771712\n");
	put_file(&scratch, "sys/fs/cgroup/memory/y/memory.limit_in_bytes", "1\n");
	put_file(&scratch, "sys/fs/cgroup/memory/x/memory.limit_in_bytes", "1\n");
	assert_true(system_group_memory(scratch.path) == UINT64_C(9223372036854771712));
	put_file(&scratch, "sys/fs/cgroup/memory/job/memory.limit_in_bytes", "3000000\n");
	assert_int_equal(system_group_memory(scratch.path), 3000000);
	put_file(&scratch, "sys/fs/cgroup/unified/z/memory.max", "2000000\n");
	assert_int_equal(system_group_memory(scratch.path), 2000000);
	scratch_remove(&scratch);
}

static void group_memory__container_without_its_path__top_counts(void **state)
{
	struct scratch scratch;

	(void)state;
	scratch_make(&scratch);
	put_file(&scratch, "proc/self/cgroup", "4:memory:/docker/0123abc\n");
	put_file(&scratch, "sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
	assert_int_equal(system_group_memory(scratch.path), 1073741824);
	put_file(&scratch, "proc/self/cgroup", "0::/../../elsewhere");
	put_file(&scratch, "sys/fs/cgroup/memory.max", "536870912\n");
	assert_int_equal(system_group_memory(scratch.path), 536870912);
	scratch_remove(&scratch);
}

static void group_memory__odd_files__ignored(void **state)
{
	static const char *const limits[] = { "",      "\n",
					      "max",   "-1\n",
					      "12x\n", "nonsense\n",
					      " 5\n",  "99999999999999999999999999\n" };
	static const char *const groups[] = { "",   "\n\n",   "0\n",         "0:",
					      "::", "memory", "0::\n:::::\n" };
	struct scratch scratch;
	static char many[40000];

	(void)state;
	scratch_make(&scratch);
	put_file(&scratch, "proc/self/cgroup", "0::/a\n");
	for (size_t i = 0; i < COUNT_OF(limits); i++) {
		put_file(&scratch, "sys/fs/cgroup/a/memory.max", limits[i]);
		assert_true(system_group_memory(scratch.path) == UINT64_MAX);
	}
	for (size_t i = 0; i < COUNT_OF(groups); i++) {
		put_file(&scratch, "proc/self/cgroup", groups[i]);
		assert_true(system_group_memory(scratch.path) == UINT64_MAX);
	}
	memset(many, '/', sizeof many - 1);
	memcpy(many, "0::", 3);
	put_file(&scratch, "proc/self/cgroup", many);
	assert_true(system_group_memory(scratch.path) == UINT64_MAX);
	scratch_remove(&scratch);
}

static void memory__of_this_machine__no_more_than_is_there(void **state)
{
	uint64_t physical = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	(void)state;
	assert_true(system_memory() <= physical);
	assert_true(system_memory() > 1 << 20);
}

static uint64_t a_little_less(void)
{
	return system_memory() / 4096 * 4096 - 4096;
}

static int limit_address_space(void *context)
{
	struct rlimit limit;

	(void)context;
	if (getrlimit(RLIMIT_AS, &limit) != 0)
		return 1;
	limit.rlim_cur = a_little_less();
	return setrlimit(RLIMIT_AS, &limit) == 0 && system_memory() == limit.rlim_cur ? 0 : 2;
}

static int limit_data(void *context)
{
	struct rlimit limit;

	(void)context;
	if (getrlimit(RLIMIT_DATA, &limit) != 0)
		return 1;
	limit.rlim_cur = a_little_less();
	return setrlimit(RLIMIT_DATA, &limit) == 0 && system_memory() == limit.rlim_cur ? 0 : 2;
}

static void memory__resource_limits__counted(void **state)
{
	(void)state;
	assert_int_equal(child_run(limit_address_space, NULL), 0);
	assert_int_equal(child_run(limit_data, NULL), 0);
}

static void clock__read_twice__does_not_run_back(void **state)
{
	uint64_t begun = system_clock();

	(void)state;
	sleep_ms(20);
	assert_true(system_clock() >= begun + 19000000);
	assert_true(system_clock() < begun + UINT64_C(60000000000));
}

/* ----------------------------------------------------------------- signals */

/* Waits as records.c does: a signal counts whenever it comes. */
static int wait_for_signal(void *context)
{
	int *ends = context;
	struct pollfd wanted = { ends[0], POLLIN, 0 };
	sigset_t block, before;
	char byte = 0;

	close(ends[1]); /* so that a test that fails does not hang */
	system_catch_signals();
	if (system_signal() != 0)
		return 10;
	sigemptyset(&block);
	sigaddset(&block, SIGTERM);
	sigprocmask(SIG_BLOCK, &block, &before);
	if (write(ends[0], &byte, 1) != 1)
		return 12;
	if (ppoll(&wanted, 1, NULL, &before) != -1 || errno != EINTR)
		return 13;
	if (system_signal() != SIGTERM)
		return 11;
	return system_end(14);
}

static void signals__caught__noted_and_waits_end(void **state)
{
	int ends[2];
	char byte;
	pid_t child;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	child = child_start(wait_for_signal, ends);
	close(ends[0]);
	assert_int_equal(read(ends[1], &byte, 1), 1);
	kill(child, SIGTERM);
	assert_int_equal(child_end(child), 128 + SIGTERM);
	close(ends[1]);
}

static int take_two_signals(void *context)
{
	(void)context;
	system_catch_signals();
	raise(SIGHUP);
	if (system_signal() != SIGHUP)
		return 10;
	sleep_ms(300);
	raise(SIGTERM);
	return 11;
}

/* As timeout(1) sends it, and as a terminal goes. */
static int take_one_signal_twice(void *context)
{
	(void)context;
	system_catch_signals();
	raise(SIGTERM);
	raise(SIGTERM);
	raise(SIGHUP);
	return system_signal() == SIGTERM ? 12 : 11;
}

static void signals__two_at_once__are_one(void **state)
{
	(void)state;
	assert_int_equal(child_end(child_start(take_one_signal_twice, NULL)), 12);
}

static void signals__a_second_one__ends_the_process(void **state)
{
	(void)state;
	assert_int_equal(child_end(child_start(take_two_signals, NULL)), 128 + SIGTERM);
}

static int keep_ignoring(void *context)
{
	(void)context;
	signal(SIGHUP, SIG_IGN);
	system_catch_signals();
	raise(SIGHUP);
	return system_signal();
}

static void signals__ignored_before__stay_ignored(void **state)
{
	(void)state;
	assert_int_equal(child_run(keep_ignoring, NULL), 0);
}

static int end_though_blocked(void *context)
{
	sigset_t all;

	(void)context;
	system_catch_signals();
	raise(SIGTERM);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	return system_end(3);
}

static void end__noted_and_blocked__dies_by_the_signal(void **state)
{
	(void)state;
	assert_int_equal(child_run(end_though_blocked, NULL), 128 + SIGTERM);
}

static void end__no_signal__the_status(void **state)
{
	(void)state;
	assert_int_equal(system_end(3), 3);
}

/* ----------------------------------------------------------------- mapping */

/* Reads a page of a mapped file after it was cut off. */
static int read_shrunk(void *context)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("test", 0);
	const volatile char *bytes;

	if (ftruncate(fd, (off_t)(2 * page)) != 0)
		return 10;
	bytes = mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return 11;
	system_guard_mapping("another file");
	system_guard_mapping(context);
	if (bytes[page] != 0 || ftruncate(fd, 0) != 0)
		return 12;
	return bytes[page];
}

static int be_sent_sigbus(void *context)
{
	system_guard_mapping(context);
	kill(getpid(), SIGBUS);
	return 10;
}

static void guard__mapped_file_shrinks__message_and_status_2(void **state)
{
	static char long_name[10000];
	struct capture capture;

	(void)state;
	capture_run(&capture, read_shrunk, "seen\n.bloom");
	assert_string_equal(capture.err, "tool: seen\\n.bloom: shrank while it was being read\n");
	assert_string_equal(capture.out, "");
	assert_int_equal(capture.status, 2);
	capture_run(&capture, read_shrunk, "-");
	assert_string_equal(capture.err, "tool: standard input: shrank while it was being read\n");
	memset(long_name, '\003', sizeof long_name - 1);
	capture_run(&capture, read_shrunk, long_name);
	assert_non_null(strstr(capture.err, "\\003...: shrank while it was being read\n"));
	assert_int_equal(capture.status, 2);
}

static void guard__other_sigbus__takes_its_course(void **state)
{
	struct rlimit none = { 0, 0 }, before;
	struct capture capture;

	(void)state;
	if (run_slow()) /* the instrument has a handler of its own */
		skip();
	getrlimit(RLIMIT_CORE, &before);
	none.rlim_max = before.rlim_max;
	setrlimit(RLIMIT_CORE, &none);
	capture_run(&capture, be_sent_sigbus, "file");
	assert_int_equal(capture.status, 128 + SIGBUS);
	assert_string_equal(capture.err, "");
	capture_run(&capture, read_shrunk, NULL);
	assert_int_equal(capture.status, 128 + SIGBUS);
	assert_string_equal(capture.err, "");
	setrlimit(RLIMIT_CORE, &before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begin__closed_descriptors__taken_the_wrong_way_round),
		cmocka_unit_test(begin__open_descriptors__left_alone),
		cmocka_unit_test(group_memory__version_2__least_of_group_and_those_above),
		cmocka_unit_test(group_memory__version_1_and_both__least_of_all),
		cmocka_unit_test(group_memory__container_without_its_path__top_counts),
		cmocka_unit_test(group_memory__odd_files__ignored),
		cmocka_unit_test(memory__of_this_machine__no_more_than_is_there),
		cmocka_unit_test(memory__resource_limits__counted),
		cmocka_unit_test(clock__read_twice__does_not_run_back),
		cmocka_unit_test(signals__caught__noted_and_waits_end),
		cmocka_unit_test(signals__two_at_once__are_one),
		cmocka_unit_test(signals__a_second_one__ends_the_process),
		cmocka_unit_test(signals__ignored_before__stay_ignored),
		cmocka_unit_test(end__noted_and_blocked__dies_by_the_signal),
		cmocka_unit_test(end__no_signal__the_status),
		cmocka_unit_test(guard__mapped_file_shrinks__message_and_status_2),
		cmocka_unit_test(guard__other_sigbus__takes_its_course),
	};

	return cmocka_run_group_tests_name("system", tests, NULL, NULL);
}
