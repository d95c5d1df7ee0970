#include "open.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dcso.h"
#include "foreign.h"
#include "format.h"
#include "message.h"
#include "system.h"

static bool is_same(const struct stat *one, const struct stat *other)
{
	return S_ISREG(one->st_mode) && one->st_dev == other->st_dev &&
	       one->st_ino == other->st_ino;
}

static bool is_standard_input(const char *name)
{
	return strcmp(name, "-") == 0;
}

bool open_stat(const char *name, struct stat *st)
{
	return is_standard_input(name) ? fstat(STDIN_FILENO, st) == 0 : stat(name, st) == 0;
}

bool open_same_file(const char *name, const char *other)
{
	struct stat one, two;

	return (is_standard_input(name) && is_standard_input(other)) ||
	       (open_stat(name, &one) && open_stat(other, &two) && is_same(&one, &two));
}

bool open_is_sketch(const char *name)
{
	uint8_t begin[DCSO_HEADER_BYTES];
	struct stat st;
	bool is = false;
	int fd;

	/* A pipe that is opened and closed again would end what writes to it. */
	if (stat(name, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	fd = open(name, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (pread(fd, begin, sizeof begin, 0) == (ssize_t)sizeof begin)
		is = format_begins(begin, sizeof begin) || dcso_is(begin, sizeof begin);
	close(fd);
	return is;
}

bool open_is_of(int fd, const char *name)
{
	struct stat ours, named;

	return fstat(fd, &ours) == 0 && stat(name, &named) == 0 && is_same(&ours, &named);
}

bool open_is_stdout(int fd)
{
	struct stat ours, out;

	return fstat(fd, &ours) == 0 && fstat(STDOUT_FILENO, &out) == 0 && is_same(&ours, &out);
}

static const char was_sketch[] = "was the sketch, and cannot be read for anything else";
static const char was_key[] = "was the key, and cannot be read for anything else";
static const char *stdin_was; /* one of them, or NULL */

/* "/dev/stdin" opens a file anew, but of a pipe there is one only. */
static bool is_stdin(int fd)
{
	struct stat ours, in;

	return fd == STDIN_FILENO ||
	       (fstat(fd, &ours) == 0 && S_ISFIFO(ours.st_mode) && fstat(STDIN_FILENO, &in) == 0 &&
		ours.st_dev == in.st_dev && ours.st_ino == in.st_ino);
}

const char *open_spent(int fd)
{
	return stdin_was != NULL && is_stdin(fd) ? stdin_was : NULL;
}

void open_note_key(int fd)
{
	struct stat ours, in;

	if (is_stdin(fd) ||
	    (fstat(fd, &ours) == 0 && fstat(STDIN_FILENO, &in) == 0 && is_same(&ours, &in)))
		stdin_was = was_key;
}

static bool refuse_spent(const char *name, int fd)
{
	const char *why = open_spent(fd);

	if (why == was_sketch)
		message("standard input: named twice, and can be read but once");
	else if (why != NULL)
		message("%s: %s", message_input_name(name), why);
	return why != NULL;
}

struct sketch_file *open_sketch(const char *name, enum sketch_access access)
{
	bool standard = is_standard_input(name);
	int fd = standard ? STDIN_FILENO : open(name, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	struct sketch_file *file = NULL;
	struct sketch_error error;
	bool good;

	if (fd < 0) {
		message_errno(name, errno);
		return NULL;
	}
	good = !refuse_spent(name, fd);
	if (good && open_is_stdout(fd)) {
		message("%s: is the output, too", message_input_name(name));
		good = false;
	}
	if (good && sketch_file_read(&file, fd, access, system_memory(), NULL, &error) != SKETCH_OK)
		message_file(message_input_name(name), &error);
	if (stdin_was == NULL && is_stdin(fd))
		stdin_was = was_sketch;
	if (!standard)
		close(fd);
	return file;
}

void open_refused(const char *name, uint32_t kind, bool fits, const struct sketch_error *error)
{
	/* Of DCSO's the error says so itself. */
	if (fits || kind == SKETCH_KIND_DCSO || error->status != SKETCH_UNSUPPORTED)
		message_file(message_input_name(name), error);
	else
		message("%s: %s: %s", message_input_name(name), error->text, foreign_asker(kind));
}

bool open_target(struct sketch_save **save, const char *name, int *fd)
{
	struct sketch_error error;

	if (sketch_save_begin(save, name, fd, &error) != SKETCH_OK) {
		message_file(name, &error);
		return false;
	}
	if (!isatty(*fd))
		return true;
	message("%s: is a terminal, and a sketch is binary", name);
	sketch_save_abort(*save);
	*save = NULL;
	return false;
}

bool open_target_write(struct sketch_save **save, const char *name, int fd, open_writer *writer,
		       void *sketch)
{
	bool standard = *save == NULL;
	struct sketch_error error;
	enum sketch_status status = writer(sketch, standard ? STDOUT_FILENO : fd, &error);

	if (status == SKETCH_OK && !standard) {
		status = sketch_save_commit(*save, &error);
		*save = NULL;
	}
	if (status != SKETCH_OK && error.errnum != EPIPE)
		message_file(standard ? "standard output" : name, &error);
	return status == SKETCH_OK;
}
