// A library for LD_PRELOAD, with control files in the folder $FAULTY_DISK. While `fail` exists, reads beyond the first
// byte of a file fail; while `hang` exists, they hang, and the first one is reported on standard error. While
// `hang-NAME` exists, access(2) and fsync(2) hang for files whose names up to the first dot are NAME; they create
// `hangs-NAME` when they begin to.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Returns the path of a control file; NULL without a folder or room for the path.
static const char *control(char *path, size_t size, const char *before, const char *name, size_t length) {
    const char *folder = getenv("FAULTY_DISK");
    int written = folder ? snprintf(path, size, "%s/%s%.*s", folder, before, (int)length, name) : -1;
    return written > 0 && (size_t)written < size ? path : NULL;
}

// access() is replaced below.
static int exists(const char *path) { return path && faccessat(AT_FDCWD, path, F_OK, 0) == 0; }

static int is_there(const char *name) {
    char path[4096];
    return exists(control(path, sizeof path, "", name, strlen(name)));
}

static void wait_for(const char *file) {
    char path[4096];
    const char *slash = strrchr(file, '/');
    const char *name = slash ? slash + 1 : file;
    size_t length = strcspn(name, ".");
    if (!exists(control(path, sizeof path, "hang-", name, length))) return;
    const char *report = control(path, sizeof path, "hangs-", name, length);
    int descriptor = open(report, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor >= 0) close(descriptor);
    while (exists(control(path, sizeof path, "hang-", name, length))) usleep(10000);
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

int access(const char *path, int mode) {
    wait_for(path);
    return faccessat(AT_FDCWD, path, mode, 0);
}

int fsync(int file) {
    static int (*next)(int);
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length > 0) {
        path[length] = 0;
        wait_for(path);
    }
    if (!next) next = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    return next(file);
}
