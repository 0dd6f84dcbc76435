#define _GNU_SOURCE
#include "linux_calls.h"

#include <errno.h>
#include <sched.h>
#include <sys/epoll.h>
#include <time.h>

int event_poll_make(void) { return epoll_create1(EPOLL_CLOEXEC); }

int event_poll_add(int poll, int descriptor, uint32_t index) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.u32 = index};
    return epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event);
}

int event_poll_remove(int poll, int descriptor) { return epoll_ctl(poll, EPOLL_CTL_DEL, descriptor, NULL); }

int event_poll_wait(int poll, uint32_t *indices, int capacity, int64_t nanoseconds) {
    struct epoll_event events[64];
    if (capacity > 64) capacity = 64;
    struct timespec limit = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    int count = epoll_pwait2(poll, events, capacity, &limit, NULL);
    if (count < 0) return errno == EINTR ? 0 : -1;
    for (int i = 0; i < count; i++) indices[i] = events[i].data.u32;
    return count;
}

int stay_on_cpu(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof set, &set);
}
