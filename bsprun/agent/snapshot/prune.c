/* prune.c - removes older snapshots in a thread.
 *
 * The kernel needs 0.4 ms per MiB to remove a cached file: seconds for large processes, which must
 * not block the agent.  So a thread does it, at the lowest priority.  It uses the store
 * concurrently with the agent, but never touches snapshots being written or newer than the retained
 * ones.
 *
 * What can fail: no thread (then the agent does it), a file that cannot be removed (the user is
 * told).
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/quiet_thread.h"
#include "bsprun/agent/core/saved.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/snapshot/inside.h"
#include "lib/base/clock.h"

#define LAST 19 /* lowest priority */

struct pruning {
    pthread_t thread;
    _Atomic bool over;
    struct store *store;
    uint32_t keep;
    struct bspz_snapshot_name right;
    int error;
    uint64_t cpu_ns;
    char why[AGENT_WHY];
};

static void remove_older(struct pruning *pruning)
{
    pruning->error =
        store_prune_but(pruning->store, pruning->keep, pruning->right, NULL, pruning->why);
}

static void *prune(void *argument)
{
    struct pruning *pruning = argument;

    setpriority(PRIO_PROCESS, 0, LAST); /* this thread only */
    remove_older(pruning);
    pruning->cpu_ns = bspz_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    atomic_store(&pruning->over, true);
    return NULL;
}

static void report(struct agent *agent, const struct pruning *pruning)
{
    if (pruning->error)
        agent_notice(agent, "older snapshots could not be removed: %s", pruning->why);
}

void agent_prune_finish(struct agent *agent)
{
    struct pruning *pruning = snapshots_of(agent)->pruning;

    if (!pruning)
        return;
    snapshots_of(agent)->pruning = NULL;
    pthread_join(pruning->thread, NULL);
    /* The part during a snapshot is counted twice. */
    snapshots_of(agent)->cpu_ns += pruning->cpu_ns;
    report(agent, pruning);
    free(pruning);
}

void agent_prune(struct agent *agent, bool wait)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    struct pruning *pruning = snapshots->pruning;

    if (pruning && !wait && !atomic_load(&pruning->over))
        return; /* will be done next time */
    agent_prune_finish(agent);
    /* What is to be kept depends on the record of terms. */
    if (snapshots->keep > 0 && snapshots->unpruned > 0 && agent_keeps_order(agent) &&
        snapshots->unnoted.term == 0 && (pruning = calloc(1, sizeof *pruning))) {
        pruning->store = agent_store(agent);
        pruning->keep = snapshots->keep;
        pruning->right = snapshots->right;
        if (!wait && quiet_thread_begin(&pruning->thread, prune, pruning) == 0) {
            snapshots->pruning = pruning;
        } else {
            remove_older(pruning);
            report(agent, pruning);
            free(pruning);
        }
    }
    snapshots->unpruned = 0;
    snapshots->pruned_ns = agent_now_ns();
}
