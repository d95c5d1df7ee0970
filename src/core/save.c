/* save.c - replacing files as a whole, and claiming them
 *
 * A reader must find the old file or the new one, whatever happens to the
 * writer.  So the new bytes go into a file of their own in the target's folder,
 * are synced, and take the target's name by rename(2), which is atomic; then
 * the folder is synced, or a power cut could undo the rename.
 *
 * Where the file system allows (O_TMPFILE), the new file has no name until it
 * is complete; else, and for the moment between link and rename, it is called
 * ".TARGET.sketch-" and 16 random digits.  Its writer holds a lock on it, so
 * whoever saves next knows a left-over (no lock) from a save that is under way.
 *
 * Claims lock the inode of the target itself: no lock files to be left behind.
 * After a wait the name may mean another inode, so it is looked up again.  The
 * new file was locked by its writer before it got the name; so the claim goes
 * over without a gap. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "error.h"
#include "sketch.h"

#define SAVE_SUFFIX ".sketch-"
#define SAVE_DIGITS 16
#define SAVE_MAX_LINKS 40
/* Leaves room for the dot, the suffix and the digits in a name of 255. */
#define SAVE_MAX_STEM 220

/* musl has the system call, but no name for it. */
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1u
static int renameat2(int from, const char *old, int to, const char *new, unsigned int flags)
{
	return (int)syscall(SYS_renameat2, from, old, to, new, flags);
}
#endif

/* A file by its folder and its name there, symbolic links followed. */
struct place {
	int folder;
	char name[NAME_MAX + 1];
};

/* ------------------------------------------------------------------- places */

/* Reads a symbolic link: 1, or 0 where path is none, or -1. */
static int follow_link(const char *path, char target[PATH_MAX])
{
	ssize_t length = readlink(path, target, PATH_MAX - 1);

	if (length < 0)
		return errno == EINVAL || errno == ENOENT ? 0 : -1;
	target[length] = '\0';
	return 1;
}

/* Replaces path by where its last component points, until it is no link. */
static bool resolve(char path[PATH_MAX])
{
	char target[PATH_MAX], joined[2 * PATH_MAX];

	for (int i = 0; i < SAVE_MAX_LINKS; i++) {
		const char *slash = strrchr(path, '/');
		int folder_length = slash == NULL ? 0 : (int)(slash - path + 1);
		int is_link = follow_link(path, target);

		if (is_link <= 0)
			return is_link == 0;
		if (target[0] == '/')
			folder_length = 0;
		if (snprintf(joined, sizeof joined, "%.*s%s", folder_length, path, target) >=
		    PATH_MAX) {
			errno = ENAMETOOLONG;
			return false;
		}
		strcpy(path, joined);
	}
	errno = ELOOP;
	return false;
}

static bool place_open(struct place *place, const char *target)
{
	char path[PATH_MAX];
	char *slash;
	const char *folder = ".", *name = path;

	if (strlen(target) >= sizeof path) {
		errno = ENAMETOOLONG;
		return false;
	}
	strcpy(path, target);
	if (!resolve(path))
		return false;
	slash = strrchr(path, '/');
	if (slash != NULL) {
		name = slash + 1;
		folder = slash == path ? "/" : path;
		*slash = '\0';
	}
	if (*name == '\0' || strlen(name) > NAME_MAX) {
		errno = *name == '\0' ? (*target == '\0' ? ENOENT : EISDIR) : ENAMETOOLONG;
		return false;
	}
	strcpy(place->name, name);
	place->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return place->folder >= 0;
}

/* ---------------------------------------------------------- temporary files */

/* The names of temporary files for a target begin so. */
static int temporary_stem(char *stem, size_t size, const char *name)
{
	return snprintf(stem, size, ".%.*s" SAVE_SUFFIX, SAVE_MAX_STEM, name);
}

static bool temporary_name(char name[NAME_MAX + 1], const char *target)
{
	uint64_t number;
	int length = temporary_stem(name, NAME_MAX + 1, target);

	if (getrandom(&number, sizeof number, 0) != sizeof number)
		return false;
	snprintf(name + length, (size_t)(NAME_MAX + 1 - length), "%016llx",
		 (unsigned long long)number);
	return true;
}

/* Removes a left-over, unless somebody has it locked or it is not ours. */
static void clear_one(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0)
		unlinkat(folder, name, 0);
	close(fd);
}

static void clear_leftovers(const struct place *place)
{
	char stem[NAME_MAX + 1];
	int length = temporary_stem(stem, sizeof stem, place->name);
	int fd = openat(place->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (folder == NULL) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(folder)) != NULL) {
		const char *digits = entry->d_name + length;

		if (strncmp(entry->d_name, stem, (size_t)length) == 0 &&
		    strlen(digits) == SAVE_DIGITS &&
		    strspn(digits, "0123456789abcdef") == SAVE_DIGITS)
			clear_one(place->folder, entry->d_name);
	}
	closedir(folder);
}

/* Gives up a file that was just made: -1, with errno as it is. */
static int drop_temporary(const struct place *place, int fd, const char *name)
{
	int errnum = errno;

	unlinkat(place->folder, name, 0);
	close(fd);
	errno = errnum;
	return -1;
}

/* A file with a random name, locked; tried again where another writer took it
 * for a left-over before it could be locked. */
static int named_temporary(const struct place *place, mode_t mode, char name[NAME_MAX + 1])
{
	for (int i = 0; i < 100; i++) {
		struct stat st;
		int fd;

		if (!temporary_name(name, place->name))
			return -1;
		fd = openat(place->folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (fd < 0 && errno == EEXIST)
			continue;
		if (fd < 0)
			return -1;
		if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
			if (fstat(fd, &st) != 0)
				return drop_temporary(place, fd, name);
			if (st.st_nlink == 1)
				return fd;
		}
		close(fd);
	}
	errno = EEXIST;
	return -1;
}

/* A file without a name where that can be had (name becomes ""), else with one. */
static int make_temporary(const struct place *place, mode_t mode, char name[NAME_MAX + 1])
{
	int fd = openat(place->folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);

	name[0] = '\0';
	if (fd < 0)
		return named_temporary(place, mode, name);
	/* Nobody else can know it; on a file system without locks it goes unlocked. */
	(void)flock(fd, LOCK_EX | LOCK_NB);
	return fd;
}

/* Gives a file without a name the name `name`; EEXIST where there is one. */
static bool link_temporary(int fd, int folder, const char *name)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, path, folder, name, AT_SYMLINK_FOLLOW) == 0;
}

/* ------------------------------------------------------------------- saving */

struct sketch_save {
	struct place place;
	char temporary[NAME_MAX + 1]; /* "" while it has no name */
	int fd;
	bool direct;     /* the target is no regular file: written to as it is */
	bool had_old;    /* there is a file to be replaced, */
	struct stat old; /* whose mode and owner are kept */
};

static enum sketch_status save_free(struct sketch_save *save, enum sketch_status status)
{
	if (save->temporary[0] != '\0')
		unlinkat(save->place.folder, save->temporary, 0);
	if (save->fd >= 0)
		close(save->fd);
	if (save->place.folder >= 0)
		close(save->place.folder);
	free(save);
	return status;
}

/* The descriptor that a name such as /dev/stdout or /dev/fd/3 stands for, or -1.
 * Opening such a name again would lose the position and the append mode. */
static int named_descriptor(const char *target)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };

	if (strcmp(target, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		size_t length = strlen(folders[i]), digits;

		if (strncmp(target, folders[i], length) != 0)
			continue;
		digits = strspn(target + length, "0123456789");
		if (digits > 0 && digits < 9 && target[length + digits] == '\0')
			return atoi(target + length);
	}
	return -1;
}

/* Opens the target for writing in place, where it is a pipe, a device or one of
 * our own descriptors. True where that is so, with save->fd -1 on failure. */
static bool open_direct(struct sketch_save *save, const char *target)
{
	int own = named_descriptor(target);
	struct stat st;

	if (own >= 0) {
		save->fd = fcntl(own, F_DUPFD_CLOEXEC, 0);
		return true;
	}
	if (stat(target, &st) != 0 || S_ISREG(st.st_mode))
		return false;
	save->fd = open(target, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	return true;
}

static bool open_beside(struct sketch_save *save)
{
	struct place *place = &save->place;

	save->had_old = fstatat(place->folder, place->name, &save->old, AT_SYMLINK_NOFOLLOW) == 0;
	/* One that cannot be looked at would lose its mode and owner. */
	if (!save->had_old && errno != ENOENT)
		return false;
	/* Rename would replace a file that nobody may write to. */
	if (save->had_old && faccessat(place->folder, place->name, W_OK, AT_EACCESS) != 0)
		return false;
	clear_leftovers(place);
	save->fd = make_temporary(place, save->had_old ? 0600 : 0666, save->temporary);
	return save->fd >= 0;
}

static struct sketch_save *new_save(void)
{
	struct sketch_save *made = calloc(1, sizeof *made);

	if (made != NULL) {
		made->fd = -1;
		made->place.folder = -1;
	}
	return made;
}

enum sketch_status sketch_save_begin(struct sketch_save **save, const char *target, int *fd,
				     struct sketch_error *error)
{
	struct sketch_save *made = new_save();
	bool opened;

	if (made == NULL)
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	made->direct = open_direct(made, target);
	opened = made->direct ? made->fd >= 0 :
				place_open(&made->place, target) && open_beside(made);
	if (!opened)
		return save_free(made, error_io(error, errno, ""));
	*save = made;
	*fd = made->fd;
	return SKETCH_OK;
}

/* Owner first: changing it clears bits of the mode. That it may not be changed
 * is no failure; the mode then must not grant to our group what was meant for
 * another. */
static bool take_over_mode(const struct sketch_save *save)
{
	mode_t mode = save->old.st_mode & 07777;
	struct stat st;

	if (!save->had_old)
		return true;
	if (fstat(save->fd, &st) != 0)
		return false;
	if ((st.st_uid != save->old.st_uid || st.st_gid != save->old.st_gid) &&
	    fchown(save->fd, save->old.st_uid, save->old.st_gid) != 0 &&
	    fchown(save->fd, (uid_t)-1, save->old.st_gid) != 0)
		mode &= (mode_t) ~(S_ISUID | S_ISGID | S_IRWXG);
	return fchmod(save->fd, mode) == 0;
}

/* Puts the finished file in place of the target. */
static bool replace_target(struct sketch_save *save)
{
	struct place *place = &save->place;

	if (!take_over_mode(save) || fsync(save->fd) != 0)
		return false;
	for (int i = 0; save->temporary[0] == '\0'; i++) {
		char name[NAME_MAX + 1];

		if (!temporary_name(name, place->name))
			return false;
		if (link_temporary(save->fd, place->folder, name))
			strcpy(save->temporary, name);
		else if (errno != EEXIST || i == 100)
			return false;
	}
	if (renameat(place->folder, save->temporary, place->folder, place->name) != 0)
		return false;
	save->temporary[0] = '\0';
	/* Some file systems cannot sync a folder; then there is nothing to be done. */
	return fsync(place->folder) == 0 || errno == EINVAL || errno == EROFS;
}

enum sketch_status sketch_save_commit(struct sketch_save *save, struct sketch_error *error)
{
	enum sketch_status status = SKETCH_OK;

	if (save->direct) {
		int fd = save->fd;

		save->fd = -1;
		if (close(fd) != 0)
			status = error_io(error, errno, "");
	} else if (!replace_target(save)) {
		status = error_io(error, errno, "");
	}
	return save_free(save, status);
}

void sketch_save_abort(struct sketch_save *save)
{
	if (save != NULL)
		(void)save_free(save, SKETCH_OK);
}

/* ----------------------------------------------------------------- claiming */

struct sketch_claim {
	struct place place;
	int fd;
	bool made; /* the empty file is ours */
};

static enum sketch_status lock(int fd, bool wait, struct sketch_error *error)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return SKETCH_OK;
	if (errno != EWOULDBLOCK)
		return error_io(error, errno, "cannot lock it");
	if (!wait)
		return error_set(error, SKETCH_BUSY, "in use by another process");
	if (flock(fd, LOCK_EX) == 0)
		return SKETCH_OK;
	if (errno == EINTR)
		return error_set(error, SKETCH_INTERRUPTED, "interrupted while waiting for it");
	return error_io(error, errno, "cannot lock it");
}

/* Whether the name still stands for the file behind the descriptor: 1, 0, or -1 where
 * that cannot be found out. */
static int still_named(const struct place *place, int fd)
{
	struct stat ours, named;

	if (fstat(fd, &ours) != 0)
		return -1;
	if (fstatat(place->folder, place->name, &named, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? 0 : -1;
	return named.st_dev == ours.st_dev && named.st_ino == ours.st_ino;
}

/* Gives a temporary file the name, unless there is one of that name (EEXIST). */
static bool name_temporary(const struct place *place, int fd, const char *temporary)
{
	if (temporary[0] == '\0')
		return link_temporary(fd, place->folder, place->name);
	if (renameat2(place->folder, temporary, place->folder, place->name, RENAME_NOREPLACE) == 0)
		return true;
	/* Not every file system knows that flag; hard links do the same. */
	if (errno != EINVAL || linkat(place->folder, temporary, place->folder, place->name, 0) != 0)
		return false;
	unlinkat(place->folder, temporary, 0);
	return true;
}

/* Puts an empty file in place that was locked before it got its name: SKETCH_OK with
 * claim->fd -1 where another process was faster. */
static enum sketch_status claim_absent(struct sketch_claim *claim, struct sketch_error *error)
{
	const struct place *place = &claim->place;
	char temporary[NAME_MAX + 1];
	int fd = make_temporary(place, 0666, temporary);
	enum sketch_status status;

	if (fd < 0)
		return error_io(error, errno, "");
	/* Again, for the error: a temporary file may go unlocked, a claim may not. */
	status = lock(fd, false, error);
	if (status == SKETCH_OK && name_temporary(place, fd, temporary)) {
		claim->fd = fd;
		claim->made = true;
		return SKETCH_OK;
	}
	if (status == SKETCH_OK && errno != EEXIST)
		status = error_io(error, errno, "");
	if (temporary[0] != '\0')
		unlinkat(place->folder, temporary, 0);
	close(fd);
	return status;
}

/* Opens and locks what the name stands for: SKETCH_OK with claim->fd -1 where it
 * has come to stand for something else meanwhile. */
static enum sketch_status claim_present(struct sketch_claim *claim, bool wait,
					struct sketch_error *error)
{
	const struct place *place = &claim->place;
	int fd = openat(place->folder, place->name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	enum sketch_status status = SKETCH_OK;
	struct stat st;
	int named = 0;

	if (fd < 0)
		return errno == ENOENT ? SKETCH_OK : error_io(error, errno, "");
	if (fstat(fd, &st) != 0)
		status = error_io(error, errno, "");
	else if (!S_ISREG(st.st_mode))
		status = error_set(error, SKETCH_RANGE, "not a regular file");
	else
		status = lock(fd, wait, error);
	if (status == SKETCH_OK)
		named = still_named(place, fd);
	if (named < 0)
		status = error_io(error, errno, "");
	if (named > 0)
		claim->fd = fd;
	else
		close(fd);
	return status;
}

enum sketch_status sketch_claim(struct sketch_claim **claim, const char *path, bool wait,
				struct sketch_error *error)
{
	struct sketch_claim *made = calloc(1, sizeof *made);
	enum sketch_status status = SKETCH_OK;

	if (made == NULL)
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	made->fd = -1;
	made->place.folder = -1;
	if (!place_open(&made->place, path))
		status = error_io(error, errno, "");
	while (status == SKETCH_OK && made->fd < 0) {
		status = claim_present(made, wait, error);
		if (status == SKETCH_OK && made->fd < 0 &&
		    faccessat(made->place.folder, made->place.name, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
			status = claim_absent(made, error);
	}
	if (status != SKETCH_OK) {
		sketch_claim_release(made);
		return status;
	}
	*claim = made;
	return SKETCH_OK;
}

int sketch_claim_fd(const struct sketch_claim *claim)
{
	return claim->fd;
}

bool sketch_claim_is_empty(const struct sketch_claim *claim)
{
	struct stat st;

	return fstat(claim->fd, &st) == 0 && st.st_size == 0;
}

enum sketch_status sketch_claim_begin(struct sketch_claim *claim, struct sketch_save **save,
				      int *fd, struct sketch_error *error)
{
	struct sketch_save *made = new_save();

	if (made == NULL)
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	made->place = claim->place;
	made->place.folder = fcntl(claim->place.folder, F_DUPFD_CLOEXEC, 0);
	if (made->place.folder < 0 || !open_beside(made))
		return save_free(made, error_io(error, errno, ""));
	*save = made;
	*fd = made->fd;
	return SKETCH_OK;
}

enum sketch_status sketch_claim_commit(struct sketch_claim *claim, struct sketch_save *save,
				       struct sketch_error *error)
{
	enum sketch_status status = SKETCH_OK;

	if (!replace_target(save)) {
		status = error_io(error, errno, "");
	} else {
		/* The new file was locked before it got the name. */
		close(claim->fd);
		claim->fd = save->fd;
		claim->made = false;
		save->fd = -1;
		(void)lseek(claim->fd, 0, SEEK_SET);
	}
	return save_free(save, status);
}

void sketch_claim_release(struct sketch_claim *claim)
{
	if (claim == NULL)
		return;
	/* Whoever replaced it without a claim is not to lose his file. */
	if (claim->made && sketch_claim_is_empty(claim) &&
	    still_named(&claim->place, claim->fd) == 1)
		unlinkat(claim->place.folder, claim->place.name, 0);
	/* A child that was forked meanwhile has the descriptor, too. */
	if (claim->fd >= 0) {
		(void)flock(claim->fd, LOCK_UN);
		close(claim->fd);
	}
	if (claim->place.folder >= 0)
		close(claim->place.folder);
	free(claim);
}
