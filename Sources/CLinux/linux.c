#define _GNU_SOURCE
#include "linux.h"

#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// RENAME_NOREPLACE of linux/fs.h, which some C libraries lack.
enum { without_replacing = 1 };

int tickertape_rename_to_new(const char *path, const char *name) {
    return (int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, name, without_replacing);
}

void tickertape_name_thread(const char *name) {
    prctl(PR_SET_NAME, name);
}

int tickertape_open_event(void) {
    return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

void tickertape_trim_heap(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
