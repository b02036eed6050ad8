/* life.c - begin and end of snapshots in the node agent: START, the store, the end. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/election.h"
#include "bsprun/agent/core/fetch.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/saved.h"
#include "bsprun/agent/core/starter.h"
#include "bsprun/agent/core/timers.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/agent/snapshot/alone.h"
#include "bsprun/agent/snapshot/inside.h"
#include "bsprun/agent/snapshot/opened.h"
#include "bsprun/agent/snapshot/replicas.h"
#include "bsprun/agent/snapshot/trial_read.h"
#include "bsprun/process.h"

#define FEWEST_COPIES 2    /* if hosts share no directory */
#define END_MS        1000 /* timeout for killed processes to end */

static int take_settings(struct agent_snapshots *snapshots, const struct wire_start *start)
{
    snapshots->rule = (struct policy_rule){.kind = (enum policy_kind)start->rule,
                                           .every = start->every,
                                           .overhead = start->overhead,
                                           .bounded = start->bounded};
    snapshots->async = (enum wire_async)start->async;
    snapshots->keep = start->keep;
    snapshots->recover = start->recover;
    snapshots->wanted_copies = start->copies < COORD_COPIES_MAX ? start->copies : COORD_COPIES_MAX;
    snapshots->stop_on_failure = start->stop_on_failure;
    snapshots->stop_on_late_failure = start->stop_on_late_failure;
    snapshots->options = snapshot_copy_texts(start->options.items, start->options.count);
    snapshots->option_count = start->options.count;
    if (!snapshots->options)
        return -ENOMEM;
    return snapshot_pack_texts(&start->excluded, snapshots->rules, sizeof snapshots->rules,
                               &snapshots->rules_bytes)
               ? 0
               : -E2BIG;
}

void agent_snapshots_elect(struct agent *agent)
{
    if (!snapshots_of(agent))
        return;
    if (agent_order_alone(agent))
        agent_board(agent)->flags |= BSPZ_BOARD_ALONE;
    else
        agent_board(agent)->flags &= ~BSPZ_BOARD_ALONE;
}

int agent_snapshots_open(struct agent *agent, const struct wire_start *start, char why[AGENT_WHY])
{
    struct agent_snapshots *snapshots;
    int error;

    if (!start->store[0])
        return 0;
    snapshots = snapshots_make(agent);
    if (!snapshots) {
        snprintf(why, AGENT_WHY, "out of memory");
        return -ENOMEM;
    }
    error = take_settings(snapshots, start);
    if (error) {
        snprintf(why, AGENT_WHY, "the options: %s", strerror(-error));
        return error;
    }
    snapshots->shares = shares_new();
    agent_common_open(agent);
    snapshots->opened = snapshots->recover ? opened_new(agent_outside(agent)) : NULL;
    memcpy(agent_board(agent)->snap_order.job, agent_job_id(agent), WIRE_JOB_SIZE);
    error = agent_store_open(agent, start->store, start->home, why);
    agent_board(agent)->flags |= BSPZ_BOARD_SNAPSHOTS | (snapshots->recover ? BSPZ_BOARD_CALLS : 0);
    agent_snapshots_elect(agent);
    return error;
}

void agent_snapshots_copies(struct agent *agent, uint32_t copies)
{
    if (snapshots_of(agent))
        snapshots_of(agent)->copies = copies;
}

int agent_snapshots_offer(struct agent *agent)
{
    int end;

    if (!snapshots_of(agent) || !snapshots_of(agent)->shares ||
        shares_offer(snapshots_of(agent)->shares, &end) != 0)
        return -1;
    end = bspz_move_to_top(end);
    agent_board(agent)->share_fd = end;
    return end;
}

static int make_room(struct agent *agent, int nprocs)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);

    snapshots->kept = calloc((size_t)nprocs, sizeof *snapshots->kept);
    snapshots->together = calloc((size_t)nprocs, sizeof *snapshots->together);
    snapshots->free_alone = calloc((size_t)nprocs, sizeof *snapshots->free_alone);
    if (!snapshots->kept || !snapshots->together || !snapshots->free_alone)
        return -ENOMEM;
    agent_group_by_host(agent);
    for (int pid = 0; pid < nprocs; pid++)
        for (int slot = 0; slot < SNAPSHOT_SLOTS; slot++)
            snapshots->kept[pid].copies[slot].process.pidfd = -1;
    return 0;
}

int agent_place(struct agent *agent, int nprocs, const struct wire_numbers *host_of)
{
    int error = agent_members_place(agent, nprocs, host_of);

    if (!error && snapshots_of(agent))
        error = make_room(agent, nprocs);
    if (!error)
        agent_replicas_placed(agent);
    return error;
}

void agent_snapshots_configure(struct agent *agent, struct coord_config *config)
{
    const struct agent_snapshots *snapshots = snapshots_of(agent);

    config->wanted = COORD_NEVER;
    if (!snapshots)
        return;
    config->snapshots = true;
    config->recover = snapshots->recover;
    config->copies = snapshots->wanted_copies;
    if (agent_has_peers(agent) && config->copies < FEWEST_COPIES)
        config->copies = FEWEST_COPIES; /* Processor Zero knows whether one suffices */
    config->survives = agent_wants_copies(agent);
    config->own = agent_host(agent);
    config->rule = snapshots->rule;
    config->costs = snapshots->costs;
    config->stop_on_failure = snapshots->stop_on_failure;
    config->stop_on_late_failure = snapshots->stop_on_late_failure;
    config->restore = snapshots->restores;
    config->estimate = agent_election(agent)->estimate;
    config->seen = agent_election(agent)->seen;
    config->recovery = agent_election(agent)->recovery;
    config->notice = agent_has_peers(agent) ? (double)agent_peers_heartbeat_ms(agent) / 1e3 : 0;
    if (!snapshots->restores)
        return;
    config->wanted = agent_election(agent)->wanted;
    config->lineage = &agent_election(agent)->lineage;
    config->avoid_count = agent_election(agent)->avoid_count;
    memcpy(config->avoid, agent_election(agent)->avoid, sizeof config->avoid);
}

static bool is_no_copy(const void *context, pid_t ospid)
{
    (void)context;
    return !process_is_copy(ospid);
}

/* No process of the job may survive bsprun.  Copies and writers not adopted yet are found by their
 * name. */
static void end_all_copies(struct agent *agent)
{
    const struct timespec moment = {0, 1000000};

    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        agent_end_writer(agent, pid);
        agent_unwatch(&snapshots_of(agent)->kept[pid].writer);
        for (int slot = 0; slot < SNAPSHOT_SLOTS; slot++)
            agent_end_copy(agent, pid, slot);
    }
    for (int left = END_MS; left > 0; left--) {
        if (process_kill_descendants_but(is_no_copy, NULL) == 0)
            break;
        nanosleep(&moment, NULL);
    }
}

void agent_snapshots_close(struct agent *agent)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);

    if (!snapshots)
        return;
    uv_timer_stop(agent_timer(agent, AGENT_TIMER_OPENED));
    uv_timer_stop(agent_timer(agent, AGENT_TIMER_COMPARED));
    agent_ahead_close(agent);
    agent_alone_close(agent);
    if (snapshots->kept && !snapshots->ended)
        end_all_copies(agent);
    snapshots->ended = true;
    agent_abandon(agent);
    if (agent_has_peers(agent) && agent_store(agent)) {
        /* Transfers for an abandoned snapshot. */
        agent_fetch_forget(agent);
        agent_prune_finish(agent);
        if (!snapshots->shared)
            store_sweep(agent_store(agent), NULL, NULL);
    }
    agent_prune(agent, true);
}

void agent_snapshots_free(struct agent *agent)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);

    if (!snapshots)
        return;
    agent_prune_finish(agent);
    agent_alone_free(agent);
    store_close(agent_store(agent));
    agent_store_remove(agent);
    agent_gather_free(agent);
    trial_read_free(snapshots->trial);
    shares_free(snapshots->shares);
    agent_common_close(agent);
    opened_free(snapshots->opened);
    agent_forget_identity(&snapshots->identity);
    snapshot_free_texts(snapshots->options);
    free(snapshots->kept);
    free(snapshots->together);
    free(snapshots->free_alone);
    free(snapshots->path);
    snapshots_end(agent);
}
