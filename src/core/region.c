#include "region.h"

#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

bool region_new(struct region *region, size_t length)
{
	bool huge = length >= HUGE_PAGE && length <= SIZE_MAX - HUGE_PAGE;
	size_t slack = huge ? HUGE_PAGE : 0;
	uint8_t *base, *data;

	base = mmap(NULL, length + slack, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return false;
	data = base;
	if (huge) {
		size_t page = (size_t)4096, end;

		data += (HUGE_PAGE - (uintptr_t)base % HUGE_PAGE) % HUGE_PAGE;
		end = (size_t)(data - base) + (length + page - 1) / page * page;
		if (data != base)
			munmap(base, (size_t)(data - base));
		if (end < length + slack)
			munmap(base + end, length + slack - end);
		/* Advice only: a kernel without huge pages refuses, and nothing is lost. */
		madvise(data, length, MADV_HUGEPAGE);
	}
	*region = (struct region){ data, length };
	return true;
}

bool region_grow(struct region *region, size_t length)
{
	void *data = mremap(region->data, region->length, length, MREMAP_MAYMOVE);

	if (data == MAP_FAILED)
		return false;
	*region = (struct region){ data, length };
	return true;
}

bool region_map(struct region *region, int fd, size_t length)
{
	void *data = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, 0);

	if (data == MAP_FAILED)
		return false;
	*region = (struct region){ data, length };
	return true;
}

void region_free(struct region *region)
{
	if (region->data != NULL)
		munmap(region->data, region->length);
	*region = (struct region){ NULL, 0 };
}
