/* hosts.c - hosts that compute, pass barriers, and obey Processor Zero; what they say to it and to
 * bsprun. */
#include "tests/sim/cells/world.h"

#include <inttypes.h>

#include "bsprun/agent/core/known.h"
#include "tests/sim/cells/shown.h"

/* ---- What it says ------------------------------------------------------------------------------
 */

static void say(struct world *world, uint32_t host, struct wire_message message)
{
    struct host *from = &world->hosts[host];

    if (from->dead || (from->waits && !known_lets(message.kind)))
        return;
    message.envelope.term = TERM;
    *wire_sender(&message) = from->id;
    struct action *action =
        cells_plan(world, DO_TO_ZERO, cells_on_link(world, &from->link_free[1]), host);
    action->message = message;
    action->era = from->era;
}

static void report_to_bsprun(struct world *world, uint32_t host, enum told told, uint32_t pid,
                             uint64_t superstep)
{
    struct host *from = &world->hosts[host];
    struct action *action;

    if (from->dead)
        return;
    action = cells_plan(world, DO_TO_BSPRUN, cells_on_line(world, &from->line_free[0]), host);
    action->told = told;
    action->number = pid;
    action->superstep = superstep;
}

/* What was written before is on its way, as an agent sends it before the superstep. */
static void answer_passed(struct world *world, uint32_t host)
{
    struct host *here = &world->hosts[host];
    bool left = here->told_to_run && !here->running;
    uint64_t done = here->superstep + (here->here || left ? 1 : 0);

    if (here->asked_passed == 0 || here->count == 0 || done < here->asked_passed)
        return;
    report_to_bsprun(world, host, TOLD_PASSED, 0, here->asked_passed - 1);
    here->asked_passed = 0;
}

void cells_host_asked(struct world *world, const struct action *action)
{
    struct host *here = &world->hosts[action->host];

    if (here->dead)
        return;
    if (here->asked_passed < action->superstep + 1)
        here->asked_passed = action->superstep + 1;
    answer_passed(world, action->host);
}

static void write_lines(struct world *world, uint32_t host)
{
    const struct host *here = &world->hosts[host];

    for (uint32_t pid = here->first; pid < here->first + here->count; pid++)
        if (shown_writes(pid, here->superstep))
            report_to_bsprun(world, host, TOLD_LINE, pid, here->superstep);
}

/* ---- Barriers ----------------------------------------------------------------------------------
 */

static void check_passed(struct world *world, const struct host *host)
{
    const struct heard *heard = &host->heard[host->superstep];

    if (host->superstep == world->supersteps && !(heard->told && heard->end))
        fail(world, "host %u leaves bsp_end before that was decided", host->id);
    if (host->era > 0)
        return; /* TAKEN_OVER may have let it pass several */
    for (uint64_t next = host->superstep + 1; next <= world->supersteps; next++)
        for (uint32_t i = 0; i < world->host_count; i++)
            if (world->hosts[i].heard[next].told && !world->hosts[i].dead && next < host->consult &&
                host->superstep < next && !host->heard[next].end && next != world->supersteps)
                fail(world, "host %u is not told of the decision about %" PRIu64, host->id, next);
}

static void compute(struct world *world, uint32_t host)
{
    struct host *here = &world->hosts[host];
    uint64_t delay = 1 + timeline_random(&world->time, here->pace);

    cells_plan(world, DO_ARRIVE, delay, host)->superstep = here->superstep;
}

/* Of every other cell the data of one host are here. */
static bool is_complete(const struct world *world, const struct host *here)
{
    for (uint32_t lead = 0; lead < world->host_count; lead++) {
        bool got =
            world->hosts[lead].cell != lead || world->hosts[lead].count == 0 || here->cell == lead;
        for (uint32_t i = 0; i < world->host_count && !got; i++)
            got = world->hosts[i].cell == lead && here->reached[i] > here->superstep;
        if (!got)
            return false;
    }
    return true;
}

static void say_left(struct world *world, uint32_t host)
{
    struct host *here = &world->hosts[host];

    for (uint32_t i = 0; i < here->left; i++)
        say(world, host,
            (struct wire_message){.kind = WIRE_RANK_EXITED, .rank_exited.pid = here->first + i});
}

static void leave(struct world *world, uint32_t host)
{
    struct host *here = &world->hosts[host];

    check_passed(world, here);
    here->here = here->asked = here->captured = false;
    if (here->superstep == world->supersteps) {
        here->running = false;
        here->left = here->count;
        say_left(world, host);
        return;
    }
    here->superstep++;
    compute(world, host);
}

static void say_captured(struct world *world, uint32_t host)
{
    say(world, host,
        (struct wire_message){.kind = WIRE_CAPTURED,
                              .envelope.superstep = world->hosts[host].superstep});
}

/* If the others have gone on, the snapshot has failed, and nobody waits to hear of it. */
static void capture(struct world *world, uint32_t host)
{
    struct host *here = &world->hosts[host];
    uint64_t snapshot = here->superstep + 1;
    bool late = here->heard[here->superstep].resumed;

    here->captured = true;
    cells_summary.late += late;
    report_to_bsprun(world, host, TOLD_MARK, 0, snapshot);
    if (late)
        return;
    say_captured(world, host);
    for (uint32_t i = 0; i < here->count; i++) {
        struct wire_message message = {.kind = WIRE_IMAGE_DURABLE, .envelope.superstep = snapshot};
        message.image_durable.pid = here->first + i;
        message.image_durable.facts = (struct bspz_image_facts){.size = 7};
        say(world, host, message);
    }
}

static void say_arrived_at(struct world *world, uint32_t host, uint64_t superstep)
{
    bool end = superstep == world->supersteps;

    say(world, host,
        (struct wire_message){.kind = WIRE_ARRIVE,
                              .envelope.superstep = superstep,
                              .arrive.barrier = end ? WIRE_BARRIER_END : WIRE_BARRIER_SYNC});
}

static void say_arrived(struct world *world, uint32_t host)
{
    struct host *here = &world->hosts[host];

    here->asked = true;
    say_arrived_at(world, host, here->superstep);
}

/* Processes of other hosts are captured: those of this one pass, and wait at the next barrier until
 * it is known whether that is to be decided. */
static void go_ahead(struct world *world, uint32_t host)
{
    struct host *here = &world->hosts[host];

    cells_summary.ahead++;
    here->held = here->consult = here->superstep + 1;
    report_to_bsprun(world, host, TOLD_MARK, 0, here->held);
    leave(world, host);
}

static bool is_held(const struct host *here)
{
    return here->held > 0 && here->held == here->superstep;
}

bool cells_is_stopped(const struct world *world, const struct host *host)
{
    return host->stopped_until > world->time.now;
}

/* Whether something can go on at the barrier where the host may be. */
static void look(struct world *world, uint32_t host)
{
    struct host *here = &world->hosts[host];
    struct heard *heard = &here->heard[here->superstep];
    bool end = here->superstep == world->supersteps;

    if (!here->here || here->dead || !here->running || here->over || is_held(here))
        return;
    bool decided = here->superstep == here->consult || end;
    if (decided && !heard->told && !here->asked)
        say_arrived(world, host); /* its agent does */
    if ((decided && !heard->told) || cells_is_stopped(world, here))
        return;
    if (!decided) {
        if (is_complete(world, here))
            leave(world, host);
        return;
    }
    if (heard->snapshot && heard->captures && !here->captured)
        capture(world, host);
    if ((heard->captures && !heard->resumed) || !is_complete(world, here))
        return;
    if (heard->snapshot && !heard->resumed) {
        go_ahead(world, host);
        return;
    }
    here->consult = heard->consult;
    leave(world, host);
}

void cells_host_arrives(struct world *world, uint32_t host, uint64_t superstep)
{
    struct host *here = &world->hosts[host];

    if (here->dead || here->over || here->superstep != superstep || !here->running)
        return;
    here->here = true;
    write_lines(world, host);
    answer_passed(world, host);
    for (uint32_t i = 0; i < world->host_count; i++)
        if (i != host && !world->hosts[i].dead) {
            struct action *action =
                cells_plan(world, DO_DATA, 1 + timeline_random(&world->time, 6), i);
            action->number = host;
            action->superstep = superstep;
        }
    timeline_note(&world->time, "host %u at the end of %" PRIu64, here->id, superstep);
    look(world, host);
}

void cells_host_data(struct world *world, uint32_t host, uint32_t from, uint64_t superstep)
{
    struct host *here = &world->hosts[host];

    if (superstep + 1 > here->reached[from])
        here->reached[from] = superstep + 1;
    look(world, host);
}

void cells_host_continues(struct world *world, uint32_t host)
{
    look(world, host);
}

/* ---- Messages of Processor Zero ----------------------------------------------------------------
 */

static void say_ready(struct world *world, uint32_t host)
{
    say(world, host,
        (struct wire_message){.kind = WIRE_RANKS_READY,
                              .ranks_ready.count = world->hosts[host].count});
}

/* It is known now which barrier is decided after the one that they have passed. */
static void let_on(struct host *here, uint64_t superstep, uint64_t consult)
{
    if (here->held != superstep + 1)
        return;
    here->held = 0;
    here->consult = consult;
}

void cells_host_is_ready(struct world *world, uint32_t host)
{
    world->hosts[host].made = true;
    say_ready(world, host);
}

static void note_decided(struct host *here, uint64_t superstep, uint64_t consult, bool end)
{
    if (superstep + 1 <= here->decided)
        return;
    here->decided = superstep + 1;
    here->next = consult;
    here->ended = end;
}

static void hear_release(struct world *world, uint32_t host, const struct action *action)
{
    const struct wire_message *message = &action->message;
    uint64_t superstep = message->envelope.superstep;
    struct heard *heard = &world->hosts[host].heard[superstep];
    bool snapshot = message->release.decision == WIRE_DECISION_SNAPSHOT;

    if (heard->told && !heard->snapshot)
        fail(world, "host %u is told twice", world->hosts[host].id);
    if (heard->told && (snapshot || world->hosts[host].held != superstep + 1))
        return; /* for those that have not heard of that snapshot */
    *heard = (struct heard){.told = true,
                            .snapshot = snapshot,
                            .captures = action->captures,
                            .end = message->release.decision == WIRE_DECISION_END,
                            .consult = message->release.consult};
    if (!heard->snapshot) {
        let_on(&world->hosts[host], superstep, heard->consult);
        note_decided(&world->hosts[host], superstep, heard->consult, heard->end);
    }
}

static void hear_resume(struct world *world, uint32_t host, uint64_t superstep, uint64_t consult)
{
    struct heard *heard = &world->hosts[host].heard[superstep];

    heard->told = heard->resumed = true;
    heard->consult = consult;
    let_on(&world->hosts[host], superstep, consult);
    note_decided(&world->hosts[host], superstep, consult, false);
}

/* What this host has not heard of and another one has. */
static void hear_taken_over(struct world *world, uint32_t host, const struct wire_taken_over *taken)
{
    struct host *here = &world->hosts[host];
    uint64_t next = here->next, newest = taken->decided - 1;

    here->waits = false;
    if (here->made && !here->told_to_run)
        say_ready(world, host);
    if (host == world->zeros[world->era].host && here->told_to_run)
        report_to_bsprun(world, host, TOLD_LEADS, 0, 0);
    if (taken->decided > here->decided && here->told_to_run && next < taken->decided &&
        !(taken->ended && next == newest)) {
        hear_resume(world, host, next, taken->ended ? newest : taken->consult);
        if (!taken->ended)
            note_decided(here, newest, taken->consult, false);
    }
    if (taken->decided > here->decided && taken->ended) {
        here->heard[newest] = (struct heard){.told = true, .end = true, .consult = NEVER};
        note_decided(here, newest, NEVER, true);
    }
    for (uint64_t i = 0; i <= world->supersteps; i++)
        if (here->heard[i].snapshot && !here->heard[i].captures && !here->heard[i].resumed &&
            here->held != i + 1)
            here->heard[i] = (struct heard){.told = false}; /* that snapshot is abandoned */
    const struct heard *now = &here->heard[here->superstep];
    if (here->held > 0)
        say_arrived_at(world, host, here->held - 1); /* they have passed it */
    else if (here->asked && !now->told)
        say_arrived(world, host);
    else if (here->captured && !now->resumed)
        say_captured(world, host);
    say_left(world, host);
    look(world, host);
}

void cells_host_message(struct world *world, uint32_t host, const struct action *action)
{
    struct host *here = &world->hosts[host];
    const struct wire_message *message = &action->message;
    uint64_t superstep = message->envelope.superstep;
    const struct zero *zero = &world->zeros[action->era];

    if (here->dead || here->over || here->era != action->era)
        return;
    here->cut = here->cut || (zero->dead && timeline_chance(&world->time, 40));
    if (here->cut)
        return;
    switch (message->kind) {
    case WIRE_PLACE:
        report_to_bsprun(world, host, TOLD_MARK, 0, 0);
        if (here->count == 0)
            report_to_bsprun(world, host, TOLD_IDLE, 0, 0);
        if (here->first == 0 && here->cell == host && here->count > 0)
            say(world, host,
                (struct wire_message){.kind = WIRE_IMAGE_DURABLE,
                                      .image_durable.facts = {.size = 7}});
        break;
    case WIRE_PERSIST:
        say(world, host,
            (struct wire_message){.kind = WIRE_PERSISTED, .envelope = message->envelope});
        break;
    case WIRE_COMMITTED:
        say(world, host, (struct wire_message){.kind = WIRE_KNOWN, .envelope = message->envelope});
        if (superstep == 0 && here->committed == 0)
            cells_plan(world, DO_MADE, 1 + timeline_random(&world->time, 60), host);
        here->committed = superstep + 1;
        break;
    case WIRE_RUN:
        if (here->told_to_run)
            break;
        here->consult = here->next = message->run.consult;
        here->told_to_run = true;
        here->running = here->count > 0;
        if (host == world->zeros[world->era].host)
            report_to_bsprun(world, host, TOLD_LEADS, 0, 0);
        if (here->running)
            compute(world, host);
        break;
    case WIRE_RELEASE:
        hear_release(world, host, action);
        look(world, host);
        break;
    case WIRE_RESUME:
        hear_resume(world, host, superstep, message->resume.consult);
        look(world, host);
        break;
    case WIRE_TAKEN_OVER:
        hear_taken_over(world, host, &message->taken_over);
        break;
    case WIRE_STOP_RANKS:
        world->stopped = true;
        here->waits = here->running = false;
        say(world, host, (struct wire_message){.kind = WIRE_RANKS_STOPPED});
        break;
    case WIRE_END:
        report_to_bsprun(world, host, TOLD_IDLE, 0, 0); /* its agent ends */
        here->over = true;
        break;
    case WIRE_ABANDON:
    case WIRE_RETIRE:
        break;
    default:
        fail(world, "Processor Zero sends %s", wire_kind_name(message->kind));
    }
}

/* From now on it obeys the new one only. */
void cells_host_taken_over(struct world *world, uint32_t host, uint32_t era)
{
    struct host *here = &world->hosts[host];
    struct wire_message message = {.kind = WIRE_ACCOUNT};
    const struct heard *now = &here->heard[here->superstep];

    if (here->dead || era <= here->era)
        return;
    cells_summary.making += !here->told_to_run;
    cells_summary.captured += now->told && now->captures && !now->resumed;
    here->era = era;
    here->waits = true;
    here->cut = false;
    message.account = (struct wire_account){.decided = here->decided,
                                            .ended = here->ended,
                                            .consult = here->told_to_run ? here->next : NEVER,
                                            .ready = here->made,
                                            .runs = here->told_to_run,
                                            .over = here->over};
    if (now->told && now->captures && !now->resumed)
        message.account.captures = here->superstep + 1;
    if (here->committed > 0)
        message.account.committed = (struct bspz_snapshot_name){here->committed - 1, TERM};
    say(world, host, message);
}

void cells_host_begin(struct world *world, uint32_t host)
{
    say(world, host,
        (struct wire_message){
            .kind = WIRE_HOST_READY, .host_ready.slots = 2, .host_ready.available = WIRE_NEVER});
    if (host == 0)
        say(world, host, (struct wire_message){.kind = WIRE_REGISTERED});
}
