/* world.h - processes of our own on shared memory, to measure what the machine itself can do. */
#ifndef BENCH_LIMITS_WORLD_H
#define BENCH_LIMITS_WORLD_H

#include "tests/bench/common/harness.h"

#include <stdatomic.h>

enum { LIMITS_LINE = 128 }; /* two cache lines: the prefetcher fetches them in pairs */

/* A word that shares its cache lines with nothing else. */
struct limits_word {
    _Alignas(LIMITS_LINE) atomic_uint value;
};

/* Shared by all processes of the program. */
struct limits_shared {
    struct limits_word arrived;
    struct limits_word generation;
    struct limits_word turn;
    struct limits_word flags[BENCH_MAX_PROCS];
    atomic_long broadcast;
};

extern struct limits_shared *limits_shared;

/* Forks procs-1 children and binds process i to core i mod cores, all to one core when one_core.
 * The children end in limits_end, which in process 0 waits for them. */
struct bench_world limits_begin(int procs, bool one_core);
void limits_end(const struct bench_world *world);

/* A barrier of all processes whose waiters sleep in the kernel, or give the core away, or spin. */
void limits_barrier_futex(const struct bench_world *world);
void limits_barrier_yield(const struct bench_world *world);
void limits_barrier_spin(const struct bench_world *world);

/* Sleeps until the word differs from value; wakes all sleepers. */
void limits_sleep(atomic_uint *word, unsigned value);
void limits_wake(atomic_uint *word);

/* The number of cores this program may use. */
int limits_cores(void);

#endif
