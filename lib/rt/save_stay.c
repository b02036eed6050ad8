/* save_stay.c - a rank that is its own frozen copy; see lib/shm/snap.h.
 *
 * After the last snapshot of a term no rank goes on.  So one that is to go on here in the next term
 * need not be copied to be as it was at the snapshot: it waits, and the agent holds it as it holds
 * copies.
 *
 * Happy path: the image is written -> announced, HELD, ENTERED -> the term ends, which the process
 * survives -> its word says THAW.
 *
 * What can fail: the agent does not hold it: it waits as any rank, and ends with the term.  The
 * snapshot fails: the word says DISCARD, and the rank goes on in this term.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ckpt/capture/capture.h"
#include "lib/rt/save.h"

#define AGENT_CHECK_MS 500

static _Atomic uint32_t *word; /* on which this process waits */

/* What a rank has started ends with the term, which a copy would not notice. */
static bool has_children(void)
{
    siginfo_t any;

    return waitid(P_ALL, 0, &any, WEXITED | WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT | __WALL) == 0;
}

bool bspz_may_stay(void)
{
    return bspz_rt.board->snap_order.stays && atomic_load(&bspz_own_snap()->copy_slot) >= 0 &&
           getppid() == bspz_rt.board->agent_pid && !has_children();
}

bool bspz_stay_begin(void)
{
    struct bspz_snap *snap = bspz_own_snap();
    int slot = atomic_load(&snap->copy_slot) & 1; /* the next term resets it */
    struct bspz_snap_process *place = &snap->copies[slot];
    uint32_t state;

    word = &snap->words[slot];
    atomic_store(&place->ospid, getpid());
    bspz_word_set(&place->state, BSPZ_SNAP_MADE);
    bspz_board_ring(bspz_rt.board);
    while ((state = atomic_load(&place->state)) == BSPZ_SNAP_MADE) {
        if (atomic_load(&bspz_rt.board->stop) || bspz_agent_gone(bspz_rt.board))
            return false;
        bspz_word_wait(&place->state, state, AGENT_CHECK_MS);
    }
    return bspz_word_move(&place->state, BSPZ_SNAP_HELD, BSPZ_SNAP_ENTERED);
}

enum bspz_stayed bspz_stay_wait(void)
{
    uint32_t now;

    while ((now = atomic_load(word)) == BSPZ_COPY_FROZEN) {
        if (atomic_load(&bspz_rt.board->stop) || bspz_agent_gone(bspz_rt.board))
            return BSPZ_STAYED_IN_VAIN;
        bspz_word_wait(word, now, AGENT_CHECK_MS);
    }
    return now == BSPZ_COPY_THAW ? BSPZ_STAYED : BSPZ_STAYED_IN_TERM;
}
