/* world.c - the made-up world: what there is at the beginning, and what happens. */
#include "tests/sim/sim.h"

#define ACTIONS_MAX  200000u
#define HEARS_WITHIN 5000u

struct action *sim_plan(struct world *world, enum action_kind kind, uint64_t delay)
{
    struct action *action = timeline_plan(&world->time, delay);
    action->kind = kind;
    action->term = world->term;
    return action;
}

static void plan_faults(struct world *world)
{
    if (sim_chance(world, 25))
        return;
    unsigned count = 1 + (unsigned)sim_random(world, 3);
    for (unsigned i = 0; i < count; i++) {
        uint32_t kind = (uint32_t)sim_random(world, FAULT_KINDS);
        uint64_t when = sim_random(world, 30 + 25 * world->supersteps);
        if (seeds_keeps_fault(&world->time.job, i))
            sim_plan(world, DO_FAULT, when)->number = kind;
    }
}

void sim_make_world(struct world *world, const struct seeds_job *job)
{
    *world = (struct world){.term = 1};
    timeline_begin(&world->time, sizeof(struct action), job);
    world->host_count = sim_chance(world, 40) ? 1 : 2 + (uint32_t)sim_random(world, HOSTS - 1);
    if (world->host_count > job->hosts)
        world->host_count = (uint32_t)job->hosts;
    uint32_t slots = 0;
    for (uint32_t i = 0; i < world->host_count; i++) {
        /* Ids neither start at 0 nor are in order. */
        world->agents[i].id = (i * 5 + 3) % 17;
        world->agents[i].slots = 1 + (uint32_t)sim_random(world, 3);
        slots += world->agents[i].slots;
    }
    world->registrar = (uint32_t)sim_random(world, world->host_count);
    world->wanted = (uint32_t)sim_random(world, 2 * slots + 2);
    world->limit = sim_chance(world, 50) ? 1 + (uint32_t)sim_random(world, 2 * slots) : 0;
    world->supersteps = sim_random(world, 12);
    if (world->supersteps > job->supersteps)
        world->supersteps = job->supersteps;
    world->early = sim_chance(world, 5) ? (uint32_t)sim_random(world, slots) : NOBODY;
    world->consult_every = sim_random(world, 4);
    world->abort_at = sim_chance(world, 10) ? sim_random(world, 6) : COORD_NEVER;
    world->status = sim_chance(world, 30) ? (uint32_t)sim_random(world, 256) : 0;

    bool members[HOSTS];
    for (uint32_t i = 0; i < world->host_count; i++) {
        members[i] = true;
        sim_plan(world, DO_START_AGENT, sim_random(world, 20))->host = i;
    }
    /* bsprun elects the agent that came first, which need not be that of the program. */
    uint32_t elected = world->registrar;
    if (timeline_apart(&world->time, 4) == 0)
        elected = (uint32_t)timeline_apart(&world->time, world->host_count);
    sim_open_zero(world, elected, members);
    plan_faults(world);
    timeline_take_course(&world->time);
}

void sim_free_world(struct world *world)
{
    for (uint32_t term = 1; term <= TERMS; term++)
        coord_shell_free(world->zeros[term].shell);
    timeline_end(&world->time);
}

/* bsprun has lost the host of Processor Zero: the next term, on another agent. */
static void open_term(struct world *world)
{
    bool members[HOSTS];
    uint32_t living = 0;
    for (uint32_t i = 0; i < world->host_count; i++) {
        members[i] = !world->agents[i].dead && !world->agents[i].cut_off;
        living += members[i];
    }
    if (living == 0 || world->term == TERMS) {
        world->job_over = true;
        sim_plan(world, DO_SWEEP, 1);
        return;
    }
    uint32_t pick = (uint32_t)sim_random(world, living), host = 0;
    while (!members[host] || pick-- > 0)
        host++;
    world->term++;
    sim_open_zero(world, host, members);
    for (uint32_t i = 0; i < world->host_count; i++)
        if (members[i]) {
            struct action *action = sim_plan(world, DO_ELECT, 1 + sim_random(world, 20));
            action->host = i;
        }
    /* Without snapshots the new term can only end the job. */
    sim_plan(world, DO_STOP, 1 + sim_random(world, 60));
}

static void stop(struct world *world, const struct action *action)
{
    struct zero *zero = &world->zeros[action->term];
    if (zero->gone || zero->finished)
        return;
    enum coord_phase before = coord_phase(coord_shell_state(zero->shell));
    world->stop_asked = true;
    world->possible |= 1u << WIRE_CAUSE_STOPPED;
    coord_shell_order(
        zero->shell,
        &(struct wire_message){.kind = WIRE_STOP, .stop = {WIRE_STOP_SIGNAL, 15, "stopped"}});
    sim_check_step(world, zero, before);
}

/* Whether the host is to hear of the end, and has not. */
static bool is_to_hear(const struct world *world, uint32_t host)
{
    const struct agent *agent = &world->agents[host];
    const struct zero *zero = &world->zeros[world->term];

    if (!zero->finished || zero->gone || world->agents[zero->host].cut_off)
        return false;
    return !agent->dead && !agent->over && !agent->out && !agent->cut_off && !agent->bad &&
           !agent->given_up && (agent->term == world->term || agent->term == 0);
}

/* bsprun waits for what hosts report when they hear of the end, ends every agent that it can reach;
 * the others end by themselves. */
static void sweep(struct world *world)
{
    for (uint32_t i = 0; i < world->host_count; i++) {
        if (!is_to_hear(world, i))
            continue;
        if (world->time.now > world->over_since + HEARS_WITHIN)
            sim_fail(world, "host %u is not told that the job is over", world->agents[i].id);
        sim_plan(world, DO_SWEEP, 100);
        return;
    }
    for (uint32_t i = 0; i < world->host_count; i++)
        sim_agent_gone(world, i);
}

static void timer(struct world *world, const struct action *action)
{
    struct zero *zero = &world->zeros[action->term];
    if (zero->gone || action->number != zero->timer)
        return;
    enum coord_phase before = coord_phase(coord_shell_state(zero->shell));
    for (uint32_t i = 0; i < world->host_count; i++)
        world->agents[i].given_up |= before == COORD_ABORTING;
    coord_shell_timer(zero->shell, COORD_TIMER_STOP);
    sim_check_step(world, zero, before);
}

static void notice_loss(struct world *world, const struct action *action)
{
    struct zero *zero = &world->zeros[action->term];
    if (zero->gone || zero->finished)
        return;
    enum coord_phase before = coord_phase(coord_shell_state(zero->shell));
    world->possible |= 1u << WIRE_CAUSE_HOST_LOST;
    sim_log(world, "host %u is lost to term %u", world->agents[action->host].id, action->term);
    world->agents[action->host].given_up = true;
    coord_shell_host_lost(zero->shell, world->agents[action->host].id);
    sim_check_step(world, zero, before);
}

static void deliver_to_agent(struct world *world, struct action *action)
{
    struct wire_message message;
    char error[WIRE_ERROR_SIZE];
    if (wire_decode(action->frame.data + WIRE_HEADER, action->frame.size - WIRE_HEADER, &message,
                    error, sizeof(error)) < 0)
        sim_fail(world, "Processor Zero sends what cannot be read: %s", error);
    sim_agent_message(world, action->host, &message);
    wire_message_free(&message);
}

static void happen(struct world *world, struct action *action)
{
    struct agent *agent = &world->agents[action->host];
    switch (action->kind) {
    case DO_START_AGENT:
        sim_agent_start(world, action->host);
        break;
    case DO_DELIVER_TO_ZERO:
        sim_deliver_to_zero(world, action);
        break;
    case DO_DELIVER_TO_AGENT:
        deliver_to_agent(world, action);
        break;
    case DO_REPORT_READY:
        sim_agent_ready(world, action->host);
        break;
    case DO_RANK_ARRIVES:
        sim_rank_arrives(world, action->host, action->number);
        break;
    case DO_RANK_EXITS:
        sim_rank_exits(world, action->host, action->number, action->number == 0 ? world->status : 0,
                       0);
        break;
    case DO_RANKS_STOPPED:
        sim_agent_stopped(world, action->host, action->term);
        break;
    case DO_NOTICE_LOSS:
        notice_loss(world, action);
        break;
    case DO_CUT_AGENT:
        if (!agent->over)
            sim_agent_gone(world, action->host);
        break;
    case DO_DROP_AGENT:
        sim_agent_dropped(world, action->host, action->term);
        break;
    case DO_TIMER:
        timer(world, action);
        break;
    case DO_OPEN_TERM:
        if (!world->job_over && action->term == world->term)
            open_term(world);
        break;
    case DO_ELECT:
        sim_agent_elect(world, action->host, action->term);
        break;
    case DO_STOP:
        stop(world, action);
        break;
    case DO_SWEEP:
        sweep(world);
        break;
    case DO_FAULT:
        sim_fault(world, (enum fault_kind)action->number);
        break;
    }
}

void sim_run(struct world *world)
{
    struct action action;
    for (unsigned count = 0; timeline_next(&world->time, &action); count++) {
        if (count > ACTIONS_MAX)
            sim_fail(world, "the job does not come to an end");
        happen(world, &action);
        bspz_buffer_free(&action.frame);
    }
    sim_check_end(world);
}
