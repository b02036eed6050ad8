/* allocation.h - what Slurm says of the allocation in which the job runs: it may lose nodes and
 * gain others, or all of them are wanted for another job, while the job runs.
 *
 * scontrol(1) is asked before another agent is started, when an agent is told to end, and now and
 * then.  Nothing is asked outside Slurm, or if some hosts of the job are no nodes of the
 * allocation.
 */
#ifndef BSPRUN_ALLOCATION_H
#define BSPRUN_ALLOCATION_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "bsprun/hosts/hosts.h"
#include "bsprun/launcher/common.h"

struct remote_start;

/* The answer, from the loop.  nodes: valid during the call; NULL: they are unknown.  preempted:
 * another job needs them, and the grace time of this one runs. */
typedef void allocation_known(void *context, const struct hosts *nodes, bool preempted);

struct allocation {
    struct common *common;
    struct remote_start *start; /* NULL: nothing is asked */
    bool asking, again;         /* the answer awaited may be out of date */
    bool told;                  /* that Slurm does not answer */
    uv_timer_t look, soon;
    uint32_t soon_left;   /* questions to come, a second apart */
    struct host job;      /* Slurm's job, which the command is called with as if it were a host */
    struct hosts begun;   /* the nodes at the beginning */
    bool all;             /* the job was given all of them, not some that the user has named */
    bool held[HOSTS_MAX]; /* by host: its agent is started, or is not, when the answer comes */
    bool outside[HOSTS_MAX]; /* by host: not a node of the allocation when that was last known */
    bool
        makes_room; /* the job is being saved, as Slurm has said that another one needs its nodes */
    bool ended;     /* ... and its grace time is over */

    allocation_known *known;
    void *context;
};

/* Begins to ask every look_ms (0: only when told to), if the job's hosts are those of an
 * allocation. 0 or -errno. */
int allocation_open(struct allocation *allocation, struct common *common, uint64_t look_ms,
                    allocation_known *known, void *context);
/* Asks now, and for some time every second: something is happening to the allocation, and Slurm may
 * not say so yet, or not answer. */
void allocation_ask_often(struct allocation *allocation);
/* Asks, and notes that the agent of that host is to be started then.  False: nothing is asked. */
bool allocation_hold(struct allocation *allocation, uint32_t host);
/* The slots of a node that was gained: those of the node with the fewest at the beginning; 0: as
 * many as it has cores. */
uint32_t allocation_slots(const struct allocation *allocation);
/* Slurm's number of the job, for messages. */
const char *allocation_name(const struct allocation *allocation);
void allocation_close(struct allocation *allocation);

#endif
