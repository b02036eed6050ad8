/* half.h - the memory of an outbox half: committed as it grows, given back when it was large once.
 *
 * A half is taken from its start to its end, in places counted through its stretches.  Memory is
 * committed (fallocate) before it is touched: running out is an error, never SIGBUS.
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
    char *origin;                       /* where place 0 would be if it reached so far, */
    uint64_t end;                       /* and its end */
    uint64_t top;                       /* first free place */
    uint64_t peak;                      /* largest top since `calm` began */
    unsigned calm;                      /* supersteps since top was above a quarter of all */
};

/* Commits memory of the board, anywhere in it; 0 or an errno. */
int bspz_commit(const void *at, uint64_t bytes);

/* This rank's half of the parity, with a first little memory; 0 or an errno. */
int bspz_half_begin(struct bspz_half *half, int parity);

/* One piece of at least `least` and at most *bytes, which becomes its size; NULL with *error when
 * there is no memory.  All sizes are multiples of 16. */
void *bspz_half_take(struct bspz_half *half, uint64_t least, uint64_t *bytes, int *error);

/* The same behind `end`, if the last piece ends there; the size of what was taken, or 0. */
uint64_t bspz_half_extend(struct bspz_half *half, const char *end, uint64_t least, uint64_t most);

/* Counts how long a large half is hardly used, and gives memory back that was not needed for a
 * while. */
void bspz_half_give_back(struct bspz_half *half);

#define BSPZ_HALF_SMALL (UINT64_C(256) << 10) /* a smaller half keeps its memory */

/* A stretch begins with a page, large arrays from malloc a little behind one, and copies between
 * places that differ by a little modulo pages are slow: see copy.c. */
#define BSPZ_HALF_SKEW  512u

static inline void bspz_half_enter(struct bspz_half *half, unsigned k)
{
    uint64_t start = bspz_stretch_start(k);

    half->now = k;
    half->origin = half->stretch[k] - start;
    half->top = start + BSPZ_HALF_SKEW;
    half->end = start + bspz_stretch_bytes(&bspz_rt.board->layout, k);
}

/* Empties it: nobody may read it any more. */
static inline void bspz_half_reset(struct bspz_half *half)
{
    if (half->all > BSPZ_HALF_SMALL)
        bspz_half_give_back(half);
    bspz_half_enter(half, 0);
}

#pragma GCC visibility pop

#endif
