/* made_up.c - what happens in the made-up world, and the program, whose options are those of
 * seeds.h. */
#include "tests/sim/recovery/made_up.h"

#include <stdlib.h>
#include <string.h>

#define ACTIONS_MAX 400000u
/* Whether all worlds move processes, and have faults at the steps of that. */
#ifndef ALL_MOVE
#define ALL_MOVE false
#endif
/* Whether processes have replicas, and hosts are slow. */
#ifndef ALL_REPLICAS
#define ALL_REPLICAS false
#endif
#define MOVES_LEAST 1000u   /* for each step, with a fault in it, in a run of ... */
#define MOVES_RUN   100000u /* ... so many jobs */
#define NUMBERS     20u
#define MOVES_FEW   20000u  /* jobs from which on half of that share is there */
#define VAIN_RUN    100000u /* in so many jobs a host waits in vain for the end */

struct action *plan(struct world *world, enum action_kind kind, uint64_t delay)
{
    struct action *action = timeline_plan(&world->time, delay);
    action->kind = kind;
    return action;
}

struct action *plan_on_link(struct world *world, enum action_kind kind, uint32_t host, int link)
{
    uint64_t *free_at = &world->link_free[host][link];
    uint64_t when = world->time.now + 1 + random_below(world, chance(world, 10) ? 60 : 6);
    if (when < *free_at)
        when = *free_at;
    *free_at = when;
    struct action *action = plan(world, kind, when - world->time.now);
    action->host = host;
    action->life = world->agents[host].life;
    return action;
}

/* What is on the host's links is lost, or half of the time still arrives. */
void drop_link(struct world *world, uint32_t host)
{
    if (chance(world, 50))
        return;
    for (uint32_t i = 0; i < world->time.count; i++) {
        struct action *action = timeline_at(&world->time, i);
        bool carried = action->kind == DO_TO_ZERO ||
                       (action->kind == DO_JOB_EVENT && action->event.kind != JOB_EVENT_AGENT_LOST);
        if (!carried || action->host != host || action->life == 0)
            continue;
        bspz_buffer_free(&action->frame);
        timeline_remove(&world->time, i--);
    }
}

static void happen(struct world *world, struct action *action)
{
    switch (action->kind) {
    case DO_JOB_EVENT:
        if (action->number != world->machine_life)
            break;
        learned_heard(world, action);
        bsprun_event(world, &action->event);
        break;
    case DO_START_AGENT:
        if (action->number == world->machine_life)
            agent_start(world, action->host);
        break;
    case DO_ELECT:
        agent_elect(world, action);
        break;
    case DO_TELL_ZERO:
        zero_told(world, action);
        break;
    case DO_TO_ZERO:
        zero_frame(world, action);
        break;
    case DO_TO_AGENT:
        agent_frame(world, action);
        break;
    case DO_ZERO_TIMER:
        zero_timer(world, action);
        break;
    case DO_NOTICE:
        zero_notice(world, action);
        break;
    case DO_COMPLAIN:
        complain(world, action);
        break;
    case DO_RESTART:
        bsprun_begin(world, true);
        break;
    case DO_FAULT:
        fault(world, (enum fault_kind)action->number);
        break;
    default:
        agent_act(world, action);
    }
}

static void plan_fault(struct world *world, unsigned number, uint64_t when, unsigned kind)
{
    if (seeds_keeps_fault(&world->time.job, number))
        plan(world, DO_FAULT, when)->number = kind;
}

static void plan_faults(struct world *world)
{
    unsigned planned = 0;
    if (chance(world, 10))
        return;
    for (unsigned count = 1 + (unsigned)random_below(world, 6); count > 0; count--) {
        uint64_t when = random_below(world, 100 + 40 * world->supersteps);
        unsigned kind = chance(world, 40) ? (unsigned)random_below(world, FAULT_CUT_OFF)
                                          : (unsigned)random_below(world, FAULT_POWER);
        plan_fault(world, planned++, when, kind);
        /* The next one soon: during the recovery from the first. */
        if (chance(world, 50)) {
            kind = (unsigned)random_below(world, FAULT_CUT_OFF);
            when += random_below(world, 120);
            plan_fault(world, planned++, when, kind);
        }
    }
}

/* Numbers for the options that take them away again. */
static void plan_more_faults(struct world *world)
{
    unsigned planned = 12;
    if (apart(world, 4) == 0 && seeds_keeps_fault(&world->time.job, planned++))
        plan_steps(world);
    for (uint64_t count = apart(world, 5) == 0 ? 1 + apart(world, 2) : 0; count > 0; count--) {
        uint64_t when = apart(world, 100 + 40 * world->supersteps);
        plan_fault(world, planned++, when, FAULT_POWER);
    }
    planned = 16;
    for (uint64_t count = apart(world, 4) == 0 ? 1 + apart(world, 3) : 0; count > 0; count--) {
        uint64_t when = apart(world, 100 + 40 * world->supersteps);
        plan_fault(world, planned++, when, FAULT_PLACES);
    }
}

void end_is_decided(struct world *world)
{
    unsigned planned = 34;
    if (world->time.job.seed % 4 != 1)
        return;
    for (uint64_t count = 1 + apart(world, 4); count > 0; count--) {
        uint64_t when = apart(world, apart(world, 2) == 0 ? 10 : 60);
        plan_fault(world, planned++, when, (unsigned)apart(world, FAULT_CUT_OFF));
    }
}

/* Numbers behind those of all others. */
static void plan_moves(struct world *world)
{
    unsigned planned = 24;
    for (uint64_t count = 1 + apart(world, 3); count > 0; count--) {
        uint64_t when = 50 + apart(world, 50 + 40 * world->supersteps);
        plan_fault(world, planned++, when, FAULT_PLACES);
    }
    if (seeds_keeps_fault(&world->time.job, 30))
        moves_plan(world);
}

static void make_world(struct world *world, const struct seeds_job *job)
{
    memset(world, 0, offsetof(struct world, agents));
    timeline_begin(&world->time, sizeof(struct action), job);
    world->host_count = chance(world, 40)  ? 1
                        : chance(world, 2) ? 7 + (uint32_t)random_below(world, HOSTS - 6)
                                           : 2 + (uint32_t)random_below(world, WIDE_HOSTS - 1);
    if ((ALL_MOVE || ALL_REPLICAS) && world->host_count == 1)
        world->host_count = 2 + (uint32_t)apart(world, WIDE_HOSTS - 1);
    if (world->host_count > job->hosts)
        world->host_count = (uint32_t)job->hosts;
    memset(world->agents, 0, world->host_count * sizeof(world->agents[0]));
    world->spares = world->host_count > 1 ? (uint32_t)random_below(world, 2) : 0;
    uint32_t slots = 0;
    for (uint32_t i = 0; i < world->host_count; i++) {
        world->agents[i].id = (i * 5 + 3) % 1021;
        world->agents[i].slots = 1 + (uint32_t)random_below(world, 2);
        slots += world->agents[i].slots;
    }
    world->replicas = 1;
    if (ALL_REPLICAS) {
        world->replicas = 1 + (uint32_t)apart(world, 3);
        if (job->seed % 2 == 0)
            world->spares = 0; /* as ever, so that old seeds make the same worlds */
        if (world->replicas > world->host_count - world->spares)
            world->replicas = world->host_count - world->spares;
    }
    world->registrar = (uint32_t)random_below(world, world->host_count - world->spares);
    world->wanted = 1 + (uint32_t)random_below(world, slots < RANKS / 2 ? 2 * slots : RANKS);
    world->supersteps = random_below(world, 14);
    if (world->supersteps > job->supersteps)
        world->supersteps = job->supersteps;
    static const enum policy_kind kinds[] = {POLICY_SUPERSTEPS, POLICY_SUPERSTEPS, POLICY_TIME,
                                             POLICY_AUTO, POLICY_OFF};
    world->rule.kind = kinds[random_below(world, 5)];
    world->rule.every = world->rule.kind == POLICY_TIME ? 20000000 : 1 + random_below(world, 4);
    world->rule.overhead = 0.3;
    world->balance = job->seed % 3 == 0; /* a draw would make other worlds of the fixed seeds */
    world->retry_ms = job->seed % 4 == 2 ? 300 : 0;
    if (cells_any(world))
        world->balance = false;
    world->unnamed = world->spares > 0 && job->seed % 7 == 5;
    world->shared = world->host_count == 1 || chance(world, 50);
    world->copies_kept = chance(world, 60);
    world->stop_on_failure = chance(world, 30);
    world->stop_on_late_failure = world->stop_on_failure && chance(world, 50);
    world->max_restarts = (uint32_t)random_below(world, 6);
    world->status = chance(world, 30) ? (int32_t)random_below(world, 256) : 0;
    if (ALL_MOVE) {
        world->supersteps =
            world->supersteps < job->supersteps ? world->supersteps + 3 : job->supersteps;
        world->max_restarts += 2;
        plan_moves(world);
    }
    for (unsigned i = 0; ALL_REPLICAS && i < 2; i++)
        if (apart(world, 2) == 0)
            plan_fault(world, 40 + i, apart(world, 50 + 40 * world->supersteps), FAULT_SLOW);
    if (!ALL_MOVE || apart(world, 3) == 0) {
        plan_faults(world);
        plan_more_faults(world);
    }
    timeline_take_course(&world->time);
}

static void free_world(struct world *world)
{
    for (uint32_t term = 0; term < TERMS; term++)
        coord_shell_free(world->zeros[term].shell);
    for (uint32_t i = 0; i < world->time.count; i++)
        bspz_buffer_free(&((struct action *)timeline_at(&world->time, i))->frame);
    timeline_end(&world->time);
    job_machine_free(world->machine);
}

static void run(struct world *world)
{
    bsprun_begin(world, false);
    struct action action;
    for (unsigned count = 0; timeline_next(&world->time, &action); count++) {
        if (count > ACTIONS_MAX)
            fail(world, "the job does not come to an end");
        happen(world, &action);
        bspz_buffer_free(&action.frame);
        if (world->killed_at_step && world->machine && !world->over) {
            world->faults[FAULT_STEP]++;
            moves_count(world, FAULT_STEP, moves_step(world), job_machine_term(world->machine));
            world->steps[world->step]++;
            kill_bsprun(world);
        }
        world->killed_at_step = false;
        moves_watch(world);
        check_alone(world);
    }
    check_end(world);
}

static const char *const fault_names[FAULT_KINDS] = {
    [FAULT_RANK] = "process killed",
    [FAULT_AGENT] = "agent killed",
    [FAULT_HOST] = "host gone",
    [FAULT_CUT_OFF] = "host cut off",
    [FAULT_LINK] = "link silent",
    [FAULT_BSPRUN] = "bsprun killed",
    [FAULT_WRITE] = "disk full",
    [FAULT_REFUSED] = "capture refused",
    [FAULT_DAMAGE] = "image damaged",
    [FAULT_OLD] = "old message",
    [FAULT_SAVE] = "snapshot asked for",
    [FAULT_SAVE_STOP] = "snapshot, stop",
    [FAULT_STOP] = "stopped",
    [FAULT_ABORT] = "bsp_abort",
    [FAULT_POWER] = "power of several hosts fails",
    [FAULT_STEP] = "bsprun killed at a step",
    [FAULT_SLOW] = "host slow",
    [FAULT_PLACES] = "hosts drained, removed, opened",
};

static const char *const step_names[STEP_KINDS] = {
    [STEP_CAPTURE] = "capture is ordered",     [STEP_CAPTURED] = "a host has captured",
    [STEP_IMAGE] = "an image is durable",      [STEP_PERSIST] = "the manifest is ordered",
    [STEP_MANIFEST] = "a manifest is durable", [STEP_COMMITTED] = "it is committed",
    [STEP_HEARD] = "bsprun hears of it",       [STEP_KNOWN] = "a host knows of it",
    [STEP_RETIRED] = "older ones are removed", [STEP_CHOSEN] = "a term is to be recorded",
    [STEP_RECORDED] = "the term is recorded",  [STEP_CLOSING] = "all are in bsp_end",
    [STEP_FINISHED] = "the end is recorded",
};

static const char *const move_step_names[MOVE_STEPS] = {
    [MOVE_ASKED] = "it is asked for, or decided",
    [MOVE_ROUND] = "a snapshot comes before it",
    [MOVE_AHEAD] = "processes are restored ahead",
    [MOVE_CAPTURED] = "all wait and are captured",
    [MOVE_SAVED] = "what was captured becomes durable",
    [MOVE_OVER] = "the term is over",
    [MOVE_HELD] = "the next one is elected",
    [MOVE_CHOSEN] = "bsprun records where it begins",
    [MOVE_RESTORED] = "processes are restored",
    [MOVE_PASSED] = "they become ranks",
};

static struct {
    uint64_t moves[MOVE_STEPS];
    uint64_t faults[FAULT_KINDS], causes[WIRE_CAUSE_COUNT], steps[STEP_KINDS];
    uint64_t numbers[NUMBERS];
} summary;

static const char *const number_names[NUMBERS] = {
    "snapshots committed",
    "terms after faults",
    "processes thawed from copies",
    "processes restored from images",
    "restarts of bsprun",
    "barriers held back",
    "hosts left out",
    "restarts from a named superstep",
    "terms that moved processes",
    "processes that Processor Zero had moved",
    "hosts that have joined",
    "lost hosts that were tried again",
    "processes that did not fit where they were to be",
    "terms that moved processes after AHEAD",
    "terms with fewer replicas, as more did not fit",
    "spares called while a term went on",
    "another Processor Zero in a term",
    "hosts that passed while others were captured",
    "hosts lost while restored processes became ranks",
    "hosts that waited in vain for the end",
};

/* With a fault, at each step, in so many jobs. */
static uint64_t least_moves(uint64_t count)
{
    if (count >= MOVES_RUN)
        return MOVES_LEAST;
    return count >= MOVES_FEW ? count * MOVES_LEAST / MOVES_RUN / 2 : 0;
}

/* A simulation in which something never happens tests less than it says. */
static int report(uint64_t count)
{
    int missing = 0;
    printf("%llu jobs\n", (unsigned long long)count);
    for (unsigned i = 0; i < FAULT_KINDS; i++) {
        printf("  fault  %-44s %9llu\n", fault_names[i], (unsigned long long)summary.faults[i]);
        missing += summary.faults[i] == 0 && (ALL_REPLICAS || i != FAULT_SLOW);
    }
    for (unsigned i = 0; i < STEP_KINDS; i++) {
        printf("  bsprun killed when %-32s %9llu\n", step_names[i],
               (unsigned long long)summary.steps[i]);
        missing += summary.steps[i] == 0;
    }
    for (unsigned i = 0; i < MOVE_STEPS; i++) {
        printf("  move with a fault when %-35s %5llu\n", move_step_names[i],
               (unsigned long long)summary.moves[i]);
        missing += ALL_MOVE && summary.moves[i] < least_moves(count);
    }
    for (unsigned i = 0; i < WIRE_CAUSE_COUNT; i++)
        if (summary.causes[i] > 0)
            printf("  end    %-44s %9llu\n", wire_cause_text(i),
                   (unsigned long long)summary.causes[i]);
    for (unsigned i = 0; i < NUMBERS; i++) {
        printf("  %-51s %9llu\n", number_names[i], (unsigned long long)summary.numbers[i]);
        missing += summary.numbers[i] == 0 && (ALL_REPLICAS || i < NUMBERS - 6) &&
                   (i < NUMBERS - 1 || count >= VAIN_RUN);
    }
    missing += summary.causes[WIRE_CAUSE_NONE] == 0 || summary.causes[WIRE_CAUSE_SAVED] == 0 ||
               summary.causes[WIRE_CAUSE_NO_MEMORY] == 0;
    return seeds_verdict(ALL_MOVE       ? "moves"
                         : ALL_REPLICAS ? "replicated"
                                        : "recovery",
                         count < 2000 ? 0 : missing);
}

static void run_one(const struct seeds_job *job)
{
    static struct world world;
    make_world(&world, job);
    run(&world);
    for (unsigned i = 0; i < FAULT_KINDS; i++)
        summary.faults[i] += world.faults[i];
    for (unsigned i = 0; i < STEP_KINDS; i++)
        summary.steps[i] += world.steps[i];
    for (unsigned i = 0; i < MOVE_STEPS; i++)
        summary.moves[i] += world.move_steps[i];
    if (world.over)
        summary.causes[world.outcome.cause]++;
    const unsigned numbers[NUMBERS] = {
        world.commits,   world.rollbacks,   world.thawed, world.restored,     world.restarted,
        world.held_back, world.dismissals,  world.named,  world.moves,        world.own_moves,
        world.joined,    world.tried_again, world.missed, world.moves_ahead,  world.fewer,
        world.called,    world.taken_over,  world.ahead,  world.lost_passing, world.in_vain};
    for (unsigned i = 0; i < NUMBERS; i++)
        summary.numbers[i] += numbers[i];
    free_world(&world);
}

static const struct seeds_fixed fixed[] = {
    {1610087999, "honest host 13 is dropped: an event from host 13, which is none of this job"},
    {1620465590, "the job ends with status 1: a host was lost"},
    {1650096301, "the job does not end: bsprun is in state RUNNING"},
    {1500444686, "the job does not end: bsprun is in state RUNNING"},
    {53614187735, "a manifest before process 0 has its image"},
    {1795361268278, "the job does not end: bsprun is in state RUNNING"},
    {1795455537987294693, "the job does not end: bsprun is in state GATHERING"},
    {1795361410490, "a manifest before process 2 has its image"},
    {1795361414314, "the job ends with status 1: a host was lost"},
    {1795362029363, "the job does not end: bsprun is in state RUNNING"},
    {1795362324493, "a snapshot without manifest is said to be committed"},
    {1795363470877, "nothing is found to go on from, but there is snapshot 0.1"},
    {1795363286917654980, "the job ends with status 1: a host was lost"},
    {1795363811094247355, "the job ends with status 1: a host was lost"},
    {1795365764125743858, "the job ends with status 1: a host was lost"},
    {1795366712952391461, "the job ends with status 1: a host was lost"},
    {1795364579068262307, "nothing is found to go on from, but there is snapshot 0.1"},
    {1795372017503542633, "nothing is found to go on from, but there is snapshot 0.1"},
    {1795374252430936246, "the job ends with status 1: a host was lost"},
    {1795402908997002650, "the job does not end: bsprun is in state RUNNING"},
    {1795406274099831472, "a job moved from rewinding to ending"},
    {1795363968091633598, "a snapshot without manifest is said to be committed"},
    {1795534227326085516, "the job ends with status 1: a host was lost"},
    {1795718659198634774, "the job does not end: bsprun is in state GATHERING"},
    {735066086713, "the same: a spare that is called is opened"},
};

int main(int argc, char **argv)
{
    static const struct seeds_program program = {.name = ALL_MOVE       ? "moves"
                                                         : ALL_REPLICAS ? "replicated"
                                                                        : "recovery",
                                                 .count = 3000,
                                                 .has_supersteps = true,
                                                 .fixed = fixed,
                                                 .fixed_count = sizeof(fixed) / sizeof(fixed[0]),
                                                 .run = run_one,
                                                 .report = report};
    return seeds_main(&program, argc, argv);
}
