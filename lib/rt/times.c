/* times.c - see times.h. */
#include "lib/rt/times.h"

#include "lib/rt/rt.h"

/* Adds the time from `began` to a counter.  The agent reads the counters without a lock: `doing`
 * tells when they change. */
static void count(struct bspz_rank *self, uint64_t *counter, uint64_t began_ns, uint64_t now_ns,
                  uint64_t doing)
{
    uint64_t timed_ns = self->timed_ns;

    if (began_ns < timed_ns)
        began_ns = timed_ns;
    atomic_store_explicit(&self->doing, BSPZ_DOING_CHANGES, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    if (now_ns > began_ns)
        *counter += now_ns - began_ns;
    atomic_store_explicit(&self->doing, doing, memory_order_release);
}

static uint64_t since(enum bspz_activity activity, uint64_t now_ns)
{
    return now_ns << BSPZ_DOING_SHIFT | activity;
}

void bspz_times_always(struct bspz_rank *self)
{
    __atomic_store_n(&self->timed_ns, BSPZ_TIMED_ALWAYS, __ATOMIC_SEQ_CST);
}

void bspz_times_begin(struct bspz_rank *self)
{
    atomic_store(&self->doing, since(BSPZ_COMPUTES, bspz_rt.left_sync_ns));
}

uint64_t bspz_times_wait(struct bspz_rank *self)
{
    uint64_t now = bspz_now_ns();

    count(self, &self->counters.compute_ns, bspz_rt.left_sync_ns, now, since(BSPZ_WAITS, now));
    return now;
}

uint64_t bspz_times_communicate(struct bspz_rank *self, uint64_t entered_ns)
{
    uint64_t now = bspz_now_ns();

    count(self, &self->counters.wait_ns, entered_ns, now, since(BSPZ_COMMUNICATES, now));
    return now;
}

void bspz_times_compute(struct bspz_rank *self, uint64_t met_ns)
{
    uint64_t now = bspz_now_ns();

    count(self, &self->counters.communicate_ns, met_ns, now, since(BSPZ_COMPUTES, now));
    bspz_rt.left_sync_ns = now;
}

void bspz_times_pause(struct bspz_rank *self, uint64_t met_ns)
{
    uint64_t now = bspz_now_ns();

    count(self, &self->counters.communicate_ns, met_ns, now, since(BSPZ_PAUSES, now));
}
