/* save_copies.c - how copies of a rank start; see lib/shm/snap.h.
 *
 * A rank whose parent is the agent makes copies that are the agent's children, too, and does not
 * wait.  Below a wrapper an intermediate makes them, and exits when the agent holds them.  Signals
 * are blocked throughout: announce runs in the rank, or in the intermediate, which shares its
 * memory; enter in the copy; withdraw in the rank.  What can fail: the agent is dead or no longer
 * wants a copy; the intermediate is killed: then the rank does without the copy, unless the copy
 * has begun its work.
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

static bool is_beside;                  /* the next copy is directly a child of the agent */
static struct bspz_snap_process *place; /* of the next copy */

struct bspz_snap *bspz_own_snap(void)
{
    return bspz_snap_of(bspz_rt.board, bspz_rt.nprocs, bspz_rt.pid);
}

/* Waits until the agent holds the copy, or refuses it. */
static int wait_until_held(void)
{
    uint32_t state;

    while ((state = atomic_load(&place->state)) < BSPZ_SNAP_HELD) {
        if (atomic_load(&bspz_rt.board->stop) || bspz_agent_gone(bspz_rt.board))
            return ESRCH;
        bspz_word_wait(&place->state, state, AGENT_CHECK_MS);
    }
    return state == BSPZ_SNAP_HELD ? 0 : ECANCELED;
}

/* Announces the copy to the agent. */
static int announce(void *context, int32_t ospid)
{
    (void)context;
    /* The copy does this itself, too, but the agent may kill the rank's group before that. */
    if (!is_beside && bspz_rt.pid > 0)
        setpgid(ospid, ospid);
    atomic_store(&place->ospid, ospid);
    bspz_word_set(&place->state, BSPZ_SNAP_MADE);
    bspz_board_ring(bspz_rt.board);
    return is_beside ? 0 : wait_until_held();
}

/* The copy's maker exits when the agent holds the copy; its end shows that the agent is the parent
 * now. */
static int wait_for_parent(pid_t agent)
{
    const struct timespec check = {0, AGENT_CHECK_MS * 1000000L};
    sigset_t gone;

    sigemptyset(&gone);
    sigaddset(&gone, PARENT_GONE);
    prctl(PR_SET_PDEATHSIG, PARENT_GONE);
    while (getppid() != agent) {
        if (sigtimedwait(&gone, NULL, &check) < 0 && bspz_agent_gone(bspz_rt.board))
            return ESRCH;
    }
    return 0;
}

/* A copy whose intermediate was killed before announcing it never will be announced. */
static bool is_announced(void)
{
    return atomic_load(&place->state) != BSPZ_SNAP_NOBODY && atomic_load(&place->ospid) == getpid();
}

/* From here on the copy does its work, and no other one replaces it. */
static int go_ahead(void)
{
    int error = is_beside || is_announced() ? wait_until_held() : ECANCELED;

    if (error)
        return error;
    return is_announced() && bspz_word_move(&place->state, BSPZ_SNAP_HELD, BSPZ_SNAP_ENTERED)
               ? 0
               : ECANCELED;
}

/* The copy must die with the agent. */
static int enter(void *context)
{
    pid_t agent = bspz_rt.board->agent_pid;
    int error = 0;

    (void)context;
    /* The process group of a rank is killed with all it has started; its copies must survive. */
    if (bspz_rt.pid > 0)
        setpgid(0, 0);
    if (is_beside)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    else
        error = wait_for_parent(agent);
    if (error)
        return error;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return getppid() == agent ? go_ahead() : ESRCH;
}

/* Runs in the rank, which knows only that something failed. */
static bool withdraw(void *context)
{
    uint32_t state;

    (void)context;
    do
        state = atomic_load(&place->state);
    while (state != BSPZ_SNAP_ENTERED &&
           !bspz_word_move(&place->state, state, BSPZ_SNAP_WITHDRAWN));
    return state != BSPZ_SNAP_ENTERED;
}

static bool goes_beside(struct bspz_snap_process *next, bool may)
{
    place = next;
    atomic_store(&place->state, BSPZ_SNAP_NOBODY); /* of the former copy */
    atomic_store(&place->ospid, 0);
    is_beside = may && getppid() == bspz_rt.board->agent_pid;
    return is_beside;
}

static bool writer_goes_beside(void *context, bool may)
{
    (void)context;
    return goes_beside(&bspz_own_snap()->writer, may);
}

/* The agent assigns the slot of each next copy, also that of a copy's own. */
static bool frozen_goes_beside(void *context, bool may)
{
    struct bspz_snap *snap = bspz_own_snap();

    (void)context;
    return goes_beside(&snap->copies[atomic_load(&snap->copy_slot) & 1], may);
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
    *hooks = (struct bspz_copy_hooks){
        .announce = announce, .enter = enter, .beside = writer_goes_beside, .withdraw = withdraw};
}

void bspz_frozen_hooks(struct bspz_copy_hooks *hooks)
{
    *hooks = (struct bspz_copy_hooks){.announce = announce,
                                      .enter = enter,
                                      .beside = frozen_goes_beside,
                                      .word = word,
                                      .withdraw = withdraw};
}
