/* rank_times.c - see rank_times.h. */
#include "bsprun/rank_times.h"

#include <stdatomic.h>
#include <stdbool.h>

#define TRIES 100 /* a process changes its counters within some nanoseconds */

void rank_times_want(struct bspz_board *board, int pid, uint64_t now_ns)
{
    uint64_t never = 0;

    __atomic_compare_exchange_n(&bspz_rank_of(board, pid)->timed_ns, &never,
                                now_ns > BSPZ_TIMED_ALWAYS ? now_ns : BSPZ_TIMED_ALWAYS + 1, false,
                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void rank_times_end(struct bspz_board *board, int pid)
{
    uint64_t *word = &bspz_rank_of(board, pid)->timed_ns;
    uint64_t was = __atomic_load_n(word, __ATOMIC_SEQ_CST);

    if (was > BSPZ_TIMED_ALWAYS)
        __atomic_compare_exchange_n(word, &was, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static enum bspz_activity seen(enum wire_rank_state state)
{
    return state == WIRE_RANK_COMPUTING       ? BSPZ_COMPUTES
           : state == WIRE_RANK_COMMUNICATING ? BSPZ_COMMUNICATES
                                              : BSPZ_WAITS;
}

/* Adds the activity of which the end has not been counted.  A process that has not passed a barrier
 * since it counts has not written what it does. */
static void add_present(struct rank_times *times, const struct bspz_rank *rank, uint64_t doing,
                        enum wire_rank_state state, uint64_t now_ns)
{
    uint64_t timed_ns = __atomic_load_n(&rank->timed_ns, __ATOMIC_SEQ_CST);
    uint64_t began_ns = doing >> BSPZ_DOING_SHIFT;
    enum bspz_activity what = (enum bspz_activity)(doing & ((1u << BSPZ_DOING_SHIFT) - 1));
    bool runs = state == WIRE_RANK_COMPUTING || state == WIRE_RANK_COMMUNICATING ||
                state == WIRE_RANK_WAITING || state == WIRE_RANK_IN_END;

    if (began_ns < timed_ns) {
        began_ns = timed_ns;
        what = seen(state);
    }
    if (!runs || timed_ns == 0 || began_ns <= BSPZ_TIMED_ALWAYS || now_ns < began_ns)
        return;
    if (what == BSPZ_COMPUTES)
        times->compute_ns += now_ns - began_ns;
    else if (what == BSPZ_COMMUNICATES)
        times->communicate_ns += now_ns - began_ns;
    else if (what == BSPZ_WAITS)
        times->wait_ns += now_ns - began_ns;
}

struct rank_times rank_times_read(const struct bspz_board *board, int pid,
                                  enum wire_rank_state state, uint64_t now_ns)
{
    const struct bspz_rank *rank = bspz_rank_of(board, pid);
    struct rank_times times = {0, 0, 0};

    for (int i = 0; i < TRIES; i++) {
        uint64_t doing = atomic_load_explicit(&rank->doing, memory_order_acquire);

        times = (struct rank_times){rank->counters.compute_ns, rank->counters.communicate_ns,
                                    rank->counters.wait_ns};
        atomic_thread_fence(memory_order_acquire);
        if (doing == BSPZ_DOING_CHANGES ||
            atomic_load_explicit(&rank->doing, memory_order_relaxed) != doing)
            continue;
        add_present(&times, rank, doing, state, now_ns);
        break;
    }
    return times;
}
