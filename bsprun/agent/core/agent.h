/* agent.h - the node agent: one process per host and job that does everything ranks do not.
 *
 * Happy path, under bsprun:
 *   START arrives -> the program is started -> it rings from bsp_begin -> REGISTER -> ELECT names
 *   Processor Zero (here) -> PLACE: p is known -> clones appear and are adopted -> all are ready ->
 *   RUN -> supersteps pass without the agent -> all are past bsp_end -> they exit, the program last
 * -> Processor Zero finishes -> REPORT, ENDED -> bsprun sends EXIT.  On other hosts than that of
 * process 0 no program is started: PLACE -> snapshot 0 is committed -> their processes are made
 * from it -> RUN -> ... -> END: REPORT.  See peers.h.  Bare, the ranks exist when the agent starts,
 * it elects itself, and it exits with process 0.
 *
 * What can fail: the program cannot be started (program.c); it ends before bsp_begin; a rank dies,
 * is killed or fails (ranks.c); a stop is requested by signal, time limit or Processor Zero
 * (stop.c); bsprun dies (control.c).  All of these lead to agent_stop_ranks and from there to
 * agent_finish (finish.c), exactly once.
 */
#ifndef BSPRUN_AGENT_H
#define BSPRUN_AGENT_H

#include <stdbool.h>
#include <uv.h>

#include "bsprun/link/link.h"

#define AGENT_REPLICA_SPILL       (UINT64_C(1) << 32) /* bytes of a file, after the memory */
#define AGENT_SPIN_NS             50000u
#define AGENT_LINK_SPIN_NS        100000u /* polling other hosts, see link.h */
#define AGENT_GRACE_MS            300u    /* from the stop request to SIGKILL */
#define AGENT_GRACES_MOST         100u /* grace periods for a process 0 whose status the shell sees */
#define AGENT_GRACE_SEQUENTIAL_MS 3000u /* the same for a program outside its SPMD part */
#define AGENT_WHY                 600u  /* bytes of an error message */

struct agent;
struct watched; /* watch.h */

/* Posted actions, taken when no function is active that might use what they free. */
enum agent_news {
    AGENT_JOB_OVER = 1,  /* agent_job_over has set the outcome */
    AGENT_TERM_OVER = 2, /* Processor Zero has ended the term, for which the next one may wait */
    AGENT_LEAVE = 4,     /* bsprun cannot be reached: it will see that this agent has exited */
};

/* Upward calls of the parts of an agent, set when it is made; all other calls go downward. */
struct agent_calls {
    void (*rung)(struct agent *agent);      /* the doorbell */
    void (*ended)(struct watched *process); /* `gone` and `death` are set */
    void (*ordered)(struct agent *agent,
                    const struct wire_message *message); /* by Processor Zero */
    void (*news)(struct agent *agent,
                 unsigned news); /* all that were posted, bits of enum agent_news */
    struct links_calls links;
    /* For processes that are saved and restarted alone: see bsprun/agent/dataspace.h. */
    void (*interrupt)(struct agent *agent, int pid);
    void (*restarted)(struct agent *agent, int pid);
    void (*cut)(struct agent *agent, int pid, uint64_t number);
    int (*burden)(struct agent *agent, bool (*may)(const struct agent *agent, int pid));
};

/* Makes the agent of this process, of which there is one; everything else of it is still zero. */
struct agent *agent_make(const struct agent_calls *calls);
uv_loop_t *agent_loop(struct agent *agent);
const struct agent_calls *agent_calls(const struct agent *agent);

/* What the job has: whether it is on several hosts, takes snapshots, has its output relayed by this
 * agent, and has used the dataspace here. */
bool agent_has_peers(const struct agent *agent);
bool agent_has_snapshots(const struct agent *agent);
bool agent_has_relay(const struct agent *agent);
bool agent_has_dataspace(const struct agent *agent);

/* Posts news: calls->news is called before the loop waits again, never before this returns. */
void agent_post(struct agent *agent, enum agent_news news);
/* Whether AGENT_LEAVE is posted. */
bool agent_is_leaving(const struct agent *agent);
/* Calls it with what was posted, and with what that posts. */
void agent_take_news(struct agent *agent);

#endif
