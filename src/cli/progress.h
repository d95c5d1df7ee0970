/* progress.h - how far a long run has come
 *
 * "tool: 1.2 GB of 8.0 GB, 512 MB/s, 0:13 left" on standard error, redrawn in
 * place four times a second at the most, first after one second, and wiped at the
 * end.  Shown only when standard error is a terminal and standard output is none,
 * or when forced; where standard error is no terminal, forced progress is one
 * plain line every ten seconds.  The rate is the mean since the beginning. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool shown, drawn, terminal;
	uint64_t begun, next; /* by system_clock */
	uint64_t total;       /* bytes expected, 0 where unknown */
};

void progress_begin(struct progress *progress, bool forced);
/* The size of the whole input, where it is known. */
void progress_expect(struct progress *progress, uint64_t total);
/* Cheap enough to call after every read; draws when it is time to. */
void progress_update(struct progress *progress, uint64_t bytes);
/* The same, at a time by system_clock that was read already. */
void progress_update_at(struct progress *progress, uint64_t bytes, uint64_t now);
void progress_end(struct progress *progress);

#endif
