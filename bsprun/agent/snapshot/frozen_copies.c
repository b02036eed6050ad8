/* frozen_copies.c - frozen copies of ranks and the processes that write images.
 *
 * Happy path: MADE on the board -> pidfd -> HELD -> a writer leaves its result and ends; a copy
 * waits until it is thawed, or ended because a newer snapshot is known to all.
 *
 * What can fail: no descriptor to watch it (REFUSED: the rank does without copies from the next
 * snapshot on); it is killed (a writer's image has failed; a copy is missing); not enough memory
 * for copies.
 */
#include <signal.h>
#include <unistd.h>

#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/job.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/saved.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/agent/snapshot/inside.h"
#include "bsprun/agent/snapshot/memory.h"
#include "bsprun/process.h"
#include "ckpt/capture/capture.h"
#include "lib/base/clock.h"
#include "lib/shm/board.h"

/* Memory is not measured at every short superstep, but often enough that what a program allocates
 * between two of them is seen: measuring takes a fiftieth of the time.  By CPU time, as an agent
 * that has waited for a core would believe what it has measured for long. */
#define WAY_LASTS_COSTS 50u

/* ---- Adopting ---- */

/* Whether a process that ends has failed; those of a term or job that is being ended are killed. */
static bool job_goes_on(const struct agent *agent)
{
    return agent_job(agent) != JOB_REWINDING && !job_is_stopping(agent_job(agent));
}

/* Whether its maker has withdrawn it, and has the image written otherwise. */
static bool was_withdrawn(const struct bspz_snap_process *place)
{
    return atomic_load(&place->state) == BSPZ_SNAP_WITHDRAWN;
}

static void writer_ended(struct watched *process)
{
    struct agent *agent = process->agent;
    int pid = process->pid;
    struct agent_snapshots *snapshots = snapshots_of(agent);

    agent_unwatch(process);
    if (!job_goes_on(agent) || was_withdrawn(&agent_snap_of(agent, pid)->writer))
        return;
    /* A finished result may not have been taken yet. */
    if (snapshots->ticket.staging && !snapshots->kept[pid].written &&
        atomic_load(&agent_snap_of(agent, pid)->written) != snapshots->ticket.name.superstep + 1)
        agent_image_failed(agent, pid, WIRE_CAUSE_RANK_SIGNALLED,
                           "a process that wrote an image was killed");
}

/* A frozen copy has the image written by a copy of its own: whether that was made. */
static bool took_image_along(const struct agent *agent, int pid, struct bspz_snapshot_name name)
{
    const struct agent_snapshots *snapshots = snapshots_of(agent);
    const struct kept *kept = &snapshots->kept[pid];
    const struct bspz_snap *snap = agent_snap_of(agent, pid);

    return job_goes_on(agent) && snapshots->ticket.staging &&
           bspz_snapshot_same(name, snapshots->ticket.name) &&
           agent_board(agent)->snap_order.forked && !kept->written &&
           kept->writer.state == WATCH_NONE &&
           atomic_load(&snap->writer.state) == BSPZ_SNAP_NOBODY &&
           atomic_load(&snap->written) != snapshots->ticket.name.superstep + 1;
}

static void copy_ended(struct watched *process)
{
    struct agent *agent = process->agent;
    int pid = process->pid;
    struct kept *kept = &snapshots_of(agent)->kept[pid];
    struct bspz_snapshot_name name = {0};

    for (int slot = 0; slot < SNAPSHOT_SLOTS; slot++)
        if (process == &kept->copies[slot].process) {
            if (!was_withdrawn(&agent_snap_of(agent, pid)->copies[slot]))
                name = kept->copies[slot].name;
            kept->copies[slot].name.term = 0;
        }
    agent_unwatch(process);
    if (took_image_along(agent, pid, name))
        agent_image_failed(agent, pid, WIRE_CAUSE_RANK_SIGNALLED,
                           "a process that was to write an image was killed");
}

/* Refuses a copy or writer, which exits and leaves no image. */
static void refuse(struct agent *agent, struct bspz_snap_process *place, int pid, bool writes)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);

    snapshots->without_copies = true;
    if (!bspz_word_move(&place->state, BSPZ_SNAP_MADE, BSPZ_SNAP_REFUSED))
        return;
    if (writes && snapshots->ticket.staging && job_goes_on(agent))
        agent_image_failed(agent, pid, WIRE_CAUSE_RANK_SIGNALLED,
                           "a process that was to write an image cannot be watched");
}

/* Adopts a new copy or writer; true: there was one. */
static bool adopt(struct agent *agent, struct bspz_snap_process *place, struct watched *process,
                  int pid, void (*ended)(struct watched *))
{
    pid_t ospid;

    if (atomic_load(&place->state) != BSPZ_SNAP_MADE)
        return false;
    agent_unwatch(process);
    ospid = atomic_load(&place->ospid);
    if (ospid <= 1 || ospid == agent_board(agent)->agent_pid ||
        agent_watch(agent, process, pid, ospid) != 0) {
        refuse(agent, place, pid, ended == writer_ended || agent_board(agent)->snap_order.forked);
        return false;
    }
    process->ended = ended;
    /* It does this itself, too, but may not have run yet when the group of its rank is killed. */
    if (pid > 0)
        setpgid(ospid, ospid);
    if (bspz_word_move(&place->state, BSPZ_SNAP_MADE, BSPZ_SNAP_HELD))
        return true;
    process_signal(process->pidfd, SIGKILL);
    agent_unwatch(process);
    return false;
}

/* The snapshot of a new copy: a thawed one makes its successor of the same.  So copies must be
 * adopted before either name changes. */
static struct bspz_snapshot_name name_of_new_copy(const struct agent *agent)
{
    const struct ticket *ticket = &snapshots_of(agent)->ticket;

    return ticket_is_recording(ticket->state) ? ticket->name : agent_committed(agent);
}

void agent_adopt_copies(struct agent *agent)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);

    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        struct bspz_snap *snap = agent_snap_of(agent, pid);
        struct kept *kept = &snapshots->kept[pid];

        if (adopt(agent, &snap->writer, &kept->writer, pid, writer_ended) &&
            !snapshots->ticket.staging && snapshots->lone_writer != pid + 1)
            process_signal(kept->writer.pidfd, SIGKILL); /* of an abandoned snapshot */
        for (int slot = 0; slot < SNAPSHOT_SLOTS; slot++) {
            struct frozen *copy = &kept->copies[slot];

            if (!adopt(agent, &snap->copies[slot], &copy->process, pid, copy_ended))
                continue;
            copy->name = name_of_new_copy(agent);
            if (slot != kept->slot)
                agent_end_copy(agent, pid, slot);
        }
    }
}

bool agent_snapshots_expect(const struct agent *agent, pid_t ospid)
{
    if (!snapshots_of(agent) || !snapshots_of(agent)->kept || ospid <= 0)
        return false;
    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        const struct bspz_snap *snap = agent_snap_of(agent, pid);

        if (atomic_load(&snap->writer.state) == BSPZ_SNAP_MADE &&
            atomic_load(&snap->writer.ospid) == ospid)
            return true;
        for (int slot = 0; slot < SNAPSHOT_SLOTS; slot++)
            if (atomic_load(&snap->copies[slot].state) == BSPZ_SNAP_MADE &&
                atomic_load(&snap->copies[slot].ospid) == ospid)
                return true;
    }
    return false;
}

/* ---- Ending ---- */

/* Whether the rank, in this term, is itself its frozen copy. */
static bool is_rank(const struct agent *agent, int pid, const struct frozen *copy)
{
    const struct watched *rank = agent_process(agent, pid);

    return copy->process.state != WATCH_NONE && rank->state != WATCH_NONE &&
           rank->ospid == copy->process.ospid;
}

/* Kills the copy, so that no process waits on the word when the slot is reused. */
void agent_end_copy(struct agent *agent, int pid, int slot)
{
    struct frozen *copy = &snapshots_of(agent)->kept[pid].copies[slot];

    if (copy->process.state != WATCH_NONE && !is_rank(agent, pid, copy))
        process_signal(copy->process.pidfd, SIGKILL);
    agent_unwatch(&copy->process);
    copy->name = (struct bspz_snapshot_name){0};
}

void agent_release_stayed(struct agent *agent)
{
    for (int pid = 0; agent_board(agent)->snap_order.stays && pid < agent_nprocs(agent); pid++) {
        int slot = snapshots_of(agent)->kept[pid].slot;

        if (!agent_is_here(agent, pid) || slot < 0)
            continue;
        agent_end_copy(agent, pid, slot);
        bspz_word_set(&agent_snap_of(agent, pid)->words[slot], BSPZ_COPY_DISCARD);
    }
}

void agent_snapshots_run(struct agent *agent)
{
    for (int pid = 0; snapshots_of(agent) && snapshots_of(agent)->kept && pid < agent_nprocs(agent);
         pid++)
        for (int slot = 0; slot < SNAPSHOT_SLOTS && !agent_is_here(agent, pid); slot++)
            agent_end_copy(agent, pid, slot);
}

void agent_end_writer(struct agent *agent, int pid)
{
    struct watched *writer = &snapshots_of(agent)->kept[pid].writer;

    if (writer->state == WATCH_LIVES)
        process_signal(writer->pidfd, SIGKILL);
}

/* A rank that is being captured may wait for its copy. */
static bool is_being_made(const struct agent *agent, const struct frozen *copy)
{
    const struct ticket *ticket = &snapshots_of(agent)->ticket;

    return ticket_is_recording(ticket->state) && bspz_snapshot_same(copy->name, ticket->name);
}

void agent_end_copies_but(struct agent *agent, struct bspz_snapshot_name name)
{
    for (int pid = 0; snapshots_of(agent)->kept && pid < agent_nprocs(agent); pid++)
        for (int slot = 0; slot < SNAPSHOT_SLOTS; slot++) {
            const struct frozen *copy = &snapshots_of(agent)->kept[pid].copies[slot];

            if (!bspz_snapshot_same(copy->name, name) && !is_being_made(agent, copy))
                agent_end_copy(agent, pid, slot);
        }
}

void agent_end_copies_of(struct agent *agent, struct bspz_snapshot_name name)
{
    for (int pid = 0; snapshots_of(agent)->kept && pid < agent_nprocs(agent); pid++)
        for (int slot = 0; slot < SNAPSHOT_SLOTS; slot++)
            if (bspz_snapshot_same(snapshots_of(agent)->kept[pid].copies[slot].name, name))
                agent_end_copy(agent, pid, slot);
}

int agent_copy_of(const struct agent *agent, int pid, struct bspz_snapshot_name name)
{
    const struct kept *kept = &snapshots_of(agent)->kept[pid];

    for (int slot = 0; slot < SNAPSHOT_SLOTS; slot++)
        if (kept->copies[slot].process.state != WATCH_NONE && name.term > 0 &&
            bspz_snapshot_same(kept->copies[slot].name, name))
            return slot;
    return -1;
}

bool agent_is_copy(const void *context, pid_t ospid)
{
    const struct agent *agent = context;

    if (!snapshots_of(agent))
        return false;
    for (int pid = 0; snapshots_of(agent)->kept && pid < agent_nprocs(agent); pid++)
        for (int slot = 0; slot < SNAPSHOT_SLOTS; slot++) {
            const struct frozen *copy = &snapshots_of(agent)->kept[pid].copies[slot];

            if (copy->process.state != WATCH_NONE && copy->process.ospid == ospid)
                return true;
        }
    return agent_is_ahead(agent, ospid);
}

/* ---- Making room ---- */

void agent_use_slot(struct agent *agent, int pid, int slot)
{
    struct bspz_snap *snap = agent_snap_of(agent, pid);

    if (slot >= 0) {
        agent_end_copy(agent, pid, slot);
        atomic_store(&snap->copies[slot].ospid, 0);
        atomic_store(&snap->copies[slot].state, BSPZ_SNAP_NOBODY);
        atomic_store(&snap->words[slot], BSPZ_COPY_FROZEN);
    }
    snapshots_of(agent)->kept[pid].slot = slot;
    atomic_store(&snap->copy_slot, slot);
}

void agent_next_slot(struct agent *agent, int pid, bool wanted)
{
    const struct frozen *copies = snapshots_of(agent)->kept[pid].copies;
    const struct bspz_snapshot_name held[SNAPSHOT_SLOTS] = {copies[0].name, copies[1].name};

    agent_use_slot(agent, pid, wanted ? snapshot_free_slot(held, agent_committed(agent)) : -1);
}

void agent_forget_announced(struct agent *agent)
{
    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        struct bspz_snap *snap = agent_snap_of(agent, pid);

        for (int slot = 0; slot < SNAPSHOT_SLOTS; slot++)
            if (snapshots_of(agent)->kept[pid].copies[slot].process.state == WATCH_NONE)
                atomic_store(&snap->copies[slot].state, BSPZ_SNAP_NOBODY);
    }
}

/* Of the rank, or of the copy that becomes the rank. */
static uint64_t memory_of_rank(const struct agent *agent, int pid)
{
    int slot;

    if (agent_process(agent, pid)->state != WATCH_NONE)
        return memory_of_process(agent_process(agent, pid)->ospid);
    slot = agent_copy_of(agent, pid, agent_committed(agent));
    return slot < 0 ? 0
                    : memory_of_process(snapshots_of(agent)->kept[pid].copies[slot].process.ospid);
}

/* Decides by the ranks' memory and the available memory. */
struct snapshot_way agent_snapshot_way(struct agent *agent)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    uint64_t now = agent_now_ns(), begun = bspz_clock_ns(CLOCK_THREAD_CPUTIME_ID), resident = 0;

    if (snapshots->without_copies)
        return (struct snapshot_way){0};
    if (now < snapshots->way_until_ns)
        return snapshots->way;
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        resident += memory_of_rank(agent, pid);
    snapshots->way = snapshot_choose_way(snapshots->async, resident, memory_available());
    snapshots->way_until_ns =
        now + WAY_LASTS_COSTS * (bspz_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun);
    if (snapshots->way.short_of_memory && !snapshots->said_memory) {
        snapshots->said_memory = true;
        agent_notice(agent, "there is too little free memory for copies of the processes: "
                            "snapshots and rollbacks take longer");
    }
    return snapshots->way;
}

void agent_snapshots_rewind(struct agent *agent)
{
    const struct agent_snapshots *snapshots = snapshots_of(agent);

    for (int pid = 0; snapshots && snapshots->kept && pid < agent_nprocs(agent); pid++)
        agent_end_writer(agent, pid);
    if (snapshots && snapshots->ticket.name.term > 0 && snapshots->ticket.state != TICKET_PERSISTED)
        agent_end_copies_of(agent, snapshots->ticket.name);
    if (snapshots)
        agent_ahead_rewind(agent);
}
