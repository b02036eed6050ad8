/* halts.c - hosts of the made-up world, where there are snapshots at calls: what agents do with
 * what Processor Zero says (bsprun/agent: orders.c, succession.c, snapshot/phases.c,
 * dataspace_halt.c).
 *
 * Processor Zero (zero.c) and what a host keeps of where processes stop (bsprun/dataspace/stops.h)
 * are the real ones.
 */
#include <stdio.h>
#include <string.h>

#include "bsprun/dataspace/stops.h"
#include "tests/sim/dataspace/cells/world.h"

static struct {
    uint64_t leaving, ahead, on_board, again, resumed, caught_up, late;
} summary;

/* ---- What a host says ------------------------------------------------------------------------ */

static void say_objects(struct world *world, uint32_t host)
{
    halts_say(
        world, host,
        (struct wire_message){.kind = WIRE_OBJECTS, .objects.calls = has_replicas(world, host)});
}

static void say_captured(struct world *world, uint32_t host)
{
    halts_say(world, host,
              (struct wire_message){.kind = WIRE_CAPTURED,
                                    .envelope.superstep = halting_of(world, host)->captures - 1});
}

void halts_begun(struct world *world, uint32_t host)
{
    if (halting_of(world, host)->begun)
        return;
    halting_of(world, host)->begun = true;
    say_objects(world, host);
}

/* ---- Requests -------------------------------------------------------------------------------- */

bool halts_posted(struct world *world, uint32_t pid, uint32_t host)
{
    struct replica *replica = replica_on(world, pid, host);
    struct halting *here = halting_of(world, host);

    halts_begun(world, host);
    replica->on_board = gate_holds(here->gate, replica->superstep);
    summary.on_board += replica->on_board;
    if (!replica->on_board)
        stops_passed(here->stops);
    return !replica->on_board;
}

/* For those that were held. */
static void scan(struct world *world, uint32_t host)
{
    for (uint32_t pid = 0; pid < world->process_count; pid++) {
        struct replica *replica = replica_on(world, pid, host);

        if (!replica->on_board || gate_holds(halting_of(world, host)->gate, replica->superstep))
            continue;
        replica->on_board = false;
        acts_plan(world, pid, host, 1);
    }
    barriers_ask(world, host);
}

/* ---- What is decided ------------------------------------------------------------------------- */

static void resume(struct world *world, uint32_t host)
{
    struct halting *here = halting_of(world, host);

    summary.resumed++;
    here->captures = 0;
    here->passed = false;
    for (uint32_t pid = 0; pid < world->process_count; pid++)
        if (replica_on(world, pid, host)->is &&
            replica_on(world, pid, host)->stays == STAYS_CAPTURED) {
            replica_on(world, pid, host)->stays = STAYS_NOT;
            acts_plan(world, pid, host, 1 + timeline_apart(&world->time, 60));
        }
}

static void pass(struct world *world, uint32_t host, uint64_t superstep, uint64_t next, bool end)
{
    const struct decided decided = {.superstep = superstep, .consult = next, .end = end};
    struct halting *here = halting_of(world, host);

    known_decided(&here->known, superstep, next, end);
    if (here->captures == superstep + 1) {
        here->consult = next;
        here->passed = !here->captured;
        if (!here->passed)
            resume(world, host);
    } else if (!gate_add(here->gate, &decided)) {
        fail(world, "no memory");
    }
}

static bool is_of(const struct wire_numbers *hosts, uint32_t host)
{
    for (uint32_t i = 0; i < hosts->count; i++)
        if (hosts->items[i] == host)
            return true;
    return false;
}

static void hear_release(struct world *world, uint32_t host, const struct wire_message *message)
{
    const struct wire_release *release = &message->release;
    struct halting *here = halting_of(world, host);
    uint64_t superstep = message->envelope.superstep;

    if (release->decision != WIRE_DECISION_SNAPSHOT) {
        pass(world, host, superstep, release->consult, release->decision == WIRE_DECISION_END);
        return;
    }
    if (here->known.decided > superstep || here->captures == superstep + 1)
        return;
    if (release->objects) {
        halts_begun(world, host);
        dataspace_gather(world->hosts[host].space, superstep + 1, release->captures.items,
                         release->captures.count);
    }
    if (!is_of(&release->captures, host)) {
        summary.ahead++;
        if (!gate_go_ahead(here->gate, superstep))
            fail(world, "no memory");
        return;
    }
    if (!barriers_await(world, host) || here->superstep != superstep)
        fail(world, "host %u is to be captured, and is not at barrier %llu", host,
             (unsigned long long)superstep);
    here->captures = superstep + 1;
    here->captured = false;
    barriers_pass(world, host,
                  &(struct decided){.superstep = superstep, .consult = release->consult});
}

/* ---- Snapshots ------------------------------------------------------------------------------- */

static void plan_image(struct world *world, uint32_t pid, uint32_t host)
{
    struct action *action = timeline_plan(&world->time, timeline_apart(&world->time, 200));

    action->kind = DO_IMAGE;
    action->pid = pid;
    action->to = host;
    action->number = halting_of(world, host)->captures;
}

/* When all here are captured, and the objects of other hosts have come. */
static void keep_when_complete(struct world *world, struct host *host)
{
    struct halting *here = halting_of(world, host->number);
    bool counts = here->captures == world->saved.snapshot && !world->saved.failed;

    if (here->captures == 0 || here->captured || !dataspace_gathered(host->space) ||
        !barriers_stay(world, host->number, STAYS_CAPTURED))
        return;
    here->captured = true;
    saved_keep(world, host, counts && !here->passed);
    if (here->passed) {
        summary.late++;
        resume(world, host->number);
        return;
    }
    say_captured(world, host->number);
    for (uint32_t pid = 0; pid < world->process_count; pid++) {
        const struct replica *replica = replica_on(world, pid, host->number);

        if (!replica->is)
            continue;
        if (counts)
            world->saved.kept_after[pid] = replica->at;
        plan_image(world, pid, host->number);
    }
}

static void say_image(struct world *world, uint32_t pid, uint32_t host, uint64_t snapshot)
{
    halts_say(world, host,
              (struct wire_message){.kind = WIRE_IMAGE_DURABLE,
                                    .envelope.superstep = snapshot,
                                    .image_durable = {.pid = pid, .facts.size = 7}});
}

/* ---- Where they stop ------------------------------------------------------------------------- */

static void on_stop(void *context, const struct stops_one *stop)
{
    struct host *host = context;
    struct halting *here = halting_of(host->world, host->number);

    here->stop_in = stop->superstep + 1;
    memcpy(here->after, stop->requests, host->world->process_count * sizeof *here->after);
    if (here->consult > stop->superstep)
        here->consult = stop->superstep;
}

static bool on_where(void *context, uint32_t pid, uint64_t *superstep)
{
    struct host *host = context;
    const struct replica *replica = replica_on(host->world, pid, host->number);

    *superstep = replica->superstep;
    return replica->is;
}

static const struct stops_calls calls = {.stop = on_stop, .where = on_where};

static bool some_leave(struct world *world, uint32_t host)
{
    for (uint32_t pid = 0; pid < world->process_count; pid++)
        if (replica_on(world, pid, host)->is &&
            replica_on(world, pid, host)->superstep < halting_of(world, host)->superstep)
            return true;
    return false;
}

static void hear_halt(struct world *world, uint32_t host, const struct wire_message *message)
{
    struct halting *here = halting_of(world, host);
    uint64_t superstep = message->envelope.superstep;
    const struct stops_one at = {superstep, message->halt_at.round,
                                 message->halt_at.requests.items};

    if (message->kind == WIRE_HALT)
        known_asked(&here->known, superstep);
    if (has_replicas(world, host) ? message->kind == WIRE_HALT_AT && !here->begun
                                  : message->kind == WIRE_HALT)
        return;
    halts_begun(world, host);
    summary.leaving += some_leave(world, host) && stops_present(here->stops) == superstep;
    world->withdrawn_at = world->time.now;
    if (message->kind == WIRE_HALT ? !stops_ask(here->stops, superstep, message->halt.round)
                                   : !stops_set(here->stops, &at))
        fail(world, "no memory");
}

void halts_look(struct world *world, struct host *host)
{
    struct halting *here = halting_of(world, host->number);
    const struct stops_one *answer;

    if (host->lost)
        return;
    while ((answer = stops_answer(here->stops)))
        halts_say(world, host->number,
                  (struct wire_message){
                      .kind = WIRE_HALTED,
                      .halted = {.round = answer->round,
                                 .requests = {answer->requests, world->process_count}}});
    keep_when_complete(world, host);
}

bool halts_know(const struct world *world, uint32_t host, uint64_t superstep)
{
    const struct halting *here = &world->halts.hosts[host];
    const struct stops_one *newest = here->begun ? stops_newest(here->stops) : NULL;

    return newest && newest->superstep + 1 >= superstep;
}

/* ---- Another Processor Zero ------------------------------------------------------------------ */

static void take_over(struct world *world, uint32_t host, uint32_t era)
{
    struct halting *here = halting_of(world, host);
    const struct stops_one *newest = here->begun ? stops_newest(here->stops) : NULL;
    struct wire_message message = {.kind = WIRE_ACCOUNT};

    if (world->hosts[host].lost || era <= here->era)
        return;
    here->era = era;
    here->waits = true;
    for (uint32_t i = 0; i < world->host_count; i++)
        if (world->saved.known_lost[i])
            world->hosts[i].heard_until[host] = 0; /* the link is dropped */
    message.account = (struct wire_account){.decided = here->known.decided,
                                            .ended = here->known.ended,
                                            .consult = here->known.next,
                                            .captures = here->passed ? 0 : here->captures,
                                            .committed = {here->committed - 1, 1},
                                            .shared = world->halts.shared,
                                            .ready = true,
                                            .runs = true,
                                            .arrived = barriers_await(world, host),
                                            .asked = here->consult < here->known.next};
    if (newest) {
        message.account.halt_superstep = newest->superstep;
        message.account.halt_round = newest->round;
        message.account.halt_requests =
            (struct wire_numbers){newest->requests, world->process_count};
    }
    halts_say(world, host, message);
}

/* What was decided that the host has not heard. */
static void catch_up(struct world *world, uint32_t host, const struct wire_taken_over *taken)
{
    struct known_barrier missed[KNOWN_MISSED_MOST];
    unsigned count = known_missed(&halting_of(world, host)->known, taken, missed);

    summary.caught_up += count;
    for (unsigned i = 0; i < count; i++)
        pass(world, host, missed[i].superstep, missed[i].next, missed[i].ended);
    if (count > 0)
        known_caught_up(&halting_of(world, host)->known, taken);
}

static void arrive_again(struct world *world, uint32_t host)
{
    struct halting *here = halting_of(world, host);
    bool ends = gate_end_reported(here->gate);
    uint64_t passed;

    summary.again++;
    if (gate_ask_again(here->gate, &passed))
        barriers_say(world, host, passed, WIRE_BARRIER_SYNC);
    else if (barriers_await(world, host))
        barriers_say(world, host, here->superstep, ends ? WIRE_BARRIER_END : WIRE_BARRIER_CALL);
    else
        summary.again--;
}

static void hear_taken_over(struct world *world, uint32_t host, const struct wire_taken_over *taken)
{
    struct halting *here = halting_of(world, host);

    if (here->begun)
        dataspace_gather(world->hosts[host].space, 0, NULL, 0);
    catch_up(world, host, taken);
    if (here->begun)
        say_objects(world, host);
    arrive_again(world, host);
    if (here->captures > 0 && here->captured)
        say_captured(world, host);
}

/* ---- What it hears --------------------------------------------------------------------------- */

static void obey(struct world *world, uint32_t host, const struct wire_message *message)
{
    struct halting *here = halting_of(world, host);
    uint64_t superstep = message->envelope.superstep;

    here->waits = false;
    switch (message->kind) {
    case WIRE_RELEASE:
        hear_release(world, host, message);
        break;
    case WIRE_RESUME:
        pass(world, host, superstep, message->resume.consult, false);
        break;
    case WIRE_PERSIST:
        halts_say(world, host,
                  (struct wire_message){.kind = WIRE_PERSISTED, .envelope.superstep = superstep});
        break;
    case WIRE_COMMITTED:
        here->committed = superstep + 1;
        halts_say(world, host,
                  (struct wire_message){.kind = WIRE_KNOWN, .envelope.superstep = superstep});
        break;
    case WIRE_LOSSES:
        halts_begun(world, host);
        for (uint32_t i = 0; i < message->losses.hosts.count; i++)
            losses_told(world, &world->hosts[host], (uint32_t)message->losses.hosts.items[i]);
        break;
    case WIRE_HALT:
    case WIRE_HALT_AT:
        hear_halt(world, host, message);
        if (message->kind == WIRE_HALT_AT)
            barriers_know_stop(world, host, superstep, message->halt_at.round);
        break;
    case WIRE_ASK_QUIET:
        halts_say(world, host,
                  (struct wire_message){
                      .kind = WIRE_QUIET,
                      .quiet = losses_quiet(world, &world->hosts[host], message->ask_quiet.round)});
        break;
    case WIRE_TAKEN_OVER:
        hear_taken_over(world, host, &message->taken_over);
        break;
    default:
        break;
    }
    scan(world, host);
}

static void hear(struct world *world, const struct action *action)
{
    struct host *host = &world->hosts[action->to];

    if (host_hears(host, &world->hosts[action->from]) && !world->stuck &&
        action->era == halting_of(world, action->to)->era) {
        obey(world, action->to, action->message);
        hosts_go_on(world, host);
    }
    host_drop(action->message);
}

void halts_carry_out(struct world *world, const struct action *action)
{
    switch (action->kind) {
    case DO_TO_HOST:
        hear(world, action);
        break;
    case DO_TAKE_OVER:
        take_over(world, action->to, action->era);
        break;
    case DO_MEET:
        barriers_meet(world, action);
        break;
    case DO_LEAVE:
        barriers_leave(world, action->pid, action->to);
        break;
    default:
        say_image(world, action->pid, action->to, action->number);
        break;
    }
    halts_look(world, &world->hosts[action->to]);
}

/* ---- The world ------------------------------------------------------------------------------- */

void halts_open_host(struct world *world, struct host *host)
{
    struct halting *here = halting_of(world, host->number);

    barriers_open_host(world, host);
    here->stops = stops_open(host->space, world->process_count, &calls, host);
    here->known.ready = here->known.runs = true;
    here->committed = 1; /* snapshot 0 */
    if (!here->stops)
        fail(world, "no memory");
}

void halts_close_host(struct world *world, uint32_t host)
{
    stops_close(halting_of(world, host)->stops);
    gate_close(halting_of(world, host)->gate);
}

int halts_report(void)
{
    printf(
        "%llu times told to stop while some left the barrier before; %llu hosts passed while "
        "others were captured, %llu requests waited for that; %llu went on after a snapshot; "
        "%llu asked another Processor Zero again, %llu had not heard what was decided; %llu were "
        "captured when others had gone on\n",
        (unsigned long long)summary.leaving, (unsigned long long)summary.ahead,
        (unsigned long long)summary.on_board, (unsigned long long)summary.resumed,
        (unsigned long long)summary.again, (unsigned long long)summary.caught_up,
        (unsigned long long)summary.late);
    return seeds_missing(&summary, sizeof summary);
}
