#ifndef TICKERTAPE_CHECKSUM_H
#define TICKERTAPE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

// CRC-32C (Castagnoli; RFC 3720, B.4): reflected polynomial 0x82F63B78, initial value and final XOR 0xFFFFFFFF. `crc`
// is the checksum of the preceding bytes, 0 at the beginning.

// By the processor's instruction where it has one, otherwise by tables.
uint32_t tickertape_crc32c(uint32_t crc, const void *bytes, size_t count);

// By tables, on every processor.
uint32_t tickertape_crc32c_by_tables(uint32_t crc, const void *bytes, size_t count);

#endif
