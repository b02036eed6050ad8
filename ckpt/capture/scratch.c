/* scratch.c - the scratch memory for the state of this process; see snapshot.h. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "ckpt/capture/linux.h"
#include "ckpt/capture/snapshot.h"

#define ARENA_BYTES (48u << 20)
#define STACK_BYTES (160u << 10)
#define SCRATCH_BYTES                                                                              \
    (ARENA_BYTES + BSPZ_IMAGE_WRITER_SCRATCH + STACK_BYTES + 2 * BSPZ_FORK_STACK +                 \
     BSPZ_MEMORY_BYTES + 2 * BSPZ_PAGE)

/* The one mutable static of this directory: where the scratch memory is. */
static char *scratch;

struct bspz_range bspz_snapshot_memory(void)
{
    uint64_t start = (uint64_t)(uintptr_t)scratch;

    return (struct bspz_range){start, scratch ? start + SCRATCH_BYTES : start};
}

void bspz_snapshot_forget(void)
{
    scratch = NULL;
}

/* Reserves address space, which takes memory only where touched.  All copies share the last
 * page. */
static char *make_scratch(void)
{
    long at = bspz_sys_map(0, SCRATCH_BYTES, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uint64_t last = (uint64_t)at + SCRATCH_BYTES - BSPZ_PAGE;

    if (bspz_failed(at))
        return NULL;
    if (bspz_sys_map(last, BSPZ_PAGE, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != (long)last) {
        bspz_sys2(SYS_munmap, at, SCRATCH_BYTES);
        return NULL;
    }
    return (char *)at;
}

/* Of the shared page: processes that were made by a fork share it as copies do, but each has copies
 * of its own.  That two have the same word does no harm. */
static _Atomic uint32_t *own_word(_Atomic uint32_t *page)
{
    return page + (uint64_t)bspz_sys0(SYS_getpid) % (BSPZ_PAGE / sizeof *page);
}

struct bspz_snapshot *bspz_snapshot_begin(const struct bspz_capture_options *options, char *why)
{
    struct bspz_snapshot *snapshot;

    if (!scratch)
        scratch = make_scratch();
    if (!scratch)
        return NULL;
    snapshot = (struct bspz_snapshot *)(void *)scratch;
    memset(snapshot, 0, sizeof *snapshot);
    snapshot->options = options;
    snapshot->arena.base = scratch;
    snapshot->arena.size = ARENA_BYTES;
    snapshot->arena.used = sizeof *snapshot;
    snapshot->writer_scratch = scratch + ARENA_BYTES;
    snapshot->stale = own_word((_Atomic uint32_t *)(void *)(scratch + SCRATCH_BYTES - BSPZ_PAGE));
    snapshot->tracker =
        (struct bspz_tracker *)(void *)(scratch + SCRATCH_BYTES - (size_t)2 * BSPZ_PAGE);
    snapshot->memory =
        (struct bspz_memory *)(void *)((char *)snapshot->tracker - BSPZ_MEMORY_BYTES);
    snapshot->fork_stack_top = snapshot->memory;
    snapshot->stack_top = (char *)snapshot->fork_stack_top - 2 * BSPZ_FORK_STACK;
    snapshot->why = why;
    why[0] = '\0';
    return snapshot;
}

int bspz_snapshot_fail(struct bspz_snapshot *snapshot, const char *text, long error)
{
    struct bspz_text why;

    if (snapshot->why[0])
        return (int)error;
    bspz_text_begin(&why, snapshot->why, BSPZ_WHY_SIZE);
    bspz_text_add(&why, text);
    if (error == -ENOMEM) {
        bspz_text_add(&why, ": not enough memory");
    } else {
        bspz_text_add(&why, ": error ");
        bspz_text_decimal(&why, -error);
    }
    return (int)error;
}
