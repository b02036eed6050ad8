/* barrier.c - spin, then sleep; see barrier.h.
 *
 * Why no wake-up is lost: a rank stores its stamp, then (sequentially consistent) looks at
 * `sleepers`; a sleeper first adds itself to `sleepers`, then looks at the stamps.  One of the two
 * sees the other.  The sleeper reads wake_sequence before it looks at the stamps, so a wake
 * between the look and the futex call makes the futex call return at once.
 */
#include "lib/shm/barrier.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/process_stat.h"

#define NEEDS_AGENT       (BSPZ_BOARD_HOSTS | BSPZ_BOARD_REPLICAS) /* to pass a barrier */
#define AGENT_CHECK_MS    500
#define SPINS_PER_CLOCK   64
#define YIELDS            8
#define YIELD_TOO_LONG_NS 500000
#define YIELD_PAUSE       1000

static inline _Atomic uint64_t *stamp_of(struct bspz_board *board, int pid, uint64_t superstep,
                                         enum bspz_stage stage)
{
    struct bspz_line *line = &bspz_rank_of(board, pid)->line[superstep & 1];

    switch (stage) {
    case BSPZ_STAGE_ARRIVED:
        return &line->stamp;
    case BSPZ_STAGE_MATCHED:
        return &line->matched;
    default:
        return &line->replied;
    }
}

static inline _Atomic uint64_t *gate_of(struct bspz_board *board, uint64_t superstep,
                                        enum bspz_stage stage)
{
    return &board->gate[superstep & 1][stage];
}

/* Whether all ranks from *next on have reached it, and the gate is open.  Moves *next past those
 * that have. */
static inline bool all_reached(struct bspz_board *board, int nprocs, uint64_t superstep,
                               enum bspz_stage stage, int *next)
{
    for (; *next < nprocs; ++*next)
        if (atomic_load_explicit(stamp_of(board, *next, superstep, stage), memory_order_acquire) <=
            superstep)
            return false;
    if (__builtin_expect((board->flags & BSPZ_BOARD_REPLICAS) != 0, 0))
        return atomic_load(gate_of(board, superstep, stage)) > superstep;
    return true;
}

/* The agent sends the data for other hosts when the last rank of this one has arrived.  No rank
 * reaches the next stage before all have reached this one. */
static void tell_other_hosts(struct bspz_board *board)
{
    uint64_t stamps = atomic_fetch_add(&board->stamps_here, 1) + 1;

    if (stamps % (uint64_t)board->here != 0)
        return;
    atomic_store_explicit(&board->rung_on, sched_getcpu() + 1, memory_order_relaxed);
    bspz_board_ring_links(board);
}

/* The store must be visible before sleepers and stamps are read: then at least one of the last two
 * to arrive sees the other.  On x86-64 the exchange is that fence. */
static inline void stamp(struct bspz_board *board, int pid, uint64_t superstep,
                         enum bspz_stage stage)
{
    atomic_exchange(stamp_of(board, pid, superstep, stage), superstep + 1);
#ifndef __x86_64__
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

static inline void wake_if_last(struct bspz_board *board, int nprocs, uint64_t superstep,
                                enum bspz_stage stage)
{
    int next = 0;

    if (atomic_load(&board->sleepers) > 0 && all_reached(board, nprocs, superstep, stage, &next))
        bspz_barrier_wake(board);
}

void bspz_barrier_mirror(struct bspz_board *board, int nprocs, const int *pids, int count,
                         uint64_t superstep, enum bspz_stage stage)
{
    for (int i = 0; i < count; i++)
        stamp(board, pids[i], superstep, stage);
    wake_if_last(board, nprocs, superstep, stage);
}

void bspz_barrier_open(struct bspz_board *board, int nprocs, uint64_t superstep,
                       enum bspz_stage stage)
{
    atomic_store(gate_of(board, superstep, stage), superstep + 1);
    wake_if_last(board, nprocs, superstep, stage);
}

bool bspz_barrier_reached(struct bspz_board *board, const int *pids, int count, uint64_t superstep,
                          enum bspz_stage stage)
{
    for (int i = 0; i < count; i++)
        if (atomic_load_explicit(stamp_of(board, pids[i], superstep, stage),
                                 memory_order_acquire) <= superstep)
            return false;
    return true;
}

void bspz_barrier_arrive(struct bspz_board *board, int nprocs, int pid, uint64_t superstep,
                         enum bspz_stage stage)
{
    stamp(board, pid, superstep, stage);
    wake_if_last(board, nprocs, superstep, stage);
    if (board->flags & NEEDS_AGENT)
        tell_other_hosts(board);
}

bool bspz_agent_gone(const struct bspz_board *board)
{
    char line[BSPZ_STAT_LINE];

    if (board->agent_pid <= 0)
        return false;
    if (kill(board->agent_pid, 0) != 0)
        return errno == ESRCH;
    return bspz_stat_read(board->agent_pid, line) && bspz_stat_is_dead(line);
}

/* Sleeps once, until the board is woken; evaluates `reached` again after joining the sleepers.
 * `timed_out`: not woken for a while, so the caller checks that the agent is alive. */
#define SLEEP_UNLESS(board, reached, timed_out)                                                    \
    do {                                                                                           \
        const struct timespec bound = {0, AGENT_CHECK_MS * 1000000L};                              \
        uint32_t sequence = atomic_load(&(board)->wake_sequence);                                  \
                                                                                                   \
        atomic_fetch_add(&(board)->sleepers, 1);                                                   \
        timed_out = !(reached) && !atomic_load(&(board)->stop) &&                                  \
                    syscall(SYS_futex, &(board)->wake_sequence, FUTEX_WAIT, sequence, &bound,      \
                            NULL, 0) != 0 &&                                                       \
                    errno == ETIMEDOUT;                                                            \
        atomic_fetch_sub(&(board)->sleepers, 1);                                                   \
    } while (0)

/* Spins at most spin_ns; true: all have reached it. */
static bool spin(struct bspz_board *board, int nprocs, uint64_t superstep, enum bspz_stage stage,
                 int *next)
{
    uint64_t budget = atomic_load_explicit(&board->spin_ns, memory_order_relaxed);
    uint64_t start = 0;

    if (budget == 0)
        return false;
    for (;;) {
        for (int turn = 0; turn < SPINS_PER_CLOCK; turn++) {
            if (all_reached(board, nprocs, superstep, stage, next))
                return true;
            bspz_relax();
        }
        if (start == 0)
            start = bspz_now_ns();
        else if (bspz_now_ns() - start > budget || atomic_load(&board->stop))
            return false;
    }
}

bool bspz_word_spin(struct bspz_board *board, _Atomic uint32_t *word, uint32_t value)
{
    uint64_t budget = atomic_load_explicit(&board->spin_ns, memory_order_relaxed);
    uint64_t until = bspz_now_ns() + budget;

    while (budget > 0) {
        for (int turn = 0; turn < SPINS_PER_CLOCK; turn++) {
            if (atomic_load_explicit(word, memory_order_acquire) != value)
                return true;
            bspz_relax();
        }
        if (bspz_now_ns() > until)
            break;
    }
    return false;
}

/* Yields the core a few times: where ranks share cores, the last one may need only that, and waking
 * a sleeper costs ten times as much.  But a core yielded to an unrelated busy process comes back
 * only after its time slice, while a woken sleeper preempts that process: after such a long yield
 * there are none for a while. */
static bool yield(struct bspz_board *board, struct bspz_rank *self, int nprocs, uint64_t superstep,
                  enum bspz_stage stage, int *next)
{
    uint64_t before;

    if (self->yield_pause > 0) {
        self->yield_pause--;
        return false;
    }
    before = bspz_now_ns();
    for (int turn = 0; turn < YIELDS; turn++) {
        uint64_t after;

        sched_yield();
        after = bspz_now_ns();
        if (after - before > YIELD_TOO_LONG_NS) {
            self->yield_pause = YIELD_PAUSE;
            break;
        }
        if (all_reached(board, nprocs, superstep, stage, next))
            return true;
        before = after;
    }
    return false;
}

enum bspz_wait bspz_barrier_wait(struct bspz_board *board, int nprocs, int pid, uint64_t superstep,
                                 enum bspz_stage stage)
{
    struct bspz_rank *self = bspz_rank_of(board, pid);
    enum bspz_wait result = BSPZ_WAIT_DONE;
    bool timed_out = false;
    int next = 0;

    if (all_reached(board, nprocs, superstep, stage, &next))
        return result;
    atomic_store_explicit(&self->in_barrier, 1, memory_order_relaxed);
    /* Data from other hosts take longer than falling asleep, and the agent needs a core to receive
     * them. */
    if (board->flags & NEEDS_AGENT || (!spin(board, nprocs, superstep, stage, &next) &&
                                       !yield(board, self, nprocs, superstep, stage, &next))) {
        while (!all_reached(board, nprocs, superstep, stage, &next)) {
            if (atomic_load(&board->stop)) {
                result = BSPZ_WAIT_STOPPED;
                break;
            }
            if (timed_out && bspz_agent_gone(board)) {
                result = BSPZ_WAIT_AGENT_GONE;
                break;
            }
            SLEEP_UNLESS(board, all_reached(board, nprocs, superstep, stage, &next), timed_out);
        }
    }
    atomic_store_explicit(&self->in_barrier, 0, memory_order_relaxed);
    return result;
}

/* Waits until *word, which the agent increases, exceeds `superstep`. */
static enum bspz_wait wait_beyond(struct bspz_board *board, _Atomic uint64_t *word,
                                  uint64_t superstep)
{
    bool timed_out = false;

    while (atomic_load(word) <= superstep) {
        if (atomic_load(&board->stop))
            return BSPZ_WAIT_STOPPED;
        if (timed_out && bspz_agent_gone(board))
            return BSPZ_WAIT_AGENT_GONE;
        SLEEP_UNLESS(board, atomic_load(word) > superstep, timed_out);
    }
    return BSPZ_WAIT_DONE;
}

enum bspz_wait bspz_answer_wait(struct bspz_board *board, uint64_t superstep)
{
    return wait_beyond(board, &board->answered, superstep);
}

enum bspz_wait bspz_resume_wait(struct bspz_board *board, uint64_t superstep)
{
    return wait_beyond(board, &board->snap_resumed, superstep);
}
