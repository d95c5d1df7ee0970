#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "message.h"
#include "number.h"
#include "system.h"

#define SECOND UINT64_C(1000000000)
#define LONGEST_LEFT (100 * 3600) /* seconds: beyond, an estimate says nothing */

void progress_begin(struct progress *progress, bool forced)
{
	progress->terminal = isatty(STDERR_FILENO);
	progress->shown = forced || (progress->terminal && !isatty(STDOUT_FILENO));
	progress->drawn = false;
	progress->begun = system_clock();
	progress->next = progress->begun + (progress->terminal ? 1 : 10) * SECOND;
	progress->total = 0;
}

void progress_expect(struct progress *progress, uint64_t total)
{
	progress->total = total;
}

/* ", 1:02:03 left" */
static void print_left(char *out, size_t size, uint64_t seconds)
{
	unsigned hours = (unsigned)(seconds / 3600), minutes = (unsigned)(seconds / 60 % 60);
	unsigned rest = (unsigned)(seconds % 60);

	if (hours > 0)
		snprintf(out, size, ", %u:%02u:%02u left", hours, minutes, rest);
	else
		snprintf(out, size, ", %u:%02u left", minutes, rest);
}

static void draw(struct progress *progress, uint64_t bytes, uint64_t now)
{
	char done[32], rate[32], of[40] = "", left[40] = "";
	char text[160];
	double elapsed = (double)(now - progress->begun) / (double)SECOND;
	double speed = elapsed > 0 ? (double)bytes / elapsed : 0;

	/* A file that grows while it is read outruns what was expected of it. */
	if (progress->total >= bytes && progress->total > 0) {
		char total[32];
		double seconds = speed >= 1 ? (double)(progress->total - bytes) / speed : HUGE_VAL;

		snprintf(of, sizeof of, " of %s", number_size(total, progress->total));
		if (seconds < LONGEST_LEFT)
			print_left(left, sizeof left, (uint64_t)seconds);
	}
	/* No count of bytes divided by a second or more exceeds 64 bits. */
	snprintf(text, sizeof text, "%s%s, %s/s%s", number_size(done, bytes), of,
		 number_size(rate, elapsed >= 1 ? (uint64_t)speed : bytes), left);
	if (progress->terminal)
		message_status(text);
	else
		message("%s", text);
	progress->drawn = true;
}

void progress_update_at(struct progress *progress, uint64_t bytes, uint64_t now)
{
	if (!progress->shown || now < progress->next)
		return;
	draw(progress, bytes, now);
	progress->next = now + (progress->terminal ? SECOND / 4 : 10 * SECOND);
}

void progress_update(struct progress *progress, uint64_t bytes)
{
	if (progress->shown)
		progress_update_at(progress, bytes, system_clock());
}

void progress_end(struct progress *progress)
{
	if (progress->drawn && progress->terminal)
		message_status("");
	progress->shown = false;
	progress->drawn = false;
}
