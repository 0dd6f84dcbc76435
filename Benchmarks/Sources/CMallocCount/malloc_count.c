// Counts allocations by interposing glibc's allocator: symbols of the executable have precedence over those of libc.so.
#define _GNU_SOURCE
#include "malloc_count.h"
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static _Atomic uint64_t count;

static void tick(void) { atomic_fetch_add_explicit(&count, 1, memory_order_relaxed); }

void *malloc(size_t size) { tick(); return __libc_malloc(size); }
void *calloc(size_t number, size_t size) { tick(); return __libc_calloc(number, size); }
void *realloc(void *block, size_t size) { tick(); return __libc_realloc(block, size); }
void *aligned_alloc(size_t alignment, size_t size) { tick(); return __libc_memalign(alignment, size); }
void *memalign(size_t alignment, size_t size) { tick(); return __libc_memalign(alignment, size); }
int posix_memalign(void **block, size_t alignment, size_t size) {
    tick();
    *block = __libc_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}

uint64_t malloc_count(void) { return atomic_load_explicit(&count, memory_order_relaxed); }

uint64_t thread_cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
