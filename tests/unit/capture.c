#include "capture.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "message.h"

struct call {
	int (*body)(void *context);
	void *context;
	int out, err;
};

static int call(void *context)
{
	const struct call *this = context;

	if (dup2(this->out, STDOUT_FILENO) < 0 || dup2(this->err, STDERR_FILENO) < 0)
		return 100;
	message_begin("tool");
	return this->body(this->context);
}

static size_t collect(int fd, char *text, size_t size)
{
	struct bytes bytes = bytes_end(fd);
	size_t length = bytes.length;

	assert_true(length < size);
	if (length > 0)
		memcpy(text, bytes.data, length);
	text[length] = '\0';
	bytes_free(&bytes);
	return length;
}

void capture_run(struct capture *capture, int (*body)(void *context), void *context)
{
	struct call this = { body, context, memfd_create("out", MFD_CLOEXEC),
			     memfd_create("err", MFD_CLOEXEC) };

	assert_true(this.out >= 0 && this.err >= 0);
	capture->status = child_run(call, &this);
	capture->out_length = collect(this.out, capture->out, sizeof capture->out);
	capture->err_length = collect(this.err, capture->err, sizeof capture->err);
}

int terminal_open(unsigned short columns, int *tool)
{
	struct winsize size = { .ws_row = 25, .ws_col = columns };
	int reader = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (reader < 0)
		skip(); /* a chroot may have no terminals */
	assert_int_equal(grantpt(reader), 0);
	assert_int_equal(unlockpt(reader), 0);
	*tool = open(ptsname(reader), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(*tool >= 0);
	assert_int_equal(ioctl(reader, TIOCSWINSZ, &size), 0);
	return reader;
}
