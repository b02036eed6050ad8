/* save_copies.c - what copies of a rank do in their first moments; see lib/shm/snap.h.
 *
 * All of it runs with signals blocked: announce in the intermediate, which borrows the rank's
 * memory, enter in the copy.  What can fail: the agent is gone or wants no copy any more.
 */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "ckpt/capture/capture.h"
#include "lib/rt/save.h"

#define AGENT_CHECK_MS 500
#define PARENT_GONE    SIGUSR1 /* blocked like all others, and never delivered */

struct bspz_snap *bspz_own_snap(void)
{
    return bspz_snap_of(bspz_rt.board, bspz_rt.nprocs, bspz_rt.pid);
}

/* Shows the copy to the agent and waits until it holds it. */
static int announce(struct bspz_snap_process *process, int32_t ospid)
{
    uint32_t state;

    atomic_store(&process->ospid, ospid);
    bspz_word_set(&process->state, BSPZ_SNAP_MADE);
    bspz_board_ring(bspz_rt.board);
    while ((state = atomic_load(&process->state)) == BSPZ_SNAP_MADE) {
        if (atomic_load(&bspz_rt.board->stop) || bspz_agent_gone(bspz_rt.board))
            return ESRCH;
        bspz_word_wait(&process->state, BSPZ_SNAP_MADE, AGENT_CHECK_MS);
    }
    return state == BSPZ_SNAP_HELD ? 0 : ECANCELED;
}

/* The copy's maker ends when the agent holds it; its end is what says that the agent is the parent
 * now, whose own end shall be the copy's. */
static int enter(void *context)
{
    const struct timespec check = {0, AGENT_CHECK_MS * 1000000L};
    pid_t agent = bspz_rt.board->agent_pid;
    sigset_t gone;

    (void)context;
    /* A rank's group is killed with all that it has started; its copies stay. */
    if (bspz_rt.pid > 0)
        setpgid(0, 0);
    sigemptyset(&gone);
    sigaddset(&gone, PARENT_GONE);
    prctl(PR_SET_PDEATHSIG, PARENT_GONE);
    while (getppid() != agent) {
        if (sigtimedwait(&gone, NULL, &check) < 0 && bspz_agent_gone(bspz_rt.board))
            return ESRCH;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return getppid() == agent ? 0 : ESRCH;
}

static int announce_writer(void *context, int32_t ospid)
{
    (void)context;
    return announce(&bspz_own_snap()->writer, ospid);
}

/* Each next copy goes where the agent says, a copy's own as well. */
static int announce_frozen(void *context, int32_t ospid)
{
    struct bspz_snap *snap = bspz_own_snap();

    (void)context;
    return announce(&snap->copies[atomic_load(&snap->copy_slot) & 1], ospid);
}

static _Atomic uint32_t *word(void *context)
{
    struct bspz_snap *snap = bspz_own_snap();
    int32_t slot = atomic_load(&snap->copy_slot);

    (void)context;
    return slot < 0 ? NULL : &snap->words[slot & 1];
}

void bspz_writer_hooks(struct bspz_copy_hooks *hooks)
{
    *hooks = (struct bspz_copy_hooks){.announce = announce_writer, .enter = enter};
}

void bspz_frozen_hooks(struct bspz_copy_hooks *hooks)
{
    *hooks = (struct bspz_copy_hooks){.announce = announce_frozen, .enter = enter, .word = word};
}
