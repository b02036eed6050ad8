/* restage.c - staged memory becomes that of a newer image of the same process.
 *
 * The regions may have changed since.  So the newer state gets a place of its own, and a region
 * that begins where it did and is of the same kind takes its pages along, by page tables and not by
 * bytes.  Other pages that are the same as before are copied: those of regions that were divided or
 * joined.  Then the newer images are decoded.
 *
 * What can fail: memory, address space, a damaged image; the process ends, and the whole chain is
 * restored by another one. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "ckpt/capture/linux.h"
#include "ckpt/capture/restore.h"

struct restage {
    struct bspz_restore *restore;
    struct bspz_staged *before; /* those that were staged, ascending */
    uint32_t before_count;
    struct bspz_range place; /* where */
};

/* ---- Regions --------------------------------------------------------------------------------- */

static bool is_private_memory(const struct bspz_image_region *region)
{
    return region->kind == BSPZ_REGION_ANON || region->kind == BSPZ_REGION_HEAP ||
           region->kind == BSPZ_REGION_STACK;
}

static bool is_same_file(const struct bspz_image_region *one, const struct bspz_image_region *other)
{
    return one->kind == BSPZ_REGION_FILE && other->kind == BSPZ_REGION_FILE &&
           one->offset == other->offset && one->file_size == other->file_size &&
           one->device == other->device && one->inode == other->inode &&
           one->modified == other->modified && one->path_size == other->path_size &&
           memcmp(bspz_image_region_path(one), bspz_image_region_path(other), one->path_size) == 0;
}

static bool is_continued(const struct bspz_staged *before, const struct bspz_staged *now)
{
    const struct bspz_image_region *was = before->region, *is = now->region;

    return before->at && before->home == now->home && was->flags == is->flags &&
           !(is->flags & BSPZ_REGION_IS_SHARED) &&
           ((is_private_memory(was) && is_private_memory(is)) || is_same_file(was, is));
}

/* Moves what was staged of the region, which gets its present length.  What it had beyond that
 * stays where it is, for the region that has it now. */
static int move(struct bspz_restore *restore, struct bspz_staged *before, struct bspz_staged *now)
{
    uint64_t bytes = before->bytes < now->bytes ? before->bytes : now->bytes;
    long at = bspz_sys5(SYS_mremap, before->at, bytes, now->bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                        now->at);

    if (at != (long)now->at)
        return bspz_restore_fail(restore, (int)at, "staged memory cannot be moved", NULL, NULL);
    now->moved = bytes;
    now->writable = before->writable;
    if (before->region->protection != now->region->protection && !bspz_staged_writable(now))
        return bspz_restore_fail(restore, -EACCES, "a region cannot be protected", NULL, NULL);
    return 0;
}

static int map_regions(struct restage *restage)
{
    struct bspz_restore *restore = restage->restore;
    int error = 0;

    for (uint32_t i = 0; i < restore->staged_count && !error; i++) {
        struct bspz_staged *now = &restore->staged[i];
        struct bspz_staged *before =
            bspz_staged_at(restage->before, restage->before_count, now->home);

        if (before && is_continued(before, now))
            error = move(restore, before, now);
        else
            error = bspz_staged_map(restore, now);
    }
    return error;
}

/* ---- Pages ----------------------------------------------------------------------------------- */

/* The bytes from address on that moved with their region, at most length. */
static size_t moved_bytes(const struct bspz_staged *staged, uint64_t address, size_t length)
{
    uint64_t offset = address - staged->home;
    uint64_t moved = staged->moved > offset ? staged->moved - offset : 0;

    return moved < length ? (size_t)moved : length;
}

static int copy(struct restage *restage, uint64_t address, size_t length)
{
    const struct bspz_staged *before =
        bspz_staged_at(restage->before, restage->before_count, address);
    void *to = bspz_stage_bytes(restage->restore, address, length);

    if (!before || !before->at || !to || length > before->bytes - (address - before->home))
        return -EFAULT;
    memcpy(to, (const void *)(before->at + (address - before->home)), length);
    return 0;
}

/* The run may span several regions, of now and of before; pages lie within one of each. */
static int keep(void *context, uint64_t address, size_t length)
{
    struct restage *restage = context;
    struct bspz_restore *restore = restage->restore;
    int error = 0;

    while (length > 0 && !error) {
        const struct bspz_staged *now =
            bspz_staged_at(restore->staged, restore->staged_count, address);
        size_t part = now ? moved_bytes(now, address, length) : 0;

        if (!now)
            return -EFAULT;
        if (part == 0) {
            part = BSPZ_PAGE;
            error = copy(restage, address, part);
        }
        address += part;
        length -= part;
    }
    return error;
}

static void *place(void *context, uint64_t address, size_t length)
{
    struct restage *restage = context;

    return bspz_stage_bytes(restage->restore, address, length);
}

static int drop(void *context, uint64_t address, size_t length)
{
    const struct restage *restage = context;
    const struct bspz_restore *restore = restage->restore;
    long error = 0;

    for (; length > 0 && !error; address += BSPZ_PAGE, length -= BSPZ_PAGE) {
        const struct bspz_staged *now =
            bspz_staged_at(restore->staged, restore->staged_count, address);

        if (now && moved_bytes(now, address, BSPZ_PAGE) > 0)
            error =
                bspz_sys3(SYS_madvise, now->at + (address - now->home), BSPZ_PAGE, MADV_DONTNEED);
    }
    return (int)error;
}

/* ---- All of it ------------------------------------------------------------------------------- */

int bspz_stage_again(struct bspz_restore *restore, uint32_t newer)
{
    struct restage restage = {.restore = restore,
                              .before = restore->staged,
                              .before_count = restore->staged_count,
                              .place = restore->place};
    const struct bspz_image_changes changes = {place, keep, drop, &restage};
    const struct bspz_restore_chain *chain = &restore->chain;
    struct bspz_image_fault fault = {0};
    uint32_t which = 0;
    int error = bspz_stage_begin(restore);

    if (!error)
        error = map_regions(&restage);
    if (error)
        return error;
    error = bspz_image_advance(chain->newest, chain->count, newer, &changes, &which, &fault);
    restore->plan->image_at_fault = error && error != -ENOMEM && error != -EFAULT;
    restore->plan->image_index = which;
    if (error)
        return bspz_restore_fail(restore, error, fault.text, NULL, NULL);
    bspz_sys2(SYS_munmap, restage.place.start, restage.place.end - restage.place.start);
    return 0;
}
