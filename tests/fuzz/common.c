#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

static int loud = -1; /* standard error while it is hushed */

void fuzz_hush(bool hushed)
{
	int quiet;

	if (getenv("FUZZ_MESSAGES") != NULL || hushed == (loud >= 0))
		return;
	if (!hushed) {
		dup2(loud, STDERR_FILENO);
		close(loud);
		loud = -1;
		return;
	}
	loud = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
	quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);
	dup2(quiet, STDERR_FILENO);
	close(quiet);
}

void fuzz_fail(const char *file, int line, const char *condition, const char *format, ...)
{
	va_list arguments;

	fuzz_hush(false);
	fprintf(stderr, "%s:%d: not so: %s: ", file, line, condition);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	abort();
}

/* ------------------------------------------------------------------ decisions */

uint8_t fuzz_byte(struct fuzz_bytes *bytes)
{
	return bytes->at < bytes->end ? *bytes->at++ : 0;
}

uint32_t fuzz_u32(struct fuzz_bytes *bytes)
{
	uint32_t value = 0;

	for (int i = 0; i < 4; i++)
		value = value << 8 | fuzz_byte(bytes);
	return value;
}

uint64_t fuzz_u64(struct fuzz_bytes *bytes)
{
	uint64_t high = fuzz_u32(bytes);

	return high << 32 | fuzz_u32(bytes);
}

uint64_t fuzz_below(struct fuzz_bytes *bytes, uint64_t bound)
{
	uint64_t value = 0;

	for (uint64_t left = bound - 1; left > 0; left >>= 8)
		value = value << 8 | fuzz_byte(bytes);
	return value % bound;
}

uint64_t fuzz_dice(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* ---------------------------------------------------------------------- files */

int fuzz_file(const void *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	size_t done = 0;

	if (fd < 0) {
		perror("memfd_create");
		exit(2);
	}
	while (done < size) {
		ssize_t put = pwrite(fd, (const char *)data + done, size - done, (off_t)done);

		if (put <= 0) {
			perror("memfd");
			exit(2);
		}
		done += (size_t)put;
	}
	return fd;
}

uint8_t *fuzz_content(int fd, size_t *size)
{
	struct stat st;
	uint8_t *data;
	size_t done = 0;

	if (fstat(fd, &st) != 0 || (data = malloc((size_t)st.st_size + 1)) == NULL) {
		perror("fuzz_content");
		exit(2);
	}
	while (done < (size_t)st.st_size) {
		ssize_t got = pread(fd, data + done, (size_t)st.st_size - done, (off_t)done);

		if (got <= 0) {
			perror("fuzz_content");
			exit(2);
		}
		done += (size_t)got;
	}
	*size = done;
	return data;
}

static void hand_out(const char *path, size_t most, fuzz_sink *sink, void *context)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = malloc(most + 1);
	size_t size = file == NULL || data == NULL ? most + 1 : fread(data, 1, most + 1, file);

	if (size <= most)
		sink(context, data, size);
	free(data);
	if (file != NULL)
		fclose(file);
}

static bool ends_so(const char *name, const char *ending)
{
	size_t length = strlen(name), tail = ending == NULL ? 0 : strlen(ending);

	return name[0] != '.' && length >= tail &&
	       (tail == 0 || strcmp(name + length - tail, ending) == 0);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In the order of their names, so that every machine does the same. */
void fuzz_folder(const char *folder, const char *ending, size_t most, fuzz_sink *sink,
		 void *context)
{
	const char *top = getenv("TOP");
	char path[2048], *names[4096];
	struct dirent *entry;
	size_t count = 0;
	DIR *listing;

	snprintf(path, sizeof path, "%s/%s", top == NULL ? "." : top, folder);
	listing = opendir(path);
	if (listing == NULL)
		return;
	while ((entry = readdir(listing)) != NULL && count < 4096) {
		if (ends_so(entry->d_name, ending))
			names[count++] = strdup(entry->d_name);
	}
	closedir(listing);
	qsort(names, count, sizeof *names, by_name);
	for (size_t i = 0; i < count; i++) {
		snprintf(path, sizeof path, "%s/%s/%s", top == NULL ? "." : top, folder, names[i]);
		hand_out(path, most, sink, context);
		free(names[i]);
	}
}

void fuzz_text(const char *text, fuzz_sink *sink, void *context)
{
	sink(context, text, strlen(text));
}
