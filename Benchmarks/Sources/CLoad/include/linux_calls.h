#ifndef LINUX_CALLS_H
#define LINUX_CALLS_H

#include <stdint.h>

// What Swift's Glibc module does not have of Linux: epoll with nanoseconds, and the choice of a CPU.

/// Returns a new epoll descriptor, or -1.
int event_poll_make(void);

/// Waits for bytes on `descriptor` from now on; `index` names it in the answers. Returns 0, or -1.
int event_poll_add(int poll, int descriptor, uint32_t index);

/// Waits for `descriptor` no more. Returns 0, or -1.
int event_poll_remove(int poll, int descriptor);

/// Waits at most so many nanoseconds and stores the names of those that are readable or ended; returns how many, 0 also
/// after a signal, or -1.
int event_poll_wait(int poll, uint32_t *indices, int capacity, int64_t nanoseconds);

/// Keeps the calling thread, and what it starts from now on, on one CPU. Returns 0, or -1.
int stay_on_cpu(int cpu);

#endif
