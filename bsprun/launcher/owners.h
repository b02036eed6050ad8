/* owners.h - what is known of the owners of the hosts, and what the job does for them.
 *
 * Agents slow or stop processes by themselves and say so.  When something is asked for that happens
 * at a barrier, a snapshot or a move, the processes of such hosts go on until it has: they could
 * not reach the barrier, and the job would be there for longer.
 */
#ifndef BSPRUN_OWNERS_H
#define BSPRUN_OWNERS_H

#include <stdbool.h>
#include <stdint.h>

#include "bsprun/launcher/agents.h"

enum owners_state {
    OWNERS_QUIET,      /* or nothing is known */
    OWNERS_WAITING,    /* active; whether processes can leave is not decided, or they have no
                          business there for another reason */
    OWNERS_GIVING_WAY, /* active; the processes are slowed or stopped */
    OWNERS_LET_GO,     /* ... but go on until what was asked for has happened */
    OWNERS_LEFT,       /* active; the host is drained for that, and there is another one */
    OWNERS_STATE_COUNT
};

struct owners {
    struct owners_host {
        enum owners_state state;
        enum wire_act act; /* GIVING_WAY, LET_GO: SLOW or STOP */
        bool drained;      /* for its owner, not by the user */
    } hosts[HOSTS_MAX];
    bool told_instead; /* that processes are stopped, as they cannot leave */
    /* Something was asked for, in that term and at that time: a term that begins with other places,
     * or only a snapshot. */
    bool asked, move;
    uint32_t asked_in;
    uint64_t asked_ms;
};

/* Changes the state; a transition that the table does not allow is a defect. */
void owners_move(struct owners *owners, uint32_t host, enum owners_state to);
/* Tells the agent what to do with its processes. */
void owners_order(struct launcher_agent *agent, enum wire_act act);

/* Something was asked for: lets processes go on. */
void owners_asked(struct owners *owners, struct agents *agents, bool move, uint64_t now_ms);
/* The owner of a host is active, and its agent gives way: the same, if that has not happened
 * yet. */
void owners_let_go(struct owners *owners, struct launcher_agent *agent);
/* A term runs, or a snapshot that was begun at that time is committed, or has failed: if that was
 * asked for, processes give way again. */
void owners_running(struct owners *owners, struct agents *agents);
void owners_snapshot_over(struct owners *owners, struct agents *agents, uint64_t begun_ms);

/* The user has drained the host, perhaps after it was for its owner, or wants it used again. */
void owners_taken(struct owners *owners, uint32_t host);
/* Whether the host cannot be used now, as its owner is active. */
bool owners_refuse(const struct owners *owners, uint32_t host);

/* For bspstat; NULL: nothing that differs from other hosts. */
const char *owners_text(const struct owners *owners, uint32_t host);

#endif
