/* replica_store.h - contents that are kept for hosts that trail: in memory up to a bound, then in a
 * file without a name up to another. */
#ifndef BSPRUN_REPLICA_STORE_H
#define BSPRUN_REPLICA_STORE_H

#include <stdbool.h>
#include <stdint.h>

struct replica_store {
    uint64_t memory_most, file_most;
    uint64_t memory, file; /* bytes in use */
    uint64_t end;          /* of the file */
    int fd;                /* -1: no file yet */
};

/* One content; all zero: none. */
struct replica_kept {
    void *bytes; /* NULL: in the file, at `at` */
    uint64_t size, at;
};

void replica_store_begin(struct replica_store *store, uint64_t memory_most, uint64_t file_most);
/* All contents must have been dropped. */
void replica_store_end(struct replica_store *store);

/* Takes the bytes, of malloc, over if the result is 0; -ENOSPC: no room is left, or the file cannot
 * be written.  One content is kept whatever its size. */
int replica_store_keep(struct replica_store *store, void *bytes, uint64_t size,
                       struct replica_kept *kept);
/* Beyond that bound. */
void replica_store_keep_in_memory(struct replica_store *store, void *bytes, uint64_t size,
                                  struct replica_kept *kept);
void replica_store_drop(struct replica_store *store, struct replica_kept *kept);

/* Drops a content whose bytes are in memory, and leaves those to the caller. */
void replica_store_release(struct replica_store *store, struct replica_kept *kept);

/* The bytes; where they were in the file, *read is a buffer for the caller to free, else NULL.
 * NULL: no memory, or the file cannot be read. */
void *replica_store_see(const struct replica_store *store, const struct replica_kept *kept,
                        void **read);

#endif
