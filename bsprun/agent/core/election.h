/* election.h - the contents of ELECT; written by terms.c only. */
#ifndef BSPRUN_AGENT_ELECTION_H
#define BSPRUN_AGENT_ELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/core/coord.h"
#include "lib/wire/wire.h"

struct election {
    bool pending; /* while processes of the older term run */
    bool to_save; /* what bsprun has asked of Processor Zero meanwhile */
    struct wire_save save;
    uint32_t term;
    uint64_t wanted;
    struct coord_lineage lineage;
    struct bspz_snapshot_name avoid[COORD_AVOID_MAX];
    uint32_t avoid_count;
    double moving_seconds; /* as in coord_config */
    bool first_of_run;     /* since bsprun was started: by a user who has chosen the hosts */
    uint32_t because; /* BSPZ_BOARD_RESTARTED, _MOVED or 0: why the term goes on from a snapshot; a
                         term that never ran leaves its reason to the next one */
    bool never_ran;   /* the processes of the last term of which this agent knows */
    struct estimate estimate;
    struct coord_seen seen;
    struct coord_recovery recovery;
};

#endif
