/* fence.c - hosts that lose bsprun, under clocks of different speed, driven by one seed.
 *
 * Real are bsprun's job machine, which opens a term when those that may still compute unheard have
 * had their time, and what an agent concludes from silence (bsprun/agent/silence.h).  Made up are
 * clocks, links, agents and a bsprun around the machine.
 *
 *   clocks   each runs at its own speed; the fastest at most MILLE / 1000 times the slowest
 *   links    to each host and back keep the order; while a way is down what is sent there waits, as
 *            TCP has it, unless the sender's end is cut (net_cut)
 *   delays   a message, once its way is up, a look of an agent and the end of its processes each
 *            take up to a hundredth of the bound longer: a twenty-fifth together
 *   terms    processes run when every member has said that it has none of before; what Processor
 *            Zero and agents tell each other takes whatever time it likes
 *
 * What must hold: no two hosts compute the same process at the same time.
 *
 *   fence [OPTIONS of seeds.h]
 *   fence --beyond [OPTIONS]     clocks that differ by more than silence.h allows: passes if there
 *                                are jobs in which that does not hold
 */
#include "bsprun/agent/silence.h"
#include "bsprun/launcher/job_machine.h"
#include "tests/sim/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOSTS        6u
#define PROCESSES    6u
#define TERMS        64u
#define FAULTS       5u
#define MILLE        1250u /* allowed */
#define MILLE_BEYOND 1500u
#define WATCHES      12u /* of bsprun, in the bound */
#define ENDS_AFTER   20u /* times the bound */
#define MICRO        UINT64_C(1000000)

enum way { TO_AGENT, TO_BSPRUN };

enum fault_kind {
    FAULT_DEAF,        /* what bsprun sends to a host does not come through for a while */
    FAULT_MUTE,        /* what the host sends does not */
    FAULT_CUT,         /* neither */
    FAULT_BREAK,       /* bsprun's end of the connection breaks */
    FAULT_BREAK_AGENT, /* the agent's end does */
    FAULT_PAUSE,       /* bsprun is stopped for a while */
    FAULT_KINDS
};

static const char *const fault_names[FAULT_KINDS] = {
    [FAULT_DEAF] = "host does not hear",
    [FAULT_MUTE] = "host is not heard",
    [FAULT_CUT] = "host is cut off",
    [FAULT_BREAK] = "connection breaks for bsprun",
    [FAULT_BREAK_AGENT] = "connection breaks for agent",
    [FAULT_PAUSE] = "bsprun is stopped",
};

enum message { ALIVE, ELECT, DEAF };

enum action_kind {
    DO_WATCH, /* bsprun looks who was heard */
    DO_LOOK,  /* an agent looks */
    DO_MESSAGE,
    DO_RESET, /* the other end of a connection was cut */
    DO_MACHINE,
    DO_READY, /* Processor Zero hears that a host has nothing of before */
    DO_RUN,
    DO_DEAD, /* the processes of a host have been ended */
    DO_FAULT,
    DO_STOP /* the made-up world */
};

struct action {
    struct moment moment;
    enum action_kind kind;
    uint32_t host, life, term;
    enum way way;
    enum message message;
    bool on_wire; /* no cut of its sender's end stops it */
    uint64_t number;
    struct job_event event;
};

struct host {
    uint64_t rate; /* of its clock: ticks of a microsecond in 10^6 of them */
    uint64_t down_until[2], link_free[2];
    /* The agent */
    bool up;
    uint32_t term;
    struct silence silence;
    bool term_over, computes, ending, wants_ready, ready;
    uint32_t processes; /* bit by pid */
    uint32_t life;      /* of the connection; what belongs to an older one is nothing */
    /* bsprun's end */
    bool line;
    uint64_t heard_ms;
    uint32_t calls, answers, called_at;
};

struct world {
    struct timeline time;
    uint64_t bound_ms, rate, watched_ms; /* bsprun's */
    uint64_t paused_until;
    unsigned timer;
    struct job_machine *machine;
    uint32_t host_count, spares;
    struct host hosts[HOSTS];
    bool rolling, over, violated;
    uint32_t term, members, ready_members; /* of Processor Zero; bits */
    unsigned faults[FAULT_KINDS], terms, given_up, given_up_computing, deaf;
};

static bool beyond;

static struct {
    uint64_t faults[FAULT_KINDS], terms, given_up, given_up_computing, deaf, violated;
} summary;

#define note(world, ...)           timeline_note(&(world)->time, __VA_ARGS__)
#define fail(world, ...)           timeline_fail(&(world)->time, __VA_ARGS__)
#define random_below(world, below) timeline_random(&(world)->time, below)
#define chance(world, percent)     timeline_chance(&(world)->time, percent)

/* ---- Time: the world's is in microseconds --------------------------------------------------- */

static struct action *plan(struct world *world, enum action_kind kind, uint64_t delay)
{
    struct action *action = timeline_plan(&world->time, delay);
    action->kind = kind;
    return action;
}

static uint64_t clock_ns(const struct world *world, uint64_t rate)
{
    return world->time.now * rate / 1000u;
}

static uint64_t bsprun_ms(const struct world *world)
{
    return clock_ns(world, world->rate) / MICRO;
}

/* How long a clock takes to show so many milliseconds more. */
static uint64_t lasts(uint64_t milliseconds, uint64_t rate)
{
    return milliseconds * 1000u * MICRO / rate + 1;
}

/* Mostly the least or the most, for it is extremes that meet badly. */
static uint64_t some_delay(struct world *world)
{
    uint64_t most = world->bound_ms * 10u, kind = random_below(world, 5);
    return kind < 2 ? 0 : kind < 4 ? most : random_below(world, most + 1);
}

static uint64_t some_time(struct world *world, uint64_t hundredths)
{
    return random_below(world, world->bound_ms * 10u * hundredths + 1);
}

/* ---- Links ---------------------------------------------------------------------------------- */

static struct action *transmit(struct world *world, uint32_t host, enum way way, uint64_t delay)
{
    struct host *at = &world->hosts[host];
    uint64_t when = world->time.now + delay;
    if (when < at->link_free[way])
        when = at->link_free[way];
    at->link_free[way] = when;
    struct action *action = plan(world, DO_MESSAGE, when - world->time.now);
    action->host = host;
    action->way = way;
    action->life = at->life;
    return action;
}

static void send_on(struct world *world, uint32_t host, enum way way, enum message message,
                    uint32_t term)
{
    struct host *at = &world->hosts[host];
    bool goes = world->time.now >= at->down_until[way];
    uint64_t wait = goes ? 0 : at->down_until[way] - world->time.now;
    struct action *action = transmit(world, host, way, wait + some_delay(world));
    action->message = message;
    action->term = term;
    action->on_wire = goes;
}

/* One end is cut: what the other has not got yet, and is not on its way, it never gets. */
static void cut(struct world *world, uint32_t host, enum way way)
{
    struct host *at = &world->hosts[host];
    for (uint32_t i = 0; i < world->time.count; i++) {
        const struct action *action = timeline_at(&world->time, i);
        if (action->kind == DO_MESSAGE && action->host == host && action->way == way &&
            !action->on_wire)
            timeline_remove(&world->time, i--);
    }
    if (world->time.now < at->down_until[way])
        return; /* nobody sends that again */
    struct action *reset = transmit(world, host, way, some_delay(world));
    reset->kind = DO_RESET;
}

/* ---- bsprun --------------------------------------------------------------------------------- */

static void tell_machine(struct world *world, struct job_event event);

static void check_roll(struct world *world)
{
    if (!world->rolling)
        return;
    for (uint32_t i = 0; i < world->host_count; i++)
        if (world->hosts[i].line && world->hosts[i].answers < world->hosts[i].called_at)
            return;
    world->rolling = false;
    tell_machine(world, (struct job_event){.kind = JOB_EVENT_ROLL});
}

static void call(struct world *world, uint32_t host)
{
    world->hosts[host].calls++;
    send_on(world, host, TO_AGENT, ALIVE, 0);
}

static void give_up(struct world *world, uint32_t host)
{
    struct host *at = &world->hosts[host];
    note(world, "bsprun gives host %u up%s", host, at->computes ? ", which computes" : "");
    world->given_up++;
    world->given_up_computing += at->computes;
    at->line = false;
    cut(world, host, TO_AGENT);
    tell_machine(world,
                 (struct job_event){.kind = JOB_EVENT_AGENT_LOST, .host = host, .unheard = true});
    check_roll(world);
}

static void elect(struct world *world, const struct job_effect *effect)
{
    world->terms++;
    world->term = effect->term;
    world->members = world->ready_members = 0;
    if (effect->term >= TERMS)
        fail(world, "terms without end");
    for (uint32_t i = 0; i < world->host_count; i++)
        if (job_machine_member(world->machine, i)) {
            world->members |= 1u << i;
            send_on(world, i, TO_AGENT, ELECT, effect->term);
        }
    note(world, "term %u, members %x", effect->term, world->members);
}

static void carry_out(struct world *world, const struct job_effect *effect)
{
    switch (effect->kind) {
    case JOB_EFFECT_ELECT:
        elect(world, effect);
        break;
    case JOB_EFFECT_SET_TIMER: {
        struct action *action =
            plan(world, DO_MACHINE, lasts(effect->milliseconds, world->rate) + some_delay(world));
        action->event.kind = JOB_EVENT_TIMER;
        action->number = ++world->timer;
        break;
    }
    case JOB_EFFECT_CALL:
        world->rolling = true;
        for (uint32_t i = 0; i < world->host_count; i++)
            if (world->hosts[i].line) {
                call(world, i);
                world->hosts[i].called_at = world->hosts[i].calls;
            }
        break;
    case JOB_EFFECT_START_AGENT: {
        struct action *action = plan(world, DO_MACHINE, 1 + some_delay(world));
        action->event = (struct job_event){.kind = JOB_EVENT_AGENT_UP, .host = effect->host};
        break;
    }
    case JOB_EFFECT_EXIT:
        note(world, "bsprun ends");
        world->over = true;
        break;
    case JOB_EFFECT_BLAME:
    case JOB_EFFECT_SAY_AGAIN:
        break;
    default:
        fail(world, "an effect of kind %d", (int)effect->kind);
    }
}

static void tell_machine(struct world *world, struct job_event event)
{
    struct job_effects effects;
    if (world->over)
        return;
    event.now_ms = bsprun_ms(world);
    job_machine_step(world->machine, &event, &effects);
    for (uint32_t i = 0; i < effects.count; i++)
        carry_out(world, &effects.items[i]);
}

/* As launcher_remote.c has it. */
static void watch(struct world *world)
{
    uint64_t now = bsprun_ms(world), watch_ms = world->bound_ms / WATCHES;
    bool late = now - world->watched_ms > world->bound_ms / 3 * 2;
    world->watched_ms = now;
    for (uint32_t i = 0; i < world->host_count; i++) {
        struct host *at = &world->hosts[i];
        if (!at->line)
            continue;
        if (late)
            at->heard_ms = now;
        else if (now - at->heard_ms > world->bound_ms)
            give_up(world, i);
        if (at->line)
            call(world, i);
    }
    plan(world, DO_WATCH, lasts(watch_ms, world->rate));
}

static void bsprun_hears(struct world *world, const struct action *action)
{
    struct host *at = &world->hosts[action->host];
    if (!at->line || at->life != action->life)
        return;
    at->heard_ms = bsprun_ms(world);
    if (action->message == ALIVE) {
        at->answers++;
        check_roll(world);
    } else {
        world->deaf++;
        tell_machine(world, (struct job_event){.kind = JOB_EVENT_LINK_LOST,
                                               .host = action->host,
                                               .peer = action->host,
                                               .term = action->term});
    }
}

/* ---- Agents --------------------------------------------------------------------------------- */

static void plan_look(struct world *world, uint32_t host, uint64_t milliseconds)
{
    struct host *at = &world->hosts[host];
    struct action *action = plan(world, DO_LOOK, lasts(milliseconds, at->rate) + some_delay(world));
    action->host = host;
    action->life = at->life;
}

static void agent_up(struct world *world, uint32_t host)
{
    struct host *at = &world->hosts[host];
    at->up = at->line = true;
    at->life++;
    at->heard_ms = bsprun_ms(world);
    silence_begin(&at->silence, (uint32_t)world->bound_ms, clock_ns(world, at->rate));
    plan_look(world, host, silence_period_ms(&at->silence));
}

static void say_ready(struct world *world, uint32_t host)
{
    struct host *at = &world->hosts[host];
    at->wants_ready = false;
    at->ready = true;
    struct action *action = plan(world, DO_READY, chance(world, 80) ? 0 : some_time(world, 150));
    action->host = host;
    action->term = at->term;
}

static void end_processes(struct world *world, uint32_t host)
{
    struct host *at = &world->hosts[host];
    at->ready = false;
    if (at->computes && !at->ending) {
        at->ending = true;
        plan(world, DO_DEAD, some_delay(world))->host = host;
    }
}

static void dead(struct world *world, uint32_t host)
{
    struct host *at = &world->hosts[host];
    at->computes = at->ending = false;
    if (at->wants_ready && at->up)
        say_ready(world, host);
}

/* The agent has no bsprun any more: it and what it has come to an end. */
static void agent_ends(struct world *world, uint32_t host)
{
    struct host *at = &world->hosts[host];
    if (!at->up)
        return;
    note(world, "the agent of host %u ends", host);
    at->up = at->wants_ready = false;
    end_processes(world, host);
    cut(world, host, TO_BSPRUN);
}

static void take_election(struct world *world, uint32_t host, uint32_t term)
{
    struct host *at = &world->hosts[host];
    at->term = term;
    at->term_over = at->ready = false;
    at->wants_ready = true;
    end_processes(world, host);
    if (!at->computes)
        say_ready(world, host);
}

static void agent_hears(struct world *world, const struct action *action)
{
    struct host *at = &world->hosts[action->host];
    if (!at->up || at->life != action->life)
        return;
    silence_heard(&at->silence, clock_ns(world, at->rate));
    if (action->message == ELECT)
        take_election(world, action->host, action->term);
    else
        send_on(world, action->host, TO_BSPRUN, ALIVE, 0);
}

static void look(struct world *world, const struct action *action)
{
    uint32_t host = action->host;
    struct host *at = &world->hosts[host];
    bool open =
        world->time.now >= at->down_until[TO_AGENT] && world->time.now >= at->down_until[TO_BSPRUN];
    if (!at->up || at->life != action->life)
        return;
    if (at->silence.cut_off && open && !at->line) { /* a probe is answered: no such connection */
        agent_ends(world, host);
        return;
    }
    uint64_t period = silence_period_ms(&at->silence);
    switch (silence_look(&at->silence, clock_ns(world, at->rate), open ? 0 : INT64_MAX)) {
    case SILENCE_WAIT:
        break;
    case SILENCE_LOOK_AGAIN:
        period = SILENCE_MOMENT_MS;
        break;
    case SILENCE_CUT_OFF:
        note(world, "host %u has not heard of bsprun", host);
        send_on(world, host, TO_BSPRUN, DEAF, at->term);
        at->term_over = true;
        at->wants_ready = false;
        end_processes(world, host);
        break;
    case SILENCE_LEAVE:
        agent_ends(world, host);
        return;
    }
    plan_look(world, host, period);
}

/* ---- Terms ---------------------------------------------------------------------------------- */

static void hear_ready(struct world *world, const struct action *action)
{
    if (action->term != world->term)
        return;
    world->ready_members |= 1u << action->host;
    if (world->ready_members != world->members)
        return;
    for (uint32_t i = 0; i < world->host_count; i++)
        if (world->members & 1u << i) {
            struct action *run = plan(world, DO_RUN, chance(world, 80) ? 0 : some_time(world, 150));
            run->host = i;
            run->term = world->term;
            run->number = world->members;
        }
}

static uint32_t processes_of(uint32_t members, uint32_t host)
{
    uint32_t place = (uint32_t)__builtin_popcount(members & ((1u << host) - 1));
    uint32_t count = (uint32_t)__builtin_popcount(members), processes = 0;
    for (uint32_t pid = place; pid < PROCESSES; pid += count)
        processes |= 1u << pid;
    return processes;
}

static void run(struct world *world, const struct action *action)
{
    struct host *at = &world->hosts[action->host];
    if (!at->up || at->term != action->term || at->term_over || !at->ready || at->computes)
        return;
    at->computes = true;
    at->processes = processes_of((uint32_t)action->number, action->host);
    note(world, "host %u computes in term %u", action->host, at->term);
    for (uint32_t i = 0; i < world->host_count; i++) {
        const struct host *other = &world->hosts[i];
        if (i == action->host || !other->computes || !(other->processes & at->processes))
            continue;
        if (!beyond)
            fail(world, "host %u computes in term %u what host %u still does in term %u",
                 action->host, at->term, i, other->term);
        world->violated = true;
    }
}

/* ---- Faults --------------------------------------------------------------------------------- */

static void lose_way(struct world *world, uint32_t host, enum way way, uint64_t until)
{
    struct host *at = &world->hosts[host];
    if (until > at->down_until[way])
        at->down_until[way] = until;
}

static void fault(struct world *world, const struct action *action)
{
    struct host *at = &world->hosts[action->host];
    enum fault_kind kind = (enum fault_kind)action->number;
    uint64_t until = world->time.now + some_time(world, 250);
    if (!at->up || world->over)
        return;
    note(world, "host %u: %s", action->host, fault_names[kind]);
    world->faults[kind]++;
    switch (kind) {
    case FAULT_DEAF:
        lose_way(world, action->host, TO_AGENT, until);
        break;
    case FAULT_MUTE:
        lose_way(world, action->host, TO_BSPRUN, until);
        break;
    case FAULT_CUT:
        lose_way(world, action->host, TO_AGENT, until);
        lose_way(world, action->host, TO_BSPRUN, until);
        break;
    case FAULT_BREAK:
        if (!at->line)
            break;
        if (chance(world, 50)) { /* right behind something that was said to it, which is the last */
            call(world, action->host);
            lose_way(world, action->host, TO_AGENT, until);
            lose_way(world, action->host, TO_BSPRUN, until);
        }
        give_up(world, action->host);
        break;
    case FAULT_BREAK_AGENT:
        agent_ends(world, action->host);
        break;
    case FAULT_PAUSE:
        world->paused_until = until;
        break;
    case FAULT_KINDS:
        break;
    }
}

/* ---- The world ------------------------------------------------------------------------------ */

static uint64_t pick_rate(struct world *world)
{
    uint64_t most = (beyond ? MILLE_BEYOND : MILLE) * 1000u;
    return chance(world, 40)   ? MICRO
           : chance(world, 60) ? most
                               : MICRO + random_below(world, most - MICRO + 1);
}

static void make_world(struct world *world, const struct seeds_job *job)
{
    static const uint32_t bounds_ms[] = {1000, 3000, 10000};
    struct wire_host hosts[HOSTS];
    struct job_effects effects;
    memset(world, 0, sizeof(*world));
    timeline_begin(&world->time, sizeof(struct action), job);
    world->bound_ms = bounds_ms[random_below(world, 3)];
    world->rate = pick_rate(world);
    world->host_count = 2 + (uint32_t)random_below(world, HOSTS - 1);
    if (world->host_count > job->hosts)
        world->host_count = job->hosts > 2 ? (uint32_t)job->hosts : 2;
    world->spares = (uint32_t)random_below(world, world->host_count > 3 ? 3 : 2);
    for (uint32_t i = 0; i < world->host_count; i++) {
        world->hosts[i].rate = pick_rate(world);
        hosts[i] = (struct wire_host){.host = i};
    }
    struct job_machine_config config = {.host_count = world->host_count,
                                        .hosts = hosts,
                                        .spares = world->spares,
                                        .snapshots = true,
                                        .restore = true,
                                        .wanted = COORD_NEVER,
                                        .last_term = 1,
                                        .max_restarts = TERMS,
                                        .own = JOB_NO_HOST,
                                        .fence_ms = world->bound_ms};
    world->machine = job_machine_new(&config, &effects);
    if (!world->machine)
        fail(world, "no job machine");
    unsigned count = (unsigned)random_below(world, FAULTS + 1);
    for (unsigned i = 0; i < count; i++) {
        uint64_t when = some_time(world, 600), kind = random_below(world, FAULT_KINDS);
        uint32_t host = (uint32_t)random_below(world, world->host_count);
        if (!seeds_keeps_fault(job, i))
            continue;
        struct action *action = plan(world, DO_FAULT, when);
        action->host = host;
        action->number = kind;
    }
    timeline_take_course(&world->time);
    for (uint32_t i = 0; i < world->host_count - world->spares; i++)
        carry_out(world, &(struct job_effect){.kind = JOB_EFFECT_START_AGENT, .host = i});
    plan(world, DO_WATCH, 0);
    plan(world, DO_STOP, world->bound_ms * 1000u * ENDS_AFTER);
}

static bool is_bsprun_s(const struct action *action)
{
    return action->kind == DO_WATCH || action->kind == DO_MACHINE ||
           ((action->kind == DO_MESSAGE || action->kind == DO_RESET) && action->way == TO_BSPRUN) ||
           (action->kind == DO_FAULT && action->number == FAULT_BREAK);
}

static void message(struct world *world, const struct action *action)
{
    if (action->way == TO_AGENT)
        agent_hears(world, action);
    else
        bsprun_hears(world, action);
}

static void reset(struct world *world, const struct action *action)
{
    struct host *at = &world->hosts[action->host];
    if (at->life != action->life)
        return;
    if (action->way == TO_AGENT)
        agent_ends(world, action->host);
    else if (at->line)
        give_up(world, action->host);
}

/* bsprun has to do with a machine that says what comes next. */
static void machine_event(struct world *world, const struct action *action)
{
    if (action->event.kind == JOB_EVENT_TIMER && action->number != world->timer)
        return;
    if (action->event.kind == JOB_EVENT_AGENT_UP)
        agent_up(world, action->event.host);
    tell_machine(world, action->event);
}

static void happen(struct world *world, const struct action *action)
{
    if (world->over && is_bsprun_s(action))
        return;
    if (is_bsprun_s(action) && world->time.now < world->paused_until) {
        struct action *later = plan(world, action->kind, world->paused_until - world->time.now);
        struct moment moment = later->moment;
        *later = *action;
        later->moment = moment;
        return;
    }
    switch (action->kind) {
    case DO_WATCH:
        watch(world);
        break;
    case DO_LOOK:
        look(world, action);
        break;
    case DO_MESSAGE:
        message(world, action);
        break;
    case DO_RESET:
        reset(world, action);
        break;
    case DO_MACHINE:
        machine_event(world, action);
        break;
    case DO_READY:
        hear_ready(world, action);
        break;
    case DO_RUN:
        run(world, action);
        break;
    case DO_DEAD:
        dead(world, action->host);
        break;
    case DO_FAULT:
        fault(world, action);
        break;
    case DO_STOP:
        break;
    }
}

/* Long after the last fault: bsprun has ended, or all members compute. */
static void check_end(struct world *world)
{
    if (world->over)
        return;
    if (job_machine_state(world->machine) != JOB_MACHINE_RUNNING)
        fail(world, "bsprun is in state %s",
             job_machine_state_name(job_machine_state(world->machine)));
    for (uint32_t i = 0; i < world->host_count; i++)
        if (job_machine_member(world->machine, i) && !world->hosts[i].computes)
            fail(world, "host %u does not compute in term %u", i, world->term);
}

static void run_one(const struct seeds_job *job)
{
    static struct world world;
    struct action action;
    make_world(&world, job);
    while (timeline_next(&world.time, &action) && action.kind != DO_STOP && !world.violated)
        happen(&world, &action);
    if (!world.violated)
        check_end(&world);
    for (unsigned i = 0; i < FAULT_KINDS; i++)
        summary.faults[i] += world.faults[i];
    summary.terms += world.terms;
    summary.given_up += world.given_up;
    summary.given_up_computing += world.given_up_computing;
    summary.deaf += world.deaf;
    summary.violated += world.violated;
    job_machine_free(world.machine);
    timeline_end(&world.time);
}

static int report(uint64_t count)
{
    int missing = 0;
    printf("%llu jobs\n", (unsigned long long)count);
    for (unsigned i = 0; i < FAULT_KINDS; i++) {
        printf("  fault  %-44s %9llu\n", fault_names[i], (unsigned long long)summary.faults[i]);
        missing += summary.faults[i] == 0;
    }
    const struct {
        const char *name;
        uint64_t count;
    } numbers[] = {{"terms", summary.terms},
                   {"hosts given up", summary.given_up},
                   {"which computed at that time", summary.given_up_computing},
                   {"hosts that said that they did not hear", summary.deaf}};
    for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        printf("  %-51s %9llu\n", numbers[i].name, (unsigned long long)numbers[i].count);
        missing += numbers[i].count == 0;
    }
    if (beyond)
        printf("  %-51s %9llu\n", "processes computed twice at a time",
               (unsigned long long)summary.violated);
    missing += beyond && summary.violated == 0;
    if (count < 2000 || missing == 0)
        return EXIT_SUCCESS;
    fprintf(stderr, "fence: %d of the things that should happen never did\n", missing);
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    struct seeds_program program = {
        .name = "fence", .count = 10000, .run = run_one, .report = report};
    if (argc > 1 && strcmp(argv[1], "--beyond") == 0) {
        beyond = true;
        program.name = "fence --beyond";
        argc--;
        argv++;
    }
    return seeds_main(&program, argc, argv);
}
