/* io.c - the store's system calls; see io.h. */
#include "ckpt/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int result(long value)
{
    return value < 0 ? -errno : (int)value;
}

static int system_open(void *context, int directory, const char *name, int flags, mode_t mode)
{
    (void)context;
    int file = openat(directory, name, flags | O_CLOEXEC | O_NOFOLLOW, mode);
    if (file >= 0 && flags & O_CREAT)
        fchmod(file, mode); /* the umask may have denied the owner access; fails for others */
    return result(file);
}

static int system_close(void *context, int descriptor)
{
    (void)context;
    return result(close(descriptor));
}

static ssize_t system_write(void *context, int descriptor, const void *bytes, size_t size)
{
    (void)context;
    ssize_t count = write(descriptor, bytes, size);
    return count < 0 ? -errno : count;
}

static ssize_t system_read(void *context, int descriptor, void *bytes, size_t size, uint64_t offset)
{
    (void)context;
    ssize_t count = pread(descriptor, bytes, size, (off_t)offset);
    return count < 0 ? -errno : count;
}

static int system_sync(void *context, int descriptor)
{
    (void)context;
    return result(fsync(descriptor));
}

static int system_rename(void *context, int directory, const char *from, const char *to)
{
    (void)context;
    return result(renameat(directory, from, directory, to));
}

static int system_unlink(void *context, int directory, const char *name, int flags)
{
    (void)context;
    return result(unlinkat(directory, name, flags));
}

static int system_make_directory(void *context, int directory, const char *name, mode_t mode)
{
    (void)context;
    int made = mkdirat(directory, name, mode);
    return result(made == 0 ? fchmodat(directory, name, mode, 0) : made);
}

const struct store_io store_io_system = {
    .open = system_open,
    .close = system_close,
    .write = system_write,
    .read = system_read,
    .sync = system_sync,
    .rename = system_rename,
    .unlink = system_unlink,
    .make_directory = system_make_directory,
};

int store_io_write(const struct store_io *io, int descriptor, const void *bytes, size_t size)
{
    const char *from = bytes;

    while (size > 0) {
        ssize_t count = io->write(io->context, descriptor, from, size);
        if (count == -EINTR)
            continue;
        if (count <= 0)
            return count < 0 ? (int)count : -EIO;
        from += count;
        size -= (size_t)count;
    }
    return 0;
}

int store_io_read(const struct store_io *io, int descriptor, uint64_t offset, void *bytes,
                  size_t size)
{
    char *to = bytes;

    while (size > 0) {
        ssize_t count = io->read(io->context, descriptor, to, size, offset);
        if (count == -EINTR)
            continue;
        if (count <= 0)
            return count < 0 ? (int)count : -EIO;
        to += count;
        offset += (uint64_t)count;
        size -= (size_t)count;
    }
    return 0;
}

static bool temporary_name(char temporary[NAME_MAX + 1], const char *name)
{
    return (size_t)snprintf(temporary, NAME_MAX + 1, "%s.tmp", name) < NAME_MAX + 1;
}

int store_io_stage(const struct store_io *io, int directory, const char *name, const void *bytes,
                   size_t size)
{
    char temporary[NAME_MAX + 1];

    if (!temporary_name(temporary, name))
        return -ENAMETOOLONG;
    int status = io->unlink(io->context, directory, temporary, 0);
    if (status < 0 && status != -ENOENT)
        return status;
    int file = io->open(io->context, directory, temporary, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (file < 0)
        return file;
    status = store_io_write(io, file, bytes, size);
    if (status == 0)
        status = io->sync(io->context, file);
    int closed = io->close(io->context, file);
    if (status == 0)
        status = closed;
    if (status < 0)
        io->unlink(io->context, directory, temporary, 0);
    return status;
}

int store_io_publish(const struct store_io *io, int directory, const char *name)
{
    char temporary[NAME_MAX + 1];

    temporary_name(temporary, name);
    int status = io->rename(io->context, directory, temporary, name);
    if (status < 0) {
        io->unlink(io->context, directory, temporary, 0);
        return status;
    }
    return io->sync(io->context, directory);
}

int store_io_replace(const struct store_io *io, int directory, const char *name, const void *bytes,
                     size_t size)
{
    int status = store_io_stage(io, directory, name, bytes, size);

    return status < 0 ? status : store_io_publish(io, directory, name);
}

int store_io_open(const struct store_io *io, int directory, const char *name, uint64_t *size)
{
    struct stat about;

    /* O_NONBLOCK: the file could be a fifo. */
    int file = io->open(io->context, directory, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (file < 0)
        return file == -ELOOP ? -EPERM : file;
    int status = fstat(file, &about) < 0 ? -errno : 0;
    if (status == 0 && (!S_ISREG(about.st_mode) || about.st_uid != geteuid() ||
                        (about.st_mode & (S_IWGRP | S_IWOTH)) != 0))
        status = -EPERM;
    if (status < 0) {
        io->close(io->context, file);
        return status;
    }
    if (size)
        *size = (uint64_t)about.st_size;
    return file;
}

int store_io_load(const struct store_io *io, int directory, const char *name, size_t limit,
                  void **bytes, size_t *size)
{
    uint64_t length;

    int file = store_io_open(io, directory, name, &length);
    if (file < 0)
        return file;
    int status = length > limit ? -EFBIG : 0;
    void *memory = status == 0 ? malloc(length + 1) : NULL;
    if (status == 0)
        status = memory ? store_io_read(io, file, 0, memory, length) : -ENOMEM;
    io->close(io->context, file);
    if (status < 0) {
        free(memory);
        return status;
    }
    *bytes = memory;
    *size = length;
    return 0;
}
