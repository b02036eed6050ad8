/* staged_regions.c - a region in the staging area: mapped, opened for writing, protected as it was;
 * see restore.h. */
#include <errno.h>
#include <sys/mman.h>

#include "ckpt/capture/linux.h"
#include "ckpt/capture/restore.h"

static bool has_file(const struct bspz_image_region *region)
{
    return region->kind == BSPZ_REGION_FILE || region->kind == BSPZ_REGION_SHARED_FILE;
}

/* All processes map the same memfd; its contents come from the image of one. */
static int map_common(struct bspz_restore *restore, struct bspz_staged *staged)
{
    const struct bspz_image_region *region = staged->region;
    long at;

    if (!restore->plan->common)
        return bspz_restore_fail(restore, -ESTALE,
                                 "the processes have shared memory since before bsp_begin", NULL,
                                 "all of them must be on one host");
    at = bspz_sys_map(staged->at, staged->bytes, (int)region->protection, MAP_FIXED | MAP_SHARED,
                      restore->plan->common, region->offset);
    return bspz_failed(at) ? bspz_restore_fail(restore, (int)at, "no address space for",
                                               "memory "
                                               "that the processes share",
                                               NULL)
                           : 0;
}

int bspz_staged_map(struct bspz_restore *restore, struct bspz_staged *staged)
{
    const struct bspz_image_region *region = staged->region;
    const char *path = bspz_image_region_path(region), *from = path;
    bool shared = region->flags & BSPZ_REGION_IS_SHARED;
    int flags = MAP_FIXED | (shared ? MAP_SHARED : MAP_PRIVATE), file = -1, error;
    char kept[BSPZ_KEPT_PATH];
    long at;

    if (region->kind == BSPZ_REGION_COMMON)
        return map_common(restore, staged);
    if (has_file(region)) {
        if (restore->plan->binaries && region->kind == BSPZ_REGION_FILE)
            from = bspz_restore_file(restore, region, kept, &error);
        file = bspz_sys_open(from ? from : path,
                             (region->kind == BSPZ_REGION_SHARED_FILE ? O_RDWR : O_RDONLY) |
                                 O_CLOEXEC);
        if (file < 0 && region->kind == BSPZ_REGION_SHARED_FILE) {
            staged->at = 0; /* excluded by the user, and missing */
            return 0;
        }
        if (file < 0)
            return bspz_restore_fail(restore, file, "cannot open", path, NULL);
    } else {
        flags |= MAP_ANONYMOUS;
    }
    if (region->flags & BSPZ_REGION_NO_RESERVE || region->kind == BSPZ_REGION_STACK)
        flags |= MAP_NORESERVE;
    at = bspz_sys_map(staged->at, staged->bytes, (int)region->protection, flags, file,
                      has_file(region) ? region->offset : 0);
    if (file >= 0)
        bspz_sys_close(file);
    if (bspz_failed(at))
        return bspz_restore_fail(restore, (int)at,
                                 *path ? "no memory for the region of" : "no memory for a region",
                                 path, "see ulimit -v and vm.max_map_count");
    if (region->flags & (BSPZ_REGION_HUGE | BSPZ_REGION_HUGETLB))
        bspz_sys3(SYS_madvise, staged->at, staged->bytes, MADV_HUGEPAGE);
    if (region->flags & BSPZ_REGION_NO_HUGE)
        bspz_sys3(SYS_madvise, staged->at, staged->bytes, MADV_NOHUGEPAGE);
    return 0;
}

bool bspz_staged_writable(struct bspz_staged *staged)
{
    if (!staged->writable &&
        bspz_sys3(SYS_mprotect, staged->at, staged->bytes, PROT_READ | PROT_WRITE) == 0)
        staged->writable = true;
    return staged->writable;
}

static void advise(const struct bspz_staged *staged)
{
    static const struct {
        uint32_t flag;
        int advice;
    } advices[] = {
        {BSPZ_REGION_DONT_FORK, MADV_DONTFORK},
        {BSPZ_REGION_WIPE_ON_FORK, MADV_WIPEONFORK},
        {BSPZ_REGION_DONT_DUMP, MADV_DONTDUMP},
        {BSPZ_REGION_MERGEABLE, MADV_MERGEABLE},
    };

    for (size_t i = 0; i < sizeof advices / sizeof advices[0]; i++)
        if (staged->region->flags & advices[i].flag)
            bspz_sys3(SYS_madvise, staged->at, staged->bytes, advices[i].advice);
    if (staged->region->flags & BSPZ_REGION_LOCKED)
        bspz_sys3(SYS_mlock2, staged->at, staged->bytes, 1 /* MLOCK_ONFAULT */);
}

int bspz_staged_protect(struct bspz_restore *restore)
{
    for (uint32_t i = 0; i < restore->staged_count; i++) {
        struct bspz_staged *staged = &restore->staged[i];
        long error = 0;

        if (!staged->at)
            continue;
        if (staged->writable && staged->region->protection != (PROT_READ | PROT_WRITE))
            error = bspz_sys3(SYS_mprotect, staged->at, staged->bytes, staged->region->protection);
        if (error)
            return bspz_restore_fail(restore, (int)error, "a region cannot be protected", NULL,
                                     NULL);
        advise(staged);
    }
    return 0;
}
