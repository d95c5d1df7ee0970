/* crc32c.h - inside of sketch_crc32c */
#ifndef CORE_CRC32C_H
#define CORE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

#include "sketch.h"

/* The same number without special instructions. */
uint32_t crc32c_portable(uint32_t crc, const uint8_t *data, size_t length);

#endif
