#ifndef MALLOC_COUNT_H
#define MALLOC_COUNT_H
#include <stdint.h>

/// Allocations of this process so far (malloc, calloc, realloc and the aligned ones).
uint64_t malloc_count(void);

/// The cycles-independent clock to measure with: CLOCK_MONOTONIC_RAW, ns.
uint64_t monotonic_ns(void);

#endif
