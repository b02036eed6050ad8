/* snapshot_states.h - where a snapshot, and the making of processes from one, stand on this host. */
#ifndef BSPRUN_AGENT_SNAPSHOT_STATES_H
#define BSPRUN_AGENT_SNAPSHOT_STATES_H

#include <stdbool.h>

/* The snapshot on its way, or the last one that was. */
enum ticket_state {
    TICKET_NONE,
    TICKET_CAPTURING, /* the ranks have their order: not all have recorded yet */
    TICKET_WITHHELD,  /* the store refused: the ranks wait at their barrier without an order */
    TICKET_CAPTURED,  /* all have recorded, or are of process 0 alone: images are being written */
    TICKET_PERSISTED, /* the manifest is durable: what was copied is of use */
    TICKET_FAILED,    /* it came to nothing */
    TICKET_STATES
};
bool ticket_may_move(enum ticket_state from, enum ticket_state to);
void ticket_move(enum ticket_state *state, enum ticket_state to);

/* How the processes of this host come to be in a term. */
enum making_state {
    MAKING_NONE,    /* they are clones of process 0; or what they are made of is not all here */
    MAKING_STAGING, /* RESTORE: not all are staged yet */
    MAKING_STAGED,
    MAKING_REMOTE,      /* of process 0 of another host, in bsp_begin; the first of them has not been */
    MAKING_REMOTE_SEEN, /* heard of yet, or has been */
    MAKING_STATES
};
void making_move(enum making_state *state, enum making_state to);
/* Whether they are made of another host's process 0. */
bool making_is_remote(enum making_state state);

#endif
