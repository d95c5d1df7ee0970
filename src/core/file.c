/* file.c - whole sketch files into memory and out of it
 *
 * A file is taken as one stretch of memory, the image: mapped where it is a
 * regular file that is only read, else read.  Nothing is allocated by what a
 * header claims before the claim was compared with the bytes that are there;
 * from a pipe the image grows as they arrive. */
#include "file.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dcso.h"
#include "endian.h"
#include "error.h"

/* ------------------------------------------------------------------ reading */

/* Whether a call that failed is to be made again: at once after a signal, or once a
 * descriptor that does not block is ready. */
static bool try_again(int fd, short events)
{
	struct pollfd wanted = { fd, events, 0 };

	if (errno == EINTR)
		return true;
	if (errno != EAGAIN && errno != EWOULDBLOCK)
		return false;
	return poll(&wanted, 1, -1) > 0 || errno == EINTR;
}

/* Reads until the buffer is full or the input ends. */
static enum sketch_status read_fully(int fd, uint8_t *buffer, size_t length, size_t *done,
				     struct sketch_error *error)
{
	while (*done < length) {
		size_t want = length - *done, most = (size_t)1 << 30;
		ssize_t got = read(fd, buffer + *done, want < most ? want : most);

		if (got == 0)
			return SKETCH_OK;
		if (got < 0 && !try_again(fd, POLLIN))
			return error_io(error, errno, "");
		if (got > 0)
			*done += (size_t)got;
	}
	return SKETCH_OK;
}

static enum sketch_status compare_length(uint64_t present, uint64_t declared,
					 struct sketch_error *error)
{
	if (present < declared)
		return error_set(error, SKETCH_TRUNCATED,
				 "truncated: %" PRIu64 " of %" PRIu64 " bytes", present, declared);
	if (present > declared)
		return error_set(error, SKETCH_LENGTHENED,
				 "damaged: %" PRIu64 " bytes follow the %" PRIu64
				 " that belong to it",
				 present - declared, declared);
	return SKETCH_OK;
}

/* Reads what follows the `done` bytes already in the region, up to the length that
 * the header says. */
static enum sketch_status slurp(int fd, struct region *region, size_t done, uint64_t declared,
				struct sketch_error *error)
{
	while (done < declared) {
		enum sketch_status status;
		size_t before = done;

		if (done == region->length) {
			uint64_t twice = 2 * (uint64_t)done;

			if (!region_grow(region, (size_t)(twice < declared ? twice : declared)))
				return error_set(error, SKETCH_NO_MEMORY, "out of memory");
		}
		status = read_fully(fd, region->data, region->length, &done, error);
		if (status != SKETCH_OK)
			return status;
		if (done == before)
			return compare_length(done, declared, error);
	}
	return SKETCH_OK;
}

/* The input must end where the header says. */
static enum sketch_status expect_end(int fd, uint64_t declared, struct sketch_error *error)
{
	size_t excess = 0;
	uint8_t extra;
	enum sketch_status status = read_fully(fd, &extra, 1, &excess, error);

	if (status == SKETCH_OK && excess > 0)
		return error_set(error, SKETCH_LENGTHENED,
				 "damaged: more bytes follow the %" PRIu64 " that belong to it",
				 declared);
	return status;
}

/* Puts the whole file, of which `got` bytes were read already, into memory: at once
 * where its size is known to be what the header says, else as it arrives. */
static enum sketch_status load(struct region *region, int fd, const uint8_t *start, size_t got,
			       uint64_t declared, bool known, uint64_t budget,
			       struct sketch_error *error)
{
	size_t first = (size_t)1 << 20, done = got < declared ? got : (size_t)declared;

	if (declared > budget)
		return error_budget(error, declared, budget);
	if (known || declared < first)
		first = (size_t)declared;
	if (!region_new(region, first))
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	memcpy(region->data, start, done);
	return slurp(fd, region, done, declared, error);
}

/* The same of a sketch file of ours. */
static enum sketch_status load_sketch(struct sketch_file *file, int fd, const uint8_t *start,
				      bool known, struct sketch_error *error)
{
	uint64_t declared = file->header.length;
	enum sketch_status status;

	if (declared < FORMAT_HEADER_BYTES)
		return compare_length(FORMAT_HEADER_BYTES, declared, error);
	status = load(&file->bytes, fd, start, FORMAT_HEADER_BYTES, declared, known, file->budget,
		      error);
	return status == SKETCH_OK ? expect_end(fd, declared, error) : status;
}

static enum sketch_status file_decode_table(struct sketch_file *file, struct sketch_error *error)
{
	file->sections = malloc(file->header.sections * sizeof *file->sections);
	if (file->sections == NULL)
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	return format_decode_table(file->bytes.data, &file->header, file->sections, error);
}

/* Reads on to the end of the input; *length becomes that of the whole. */
static enum sketch_status drain(int fd, uint64_t *length, struct sketch_error *error)
{
	uint8_t rest[4096];
	enum sketch_status status;
	size_t got;

	do {
		got = 0;
		status = read_fully(fd, rest, sizeof rest, &got, error);
		*length += got;
	} while (status == SKETCH_OK && got > 0);
	return status;
}

/* Reads or maps a file of DCSO, which says how long its filter is, but not what follows
 * it: that is left where it is. */
static enum sketch_status fetch_dcso(struct sketch_file *file, int fd, const struct stat *st,
				     const uint8_t *start, size_t got,
				     struct sketch_file_info *info, struct sketch_error *error)
{
	struct sketch_dcso_params params;
	uint64_t needed;
	enum sketch_status status = dcso_decode_header(start, got, &params, &needed, error);

	if (status != SKETCH_OK)
		return status;
	file->header = (struct format_header){ .kind = SKETCH_KIND_DCSO, .version = 1 };
	file->header.length = S_ISREG(st->st_mode) ? (uint64_t)st->st_size : needed;
	if (info != NULL)
		*info = (struct sketch_file_info){ 1, SKETCH_KIND_DCSO, file->header.length };
	if (file->header.length < needed)
		return compare_length(file->header.length, needed, error);
	if (S_ISREG(st->st_mode)) {
		file->mapped = true;
		if (needed > SIZE_MAX || !region_map(&file->bytes, fd, (size_t)needed))
			return error_io(error, errno, "cannot map it");
		return SKETCH_OK;
	}
	status = load(&file->bytes, fd, start, got, needed, false, file->budget, error);
	if (status == SKETCH_OK && got > needed)
		file->header.length = got;
	return status == SKETCH_OK ? drain(fd, &file->header.length, error) : status;
}

static enum sketch_status fetch(struct sketch_file *file, int fd, struct sketch_file_info *info,
				struct sketch_error *error)
{
	const struct format_header *header = &file->header;
	uint8_t start[FORMAT_HEADER_BYTES];
	enum sketch_status status;
	struct stat st;
	size_t got = 0;

	if (fstat(fd, &st) != 0)
		return error_io(error, errno, "");
	status = read_fully(fd, start, sizeof start, &got, error);
	if (status == SKETCH_OK && dcso_is(start, got))
		return fetch_dcso(file, fd, &st, start, got, info, error);
	if (status == SKETCH_OK)
		status = format_decode_header(start, got, &file->header, info, error);
	if (status != SKETCH_OK)
		return status;
	if (!S_ISREG(st.st_mode))
		return load_sketch(file, fd, start, false, error);
	status = compare_length((uint64_t)st.st_size, header->length, error);
	if (status != SKETCH_OK)
		return status;
	if (file->access == SKETCH_WRITABLE)
		return load_sketch(file, fd, start, true, error);
	file->mapped = true;
	if (header->length > SIZE_MAX || !region_map(&file->bytes, fd, (size_t)header->length))
		return error_io(error, errno, "cannot map it");
	return SKETCH_OK;
}

enum sketch_status sketch_file_read(struct sketch_file **file, int fd, enum sketch_access access,
				    uint64_t budget, struct sketch_file_info *info,
				    struct sketch_error *error)
{
	struct sketch_file *made = calloc(1, sizeof *made);
	enum sketch_status status;

	if (made == NULL)
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	made->access = access;
	made->budget = region_budget(budget);
	status = fetch(made, fd, info, error);
	if (status == SKETCH_OK && made->header.kind != SKETCH_KIND_DCSO)
		status = file_decode_table(made, error);
	if (status != SKETCH_OK) {
		sketch_file_free(made);
		return status;
	}
	*file = made;
	return SKETCH_OK;
}

uint32_t sketch_file_kind(const struct sketch_file *file)
{
	return file->header.kind;
}

void sketch_file_free(struct sketch_file *file)
{
	if (file == NULL)
		return;
	region_free(&file->bytes);
	free(file->sections);
	free(file);
}

enum sketch_status file_expect_kind(const struct sketch_file *file, enum sketch_kind kind,
				    struct sketch_error *error)
{
	if (file->header.kind == (uint32_t)kind)
		return SKETCH_OK;
	if (file->header.kind == SKETCH_KIND_DCSO)
		return error_set(error, SKETCH_UNSUPPORTED,
				 "is a Bloom filter of DCSO's: it can be asked (bloom-query, "
				 "sketch-info, fpr-calc --file), not joined or added to");
	return error_set(error, SKETCH_UNSUPPORTED, "holds a %s, not a %s",
			 sketch_kind_name(file->header.kind), sketch_kind_name((uint32_t)kind));
}

/* ------------------------------------------------------------------ writing */

enum sketch_status file_write(int fd, const uint8_t *bytes, uint64_t length,
			      struct sketch_error *error)
{
	while (length > 0) {
		size_t most = (size_t)1 << 30;
		ssize_t put = write(fd, bytes, length < most ? (size_t)length : most);

		if (put < 0 && !try_again(fd, POLLOUT))
			return error_io(error, errno, "");
		if (put > 0) {
			bytes += put;
			length -= (uint64_t)put;
		}
	}
	return SKETCH_OK;
}

/* ------------------------------------------------------------------- chunks */

static size_t chunk_at(uint64_t at, uint64_t length)
{
	return length - at < FORMAT_CHUNK_BYTES ? (size_t)(length - at) : FORMAT_CHUNK_BYTES;
}

void file_sum_chunks(const uint8_t *bytes, uint64_t length, uint8_t *sums)
{
	for (uint64_t at = 0; at < length; at += FORMAT_CHUNK_BYTES, sums += 4)
		store_u32(sums, sketch_crc32c(0, bytes + at, chunk_at(at, length)));
}

bool file_check_chunks(const uint8_t *bytes, uint64_t length, const uint8_t *sums)
{
	for (uint64_t at = 0; at < length; at += FORMAT_CHUNK_BYTES, sums += 4) {
		if (sketch_crc32c(0, bytes + at, chunk_at(at, length)) != load_u32(sums))
			return false;
	}
	return true;
}

bool chunks_begin(struct chunks *chunks, const uint8_t *bytes, uint64_t length, const uint8_t *sums)
{
	uint64_t count = format_chunks(length);

	*chunks = (struct chunks){ bytes, sums, length,
				   calloc((size_t)(count / 64 + 1), sizeof *chunks->verified),
				   count };
	return chunks->verified != NULL;
}

void chunks_end(struct chunks *chunks)
{
	free(chunks->verified);
	chunks->verified = NULL;
	chunks->unverified = 0;
}

bool chunks_verify(struct chunks *chunks, uint64_t chunk)
{
	uint64_t begin = chunk * FORMAT_CHUNK_BYTES, bit = UINT64_C(1) << chunk % 64;

	if (chunks->unverified == 0 || chunks->verified[chunk / 64] & bit)
		return true;
	if (sketch_crc32c(0, chunks->bytes + begin, chunk_at(begin, chunks->length)) !=
	    load_u32(chunks->sums + 4 * chunk))
		return false;
	chunks->verified[chunk / 64] |= bit;
	chunks->unverified--;
	return true;
}
