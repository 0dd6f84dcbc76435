#define _GNU_SOURCE
#include "linux.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// RENAME_NOREPLACE of linux/fs.h, which not every libc has.
enum { without_replacing = 1 };

int tickertape_rename_to_new(const char *path, const char *name) {
    return (int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, name, without_replacing);
}

void tickertape_name_thread(const char *name) {
    prctl(PR_SET_NAME, name);
}
