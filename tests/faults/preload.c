/* preload.c - a library between a tool and the system, that makes calls fail
 *
 * Preloaded (LD_PRELOAD), it counts the calls of some classes and lets one of them fail
 * that would have succeeded.  tests/cli/helper/faults.py tries them all in turn.  From
 * the environment:
 *
 *   FAULT_CLASS   which calls count: "alloc", "open", "read", "write", "name", "sync",
 *                 "stat", "close", "lock", "thread", "misc"; several after commas
 *   FAULT_CALL    the number, from 1, of the one that fails
 *   FAULT_ERROR   its errno, as a number; 0: a read or write is cut short instead
 *   FAULT_KEEP    set: those after it fail, too
 *   FAULT_LOG     a file that gets "NAME DESCRIPTOR" of the call that failed first; it is
 *                 not made where there were fewer calls
 *   FAULT_NAMED   set: there are no files without a name (O_TMPFILE), as on some file systems
 *   FAULT_STORM   microseconds: all the while, a signal comes that often which does
 *                 nothing but interrupt; independent of the above
 *
 * A close that fails has closed all the same, as on Linux.  Before main and after it
 * nothing counts or fails: what calls there is the runtime (of a build that measures
 * coverage, say), not the tool. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

static _Atomic bool active;
static bool keep, named, stricken;
static const char *classes, *journal;
static long wanted;
static _Atomic long seen;
static int failure;

/* ---------------------------------------------------------------- the choice */

static bool listed(const char *class)
{
	size_t length = strlen(class);

	for (const char *at = classes; (at = strstr(at, class)) != NULL; at += length) {
		if ((at == classes || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
			return true;
	}
	return false;
}

static void tell(const char *name, int fd)
{
	char line[80];
	int length = snprintf(line, sizeof line, "%s %d\n", name, fd);
	long out = syscall(SYS_openat, AT_FDCWD, journal, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	syscall(SYS_write, out, line, (size_t)length);
	syscall(SYS_close, out);
}

/* Whether this call is to fail; errno is set then. */
static bool strikes(const char *class, const char *name, int fd)
{
	long number;

	if (!active || !listed(class))
		return false;
	number = ++seen;
	if (keep ? number < wanted : number != wanted)
		return false;
	if (!stricken && journal != NULL) {
		active = false;
		tell(name, fd);
		active = true;
	}
	stricken = true;
	errno = failure;
	return true;
}

static void interrupt(int number)
{
	(void)number;
}

static void begin_storm(const char *word)
{
	struct sigaction action = { .sa_handler = interrupt };
	long apart = atol(word);
	struct itimerval timer = { { apart / 1000000, apart % 1000000 },
				   { apart / 1000000, apart % 1000000 } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

__attribute__((constructor)) static void begin(void)
{
	const char *call = getenv("FAULT_CALL"), *error = getenv("FAULT_ERROR");
	const char *storm = getenv("FAULT_STORM");

	classes = getenv("FAULT_CLASS");
	journal = getenv("FAULT_LOG");
	keep = getenv("FAULT_KEEP") != NULL;
	named = getenv("FAULT_NAMED") != NULL;
	wanted = call == NULL ? 0 : atol(call);
	failure = error == NULL ? EIO : atoi(error);
	if (storm != NULL)
		begin_storm(storm);
}

static int (*tool)(int argc, char **argv, char **environment);

static int main_with_faults(int argc, char **argv, char **environment)
{
	int status;

	active = classes != NULL && wanted > 0;
	status = tool(argc, argv, environment);
	active = false;
	return status;
}

/* The C library's, through which every program is begun. */
typedef int start(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
		  void (*end)(void), void (*end_loader)(void), void *stack_end);
start __libc_start_main;

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
		      void (*end)(void), void (*end_loader)(void), void *stack_end)
{
	start *next = (start *)dlsym(RTLD_NEXT, "__libc_start_main");

	tool = main;
	return next(main_with_faults, argc, argv, init, end, end_loader, stack_end);
}

/* ------------------------------------------------------------------- memory */

/* glibc's own names; dlsym would want memory itself. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
	return strikes("alloc", "malloc", -1) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return strikes("alloc", "calloc", -1) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return strikes("alloc", "realloc", -1) ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return strikes("alloc", "aligned_alloc", -1) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	void *made =
		strikes("alloc", "posix_memalign", -1) ? NULL : __libc_memalign(alignment, size);

	if (made == NULL)
		return ENOMEM;
	*out = made;
	return 0;
}

/* ------------------------------------------------------------------ the rest */

/* CALL(class, failed, fd, type, name, (parameters), (arguments)): fails, or does what it
 * does. */
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define CALL(class, failed, fd, type, name, parameters, arguments)                                 \
	type name parameters                                                                       \
	{                                                                                          \
		return strikes(class, #name, fd) ? failed : NEXT(name) arguments;                  \
	}

CALL("alloc", MAP_FAILED, fd, void *, mmap,
     (void *at, size_t length, int protection, int flags, int fd, off_t offset),
     (at, length, protection, flags, fd, offset))

void *mremap(void *old, size_t old_length, size_t length, int flags, ...)
{
	return strikes("alloc", "mremap", -1) ? MAP_FAILED :
						NEXT(mremap)(old, old_length, length, flags);
}

static mode_t mode_of(int flags, va_list more)
{
	return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, mode_t) :
									    0;
}

int open(const char *path, int flags, ...)
{
	va_list more;
	mode_t mode;

	va_start(more, flags);
	mode = mode_of(flags, more);
	va_end(more);
	return strikes("open", "open", -1) ? -1 : NEXT(open)(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
	va_list more;
	mode_t mode;

	va_start(more, flags);
	mode = mode_of(flags, more);
	va_end(more);
	if (named && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return strikes("open", "openat", folder) ? -1 : NEXT(openat)(folder, path, flags, mode);
}

CALL("open", NULL, -1, FILE *, fopen, (const char *path, const char *mode), (path, mode))
CALL("open", NULL, fd, FILE *, fdopen, (int fd, const char *mode), (fd, mode))
CALL("open", NULL, fd, DIR *, fdopendir, (int fd), (fd))

/* A call that is cut short asks for a byte instead; none is missing where one was asked. */
#define CUT(class, name, fd, length, failed)                                                       \
	if (strikes(class, #name, fd)) {                                                           \
		if (failure != 0)                                                                  \
			return failed;                                                             \
		length = length > 1 ? 1 : length;                                                  \
	}

ssize_t read(int fd, void *data, size_t length)
{
	CUT("read", read, fd, length, -1)
	return NEXT(read)(fd, data, length);
}

ssize_t pread(int fd, void *data, size_t length, off_t offset)
{
	CUT("read", pread, fd, length, -1)
	return NEXT(pread)(fd, data, length, offset);
}

ssize_t write(int fd, const void *data, size_t length)
{
	CUT("write", write, fd, length, -1)
	return NEXT(write)(fd, data, length);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
	struct iovec first;

	if (!strikes("write", "writev", fd))
		return NEXT(writev)(fd, parts, count);
	if (failure != 0)
		return -1;
	while (count > 1 && parts->iov_len == 0) {
		parts++;
		count--;
	}
	first = *parts;
	first.iov_len = first.iov_len > 1 ? 1 : first.iov_len;
	return NEXT(writev)(fd, &first, 1);
}

CALL("name", -1, from, int, renameat, (int from, const char *old, int to, const char *new),
     (from, old, to, new))
CALL("name", -1, from, int, renameat2,
     (int from, const char *old, int to, const char *new, unsigned int flags),
     (from, old, to, new, flags))
CALL("name", -1, -1, int, rename, (const char *old, const char *new), (old, new))
CALL("name", -1, from, int, linkat, (int from, const char *old, int to, const char *new, int flags),
     (from, old, to, new, flags))
CALL("name", -1, folder, int, unlinkat, (int folder, const char *path, int flags),
     (folder, path, flags))
CALL("name", -1, -1, int, unlink, (const char *path), (path))
CALL("name", -1, -1, ssize_t, readlink, (const char *path, char *out, size_t size),
     (path, out, size))

CALL("sync", -1, fd, int, fsync, (int fd), (fd))
CALL("sync", -1, fd, int, fdatasync, (int fd), (fd))
CALL("sync", -1, fd, int, ftruncate, (int fd, off_t length), (fd, length))
CALL("sync", -1, fd, int, fchmod, (int fd, mode_t mode), (fd, mode))
CALL("sync", -1, fd, int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group))

CALL("stat", -1, fd, int, fstat, (int fd, struct stat *out), (fd, out))
CALL("stat", -1, -1, int, stat, (const char *path, struct stat *out), (path, out))
CALL("stat", -1, -1, int, lstat, (const char *path, struct stat *out), (path, out))
CALL("stat", -1, folder, int, fstatat, (int folder, const char *path, struct stat *out, int flags),
     (folder, path, out, flags))
CALL("stat", -1, folder, int, faccessat, (int folder, const char *path, int mode, int flags),
     (folder, path, mode, flags))

int close(int fd)
{
	bool strike = strikes("close", "close", fd);
	int result = NEXT(close)(fd);

	if (strike)
		errno = failure;
	return strike ? -1 : result;
}

/* The error is what it returns. */
CALL("thread", failure, -1, int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument),
     (thread, attributes, run, argument))

CALL("lock", -1, fd, int, flock, (int fd, int operation), (fd, operation))

CALL("misc", -1, -1, ssize_t, getrandom, (void *out, size_t length, unsigned int flags),
     (out, length, flags))
CALL("misc", -1, fd, off_t, lseek, (int fd, off_t offset, int whence), (fd, offset, whence))
CALL("misc", -1, -1, int, poll, (struct pollfd * fds, nfds_t count, int limit), (fds, count, limit))
CALL("misc", -1, -1, int, ppoll,
     (struct pollfd * fds, nfds_t count, const struct timespec *limit, const sigset_t *mask),
     (fds, count, limit, mask))
CALL("misc", NULL, -1, struct dirent *, readdir, (DIR * folder), (folder))

int fcntl(int fd, int command, ...)
{
	va_list more;
	void *argument;

	va_start(more, command);
	argument = va_arg(more, void *);
	va_end(more);
	return strikes("misc", "fcntl", fd) ? -1 : NEXT(fcntl)(fd, command, argument);
}

/* What the same calls are called where the C library checks them (_FORTIFY_SOURCE): its
 * own go on to the system, past what is above. */
#define CHECKED(type, name, parameters, call)                                                      \
	type name parameters;                                                                      \
	type name parameters                                                                       \
	{                                                                                          \
		return call;                                                                       \
	}

CHECKED(int, __open_2, (const char *path, int flags), open(path, flags))
CHECKED(int, __open64_2, (const char *path, int flags), open(path, flags))
CHECKED(int, __openat_2, (int folder, const char *path, int flags), openat(folder, path, flags))
CHECKED(int, __openat64_2, (int folder, const char *path, int flags), openat(folder, path, flags))
CHECKED(ssize_t, __read_chk, (int fd, void *data, size_t length, size_t room),
	read(fd, data, length < room ? length : room))
CHECKED(ssize_t, __pread_chk, (int fd, void *data, size_t length, off_t offset, size_t room),
	pread(fd, data, length < room ? length : room, offset))
CHECKED(ssize_t, __pread64_chk, (int fd, void *data, size_t length, off_t offset, size_t room),
	pread(fd, data, length < room ? length : room, offset))
CHECKED(ssize_t, __readlink_chk, (const char *path, char *out, size_t size, size_t room),
	readlink(path, out, size < room ? size : room))
CHECKED(int, __poll_chk, (struct pollfd * fds, nfds_t count, int limit, size_t room),
	((void)room, poll(fds, count, limit)))
CHECKED(int, __ppoll_chk,
	(struct pollfd * fds, nfds_t count, const struct timespec *limit, const sigset_t *mask,
	 size_t room),
	((void)room, ppoll(fds, count, limit, mask)))
