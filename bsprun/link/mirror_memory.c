/* mirror_memory.c - memory for data from other hosts; see mirror_inside.h.
 *
 * It is committed on demand before it is written (running out is an error, never SIGBUS), and freed
 * when a half that was large stays mostly empty.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bsprun/link/mirror_inside.h"

#define SMALL      (UINT64_C(256) << 10) /* a smaller half keeps its memory */
#define CALM_TIMES 32
#define TABLE_STEP (UINT64_C(64) << 10)

/* 0 or -errno.  Some kernels abort the call at any signal: the second attempt blocks signals. */
static int allocate(const struct mirror *mirror, int mode, uint64_t offset, uint64_t bytes)
{
    sigset_t all, before;
    int error;

    if (fallocate(mirror->board_fd, mode, (off_t)offset, (off_t)bytes) == 0)
        return 0;
    if (errno != EINTR)
        return -errno;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    do {
        error = fallocate(mirror->board_fd, mode, (off_t)offset, (off_t)bytes) == 0 ? 0 : -errno;
    } while (error == -EINTR);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

int mirror_back(const struct mirror *mirror, uint64_t offset, uint64_t bytes)
{
    int error = allocate(mirror, 0, offset, bytes);

#ifdef MADV_POPULATE_WRITE
    /* One call is cheaper than a fault for each page. */
    if (!error) {
        uint64_t start = offset & ~UINT64_C(4095);

        madvise((char *)mirror->board + start, offset + bytes - start, MADV_POPULATE_WRITE);
    }
#endif
    return error;
}

/* Finds the half and offset of a range; false: in none, or not contiguous. */
struct place {
    unsigned k;
    uint64_t half;   /* parity * nprocs + pid */
    uint64_t offset; /* in the stretch */
};

static bool locate(const struct mirror *mirror, const struct mirror_range *range,
                   struct place *place)
{
    const struct bspz_layout *layout = &mirror->board->layout;

    for (unsigned k = BSPZ_STRETCHES; k-- > 0;) {
        uint64_t size = bspz_stretch_bytes(layout, k);
        uint64_t from;

        if (range->offset < layout->stretch[k])
            continue;
        from = range->offset - layout->stretch[k];
        *place = (struct place){k, from / size, from % size};
        return place->half < 2 * (uint64_t)mirror->nprocs && range->bytes <= size - place->offset;
    }
    return false;
}

bool mirror_in_half(const struct mirror *mirror, int pid, uint64_t superstep,
                    const struct mirror_range *range)
{
    struct place place;

    return locate(mirror, range, &place) &&
           place.half == (superstep & 1) * (uint64_t)mirror->nprocs + (uint64_t)pid;
}

static bool is_backed(const struct mirror_half *half, uint64_t granule)
{
    return granule / 64 < half->words && half->backed[granule / 64] >> granule % 64 & 1;
}

static int remember(struct mirror_half *half, uint64_t from, uint64_t to)
{
    uint64_t words = (to + 63) / 64;

    if (words > half->words) {
        uint64_t *more = realloc(half->backed, words * sizeof *more);

        if (!more)
            return -ENOMEM;
        memset(more + half->words, 0, (words - half->words) * sizeof *more);
        half->backed = more;
        half->words = words;
    }
    for (uint64_t granule = from; granule < to; granule++)
        half->backed[granule / 64] |= UINT64_C(1) << granule % 64;
    return 0;
}

int mirror_back_range(struct mirror *mirror, const struct mirror_range *range)
{
    uint64_t nprocs = (uint64_t)mirror->nprocs;
    uint64_t start, base, at, end;
    struct mirror_half *half;
    struct place place;

    if (!locate(mirror, range, &place))
        return -EPROTO;
    half = &mirror->ranks[place.half % nprocs].halves[place.half / nprocs];
    start = range->offset - place.offset;
    base = bspz_stretch_start(place.k); /* the stretch at offset `start` is counted from there */
    at = (base + place.offset) / mirror->granule;
    end = (base + place.offset + range->bytes + mirror->granule - 1) / mirror->granule;
    half->used += range->bytes;
    while (at < end) {
        uint64_t stop = at;
        int error;

        while (stop < end && !is_backed(half, stop))
            stop++;
        if (stop == at) {
            at++;
            continue;
        }
        error =
            mirror_back(mirror, start + at * mirror->granule - base, (stop - at) * mirror->granule);
        if (!error)
            error = remember(half, at, stop);
        if (error)
            return error;
        half->held += (stop - at) * mirror->granule;
        at = stop;
    }
    return 0;
}

int mirror_back_area(struct mirror *mirror, int pid, uint32_t slot)
{
    struct mirror_rank *rank = &mirror->ranks[pid];
    uint64_t end = ((uint64_t)slot + 1) * sizeof(struct bspz_area);
    uint64_t table = mirror->board->layout.tables + (uint64_t)pid * BSPZ_TABLE_BYTES;
    uint64_t step = mirror->granule < TABLE_STEP ? mirror->granule : TABLE_STEP;
    int error;

    if (end <= rank->table)
        return 0;
    end = (end + step - 1) / step * step;
    error = mirror_back(mirror, table + rank->table, end - rank->table);
    if (!error)
        rank->table = end;
    return error;
}

static void give_back(struct mirror *mirror, int pid, uint64_t superstep)
{
    const struct bspz_layout *layout = &mirror->board->layout;
    struct mirror_half *half = &mirror->ranks[pid].halves[superstep & 1];

    for (unsigned k = 0; k < BSPZ_STRETCHES; k++)
        if (allocate(mirror, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                     bspz_stretch_offset(layout, mirror->nprocs, pid, superstep, k),
                     bspz_stretch_bytes(layout, k)) != 0)
            return;
    if (half->words > 0)
        memset(half->backed, 0, half->words * sizeof *half->backed);
    half->held = 0;
}

void mirror_calm(struct mirror *mirror, int pid, uint64_t superstep)
{
    struct mirror_half *half = &mirror->ranks[pid].halves[superstep & 1];

    if (half->held <= SMALL || half->used >= half->held / 4) {
        half->calm = 0;
    } else if (++half->calm >= CALM_TIMES) {
        half->calm = 0;
        give_back(mirror, pid, superstep);
    }
    half->used = 0;
}
