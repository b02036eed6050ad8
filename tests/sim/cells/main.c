/* main.c - Processor Zero and hosts with replicas of the same processes, in a made-up world.
 *
 * Processor Zero is the real one.  Around it are hosts that compute at paces of their own, and pass
 * a barrier when their processes and, of each other cell, those of one host have come to it, as
 * links between hosts make it.  Hosts are killed, stall for long, or become ten times slower, or
 * their processes are stopped while their agents go on, for a while or for good; at any time, that
 * of snapshots included.  Where that of Processor Zero is killed, what it has sent
 * gets as far as chance has it; or only bsprun does not hear it any more, and it goes on deciding
 * until the last host has ceased to obey.  Another one takes its place, more than once in a job.
 *
 * What must hold:
 *   - no term ends, and nothing is rolled back, while each cell has a living host, Processor Zero's
 *     own host included, and no process dies, once all hosts have snapshot 0: the job then ends
 *     well, and takes no longer than its fastest living hosts
 *   - at each barrier all hosts are told the same, and none passes a barrier that is decided before
 *     it was; so the replicas of a process see the same sequence of supersteps
 *   - each process has as many replicas as it is to have, no two on one host
 *   - what a living host has heard of a barrier is not decided again
 *   - no host of a cell with one other living is waited for: by its death or stall, or when its
 *     processes are stopped, nothing stops
 *   - each committed snapshot has the image of each process from a host that had captured it at
 *     that barrier, of each process one
 *   - bsprun shows what processes write once and in order, see shown.h
 */
#include "tests/sim/cells/world.h"

#include <inttypes.h>
#include <stdio.h>

#include "tests/sim/cells/shown.h"
#include "tests/sim/seeds.h"

#define ACTIONS_MAX 400000u
#define LOOK_AGAIN  500u /* whether processes are still stopped for good */

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
    cells_summary.mixed++;
    return processes;
}

static void make_world(struct world *world, const struct seeds_job *job)
{
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
    world->zeros[0].host = (uint32_t)timeline_random(&world->time, world->host_count);
    for (uint32_t i = 0; i < world->host_count; i++) {
        world->hosts[i].id = (i * 5 + 3) % 17;
        world->hosts[i].cell = HOSTS;
        world->hosts[i].pace = 5 + timeline_random(&world->time, 20);
        world->listed[i] = (struct wire_host){world->hosts[i].id,
                                              1 + (uint32_t)timeline_random(&world->time, 2), "h"};
    }
    world->config = (struct coord_config){
        .term = TERM,
        .host_count = world->host_count,
        .hosts = world->listed,
        .replicas = processes > 0 ? 0 : world->replicas,
        .counts = world->counts,
        .process_limit = processes,
        .processes_max = 2 * HOSTS,
        .abort_at = COORD_NEVER,
        .consult_every = timeline_random(&world->time, 4),
        .snapshots = true,
        .recover = true,
        .rule = {.kind = POLICY_SUPERSTEPS, .every = 1 + timeline_random(&world->time, 12)},
        .notice = (double)(5 + timeline_apart(&world->time, 400)) / 1e3,
    };
    world->zeros[0].coord = coord_new(&world->config);
    if (!world->zeros[0].coord)
        fail(world, "there is no Processor Zero");
    for (uint32_t i = 0; i < world->host_count; i++)
        cells_plan(world, DO_READY, 1 + timeline_random(&world->time, 10), i);
    unsigned faults = (unsigned)timeline_random(&world->time, 5);
    for (unsigned i = 0; i < faults; i++) {
        uint32_t host = (uint32_t)timeline_random(&world->time, world->host_count);
        uint32_t kind = (uint32_t)timeline_random(&world->time, FAULT_STOPPED);
        if (timeline_apart(&world->time, 3) == 0)
            kind = FAULT_STOPPED;
        uint64_t when = timeline_random(&world->time, 60 + 20 * world->supersteps);
        if (seeds_keeps_fault(job, i))
            cells_plan(world, DO_FAULT, when, host)->number = kind;
    }
    shown_begin(&world->time, world->host_count, TERM);
    timeline_take_course(&world->time);
}

static bool is_of_host(const struct action *action)
{
    return action->kind != DO_TIMER && action->kind != DO_FAULT && action->kind != DO_CLOSED &&
           action->kind != DO_LOSS && action->kind != DO_TO_ZERO && action->kind != DO_TO_BSPRUN;
}

/* A host that stalls does nothing, but what is sent to it waits; processes that are stopped do not
 * come to a barrier. */
static bool is_put_off(struct world *world, const struct action *action)
{
    const struct host *host = is_of_host(action) ? &world->hosts[action->host] : NULL;
    uint64_t until = host ? host->stalled_until : 0;

    if (host && action->kind == DO_ARRIVE && host->stopped_until > until)
        until = host->stopped_until;
    if (until <= world->time.now || host->dead)
        return false;
    if (until >= FOR_GOOD)
        until = world->time.now + LOOK_AGAIN;
    struct action *later = timeline_plan(&world->time, until - world->time.now);
    uint64_t when = later->moment.when;
    *later = *action; /* its order included: links keep theirs */
    later->moment.when = when;
    return true;
}

static void happen(struct world *world, const struct action *action)
{
    if (is_put_off(world, action))
        return;
    switch (action->kind) {
    case DO_READY:
        cells_host_begin(world, action->host);
        break;
    case DO_MADE:
        if (!world->hosts[action->host].dead)
            cells_host_is_ready(world, action->host);
        break;
    case DO_ARRIVE:
        cells_host_arrives(world, action->host, action->superstep);
        break;
    case DO_TO_ZERO:
        if (world->hosts[action->host].dead && timeline_chance(&world->time, 30))
            world->hosts[action->host].silent = true;
        if (!world->hosts[action->host].silent)
            cells_feed(world, action->era, world->hosts[action->host].id, &action->message);
        break;
    case DO_TO_HOST:
        cells_host_message(world, action->host, action);
        break;
    case DO_DATA:
        cells_host_data(world, action->host, action->number, action->superstep);
        break;
    case DO_TIMER:
        cells_expire(world, action);
        break;
    case DO_CLOSED:
        cells_close_when_written(world, action->number);
        break;
    case DO_TO_BSPRUN:
        cells_bsprun_hears(world, action);
        break;
    case DO_ASK_PASSED:
        cells_host_asked(world, action);
        break;
    case DO_CONTINUE:
        cells_host_continues(world, action->host);
        break;
    case DO_LOSS:
        cells_lose(world, action->host);
        break;
    case DO_TAKE_OVER:
        cells_host_taken_over(world, action->host, action->era);
        break;
    default:
        cells_harm(world, action);
    }
}

/* Whether some host of each cell may have confirmed its end; else bsprun says that output may be
 * missing, and ends with a status other than 0. */
static bool may_be_confirmed(const struct world *world)
{
    for (uint32_t lead = 0; lead < world->host_count; lead++) {
        bool any = world->hosts[lead].cell != lead || world->hosts[lead].count == 0;
        for (uint32_t i = 0; i < world->host_count; i++)
            any = any || (world->hosts[i].cell == lead && !world->hosts[i].noticed);
        if (!any)
            return false;
    }
    return true;
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
             coord_phase_name(coord_phase(world.zeros[world.era].coord)));
    /* At the end bsprun waits for no host that is lost, and for none if nobody has told it who has
     * which processes. */
    for (uint32_t i = 0; i < world.host_count; i++)
        if (world.hosts[i].noticed || !world.housing_known)
            shown_idle(i);
    shown_check(world.processes, world.supersteps, world.well && may_be_confirmed(&world));
    shown_end();
    for (unsigned i = 0; i < FAULT_KINDS; i++)
        cells_summary.faults[i] += world.faults[i];
    cells_summary.commits += world.commits;
    for (uint32_t era = 0; era <= world.era; era++)
        coord_free(world.zeros[era].coord);
    timeline_end(&world.time);
}

/* A simulation in which something never happens tests less than it says. */
static int report(uint64_t count)
{
    int missing = 0;

    printf("%" PRIu64 " jobs\n", count);
    for (unsigned i = 0; i < FAULT_KINDS; i++) {
        printf("  fault  %-44s %9" PRIu64 "\n", cells_fault_names[i], cells_summary.faults[i]);
        missing += cells_summary.faults[i] == 0;
    }
    const struct {
        const char *name;
        uint64_t count;
    } numbers[] = {{"ended well", cells_summary.well},
                   {"ended by the loss of a cell", cells_summary.back},
                   {"hosts lost beside a living replica", cells_summary.lost_beside},
                   {"another Processor Zero", cells_summary.taken_over},
                   {"... in the place of one that was another itself", cells_summary.taken_again},
                   {"... at the barrier of a snapshot", cells_summary.captured},
                   {"... of which hosts did not run yet", cells_summary.making},
                   {"hosts that passed while others were captured", cells_summary.ahead},
                   {"hosts that were captured when others had gone on", cells_summary.late},
                   {"hosts whose processes were stopped for good", cells_summary.for_good},
                   {"jobs with different numbers of replicas", cells_summary.mixed},
                   {"snapshots", cells_summary.commits},
                   {"lines shown", shown_count()}};
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
