/* cmocka.h - in place of cmocka, for machines that it is not to be had for
 *
 * What the unit tests use of it and no more, with the same meaning; TAP is all that it
 * speaks.  Each of them is one file with its own main, hence all is static. */
#ifndef STAND_IN_CMOCKA_H
#define STAND_IN_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct CMUnitTest {
	const char *name;
	void (*test)(void **state);
};

enum stand_in_result { STAND_IN_PASSED, STAND_IN_FAILED, STAND_IN_SKIPPED };

/* Where a test that failed or was skipped goes on.  Weak: support.c has it, too. */
__attribute__((weak)) jmp_buf stand_in_end;

__attribute__((format(printf, 1, 2))) static inline void print_message(const char *format, ...)
{
	va_list more;

	va_start(more, format);
	vfprintf(stdout, format, more);
	va_end(more);
}

__attribute__((format(printf, 1, 2))) static inline void print_error(const char *format, ...)
{
	va_list more;

	va_start(more, format);
	vfprintf(stderr, format, more);
	va_end(more);
}

/* What a test has no other way back from. */
__attribute__((noreturn)) static inline void stand_in_leave(enum stand_in_result result)
{
	longjmp(stand_in_end, (int)result);
}

__attribute__((noreturn)) static inline void _fail(const char *file, int line)
{
	print_error("%s:%d: error: failure\n", file, line);
	stand_in_leave(STAND_IN_FAILED);
}

static inline void stand_in_hold(bool holds, const char *what, const char *file, int line)
{
	if (holds)
		return;
	print_error("%s\n", what);
	_fail(file, line);
}

static inline void stand_in_equal(uintmax_t a, uintmax_t b, bool equal, const char *file, int line)
{
	if ((a == b) == equal)
		return;
	print_error("%#jx %s %#jx\n", a, equal ? "!=" : "==", b);
	_fail(file, line);
}

static inline void stand_in_text(const char *a, const char *b, bool equal, const char *file,
				 int line)
{
	if ((strcmp(a, b) == 0) == equal)
		return;
	print_error("\"%s\" %s \"%s\"\n", a, equal ? "!=" : "==", b);
	_fail(file, line);
}

static inline void stand_in_range(uintmax_t value, uintmax_t minimum, uintmax_t maximum,
				  const char *file, int line)
{
	if (value >= minimum && value <= maximum)
		return;
	print_error("%ju is not from %ju to %ju\n", value, minimum, maximum);
	_fail(file, line);
}

#define assert_true(c) stand_in_hold(!!(c), #c, __FILE__, __LINE__)
#define assert_false(c) stand_in_hold(!(c), "!(" #c ")", __FILE__, __LINE__)
#define assert_null(c) stand_in_hold((c) == NULL, #c " == NULL", __FILE__, __LINE__)
#define assert_non_null(c) stand_in_hold((c) != NULL, #c " != NULL", __FILE__, __LINE__)
#define assert_ptr_equal(a, b)                                                                     \
	stand_in_equal((uintptr_t)(a), (uintptr_t)(b), true, __FILE__, __LINE__)
#define assert_int_equal(a, b)                                                                     \
	stand_in_equal((uintmax_t)(a), (uintmax_t)(b), true, __FILE__, __LINE__)
#define assert_int_not_equal(a, b)                                                                 \
	stand_in_equal((uintmax_t)(a), (uintmax_t)(b), false, __FILE__, __LINE__)
#define assert_string_equal(a, b) stand_in_text(a, b, true, __FILE__, __LINE__)
#define assert_string_not_equal(a, b) stand_in_text(a, b, false, __FILE__, __LINE__)
#define assert_memory_equal(a, b, length)                                                          \
	stand_in_hold(memcmp(a, b, length) == 0, #a " has the bytes of " #b, __FILE__, __LINE__)
#define assert_in_range(value, minimum, maximum)                                                   \
	stand_in_range((uintmax_t)(value), (uintmax_t)(minimum), (uintmax_t)(maximum), __FILE__,   \
		       __LINE__)

#define fail() _fail(__FILE__, __LINE__)
#define fail_msg(...) (print_error(__VA_ARGS__), print_error("\n"), _fail(__FILE__, __LINE__))
#define skip() stand_in_leave(STAND_IN_SKIPPED)

#define cmocka_unit_test(test)                                                                     \
	{                                                                                          \
#test, test                                                                        \
	}
#define cmocka_run_group_tests(tests, setup, teardown)                                             \
	cmocka_run_group_tests_name(#tests, tests, setup, teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown)                                  \
	stand_in_run(name, tests, sizeof(tests) / sizeof(tests)[0], setup, teardown)

/* The number of those that failed. */
static inline int stand_in_run(const char *name, const struct CMUnitTest *tests, size_t count,
			       int (*setup)(void **state), int (*teardown)(void **state))
{
	void *state = NULL;
	volatile int failed = 0;

	printf("# %s\n1..%zu\n", name, count);
	if (setup != NULL && setup(&state) != 0)
		return (int)count;
	for (volatile size_t i = 0; i < count; i++) {
		void *own = state;
		volatile int result = setjmp(stand_in_end);

		if (result == STAND_IN_PASSED)
			tests[i].test(&own);
		failed += result == STAND_IN_FAILED;
		printf("%sok %zu - %s%s\n", result == STAND_IN_FAILED ? "not " : "", i + 1,
		       tests[i].name, result == STAND_IN_SKIPPED ? " # SKIP" : "");
		fflush(stdout);
	}
	if (teardown != NULL)
		teardown(&state);
	return failed;
}

#endif
