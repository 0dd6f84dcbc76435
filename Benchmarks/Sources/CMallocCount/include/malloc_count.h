#ifndef MALLOC_COUNT_H
#define MALLOC_COUNT_H
#include <stdint.h>

/// The number of allocations of this process (malloc, calloc, realloc and the aligned ones).
uint64_t malloc_count(void);

/// The CPU time of this thread, ns; other work on the machine does not count.
uint64_t thread_cpu_ns(void);

#endif
