#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "message.h"

#define STATUS_TROUBLE 2

void system_begin(void)
{
	static const int wrong_way[] = { O_WRONLY, O_RDONLY, O_WRONLY };

	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		int taken = -1;

		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		taken = open("/dev/null", wrong_way[fd]);
#ifdef O_PATH
		/* A folder tree without /dev: what is opened so fails as well. */
		if (taken < 0)
			taken = open("/", O_PATH);
#endif
		if (taken != fd)
			_exit(STATUS_TROUBLE);
	}
}

/* ------------------------------------------------------------------ memory */

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Reads at most size - 1 bytes of a file into `text`, and ends them with a NUL;
 * false where there is no such file.  No stdio: it would ask for memory. */
static bool read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t taken;

	if (fd < 0)
		return false;
	while ((taken = read(fd, text + used, size - 1 - used)) > 0 ||
	       (taken < 0 && errno == EINTR))
		used += taken > 0 ? (size_t)taken : 0;
	close(fd);
	text[used] = '\0';
	return taken == 0;
}

/* The number of bytes in a cgroup's file; UINT64_MAX where there is none that can
 * be read ("max", no file, no number, beyond 64 bits). */
static uint64_t read_limit(const char *path)
{
	char text[64], *end;
	unsigned long long limit;
	int saved = errno;

	if (!read_text(path, text, sizeof text) || text[0] < '0' || text[0] > '9')
		return UINT64_MAX;
	limit = strtoull(text, &end, 10); /* the largest number where there are too many digits */
	errno = saved;
	return *end == '\n' || *end == '\0' ? limit : UINT64_MAX;
}

/* The least limit of the group and those above it.  A container often sees its own
 * group as the top of the mount, but the name that the host gives it: then only
 * the last file of the climb is there, and it is the right one. */
static uint64_t climb(const char *root, const char *mount, const char *group, const char *leaf)
{
	char path[PATH_MAX];
	size_t length = strlen(group);
	uint64_t limit = UINT64_MAX;

	for (;;) {
		int wanted = snprintf(path, sizeof path, "%s%s%.*s/%s", root, mount, (int)length,
				      group, leaf);

		if (wanted > 0 && (size_t)wanted < sizeof path)
			limit = least(limit, read_limit(path));
		if (length == 0)
			return limit;
		while (length > 0 && group[--length] != '/')
			;
	}
}

/* Whether the comma-separated list has "memory" in it. */
static bool has_memory(const char *controllers)
{
	const char *at = controllers;

	while ((at = strstr(at, "memory")) != NULL) {
		bool begins = at == controllers || at[-1] == ',';

		at += strlen("memory");
		if (begins && (*at == ',' || *at == '\0'))
			return true;
	}
	return false;
}

uint64_t system_group_memory(const char *root)
{
	char path[PATH_MAX], text[16384];
	char *next = text;
	uint64_t limit = UINT64_MAX;

	/* Lines "ID:CONTROLLERS:GROUP"; the second version has no controllers. */
	snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
	if (!read_text(path, text, sizeof text))
		return UINT64_MAX;
	while (*next != '\0') {
		char *line = next, *controllers, *group;

		next += strcspn(next, "\n");
		if (*next == '\n')
			*next++ = '\0';
		controllers = strchr(line, ':');
		group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
		if (group == NULL)
			continue;
		*group++ = '\0';
		controllers++;
		if (*controllers == '\0') {
			limit = least(limit, climb(root, "/sys/fs/cgroup", group, "memory.max"));
			limit = least(limit,
				      climb(root, "/sys/fs/cgroup/unified", group, "memory.max"));
		} else if (has_memory(controllers)) {
			limit = least(limit, climb(root, "/sys/fs/cgroup/memory", group,
						   "memory.limit_in_bytes"));
		}
	}
	return limit;
}

static uint64_t soft_limit(const struct rlimit *limit)
{
	return limit->rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit->rlim_cur;
}

uint64_t system_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t memory = least(system_group_memory(""), SIZE_MAX / 2);
	struct rlimit limit;

	if (pages > 0 && page > 0)
		memory = least(memory, (uint64_t)pages * (uint64_t)page);
	if (getrlimit(RLIMIT_AS, &limit) == 0)
		memory = least(memory, soft_limit(&limit));
	if (getrlimit(RLIMIT_DATA, &limit) == 0)
		memory = least(memory, soft_limit(&limit));
	return memory;
}

uint64_t system_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t system_wall_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ----------------------------------------------------------------- signals */

/* Atomic, since threads look at them: what has no lock may be used in a handler. */
static atomic_int first_signal;
static atomic_ullong first_moment;

/* The thread that may be waiting in a system call, by its kernel's number; 0: whichever the
 * signal comes to. */
static atomic_int waiting_thread;

static const int caught[] = { SIGINT, SIGTERM, SIGHUP };

/* One request often comes as two signals: timeout(1) sends its own to the process and then
 * to the group, and when a terminal goes the kernel and the shell send one each. */
#define SAME_REQUEST UINT64_C(250000000)

static int this_thread(void)
{
	return (int)syscall(SYS_gettid);
}

/* One signal asks for an orderly end; who sends another later, perhaps since a reader has
 * stopped reading, does not want to wait for it. */
static void note_signal(int signal_number)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	uint64_t now = system_clock();
	int waiting = waiting_thread, saved = errno;

	if (first_signal == 0) {
		first_moment = now;
		first_signal = signal_number;
	} else if (now - first_moment >= SAME_REQUEST) {
		sigemptyset(&action.sa_mask);
		sigaction(signal_number, &action, NULL);
		raise(signal_number); /* taken once this has returned */
	}
	/* What has come to this thread does not end another one's wait. */
	if (waiting != 0 && waiting != this_thread())
		(void)syscall(SYS_tgkill, getpid(), waiting, signal_number);
	errno = saved;
}

void system_interrupt_here(bool here)
{
	waiting_thread = here ? this_thread() : 0;
}

void system_catch_signals(void)
{
	for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++) {
		struct sigaction action = { .sa_handler = note_signal }, before;

		sigemptyset(&action.sa_mask);
		for (size_t j = 0; j < sizeof caught / sizeof caught[0]; j++)
			sigaddset(&action.sa_mask, caught[j]);
		if (sigaction(caught[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(caught[i], &action, NULL);
	}
}

static volatile sig_atomic_t woken;
static void (*volatile leave_screen)(void);

static void note_wake(int signal_number)
{
	(void)signal_number;
	woken = 1;
}

static void stop(int signal_number);

/* What waits for the terminal itself, an open or a write, is taken up again. */
static void catch_softly(int signal_number, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART }, before;

	sigemptyset(&action.sa_mask);
	if (signal_number != SIGTSTP ||
	    (sigaction(SIGTSTP, NULL, &before) == 0 && before.sa_handler != SIG_IGN))
		sigaction(signal_number, &action, NULL);
}

/* Leaves the screen to others, stops in the usual way, and goes on from there. */
static void stop(int signal_number)
{
	int saved = errno;
	sigset_t set;

	leave_screen();
	signal(signal_number, SIG_DFL);
	raise(signal_number);
	sigemptyset(&set);
	sigaddset(&set, signal_number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	catch_softly(signal_number, stop);
	woken = 1;
	errno = saved;
}

void system_catch_redraws(void (*leave)(void))
{
	leave_screen = leave;
	catch_softly(SIGWINCH, note_wake);
	catch_softly(SIGCONT, note_wake);
	catch_softly(SIGTSTP, stop);
}

bool system_woken(void)
{
	return woken != 0;
}

void system_sleep(void)
{
	woken = 0;
}

int system_signal(void)
{
	return first_signal;
}

int system_end(int status)
{
	int number = system_signal();
	sigset_t set;

	if (number == 0)
		return status;
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
	_exit(128 + number);
}

/* ----------------------------------------------------------------- mapping */

static const char *volatile guarded;

/* Only what is async-signal-safe: this may interrupt anything. */
static void report_shrinkage(int signal_number, siginfo_t *info, void *context)
{
	static const char said[] = ": shrank while it was being read";
	char text[2048 + sizeof said];
	const char *file = guarded;
	size_t length;

	(void)context;
	if (file == NULL || info->si_code != BUS_ADRERR) {
		/* Not of our making: takes its course once the handler has returned. */
		signal(signal_number, SIG_DFL);
		raise(signal_number);
		return;
	}
	message_escape(text, 2048, file, strlen(file));
	length = strlen(text);
	memcpy(text + length, said, sizeof said);
	message_text(text, length + sizeof said - 1);
	_exit(STATUS_TROUBLE);
}

void system_guard_mapping(const char *file)
{
	static bool installed;
	struct sigaction action = { .sa_sigaction = report_shrinkage, .sa_flags = SA_SIGINFO };

	guarded = file == NULL ? NULL : message_input_name(file);
	if (installed || file == NULL)
		return;
	sigemptyset(&action.sa_mask);
	installed = sigaction(SIGBUS, &action, NULL) == 0;
}
