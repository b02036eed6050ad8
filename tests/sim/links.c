/* links.c - messages on their way, and Processor Zero at one end of them. */
#include "tests/sim/sim.h"

#include <string.h>

enum { TO_ZERO, TO_AGENT };

static const unsigned char job[WIRE_JOB_SIZE] = "a simulated job";

uint32_t sim_host_index(const struct world *world, uint32_t id)
{
    uint32_t i = 0;
    while (i < world->host_count && world->agents[i].id != id)
        i++;
    return i;
}

/* Puts a frame on a link: behind what is on it already, otherwise whenever it likes. */
static void put_on_link(struct world *world, uint32_t term, uint32_t host, int direction,
                        const struct wire_message *message)
{
    uint64_t *free_at = &world->link_free[term][host][direction];
    uint64_t when = world->time.now + 1 + sim_random(world, sim_chance(world, 10) ? 100 : 10);
    if (when < *free_at)
        when = *free_at;
    *free_at = when;
    struct action *action =
        sim_plan(world, direction == TO_ZERO ? DO_DELIVER_TO_ZERO : DO_DELIVER_TO_AGENT,
                 when - world->time.now);
    action->host = host;
    action->term = term;
    char error[WIRE_ERROR_SIZE];
    if (wire_encode(message, &action->frame, error, sizeof(error)) < 0)
        sim_fail(world, "cannot encode: %s", error);
}

static bool reaches(const struct world *world, const struct zero *zero, uint32_t host)
{
    return zero->host == host ||
           (!world->agents[host].cut_off && !world->agents[zero->host].cut_off);
}

void sim_send_to_zero(struct world *world, uint32_t host, struct wire_message *message)
{
    struct agent *agent = &world->agents[host];
    struct zero *zero = &world->zeros[agent->term];
    if (zero->gone || !reaches(world, zero, host))
        return;
    memcpy(message->envelope.job, job, WIRE_JOB_SIZE);
    message->envelope.term = agent->term;
    put_on_link(world, agent->term, host, TO_ZERO, message);
}

void sim_drop_in_flight(struct world *world, uint32_t host, unsigned percent)
{
    if (!sim_chance(world, percent))
        return;
    for (uint32_t i = 0; i < world->time.count; i++) {
        struct action *action = timeline_at(&world->time, i);
        if (action->kind != DO_DELIVER_TO_ZERO || action->host != host)
            continue;
        bspz_buffer_free(&action->frame);
        timeline_remove(&world->time, i--);
    }
}

/* ---- Processor Zero's functions ------------------------------------------------------------ */

static void on_send(void *context, uint32_t id, const struct wire_message *message)
{
    struct zero *zero = context;
    struct world *world = zero->world;
    if (message->envelope.term != zero->term)
        sim_fail(world, "Processor Zero of term %u sends in term %u", zero->term,
                 message->envelope.term);
    if (zero->ended && message->kind != WIRE_END)
        sim_fail(world, "%s is sent after END", wire_kind_name(message->kind));
    zero->ended = message->kind == WIRE_END;
    if (message->kind == WIRE_PLACE)
        sim_check_place(world, zero, &message->place);
    sim_send_to_agent(world, zero, sim_host_index(world, id), message);
}

void sim_send_to_agent(struct world *world, struct zero *zero, uint32_t host,
                       const struct wire_message *message)
{
    if (reaches(world, zero, host))
        put_on_link(world, zero->term, host, TO_AGENT, message);
}

static void on_set_timer(void *context, enum coord_timer timer, uint64_t milliseconds)
{
    (void)timer;
    struct zero *zero = context;
    struct action *action = sim_plan(zero->world, DO_TIMER, milliseconds);
    action->term = zero->term;
    action->number = ++zero->timer;
}

static void on_cancel_timer(void *context, enum coord_timer timer)
{
    (void)timer;
    struct zero *zero = context;
    zero->timer++;
}

static void on_drop_host(void *context, uint32_t id, const char *complaint)
{
    struct zero *zero = context;
    struct world *world = zero->world;
    uint32_t host = sim_host_index(world, id);
    sim_log(world, "host %u is dropped: %s", id, complaint);
    /* One that lies may take another's place, and the other then seems to be wrong. */
    if (world->faults[FAULT_BAD_AGENT] == 0)
        sim_fail(world, "an honest host is dropped: %s", complaint);
    world->possible |= 1u << WIRE_CAUSE_HOST_LOST;
    world->agents[host].given_up = true;
    if (host == zero->host) {
        sim_agent_dropped(world, host, zero->term);
        return;
    }
    if (!reaches(world, zero, host))
        return;
    struct action *action = sim_plan(world, DO_DROP_AGENT, 1 + sim_random(world, 20));
    action->host = host;
    action->term = zero->term;
}

static void on_finish(void *context, const struct coord_outcome *outcome)
{
    struct zero *zero = context;
    struct world *world = zero->world;
    if (zero->finished)
        sim_fail(world, "FINISH comes twice");
    zero->finished = true;
    zero->outcome = *outcome;
    sim_log(world, "term %u finishes: status %d, %s, pid %d", zero->term, outcome->status,
            wire_cause_text(outcome->cause), outcome->pid);
    /* bsprun hears of it unless that host is cut off or of an older term. */
    if (zero->term != world->term || world->agents[zero->host].cut_off)
        return;
    world->job_over = true;
    world->over_since = world->time.now;
    sim_plan(world, DO_SWEEP, 1 + sim_random(world, 200));
}

static void on_trace(void *context, const char *text)
{
    struct zero *zero = context;
    sim_log(zero->world, "zero of term %u: %s", zero->term, text);
}

static uint64_t on_now(void *context)
{
    return ((struct zero *)context)->world->time.now * 1000000u;
}

void sim_open_zero(struct world *world, uint32_t host, const bool *members)
{
    struct wire_host hosts[HOSTS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->host_count; i++)
        if (members[i])
            hosts[count++] = (struct wire_host){.host = world->agents[i].id,
                                                .slots = i % 2 ? world->agents[i].slots : 0};
    struct coord_config config = {.term = world->term,
                                  .host_count = count,
                                  .hosts = hosts,
                                  .process_limit = world->limit,
                                  .processes_max = RANKS_MAX,
                                  .consult_every = count > 1 ? 1 : world->consult_every,
                                  .abort_at = world->abort_at,
                                  .stop_grace_ms = 1 + sim_random(world, 400)};
    memcpy(config.job, job, sizeof(job));
    struct coord_shell_calls calls = {.send = on_send,
                                      .set_timer = on_set_timer,
                                      .cancel_timer = on_cancel_timer,
                                      .drop_host = on_drop_host,
                                      .finish = on_finish,
                                      .now_ns = on_now,
                                      .trace = world->time.job.verbose ? on_trace : NULL};
    struct zero *zero = &world->zeros[world->term];
    if (zero->shell)
        sim_fail(world, "term %u has two Processor Zeros", world->term);
    *zero = (struct zero){.world = world, .host = host, .term = world->term};
    zero->shell = coord_shell_new(&config, &calls, zero);
    if (!zero->shell)
        sim_fail(world, "no Processor Zero");
    sim_log(world, "Processor Zero of term %u is host %u", world->term, world->agents[host].id);
}

void sim_deliver_to_zero(struct world *world, struct action *action)
{
    struct zero *zero = &world->zeros[action->term];
    if (zero->gone)
        return;
    struct wire_message message;
    char error[WIRE_ERROR_SIZE];
    if (wire_decode(action->frame.data + WIRE_HEADER, action->frame.size - WIRE_HEADER, &message,
                    error, sizeof(error)) < 0)
        sim_fail(world, "an agent sends what cannot be read: %s", error);
    enum coord_phase before = coord_phase(coord_shell_state(zero->shell));
    coord_shell_message(zero->shell, world->agents[action->host].id, &message);
    sim_check_step(world, zero, before);
    wire_message_free(&message);
}
