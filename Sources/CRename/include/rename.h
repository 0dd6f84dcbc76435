#ifndef TICKERTAPE_RENAME_H
#define TICKERTAPE_RENAME_H

// Gives a file another name that nobody has (renameat2(2) with RENAME_NOREPLACE). 0, or -1 and errno: EEXIST where somebody
// has it, ENOSYS or EINVAL where the kernel or the file system cannot do that.
int tickertape_rename_to_new(const char *path, const char *name);

#endif
