/* times.h - how long the process has computed, communicated and waited.
 *
 * Counted only while the slot's timed_ns is not 0: all the time with BSPZ_BOARD_TIMING and in
 * profiles, else while the agent wants it.  It may change at any moment, so what these functions
 * are given may be from before it: then the time counts from timed_ns on.  A call takes a look at
 * the clock; without timed_ns none is made.
 */
#ifndef BSPZ_RT_TIMES_H
#define BSPZ_RT_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/shm/board.h"

#pragma GCC visibility push(hidden)

/* The rank counts always. */
void bspz_times_always(struct bspz_rank *self);
/* It computes since bspz_rt.left_sync_ns. */
void bspz_times_begin(struct bspz_rank *self);

/* It has computed since bspz_rt.left_sync_ns and waits from now on.  Returns the time. */
uint64_t bspz_times_wait(struct bspz_rank *self);
/* It has waited since then (0: was not counted) and communicates now.  Returns the time. */
uint64_t bspz_times_communicate(struct bspz_rank *self, uint64_t entered_ns);
/* It has communicated since then (0: was not counted) and computes now, which it sets
 * bspz_rt.left_sync_ns to. */
void bspz_times_compute(struct bspz_rank *self, uint64_t met_ns);
/* The same, but a snapshot comes first, whose pause does not count. */
void bspz_times_pause(struct bspz_rank *self, uint64_t met_ns);

#pragma GCC visibility pop

#endif
