#ifndef TICKERTAPE_LINUX_H
#define TICKERTAPE_LINUX_H

// Renames a file to a name that must not exist (renameat2(2) with RENAME_NOREPLACE). Returns 0, or -1 and errno: EEXIST
// where the name exists, ENOSYS or EINVAL where the kernel or the file system does not support this.
int tickertape_rename_to_new(const char *path, const char *name);

// Names the calling thread (prctl(2) with PR_SET_NAME) for ps and top. The kernel keeps 15 bytes.
void tickertape_name_thread(const char *name);

// Opens a non-blocking descriptor that becomes readable after a write to it (eventfd(2)). It is closed on exec. Returns
// -1 and errno on failure.
int tickertape_open_event(void);

// Returns free memory to the system, also between blocks in use (malloc_trim(3)). Does nothing without glibc.
void tickertape_trim_heap(void);

#endif
