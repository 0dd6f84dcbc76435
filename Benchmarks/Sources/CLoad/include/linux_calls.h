#ifndef LINUX_CALLS_H
#define LINUX_CALLS_H

#include <stdint.h>

// The parts of Linux that Swift's Glibc module lacks: epoll with nanoseconds, and CPU affinity.

/// Returns a new epoll descriptor, or -1.
int event_poll_make(void);

/// Adds `descriptor` to the set; `index` identifies it in the results. Returns 0, or -1.
int event_poll_add(int poll, int descriptor, uint32_t index);

/// Removes `descriptor` from the set. Returns 0, or -1.
int event_poll_remove(int poll, int descriptor);

/// Waits for at most this many nanoseconds, and stores the indices of the readable or closed descriptors. Returns their
/// number, 0 also after a signal, or -1.
int event_poll_wait(int poll, uint32_t *indices, int capacity, int64_t nanoseconds);

/// Pins the calling thread, and the processes and threads that it starts later, to one CPU. Returns 0, or -1.
int stay_on_cpu(int cpu);

#endif
