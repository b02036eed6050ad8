/* staging_area.c - the addresses at which the saved memory is staged: free in the restoring program
 * and in the saved one; see stage.c.
 *
 * Each region lies at the same offset within 2 MiB as at its final address, so that moving it there
 * moves page tables and no bytes. */
#include <errno.h>
#include <sys/mman.h>

#include "ckpt/capture/linux.h"
#include "ckpt/capture/restore.h"

#define ALIGNMENT   (UINT64_C(2) << 20)
#define SLACK       (UINT64_C(1) << 30) /* left free beside the area: heap and stack may grow */
#define LEAST_SLACK (UINT64_C(16) << 20)
#define LOWEST      UINT64_C(0x10000)
#define HIGHEST     UINT64_C(0x7ffffffff000)
#define STACK_GAP   (UINT64_C(1) << 20)  /* what the kernel keeps free below stacks */
#define STACK_MOST  (UINT64_C(64) << 30) /* for an unlimited stack */

/* ---- Sizes ----------------------------------------------------------------------------------- */

/* A restored stack cannot grow: it is mapped in the greatest size it may have. */
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

int bspz_stage_list(struct bspz_restore *restore)
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

/* ---- The place ------------------------------------------------------------------------------- */

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
        at = staged->at + staged->bytes + BSPZ_PAGE; /* adjacent regions must not merge */
    }
    return at;
}

/* Of the ranges that must stay free, which are unordered, the lowest that ends above `at`. */
static struct bspz_range next_apart(const struct bspz_restore *restore, uint64_t at)
{
    struct bspz_range next = {HIGHEST, HIGHEST};

    for (uint32_t i = 0; i < restore->apart_count; i++)
        if (restore->apart[i].end > at && restore->apart[i].start < next.start)
            next = restore->apart[i];
    return next;
}

/* Finds the widest hole in this program, the saved one and the ranges that must stay free, by
 * merging two ascending lists and an unordered one. */
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

int bspz_stage_place(struct bspz_restore *restore)
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
