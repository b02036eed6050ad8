/* snapshot_states.h - the states of a snapshot, and of making processes from one, on this host.
 */
#ifndef BSPRUN_AGENT_SNAPSHOT_STATES_H
#define BSPRUN_AGENT_SNAPSHOT_STATES_H

#include <stdbool.h>

/* The present snapshot, or the last one. */
enum ticket_state {
    TICKET_NONE,
    TICKET_CAPTURING, /* ordered: not all ranks have recorded yet */
    TICKET_DOOMED,    /* the same, and it is to be abandoned when all have */
    TICKET_PASSED,    /* the same, and other hosts have gone on: nobody waits for that */
    TICKET_WITHHELD,  /* the store failed: the ranks wait at their barrier without an order */
    TICKET_CAPTURED,  /* all have recorded: images are being written */
    TICKET_PERSISTED, /* the manifest is durable: frozen copies are valid */
    TICKET_FAILED,    /* it has failed */
    TICKET_STATES
};
bool ticket_may_move(enum ticket_state from, enum ticket_state to);
void ticket_move(enum ticket_state *state, enum ticket_state to);
/* Whether ranks have been ordered to record, and not all have. */
bool ticket_is_recording(enum ticket_state state);

/* How the processes of this host are made in a term. */
enum making_state {
    MAKING_NONE,    /* they are clones of process 0; or files are still missing */
    MAKING_STAGING, /* RESTORE: not all are staged yet */
    MAKING_STAGED,
    MAKING_REMOTE, /* from process 0 of another host, in bsp_begin; the first of them has not been
                    */
    MAKING_REMOTE_SEEN, /* seen yet, or has been */
    MAKING_STATES
};
void making_move(enum making_state *state, enum making_state to);
/* Whether they are made from another host's process 0. */
bool making_is_remote(enum making_state state);

#endif
