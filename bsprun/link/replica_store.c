/* replica_store.c - see replica_store.h.
 *
 * The file only grows, but what is dropped is punched out of it, and when nothing is left in it it
 * begins anew. */
#include "bsprun/link/replica_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/io.h"
#include "lib/base/temporary.h"

void replica_store_begin(struct replica_store *store, uint64_t memory_most, uint64_t file_most)
{
    *store = (struct replica_store){.memory_most = memory_most, .file_most = file_most, .fd = -1};
}

void replica_store_end(struct replica_store *store)
{
    if (store->fd >= 0)
        close(store->fd);
    store->fd = -1;
}

static void punch(const struct replica_store *store, uint64_t at, uint64_t size)
{
    if (fallocate(store->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)size))
        return; /* the file system knows no holes: the space comes back with the file's end */
}

static int spill(struct replica_store *store, void *bytes, uint64_t size, struct replica_kept *kept)
{
    if (size > store->file_most || store->file > store->file_most - size)
        return -ENOSPC;
    if (store->fd < 0)
        store->fd = bspz_temporary_file();
    if (store->fd < 0)
        return -ENOSPC;
    if (bspz_write_at(store->fd, bytes, size, store->end) != 0) {
        punch(store, store->end, size);
        return -ENOSPC;
    }
    *kept = (struct replica_kept){.size = size, .at = store->end};
    store->end += size;
    store->file += size;
    free(bytes);
    return 0;
}

int replica_store_keep(struct replica_store *store, void *bytes, uint64_t size,
                       struct replica_kept *kept)
{
    bool first = store->memory == 0 && store->file == 0;

    if (!first && (size > store->memory_most || store->memory > store->memory_most - size))
        return spill(store, bytes, size, kept);
    replica_store_keep_in_memory(store, bytes, size, kept);
    return 0;
}

void replica_store_keep_in_memory(struct replica_store *store, void *bytes, uint64_t size,
                                  struct replica_kept *kept)
{
    *kept = (struct replica_kept){.bytes = bytes, .size = size};
    store->memory += size;
}

void replica_store_drop(struct replica_store *store, struct replica_kept *kept)
{
    if (kept->bytes) {
        store->memory -= kept->size;
        free(kept->bytes);
    } else if (kept->size > 0) {
        store->file -= kept->size;
        punch(store, kept->at, kept->size);
        if (store->file == 0 && ftruncate(store->fd, 0) == 0)
            store->end = 0;
    }
    *kept = (struct replica_kept){0};
}

void replica_store_release(struct replica_store *store, struct replica_kept *kept)
{
    store->memory -= kept->size;
    *kept = (struct replica_kept){0};
}

void *replica_store_see(const struct replica_store *store, const struct replica_kept *kept,
                        void **read)
{
    *read = NULL;
    if (kept->bytes)
        return kept->bytes;
    *read = malloc(kept->size);
    if (*read && bspz_read_at(store->fd, *read, kept->size, kept->at) != 0) {
        free(*read);
        *read = NULL;
    }
    return *read;
}
