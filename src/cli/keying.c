#include "keying.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"
#include "open.h"

/* ------------------------------------------------------------------- options */

enum { OPTION_KEY_FILE = 360 };

static const struct option_spec keying_specs[] = {
	{ OPTION_KEY_FILE, "key-file", "FILE",
	  "hash under the secret key in FILE (see sketch(7))" },
};

static bool take_option(void *context, int letter, const char *value)
{
	struct keying *keying = context;

	(void)letter;
	keying->path = value;
	return true;
}

struct option_group keying_option_group(struct keying *keying)
{
	return (struct option_group){ "", keying_specs, sizeof keying_specs / sizeof *keying_specs,
				      take_option, keying };
}

bool keying_check(const struct keying *keying, bool has_seed)
{
	if (keying->path == NULL || !has_seed)
		return true;
	option_complain("--seed and --key-file exclude each other: a keyed hash has no seed");
	return false;
}

/* ------------------------------------------------------------------- reading */

#define DIGITS (2 * SKETCH_SECRET_BYTES)

static int digit_value(char digit)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *at = digit == '\0' ? NULL : strchr(digits, digit);

	return at == NULL ? -1 : (int)((at - digits) % 16);
}

/* Digits and perhaps a newline, nothing else. */
static bool parse(const char *text, size_t length, struct sketch_secret *secret)
{
	if (length != DIGITS && (length != DIGITS + 1 || text[DIGITS] != '\n'))
		return false;
	for (size_t i = 0; i < DIGITS; i++) {
		int value = digit_value(text[i]);

		if (value < 0)
			return false;
		secret->bytes[i / 2] =
			(uint8_t)((i % 2 == 0 ? 0 : secret->bytes[i / 2] * 16) + value);
	}
	return true;
}

/* What others can read is no secret, and what others can write is theirs. */
static bool check_file(const char *name, int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0) {
		message_errno(name, errno);
		return false;
	}
	if (!S_ISREG(st.st_mode))
		return true;
	if (st.st_uid != geteuid() && st.st_uid != 0) {
		message("%s: belongs to another user, who could choose the key", name);
		return false;
	}
	if ((st.st_mode & 077) == 0)
		return true;
	message("%s: others may read or write it (mode %03o): chmod 600 it, or make another key",
		name, (unsigned int)(st.st_mode & 0777));
	return false;
}

/* At most `size` bytes; *length is how many there are. */
static bool read_all(const char *name, int fd, char *text, size_t size, size_t *length)
{
	*length = 0;
	while (*length < size) {
		ssize_t got = read(fd, text + *length, size - *length);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			message_errno(name, errno);
			return false;
		}
		if (got == 0)
			break;
		*length += (size_t)got;
	}
	return true;
}

static bool is_output(const char *name, int fd, const char *output)
{
	bool named = output != NULL && strcmp(output, "-") != 0;

	if (!open_is_stdout(fd) && !(named && open_is_of(fd, output)))
		return false;
	message("%s: is the output, too", name);
	return true;
}

bool keying_read(struct keying *keying, const char *output)
{
	char text[DIGITS + 2]; /* one more than there may be */
	size_t length;
	bool good;
	int fd;

	if (keying->path == NULL)
		return true;
	fd = open(keying->path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	if (fd < 0) {
		message_errno(keying->path, errno);
		return false;
	}
	good = !is_output(keying->path, fd, output) && check_file(keying->path, fd) &&
	       read_all(keying->path, fd, text, sizeof text, &length);
	if (good && !parse(text, length, &keying->secret)) {
		message("%s: a key is %d hexadecimal digits on a line of their own, and nothing "
			"else",
			keying->path, DIGITS);
		good = false;
	}
	explicit_bzero(text, sizeof text);
	open_note_key(fd);
	close(fd);
	if (good)
		keying->fingerprint = sketch_secret_fingerprint(&keying->secret);
	return good;
}

void keying_end(struct keying *keying)
{
	explicit_bzero(&keying->secret, sizeof keying->secret);
}

/* ------------------------------------------------------------------- sketches */

struct sketch_identity keying_identity(const struct keying *keying, uint32_t seed, bool fold,
				       enum sketch_arrangement arrangement)
{
	bool keyed = keying->path != NULL;

	return (struct sketch_identity){
		.family = keyed ? SKETCH_FAMILY_SIPHASH : SKETCH_FAMILY_MURMUR3,
		.transforms = fold ? SKETCH_FOLD_ASCII : 0,
		.seed = seed,
		.arrangement = arrangement,
		.key_fingerprint = keyed ? keying->fingerprint : 0,
	};
}

static bool is_keyed(const struct sketch_identity *identity)
{
	return identity->family == SKETCH_FAMILY_SIPHASH;
}

bool keying_agrees(const struct keying *keying, const char *file,
		   const struct sketch_identity *identity)
{
	if (keying->path == NULL ||
	    (is_keyed(identity) && identity->key_fingerprint == keying->fingerprint))
		return true;
	if (!is_keyed(identity))
		message("%s: was made without a key: --key-file does not fit it", file);
	else
		message("%s: was made with another key: its fingerprint is %016" PRIx64
			", that of %s %016" PRIx64,
			file, identity->key_fingerprint, keying->path, keying->fingerprint);
	return false;
}

bool keying_fits(const struct keying *keying, const char *file,
		 const struct sketch_identity *identity)
{
	if (keying->path != NULL || !is_keyed(identity))
		return keying_agrees(keying, file, identity);
	message("%s: its hash needs a key: --key-file, with fingerprint %016" PRIx64, file,
		identity->key_fingerprint);
	return false;
}

const struct sketch_secret *keying_secret(const struct keying *keying,
					  const struct sketch_identity *identity)
{
	return is_keyed(identity) ? &keying->secret : NULL;
}
