#ifndef TICKERTAPE_LINUX_H
#define TICKERTAPE_LINUX_H

// Gives a file another name that nobody has (renameat2(2) with RENAME_NOREPLACE). 0, or -1 and errno: EEXIST where somebody
// has it, ENOSYS or EINVAL where the kernel or the file system cannot do that.
int tickertape_rename_to_new(const char *path, const char *name);

// Names the calling thread (prctl(2) with PR_SET_NAME), for ps and top; 15 bytes are kept.
void tickertape_name_thread(const char *name);

// A descriptor that becomes readable when something is written to it (eventfd(2)), closed in programs that are started; or -1
// and errno.
int tickertape_open_event(void);

// Gives free memory back to the system, also between blocks that are in use (malloc_trim(3)); nothing but with glibc.
void tickertape_trim_heap(void);

#endif
