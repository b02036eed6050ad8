/* election.h - the contents of ELECT: the next term or the present one, and what bsprun has asked
 * of its Processor Zero before it began. */
#ifndef BSPRUN_AGENT_ELECTION_H
#define BSPRUN_AGENT_ELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/core/coord.h"
#include "lib/wire/wire.h"

struct agent;

struct election {
    bool pending; /* while processes of the older term run */
    bool to_save; /* what bsprun has asked of Processor Zero meanwhile */
    struct wire_save save;
    uint32_t term;
    uint64_t wanted;
    struct coord_lineage lineage;
    struct bspz_snapshot_name avoid[COORD_AVOID_MAX];
    uint32_t avoid_count;
    double moving_seconds, passed_seconds; /* as in coord_config */
    bool first_of_run; /* since bsprun was started: by a user who has chosen the hosts */
    uint32_t because;  /* BSPZ_BOARD_RESTARTED, _MOVED or 0: why the term goes on from a snapshot; a
                          term that never ran leaves its reason to the next one */
    bool never_ran;    /* the processes of the last term of which this agent knows */
    struct estimate estimate;
    struct coord_seen seen;
    struct coord_recovery recovery;
};

const struct election *agent_election(const struct agent *agent);

/* The first election of the job: only what was learned counts. */
void agent_election_learn(struct agent *agent, const struct wire_elect *elect);
/* A later one, for a term that begins when nothing of the older one runs. */
void agent_election_take(struct agent *agent, const struct wire_message *message);
/* That term begins. */
void agent_election_begin(struct agent *agent);
/* Its processes run. */
void agent_election_ran(struct agent *agent);
/* Keeps what bsprun asks of Processor Zero until the pending term begins, the stronger of two.
 * False: none is pending. */
bool agent_election_save(struct agent *agent, const struct wire_save *save);
/* What was kept, once.  False: nothing. */
bool agent_election_saved(struct agent *agent, struct wire_save *save);

#endif
