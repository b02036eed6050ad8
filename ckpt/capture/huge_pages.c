/* huge_pages.c - staged memory in huge pages.
 *
 * Most of the time of a large restore the kernel would spend on making its pages one by one.  Where
 * two aligned MiB were saved without a gap they are made as one page: nothing is in memory that was
 * not, and the mapping's own setting stays what it was.  Where free memory is in small pieces, or
 * a virtual machine has to be given it first, that takes longer than what is gained: then it is
 * left alone. */
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "ckpt/capture/linux.h"
#include "ckpt/capture/restore.h"
#include "lib/base/clock.h"

#define HUGE             (UINT64_C(2) << 20)
#define COLLAPSE         25 /* MADV_COLLAPSE of Linux 6.1 */
#define MASK             0xffffu
#define AT_ONCE          (UINT64_C(16) << 20)
/* A huge page takes 0.2 ms, its 512 small ones take 0.4 to 0.8.  Where memory has to be gathered
 * for it first it takes 2 to 5, now and then also where the others are quick. */
#define PATIENCE_NS      UINT64_C(8000000)
#define PATIENCE_EACH_NS UINT64_C(500000)

struct patience {
    uint64_t until; /* of this thread's time; later with each page made */
    uint64_t bytes; /* to ask for next: more when the last ones were quick */
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

/* The kernel makes one page of many where there is one at least.  Before that it empties the other
 * processors' lists of new pages, so it is asked for many at once, unless that is slow.  Where it
 * does not make one, the memory comes page by page. */
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
        uint64_t start = 0, end = 0; /* of blocks saved whole, without a gap so far */

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
