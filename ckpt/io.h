/* io.h - the system calls by which the store changes and reads its files, in one table, so that a
 * test can make any of them fail and can see the order in which they happen.
 *
 * All return 0 (unless stated otherwise) or a negative errno value.  Blocking. */
#ifndef CKPT_IO_H
#define CKPT_IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct store_io {
    void *context;
    /* A descriptor; O_CLOEXEC and O_NOFOLLOW are added to the flags. */
    int (*open)(void *context, int directory, const char *name, int flags, mode_t mode);
    int (*close)(void *context, int descriptor);
    /* Returns the number of bytes, possibly fewer than asked for. */
    ssize_t (*write)(void *context, int descriptor, const void *bytes, size_t size);
    ssize_t (*read)(void *context, int descriptor, void *bytes, size_t size, uint64_t offset);
    int (*sync)(void *context, int descriptor); /* a file or a directory */
    int (*rename)(void *context, int directory, const char *from, const char *to);
    int (*unlink)(void *context, int directory, const char *name, int flags);
    int (*make_directory)(void *context, int directory, const char *name, mode_t mode);
};

/* The system's own. */
extern const struct store_io store_io_system;

/* Writes all of it. */
int store_io_write(const struct store_io *io, int descriptor, const void *bytes, size_t size);
/* Reads all of it; -EIO when the file ends before. */
int store_io_read(const struct store_io *io, int descriptor, uint64_t offset, void *bytes,
                  size_t size);

/* Replaces a file atomically: written under another name, synced, renamed, the directory synced.
 * After a failure the file has its old contents or, if only the last step failed, possibly the new
 * ones. */
int store_io_replace(const struct store_io *io, int directory, const char *name, const void *bytes,
                     size_t size);
/* The same in two steps: make the contents durable under another name; rename. */
int store_io_stage(const struct store_io *io, int directory, const char *name, const void *bytes,
                   size_t size);
int store_io_publish(const struct store_io *io, int directory, const char *name);

/* Reads a whole file into memory of malloc.  -EFBIG beyond limit; -EPERM when it is not a
 * regular file, is not the caller's, or it is writable by others. */
int store_io_load(const struct store_io *io, int directory, const char *name, size_t limit,
                  void **bytes, size_t *size);

/* Opens a file for reading under the same conditions; *size may be NULL. */
int store_io_open(const struct store_io *io, int directory, const char *name, uint64_t *size);

#endif
