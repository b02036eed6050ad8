/* main.c - hosts that lose bsprun, under clocks of different speed, driven by one seed; see
 * world.h.
 *
 *   fence [OPTIONS of seeds.h]
 *   fence --beyond [OPTIONS]     clocks that differ by more than silence.h allows: passes if there
 *                                are jobs in which that does not hold
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/fence/world.h"

#define FAULTS       5u
#define MILLE        1250u /* allowed */
#define MILLE_BEYOND 1500u
#define ENDS_AFTER   20u /* times the bound */

static const char *const fault_names[FAULT_KINDS] = {
    [FAULT_DEAF] = "host does not hear",
    [FAULT_MUTE] = "host is not heard",
    [FAULT_CUT] = "host is cut off",
    [FAULT_BREAK] = "connection breaks for bsprun",
    [FAULT_BREAK_AGENT] = "connection breaks for agent",
    [FAULT_PAUSE] = "bsprun is stopped",
};

bool fence_beyond;

static struct {
    uint64_t faults[FAULT_KINDS], terms, given_up, given_up_computing, deaf, violated;
} summary;

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
    uint64_t until = world->time.now + fence_some_time(world, 250);
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
            fence_call(world, action->host);
            lose_way(world, action->host, TO_AGENT, until);
            lose_way(world, action->host, TO_BSPRUN, until);
        }
        fence_give_up(world, action->host);
        break;
    case FAULT_BREAK_AGENT:
        fence_agent_ends(world, action->host);
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
    uint64_t most = (fence_beyond ? MILLE_BEYOND : MILLE) * 1000u;
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
        uint64_t when = fence_some_time(world, 600), kind = random_below(world, FAULT_KINDS);
        uint32_t host = (uint32_t)random_below(world, world->host_count);
        if (!seeds_keeps_fault(job, i))
            continue;
        struct action *action = fence_plan(world, DO_FAULT, when);
        action->host = host;
        action->number = kind;
    }
    timeline_take_course(&world->time);
    for (uint32_t i = 0; i < world->host_count - world->spares; i++)
        fence_carry_out(world, &(struct job_effect){.kind = JOB_EFFECT_START_AGENT, .host = i});
    fence_plan(world, DO_WATCH, 0);
    fence_plan(world, DO_STOP, world->bound_ms * 1000u * ENDS_AFTER);
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
        fence_agent_hears(world, action);
    else
        fence_bsprun_hears(world, action);
}

static void reset(struct world *world, const struct action *action)
{
    struct host *at = &world->hosts[action->host];
    if (at->life != action->life)
        return;
    if (action->way == TO_AGENT)
        fence_agent_ends(world, action->host);
    else if (at->line)
        fence_give_up(world, action->host);
}

/* bsprun has to do with a machine that says what comes next. */
static void machine_event(struct world *world, const struct action *action)
{
    if (action->event.kind == JOB_EVENT_TIMER && action->number != world->timer)
        return;
    if (action->event.kind == JOB_EVENT_AGENT_UP)
        fence_agent_up(world, action->event.host);
    fence_tell_machine(world, action->event);
}

static void happen(struct world *world, const struct action *action)
{
    if (world->over && is_bsprun_s(action))
        return;
    if (is_bsprun_s(action) && world->time.now < world->paused_until) {
        struct action *later =
            fence_plan(world, action->kind, world->paused_until - world->time.now);
        struct moment moment = later->moment;
        *later = *action;
        later->moment = moment;
        return;
    }
    switch (action->kind) {
    case DO_WATCH:
        fence_watch(world);
        break;
    case DO_LOOK:
        fence_look(world, action);
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
        fence_hear_ready(world, action);
        break;
    case DO_RUN:
        fence_run(world, action);
        break;
    case DO_DEAD:
        fence_dead(world, action->host);
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
    if (fence_beyond)
        printf("  %-51s %9llu\n", "processes computed twice at a time",
               (unsigned long long)summary.violated);
    missing += fence_beyond && summary.violated == 0;
    return seeds_verdict("fence", count < 2000 ? 0 : missing);
}

int main(int argc, char **argv)
{
    struct seeds_program program = {
        .name = "fence", .count = 10000, .run = run_one, .report = report};
    if (argc > 1 && strcmp(argv[1], "--beyond") == 0) {
        fence_beyond = true;
        program.name = "fence --beyond";
        argc--;
        argv++;
    }
    return seeds_main(&program, argc, argv);
}
