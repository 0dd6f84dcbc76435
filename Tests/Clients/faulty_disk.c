// A library for LD_PRELOAD. While $FAULTY_DISK/fail exists, reads beyond the first byte of a file fail; while
// $FAULTY_DISK/hang exists, they hang. The first read that hangs is reported on standard error.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int is_there(const char *name) {
    const char *folder = getenv("FAULTY_DISK");
    char path[4096];
    if (!folder) return 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static ssize_t read_inside(int file, void *bytes, size_t count, off_t offset) {
    static ssize_t (*next)(int, void *, size_t, off_t);
    if (!next) next = (ssize_t (*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread64");
    if (offset > 0 && is_there("fail")) {
        errno = EIO;
        return -1;
    }
    if (offset > 0 && is_there("hang")) {
        static const char text[] = "the disk hangs\n";
        if (write(STDERR_FILENO, text, sizeof text - 1) < 0) return -1;
        while (is_there("hang")) usleep(10000);
    }
    return next(file, bytes, count, offset);
}

ssize_t pread(int file, void *bytes, size_t count, off_t offset) { return read_inside(file, bytes, count, offset); }
ssize_t pread64(int file, void *bytes, size_t count, off_t offset) { return read_inside(file, bytes, count, offset); }
