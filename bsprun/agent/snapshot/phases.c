/* phases.c - the phases of a snapshot in the node agent; see inside.h. */
#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/barrier.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/decided.h"
#include "bsprun/agent/core/fetch.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/input.h"
#include "bsprun/agent/core/job.h"
#include "bsprun/agent/core/known.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/saved.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/to_zero.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/agent/snapshot/alone.h"
#include "bsprun/agent/snapshot/inside.h"
#include "bsprun/agent/snapshot/replicas.h"
#include "lib/base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRUNE_EVERY_NS UINT64_C(1000000000)
#define UNPRUNED_MOST  8 /* most snapshots beyond those to be retained */

/* ---- Ordering ---- */

/* Makes the directory, and the paths for the images. 0, or -errno and `why`. */
static int make_directory(struct agent *agent, char why[AGENT_WHY])
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    struct ticket *ticket = &snapshots->ticket;
    struct bspz_snap_order *order = &agent_board(agent)->snap_order;
    char path[sizeof order->path_start + sizeof order->path_end];
    int error = (agent_has_peers(agent) ? store_snapshot_join : store_snapshot_begin)(
        agent_store(agent), ticket->name, &ticket->staging, why);

    if (!error)
        error = store_image_path(ticket->staging, 0, path, sizeof path, why);
    if (!error && !snapshot_split_path(path, order->path_start, sizeof order->path_start,
                                       order->path_end, sizeof order->path_end)) {
        snprintf(why, AGENT_WHY, "%.400s: too long a path", path);
        error = -ENAMETOOLONG;
    }
    return error;
}

/* Images for other hosts must be full, as those have no bases; of replicas another one may have
 * written the image before. */
static bool always_full(const struct agent *agent)
{
    return snapshots_of(agent)->copies > 1 || agent_has_replicas(agent);
}

static void write_order(struct agent *agent, bool forked, enum snapshot_haste haste)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    struct bspz_snap_order *order = &agent_board(agent)->snap_order;

    memcpy(order->job, agent_job_id(agent), sizeof order->job);
    order->name = snapshots->ticket.name;
    order->forked = forked;
    order->share =
        haste != SNAPSHOT_IN_PASSING
            ? BSPZ_SHARE_EQUAL
            : snapshot_writer_share(snapshots->rule.kind == POLICY_AUTO, snapshots->slowest_ns);
    order->stays = haste == SNAPSHOT_LAST;
    order->compress =
        snapshot_compress(snapshots->rule.kind == POLICY_AUTO, snapshots->copies,
                          (uint32_t)agent_here(agent), (uint32_t)agent_order(agent)->cores);
    order->created = snapshots->ticket.created;
    /* What the next ones would be based on may have been removed. */
    snapshots->ticket.full =
        always_full(agent) || snapshots->without_bases ||
        (!snapshots->ticket.first &&
         chain_end_is_due(snapshots->chain, snapshots->keep, haste == SNAPSHOT_LAST));
    order->base = snapshots->ticket.full ? (struct bspz_snapshot_name){0} : agent_committed(agent);
    memcpy(order->rules, snapshots->rules, snapshots->rules_bytes);
    order->rules_bytes = snapshots->rules_bytes;
}

static void open_ticket(struct agent *agent, uint64_t superstep, bool first)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);

    agent_abandon(agent); /* one left over */
    agent_alone_give_way(agent);
    agent_costs_begin(agent);
    snapshots->ticket = (struct ticket){.name = {superstep, agent_term(agent)},
                                        .first = first,
                                        .missing = agent_here(agent),
                                        .created = bspz_wall_ns(),
                                        .begun_ns = agent_now_ns()};
    agent_compared_begin(agent);
    agent_set_coming(agent, snapshots->ticket.name);
    ticket_move(&snapshots->ticket.state, first ? TICKET_CAPTURED : TICKET_CAPTURING);
    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        struct kept *kept = &snapshots->kept[pid];

        kept->recorded = kept->written = false;
        agent_unwatch(&kept->writer); /* its result is there, even if it has not ended yet */
        atomic_store(&agent_snap_of(agent, pid)->writer.state, BSPZ_SNAP_NOBODY);
    }
}

void agent_snapshots_order_first(struct agent *agent)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    char why[AGENT_WHY];

    if (!snapshots)
        return;
    snapshots->writer = agent_host(agent);
    open_ticket(agent, 0, true);
    agent_mark(agent);
    if (make_directory(agent, why) != 0) {
        ticket_move(&snapshots->ticket.state, TICKET_FAILED);
        agent_board(agent)->snap_order.name.term = 0; /* process 0 goes on without it */
        agent_image_failed(agent, 0, WIRE_CAUSE_NOT_WRITTEN, why);
        return;
    }
    atomic_store(&agent_snap_of(agent, 0)->copy_slot, -1);
    agent_board(agent)->snap_order.lose = !snapshots->recover;
    write_order(agent, snapshots->async != WIRE_ASYNC_OFF,
                agent_has_peers(agent) ? SNAPSHOT_URGENT : SNAPSHOT_IN_PASSING);
}

void agent_snapshots_mark_first(struct agent *agent)
{
    if (!snapshots_of(agent))
        return;
    snapshots_of(agent)->writer = agent_home(agent, 0);
    open_ticket(agent, 0, true);
    agent_mark(agent);
}

bool agent_snapshots_order(struct agent *agent, uint64_t superstep, enum snapshot_haste haste)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    struct wire_message captured = {.kind = WIRE_CAPTURED};
    char why[AGENT_WHY];
    struct snapshot_way way;

    agent_adopt_copies(agent); /* of the previous snapshot, at the latest now */
    open_ticket(agent, superstep + 1, false);
    if (make_directory(agent, why) != 0) {
        static const uint64_t nothing[2];

        ticket_move(&snapshots->ticket.state, TICKET_WITHHELD);
        if (agent_here(agent) > 0)
            agent_image_failed(agent, agent_first_here(agent), WIRE_CAUSE_NOT_WRITTEN, why);
        captured.envelope.superstep = superstep;
        captured.captured.output = (struct wire_numbers){nothing, 2};
        agent_tell_zero(agent, &captured);
        return false;
    }
    way = agent_snapshot_way(agent);
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_is_here(agent, pid))
            agent_next_slot(agent, pid, way.copies);
    /* After the last one nobody goes on: a process that writes by itself spares a copy. */
    write_order(agent, way.forked && haste != SNAPSHOT_LAST, haste);
    return true;
}

/* Not before all have recorded: what they write from now on comes after MARK. */
static void go_on(struct agent *agent)
{
    atomic_store(&agent_board(agent)->snap_resumed,
                 snapshots_of(agent)->ticket.name.superstep + 1); /* + 1: not never */
    agent_release_stayed(agent);
    bspz_barrier_wake(agent_board(agent));
}

/* Their replicas go on, as a process here is stopped, or slow. */
static void be_passed(struct agent *agent)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    char why[AGENT_WHY];
    int pid = 0;

    while (pid < agent_nprocs(agent) - 1 &&
           (!agent_is_here(agent, pid) || snapshots->kept[pid].recorded))
        pid++;
    ticket_move(&snapshots->ticket.state, TICKET_PASSED);
    snprintf(why, sizeof why, "process %d on host %s is stopped, or slow, and its replicas go on",
             pid, agent_host_name(agent));
    agent_say_failure(agent, snapshots->ticket.name.superstep, WIRE_CAUSE_RANK_SIGNALLED, why);
}

void agent_snapshots_resume(struct agent *agent, uint64_t superstep, uint64_t consult)
{
    if (snapshots_of(agent)->ticket.state == TICKET_WITHHELD) {
        ticket_move(&snapshots_of(agent)->ticket.state, TICKET_FAILED);
        agent_answer(agent, superstep, BSPZ_DECIDE_GO, consult);
        return;
    }
    atomic_store(&agent_board(agent)->consult_from, consult);
    if (ticket_is_recording(snapshots_of(agent)->ticket.state))
        be_passed(agent);
    else
        go_on(agent);
}

/* ---- What becomes of it ---- */

static void say_success(struct agent *agent)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);

    if (snapshots->said_failures)
        agent_notice(agent, "snapshots are taken again, after superstep %llu",
                     (unsigned long long)agent_committed(agent).superstep);
    snapshots->said_failures = 0;
}

/* Kills the writers first, so that none writes to a directory that is being removed.  uncommitted:
 * the snapshot cannot have been, as processes here were not captured when it was given up. */
static void abandon(struct agent *agent, bool uncommitted)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);

    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        agent_end_writer(agent, pid);
    if (uncommitted) {
        store_snapshot_abandon(snapshots->ticket.staging);
        snapshots->ticket.staging = NULL;
    }
    agent_abandon(agent);
    if (snapshots->ticket.state == TICKET_CAPTURED || snapshots->ticket.state == TICKET_PERSISTED)
        ticket_move(&snapshots->ticket.state, TICKET_FAILED);
    agent_end_copies_of(agent, snapshots->ticket.name);
    agent_costs_count(agent);
}

/* A process that is being captured may wait for its writer: with replicas it does so in peace, as
 * it cannot be let go on before. */
static void abandon_in_time(struct agent *agent)
{
    struct ticket *ticket = &snapshots_of(agent)->ticket;

    if (!ticket_is_recording(ticket->state) || !agent_has_replicas(agent))
        abandon(agent, false);
    else if (ticket->state == TICKET_CAPTURING)
        ticket_move(&ticket->state, TICKET_DOOMED);
}

static void say_captured(struct agent *agent)
{
    const struct ticket *ticket = &snapshots_of(agent)->ticket;
    struct wire_message message = {.kind = WIRE_CAPTURED};
    uint64_t output[2];

    agent_relay_counts(agent, output);
    message.envelope.superstep = ticket->name.superstep - 1;
    message.captured.pause_ns = ticket->pause_ns;
    message.captured.output = (struct wire_numbers){output, 2};
    message.captured.input = agent_input_position(agent);
    message.captured.input_digest = agent_input_digest(agent);
    agent_tell_zero(agent, &message);
}

static void all_recorded(struct agent *agent)
{
    struct ticket *ticket = &snapshots_of(agent)->ticket;
    const enum ticket_state was = ticket->state;

    ticket_move(&ticket->state, TICKET_CAPTURED);
    agent_opened_snapshot(agent, ticket->name);
    agent_mark(agent);
    agent_alone_captured(agent);
    if (was != TICKET_PASSED)
        say_captured(agent);
    if (was != TICKET_CAPTURING)
        abandon(agent, true);
    if (was == TICKET_PASSED)
        go_on(agent);
}

static void note_recorded(struct agent *agent, int pid)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    struct ticket *ticket = &snapshots->ticket;
    const struct bspz_snap *snap = agent_snap_of(agent, pid);

    if (snapshots->kept[pid].recorded || atomic_load(&snap->recorded) != ticket->name.superstep + 1)
        return;
    snapshots->kept[pid].recorded = true;
    agent_adopt_copies(agent); /* its copy was made earlier, for this snapshot */
    if (snap->pause_ns > ticket->pause_ns)
        ticket->pause_ns = snap->pause_ns;
    ticket->page_copy_ns += snap->page_copy_ns;
    if (snap->fell_back && !snapshots->said_fell_back) {
        snapshots->said_fell_back = true;
        agent_notice(agent, "no memory or no process is available for copies of the processes: "
                            "snapshots and rollbacks take longer");
    }
    if (--ticket->missing == 0)
        all_recorded(agent);
}

static void image_written(struct agent *agent, int pid)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    struct wire_message message = {.kind = WIRE_IMAGE_DURABLE};
    struct kept *kept = &snapshots->kept[pid];
    char why[AGENT_WHY];

    kept->facts = agent_snap_of(agent, pid)->facts; /* from the board, which ranks may write to */
    if (store_image_take(snapshots->ticket.staging, (uint32_t)pid, kept->facts.size, why) != 0) {
        agent_image_failed(agent, pid, WIRE_CAUSE_NOT_WRITTEN, why);
        return;
    }
    message.envelope.superstep = snapshots->ticket.name.superstep;
    message.image_durable.pid = (uint32_t)pid;
    message.image_durable.facts = kept->facts;
    message.image_durable.compared = snapshots->ticket.comparison != COMPARISON_OVERDUE;
    snapshots->ticket.changed += kept->facts.changed;
    agent_tell_zero(agent, &message);
    if (agent_has_peers(agent) && snapshots->copies > 1)
        agent_replicas_spread(agent, pid, snapshots->copies);
}

static void note_written(struct agent *agent, int pid)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    const struct bspz_snap *snap = agent_snap_of(agent, pid);
    char why[AGENT_WHY];

    if (!snapshots->ticket.staging || snapshots->kept[pid].written ||
        atomic_load(&snap->written) != snapshots->ticket.name.superstep + 1 ||
        (snapshots->ticket.first && !agent_identified(agent)) || !agent_output_is_out(agent) ||
        !agent_compared(agent))
        return;
    snapshots->kept[pid].written = true;
    if (snap->error == 0) {
        image_written(agent, pid);
        return;
    }
    agent_snap_text(agent, pid, "cannot be saved", why);
    agent_image_failed(agent, pid,
                       snap->refused ? WIRE_CAUSE_REFUSED
                       : snap->error == EAGAIN
                           ? WIRE_CAUSE_RANK_SIGNALLED /* the next one may succeed */
                           : WIRE_CAUSE_NOT_WRITTEN,
                       why);
}

void agent_snapshots_scan(struct agent *agent)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    struct ticket *ticket;

    if (!snapshots || !snapshots->kept || job_is_stopping(agent_job(agent)))
        return;
    agent_snapshots_check(agent);
    ticket = &snapshots->ticket;
    agent_adopt_copies(agent);
    agent_alone_scan(agent);
    if (snapshots->making == MAKING_STAGING)
        agent_scan_staged(agent);
    agent_scan_remote(agent);
    if (ticket->first && ticket->staging && agent_process(agent, 0)->state != WATCH_NONE)
        agent_identify(agent, agent_process(agent, 0)->ospid);
    for (int pid = 0; pid < (ticket->first ? 1 : agent_nprocs(agent)); pid++) {
        if (!agent_is_here(agent, pid))
            continue;
        if (ticket_is_recording(ticket->state))
            note_recorded(agent, pid);
        note_written(agent, pid);
    }
    agent_snapshots_check(agent);
}

/* ---- What Processor Zero says ---- */

static void tell_persisted(struct agent *agent, uint64_t superstep, int error, const char *why)
{
    struct wire_message message = {.kind = WIRE_PERSISTED};

    if (error)
        agent_notice(agent, "no snapshot after superstep %llu: %s", (unsigned long long)superstep,
                     why);
    message.envelope.superstep = superstep;
    message.persisted.error = (uint32_t)-error;
    agent_tell_zero(agent, &message);
}

static void manifest_came(struct agent *agent, const struct fetch_want *want, int error,
                          const char *why)
{
    tell_persisted(agent, want->name.superstep, error, why);
}

/* Only process 0's host knows how the program was started: others get the manifest from there. */
static void persist(struct agent *agent, const struct wire_message *order)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    uint64_t superstep = order->envelope.superstep;
    struct fetch_want want = {.thing = WIRE_THING_MANIFEST,
                              .name = {superstep, agent_term(agent)},
                              .done = manifest_came};
    char why[AGENT_WHY] = "there is no such snapshot";
    int error;

    if (agent_nprocs(agent) == 0)
        return;
    want.from = snapshots->writer = order->persist.writer;
    snapshots->wrote = want.name;
    error = agent_note_term_again(agent, why);
    if (error) {
        tell_persisted(agent, superstep, error, why);
        return;
    }
    if (want.from != agent_host(agent)) {
        if (agent_fetch(agent, &want) != 0)
            tell_persisted(agent, superstep, -ENOMEM, "out of memory");
        return;
    }
    error = snapshots->ticket.staging ? agent_write_manifest(agent, order, why) : -EINVAL;
    snapshots->without_bases = snapshots->without_bases || error == -ESTALE;
    if (!error)
        ticket_move(&snapshots->ticket.state, TICKET_PERSISTED);
    tell_persisted(agent, superstep, error, why);
}

static void committed(struct agent *agent, struct bspz_snapshot_name name)
{
    struct wire_message message = {.kind = WIRE_KNOWN};
    struct ticket *ticket = &snapshots_of(agent)->ticket;

    if (bspz_snapshot_same(ticket->name, name)) { /* else all its images are on other hosts */
        store_snapshot_leave(ticket->staging);
        ticket->staging = NULL;
        /* Wherever the manifest was written, the frozen copies are valid now. */
        if (ticket_may_move(ticket->state, TICKET_PERSISTED))
            ticket_move(&ticket->state, TICKET_PERSISTED);
    }
    if (bspz_snapshot_same(agent_committed(agent), name)) {
        message.envelope.superstep = name.superstep; /* another Processor Zero says it again */
        agent_tell_zero(agent, &message);
        return;
    }
    if (bspz_snapshot_same(ticket->name, name)) {
        agent_note_slowest(agent);
        snapshots_of(agent)->without_bases = snapshots_of(agent)->without_bases && !ticket->full;
    }
    snapshots_of(agent)->chain = chain_end_next(
        snapshots_of(agent)->chain, agent_committed(agent).superstep,
        name.superstep == 0 || (bspz_snapshot_same(ticket->name, name) && ticket->full));
    if (agent_has_replicas(agent) && !bspz_snapshot_same(snapshots_of(agent)->wrote, name))
        snapshots_of(agent)->writer = WIRE_HOSTS_MAX; /* another one, which alone was asked to */
    agent_set_committed(agent, name);
    agent_alone_committed(agent);
    say_success(agent);
    message.envelope.superstep = name.superstep;
    agent_costs_tell(agent, &message.known);
    agent_tell_zero(agent, &message);
    agent_ahead_follow(agent);
    if (agent_job(agent) == JOB_FORMING && agent_process(agent, 0)->state == WATCH_NONE)
        agent_make_of_first(agent, name);
}

/* Removal costs as much as a small snapshot, so it is done occasionally, and at the end. */
static void retire(struct agent *agent, struct bspz_snapshot_name name)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    uint64_t now = agent_now_ns();

    agent_end_copies_but(agent, name);
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_is_here(agent, pid)) {
            agent_costs_try(agent, name, pid);
            break;
        }
    snapshots->unpruned++;
    if (snapshots->unpruned >= UNPRUNED_MOST || now - snapshots->pruned_ns > PRUNE_EVERY_NS)
        agent_prune(agent, false);
    agent_costs_count(agent);
}

/* ---- For another Processor Zero ---- */

uint64_t agent_snapshots_captures(const struct agent *agent)
{
    const struct ticket *ticket = snapshots_of(agent) ? &snapshots_of(agent)->ticket : NULL;

    if (!ticket || ticket->state == TICKET_NONE || ticket->first ||
        ticket->name.term != agent_term(agent) ||
        ticket->name.superstep <= agent_known(agent).decided)
        return 0;
    return ticket->name.superstep;
}

struct bspz_snapshot_name agent_snapshots_right(const struct agent *agent)
{
    return snapshots_of(agent) ? snapshots_of(agent)->right : (struct bspz_snapshot_name){0, 0};
}

void agent_snapshots_say_captured(struct agent *agent)
{
    if (agent_snapshots_captures(agent) > 0 &&
        !ticket_is_recording(snapshots_of(agent)->ticket.state))
        say_captured(agent);
}

/* Nobody is to have or to wait for files of an abandoned snapshot: they would be asked for before
 * those of the next one. */
static void forget_files(struct agent *agent, struct bspz_snapshot_name name)
{
    snapshots_of(agent)->abandoned = name;
    if (bspz_snapshot_same(agent_coming(agent), name))
        agent_set_coming(agent, (struct bspz_snapshot_name){0});
    agent_fetch_cancel(agent, name);
}

void agent_snapshots_settle(struct agent *agent, struct bspz_snapshot_name committed)
{
    const struct agent_snapshots *snapshots = snapshots_of(agent);
    const struct ticket *ticket = snapshots ? &snapshots->ticket : NULL;

    if (ticket && ticket->name.term == agent_term(agent) &&
        (bspz_snapshot_newer(ticket->name, agent_committed(agent)) ||
         ticket_is_recording(ticket->state)) &&
        !bspz_snapshot_same(ticket->name, committed)) {
        forget_files(agent, ticket->name);
        abandon_in_time(agent);
    }
}

/* ---- All of them ---- */

/* Whether the processes of this host are captured at the end of that superstep: with replicas those
 * of another host may be. */
static bool takes_part(const struct agent *agent, uint64_t superstep)
{
    struct bspz_snapshot_name name = {superstep + 1, agent_term(agent)};

    return !agent_has_replicas(agent) || bspz_snapshot_same(snapshots_of(agent)->ticket.name, name);
}

static void let_pass(struct agent *agent, uint64_t superstep, uint64_t consult)
{
    struct decided decided = {.superstep = superstep, .consult = consult};

    if (!agent_decided_add(agent, &decided))
        agent_cannot_go_on(agent, COORD_NOBODY, "out of memory");
}

/* Why the snapshot has failed only the host that was to commit it knows.  Each looks for itself
 * whether its next images can be based on older ones. */
static void look_for_bases(struct agent *agent)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    char why[AGENT_WHY];

    if (always_full(agent) || !agent_store(agent) || agent_committed(agent).term == 0)
        return;
    if (store_bases_are_there(agent_store(agent), agent_committed(agent), why) == -ESTALE)
        snapshots->without_bases = true;
}

void agent_snapshots_message(struct agent *agent, const struct wire_message *message)
{
    uint64_t superstep = message->envelope.superstep;

    if (!snapshots_of(agent) || job_is_stopping(agent_job(agent)))
        return;
    agent_snapshots_check(agent);
    switch (message->kind) {
    case WIRE_RESUME:
        agent_decided_measure(agent, message->resume.measure);
        agent_known_decided(agent, superstep, message->resume.consult, false);
        if (!takes_part(agent, superstep))
            let_pass(agent, superstep, message->resume.consult);
        else
            agent_snapshots_resume(agent, superstep, message->resume.consult);
        break;
    case WIRE_PERSIST:
        persist(agent, message);
        break;
    case WIRE_COMMITTED:
        snapshots_of(agent)->right = message->committed.right;
        committed(agent, (struct bspz_snapshot_name){superstep, message->committed.from});
        break;
    case WIRE_RETIRE:
        retire(agent, (struct bspz_snapshot_name){superstep, message->retire.from});
        break;
    case WIRE_ABANDON:
        forget_files(agent, (struct bspz_snapshot_name){superstep, agent_term(agent)});
        look_for_bases(agent);
        if (takes_part(agent, superstep - 1))
            abandon_in_time(agent);
        break;
    case WIRE_RESTORE:
        agent_restore(agent, message);
        break;
    case WIRE_PASS:
        agent_pass(agent);
        break;
    default:
        break;
    }
    agent_snapshots_check(agent);
}
