/* learned.c - what is learned of failures in the made-up world: bsprun's evidence is the real one,
 * and so is what Processor Zero makes of it.
 *
 * Checked: every failure that bsprun has seen is in the estimates once, whatever is lost with the
 * host of Processor Zero and whichever of its words come late; time that was watched does not
 * shrink, nor grow beyond what has passed; all numbers are finite, and so is what follows from
 * them. */
#include "tests/sim/recovery/made_up.h"

#include <math.h>
#include <string.h>

#define SLACK_S 1.0 /* a word of Processor Zero is so long on its way, at most */

static struct evidence_time now(const struct world *world)
{
    return (struct evidence_time){world->time.now + 1, world->time.now + 1};
}

static double members(const struct world *world)
{
    double count = 0;
    for (uint32_t i = 0; i < world->host_count; i++)
        count += job_machine_member(world->machine, world->agents[i].id);
    return count;
}

static void check_numbers(struct world *world, const struct estimate *estimate)
{
    double numbers[ESTIMATE_NUMBERS];
    struct estimate again;
    estimate_to_numbers(estimate, numbers);
    if (estimate_from_numbers(&again, numbers, ESTIMATE_NUMBERS) != 0)
        fail(world, "an estimate that makes no sense");
    struct interval_model model;
    struct estimate_units units = {world->host_count, world->processes > 0 ? world->processes : 1};
    bool known = estimate_model(estimate, units, &model);
    double interval = interval_best(&model), useful = interval_utilisation(&model, 1);
    if (isnan(interval) || interval < 0 || !(useful >= 0 && useful <= 1) || !isfinite(model.rate) ||
        !isfinite(model.cost) || !isfinite(model.restore) || !isfinite(model.delay))
        fail(world, "a model that makes no sense");
    double seen = 0;
    for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++)
        seen += estimate->rates[kind].seen;
    if (known != (seen > 0))
        fail(world, "%g failures were seen, and failures are %s", seen,
             known ? "known" : "unknown");
}

/* Whether another Processor Zero has taken over in the term. */
static bool is_succeeded(const struct world *world)
{
    uint32_t term = job_machine_term(world->machine);
    return term > 0 && world->zeros[term].era > 0;
}

static void check(struct world *world)
{
    struct estimate estimate = evidence_estimate(&world->evidence);
    double most = world->host_count * ((double)world->time.now / 1e3 + SLACK_S);
    check_numbers(world, &estimate);
    for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++)
        if (estimate.rates[kind].seen != world->seen[kind])
            fail(world, "%u failures of kind %u were seen, %g are known", world->seen[kind], kind,
                 estimate.rates[kind].seen);
    double watched = estimate.rates[ESTIMATE_HOST].watched;
    if (is_succeeded(world))
        world->watched = watched;
    if (watched < world->watched - SLACK_S * world->host_count)
        fail(world, "hosts were watched for %g s, and now for %g", world->watched, watched);
    if (watched > most)
        fail(world, "hosts were watched for %g s of %g", watched, most);
    world->watched = watched > world->watched ? watched : world->watched;
}

static void watch(struct world *world)
{
    bool begun = job_machine_term(world->machine) > 0;
    evidence_watch(&world->evidence, begun ? members(world) : 0, 0, now(world));
}

void learned_begin(struct world *world)
{
    struct estimate nothing = {0};
    evidence_begin(&world->evidence, &nothing, now(world));
    memset(world->seen, 0, sizeof(world->seen));
    world->watched = 0;
}

static void saw(struct world *world, enum evidence_loss how, uint64_t silence)
{
    enum estimate_kind kind = evidence_kind(&world->evidence, how, silence, FENCE_MS, now(world));
    world->seen[kind] += evidence_fault(&world->evidence, kind, silence, FENCE_MS, now(world));
}

/* Before the job machine hears of it. */
void learned_event(struct world *world, const struct job_event *event)
{
    watch(world);
    if (job_machine_term(world->machine) == 0)
        return;
    if (event->kind == JOB_EVENT_AGENT_LOST && job_machine_member(world->machine, event->host))
        saw(world, event->unheard ? EVIDENCE_SILENT : EVIDENCE_AGENT_ENDED,
            event->unheard ? FENCE_MS : 0);
    else if (event->kind == JOB_EVENT_TERM_OVER &&
             event->term == job_machine_term(world->machine) &&
             event->outcome.cause == WIRE_CAUSE_RANK_SIGNALLED)
        saw(world, EVIDENCE_RANK_DIED, 0);
    else if (event->kind == JOB_EVENT_COMMITTED && event->name.superstep > 0)
        evidence_running(&world->evidence);
    check(world);
}

void learned_blame(struct world *world)
{
    saw(world, EVIDENCE_LINK, 0);
    check(world);
}

void learned_elect(struct world *world, uint32_t term)
{
    struct evidence_room room;
    struct wire_elect elect = {0};
    struct handed *handed = &world->handed[term];
    double numbers[ESTIMATE_NUMBERS];
    watch(world);
    evidence_elect(&world->evidence, term, now(world), &room, &elect);
    for (uint32_t i = 0; i < ESTIMATE_NUMBERS; i++)
        numbers[i] = elect.estimate.items[i].value;
    *handed = (struct handed){
        .recovery = {elect.recovers > 0, (enum estimate_kind)(elect.recovers - 1), elect.down}};
    if (!handed->recovery.any)
        handed->recovery.kind = ESTIMATE_HOST;
    if (estimate_from_numbers(&handed->estimate, numbers, ESTIMATE_NUMBERS) != 0)
        fail(world, "an election with numbers that make no sense");
    handed->seen = (struct coord_seen){.host_seconds = elect.watched_hosts,
                                       .process_seconds = elect.watched_processes};
    for (uint32_t i = 0; i < elect.failures.count; i++)
        handed->seen.failures[i] = (uint32_t)elect.failures.items[i];
    check(world);
}

/* With a word that is on its way to bsprun. */
void learned_say(struct world *world, const struct zero *zero, struct action *action)
{
    const struct coord *state = coord_shell_state(zero->shell);
    enum wire_why why;
    if (!action)
        return; /* nobody hears */
    action->tells = true;
    action->learned = coord_estimate(state, world->time.now * 1000000u);
    check_numbers(world, &action->learned);
    uint64_t interval = coord_interval(state, &why);
    if ((unsigned)why >= WIRE_WHY_COUNT)
        fail(world, "an interval of %llu ns for no reason", (unsigned long long)interval);
}

void learned_heard(struct world *world, const struct action *action)
{
    struct wire_real list[ESTIMATE_NUMBERS];
    double numbers[ESTIMATE_NUMBERS];
    if (!action->tells || !world->machine)
        return;
    estimate_to_numbers(&action->learned, numbers);
    for (uint32_t i = 0; i < ESTIMATE_NUMBERS; i++)
        list[i].value = numbers[i];
    watch(world);
    const struct wire_learned learned = {{list, ESTIMATE_NUMBERS}, 0, WIRE_WHY_BEST};
    world->heard += evidence_take(&world->evidence, action->event.term, &learned);
    check(world);
}
