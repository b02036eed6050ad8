/* join.c - attaches a process to its agent: it dies with the agent, and runs on the core that the
 * agent assigns. */
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "lib/rt/rt.h"

#define AGENT_CHECK_MS 500

void bspz_wait_past(_Atomic uint32_t *word, uint32_t value)
{
    struct bspz_board *board = bspz_rt.board;

    for (;;) {
        uint32_t now = atomic_load(word);

        if (now > value)
            return;
        if (atomic_load(&board->stop))
            bspz_leave();
        if (atomic_load(&board->clone_error) && bspz_rt.pid <= 0)
            return;
        bspz_word_wait(word, now, AGENT_CHECK_MS);
        if (atomic_load(word) <= value && bspz_agent_gone(board))
            bspz_leave();
    }
}

/* A clone dies with its agent.  Set only now: earlier, the end of the intermediate, its parent,
 * would have killed it. */
static void die_with_parent(void)
{
    pid_t parent = getppid();

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
}

static void bind_to_core(int core)
{
    cpu_set_t *set;
    size_t bytes;

    bspz_rt.bound = 0;
    if (core < 0)
        return;
    set = CPU_ALLOC((size_t)core + 1);
    if (!set)
        return;
    bytes = CPU_ALLOC_SIZE((size_t)core + 1);
    CPU_ZERO_S(bytes, set);
    CPU_SET_S((size_t)core, bytes, set);
    if (sched_setaffinity(0, bytes, set) == 0)
        bspz_rt.bound = (uint32_t)core + 1;
    CPU_FREE(set);
}

void bspz_join_agent(void)
{
    if (bspz_rt.pid > 0) {
        die_with_parent();
        setpgid(0, 0);
    }
    /* Where Yama restricts direct copies to descendants, this permits the agent's: all ranks. */
    prctl(PR_SET_PTRACER, bspz_rt.board->agent_pid);
    bind_to_core(atomic_load(&bspz_rt.self->core));
}

void bspz_wait_to_run(void)
{
    struct bspz_board *board = bspz_rt.board;

    bspz_word_set(&bspz_rt.self->state, BSPZ_RANK_READY);
    bspz_board_ring(board);
    bspz_wait_past(&board->phase, BSPZ_PHASE_LAYOUT);
    atomic_store(&bspz_rt.self->state, BSPZ_RANK_RUNNING);
}
