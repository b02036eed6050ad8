/* restore.c - restores the processes of a host from a snapshot.
 *
 * Happy path: RESTORE: a process with a frozen copy counts as staged, the others are started with
 * their images -> each is staged -> STAGED -> PASS: images become processes, copies are thawed ->
 * all are READY.
 *
 * What can fail: the manifest, an image or a base cannot be opened, the program cannot be started,
 * a process fails before it is staged: IMAGE_FAILED.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/barrier.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/election.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/input.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/saved.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/to_zero.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/agent/snapshot/inside.h"
#include "bsprun/agent/snapshot/replicas.h"
#include "bsprun/verdict.h"
#include "ckpt/capture/capture.h"
#include "lib/shm/board.h"

/* ---- Starting ---- */

/* 0, or -errno and `why`; -ENOEXEC: not the fault of the image. */
static int start_process(struct agent *agent, int pid, struct bspz_snapshot_name name,
                         struct sources *sources, char *why)
{
    struct watched *process = agent_process(agent, pid);
    struct chain chain;
    pid_t ospid = -EIO;
    int error = agent_chain_open(sources, name, (uint32_t)pid, &chain, why);

    if (!error && agent_ahead_take(agent, pid, &chain)) {
        agent_chain_close(&chain);
        agent_member_is(agent, pid);
        return 0;
    }
    if (!error)
        ospid = agent_start_of_image(agent, pid, &chain, sources, -1, why);
    agent_chain_close(&chain);
    if (ospid < 0)
        return ospid;
    error = agent_watch(agent, process, pid, ospid);
    if (error) {
        kill(ospid, SIGKILL);
        snprintf(why, AGENT_WHY, "process %d cannot be watched: %s%s", pid, strerror(-error),
                 verdict_limit_hint(-error));
        return -ENOEXEC;
    }
    agent_member_is(agent, pid);
    return 0;
}

/* ---- RESTORE ---- */

/* Rewinds input and output; counts are sums over all hosts. */
static void wind_back(struct agent *agent, const struct manifest *manifest)
{
    static const uint64_t nothing[2];
    uint64_t output[2] = {0, 0};

    for (uint32_t i = 0; i < manifest->streams.count; i++) {
        const struct manifest_stream *stream = &manifest->streams.items[i];

        if (stream->number > 0)
            output[stream->number - 1] += stream->position;
    }
    agent_relay_set_counts(agent, agent_is_here(agent, 0) ? output : nothing);
    agent_relay_set_superstep(agent, manifest->name.superstep);
    if (agent_is_here(agent, agent_order(agent)->stdin_pid))
        agent_input_rewind(agent, agent_input_of(manifest), manifest->input_digest);
}

/* The superstep of the snapshot at the end of the chain of process 0, as far as it is here: all
 * processes begin their chains together. */
static uint64_t first_of_chain(struct sources *sources, const struct manifest *manifest)
{
    const struct manifest_image *image = &manifest->images.items[0];
    struct bspz_snapshot_name name = manifest->name;
    char why[AGENT_WHY];
    int error;

    for (uint32_t i = 0; i < BSPZ_IMAGE_CHAIN_MAX && image->facts.generation > 0; i++) {
        uint32_t pid = image->facts.base.pid;

        name = bspz_image_snapshot(&image->facts.base);
        manifest = agent_manifest_of(sources, name, &error, why);
        if (!manifest || pid >= manifest->nprocs)
            break;
        image = &manifest->images.items[pid];
    }
    return name.superstep;
}

/* Prepares program and streams. 0, or -errno and `why`. */
static int prepare(struct agent *agent, struct sources *sources, char *why)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    int error = 0;
    const struct manifest *manifest =
        agent_manifest_of(sources, agent_committed(agent), &error, why);

    if (!manifest)
        return -EIO;
    if (agent_nprocs(agent) != (int)manifest->nprocs) {
        snprintf(why, AGENT_WHY, "a snapshot of another number of processes");
        return -EINVAL;
    }
    if (snapshots->shares)
        shares_take(snapshots->shares);
    if (!agent_identify_from(agent, manifest) || !agent_group_from(agent, manifest)) {
        snprintf(why, AGENT_WHY, "out of memory");
        return -ENOMEM;
    }
    agent_common_begin(agent);
    snapshots->chain = chain_end_of(manifest, first_of_chain(sources, manifest));
    wind_back(agent, manifest);
    agent_opened_back(agent, agent_committed(agent));
    return 0;
}

static void mark_copies(struct agent *agent, const struct wire_restore *order)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);

    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        snapshots->kept[pid].staged = snapshots->kept[pid].copied = false;
        snapshots->kept[pid].slot = -1;
    }
    for (uint32_t i = 0; i < order->copy.count; i++)
        if (order->copy.items[i] < (uint64_t)agent_nprocs(agent) &&
            agent_is_here(agent, (int)order->copy.items[i]) &&
            agent_copy_of(agent, (int)order->copy.items[i], agent_committed(agent)) >= 0)
            snapshots->kept[order->copy.items[i]].copied = true;
}

static bool is_to_be_made(const struct agent *agent, int pid)
{
    return agent_is_here(agent, pid) && !snapshots_of(agent)->kept[pid].copied;
}

/* Starts those without copies: 0, or -errno and the failed one in *pid. */
static int start_all(struct agent *agent, struct sources *sources, int *pid, char *why)
{
    int error = 0;

    for (*pid = 0; *pid < agent_nprocs(agent); ++*pid) {
        if (!is_to_be_made(agent, *pid))
            continue;
        error = start_process(agent, *pid, agent_committed(agent), sources, why);
        if (error)
            break;
    }
    return error;
}

/* All files for the processes are here. */
static void restore_gathered(struct agent *agent, int error, const char *text)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    struct sources sources = {.store = agent_store(agent)};
    char why[AGENT_WHY];
    int pid = 0;

    if (agent_job(agent) != JOB_RESTORING)
        return;
    making_move(&snapshots->making, MAKING_NONE);
    snprintf(why, sizeof why, "%s", text);
    if (!error)
        error = prepare(agent, &sources, why);
    if (!error && agent_keeps_order(agent))
        store_sweep(agent_store(agent), NULL, NULL); /* unfinished snapshots of dead writers */
    if (!error) {
        making_move(&snapshots->making, MAKING_STAGING);
        snapshots->unstaged = agent_here(agent);
        error = start_all(agent, &sources, &pid, why);
    }
    agent_free_sources(&sources);
    agent_ahead_end(agent);
    if (!error)
        agent_scan_staged(agent);
    else if (error == -ENOEXEC)
        agent_cannot_go_on(agent, pid, why);
    else
        agent_image_failed(agent, pid, WIRE_CAUSE_NOT_RESTORED, why);
}

/* Sets the new hosts of processes. 0, or -errno and `why`. */
static int settle(struct agent *agent, const struct wire_restore *order, char *why)
{
    int processes = (int)order->processes, error = 0;

    if (processes < 1 || processes > BSPZ_MAX_PROCS || order->host_of.count != order->processes ||
        (agent_nprocs(agent) > 0 && agent_nprocs(agent) != processes)) {
        snprintf(why, AGENT_WHY, "a snapshot of another number of processes");
        return -EINVAL;
    }
    error = agent_cells_take(agent, &order->leads);
    if (!error && agent_nprocs(agent) == 0) {
        error = agent_place(agent, processes, &order->host_of);
        if (!error)
            bspz_board_reset(agent_board(agent), agent_board_fd(agent), agent_nprocs(agent));
    }
    if (!error) {
        agent_settle(agent, &order->host_of);
        snapshots_of(agent)->writer = (uint32_t)order->host_of.items[0];
    } else
        snprintf(why, AGENT_WHY, "no memory for %d processes: %s", processes, strerror(-error));
    return error;
}

/* A process that shall be here, of which it can be said that it is not restored; 0: none. */
static int first_of(const struct agent *agent, const struct wire_numbers *host_of)
{
    for (uint32_t pid = 0; pid < host_of->count; pid++)
        if (host_of->items[pid] == agent_host(agent))
            return (int)pid;
    return 0;
}

void agent_restore(struct agent *agent, const struct wire_message *order)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    char why[AGENT_WHY];

    agent_set_committed(
        agent, (struct bspz_snapshot_name){order->envelope.superstep, order->restore.from});
    snapshots->right = agent_committed(agent);
    snapshots->copies = order->restore.copies;
    agent_end_copies_but(agent, agent_committed(agent));
    if (settle(agent, &order->restore, why) != 0) {
        agent_image_failed(agent, first_of(agent, &order->restore.host_of), WIRE_CAUSE_NOT_RESTORED,
                           why);
        return;
    }
    mark_copies(agent, &order->restore);
    agent_note_term(agent, agent_committed(agent));
    agent_gather(agent, agent_committed(agent), false, is_to_be_made, restore_gathered);
}

/* Passes on warnings of a --restart, or of a job that begins; later terms need none. */
static void warn(struct agent *agent, int pid)
{
    const struct bspz_snap *snap = agent_snap_of(agent, pid);

    if (snapshots_of(agent)->kept[pid].copied || !snap->why[0] ||
        !agent_election(agent)->first_of_run)
        return;
    if (!making_is_remote(snapshots_of(agent)->making))
        agent_notice(agent, "process %d: %.*s", pid, (int)sizeof snap->why - 1, snap->why);
    else
        agent_notice(agent, "host %s: %.*s", agent_host_name(agent), (int)sizeof snap->why - 1,
                     snap->why);
}

void agent_scan_staged(struct agent *agent)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    struct wire_message message = {.kind = WIRE_STAGED};

    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        struct kept *kept = &snapshots->kept[pid];

        if (!agent_is_here(agent, pid) || kept->staged ||
            (!kept->copied && atomic_load(&agent_snap_of(agent, pid)->staged) != 1))
            continue;
        kept->staged = true;
        snapshots->unstaged--;
        warn(agent, pid);
    }
    if (snapshots->unstaged > 0)
        return;
    making_move(&snapshots->making, MAKING_STAGED);
    message.staged.count = (uint32_t)agent_here(agent);
    agent_tell_zero(agent, &message);
}

/* ---- Processes of other hosts than that of process 0 ---- */

/* Only the first process's findings are reported, as all find the same. */
void agent_scan_remote(struct agent *agent)
{
    int first = agent_board(agent)->first_here;

    if (snapshots_of(agent)->making != MAKING_REMOTE ||
        atomic_load(&agent_snap_of(agent, first)->staged) != 1)
        return;
    making_move(&snapshots_of(agent)->making, MAKING_REMOTE_SEEN);
    warn(agent, first);
}

/* No rollback is involved, so each process goes on as soon as it is complete. */
static void make_gathered(struct agent *agent, int error, const char *text)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    struct sources sources = {.store = agent_store(agent)};
    const struct manifest *manifest = NULL;
    char why[AGENT_WHY];
    int pid = 0;

    if (agent_job(agent) != JOB_FORMING)
        return;
    snprintf(why, sizeof why, "%s", text);
    if (!error)
        manifest = agent_manifest_of(&sources, agent_committed(agent), &error, why);
    if (manifest && !agent_identify_from(agent, manifest)) {
        error = -ENOMEM;
        snprintf(why, sizeof why, "out of memory");
    }
    making_move(&snapshots->making, MAKING_REMOTE);
    agent_board(agent)->common_fd = 0;
    bspz_word_set(&agent_board(agent)->snap_passed, 1);
    if (!error)
        error = start_all(agent, &sources, &pid, why);
    agent_free_sources(&sources);
    if (error)
        agent_cannot_go_on(agent, pid, why);
}

void agent_make_of_first(struct agent *agent, struct bspz_snapshot_name name)
{
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        snapshots_of(agent)->kept[pid].slot = -1;
    if (agent_here(agent) > 0)
        agent_gather(agent, name, false, is_to_be_made, make_gathered);
}

/* ---- PASS ---- */

/* Whether a thawed copy makes another one of itself.  After a move it does without until the next
 * snapshot: to go back those that have moved would have to be made of their images anyway, and all
 * wait here for what is made now. */
static bool makes_successor(struct agent *agent)
{
    return agent_snapshot_way(agent).copies && !(agent_board(agent)->flags & BSPZ_BOARD_MOVED);
}

/* Thaws the copy, which becomes the rank. */
static void thaw(struct agent *agent, int pid, bool with_copy)
{
    struct kept *kept = &snapshots_of(agent)->kept[pid];
    struct bspz_snap *snap = agent_snap_of(agent, pid);
    int slot = agent_copy_of(agent, pid, agent_committed(agent));

    if (slot < 0) { /* it was just killed: handled as a lost process */
        static const struct death killed = {.known = true, .signal = SIGKILL};

        agent_rank_exited(agent, pid, &killed, false, "");
        return;
    }
    agent_move_watched(&kept->copies[slot].process, agent_process(agent, pid));
    agent_process(agent, pid)->ended = NULL;
    kept->copies[slot].name = (struct bspz_snapshot_name){0};
    agent_use_slot(agent, pid, with_copy ? 1 - slot : -1);
    agent_member_is(agent, pid);
    bspz_word_set(&snap->words[slot], BSPZ_COPY_THAW);
}

void agent_pass(struct agent *agent)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    bool with_copies = makes_successor(agent);

    bspz_word_set(&agent_board(agent)->snap_passed, 1);
    for (int pid = 0; pid < agent_nprocs(agent) && agent_job(agent) == JOB_RESTORING; pid++)
        if (snapshots->kept[pid].copied)
            thaw(agent, pid, with_copies);
    if (agent_job(agent) == JOB_RESTORING && agent_here(agent) == 0)
        agent_all_ready(agent);
    if (agent_job(agent) == JOB_RESTORING)
        agent_replicas_spread_again(agent);
}
