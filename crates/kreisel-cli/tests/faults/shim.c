/* Lets calls fail by which a program changes files below a folder: the FAULT_AT-th of them, or every other one
   if that is 0, in the way of FAULT_KIND (ENOSPC, EIO, EINTR, or SHORT: half of a write). What failed is
   written to FAULT_MARK. It is put before the C library by LD_PRELOAD. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long count;

static int below(const char *path) {
    const char *folder = getenv("FAULT_FOLDER");
    return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

static int below_fd(int fd, char *path, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, size - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return below(path);
}

/* Whether this call is the one: 0 if not, 1 if it fails with errno, 2 if it writes half. */
static int strikes(const char *call, const char *path, int writes) {
    const char *at = getenv("FAULT_AT"), *kind = getenv("FAULT_KIND"), *mark = getenv("FAULT_MARK");
    if (!at || !kind || !mark) return 0;
    /* Only a write can be short. */
    if (strcmp(kind, "SHORT") == 0 && !writes) return 0;
    /* Names are never changed half: the system does not interrupt that. */
    if (strcmp(kind, "EINTR") == 0 && (strcmp(call, "rename") == 0 || strcmp(call, "mkdir") == 0 || strcmp(call, "unlink") == 0)) return 0;
    long number = atomic_fetch_add(&count, 1) + 1, wanted = atol(at);
    if (wanted ? number != wanted : number % 2 == 0) return 0;
    int file = (int)syscall(SYS_openat, AT_FDCWD, mark, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file >= 0) {
        char text[4200];
        int length = snprintf(text, sizeof text, "%s %s", call, path);
        syscall(SYS_write, file, text, (size_t)length);
        syscall(SYS_close, file);
    }
    if (strcmp(kind, "SHORT") == 0) return 2;
    errno = strcmp(kind, "ENOSPC") == 0 ? ENOSPC : strcmp(kind, "EINTR") == 0 ? EINTR : EIO;
    return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FD_STRIKES(call, fd, writes, outcome) \
    char path[4096]; \
    int outcome = below_fd(fd, path, sizeof path) ? strikes(call, path, writes) : 0

ssize_t write(int fd, const void *bytes, size_t size) {
    FD_STRIKES("write", fd, size > 1, how);
    if (how == 1) return -1;
    return NEXT(write)(fd, bytes, how == 2 ? size / 2 : size);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) {
    FD_STRIKES("pwrite", fd, size > 1, how);
    if (how == 1) return -1;
    return NEXT(pwrite64)(fd, bytes, how == 2 ? size / 2 : size, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
    return pwrite64(fd, bytes, size, at);
}

ssize_t writev(int fd, const struct iovec *parts, int number) {
    FD_STRIKES("writev", fd, number > 0 && parts[0].iov_len > 1, how);
    if (how == 1) return -1;
    if (how == 2) return NEXT(write)(fd, parts[0].iov_base, parts[0].iov_len / 2);
    return NEXT(writev)(fd, parts, number);
}

int fsync(int fd) {
    FD_STRIKES("fsync", fd, 0, how);
    return how ? -1 : NEXT(fsync)(fd);
}

int fdatasync(int fd) {
    FD_STRIKES("fdatasync", fd, 0, how);
    return how ? -1 : NEXT(fdatasync)(fd);
}

int ftruncate64(int fd, off64_t size) {
    FD_STRIKES("ftruncate", fd, 0, how);
    return how ? -1 : NEXT(ftruncate64)(fd, size);
}

int ftruncate(int fd, off_t size) {
    return ftruncate64(fd, size);
}

int rename(const char *from, const char *to) {
    if (below(to) && strikes("rename", to, 0)) return -1;
    return NEXT(rename)(from, to);
}

int mkdir(const char *path, mode_t mode) {
    if (below(path) && strikes("mkdir", path, 0)) return -1;
    return NEXT(mkdir)(path, mode);
}

int unlink(const char *path) {
    /* What is not there cannot fail to go. */
    if (below(path) && access(path, F_OK) == 0 && strikes("unlink", path, 0)) return -1;
    return NEXT(unlink)(path);
}

ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t size, unsigned flags) {
    FD_STRIKES("copy", out, 0, how);
    return how ? -1 : NEXT(copy_file_range)(in, from, out, to, size, flags);
}

static int is_created(int flags, const char *path, mode_t *mode, va_list more) {
    if (flags & (O_CREAT | O_TMPFILE)) {
        *mode = va_arg(more, mode_t);
        return (flags & O_CREAT) && below(path) && access(path, F_OK) != 0;
    }
    return 0;
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        mode_t mode = 0; \
        va_list more; \
        va_start(more, flags); \
        int created = is_created(flags, path, &mode, more); \
        va_end(more); \
        if (created && strikes("create", path, 0)) return -1; \
        return NEXT(name)(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)
