/* spill.c - see spill.h. */
#include "bsprun/agent/spill.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bsprun/dataspace/extents.h"
#include "lib/base/temporary.h"

/* Of a file that objects share: it takes a descriptor, and address space, but no room of its own,
 * so that it is large. */
#define SHARED_BYTES (UINT64_C(256) << 20)
#define SHARED_LEAST (UINT64_C(16) << 20) /* smaller ones would take too many descriptors */
#define OWN_LEAST    (UINT64_C(4) << 20)  /* bytes of an object that has a file of its own */

struct spill {
    struct extents *extents;
};

/* Bytes that a file may have: more would be SIGXFSZ. */
static uint64_t file_most(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 ? limit.rlim_cur : 0;
}

/* NULL: there is no address space, or there are too many mappings. */
static void *map_file(int file, uint64_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    if (at == MAP_FAILED)
        return NULL;
    madvise(at, size, MADV_DONTDUMP);
    return at;
}

/* ---- Files that objects share ---------------------------------------------------------------- */

static bool give(int file, uint64_t offset, uint64_t size)
{
    return fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
                     (off_t)size) == 0;
}

/* Not where the file system cannot give back the room of a part.  Without MADV_RANDOM the kernel
 * reads ahead of the places, in units for which it needs room on the disk as a whole when a part of
 * them is written to: SIGBUS, where there is room for the places only. */
static void *on_open(void *context, uint64_t *size, int *file)
{
    uint64_t most = file_most() / EXTENT_PAGE * EXTENT_PAGE;
    void *at = NULL;

    (void)context;
    if (*size > most)
        *size = most;
    *file = *size >= SHARED_LEAST ? bspz_temporary_file() : -1;
    if (*file < 0)
        return NULL;
    if (ftruncate(*file, (off_t)*size) == 0 && give(*file, 0, EXTENT_PAGE))
        at = map_file(*file, *size);
    if (at)
        madvise(at, *size, MADV_RANDOM);
    else
        close(*file);
    return at;
}

static void on_close(void *context, int file, void *at, uint64_t size)
{
    (void)context;
    munmap(at, size);
    close(file);
}

static void on_give(void *context, int file, uint64_t offset, uint64_t size)
{
    (void)context;
    give(file, offset, size);
}

/* Room is taken at once: writing to memory that finds none would be SIGBUS. */
static bool on_take(void *context, int file, uint64_t offset, uint64_t size)
{
    (void)context;
    if (posix_fallocate(file, (off_t)offset, (off_t)size) == 0)
        return true;
    give(file, offset, size);
    return false;
}

/* ---- Files of one object --------------------------------------------------------------------- */

static void *map_own(uint64_t size)
{
    int file = size <= file_most() ? bspz_temporary_file() : -1;
    void *at = NULL;

    if (file < 0)
        return NULL;
    if (posix_fallocate(file, 0, (off_t)size) == 0)
        at = map_file(file, size);
    close(file);
    return at;
}

/* ---- Life ------------------------------------------------------------------------------------ */

struct spill *spill_open(void)
{
    static const struct extent_files files = {
        .open = on_open, .close = on_close, .take = on_take, .give = on_give};
    struct spill *spill = malloc(sizeof *spill);

    if (!spill)
        return NULL;
    spill->extents = extents_open(SHARED_BYTES, &files, NULL);
    if (spill->extents)
        return spill;
    free(spill);
    return NULL;
}

void spill_close(struct spill *spill)
{
    if (spill)
        extents_close(spill->extents);
    free(spill);
}

void *spill_map(struct spill *spill, uint64_t size)
{
    void *at = size < OWN_LEAST ? extents_take(spill->extents, size) : NULL;

    /* Descriptors or address space for a whole extent may be what there is none of. */
    return at ? at : map_own(size);
}

void spill_unmap(struct spill *spill, void *at, uint64_t size)
{
    if (!extents_give(spill->extents, at, size))
        munmap(at, size);
}
