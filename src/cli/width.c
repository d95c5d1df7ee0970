/* width.c - how many columns of a terminal a character takes
 *
 * The C library knows, as do the terminals that ask it: by a locale of its own, so that
 * the rest of the program stays in "C", where bytes are bytes.  Which one it is does not
 * matter as long as its characters are those of Unicode. */
#include "width.h"

#include <locale.h>
#include <stdbool.h>
#include <wchar.h>

/* From here on a character is taken for wide where no locale can be asked: too many columns
 * only leave some free. */
#define FIRST_WIDE 0x1100

static locale_t unicode_locale(void)
{
	static locale_t locale;
	static bool asked;

	if (!asked) {
		asked = true;
		locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
		if (locale == (locale_t)0)
			locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	}
	return locale;
}

/* Marks and overrides of direction (Unicode Standard Annex 9), and separators of lines:
 * what follows in the row would move. */
static bool moves_text(uint32_t character)
{
	return character == 0x061C || character == 0x200E || character == 0x200F ||
	       (character >= 0x2028 && character <= 0x202E) ||
	       (character >= 0x2066 && character <= 0x2069);
}

int width_of(uint32_t character)
{
	locale_t locale = unicode_locale(), before;
	int width;

	if (character >= 0x20 && character < 0x7F)
		return 1;
	/* musl has a width for what is no character at all. */
	if (character < 0xA0 || character > 0x10FFFF || moves_text(character))
		return -1;
	if (locale == (locale_t)0)
		return character < FIRST_WIDE ? 1 : 2;
	before = uselocale(locale);
	width = wcwidth((wchar_t)character);
	uselocale(before);
	return width;
}

uint32_t width_decode(const uint8_t *bytes, size_t length)
{
	static const uint8_t masks[] = { 0, 0x7F, 0x1F, 0x0F, 0x07 };
	uint32_t character = bytes[0] & masks[length];

	for (size_t i = 1; i < length; i++)
		character = character << 6 | (bytes[i] & 0x3F);
	return character;
}
