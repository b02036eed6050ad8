/* handoff.c - what passing control between processes costs on this machine.
 *
 * Line limit.sync: a bare barrier of all processes, by spinning, by sched_yield and by futex.
 * Line limit.handoff: one-way hand-off between two processes (half a round trip), spinning on two
 * cores, by futex on two cores, and by futex on one core, where it is a context switch.
 */
#include "tests/bench/limits/world.h"

#include <sched.h>

static void sync_spin(void *context, long supersteps)
{
    for (long s = 0; s < supersteps; s++)
        limits_barrier_spin(context);
}

static void sync_yield(void *context, long supersteps)
{
    for (long s = 0; s < supersteps; s++)
        limits_barrier_yield(context);
}

static void sync_futex(void *context, long supersteps)
{
    for (long s = 0; s < supersteps; s++)
        limits_barrier_futex(context);
}

/* The turn word names the process that may go on.  Each superstep passes it once; an even number
 * brings it back to process 0. */
static void hand_over(const struct bench_world *world, long supersteps, bool sleeping)
{
    atomic_uint *turn = &limits_shared->turn.value;
    unsigned self = (unsigned)world->pid;
    for (long s = 0; s < supersteps + supersteps % 2; s++) {
        if ((unsigned)(s % 2) == self) {
            atomic_store(turn, 1 - self);
            if (sleeping)
                limits_wake(turn);
            continue;
        }
        while (atomic_load(turn) != self) {
            if (sleeping)
                limits_sleep(turn, 1 - self);
            else
                __builtin_ia32_pause();
        }
    }
}

static void handoff_spin(void *context, long supersteps)
{
    hand_over(context, supersteps, false);
}

static void handoff_futex(void *context, long supersteps)
{
    hand_over(context, supersteps, true);
}

static void measure_pair(const struct bench_options *options, bool one_core)
{
    struct bench_world world = limits_begin(2, one_core);
    if (one_core) {
        bench_measure(&world, options, "limit.handoff", "futex, one core", 0, handoff_futex,
                      &world);
    } else {
        bench_measure(&world, options, "limit.handoff", "spin", 0, handoff_spin, &world);
        bench_measure(&world, options, "limit.handoff", "futex", 0, handoff_futex, &world);
    }
    limits_end(&world);
}

int main(int argc, char **argv)
{
    struct bench_options options = bench_parse(argc, argv);
    int cores = limits_cores();
    struct bench_world world = limits_begin(options.procs, false);
    if (options.procs <= cores)
        bench_measure(&world, &options, "limit.sync", "spin", 0, sync_spin, &world);
    bench_measure(&world, &options, "limit.sync", "yield", 0, sync_yield, &world);
    bench_measure(&world, &options, "limit.sync", "futex", 0, sync_futex, &world);
    limits_end(&world);
    if (options.procs == 2) {
        if (cores >= 2)
            measure_pair(&options, false);
        measure_pair(&options, true);
    }
    return 0;
}
