/* region.h - large pieces of memory, straight from the kernel
 *
 * Zeroed, aligned to 2 MiB where they are that large (so that huge pages can
 * back them: the first touch of a large filter is then five times cheaper, and
 * random probes miss the TLB less), never part of the heap. */
#ifndef CORE_REGION_H
#define CORE_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct region {
	uint8_t *data; /* NULL where there is none */
	size_t length;
};

/* What of a budget one process can address at all: where a size_t has 32 bits, and the
 * machine more memory, the rest is not to be had. */
static inline uint64_t region_budget(uint64_t budget)
{
	return budget < SIZE_MAX / 2 ? budget : SIZE_MAX / 2;
}

/* False, with errno set, where the memory is not to be had. */
bool region_new(struct region *region, size_t length);

/* A larger region with the old bytes, then zeros; false leaves it as it was. */
bool region_grow(struct region *region, size_t length);

/* A read-only view of a whole file. */
bool region_map(struct region *region, int fd, size_t length);

void region_free(struct region *region);

#endif
