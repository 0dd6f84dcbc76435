#include "checksum.h"

#include <pthread.h>
#include <string.h>

// Eight bytes per step, with one table for each byte ("slicing by eight", Kounavis and Berry, 2005).
static uint32_t tables[8][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_tables(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0x82F63B78 : crc >> 1;
        tables[0][byte] = crc;
    }
    for (uint32_t byte = 0; byte < 256; byte++)
        for (int slice = 1; slice < 8; slice++) {
            uint32_t crc = tables[slice - 1][byte];
            tables[slice][byte] = crc >> 8 ^ tables[0][crc & 255];
        }
}

uint32_t tickertape_crc32c_by_tables(uint32_t crc, const void *bytes, size_t count) {
    pthread_once(&once, make_tables);
    const uint8_t *next = bytes;
    crc = ~crc;
    for (; count >= 8; next += 8, count -= 8) {
        // Byte by byte, so that the result is the same on a big-endian machine.
        crc ^= next[0] | (uint32_t)next[1] << 8 | (uint32_t)next[2] << 16 | (uint32_t)next[3] << 24;
        crc = tables[7][crc & 255] ^ tables[6][crc >> 8 & 255] ^ tables[5][crc >> 16 & 255] ^ tables[4][crc >> 24] ^
              tables[3][next[4]] ^ tables[2][next[5]] ^ tables[1][next[6]] ^ tables[0][next[7]];
    }
    for (; count > 0; next++, count--) crc = crc >> 8 ^ tables[0][(crc ^ *next) & 255];
    return ~crc;
}

#if defined(__x86_64__)

#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const void *bytes, size_t count) {
    const uint8_t *next = bytes;
    uint64_t state = (uint32_t)~crc;
    for (; count >= 8; next += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, next, 8);
        state = _mm_crc32_u64(state, word);
    }
    uint32_t rest = (uint32_t)state;
    for (; count > 0; next++, count--) rest = _mm_crc32_u8(rest, *next);
    return ~rest;
}

static int has_instruction(void) { return __builtin_cpu_supports("sse4.2"); }

#elif defined(__aarch64__) && defined(__linux__) && defined(__AARCH64EL__)

#include <arm_acle.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>

__attribute__((target("crc"))) static uint32_t by_instruction(uint32_t crc, const void *bytes, size_t count) {
    const uint8_t *next = bytes;
    crc = ~crc;
    for (; count >= 8; next += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, next, 8);
        crc = __crc32cd(crc, word);
    }
    for (; count > 0; next++, count--) crc = __crc32cb(crc, *next);
    return ~crc;
}

static int has_instruction(void) { return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0; }

#else

#define by_instruction tickertape_crc32c_by_tables
static int has_instruction(void) { return 0; }

#endif

uint32_t tickertape_crc32c(uint32_t crc, const void *bytes, size_t count) {
    // Checked on each call: the check is a load and a test, and needs no lock.
    return has_instruction() ? by_instruction(crc, bytes, count) : tickertape_crc32c_by_tables(crc, bytes, count);
}
