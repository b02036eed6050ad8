/* stage.c - the saved memory is put together beside the restoring program.
 *
 * A place is found that is free in both programs.  Each region gets its part of it, at the same
 * offset within 2 MiB as at home, so that moving it home moves page tables and no bytes. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "ckpt/capture/identity.h"
#include "ckpt/capture/linux.h"
#include "ckpt/capture/restore.h"
#include "ckpt/capture/vdso.h"

#define POPULATE_LEAST 32768
#define ALIGNMENT      (UINT64_C(2) << 20)
#define SLACK          (UINT64_C(1) << 30) /* left free beside the place: heap and stack may grow */
#define LEAST_SLACK    (UINT64_C(16) << 20)
#define LOWEST         UINT64_C(0x10000)
#define HIGHEST        UINT64_C(0x7ffffffff000)
#define STACK_GAP      (UINT64_C(1) << 20)  /* what the kernel keeps free below stacks */
#define STACK_MOST     (UINT64_C(64) << 30) /* for an unlimited stack */
#define RESTORER_STACK (64u << 10)
#define CODE_BYTES     (64u << 10)

/* ---- Sizes ------------------------------------------------------------------------------------
 */

/* A stack that is mapped again does not grow by itself: it gets all the room it may have. */
static uint64_t stack_start(const struct bspz_restore *restore, uint32_t index)
{
    const struct bspz_image_region *region = restore->image->regions[index];
    uint64_t top = region->address + region->length;
    uint64_t most =
        restore->thread->stack_limit < STACK_MOST ? restore->thread->stack_limit : STACK_MOST;
    uint64_t start = top > most ? top - (most & ~(uint64_t)(BSPZ_PAGE - 1)) : region->address;
    uint64_t floor = LOWEST;

    if (index > 0) {
        const struct bspz_image_region *below = restore->image->regions[index - 1];

        floor = below->address + below->length + STACK_GAP;
    }
    for (uint32_t i = 0; i < restore->apart_count; i++)
        if (restore->apart[i].end <= region->address && restore->apart[i].end + STACK_GAP > floor)
            floor = restore->apart[i].end + STACK_GAP;
    if (start < floor)
        start = floor;
    return start < region->address ? start : region->address;
}

static int list_regions(struct bspz_restore *restore)
{
    uint64_t count = restore->image->end.regions;

    restore->staged = bspz_arena_take(&restore->self->arena, count * sizeof *restore->staged);
    if (!restore->staged)
        return -ENOMEM;
    restore->staged_count = (uint32_t)count;
    for (uint32_t i = 0; i < count; i++) {
        const struct bspz_image_region *region = restore->image->regions[i];
        uint64_t start =
            region->kind == BSPZ_REGION_STACK ? stack_start(restore, i) : region->address;

        restore->staged[i] = (struct bspz_staged){
            .region = region,
            .home = start,
            .bytes = region->address + region->length - start,
        };
    }
    return 0;
}

/* ---- The place --------------------------------------------------------------------------------
 */

static uint64_t aligned_like(uint64_t at, uint64_t home)
{
    uint64_t wanted = home & (ALIGNMENT - 1);
    uint64_t start = (at & ~(ALIGNMENT - 1)) + wanted;

    return start >= at ? start : start + ALIGNMENT;
}

/* Lays out block, parking place and regions from `start` on; returns the end. */
static uint64_t lay_out(struct bspz_restore *restore, uint64_t start)
{
    uint64_t at = start + restore->block_bytes + BSPZ_PAGE;

    restore->block = start;
    restore->park = at;
    at += restore->kernel.end - restore->kernel.start + BSPZ_PAGE;
    for (uint32_t i = 0; i < restore->staged_count; i++) {
        struct bspz_staged *staged = &restore->staged[i];

        staged->at = aligned_like(at, staged->home);
        at = staged->at + staged->bytes + BSPZ_PAGE; /* neighbours must not become one mapping */
    }
    return at;
}

/* The lowest of the ranges that must stay free that ends above `at`, in no order. */
static struct bspz_range next_apart(const struct bspz_restore *restore, uint64_t at)
{
    struct bspz_range next = {HIGHEST, HIGHEST};

    for (uint32_t i = 0; i < restore->apart_count; i++)
        if (restore->apart[i].end > at && restore->apart[i].start < next.start)
            next = restore->apart[i];
    return next;
}

/* Neither this program, nor the saved one, nor what must stay free has anything there: a merge of
 * two ascending lists and one that is not. */
static void widest_hole(const struct bspz_restore *restore, struct bspz_range *best)
{
    uint32_t own = 0, saved = 0;
    uint64_t at = LOWEST;

    *best = (struct bspz_range){0, 0};
    while (at < HIGHEST) {
        struct bspz_range apart = next_apart(restore, at);
        uint64_t start = HIGHEST, end = HIGHEST;

        if (own < restore->self->maps.count) {
            start = restore->self->maps.map[own].start;
            end = restore->self->maps.map[own].end;
        }
        if (apart.start < start &&
            (saved == restore->staged_count || apart.start < restore->staged[saved].home)) {
            start = apart.start;
            end = apart.end;
        } else if (saved < restore->staged_count && restore->staged[saved].home < start) {
            start = restore->staged[saved].home;
            end = start + restore->staged[saved].bytes;
            saved++;
        } else {
            own++;
        }
        if (start > HIGHEST)
            start = HIGHEST;
        if (start > at && start - at > best->end - best->start)
            *best = (struct bspz_range){at, start};
        if (end > at)
            at = end;
    }
}

static int find_place(struct bspz_restore *restore)
{
    uint64_t need = lay_out(restore, 0) + ALIGNMENT, slack;
    struct bspz_range hole;
    long at;

    widest_hole(restore, &hole);
    slack = hole.end - hole.start > need + 2 * SLACK ? SLACK : LEAST_SLACK;
    if (hole.end - hole.start < need + 2 * slack)
        return bspz_restore_fail(restore, -ENOMEM, "no address space to put the memory together",
                                 NULL, NULL);
    restore->place.start = (hole.start + slack + ALIGNMENT) & ~(ALIGNMENT - 1);
    restore->place.end = lay_out(restore, restore->place.start);
    at = bspz_sys_map(restore->place.start, restore->place.end - restore->place.start, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != (long)restore->place.start)
        return bspz_restore_fail(restore, -ENOMEM, "no address space to put the memory together",
                                 NULL, "see ulimit -v");
    at = bspz_sys_map(restore->block, restore->block_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return bspz_failed(at) ? (int)at : 0;
}

/* ---- Regions ----------------------------------------------------------------------------------
 */

static bool has_file(const struct bspz_image_region *region)
{
    return region->kind == BSPZ_REGION_FILE || region->kind == BSPZ_REGION_SHARED_FILE;
}

/* All processes map the same file; what is in it comes from the image of one. */
static int map_common(struct bspz_restore *restore, struct bspz_staged *staged)
{
    const struct bspz_image_region *region = staged->region;
    long at;

    if (!restore->plan->common)
        return bspz_restore_fail(restore, -ESTALE, "the processes share memory since before "
                                                   "bsp_begin",
                                 NULL, "all of them must come to one host");
    at = bspz_sys_map(staged->at, staged->bytes, (int)region->protection, MAP_FIXED | MAP_SHARED,
                      restore->plan->common, region->offset);
    return bspz_failed(at) ? bspz_restore_fail(restore, (int)at, "no address space for", "memory "
                                               "that the processes share", NULL)
                           : 0;
}

static int map_region(struct bspz_restore *restore, struct bspz_staged *staged)
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
        file = bspz_sys_open(from ? from : path, (region->kind == BSPZ_REGION_SHARED_FILE ? O_RDWR : O_RDONLY) |
                                       O_CLOEXEC);
        if (file < 0 && region->kind == BSPZ_REGION_SHARED_FILE) {
            staged->at = 0; /* excluded by the user, and gone */
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
        return bspz_restore_fail(restore, (int)at, "no memory for the region of", path, NULL);
    if (region->flags & (BSPZ_REGION_HUGE | BSPZ_REGION_HUGETLB))
        bspz_sys3(SYS_madvise, staged->at, staged->bytes, MADV_HUGEPAGE);
    if (region->flags & BSPZ_REGION_NO_HUGE)
        bspz_sys3(SYS_madvise, staged->at, staged->bytes, MADV_NOHUGEPAGE);
    return 0;
}

/* ---- Contents ---------------------------------------------------------------------------------
 */

static struct bspz_staged *staged_at(struct bspz_restore *restore, uint64_t address)
{
    uint32_t low = 0, high = restore->staged_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (restore->staged[middle].home + restore->staged[middle].bytes <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < restore->staged_count && restore->staged[low].home <= address
               ? &restore->staged[low]
               : NULL;
}

bool bspz_stage_writable(struct bspz_staged *staged)
{
    if (!staged->writable &&
        bspz_sys3(SYS_mprotect, staged->at, staged->bytes, PROT_READ | PROT_WRITE) == 0)
        staged->writable = true;
    return staged->writable;
}

static void *place(void *context, uint64_t address, size_t length)
{
    struct bspz_restore *restore = context;
    struct bspz_staged *staged = staged_at(restore, address);
    uint64_t offset, to;

    if (!staged || !staged->at)
        return NULL;
    offset = address - staged->home;
    if (length > staged->bytes - offset)
        return NULL;
    to = staged->at + offset;
    if (!bspz_stage_writable(staged))
        return NULL;
    /* One call instead of a fault for each page; single pages are mostly there from an older image. */
    if (length >= POPULATE_LEAST)
        bspz_sys3(SYS_madvise, to, length, 23 /* MADV_POPULATE_WRITE */);
    return (void *)to;
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

/* ---- The kernel's pages -----------------------------------------------------------------------
 */

static void find_kernel_pages(struct bspz_restore *restore)
{
    const struct bspz_maps *maps = &restore->self->maps;

    for (uint32_t i = 0; i < maps->count; i++) {
        const struct bspz_map *map = &maps->map[i];
        bool is_vdso = strcmp(map->path, "[vdso]") == 0;

        if (!is_vdso && strncmp(map->path, "[vvar", 5) != 0)
            continue;
        if (!restore->kernel.end)
            restore->kernel.start = map->start;
        restore->kernel.end = map->end;
        if (is_vdso)
            restore->vdso = map->start;
    }
}

/* The same pages at the same distance from their data: they can simply go where they were. */
static bool is_same_kernel(const struct bspz_restore *restore)
{
    const struct bspz_thread *thread = restore->thread;
    uint64_t size = restore->kernel.end - restore->vdso, hash[2];

    if (!restore->vdso || restore->plan->other_kernel || thread->vdso_size != size ||
        restore->vdso - restore->kernel.start != thread->vdso_address - thread->vvar_address)
        return false;
    bspz_hash_bytes(hash, (const void *)restore->vdso, size);
    return memcmp(hash, restore->image->header.vdso_hash, sizeof hash) == 0;
}

static int redirect(struct bspz_restore *restore)
{
    struct bspz_staged *staged = staged_at(restore, restore->thread->vdso_address);
    int result;

    if (restore->same_kernel || !restore->thread->vdso_address)
        return 0;
    if (!staged || !staged->at || !staged->writable)
        return bspz_restore_fail(restore, -EBADMSG, "the image lacks the kernel's functions", NULL,
                                 NULL);
    if (!restore->vdso)
        return bspz_restore_fail(restore, -ENOSYS, "this kernel has no vdso", NULL, NULL);
    result = bspz_vdso_redirect((void *)staged->at, staged->bytes, (const void *)restore->vdso,
                                restore->kernel.end - restore->vdso,
                                restore->park + (restore->vdso - restore->kernel.start));
    return result < 0 ? bspz_restore_fail(restore, result, "the image's vdso is not understood",
                                          NULL, NULL)
                      : 0;
}

/* ---- All of it --------------------------------------------------------------------------------
 */

static int protect_all(struct bspz_restore *restore)
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

int bspz_stage(struct bspz_restore *restore, struct bspz_image *const *chain)
{
    struct bspz_image_fault fault = {0};
    uint32_t which = 0;
    int error = list_regions(restore);

    if (error)
        return bspz_restore_fail(restore, error, "too many regions", NULL, NULL);
    find_kernel_pages(restore);
    restore->same_kernel = is_same_kernel(restore);
    restore->block_bytes = CODE_BYTES + RESTORER_STACK + sizeof(struct bspz_restorer) +
                           BSPZ_HANDOVER_MAX + restore->pending_count * sizeof *restore->pending +
                           16 + restore->staged_count * sizeof(struct bspz_move) +
                           (restore->self->maps.count + 64) *
                               (sizeof(struct bspz_range) + 2 * sizeof(struct bspz_move));
    restore->block_bytes = (restore->block_bytes + BSPZ_PAGE - 1) & ~(uint64_t)(BSPZ_PAGE - 1);
    error = find_place(restore);
    for (uint32_t i = 0; i < restore->staged_count && !error; i++)
        error = map_region(restore, &restore->staged[i]);
    if (error)
        return error;
    bspz_stage_huge(restore);
    error = bspz_image_decode(chain, restore->plan->chain_count, place, restore, &which, &fault);
    restore->plan->image_at_fault = error && error != -ENOMEM;
    restore->plan->image_index = which;
    if (error)
        return bspz_restore_fail(restore, error, fault.text, NULL, NULL);
    error = redirect(restore);
    return error ? error : protect_all(restore);
}
