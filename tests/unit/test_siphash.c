/* SipHash-2-4 against published vectors, against the digests of another implementation,
 * and against what a sketch is told of its key. */
#include <stdio.h>
#include <string.h>

#include "identity.h"
#include "siphash.h"
#include "support.h"

/* Bytes 0, 1, 2, ... */
static void count_up(uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		bytes[i] = (uint8_t)i;
}

static struct sketch_secret published_key(void)
{
	struct sketch_secret secret;

	count_up(secret.bytes, sizeof secret.bytes);
	return secret;
}

static void put_hash(uint8_t out[16], struct sketch_hash hash)
{
	put64(out, hash.h1);
	put64(out + 8, hash.h2);
}

/* The worked example of the paper, appendix A. */
static void hash64__example_of_the_paper__matches(void **state)
{
	struct sketch_secret secret = published_key();
	uint8_t input[15];

	(void)state;
	count_up(input, sizeof input);
	assert_int_equal(UINT64_C(0xa129ca6149be45e5), siphash_64(input, sizeof input, &secret));
}

/* Of bytes 0, 1, ... in these numbers, as the reference's table has them. */
static void hash128__published_vectors__match(void **state)
{
	static const struct {
		size_t length;
		const char *output;
	} vectors[] = {
		{ 0, "a3817f04ba25a8e66df67214c7550293" },
		{ 1, "da87c1d86b99af44347659119b22fc45" },
		{ 2, "8177228da4a45dc7fca38bdef60affe4" },
		{ 3, "9c70b60c5267a94e5f33b6b02985ed51" },
		{ 7, "a1f1ebbed8dbc153c0b84aa61ff08239" },
		{ 8, "3b62a9ba6258f5610f83e264f31497b4" },
		{ 9, "264499060ad9baabc47f8b02bb6d71ed" },
		{ 15, "5493e99933b0a8117e08ec0f97cfc3d9" },
		{ 16, "6ee2a4ca67b054bbfd3315bf85230577" },
		{ 31, "2939b0183223fafc1723de4f52c43d35" },
		{ 63, "5150d1772f50834a503e069a973fbd7c" },
	};
	struct sketch_secret secret = published_key();

	(void)state;
	for (size_t i = 0; i < COUNT_OF(vectors); i++) {
		struct bytes expected = bytes_from_hex(vectors[i].output);
		uint8_t input[64], output[16];

		count_up(input, vectors[i].length);
		put_hash(output, sketch_siphash_2_4_128(input, vectors[i].length, &secret));
		assert_memory_equal(expected.data, output, sizeof output);
		bytes_free(&expected);
	}
}

/* The hash of all hashes of the first 0 to 255 bytes, as scripts/sketch-format has it; its
 * own agree with those of OpenSSL. */
static void hash__of_every_length__equals_another_implementation(void **state)
{
	struct sketch_secret secret = published_key();
	uint8_t input[256], wide[16 * 256], narrow[8 * 256], digest[16];
	struct bytes expected = bytes_from_hex("7b0a43b09be572ef4d4cdd319a1bac92");

	(void)state;
	count_up(input, sizeof input);
	for (size_t length = 0; length < 256; length++) {
		put_hash(wide + 16 * length, siphash_128(input, length, &secret));
		put64(narrow + 8 * length, siphash_64(input, length, &secret));
	}
	put_hash(digest, siphash_128(wide, sizeof wide, &secret));
	assert_memory_equal(expected.data, digest, sizeof digest);
	assert_int_equal(UINT64_C(0x22b996d041f0700e), siphash_64(narrow, sizeof narrow, &secret));
	bytes_free(&expected);
}

/* Wherever it lies and whatever lies behind it. */
static void hash__any_alignment_and_neighbours__is_the_same(void **state)
{
	struct sketch_secret secret = published_key();
	struct dice dice = { 7 };

	(void)state;
	for (size_t length = 0; length <= 40; length++) {
		uint8_t key[40], page[64];
		struct sketch_hash expected;

		dice_fill(&dice, key, sizeof key);
		expected = siphash_128(key, length, &secret);
		for (size_t alignment = 0; alignment < 16; alignment++) {
			struct sketch_hash got;

			dice_fill(&dice, page, sizeof page);
			memcpy(page + alignment, key, length);
			got = siphash_128(page + alignment, length, &secret);
			assert_true(got.h1 == expected.h1 && got.h2 == expected.h2);
		}
	}
}

static void hash__no_data__equals_hash_of_empty_key(void **state)
{
	struct sketch_secret secret = published_key();
	struct sketch_hash none = sketch_siphash_2_4_128(NULL, 0, &secret);
	struct sketch_hash empty = sketch_siphash_2_4_128("", 0, &secret);

	(void)state;
	assert_true(none.h1 == empty.h1 && none.h2 == empty.h2);
}

/* Each bit of the key counts, in the hash and in the fingerprint. */
static void hash__any_bit_of_the_key_flipped__is_another(void **state)
{
	struct sketch_secret secret = published_key();
	struct sketch_hash hash = siphash_128("apple", 5, &secret);
	uint64_t fingerprint = sketch_secret_fingerprint(&secret);

	(void)state;
	for (size_t bit = 0; bit < 128; bit++) {
		struct sketch_secret other = secret;
		struct sketch_hash now;

		other.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		now = siphash_128("apple", 5, &other);
		assert_true(now.h1 != hash.h1 && now.h2 != hash.h2);
		assert_true(sketch_secret_fingerprint(&other) != fingerprint);
	}
}

static void fingerprint__of_the_published_key__is_that_of_the_page(void **state)
{
	struct sketch_secret secret = published_key();

	(void)state;
	assert_int_equal(UINT64_C(0x323339a29043e848), sketch_secret_fingerprint(&secret));
	/* The text itself, as a key, has nothing of it in its hash. */
	assert_true(siphash_128("sketch: fingerprint of a hash key", 33, &secret).h1 !=
		    sketch_secret_fingerprint(&secret));
}

static void key_hash__with_and_without_a_secret__is_of_either_family(void **state)
{
	struct sketch_secret secret = published_key();
	struct sketch_hash keyed = sketch_key_hash("apple", 5, 7, &secret);
	struct sketch_hash seeded = sketch_key_hash("apple", 5, 7, NULL);
	struct sketch_hash murmur = sketch_murmur3_x64_128("apple", 5, 7);
	struct sketch_hash sip = sketch_siphash_2_4_128("apple", 5, &secret);

	(void)state;
	assert_true(keyed.h1 == sip.h1 && keyed.h2 == sip.h2);
	assert_true(seeded.h1 == murmur.h1 && seeded.h2 == murmur.h2);
}

/* ------------------------------------------------------------------ identity */

#define KEYED ((struct sketch_identity){ SKETCH_FAMILY_SIPHASH, 0, 0, SKETCH_SINGLE, 0x1234 })

static void check__seed_or_key_of_the_other_family__is_refused(void **state)
{
	struct sketch_identity seeded = KEYED, keyed = IDENTITY;
	struct sketch_error error;

	(void)state;
	seeded.seed = 1;
	keyed.key_fingerprint = 1;
	assert_status(SKETCH_RANGE, identity_check(&seeded, &error), &error);
	assert_non_null(strstr(error.text, "seed"));
	assert_status(SKETCH_RANGE, identity_check(&keyed, &error), &error);
	assert_non_null(strstr(error.text, "key"));
	assert_status(SKETCH_OK, identity_check(&KEYED, &error), &error);
}

static void compare__family_or_fingerprint_differ__names_the_field(void **state)
{
	struct sketch_identity other = KEYED;
	struct sketch_error error;

	(void)state;
	assert_status(SKETCH_OK, identity_compare(&KEYED, &other, &error), &error);
	other.key_fingerprint = UINT64_C(0xfedcba9876543210);
	assert_status(SKETCH_MISMATCH, identity_compare(&KEYED, &other, &error), &error);
	assert_string_equal("key fingerprint differs: 0000000000001234 and fedcba9876543210",
			    error.text);
	assert_status(SKETCH_MISMATCH, identity_compare(&KEYED, &IDENTITY, &error), &error);
	assert_string_equal("hash family differs: only one of the two has a key", error.text);
}

static void header__of_each_family__goes_there_and_back(void **state)
{
	struct sketch_identity all[] = { KEYED, KEYED, IDENTITY };

	(void)state;
	all[1].key_fingerprint = 0; /* as good as any */
	all[2].seed = 0xdeadbeef;
	for (size_t i = 0; i < COUNT_OF(all); i++) {
		struct format_header header = { .version = FORMAT_VERSION,
						.kind = SKETCH_KIND_BLOOM,
						.length = FORMAT_HEADER_BYTES,
						.sections = 1 };
		uint8_t bytes[FORMAT_HEADER_BYTES];
		struct sketch_identity back;
		struct sketch_error error;

		identity_to_header(&all[i], &header);
		format_encode_header(bytes, &header);
		assert_status(SKETCH_OK,
			      format_decode_header(bytes, sizeof bytes, &header, NULL, &error),
			      &error);
		back = identity_of_header(&header);
		assert_true(back.family == all[i].family && back.seed == all[i].seed &&
			    back.key_fingerprint == all[i].key_fingerprint);
		assert_true(bytes[16] == (all[i].family == SKETCH_FAMILY_SIPHASH));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hash64__example_of_the_paper__matches),
		cmocka_unit_test(hash128__published_vectors__match),
		cmocka_unit_test(hash__of_every_length__equals_another_implementation),
		cmocka_unit_test(hash__any_alignment_and_neighbours__is_the_same),
		cmocka_unit_test(hash__no_data__equals_hash_of_empty_key),
		cmocka_unit_test(hash__any_bit_of_the_key_flipped__is_another),
		cmocka_unit_test(fingerprint__of_the_published_key__is_that_of_the_page),
		cmocka_unit_test(key_hash__with_and_without_a_secret__is_of_either_family),
		cmocka_unit_test(check__seed_or_key_of_the_other_family__is_refused),
		cmocka_unit_test(compare__family_or_fingerprint_differ__names_the_field),
		cmocka_unit_test(header__of_each_family__goes_there_and_back),
	};

	return cmocka_run_group_tests_name("siphash", tests, NULL, NULL);
}
