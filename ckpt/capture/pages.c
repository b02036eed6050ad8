/* pages.c - which pages of a mapping are the process's own, in memory or swapped out.
 *
 * They are found by PAGEMAP_SCAN (Linux 6.7) in one call, else by an array with a word for each
 * page.  Pages of a file that were never written, pages never touched and the zero page are not
 * own.  Pages of zeros are not saved either where the mapping reads as zero anyway: whoever reads
 * all pages can leave them out by itself, and else they are looked for here. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "ckpt/capture/linux.h"
#include "ckpt/capture/pagemap_scan.h"
#include "ckpt/capture/snapshot.h"

#define RUNS_AT_ONCE  2048
#define WORDS_AT_ONCE 8192

#define ENTRY_PRESENT (UINT64_C(1) << 63)
#define ENTRY_SWAPPED (UINT64_C(1) << 62)
#define ENTRY_FILE    (UINT64_C(1) << 61)
#define ENTRY_GUARD   (UINT64_C(1) << 58)

struct visit {
    bspz_run_function *function;
    void *context;
    bool skip_zeros;
};

static bool is_zero(const void *page)
{
    const uint64_t *word = page;

    for (size_t i = 0; i < BSPZ_PAGE / sizeof *word; i += 8)
        if (word[i] | word[i + 1] | word[i + 2] | word[i + 3] | word[i + 4] | word[i + 5] |
            word[i + 6] | word[i + 7])
            return false;
    return true;
}

static int give(const struct visit *visit, uint64_t start, uint64_t end)
{
    if (!visit->skip_zeros)
        return visit->function(visit->context, start, end);
    while (start < end) {
        uint64_t stop;
        int error;

        while (start < end && is_zero((const void *)start))
            start += BSPZ_PAGE;
        for (stop = start; stop < end && !is_zero((const void *)stop); stop += BSPZ_PAGE)
            continue;
        error = stop > start ? visit->function(visit->context, start, stop) : 0;
        if (error)
            return error;
        start = stop;
    }
    return 0;
}

/* `files`: pages of a file may be among them.  To tell them apart the kernel looks at its record of
 * each page, which takes longer than all the rest. */
static int by_scan(const struct visit *visit, uint64_t start, uint64_t end, bool files, int pagemap,
                   struct bspz_scan_run *runs)
{
    const uint64_t never = files ? BSPZ_SCAN_FILE | BSPZ_SCAN_ZERO_PAGE : BSPZ_SCAN_ZERO_PAGE;
    struct bspz_scan scan = {
        .size = sizeof scan,
        .end = end,
        .vec = (uint64_t)(uintptr_t)runs,
        .vec_len = RUNS_AT_ONCE,
        .category_inverted = never | BSPZ_SCAN_GUARD,
        .category_mask = never | BSPZ_SCAN_GUARD,
        .category_anyof_mask = BSPZ_SCAN_PRESENT | BSPZ_SCAN_SWAPPED,
    };

    while (start < end) {
        long count;

        scan.start = start;
        count = bspz_sys3(SYS_ioctl, pagemap, BSPZ_SCAN_REQUEST, &scan);
        if (count == -EINVAL && scan.category_mask & BSPZ_SCAN_GUARD) {
            scan.category_inverted = scan.category_mask = never;
            count = bspz_sys3(SYS_ioctl, pagemap, BSPZ_SCAN_REQUEST, &scan);
        }
        if (count < 0)
            return (int)count;
        for (long i = 0; i < count; i++) {
            int error = give(visit, runs[i].start, runs[i].end);

            if (error)
                return error;
        }
        if (scan.walk_end <= start)
            return -EIO;
        start = scan.walk_end;
    }
    return 0;
}

static int by_words(const struct visit *visit, uint64_t start, uint64_t end, int pagemap,
                    uint64_t *words)
{
    uint64_t first = 0, after = 0; /* the run so far */

    for (uint64_t at = start; at < end;) {
        uint64_t pages = (end - at) / BSPZ_PAGE;
        long bytes;

        if (pages > WORDS_AT_ONCE)
            pages = WORDS_AT_ONCE;
        bytes = bspz_sys4(SYS_pread64, pagemap, words, pages * 8, at / BSPZ_PAGE * 8);
        if (bytes < 8)
            return bytes < 0 ? (int)bytes : -EIO;
        for (long i = 0; i < bytes / 8; i++, at += BSPZ_PAGE) {
            bool own = words[i] & (ENTRY_PRESENT | ENTRY_SWAPPED) &&
                       !(words[i] & (ENTRY_FILE | ENTRY_GUARD));
            int error;

            if (!own)
                continue;
            if (at == after) {
                after += BSPZ_PAGE;
                continue;
            }
            error = after > first ? give(visit, first, after) : 0;
            if (error)
                return error;
            first = at;
            after = at + BSPZ_PAGE;
        }
    }
    return after > first ? give(visit, first, after) : 0;
}

/* Memory shared among processes is in the page cache: only existing pages are read, since reading
 * would create others. */
static int by_residence(const struct visit *visit, const struct bspz_piece *piece, uint64_t start,
                        uint64_t end, unsigned char *pages)
{
    while (start < end) {
        uint64_t count = (end - start) / BSPZ_PAGE;
        long error;

        if (count > WORDS_AT_ONCE)
            count = WORDS_AT_ONCE;
        error = bspz_sys3(SYS_mincore, start, count * BSPZ_PAGE, pages);
        if (error || piece->map->swapped)
            memset(pages, 1, count);
        for (uint64_t i = 0; i < count; i++, start += BSPZ_PAGE) {
            int failed = pages[i] & 1 ? give(visit, start, start + BSPZ_PAGE) : 0;

            if (failed)
                return failed;
        }
    }
    return 0;
}

static bool is_shared(const struct bspz_piece *piece)
{
    return piece->kind == BSPZ_REGION_SHARED || piece->kind == BSPZ_REGION_COMMON;
}

/* Memory that is nothing but the process's own. */
static bool may_have_file_pages(const struct bspz_piece *piece)
{
    return piece->map->inode != 0 || piece->map->flags & BSPZ_MAP_SHARED;
}

static int find(const struct visit *visit, const struct bspz_piece *piece, int pagemap,
                void *buffer)
{
    uint64_t start = piece->now_at + (piece->save_from - piece->start);
    uint64_t end = piece->now_at + (piece->end - piece->start);
    bool copied = piece->now_at != piece->start;
    int error;

    if (is_shared(piece) && !copied)
        return by_residence(visit, piece, start, end, buffer);
    error = by_scan(visit, start, end, may_have_file_pages(piece), pagemap, buffer);
    if (error == -ENOTTY || error == -EINVAL)
        return by_words(visit, start, end, pagemap, buffer);
    return error;
}

bool bspz_reads_as_zero(const struct bspz_piece *piece)
{
    return piece->kind != BSPZ_REGION_FILE && piece->kind != BSPZ_REGION_VDSO;
}

int bspz_own_pages(const struct bspz_piece *piece, struct bspz_arena *arena, int pagemap,
                   bool with_zeros, bspz_run_function *function, void *context)
{
    const struct visit visit = {function, context,
                                .skip_zeros = !with_zeros && bspz_reads_as_zero(piece)};
    struct bspz_arena before = *arena;
    uint64_t length = piece->end - piece->start;
    bool unreadable = !(piece->map->prot & PROT_READ) && piece->now_at == piece->start;
    void *buffer;
    int error;

    if (piece->kind == BSPZ_REGION_VDSO)
        return function(context, piece->start, piece->end);
    if (piece->excluded || piece->elsewhere ||
        (piece->map->flags & BSPZ_MAP_SHARED && piece->kind == BSPZ_REGION_FILE))
        return 0;
    if (piece->map->present == 0 && piece->map->swapped == 0 && !is_shared(piece))
        return 0;
    buffer = bspz_arena_take(arena, WORDS_AT_ONCE * 8);
    if (!buffer)
        return -ENOMEM;
    if (unreadable)
        bspz_sys3(SYS_mprotect, piece->start, length, piece->map->prot | PROT_READ);
    error = find(&visit, piece, pagemap, buffer);
    if (unreadable)
        bspz_sys3(SYS_mprotect, piece->start, length, piece->map->prot);
    *arena = before;
    return error;
}

_Static_assert(RUNS_AT_ONCE * sizeof(struct bspz_scan_run) <= WORDS_AT_ONCE * 8, "one buffer");
