/* alone_move.c - processes of a lost host are restarted alone on this one; see alone.h.
 *
 * Happy path: it is expected -> its images have been fetched, if they are not here -> bsprun knows
 * -> it is started -> it takes its place, as any that is restarted alone.
 *
 * What can fail: no host has the images, or it cannot be started: all processes go back.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/job.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/pause.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/saved.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/to_zero.h"
#include "bsprun/agent/snapshot/alone.h"
#include "bsprun/agent/snapshot/alone_inside.h"
#include "bsprun/agent/snapshot/opened.h"

#define NAMED_MOST 16u /* processes that are named to the user */
#define NS         1e9

/* ---- Could it be restarted elsewhere? ------------------------------------------------------- */

/* Not so in most programs, which need no look at their files. */
bool agent_alone_suits(const struct agent *agent)
{
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_is_here(agent, pid) && !bspz_rank_of(agent_board(agent), pid)->request.alone)
            return false;
    return agent_here(agent) > 0;
}

bool agent_alone_bears(struct agent *agent)
{
    const struct agent_snapshots *snapshots = snapshots_of(agent);

    if (!snapshots || !snapshots->alone || agent_job(agent) != JOB_RUNNING ||
        !agent_alone_suits(agent) || agent_is_wrapped(agent))
        return false;
    agent_note_bound(agent);
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_is_here(agent, pid) &&
            (agent_is_bound(agent, pid) || opened_writes(snapshots->opened, pid)))
            return false;
    return true;
}

/* ---- It comes ------------------------------------------------------------------------------- */

/* All go back: it counts as lost. */
static void cannot_go_on(struct agent *agent, int pid, const char *why)
{
    static const struct death killed = {.known = true, .signal = SIGKILL};
    char text[AGENT_WHY + 80];

    snprintf(text, sizeof text, "process %d cannot be restarted alone on host %s: %s", pid,
             agent_host_name(agent), why);
    agent_blame(agent, text, false);
    if (agent_member(agent, pid)->state == MEMBER_UNKNOWN)
        agent_member_move(agent, pid, MEMBER_KNOWN);
    agent_member_move(agent, pid, MEMBER_REPORTED);
    agent_rank_exited(agent, pid, &killed, false, text);
}

static const char *name_of(const struct agent *agent, uint32_t host)
{
    const struct wire_host *found = agent_peers_find(agent, host);

    return found ? found->name : "";
}

static void list_pids(const uint64_t *pids, uint32_t count, char *text, size_t size)
{
    size_t used = 0;

    for (uint32_t i = 0; i < count && i < NAMED_MOST && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%llu",
                                 i == 0                                  ? ""
                                 : i + 1 == count && count <= NAMED_MOST ? " and "
                                                                         : ", ",
                                 (unsigned long long)pids[i]);
    if (count > NAMED_MOST && used < size)
        snprintf(text + used, size - used, " and %u more", count - NAMED_MOST);
}

static void say_resettled(struct agent *agent, const uint64_t *pids, uint32_t count)
{
    const struct agent_alone *alone = snapshots_of(agent)->alone;
    struct wire_message message = {.kind = WIRE_RESETTLED};
    char text[1024], list[256], ago[64] = "the beginning";

    if (alone->coming.superstep > 0)
        snprintf(ago, sizeof ago, "%.1f s ago",
                 (double)(agent_now_ns() - alone->committed_ns) / NS);
    list_pids(pids, count, list, sizeof list);
    snprintf(text, sizeof text,
             "host %s was lost; process%s %s %s restarted alone on host %s, from %s",
             name_of(agent, alone->left), count == 1 ? "" : "es", list, count == 1 ? "is" : "are",
             agent_host_name(agent), ago);
    message.envelope.superstep =
        atomic_load(&bspz_rank_of(agent_board(agent), (int)pids[0])->superstep);
    message.resettled.lost = alone->left;
    message.resettled.name = alone->coming;
    message.resettled.pids = (struct wire_numbers){pids, count};
    message.resettled.text = text;
    agent_send(agent, &message);
}

static bool is_expected(const struct agent *agent, int pid)
{
    const struct agent_alone *alone = snapshots_of(agent)->alone;

    return agent_is_here(agent, pid) && alone->lones[pid].state == LONE_EXPECTED &&
           bspz_snapshot_same(alone->lones[pid].snapshot, alone->coming);
}

/* Where it was in the job's input. */
static bool find_input(struct agent *agent, struct lone *lone, char *why)
{
    struct sources sources = {.store = agent_store(agent)};
    int error;
    const struct manifest *manifest = agent_manifest_of(&sources, lone->snapshot, &error, why);

    if (manifest)
        lone->input = (struct lone_input){agent_input_of(manifest), manifest->input_digest};
    agent_free_sources(&sources);
    return manifest != NULL;
}

static void begin(struct agent *agent, int pid)
{
    struct agent_alone *alone = snapshots_of(agent)->alone;
    struct lone *lone = &alone->lones[pid];
    char why[AGENT_WHY];

    lone->state = LONE_RUNS;
    if (!find_input(agent, lone, why) || !agent_alone_start(agent, pid, why)) {
        cannot_go_on(agent, pid, why);
        return;
    }
    lone->state = LONE_RESTORED;
    alone->restoring++;
}

/* Their images are here, or cannot be. */
static void gathered(struct agent *agent, int error, const char *why)
{
    uint64_t *pids = calloc((size_t)agent_nprocs(agent), sizeof *pids);
    uint32_t count = 0;

    if (agent_job(agent) != JOB_RUNNING) {
        free(pids);
        return;
    }
    for (int pid = 0; pids && pid < agent_nprocs(agent); pid++)
        if (is_expected(agent, pid))
            pids[count++] = (uint64_t)pid;
    if (pids && count > 0 && !error)
        say_resettled(agent, pids, count);
    for (uint32_t i = 0; i < count && agent_job(agent) == JOB_RUNNING; i++)
        if (error)
            cannot_go_on(agent, (int)pids[i], why);
        else
            begin(agent, (int)pids[i]);
    free(pids);
    agent_pause_renew(agent);
}

void agent_alone_look_for(struct agent *agent)
{
    struct agent_alone *alone = snapshots_of(agent)->alone;

    if (!alone || agent_is_gathering(agent) || agent_job(agent) != JOB_RUNNING)
        return;
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_is_here(agent, pid) && alone->lones[pid].state == LONE_EXPECTED) {
            alone->coming = alone->lones[pid].snapshot;
            alone->left = alone->lones[pid].left;
            agent_gather(agent, alone->coming, false, is_expected, gathered);
            return;
        }
}

void agent_alone_expect(struct agent *agent, int pid)
{
    struct agent_alone *alone = snapshots_of(agent)->alone;

    if (alone)
        alone->lones[pid] = (struct lone){.state = LONE_EXPECTED, .fd = -1};
    else
        cannot_go_on(agent, pid, "out of memory");
    snapshots_of(agent)->free_by = (struct bspz_snapshot_name){0}; /* what it shares is not known */
}

void agent_alone_receive(struct agent *agent, struct bspz_snapshot_name from, uint32_t lost)
{
    struct agent_alone *alone = snapshots_of(agent)->alone;

    if (!alone)
        return;
    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        struct lone *lone = &alone->lones[pid];

        if (!agent_is_here(agent, pid) || lone->state != LONE_EXPECTED || lone->snapshot.term > 0)
            continue;
        lone->snapshot = from;
        lone->left = lost;
        lone->saved_ns = alone->committed_ns;
        alone_images_begin(&lone->images, IMAGE_TOGETHER);
    }
    agent_alone_look_for(agent);
}
