/* join.c - attaches a process to its agent: it dies with the agent, which has bound it. */
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "ckpt/capture/attributes.h"
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

/* What the agent has bound this process to is not the program's own choice of processors. */
static void note_binding(void)
{
    static uint64_t set[BSPZ_AFFINITY_WORDS];

    bspz_rt.bound = NULL;
    if (atomic_load(&bspz_rt.self->core) >= 0 &&
        sched_getaffinity(0, sizeof set, (cpu_set_t *)set) == 0)
        bspz_rt.bound = set;
}

void bspz_join_agent(void)
{
    if (bspz_rt.pid > 0) {
        die_with_parent();
        setpgid(0, 0);
    }
    /* Where Yama restricts direct copies to descendants, this permits the agent's: all ranks. */
    prctl(PR_SET_PTRACER, bspz_rt.board->agent_pid);
    note_binding();
}

void bspz_wait_to_run(void)
{
    struct bspz_board *board = bspz_rt.board;

    bspz_word_set(&bspz_rt.self->state, BSPZ_RANK_READY);
    bspz_board_ring(board);
    bspz_wait_past(&board->phase, BSPZ_PHASE_LAYOUT);
    atomic_store(&bspz_rt.self->state, BSPZ_RANK_RUNNING);
}
