/* spool.h - bytes that are kept for a while: in memory, and what is too much in a file.
 *
 * A log is a stretch of a stream of bytes, from `base` up to `end` of its positions.  It grows at
 * the end and is forgotten from the beginning.  Logs of one spool share its memory and its file.
 */
#ifndef BSPRUN_SPOOL_H
#define BSPRUN_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#define SPOOL_BLOCK 4096u

/* A new file to read and write, which nobody else knows; -errno when there is none. */
typedef int spool_file(void *context);

struct spool;
struct spool_block;

/* All zero: empty, at position 0. */
struct spool_log {
    struct spool_block *first, *last;
    uint64_t base, end; /* base: of the first byte of `first`, or end when there is nothing */
};

/* Keeps up to `memory` bytes by itself.  NULL: no memory. */
struct spool *spool_new(size_t memory, spool_file *file, void *context);
/* The logs must be empty; NULL is fine. */
void spool_free(struct spool *spool);

/* 0, or -errno: then the log is empty, and at the position it should have got to. */
int spool_append(struct spool *spool, struct spool_log *log, const char *data, size_t size);

/* Reads up to `size` bytes from `position` on; how many it were, at least 1, or -errno (-ENODATA:
 * they are not kept). */
int spool_read(const struct spool *spool, const struct spool_log *log, uint64_t position,
               char *data, size_t size);

/* What is before `position` is not needed any more; some of it may stay. */
void spool_forget(struct spool *spool, struct spool_log *log, uint64_t position);
/* Takes back what is from `position` on; base <= position <= end. */
void spool_cut(struct spool *spool, struct spool_log *log, uint64_t position);
/* Forgets all; the next byte will have that position. */
void spool_clear(struct spool *spool, struct spool_log *log, uint64_t position);

#endif
