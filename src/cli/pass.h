/* pass.h - records out, byte for byte as they came in */
#ifndef CLI_PASS_H
#define CLI_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output.h"
#include "records.h"

/* The words of a set of records of one batch: bit i % 64 of word i / 64. */
#define PASS_WORDS (RECORDS_BATCH / 64)

/* Those of the batch that are there at all. */
void pass_present(const struct records_batch *batch, uint64_t present[PASS_WORDS]);

/* Passes on records first..last-1 of the batch; one without its terminator gets it. */
bool pass_range(struct output *out, const struct records_batch *batch, size_t first, size_t last,
		uint8_t terminator);

/* Passes on the records of the set. */
bool pass_selected(struct output *out, const struct records_batch *batch,
		   const uint64_t selected[PASS_WORDS], uint8_t terminator);

#endif
