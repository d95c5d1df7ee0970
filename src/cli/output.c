#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "message.h"
#include "system.h"

#define PIPE_SIZE (1 << 20)

/* With 64 KiB, the usual size, reader and writer wake each other sixteen times as
 * often.  A refusal (the user's share of pipe memory is spent) costs only speed. */
static void enlarge_pipe(int fd)
{
#ifdef F_SETPIPE_SZ
	struct stat status;

	if (fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode)) {
		int size = fcntl(fd, F_GETPIPE_SZ);

		if (size >= 0 && size < PIPE_SIZE)
			(void)fcntl(fd, F_SETPIPE_SZ, PIPE_SIZE);
	}
#else
	(void)fd;
#endif
}

static struct output *make(int fd, const char *name)
{
	struct output *output = malloc(sizeof *output);
	long page = sysconf(_SC_PAGESIZE);
	void *buffer = NULL;

	if (output == NULL ||
	    posix_memalign(&buffer, page > 0 ? (size_t)page : 4096, OUTPUT_BUFFER) != 0) {
		message_errno(name, ENOMEM);
		free(output);
		return NULL;
	}
	*output = (struct output){ buffer, 0, OUTPUT_BUFFER, name, fd };
	return output;
}

struct output *output_open(int fd, const char *name)
{
	struct output *output = make(fd, name);

	if (output != NULL)
		enlarge_pipe(fd);
	return output;
}

struct output *output_open_memory(void)
{
	return make(-1, "standard output");
}

static bool fail(struct output *output, int errnum)
{
	output->used = 0;
	output->limit = 0;
	if (errnum != EPIPE)
		message_errno(output->name, errnum);
	return false;
}

/* Whether it is worth trying again after a write failed with this errno. */
static bool may_retry(int fd, int errnum)
{
	if (errnum == EAGAIN) {
		struct pollfd ready = { .fd = fd, .events = POLLOUT };

		return poll(&ready, 1, -1) >= 0 || errno == EINTR;
	}
	return errnum == EINTR;
}

/* Writes the buffer, then the piece, together where the kernel takes them so. */
static bool write_out(struct output *output, const void *piece, size_t length)
{
	struct iovec parts[2] = { { output->buffer, output->used }, { NULL, length } };
	int first = output->used == 0;

	/* writev(2) only reads what the cast lets it write. */
	memcpy(&parts[1].iov_base, &piece, sizeof piece);
	output->used = 0;
	while (parts[0].iov_len + parts[1].iov_len > 0) {
		ssize_t result = writev(output->fd, parts + first, length > 0 ? 2 - first : 1);
		size_t taken = result > 0 ? (size_t)result : 0;

		if (result == 0 || (result < 0 && !may_retry(output->fd, errno)))
			return fail(output, result == 0 ? EIO : errno);
		for (int i = first; i < 2 && taken > 0; i++) {
			size_t part = taken < parts[i].iov_len ? taken : parts[i].iov_len;

			parts[i].iov_base = (uint8_t *)parts[i].iov_base + part;
			parts[i].iov_len -= part;
			taken -= part;
		}
		first = parts[0].iov_len == 0;
	}
	return true;
}

/* Appends to memory, which is made larger where there is no room. */
static bool append(struct output *output, const void *data, size_t length)
{
	if (output->limit - output->used < length) {
		size_t size = 2 * (output->used + length);
		uint8_t *grown = realloc(output->buffer, size);

		if (grown == NULL)
			return fail(output, ENOMEM);
		output->buffer = grown;
		output->limit = size;
	}
	if (length > 0)
		memcpy(output->buffer + output->used, data, length);
	output->used += length;
	return true;
}

bool output_take(struct output *output, struct output *memory)
{
	bool good = !output_failed(memory) && output_write(output, memory->buffer, memory->used) &&
		    output_flush(output);

	memory->used = 0;
	return good;
}

bool output_write_slowly(struct output *output, const void *data, size_t length)
{
	size_t room = output->limit - output->used;

	if (output_failed(output))
		return false;
	if (output->fd < 0)
		return append(output, data, length);
	if (length >= OUTPUT_DIRECT)
		return write_out(output, data, length);
	if (length <= room) /* nothing, since all else that fits came by the fast way */
		return true;
	/* Filled to the brim, so that a file is written in whole, aligned pages. */
	memcpy(output->buffer + output->used, data, room);
	output->used += room;
	if (!output_flush(output))
		return false;
	memcpy(output->buffer, (const uint8_t *)data + room, length - room);
	output->used = length - room;
	return true;
}

bool output_flush(struct output *output)
{
	return !output_failed(output) && (output->used == 0 || write_out(output, NULL, 0));
}

/* A text longer than what is left of the buffer. */
static bool write_long_text(struct output *output, const char *format, va_list arguments,
			    size_t length)
{
	char *text = malloc(length + 1);
	bool written;

	if (text == NULL)
		return fail(output, ENOMEM);
	vsnprintf(text, length + 1, format, arguments);
	written = output_write(output, text, length);
	free(text);
	return written;
}

bool output_text(struct output *output, const char *format, ...)
{
	size_t room = output->limit - output->used;
	va_list arguments, again;
	int length;
	bool written = true;

	if (output_failed(output))
		return false;
	va_start(arguments, format);
	va_copy(again, arguments);
	length = vsnprintf((char *)output->buffer + output->used, room, format, arguments);
	if (length < 0)
		written = fail(output, errno);
	else if ((size_t)length < room)
		output->used += (size_t)length;
	else
		written = write_long_text(output, format, again, (size_t)length);
	va_end(again);
	va_end(arguments);
	return written;
}

bool output_close(struct output *output)
{
	bool written = output->fd < 0 ? !output_failed(output) : output_flush(output);

	/* After EINTR the descriptor is gone on Linux and nothing was lost: the data
	 * went out with write. */
	if (output->fd >= 0 && close(output->fd) != 0 && errno != EINTR && written)
		written = fail(output, errno);
	if (output->fd >= 0 && output->fd <= STDERR_FILENO)
		system_begin();
	free(output->buffer);
	free(output);
	return written;
}
