/* half.h - the memory of an outbox half: committed as it grows, freed when no longer needed.
 *
 * A half is allocated from its start to its end, in places numbered across its stretches.  Memory
 * is committed (fallocate) before it is touched: running out is an error, never SIGBUS.
 */
#ifndef BSPZ_RT_HALF_H
#define BSPZ_RT_HALF_H

#include <stdint.h>

#include "lib/rt/rt.h"

#pragma GCC visibility push(hidden)

struct bspz_half {
    char *stretch[BSPZ_STRETCHES];
    uint64_t committed[BSPZ_STRETCHES]; /* bytes of the stretch backed by memory */
    uint64_t all;                       /* bytes committed in all */
    unsigned now;                       /* the stretch that is being filled, */
    char *origin;                       /* address of place 0 extrapolated from it, */
    uint64_t end;                       /* and its end */
    uint64_t top;                       /* first free place */
    uint64_t peak;                      /* highest top since `calm` began */
    unsigned calm;                      /* supersteps since top was above a quarter of all */
};

/* Commits any memory of the board; 0 or an errno. */
int bspz_commit(const void *at, uint64_t bytes);

/* Begins this rank's half of the parity, with a little memory; 0 or an errno. */
int bspz_half_begin(struct bspz_half *half, int parity);

/* Allocates a piece of at least `least` and at most *bytes, which is set to its size; NULL and
 * *error: no memory.  All sizes are multiples of 16. */
void *bspz_half_take(struct bspz_half *half, uint64_t least, uint64_t *bytes, int *error);

/* Extends the last piece, if it ends at `end`; returns the added size, or 0. */
uint64_t bspz_half_extend(struct bspz_half *half, const char *end, uint64_t least, uint64_t most);

/* Frees memory of a large half that was hardly used for a while. */
void bspz_half_give_back(struct bspz_half *half);

#define BSPZ_HALF_SMALL (UINT64_C(256) << 10) /* a smaller half keeps its memory */

/* A stretch begins at a page boundary, large arrays from malloc slightly after one, and copies
 * between addresses that differ slightly modulo the page size are slow: see copy.c. */
#define BSPZ_HALF_SKEW  512u

static inline void bspz_half_enter(struct bspz_half *half, unsigned k)
{
    uint64_t start = bspz_stretch_start(k);

    half->now = k;
    half->origin = half->stretch[k] - start;
    half->top = start + BSPZ_HALF_SKEW;
    half->end = start + bspz_stretch_bytes(&bspz_rt.board->layout, k);
}

/* Empties it; no rank may still read it. */
static inline void bspz_half_reset(struct bspz_half *half)
{
    if (half->all > BSPZ_HALF_SMALL)
        bspz_half_give_back(half);
    bspz_half_enter(half, 0);
}

#pragma GCC visibility pop

#endif
