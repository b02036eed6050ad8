/* huge_pages.c - staged memory in huge pages.
 *
 * A large restore would spend most of its time on page faults.  Two aligned MiB that were saved
 * without a gap are made one huge page: memory use does not grow, and the mapping's own setting
 * does not change.  Where free memory is fragmented, or a virtual machine must first be given
 * memory, this takes longer than it gains; then it is not done. */
#include <string.h>
#include <time.h>

#include "ckpt/capture/linux.h"
#include "ckpt/capture/restore.h"
#include "lib/base/clock.h"

#define HUGE             (UINT64_C(2) << 20)
#define COLLAPSE         25 /* MADV_COLLAPSE of Linux 6.1 */
#define MASK             0xffffu
#define AT_ONCE          (UINT64_C(16) << 20)
/* A huge page takes 0.2 ms, its 512 small ones 0.4 to 0.8.  With compaction of memory it takes 2 to
 * 5, occasionally also where the others are quick. */
#define PATIENCE_NS      UINT64_C(8000000)
#define PATIENCE_EACH_NS UINT64_C(500000)

struct patience {
    uint64_t until; /* in this thread's CPU time; extended by each page made */
    uint64_t bytes; /* of the next request: more when the last ones were quick */
};

static bool is_forbidden(void)
{
    char setting[128];
    long bytes =
        bspz_sys_slurp("/sys/kernel/mm/transparent_hugepage/enabled", setting, sizeof setting);

    return bytes < 0 || strstr(setting, "[never]");
}

static bool is_suitable(const struct bspz_staged *staged)
{
    const struct bspz_image_region *region = staged->region;

    return staged->at && staged->bytes >= HUGE &&
           (region->kind == BSPZ_REGION_ANON || region->kind == BSPZ_REGION_HEAP) &&
           !(region->flags & (BSPZ_REGION_IS_SHARED | BSPZ_REGION_HUGETLB | BSPZ_REGION_NO_HUGE));
}

/* The kernel collapses a range that has at least one page.  It drains the page lists of all
 * processors first, so one call asks for many pages, unless that is slow.  Where it refuses, the
 * memory comes page by page. */
static void collapse(struct bspz_staged *staged, uint64_t start, uint64_t end,
                     struct patience *patience)
{
    uint64_t region_end = staged->home + staged->bytes;

    if (start < staged->home)
        start = staged->home;
    if (end > region_end)
        end = region_end;
    start = (start + HUGE - 1) & ~(HUGE - 1);
    end &= ~(HUGE - 1);
    if (start >= end || !bspz_staged_writable(staged))
        return;
    for (uint64_t at = start, bytes; at < end; at += bytes) {
        uint64_t to = staged->at + (at - staged->home),
                 begun = bspz_clock_ns(CLOCK_THREAD_CPUTIME_ID), allowed;

        if (begun >= patience->until)
            return;
        bytes = end - at < patience->bytes ? end - at : patience->bytes;
        allowed = bytes / HUGE * PATIENCE_EACH_NS;
        for (uint64_t page = to; page < to + bytes; page += HUGE)
            *(volatile char *)page = 0;
        if (bspz_sys3(SYS_madvise, to, bytes, COLLAPSE) != 0)
            patience->until = 0;
        else
            patience->until += allowed;
        if (bspz_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun > allowed)
            patience->bytes = HUGE;
        else if (patience->bytes < AT_ONCE)
            patience->bytes *= 2;
    }
}

void bspz_stage_huge(struct bspz_restore *restore)
{
    const struct bspz_image *image = restore->image;
    struct patience patience = {bspz_clock_ns(CLOCK_THREAD_CPUTIME_ID) + PATIENCE_NS, HUGE};
    uint64_t block = 0;

    if (is_forbidden())
        return;
    for (uint32_t i = 0; i < restore->staged_count; i++) {
        struct bspz_staged *staged = &restore->staged[i];
        uint64_t start = 0, end = 0; /* of the present run of completely saved blocks */

        if (!is_suitable(staged))
            continue;
        for (; block < image->end.blocks; block++) {
            uint64_t where = image->blocks[block].where, at = where & ~(uint64_t)MASK;

            if (at >= staged->home + staged->bytes)
                break;
            if (at + BSPZ_IMAGE_BLOCK <= staged->home || (where & MASK) != MASK)
                continue;
            if (at != end) {
                collapse(staged, start, end, &patience);
                start = at;
            }
            end = at + BSPZ_IMAGE_BLOCK;
        }
        collapse(staged, start, end, &patience);
        /* The last block may reach into the next region. */
        block -= block > 0;
    }
}
