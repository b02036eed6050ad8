/* spool.h - temporary storage of bytes in memory and, beyond a limit, in a file.
 *
 * A log is a part of a stream of bytes, from position `base` to `end`.  It grows at the end and is
 * dropped from the beginning.  Logs of one spool share its memory and its file.
 */
#ifndef BSPRUN_SPOOL_H
#define BSPRUN_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#define SPOOL_BLOCK 4096u

/* Opens a new private file for reading and writing, or returns -errno. */
typedef int spool_file(void *context);

struct spool;
struct spool_block;

/* All zero: empty, at position 0. */
struct spool_log {
    struct spool_block *first, *last;
    uint64_t base, end; /* base: of the first byte of `first`, or end if empty */
};

/* Keeps up to `memory` bytes in memory.  NULL: no memory. */
struct spool *spool_new(size_t memory, spool_file *file, void *context);
/* The logs must be empty; NULL is fine. */
void spool_free(struct spool *spool);

/* 0, or -errno: the log is empty then, at the position after these bytes. */
int spool_append(struct spool *spool, struct spool_log *log, const char *data, size_t size);

/* Reads up to `size` bytes from `position` on; returns their number, at least 1, or -errno
 * (-ENODATA: not kept). */
int spool_read(const struct spool *spool, const struct spool_log *log, uint64_t position,
               char *data, size_t size);

/* Drops bytes before `position`; some may remain. */
void spool_forget(struct spool *spool, struct spool_log *log, uint64_t position);
/* Removes the bytes from `position` on; base <= position <= end. */
void spool_cut(struct spool *spool, struct spool_log *log, uint64_t position);
/* Drops all; the next byte will have that position. */
void spool_clear(struct spool *spool, struct spool_log *log, uint64_t position);

#endif
