/* main.c - Processor Zero and hosts with replicas of the same processes, in a made-up world.
 *
 * Processor Zero is the real one.  Around it are hosts that compute at paces of their own, and pass
 * a barrier when their processes and, of each other cell, those of one host have come to it, as
 * links between hosts make it.  Hosts are killed, stall for long, or become ten times slower; at
 * any time, that of snapshots included.
 *
 * What must hold:
 *   - no term ends, and nothing is rolled back, while each cell has a living host, Processor Zero's
 *     own host lives and no process dies: the job then ends well, and takes no longer than its
 *     fastest living hosts
 *   - at each barrier all hosts are told the same, and none passes a barrier that is decided before
 *     it was; so the replicas of a process see the same sequence of supersteps
 *   - each process has as many replicas as it is to have, no two on one host
 *   - no host of a cell with one other living is waited for: by its death or stall nothing stops
 *   - each committed snapshot has the image of each process from a host that had captured it at
 *     that barrier, of each process one
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/core/coord.h"
#include "tests/sim/seeds.h"
#include "tests/sim/timeline.h"

#define HOSTS       12u
#define SUPERSTEPS  40u
#define ACTIONS_MAX 400000u
#define TERM        3u
#define NEVER       UINT64_MAX

enum fault_kind { FAULT_KILLED, FAULT_STALLS, FAULT_SLOW, FAULT_KINDS };

static const char *const fault_names[FAULT_KINDS] = {"host killed", "host stalls", "host slow"};

struct host {
    uint32_t id, cell; /* the index of the lead; NEVER-like HOSTS: none */
    uint32_t count, first;
    bool dead, silent; /* nothing more comes of it */
    bool over, running;
    uint64_t pace;          /* the most that a superstep takes */
    uint64_t stalled_until; /* nothing moves there before */
    uint64_t superstep;
    bool here;               /* its processes have come to the end of that superstep */
    uint64_t consult;        /* the barrier at which it asks */
    bool asked;              /* it has sent ARRIVE for the present barrier */
    bool captured;           /* it has written its images and waits for RESUME */
    uint64_t reached[HOSTS]; /* supersteps + 1 of that host whose data it has got */
    uint64_t link_free[2];   /* when the last message to, from Processor Zero arrives */
};

/* What was decided about the barrier of a superstep, for all. */
struct decision {
    bool made, snapshot;
    bool told[HOSTS], resumed[HOSTS]; /* which hosts have heard of it; of a snapshot, RESUME */
    bool captures[HOSTS];
    uint64_t consult;
    bool end;
};

enum action_kind {
    DO_READY,
    DO_ARRIVE,
    DO_TO_ZERO,
    DO_TO_HOST,
    DO_DATA,
    DO_TIMER,
    DO_CLOSED,
    DO_LOSS,
    DO_FAULT
};

struct action {
    struct moment moment;
    enum action_kind kind;
    uint32_t host, number;
    uint64_t superstep;
    struct wire_message message; /* without lists */
    struct wire_numbers captures;
    uint64_t listed[HOSTS];
};

struct world {
    struct timeline time;
    struct coord *coord;
    uint32_t host_count, replicas, zero, processes;
    struct replica_counts counts; /* count 0: all processes have `replicas` */
    uint64_t supersteps;          /* the last one, which ends with bsp_end */
    struct host hosts[HOSTS];
    struct decision decisions[SUPERSTEPS + 2];
    unsigned timers[COORD_TIMER_COUNT]; /* settings */
    bool finished, by_death, closed;
    uint64_t commits, exits;
    bool has_image[HOSTS * 2]; /* of the snapshot that is taken */
    uint64_t snapshot;
    unsigned faults[FAULT_KINDS];
};

static struct {
    uint64_t faults[FAULT_KINDS], well, back, commits, lost_beside, most_behind, mixed;
} summary;

#define fail(world, ...) timeline_fail(&(world)->time, __VA_ARGS__)
#define note(world, ...) timeline_note(&(world)->time, __VA_ARGS__)

static void feed(struct world *world, uint32_t from, const struct wire_message *message);

static struct action *plan(struct world *world, enum action_kind kind, uint64_t delay,
                           uint32_t host)
{
    struct action *action = timeline_plan(&world->time, delay);

    action->kind = kind;
    action->host = host;
    return action;
}

static uint64_t on_link(struct world *world, uint64_t *is_free)
{
    uint64_t when = world->time.now + 1 + timeline_random(&world->time, 8);

    if (when <= *is_free)
        when = *is_free + 1;
    *is_free = when;
    return when - world->time.now;
}

static void say(struct world *world, uint32_t host, struct wire_message message)
{
    struct host *from = &world->hosts[host];

    if (from->dead)
        return;
    message.envelope.term = TERM;
    *wire_sender(&message) = from->id;
    plan(world, DO_TO_ZERO, on_link(world, &from->link_free[1]), host)->message = message;
}

/* ---- What must hold ----------------------------------------------------------------------- */

static bool is_covered(const struct world *world)
{
    for (uint32_t lead = 0; lead < world->host_count; lead++) {
        bool living = world->hosts[lead].cell != lead || world->hosts[lead].count == 0;
        for (uint32_t i = 0; i < world->host_count; i++)
            living = living || (world->hosts[i].cell == lead && !world->hosts[i].dead);
        if (!living)
            return false;
    }
    return true;
}

static void check_passed(struct world *world, const struct host *host)
{
    const struct decision *decision = &world->decisions[host->superstep];

    if (host->superstep == world->supersteps && !(decision->made && decision->end))
        fail(world, "host %u leaves bsp_end before that was decided", host->id);
    for (uint64_t next = host->superstep + 1; next <= world->supersteps; next++)
        if (world->decisions[next].made && next < host->consult && host->superstep < next &&
            !world->decisions[next].end)
            fail(world, "host %u is not told of the decision about %" PRIu64, host->id, next);
}

/* ---- Hosts -------------------------------------------------------------------------------- */

static void look(struct world *world, uint32_t host);

static void compute(struct world *world, uint32_t host)
{
    struct host *here = &world->hosts[host];
    uint64_t delay = 1 + timeline_random(&world->time, here->pace);

    plan(world, DO_ARRIVE, delay, host)->superstep = here->superstep;
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

static void leave(struct world *world, uint32_t host)
{
    struct host *here = &world->hosts[host];

    check_passed(world, here);
    here->here = here->asked = here->captured = false;
    if (here->superstep == world->supersteps) {
        here->running = false;
        for (uint32_t i = 0; i < here->count; i++)
            say(world, host,
                (struct wire_message){.kind = WIRE_RANK_EXITED,
                                      .rank_exited.pid = here->first + i});
        return;
    }
    here->superstep++;
    compute(world, host);
}

static void capture(struct world *world, uint32_t host)
{
    struct host *here = &world->hosts[host];
    uint64_t snapshot = here->superstep + 1;

    here->captured = true;
    for (uint32_t i = 0; i < here->count; i++) {
        struct wire_message message = {.kind = WIRE_IMAGE_DURABLE, .envelope.superstep = snapshot};
        message.image_durable.pid = here->first + i;
        message.image_durable.facts = (struct bspz_image_facts){.size = 7};
        if (i == 0)
            say(world, host,
                (struct wire_message){.kind = WIRE_CAPTURED,
                                      .envelope.superstep = here->superstep});
        say(world, host, message);
    }
}

/* Whether something can go on at the barrier where the host may be. */
static void look(struct world *world, uint32_t host)
{
    struct host *here = &world->hosts[host];
    struct decision *decision = &world->decisions[here->superstep];
    bool end = here->superstep == world->supersteps;

    if (!here->here || here->dead || !here->running || here->over)
        return;
    if (here->superstep != here->consult && !end) {
        if (is_complete(world, here))
            leave(world, host);
        return;
    }
    if (!decision->told[host]) {
        if (!here->asked)
            say(world, host,
                (struct wire_message){.kind = WIRE_ARRIVE,
                                      .envelope.superstep = here->superstep,
                                      .arrive.barrier =
                                          end ? WIRE_BARRIER_END : WIRE_BARRIER_SYNC});
        here->asked = true;
        return;
    }
    if (decision->snapshot && decision->captures[host] && !here->captured)
        capture(world, host);
    if ((decision->snapshot && !decision->resumed[host]) || !is_complete(world, here))
        return;
    here->consult = decision->consult;
    leave(world, host);
}

static void arrive(struct world *world, uint32_t host, uint64_t superstep)
{
    struct host *here = &world->hosts[host];

    if (here->dead || here->over || here->superstep != superstep || !here->running)
        return;
    here->here = true;
    for (uint32_t i = 0; i < world->host_count; i++)
        if (i != host && !world->hosts[i].dead) {
            struct action *action = plan(world, DO_DATA, 1 + timeline_random(&world->time, 6), i);
            action->number = host;
            action->superstep = superstep;
        }
    timeline_note(&world->time, "host %u at the end of %" PRIu64, here->id, superstep);
    look(world, host);
}

static void take_data(struct world *world, uint32_t host, uint32_t from, uint64_t superstep)
{
    struct host *here = &world->hosts[host];

    if (superstep + 1 > here->reached[from])
        here->reached[from] = superstep + 1;
    look(world, host);
}

/* ---- Messages of Processor Zero ----------------------------------------------------------- */

static uint32_t index_of(const struct world *world, uint64_t id)
{
    for (uint32_t i = 0; i < world->host_count; i++)
        if (world->hosts[i].id == id)
            return i;
    fail(world, "there is no host %" PRIu64, id);
}

static void check_replicas(struct world *world, const struct host *lead, uint32_t copies)
{
    for (uint32_t pid = lead->first; pid < lead->first + lead->count; pid++) {
        uint32_t wanted =
            world->counts.count > 0 ? replica_counts_of(&world->counts, pid) : world->replicas;

        if (copies != wanted)
            fail(world, "process %u of host %u has %u replicas instead of %u", pid, lead->id,
                 copies, wanted);
    }
}

/* As all hosts are told: who has which processes. */
static void note_place(struct world *world, const struct wire_place *place)
{
    uint32_t copies[HOSTS] = {0};

    world->processes = place->processes;
    for (uint32_t i = 0; i < world->host_count; i++)
        world->hosts[i].cell = HOSTS;
    for (uint32_t pid = 0; pid < place->processes; pid++) {
        struct host *lead = &world->hosts[index_of(world, place->host_of.items[pid])];
        lead->cell = (uint32_t)(lead - world->hosts);
        if (lead->count++ == 0)
            lead->first = pid;
    }
    for (uint32_t i = 0; i + 1 < place->leads.count; i += 2) {
        uint32_t host = index_of(world, place->leads.items[i]);
        uint32_t lead = index_of(world, place->leads.items[i + 1]);
        if (world->hosts[host].cell != HOSTS)
            fail(world, "host %u has two replicas", world->hosts[host].id);
        if (world->hosts[lead].cell != lead && world->hosts[lead].count > 0)
            fail(world, "host %u is no lead", world->hosts[lead].id);
        world->hosts[host].cell = lead;
        world->hosts[host].count = world->hosts[lead].count;
        world->hosts[host].first = world->hosts[lead].first;
    }
    for (uint32_t i = 0; i < world->host_count; i++)
        if (world->hosts[i].count > 0)
            copies[world->hosts[i].cell]++;
    for (uint32_t i = 0; i < world->host_count; i++)
        if (world->hosts[i].cell == i && world->hosts[i].count > 0)
            check_replicas(world, &world->hosts[i], copies[i]);
}

static void note_decision(struct world *world, const struct wire_message *message)
{
    uint64_t superstep = message->envelope.superstep;
    struct decision *decision = &world->decisions[superstep];

    if (superstep > world->supersteps || decision->made)
        fail(world, "superstep %" PRIu64 " is decided twice, or never comes", superstep);
    for (uint32_t i = 0; i < world->host_count; i++)
        if (world->hosts[i].count > 0 && world->hosts[i].superstep > superstep)
            fail(world, "host %u is past superstep %" PRIu64 " when that is decided",
                 world->hosts[i].id, superstep);
    *decision = (struct decision){.made = true,
                                  .snapshot = message->release.decision == WIRE_DECISION_SNAPSHOT,
                                  .end = message->release.decision == WIRE_DECISION_END,
                                  .consult = message->release.consult};
    if (message->release.decision == WIRE_DECISION_ABORT)
        fail(world, "Processor Zero aborts");
    if (decision->end != (superstep == world->supersteps))
        fail(world, "bsp_end is decided at superstep %" PRIu64, superstep);
    if (!decision->snapshot)
        return;
    memset(world->has_image, 0, sizeof world->has_image);
    world->snapshot = superstep + 1;
    for (uint32_t i = 0; i < message->release.captures.count; i++) {
        uint32_t host = index_of(world, message->release.captures.items[i]);
        const struct host *who = &world->hosts[host];
        if (who->dead && !who->here)
            fail(world, "host %u is to capture", who->id);
        decision->captures[host] = true;
        for (uint32_t pid = who->first; pid < who->first + who->count; pid++) {
            if (world->has_image[pid])
                fail(world, "process %u has two images", pid);
            world->has_image[pid] = true;
        }
    }
    for (uint32_t pid = 0; pid < world->processes; pid++)
        if (!world->has_image[pid])
            fail(world, "process %u has no image", pid);
}

/* Once, when Processor Zero says it; hosts hear of it later. */
static void note_said(struct world *world, const struct wire_message *message)
{
    if (message->kind == WIRE_PLACE)
        note_place(world, &message->place);
    else if (message->kind == WIRE_RELEASE)
        note_decision(world, message);
    else if (message->kind == WIRE_STOP_RANKS && !world->by_death)
        fail(world, "processes are stopped though each has a living replica");
}

static void hear_ready(struct world *world, uint32_t host)
{
    say(world, host,
        (struct wire_message){.kind = WIRE_RANKS_READY,
                              .ranks_ready.count = world->hosts[host].count});
}

static void hear(struct world *world, uint32_t host, const struct action *action)
{
    struct host *here = &world->hosts[host];
    const struct wire_message *message = &action->message;
    uint64_t superstep = message->envelope.superstep;

    if (here->dead || here->over)
        return;
    switch (message->kind) {
    case WIRE_PLACE:
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
        if (superstep == 0)
            hear_ready(world, host);
        break;
    case WIRE_RUN:
        here->consult = message->run.consult;
        here->running = here->count > 0;
        if (here->running)
            compute(world, host);
        break;
    case WIRE_RELEASE:
        world->decisions[superstep].told[host] = true;
        look(world, host);
        break;
    case WIRE_RESUME:
        world->decisions[superstep].resumed[host] = true;
        world->decisions[superstep].consult = message->resume.consult;
        look(world, host);
        break;
    case WIRE_STOP_RANKS:
        here->running = false;
        say(world, host, (struct wire_message){.kind = WIRE_RANKS_STOPPED});
        break;
    case WIRE_END:
        here->over = true;
        break;
    case WIRE_ABANDON:
    case WIRE_RETIRE:
        break;
    default:
        fail(world, "Processor Zero sends %s", wire_kind_name(message->kind));
    }
}

/* ---- Processor Zero ----------------------------------------------------------------------- */

static void send_to_all(struct world *world, const struct wire_message *message)
{
    for (uint32_t i = 0; i < world->host_count; i++) {
        if (!coord_is_addressed(world->coord, world->hosts[i].id, message->kind))
            continue;
        if (message->kind == WIRE_PERSIST)
            note(world, "... to host %u", world->hosts[i].id);
        struct action *action =
            plan(world, DO_TO_HOST, on_link(world, &world->hosts[i].link_free[0]), i);
        action->message.kind = message->kind;
        action->message.envelope = message->envelope;
        if (message->kind == WIRE_RUN)
            action->message.run = message->run;
        else if (message->kind == WIRE_RESUME)
            action->message.resume = message->resume;
    }
}

static void finish(struct world *world)
{
    struct coord_outcome outcome = coord_outcome(world->coord);

    world->finished = true;
    note(world, "the end: %s", wire_cause_text(outcome.cause));
    if (outcome.cause == WIRE_CAUSE_NONE)
        summary.well++;
    else if (!world->by_death)
        fail(world, "the term ends by itself: %s", wire_cause_text(outcome.cause));
    else
        summary.back++;
}

static void carry_out(struct world *world, const struct coord_effects *effects)
{
    for (uint32_t i = 0; i < effects->count; i++) {
        const struct coord_effect *effect = &effects->items[i];
        switch (effect->kind) {
        case COORD_EFFECT_TELL:
            if (effect->message.kind == WIRE_CLOSING)
                plan(world, DO_CLOSED, 1 + timeline_random(&world->time, 20), 0);
            else if (effect->message.kind == WIRE_SAVED)
                world->commits++;
            break;
        case COORD_EFFECT_SEND:
            note(world, "Processor Zero: %s %" PRIu64, wire_kind_name(effect->message.kind),
                 effect->message.envelope.superstep);
            note_said(world, &effect->message);
            send_to_all(world, &effect->message);
            break;
        case COORD_EFFECT_SET_TIMER: {
            struct action *action = plan(world, DO_TIMER, effect->milliseconds, effect->timer);
            action->number = ++world->timers[effect->timer];
            break;
        }
        case COORD_EFFECT_CANCEL_TIMER:
            world->timers[effect->timer]++;
            break;
        default:
            finish(world);
        }
    }
}

static void feed(struct world *world, uint32_t from, const struct wire_message *message)
{
    struct coord_effects effects;

    if (world->finished)
        return;
    note(world, "%u says %s %" PRIu64, from, wire_kind_name(message->kind),
         message->envelope.superstep);
    if (coord_step(world->coord, world->time.now * 1000000u, from, message, &effects) < 0)
        fail(world, "%s: %s", wire_kind_name(message->kind), effects.complaint);
    carry_out(world, &effects);
}

static void order(struct world *world, struct wire_message message)
{
    message.envelope.term = TERM;
    feed(world, COORD_BSPRUN, &message);
}

static void expire(struct world *world, const struct action *action)
{
    struct coord_effects effects;

    if (world->finished || action->number != world->timers[action->host])
        return;
    coord_expire(world->coord, world->time.now * 1000000u, (enum coord_timer)action->host,
                 &effects);
    carry_out(world, &effects);
}

/* ---- Faults ------------------------------------------------------------------------------- */

static void kill_host(struct world *world, uint32_t host)
{
    struct host *here = &world->hosts[host];

    if (here->dead || host == world->zero)
        return; /* with Processor Zero's host its term is over, which others simulate */
    note(world, "host %u dies", here->id);
    here->dead = true;
    world->faults[FAULT_KILLED]++;
    /* Before they run, a loss ends the term whatever the host has. */
    if (coord_phase(world->coord) < COORD_RUNNING || !is_covered(world))
        world->by_death = true;
    else
        summary.lost_beside++;
    plan(world, DO_LOSS, 1 + timeline_random(&world->time, 30), host);
}

static void harm(struct world *world, const struct action *action)
{
    struct host *here = &world->hosts[action->host];

    if (world->finished)
        return;
    switch ((enum fault_kind)action->number) {
    case FAULT_KILLED:
        kill_host(world, action->host);
        return;
    case FAULT_STALLS:
        here->stalled_until = world->time.now + 50 + timeline_random(&world->time, 2000);
        break;
    default:
        here->pace *= 10;
    }
    note(world, "host %u: %s", here->id, fault_names[action->number]);
    world->faults[action->number]++;
}

/* ---- The world ---------------------------------------------------------------------------- */

static void begin_host(struct world *world, uint32_t host)
{
    say(world, host,
        (struct wire_message){
            .kind = WIRE_HOST_READY, .host_ready.slots = 2, .host_ready.available = WIRE_NEVER});
    if (host == 0)
        say(world, host, (struct wire_message){.kind = WIRE_REGISTERED});
}

/* Two numbers of replicas, each of processes that follow each other.  The number of processes. */
static uint32_t choose_counts(struct world *world)
{
    uint32_t processes = 2 + (uint32_t)timeline_random(&world->time, 5);
    uint32_t first = 1 + (uint32_t)timeline_random(&world->time, processes - 1);
    uint32_t of_first = 1 + (uint32_t)timeline_random(&world->time, WIRE_REPLICAS_MAX);
    uint32_t of_others =
        1 + (of_first + (uint32_t)timeline_random(&world->time, WIRE_REPLICAS_MAX - 1)) %
                WIRE_REPLICAS_MAX;

    world->counts.runs[0] = (struct replica_run){0, of_first};
    world->counts.runs[1] = (struct replica_run){first, of_others};
    world->counts.count = 2;
    world->replicas = replica_counts_hosts(&world->counts, processes);
    summary.mixed++;
    return processes;
}

static void make_world(struct world *world, const struct seeds_job *job)
{
    struct wire_host hosts[HOSTS];

    *world = (struct world){.replicas = 2};
    timeline_begin(&world->time, sizeof(struct action), job);
    uint32_t processes = 0;
    if (timeline_chance(&world->time, 50))
        world->replicas = 2 + (uint32_t)timeline_random(&world->time, 3);
    else
        processes = choose_counts(world);
    world->host_count =
        world->replicas + (uint32_t)timeline_random(&world->time, HOSTS - world->replicas + 1);
    if (world->host_count > job->hosts && job->hosts >= world->replicas)
        world->host_count = (uint32_t)job->hosts;
    world->supersteps = 1 + timeline_random(&world->time, SUPERSTEPS - 1);
    if (world->supersteps > job->supersteps)
        world->supersteps = job->supersteps;
    world->zero = (uint32_t)timeline_random(&world->time, world->host_count);
    for (uint32_t i = 0; i < world->host_count; i++) {
        world->hosts[i].id = (i * 5 + 3) % 17;
        world->hosts[i].cell = HOSTS;
        world->hosts[i].pace = 5 + timeline_random(&world->time, 20);
        hosts[i] = (struct wire_host){world->hosts[i].id,
                                      1 + (uint32_t)timeline_random(&world->time, 2), "h"};
    }
    struct coord_config config = {
        .term = TERM,
        .host_count = world->host_count,
        .hosts = hosts,
        .replicas = processes > 0 ? 0 : world->replicas,
        .counts = world->counts,
        .process_limit = processes,
        .abort_at = COORD_NEVER,
        .consult_every = timeline_random(&world->time, 4),
        .snapshots = true,
        .recover = true,
        .rule = {.kind = POLICY_SUPERSTEPS, .every = 1 + timeline_random(&world->time, 12)},
    };
    world->coord = coord_new(&config);
    if (!world->coord)
        fail(world, "there is no Processor Zero");
    for (uint32_t i = 0; i < world->host_count; i++)
        plan(world, DO_READY, 1 + timeline_random(&world->time, 10), i);
    unsigned faults = (unsigned)timeline_random(&world->time, 5);
    for (unsigned i = 0; i < faults; i++) {
        uint32_t host = (uint32_t)timeline_random(&world->time, world->host_count);
        uint32_t kind = (uint32_t)timeline_random(&world->time, FAULT_KINDS);
        uint64_t when = timeline_random(&world->time, 60 + 20 * world->supersteps);
        if (seeds_keeps_fault(job, i))
            plan(world, DO_FAULT, when, host)->number = kind;
    }
    timeline_take_course(&world->time);
}

/* A host that stalls does nothing, but what is sent to it waits. */
static bool is_put_off(struct world *world, const struct action *action)
{
    const struct host *host = &world->hosts[action->host];

    if (action->kind == DO_TIMER || action->kind == DO_FAULT || action->kind == DO_CLOSED ||
        action->kind == DO_LOSS || action->kind == DO_TO_ZERO ||
        host->stalled_until <= world->time.now || host->dead)
        return false;
    struct action *later = timeline_plan(&world->time, host->stalled_until - world->time.now);
    struct moment moment = later->moment;
    *later = *action;
    later->moment = moment;
    return true;
}

static void happen(struct world *world, const struct action *action)
{
    if (is_put_off(world, action))
        return;
    switch (action->kind) {
    case DO_READY:
        begin_host(world, action->host);
        break;
    case DO_ARRIVE:
        arrive(world, action->host, action->superstep);
        break;
    case DO_TO_ZERO:
        if (world->hosts[action->host].dead && timeline_chance(&world->time, 30))
            world->hosts[action->host].silent = true;
        if (!world->hosts[action->host].silent)
            feed(world, world->hosts[action->host].id, &action->message);
        break;
    case DO_TO_HOST:
        hear(world, action->host, action);
        break;
    case DO_DATA:
        take_data(world, action->host, action->number, action->superstep);
        break;
    case DO_TIMER:
        expire(world, action);
        break;
    case DO_CLOSED:
        world->closed = true;
        order(world, (struct wire_message){.kind = WIRE_CLOSED});
        break;
    case DO_LOSS:
        order(world, (struct wire_message){.kind = WIRE_LINK_LOST,
                                           .link_lost.peer = world->hosts[action->host].id});
        break;
    default:
        harm(world, action);
    }
}

static void run_one(const struct seeds_job *job)
{
    static struct world world;
    static struct action action;

    make_world(&world, job);
    for (unsigned count = 0; timeline_next(&world.time, &action); count++) {
        if (count > ACTIONS_MAX)
            fail(&world, "the job does not come to an end");
        happen(&world, &action);
    }
    if (!world.finished)
        fail(&world, "the job stands still: Processor Zero is in state %s",
             coord_phase_name(coord_phase(world.coord)));
    for (unsigned i = 0; i < FAULT_KINDS; i++)
        summary.faults[i] += world.faults[i];
    summary.commits += world.commits;
    coord_free(world.coord);
    timeline_end(&world.time);
}

/* A simulation in which something never happens tests less than it says. */
static int report(uint64_t count)
{
    int missing = 0;

    printf("%" PRIu64 " jobs\n", count);
    for (unsigned i = 0; i < FAULT_KINDS; i++) {
        printf("  fault  %-44s %9" PRIu64 "\n", fault_names[i], summary.faults[i]);
        missing += summary.faults[i] == 0;
    }
    const struct {
        const char *name;
        uint64_t count;
    } numbers[] = {{"ended well", summary.well},
                   {"ended by the loss of a cell", summary.back},
                   {"hosts lost beside a living replica", summary.lost_beside},
                   {"jobs with different numbers of replicas", summary.mixed},
                   {"snapshots", summary.commits}};
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        printf("  %-51s %9" PRIu64 "\n", numbers[i].name, numbers[i].count);
        missing += numbers[i].count == 0;
    }
    return seeds_verdict("cells", count < 2000 ? 0 : missing);
}

int main(int argc, char **argv)
{
    static const struct seeds_program program = {
        .name = "cells", .count = 20000, .has_supersteps = true, .run = run_one, .report = report};
    return seeds_main(&program, argc, argv);
}
