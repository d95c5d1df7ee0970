/* Files replaced as a whole, and claimed while they are read, changed and replaced.
 *
 * All is run twice, on a file system that has files without names (O_TMPFILE), and
 * as on one that has not; and with each system call failing in turn. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

/* Replaces a claimed file by a filter. */
static enum sketch_status commit_filter(struct sketch_claim *claim, struct sketch_bloom *filter,
					struct sketch_error *error)
{
	struct sketch_save *save;
	int fd;
	enum sketch_status status = sketch_claim_begin(claim, &save, &fd, error);

	if (status != SKETCH_OK)
		return status;
	status = sketch_bloom_write(filter, fd, error);
	if (status == SKETCH_OK)
		return sketch_claim_commit(claim, save, error);
	sketch_save_abort(save);
	return status;
}

/* -------------------------------------------------------------------- faults */

/* These take the place of the C library's for the library under test. */
static struct {
	bool no_tmpfile;  /* O_TMPFILE is not supported */
	const char *call; /* the call that fails with EIO, */
	int countdown;    /* at the time this comes to 0 */
	bool hit;
} fault;

static bool fails(const char *call)
{
	if (!fault.call || strcmp(call, fault.call) != 0 || --fault.countdown != 0)
		return false;
	fault.hit = true;
	errno = EIO;
	return true;
}

int openat(int folder, const char *path, int flags, ...)
{
	mode_t mode = 0;

	if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) {
		va_list rest;

		va_start(rest, flags);
		mode = va_arg(rest, mode_t);
		va_end(rest);
	}
	if (fails("openat"))
		return -1;
	if (fault.no_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_openat, folder, path, flags, mode);
}

int fsync(int fd)
{
	return fails("fsync") ? -1 : (int)syscall(SYS_fsync, fd);
}

int fchmod(int fd, mode_t mode)
{
	return fails("fchmod") ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

int linkat(int from, const char *path, int to, const char *name, int flags)
{
	return fails("linkat") ? -1 : (int)syscall(SYS_linkat, from, path, to, name, flags);
}

int renameat(int from, const char *path, int to, const char *name)
{
	return fails("renameat") ? -1 : (int)syscall(SYS_renameat2, from, path, to, name, 0);
}

ssize_t write(int fd, const void *data, size_t length)
{
	return fails("write") ? -1 : (ssize_t)syscall(SYS_write, fd, data, length);
}

static const char *const calls[] = { "openat", "fsync", "fchmod", "linkat", "renameat", "write" };

/* ------------------------------------------------------------------- contents */

/* A filter that holds one word, or none. */
static struct sketch_bloom *filter_of(const char *word)
{
	struct sketch_params params = params_classic(64 * 200, 5);
	struct sketch_bloom *filter = filter_make(&params);

	if (word)
		filter_add(filter, hash_text(word, 0));
	return filter;
}

static enum sketch_status save(const char *path, const char *word, struct sketch_error *error)
{
	struct sketch_bloom *filter = filter_of(word);
	struct sketch_save *saving = NULL;
	int fd = -1;
	enum sketch_status status = sketch_save_begin(&saving, path, &fd, error);

	if (status == SKETCH_OK) {
		status = sketch_bloom_write(filter, fd, error);
		if (status == SKETCH_OK)
			status = sketch_save_commit(saving, error);
		else
			sketch_save_abort(saving);
	} else {
		assert_null(saving);
		assert_int_equal(fd, -1);
	}
	sketch_bloom_free(filter);
	return status;
}

static void save_ok(const char *path, const char *word)
{
	struct sketch_error error;

	assert_status(SKETCH_OK, save(path, word, &error), &error);
}

/* Is the file whole, and does it hold the word? */
static bool holds(const char *path, const char *word)
{
	struct bytes file = bytes_from_file(path);
	struct sketch_bloom *filter;
	bool held;

	assert_non_null(file.data);
	filter = filter_from_bytes(&file, SKETCH_VERIFIED);
	held = filter_has(filter, hash_text(word, 0));
	sketch_bloom_free(filter);
	bytes_free(&file);
	return held;
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode;
}

static void touch(const char *path, const char *text)
{
	struct bytes bytes = { (uint8_t *)(uintptr_t)text, strlen(text) };

	bytes_to_file(&bytes, path);
}

static size_t open_descriptors(void)
{
	struct scratch self;

	snprintf(self.path, sizeof self.path, "/proc/self/fd");
	return scratch_count(&self);
}

/* --------------------------------------------------------------------- saving */

static void save__absent_target__is_made_by_umask(void **state)
{
	static const mode_t masks[] = { 022, 027, 077, 0 };
	struct scratch scratch;
	char path[512];
	mode_t before = umask(0);

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "new.bloom");
	for (size_t i = 0; i < COUNT_OF(masks); i++) {
		umask(masks[i]);
		save_ok(path, "a");
		assert_int_equal(mode_of(path), S_IFREG | (0666 & ~masks[i]));
		assert_int_equal(scratch_count(&scratch), 1);
		assert_true(holds(path, "a"));
		assert_int_equal(unlink(path), 0);
	}
	umask(before);
	scratch_remove(&scratch);
}

static void save__existing_target__keeps_mode_and_owner(void **state)
{
	static const mode_t modes[] = { 0600, 0640, 0644, 0664, 0666, 0755 };
	struct scratch scratch;
	char path[512];
	mode_t before = umask(027);

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "old.bloom");
	touch(path, "old");
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		struct stat st;
		bool given = chown(path, 12345, 23456) == 0;

		assert_int_equal(chmod(path, modes[i]), 0);
		save_ok(path, "a");
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode, S_IFREG | modes[i]);
		assert_true(!given || (st.st_uid == 12345 && st.st_gid == 23456));
		assert_true(holds(path, "a"));
	}
	assert_int_equal(scratch_count(&scratch), 1);
	umask(before);
	scratch_remove(&scratch);
}

/* folder/first -> second -> deep/third -> ../real, and one that dangles. */
static void save__symbolic_link__stays_and_its_target_is_replaced(void **state)
{
	struct scratch scratch;
	char first[512], second[512], deep[512], third[512], real[512], lost[512], found[512];

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, first, "first");
	scratch_path(&scratch, second, "second");
	scratch_path(&scratch, deep, "deep");
	scratch_path(&scratch, third, "deep/third");
	scratch_path(&scratch, real, "real.bloom");
	scratch_path(&scratch, lost, "lost");
	scratch_path(&scratch, found, "deep/found");
	assert_int_equal(mkdir(deep, 0700), 0);
	assert_int_equal(symlink(second, first), 0);
	assert_int_equal(symlink("deep/third", second), 0);
	assert_int_equal(symlink("../real.bloom", third), 0);
	assert_int_equal(symlink("deep/found", lost), 0);
	touch(real, "old");
	save_ok(first, "a");
	assert_true(S_ISLNK(mode_of(first)) && S_ISLNK(mode_of(second)));
	assert_true(S_ISLNK(mode_of(third)) && S_ISREG(mode_of(real)));
	assert_true(holds(real, "a"));
	save_ok(lost, "b");
	assert_true(S_ISLNK(mode_of(lost)) && S_ISREG(mode_of(found)));
	assert_true(holds(found, "b"));
	assert_int_equal(scratch_count(&scratch), 5);
	scratch_remove(&scratch);
}

static void save__before_commit__target_is_the_old_one(void **state)
{
	struct scratch scratch;
	struct sketch_bloom *filter = filter_of("new");
	struct sketch_save *saving;
	char path[512];
	int fd;

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "t.bloom");
	save_ok(path, "old");
	assert_status(SKETCH_OK, sketch_save_begin(&saving, path, &fd, NULL), NULL);
	assert_true(holds(path, "old"));
	assert_status(SKETCH_OK, sketch_bloom_write(filter, fd, NULL), NULL);
	assert_true(holds(path, "old"));
	assert_in_range(scratch_count(&scratch), 1, 2);
	assert_status(SKETCH_OK, sketch_save_commit(saving, NULL), NULL);
	assert_true(holds(path, "new"));
	assert_int_equal(scratch_count(&scratch), 1);
	sketch_bloom_free(filter);
	scratch_remove(&scratch);
}

static void save__aborted__leaves_all_as_it_was(void **state)
{
	struct scratch scratch;
	struct sketch_save *saving;
	char path[512];
	size_t before = open_descriptors();
	int fd;

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "t.bloom");
	assert_status(SKETCH_OK, sketch_save_begin(&saving, path, &fd, NULL), NULL);
	assert_int_equal(write(fd, "half", 4), 4);
	sketch_save_abort(saving);
	assert_int_equal(scratch_count(&scratch), 0);
	save_ok(path, "old");
	assert_status(SKETCH_OK, sketch_save_begin(&saving, path, &fd, NULL), NULL);
	assert_int_equal(write(fd, "half", 4), 4);
	sketch_save_abort(saving);
	assert_int_equal(scratch_count(&scratch), 1);
	assert_true(holds(path, "old"));
	assert_int_equal(open_descriptors(), before);
	scratch_remove(&scratch);
}

/* As a killed writer leaves them, where its file had a name. */
static void save__leftovers_of_the_target__are_cleared(void **state)
{
	static const char *const cleared[] = { ".t.bloom.sketch-0123456789abcdef",
					       ".t.bloom.sketch-ffffffffffffffff" };
	static const char *const kept[] = {
		".u.bloom.sketch-0123456789abcdef",
		".t.bloom.sketch-0123456789abcde",
		".t.bloom.sketch-0123456789abcdef0",
		"t.bloom.sketch-0123456789abcdef",
		".t.bloom",
		".sketch-0123456789abcdef",
	};
	struct scratch scratch;
	char path[512], other[512];
	int lock;

	(void)state;
	scratch_make(&scratch);
	for (size_t i = 0; i < COUNT_OF(cleared); i++) {
		scratch_path(&scratch, path, cleared[i]);
		touch(path, "half");
	}
	for (size_t i = 0; i < COUNT_OF(kept); i++) {
		scratch_path(&scratch, path, kept[i]);
		touch(path, "not ours");
	}
	/* One whose writer lives. */
	scratch_path(&scratch, other, ".t.bloom.sketch-aaaaaaaaaaaaaaaa");
	touch(other, "half");
	lock = open(other, O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(lock, LOCK_EX), 0);
	scratch_path(&scratch, path, "t.bloom");
	save_ok(path, "a");
	assert_int_equal(scratch_count(&scratch), COUNT_OF(kept) + 2);
	assert_int_equal(access(other, F_OK), 0);
	close(lock);
	save_ok(path, "b");
	assert_int_equal(scratch_count(&scratch), COUNT_OF(kept) + 1);
	assert_true(holds(path, "b"));
	scratch_remove(&scratch);
}

static void save__two_at_once__the_later_commit_wins(void **state)
{
	static const char *const words[] = { "first", "second" };
	struct scratch scratch;
	struct sketch_save *saving[2];
	char path[512];
	int fd[2];

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "t.bloom");
	for (int order = 0; order < 2; order++) {
		for (int i = 0; i < 2; i++)
			assert_status(SKETCH_OK, sketch_save_begin(&saving[i], path, &fd[i], NULL),
				      NULL);
		for (int i = 0; i < 2; i++) {
			struct sketch_bloom *filter = filter_of(words[i]);

			assert_status(SKETCH_OK, sketch_bloom_write(filter, fd[i], NULL), NULL);
			sketch_bloom_free(filter);
		}
		for (int i = 0; i < 2; i++) {
			int which = i ^ order;

			assert_status(SKETCH_OK, sketch_save_commit(saving[which], NULL), NULL);
			assert_true(holds(path, words[which]));
			assert_false(holds(path, words[!which]));
		}
		assert_int_equal(scratch_count(&scratch), 1);
	}
	scratch_remove(&scratch);
}

struct saver {
	const char *path;
	int rounds; /* 0: for ever */
};

static int save_again_and_again(void *context)
{
	const struct saver *saver = context;

	for (int i = 0; saver->rounds == 0 || i < saver->rounds; i++)
		if (save(saver->path, i % 2 ? "odd" : "even", NULL) != SKETCH_OK)
			return 1;
	return 0;
}

static void save__many_processes_at_once__all_succeed(void **state)
{
	struct scratch scratch;
	struct saver saver = { NULL, 20 };
	pid_t children[4];
	char path[512];

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "t.bloom");
	saver.path = path;
	for (size_t i = 0; i < COUNT_OF(children); i++)
		children[i] = child_start(save_again_and_again, &saver);
	for (size_t i = 0; i < COUNT_OF(children); i++)
		assert_int_equal(child_end(children[i]), 0);
	assert_true(holds(path, "even") != holds(path, "odd"));
	assert_int_equal(scratch_count(&scratch), 1);
	scratch_remove(&scratch);
}

static void save__killed_at_any_moment__target_is_whole(void **state)
{
	const int rounds = run_long() ? 200 : 40;
	struct dice dice = { 1 };
	struct scratch scratch;
	struct saver saver = { NULL, 0 };
	char path[512];

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "t.bloom");
	saver.path = path;
	save_ok(path, "odd");
	for (int i = 0; i < rounds; i++) {
		pid_t child = child_start(save_again_and_again, &saver);
		struct timespec some = { 0, (long)dice_below(&dice, 15000000) };

		nanosleep(&some, NULL);
		assert_int_equal(kill(child, SIGKILL), 0);
		assert_int_equal(child_end(child), 128 + SIGKILL);
		assert_true(holds(path, "even") != holds(path, "odd"));
		assert_in_range(scratch_count(&scratch), 1, 2);
	}
	save_ok(path, "last");
	assert_int_equal(scratch_count(&scratch), 1);
	scratch_remove(&scratch);
}

static int read_fifo(void *context)
{
	struct bytes file = bytes_from_file(context);
	struct sketch_bloom *filter = filter_from_bytes(&file, SKETCH_VERIFIED);
	bool held = filter_has(filter, hash_text("a", 0));

	sketch_bloom_free(filter);
	bytes_free(&file);
	return !held;
}

static void save__fifo__is_written_to_and_stays(void **state)
{
	struct scratch scratch;
	char path[512], link[512];
	pid_t reader;

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "fifo");
	scratch_path(&scratch, link, "link");
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(symlink("fifo", link), 0);
	for (int i = 0; i < 2; i++) {
		reader = child_start(read_fifo, path);
		save_ok(i ? link : path, "a");
		assert_int_equal(child_end(reader), 0);
		assert_true(S_ISFIFO(mode_of(path)));
	}
	assert_int_equal(scratch_count(&scratch), 2);
	scratch_remove(&scratch);
}

/* A null device of our own: a fault must not cost the machine its own. */
static void save__device__is_written_to_and_stays(void **state)
{
	struct scratch scratch;
	struct sketch_save *saving;
	char path[512];
	int fd = -1;

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "null");
	if (mknod(path, S_IFCHR | 0600, makedev(1, 3)) == 0)
		fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0) {
		scratch_remove(&scratch);
		skip();
	}
	close(fd);
	save_ok(path, "a");
	assert_true(S_ISCHR(mode_of(path)));
	assert_status(SKETCH_OK, sketch_save_begin(&saving, path, &fd, NULL), NULL);
	sketch_save_abort(saving);
	assert_true(S_ISCHR(mode_of(path)));
	assert_int_equal(scratch_count(&scratch), 1);
	scratch_remove(&scratch);
}

static void save__names_of_all_lengths__work(void **state)
{
	struct scratch scratch;
	char name[NAME_MAX + 2], path[512];

	(void)state;
	scratch_make(&scratch);
	for (size_t length = 1; length <= NAME_MAX; length += length < 190 ? 27 : 1) {
		memset(name, 'x', length);
		name[length] = 0;
		scratch_path(&scratch, path, name);
		save_ok(path, "a");
		save_ok(path, "b");
		assert_true(holds(path, "b"));
		assert_int_equal(scratch_count(&scratch), 1);
		assert_int_equal(unlink(path), 0);
	}
	scratch_remove(&scratch);
}

static void save__name_without_folder__is_in_the_working_folder(void **state)
{
	struct scratch scratch;
	char path[512];
	int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	scratch_make(&scratch);
	assert_int_equal(chdir(scratch.path), 0);
	save_ok("t.bloom", "a");
	save_ok("./t.bloom", "b");
	assert_int_equal(fchdir(here), 0);
	close(here);
	scratch_path(&scratch, path, "t.bloom");
	assert_true(holds(path, "b"));
	assert_int_equal(scratch_count(&scratch), 1);
	scratch_remove(&scratch);
}

static void check_no_save(const char *path, int errnum)
{
	struct sketch_error error;
	struct sketch_claim *claim = NULL;
	size_t before = open_descriptors();

	assert_status(SKETCH_IO, save(path, "a", &error), &error);
	assert_error(SKETCH_IO, &error);
	assert_int_equal(error.errnum, errnum);
	assert_int_not_equal(sketch_claim(&claim, path, true, &error), SKETCH_OK);
	assert_null(claim);
	assert_int_equal(open_descriptors(), before);
}

static void save__target_that_cannot_be__says_why(void **state)
{
	struct scratch scratch;
	char path[512], longer[NAME_MAX + 2];

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "absent/t.bloom");
	check_no_save(path, ENOENT);
	check_no_save("", ENOENT);
	check_no_save(scratch.path, EISDIR);
	scratch_path(&scratch, path, "loop");
	assert_int_equal(symlink("loop", path), 0);
	check_no_save(path, ELOOP);
	memset(longer, 'x', sizeof longer);
	longer[NAME_MAX + 1] = 0;
	scratch_path(&scratch, path, longer);
	check_no_save(path, ENAMETOOLONG);
	scratch_path(&scratch, path, "file");
	touch(path, "x");
	scratch_path(&scratch, path, "file/t.bloom");
	check_no_save(path, ENOTDIR);
	assert_int_equal(scratch_count(&scratch), 2);
	scratch_remove(&scratch);
}

static int save_as_nobody(void *context)
{
	struct sketch_error error = { 0 };

	if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
		return 77;
	if (save(context, "new", &error) != SKETCH_IO)
		return 1;
	return error.errnum != EACCES;
}

static void save__folder_that_may_not_be_written__leaves_the_old_file(void **state)
{
	struct scratch scratch;
	char path[512];
	int status;

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "t.bloom");
	save_ok(path, "old");
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(chmod(scratch.path, 0555), 0);
	status = child_run(save_as_nobody, path);
	assert_true(status == 0 || status == 77);
	assert_true(holds(path, "old"));
	assert_int_equal(scratch_count(&scratch), 1);
	scratch_remove(&scratch);
}

static enum sketch_status commit_word(struct sketch_claim *claim, const char *word,
				      struct sketch_error *error)
{
	struct sketch_bloom *filter = filter_of(word);
	enum sketch_status status = commit_filter(claim, filter, error);

	sketch_bloom_free(filter);
	return status;
}

/* As on a full disk. */
static int save_beyond_limit(void *context)
{
	const struct rlimit limit = { 1000, 1000 };
	struct sketch_error error = { 0 };
	struct sketch_claim *claim;

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	if (save(context, "new", &error) != SKETCH_IO || error.errnum != EFBIG)
		return 1;
	if (sketch_claim(&claim, context, true, &error) != SKETCH_OK)
		return 2;
	if (commit_word(claim, "new", &error) != SKETCH_IO || error.errnum != EFBIG)
		return 3;
	sketch_claim_release(claim);
	return 0;
}

static void save__no_room__leaves_the_old_file(void **state)
{
	struct scratch scratch;
	char path[512];

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "t.bloom");
	assert_int_equal(child_run(save_beyond_limit, path), 0);
	assert_int_equal(scratch_count(&scratch), 0);
	save_ok(path, "old");
	assert_int_equal(child_run(save_beyond_limit, path), 0);
	assert_true(holds(path, "old"));
	assert_int_equal(scratch_count(&scratch), 1);
	scratch_remove(&scratch);
}

/* Each call fails in turn: the old file or the new one, nothing left open, and what
 * is left behind is gone after the next save. */
static void save__each_call_failing__target_is_whole(void **state)
{
	struct scratch scratch;
	char path[512];
	unsigned int hits = 0;

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "t.bloom");
	for (size_t c = 0; c < COUNT_OF(calls); c++) {
		for (int n = 1; n < 20; n++) {
			size_t before = open_descriptors();
			struct sketch_error error;
			enum sketch_status status;

			save_ok(path, "old");
			fault.call = calls[c];
			fault.countdown = n;
			fault.hit = false;
			status = save(path, "new", &error);
			fault.call = NULL;
			hits += fault.hit;
			if (status != SKETCH_OK) {
				assert_true(fault.hit);
				assert_status(SKETCH_IO, status, &error);
				assert_int_equal(error.errnum, EIO);
			}
			assert_true(holds(path, "old") != holds(path, "new"));
			assert_true(status != SKETCH_OK || holds(path, "new"));
			assert_int_equal(open_descriptors(), before);
			save_ok(path, "next");
			assert_int_equal(scratch_count(&scratch), 1);
			if (!fault.hit)
				break;
		}
	}
	scratch_remove(&scratch);
	/* Where the library calls by other names, nothing was tested. */
	if (hits == 0)
		skip();
	assert_in_range(hits, 6, 100);
}

/* --------------------------------------------------------------------- claims */

static struct sketch_claim *claim_ok(const char *path)
{
	struct sketch_claim *claim = NULL;
	struct sketch_error error;

	assert_status(SKETCH_OK, sketch_claim(&claim, path, false, &error), &error);
	assert_non_null(claim);
	return claim;
}

static void assert_busy(const char *path)
{
	struct sketch_claim *const before = (struct sketch_claim *)&before;
	struct sketch_claim *claim = before;
	struct sketch_error error;

	assert_status(SKETCH_BUSY, sketch_claim(&claim, path, false, &error), &error);
	assert_error(SKETCH_BUSY, &error);
	assert_ptr_equal(claim, before);
}

static void commit_ok(struct sketch_claim *claim, const char *word)
{
	struct sketch_error error;

	assert_status(SKETCH_OK, commit_word(claim, word, &error), &error);
}

static void claim__absent_file__is_made_empty_and_removed_again(void **state)
{
	struct scratch scratch;
	struct sketch_claim *claim;
	struct stat st;
	char path[512];
	size_t before = open_descriptors();

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "t.bloom");
	claim = claim_ok(path);
	assert_true(sketch_claim_is_empty(claim));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(scratch_count(&scratch), 1);
	assert_busy(path);
	sketch_claim_release(claim);
	assert_int_equal(scratch_count(&scratch), 0);
	assert_int_equal(open_descriptors(), before);
	sketch_claim_release(NULL);
	scratch_remove(&scratch);
}

static void claim__absent_file_committed__is_there_by_umask(void **state)
{
	struct scratch scratch;
	struct sketch_claim *claim;
	char path[512];
	mode_t before = umask(027);

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "t.bloom");
	claim = claim_ok(path);
	commit_ok(claim, "a");
	assert_true(holds(path, "a"));
	assert_int_equal(mode_of(path), S_IFREG | 0640);
	sketch_claim_release(claim);
	assert_true(holds(path, "a"));
	assert_int_equal(scratch_count(&scratch), 1);
	umask(before);
	scratch_remove(&scratch);
}

static void claim__empty_file_of_another__stays(void **state)
{
	struct scratch scratch;
	struct sketch_claim *claim;
	char path[512];

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "t.bloom");
	touch(path, "");
	claim = claim_ok(path);
	assert_true(sketch_claim_is_empty(claim));
	sketch_claim_release(claim);
	assert_int_equal(scratch_count(&scratch), 1);
	scratch_remove(&scratch);
}

static void claim__existing_file__can_be_read_changed_and_replaced(void **state)
{
	struct scratch scratch;
	struct sketch_claim *claim;
	struct sketch_bloom *filter = NULL;
	struct sketch_error error;
	char path[512];

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "t.bloom");
	save_ok(path, "old");
	assert_int_equal(chmod(path, 0604), 0);
	claim = claim_ok(path);
	assert_false(sketch_claim_is_empty(claim));
	assert_status(SKETCH_OK,
		      sketch_bloom_read(&filter, sketch_claim_fd(claim), SKETCH_WRITABLE,
					UINT64_MAX, NULL, &error),
		      &error);
	filter_add(filter, hash_text("new", 0));
	assert_status(SKETCH_OK, commit_filter(claim, filter, &error), &error);
	assert_true(holds(path, "old") && holds(path, "new"));
	/* And once more, as by a save every so often. */
	filter_add(filter, hash_text("newer", 0));
	assert_status(SKETCH_OK, commit_filter(claim, filter, &error), &error);
	assert_busy(path);
	sketch_claim_release(claim);
	assert_true(holds(path, "old") && holds(path, "new") && holds(path, "newer"));
	assert_int_equal(mode_of(path), S_IFREG | 0604);
	assert_int_equal(scratch_count(&scratch), 1);
	sketch_bloom_free(filter);
	scratch_remove(&scratch);
}

static void claim__not_committed__leaves_the_file(void **state)
{
	struct scratch scratch;
	struct bytes before, after;
	char path[512];

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "t.bloom");
	save_ok(path, "old");
	before = bytes_from_file(path);
	sketch_claim_release(claim_ok(path));
	after = bytes_from_file(path);
	assert_true(bytes_equal(&before, &after));
	bytes_free(&before);
	bytes_free(&after);
	scratch_remove(&scratch);
}

static void claim__symbolic_link__stays_and_its_target_is_claimed(void **state)
{
	struct scratch scratch;
	struct sketch_claim *claim;
	char link[512], real[512];

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, link, "link");
	scratch_path(&scratch, real, "real.bloom");
	assert_int_equal(symlink("real.bloom", link), 0);
	/* First dangling, then not. */
	for (int i = 0; i < 2; i++) {
		claim = claim_ok(link);
		assert_busy(real);
		assert_busy(link);
		commit_ok(claim, i ? "b" : "a");
		assert_busy(real);
		sketch_claim_release(claim);
		assert_true(S_ISLNK(mode_of(link)) && S_ISREG(mode_of(real)));
		assert_true(holds(real, i ? "b" : "a"));
	}
	assert_int_equal(scratch_count(&scratch), 2);
	scratch_remove(&scratch);
}

static void claim__no_regular_file__is_refused(void **state)
{
	struct scratch scratch;
	struct sketch_claim *claim = NULL;
	struct sketch_error error;
	char path[512];

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "fifo");
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_not_equal(sketch_claim(&claim, path, true, &error), SKETCH_OK);
	assert_int_not_equal(error.status, SKETCH_BUSY);
	assert_error(error.status, &error);
	assert_null(claim);
	scratch_remove(&scratch);
}

/* ------------------------------------------------------- claims and processes */

/* A child that holds a claim, and does a step each time it hears from its parent:
 * it commits the words, and then releases the claim. */
struct holder {
	const char *path;
	const char *words[3];
	int parent, child; /* ends of a pair of sockets */
	int *released;     /* in shared memory: 1 just before it is */
};

static void say(int fd)
{
	assert_int_equal(write(fd, "!", 1), 1);
}

static bool hear(int fd)
{
	char byte;

	return read(fd, &byte, 1) == 1;
}

static int hold(void *context)
{
	const struct holder *holder = context;
	struct sketch_claim *claim;

	close(holder->parent);
	if (sketch_claim(&claim, holder->path, true, NULL) != SKETCH_OK)
		return 1;
	say(holder->child);
	for (size_t i = 0; holder->words[i]; i++) {
		if (!hear(holder->child))
			return 2;
		if (commit_word(claim, holder->words[i], NULL) != SKETCH_OK)
			return 3;
		say(holder->child);
	}
	if (!hear(holder->child))
		return 4;
	/* Time for others to be waiting. */
	sleep_ms(50);
	*holder->released = 1;
	sketch_claim_release(claim);
	return 0;
}

static pid_t holder_start(struct holder *holder)
{
	int ends[2];
	pid_t child;

	holder->released = mmap(NULL, sizeof *holder->released, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(holder->released != MAP_FAILED);
	*holder->released = 0;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	holder->parent = ends[0];
	holder->child = ends[1];
	child = child_start(hold, holder);
	close(ends[1]);
	assert_true(hear(ends[0]));
	return child;
}

static void holder_end(struct holder *holder, pid_t child)
{
	close(holder->parent);
	assert_int_equal(child_end(child), 0);
	munmap(holder->released, sizeof *holder->released);
}

static void claim__held_by_another_process__is_busy_until_released(void **state)
{
	struct scratch scratch;
	struct holder holder = { .words = { "first", "second", NULL } };
	char path[512];
	pid_t child;

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "t.bloom");
	holder.path = path;
	child = holder_start(&holder);
	assert_busy(path);
	for (size_t i = 0; i < 2; i++) {
		say(holder.parent);
		assert_true(hear(holder.parent));
		assert_true(holds(path, holder.words[i]));
		/* The claim has gone over to the new inode. */
		assert_busy(path);
	}
	say(holder.parent);
	holder_end(&holder, child);
	sketch_claim_release(claim_ok(path));
	scratch_remove(&scratch);
}

static void claim__waiting_for_another_process__gets_it_after_the_release(void **state)
{
	struct scratch scratch;
	struct holder holder = { .words = { "first", NULL } };
	struct sketch_claim *claim = NULL;
	struct sketch_error error;
	char path[512];

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "t.bloom");
	holder.path = path;
	for (int commit = 0; commit < 2; commit++) {
		pid_t child;

		holder.words[0] = commit ? "first" : NULL;
		child = holder_start(&holder);
		if (commit) {
			say(holder.parent);
			assert_true(hear(holder.parent));
		}
		say(holder.parent);
		assert_status(SKETCH_OK, sketch_claim(&claim, path, true, &error), &error);
		assert_int_equal(*holder.released, 1);
		/* Not committed, the holder's empty file went with it. */
		assert_int_equal(sketch_claim_is_empty(claim), !commit);
		assert_busy(path);
		sketch_claim_release(claim);
		assert_int_equal(scratch_count(&scratch), commit);
		holder_end(&holder, child);
	}
	assert_true(holds(path, "first"));
	scratch_remove(&scratch);
}

struct waiter {
	const char *path;
	const char *word; /* that must be there when the claim is got */
	int ready;
};

static int wait_and_look(void *context)
{
	const struct waiter *waiter = context;
	struct sketch_claim *claim;
	struct sketch_bloom *filter;

	say(waiter->ready);
	if (sketch_claim(&claim, waiter->path, true, NULL) != SKETCH_OK)
		return 1;
	if (sketch_bloom_read(&filter, sketch_claim_fd(claim), SKETCH_VERIFIED, UINT64_MAX, NULL,
			      NULL) != SKETCH_OK)
		return 2;
	if (!filter_has(filter, hash_text(waiter->word, 0)))
		return 3;
	sketch_bloom_free(filter);
	sketch_claim_release(claim);
	return 0;
}

/* Those who wait have opened a file that is then replaced, twice. */
static void claim__file_replaced_while_others_wait__they_get_the_new_one(void **state)
{
	struct scratch scratch;
	struct holder holder = { .words = { "second", "third", NULL } };
	struct waiter waiter = { NULL, "third", -1 };
	pid_t child, children[3];
	char path[512];
	int ends[2];

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "t.bloom");
	save_ok(path, "first");
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	holder.path = waiter.path = path;
	waiter.ready = ends[1];
	child = holder_start(&holder);
	for (size_t i = 0; i < COUNT_OF(children); i++) {
		children[i] = child_start(wait_and_look, &waiter);
		assert_true(hear(ends[0]));
		sleep_ms(30);
		say(holder.parent);
		if (holder.words[i])
			assert_true(hear(holder.parent));
	}
	for (size_t i = 0; i < COUNT_OF(children); i++)
		assert_int_equal(child_end(children[i]), 0);
	holder_end(&holder, child);
	close(ends[0]);
	close(ends[1]);
	scratch_remove(&scratch);
}

static volatile sig_atomic_t alarms;

static void count_alarm(int number)
{
	(void)number;
	alarms = alarms + 1;
}

static void claim__signal_while_waiting__interrupts(void **state)
{
	const struct itimerval soon = { { 0, 50000 }, { 0, 50000 } }, never = { 0 };
	const struct sigaction action = { .sa_handler = count_alarm };
	struct sigaction before;
	struct scratch scratch;
	struct holder holder = { .words = { NULL } };
	struct sketch_claim *claim = NULL;
	struct sketch_error error;
	char path[512];
	size_t descriptors;
	pid_t child;

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "t.bloom");
	holder.path = path;
	child = holder_start(&holder);
	descriptors = open_descriptors();
	alarms = 0;
	assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
	/* Again and again: the first may come before the wait begins. */
	setitimer(ITIMER_REAL, &soon, NULL);
	assert_status(SKETCH_INTERRUPTED, sketch_claim(&claim, path, true, &error), &error);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	assert_error(SKETCH_INTERRUPTED, &error);
	assert_true(alarms > 0);
	assert_null(claim);
	assert_int_equal(open_descriptors(), descriptors);
	assert_busy(path);
	say(holder.parent);
	holder_end(&holder, child);
	scratch_remove(&scratch);
}

static void claim__holder_killed__is_free_at_once(void **state)
{
	struct scratch scratch;
	struct holder holder = { .words = { "first", NULL } };
	char path[512];

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "t.bloom");
	holder.path = path;
	for (int commit = 0; commit < 2; commit++) {
		pid_t child = holder_start(&holder);
		struct sketch_claim *claim;

		if (commit) {
			say(holder.parent);
			assert_true(hear(holder.parent));
		}
		assert_int_equal(kill(child, SIGKILL), 0);
		assert_int_equal(child_end(child), 128 + SIGKILL);
		close(holder.parent);
		munmap(holder.released, sizeof *holder.released);
		claim = claim_ok(path);
		assert_int_equal(sketch_claim_is_empty(claim), !commit);
		sketch_claim_release(claim);
	}
	assert_true(holds(path, "first"));
	scratch_remove(&scratch);
}

struct adder {
	const char *path;
	int first, count;
};

/* Reads the file, or begins one, adds a key and puts it back, again and again. */
static int add_keys(void *context)
{
	const struct adder *adder = context;

	for (int i = adder->first; i < adder->first + adder->count; i++) {
		struct sketch_claim *claim;
		struct sketch_bloom *filter = NULL;
		char word[16];

		if (sketch_claim(&claim, adder->path, true, NULL) != SKETCH_OK)
			return 1;
		if (sketch_claim_is_empty(claim))
			filter = filter_of(NULL);
		else if (sketch_bloom_read(&filter, sketch_claim_fd(claim), SKETCH_WRITABLE,
					   UINT64_MAX, NULL, NULL) != SKETCH_OK)
			return 2;
		snprintf(word, sizeof word, "%d", i);
		filter_add(filter, hash_text(word, 0));
		sketch_bloom_set_records(filter, sketch_bloom_records(filter) + 1);
		if (commit_filter(claim, filter, NULL) != SKETCH_OK)
			return 3;
		sketch_claim_release(claim);
		sketch_bloom_free(filter);
	}
	return 0;
}

static void claim__many_processes_adding_keys__lose_none(void **state)
{
	const int each = 25;
	struct scratch scratch;
	struct adder adders[4];
	pid_t children[4];
	struct sketch_bloom *filter;
	struct bytes file;
	char path[512];

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "t.bloom");
	for (int i = 0; i < 4; i++) {
		adders[i] = (struct adder){ path, i * each, each };
		children[i] = child_start(add_keys, &adders[i]);
	}
	for (int i = 0; i < 4; i++)
		assert_int_equal(child_end(children[i]), 0);
	file = bytes_from_file(path);
	filter = filter_from_bytes(&file, SKETCH_VERIFIED);
	assert_int_equal(sketch_bloom_records(filter), 4 * each);
	for (int i = 0; i < 4 * each; i++) {
		char word[16];

		snprintf(word, sizeof word, "%d", i);
		assert_true(filter_has(filter, hash_text(word, 0)));
	}
	assert_int_equal(scratch_count(&scratch), 1);
	bytes_free(&file);
	sketch_bloom_free(filter);
	scratch_remove(&scratch);
}

static int claim_and_release(void *context)
{
	const struct adder *adder = context;

	for (int i = 0; i < adder->count; i++) {
		struct sketch_claim *claim;

		if (sketch_claim(&claim, adder->path, true, NULL) != SKETCH_OK)
			return 1;
		if (!sketch_claim_is_empty(claim) || access(adder->path, F_OK) != 0)
			return 2;
		sketch_claim_release(claim);
	}
	return 0;
}

/* The empty file comes and goes under those who wait for it. */
static void claim__absent_file_claimed_by_many__never_goes_while_claimed(void **state)
{
	struct scratch scratch;
	struct adder adder = { NULL, 0, run_slow() ? 100 : 1000 };
	pid_t children[4];
	char path[512];

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "t.bloom");
	adder.path = path;
	for (int i = 0; i < 4; i++)
		children[i] = child_start(claim_and_release, &adder);
	for (int i = 0; i < 4; i++)
		assert_int_equal(child_end(children[i]), 0);
	assert_int_equal(scratch_count(&scratch), 0);
	scratch_remove(&scratch);
}

/* One attempt at claiming, committing and releasing, with a fault armed. */
static enum sketch_status claim_with_fault(const char *path, struct sketch_error *error)
{
	struct sketch_bloom *filter = filter_of("new");
	struct sketch_claim *claim = NULL;
	enum sketch_status status;

	status = sketch_claim(&claim, path, false, error);
	if (status == SKETCH_OK) {
		status = commit_filter(claim, filter, error);
		sketch_claim_release(claim);
	}
	fault.call = NULL;
	sketch_bloom_free(filter);
	return status;
}

static void claim__each_call_failing__file_is_whole_and_free(void **state)
{
	struct scratch scratch;
	char path[512];
	unsigned int hits = 0;

	(void)state;
	scratch_make(&scratch);
	scratch_path(&scratch, path, "t.bloom");
	for (size_t c = 0; c < 2 * COUNT_OF(calls); c++) {
		bool present = c % 2;

		for (int n = 1; n < 20; n++) {
			size_t before = open_descriptors();
			struct sketch_error error;
			enum sketch_status status;

			unlink(path);
			if (present)
				save_ok(path, "old");
			fault.call = calls[c / 2];
			fault.countdown = n;
			fault.hit = false;
			status = claim_with_fault(path, &error);
			hits += fault.hit;
			if (status != SKETCH_OK) {
				assert_true(fault.hit);
				assert_status(SKETCH_IO, status, &error);
				assert_int_equal(error.errnum, EIO);
			}
			assert_int_equal(open_descriptors(), before);
			if (access(path, F_OK) == 0)
				assert_true(holds(path, "new") || (present && holds(path, "old")));
			else
				assert_true(!present && status != SKETCH_OK);
			sketch_claim_release(claim_ok(path));
			save_ok(path, "next");
			assert_int_equal(scratch_count(&scratch), 1);
			if (!fault.hit)
				break;
		}
	}
	scratch_remove(&scratch);
	if (hits == 0)
		skip();
	assert_in_range(hits, 10, 200);
}

int main(void)
{
	static const char *const names[] = { "save", "save, without O_TMPFILE" };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(save__absent_target__is_made_by_umask),
		cmocka_unit_test(save__existing_target__keeps_mode_and_owner),
		cmocka_unit_test(save__symbolic_link__stays_and_its_target_is_replaced),
		cmocka_unit_test(save__before_commit__target_is_the_old_one),
		cmocka_unit_test(save__aborted__leaves_all_as_it_was),
		cmocka_unit_test(save__leftovers_of_the_target__are_cleared),
		cmocka_unit_test(save__two_at_once__the_later_commit_wins),
		cmocka_unit_test(save__many_processes_at_once__all_succeed),
		cmocka_unit_test(save__killed_at_any_moment__target_is_whole),
		cmocka_unit_test(save__fifo__is_written_to_and_stays),
		cmocka_unit_test(save__device__is_written_to_and_stays),
		cmocka_unit_test(save__names_of_all_lengths__work),
		cmocka_unit_test(save__name_without_folder__is_in_the_working_folder),
		cmocka_unit_test(save__target_that_cannot_be__says_why),
		cmocka_unit_test(save__folder_that_may_not_be_written__leaves_the_old_file),
		cmocka_unit_test(save__no_room__leaves_the_old_file),
		cmocka_unit_test(save__each_call_failing__target_is_whole),
		cmocka_unit_test(claim__absent_file__is_made_empty_and_removed_again),
		cmocka_unit_test(claim__absent_file_committed__is_there_by_umask),
		cmocka_unit_test(claim__empty_file_of_another__stays),
		cmocka_unit_test(claim__existing_file__can_be_read_changed_and_replaced),
		cmocka_unit_test(claim__not_committed__leaves_the_file),
		cmocka_unit_test(claim__symbolic_link__stays_and_its_target_is_claimed),
		cmocka_unit_test(claim__no_regular_file__is_refused),
		cmocka_unit_test(claim__held_by_another_process__is_busy_until_released),
		cmocka_unit_test(claim__waiting_for_another_process__gets_it_after_the_release),
		cmocka_unit_test(claim__file_replaced_while_others_wait__they_get_the_new_one),
		cmocka_unit_test(claim__signal_while_waiting__interrupts),
		cmocka_unit_test(claim__holder_killed__is_free_at_once),
		cmocka_unit_test(claim__many_processes_adding_keys__lose_none),
		cmocka_unit_test(claim__absent_file_claimed_by_many__never_goes_while_claimed),
		cmocka_unit_test(claim__each_call_failing__file_is_whole_and_free),
	};
	int failed = 0;

	for (int i = 0; i < 2; i++) {
		fault.no_tmpfile = i;
		failed += cmocka_run_group_tests_name(names[i], tests, NULL, NULL);
	}
	return failed;
}
