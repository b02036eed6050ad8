/* half.c - see half.h. */
#include "lib/rt/half.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

#include "lib/rt/reserve.h"
#include "lib/shm/exchange.h"

#define PAGE                UINT64_C(4096)
#define FIRST_COMMIT        (UINT64_C(64) << 10)
#define FIRST_COMMIT_ALL    (UINT64_C(4) << 20) /* sum over all ranks */
#define COMMIT_STEP_MAXIMUM (UINT64_C(64) << 20)
#define CALM_SUPERSTEPS     64 /* a half used below a quarter for so long frees memory */

static uint64_t up_to_page(uint64_t bytes)
{
    return (bytes + PAGE - 1) & ~(PAGE - 1);
}

static int try_to_allocate(int mode, const char *at, uint64_t bytes)
{
    off_t offset = (off_t)bspz_offset_of(at);

    return fallocate(bspz_rt.board_fd, mode, offset, (off_t)bytes) == 0 ? 0 : errno;
}

/* 0 or an errno.  Some kernels (Linux 6.1) abort the call at any signal and free what was
 * allocated: a fast timer would make it fail for ever, so the second attempt blocks signals. */
static int allocate(int mode, const char *at, uint64_t bytes)
{
    int error = try_to_allocate(mode, at, bytes);
    sigset_t all, before;

    if (error != EINTR)
        return error;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    do {
        error = try_to_allocate(mode, at, bytes);
    } while (error == EINTR);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return error;
}

int bspz_commit(const void *at, uint64_t bytes)
{
    return allocate(0, at, bytes);
}

/* The amount by which to grow: doubles the half. */
static uint64_t step_of(const struct bspz_half *half)
{
    uint64_t least = FIRST_COMMIT_ALL / (uint64_t)bspz_rt.nprocs & ~(PAGE - 1);
    uint64_t step = half->all;

    least = least < PAGE ? PAGE : least > FIRST_COMMIT ? FIRST_COMMIT : least;
    if (step < least)
        return least;
    return step < COMMIT_STEP_MAXIMUM ? step : COMMIT_STEP_MAXIMUM;
}

/* Backs the first `bytes` of stretch k with memory.  0 or an errno. */
static int commit(struct bspz_half *half, unsigned k, uint64_t bytes)
{
    uint64_t most = bspz_stretch_bytes(&bspz_rt.board->layout, k);
    uint64_t before = half->committed[k];
    uint64_t target = before + step_of(half);
    int error;

    if (bytes > most)
        return ENOMEM;
    if (target < bytes)
        target = up_to_page(bytes);
    if (target > most)
        target = most;
    error = bspz_commit(half->stretch[k] + before, target - before);
    if (error && target > up_to_page(bytes)) {
        target = up_to_page(bytes);
        error = bspz_commit(half->stretch[k] + before, target - before);
    }
    if (!error)
        error = bspz_reserve_open(bspz_offset_of(half->stretch[k]), target);
    if (error)
        return error;
#ifdef MADV_POPULATE_WRITE
    /* One call is cheaper than a fault per page; without it the pages are faulted in. */
    madvise(half->stretch[k] + before, target - before, MADV_POPULATE_WRITE);
#endif
    half->committed[k] = target;
    half->all += target - before;
    return 0;
}

int bspz_half_begin(struct bspz_half *half, int parity)
{
    const struct bspz_layout *layout = &bspz_rt.board->layout;

    *half = (struct bspz_half){0};
    for (unsigned k = 0; k < BSPZ_STRETCHES; k++)
        half->stretch[k] =
            (char *)bspz_rt.board +
            bspz_stretch_offset(layout, bspz_rt.nprocs, bspz_rt.pid, (uint64_t)parity, k);
    bspz_half_reset(half);
    return commit(half, 0, PAGE);
}

/* Moves top by `bytes`, which fit the present stretch; 0 or an errno. */
static int raise_top(struct bspz_half *half, uint64_t bytes)
{
    uint64_t end = half->top + bytes - bspz_stretch_start(half->now);

    if (end > half->committed[half->now]) {
        int error = commit(half, half->now, end);

        if (error)
            return error;
    }
    half->top += bytes;
    return 0;
}

void *bspz_half_take(struct bspz_half *half, uint64_t least, uint64_t *bytes, int *error)
{
    void *piece;

    while (half->now + 1 < BSPZ_STRETCHES && half->end - half->top < least)
        bspz_half_enter(half, half->now + 1);
    if (*bytes > half->end - half->top)
        *bytes = half->end - half->top < least ? least : half->end - half->top;
    piece = half->origin + half->top;
    *error = raise_top(half, *bytes);
    if (*error && *bytes > least) {
        *bytes = least;
        *error = raise_top(half, least);
    }
    return *error ? NULL : piece;
}

uint64_t bspz_half_extend(struct bspz_half *half, const char *end, uint64_t least, uint64_t most)
{
    uint64_t left = half->end - half->top;

    if (end != half->origin + half->top || left < least)
        return 0;
    if (most > left)
        most = left;
    if (raise_top(half, most) == 0)
        return most;
    return raise_top(half, least) == 0 ? least : 0;
}

/* Frees the memory after place `keep`. */
static void shrink_to(struct bspz_half *half, uint64_t keep)
{
    half->all = 0;
    for (unsigned k = 0; k < BSPZ_STRETCHES; k++) {
        uint64_t start = bspz_stretch_start(k);
        uint64_t rest = keep > start ? up_to_page(keep - start) : 0;

        if (rest < half->committed[k] &&
            allocate(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, half->stretch[k] + rest,
                     half->committed[k] - rest) == 0)
            half->committed[k] = rest;
        half->all += half->committed[k];
    }
}

void bspz_half_give_back(struct bspz_half *half)
{
    if (half->top > half->peak)
        half->peak = half->top;
    if (half->top < half->all / 4) {
        if (++half->calm < CALM_SUPERSTEPS / 2) /* each half sees every second superstep */
            return;
        shrink_to(half, half->peak > BSPZ_HALF_SMALL / 4 ? half->peak : BSPZ_HALF_SMALL / 4);
    }
    half->calm = 0;
    half->peak = 0;
}
