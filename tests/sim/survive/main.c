/* main.c - Processor Zero of a job that outlives hosts, in a made-up world; see world.h.
 *
 * What is checked: a barrier is decided only when the newest life of every process is there, each
 * job ends, and it ends well or with all going back because a host was lost.
 */
#include <stdio.h>
#include <string.h>

#include "tests/sim/survive/world.h"

#define TERM       2u
#define DELAY_MOST 30u
#define LOOKS_MOST                                                                                 \
    100000u /* microseconds, or what they stand for, after which nothing comes any more */

struct survive_summary survive_summary;

/* ---- Links ---------------------------------------------------------------------------------- */

static uint64_t delay_of(struct world *world, uint32_t from, uint32_t to)
{
    uint64_t at = world->time.now + 1 + timeline_random(&world->time, DELAY_MOST);

    if (at < world->link[from][to])
        at = world->link[from][to];
    world->link[from][to] = at;
    return at - world->time.now;
}

static void fill(struct action *action, uint32_t from, uint32_t to,
                 const struct wire_message *message)
{
    action->from = from;
    action->host = to;
    action->message = *message;
    action->message.envelope.term = TERM;
    if (message->kind == WIRE_SURVIVED)
        memcpy(action->moves, message->survived.moves.items,
               message->survived.moves.count * sizeof *action->moves);
}

struct action *world_send(struct world *world, uint32_t from, uint32_t to,
                          const struct wire_message *message)
{
    struct action *action;

    if (world->hosts[from].lost || world->hosts[to].lost)
        return NULL;
    action = timeline_plan(&world->time, delay_of(world, from, to));
    action->kind = DO_HEAR;
    fill(action, from, to, message);
    return action;
}

void world_tell_zero(struct world *world, uint32_t from, const struct wire_message *message)
{
    uint64_t delay = from == COORD_BSPRUN ? 1 + timeline_random(&world->time, DELAY_MOST)
                                          : delay_of(world, from, world->zero_at);
    struct action *action = timeline_plan(&world->time, delay);

    action->kind = DO_TELL_ZERO;
    fill(action, from, world->zero_at, message);
}

static bool is_cut(const struct world *world, const struct action *action)
{
    return action->from < HOSTS_MOST && world->hosts[action->from].lost &&
           action->moment.when > world->cut[action->from][action->host];
}

/* ---- Processor Zero ------------------------------------------------------------------------- */

/* Of a host that is lost, and of which Processor Zero does not know that yet, all had arrived. */
static void check_release(const struct world *world, const struct wire_message *message)
{
    survive_summary.released++;
    for (uint32_t pid = 0; pid < world->pids; pid++) {
        const struct process *process = &world->processes[pid];

        if (world->hosts[process->host].lost && coord_host_alive(world->zero, process->host))
            continue;
        if (!process->lives || !process->at_barrier ||
            process->superstep != message->envelope.superstep)
            timeline_fail(&world->time, "superstep %llu ends without process %u",
                          (unsigned long long)message->envelope.superstep, pid);
    }
}

static void note_committed(struct world *world, const struct wire_message *message)
{
    if (message->envelope.superstep == 0)
        return;
    survive_summary.snapshots++;
    for (uint32_t pid = 0; pid < world->pids; pid++)
        world->processes[pid].saved = world->processes[pid].captured;
}

static void note(struct world *world, const struct wire_message *message)
{
    if (message->kind == WIRE_RELEASE)
        check_release(world, message);
    if (message->kind == WIRE_COMMITTED)
        note_committed(world, message);
    survive_summary.abandoned += message->kind == WIRE_ABANDON;
    survive_summary.outlived += message->kind == WIRE_SURVIVED;
    if (message->kind == WIRE_SURVIVED)
        survive_summary.moved += message->survived.moves.count;
}

static void carry_out(struct world *world, const struct coord_effect *effect)
{
    const struct wire_message closed = {.kind = WIRE_CLOSED};
    char text[256];

    coord_effect_text(effect, text, sizeof text);
    timeline_note(&world->time, "  %s", text);
    if (effect->kind == COORD_EFFECT_FINISH)
        world->over = true;
    if (effect->kind == COORD_EFFECT_TELL && effect->message.kind == WIRE_CLOSING)
        world_tell_zero(world, COORD_BSPRUN, &closed);
    if (effect->kind != COORD_EFFECT_SEND)
        return;
    note(world, &effect->message);
    for (uint32_t h = 0; h < world->host_count; h++)
        if (coord_is_addressed(world->zero, h, effect->message.kind))
            world_send(world, world->zero_at, h, &effect->message);
}

static void tell(struct world *world, uint32_t from, const struct wire_message *message)
{
    struct coord_effects effects;
    char text[256];

    coord_message_text(from, message, text, sizeof text);
    timeline_note(&world->time, "%s", text);
    if (coord_step(world->zero, world->time.now + 1, from, message, &effects) != 0)
        timeline_fail(&world->time, "Processor Zero complains: %s", effects.complaint);
    for (uint32_t i = 0; i < effects.count; i++)
        carry_out(world, &effects.items[i]);
}

/* ---- The beginning -------------------------------------------------------------------------- */

#define SAY(from, name, ...)                                                                       \
    tell(world, from,                                                                              \
         &(struct wire_message){.kind = WIRE_##name, .envelope.term = TERM, __VA_ARGS__})

/* Processes are where they begin, snapshot 0 is committed and all run. */
static void begin(struct world *world)
{
    for (uint32_t h = 0; h < world->host_count; h++)
        SAY(h, HOST_READY, .host_ready = {.host = h, .slots = 2, .shared = true});
    SAY(0, REGISTERED, .registered = {.host = 0, .wanted = world->pids});
    SAY(0, IMAGE_DURABLE, .image_durable = {.host = 0});
    SAY(0, PERSISTED, .persisted = {.host = 0});
    for (uint32_t h = 0; h < world->host_count; h++) {
        uint32_t count = 0;

        for (uint32_t pid = 0; pid < world->pids; pid++)
            count += pid % world->host_count == h;
        SAY(h, KNOWN, .known = {.host = h});
        SAY(h, RANKS_READY, .ranks_ready = {.host = h, .count = count});
    }
    for (uint32_t h = 0; h < world->host_count; h++)
        SAY(h, BEARS, .bears = {.host = h, .bears = timeline_chance(&world->time, 97)});
    if (coord_phase(world->zero) != COORD_RUNNING)
        timeline_fail(&world->time, "the processes do not run");
    for (uint32_t i = 0; i < world->time.count; i++) /* that is behind them */
        ((struct action *)timeline_at(&world->time, i))->kind = DO_LOSE;
    while (world->time.count > 0)
        timeline_remove(&world->time, 0);
}

static void make_processes(struct world *world)
{
    for (uint32_t pid = 0; pid < world->pids; pid++) {
        struct process *process = &world->processes[pid];

        process->host = process->began = pid % world->host_count;
        process->lives = true;
        process->total = 5 + timeline_random(&world->time, 60);
        for (uint32_t h = 0; h < world->host_count; h++)
            world->hosts[h].home[pid] = process->host;
        struct action *call = timeline_plan(&world->time, 1 + timeline_random(&world->time, 20));
        call->kind = DO_CALL;
        call->pid = pid;
    }
}

static void plan_faults(struct world *world, const struct seeds_job *job)
{
    uint32_t losses = 1 + (uint32_t)timeline_random(&world->time, 3);
    uint32_t saves = (uint32_t)timeline_random(&world->time, 6);

    for (uint32_t i = 0; i < losses; i++) {
        uint64_t when = timeline_random(&world->time, 1200);
        uint32_t host =
            (world->zero_at + 1 + (uint32_t)timeline_random(&world->time, world->host_count - 1)) %
            world->host_count;
        struct action *loss = seeds_keeps_fault(job, i) ? timeline_plan(&world->time, when) : NULL;

        if (!loss)
            continue;
        loss->kind = DO_LOSE;
        loss->host = host;
    }
    for (uint32_t i = 0; i < saves; i++)
        ((struct action *)timeline_plan(&world->time, timeline_random(&world->time, 1000)))->kind =
            DO_SAVE;
}

static void make_world(struct world *world, const struct seeds_job *job)
{
    struct wire_host hosts[HOSTS_MOST] = {{0}};

    *world = (struct world){.zero = NULL};
    timeline_begin(&world->time, sizeof(struct action), job);
    world->host_count = 3 + (uint32_t)timeline_random(&world->time, HOSTS_MOST - 2);
    world->pids = world->host_count +
                  (uint32_t)timeline_random(&world->time, PIDS_MOST - world->host_count + 1);
    world->zero_at = (uint32_t)timeline_random(&world->time, world->host_count);
    for (uint32_t h = 0; h < world->host_count; h++) {
        hosts[h] = (struct wire_host){.host = h, .slots = 2, .name = ""};
        world->hosts[h].consult_from = COORD_NEVER;
    }
    const struct coord_config config = {.term = TERM,
                                        .own = world->zero_at,
                                        .host_count = world->host_count,
                                        .hosts = hosts,
                                        .by_node = true,
                                        .processes_max = PIDS_MOST,
                                        .abort_at = COORD_NEVER,
                                        .snapshots = true,
                                        .recover = true,
                                        .survives = true,
                                        .copies = 2,
                                        .rule = {.kind = POLICY_SUPERSTEPS, .every = 1000}};
    world->zero = coord_new(&config);
    if (!world->zero)
        timeline_fail(&world->time, "no Processor Zero");
    begin(world);
    make_processes(world);
    plan_faults(world, job);
    timeline_take_course(&world->time);
}

/* ---- What happens --------------------------------------------------------------------------- */

/* bsprun tells Processor Zero when it has noticed. */
static void lose(struct world *world, uint32_t h)
{
    struct host *host = &world->hosts[h];
    struct action *notice;

    if (host->lost)
        return;
    host->lost = true;
    survive_summary.lost++;
    timeline_note(&world->time, "host %u is lost", h);
    for (uint32_t to = 0; to < world->host_count; to++)
        world->cut[h][to] = world->time.now + timeline_random(&world->time, DELAY_MOST);
    for (uint32_t pid = 0; pid < world->pids; pid++)
        if (world->processes[pid].host == h)
            world->processes[pid].lives = world->processes[pid].at_barrier = false;
    notice = timeline_plan(&world->time, 1 + timeline_random(&world->time, 3 * DELAY_MOST));
    notice->kind = DO_NOTICE;
    notice->host = h;
}

static void happen(struct world *world, const struct action *action)
{
    switch (action->kind) {
    case DO_HEAR:
        if (!world->hosts[action->host].lost && !is_cut(world, action))
            hosts_hear(world, action->host, action);
        break;
    case DO_TELL_ZERO:
        if (!is_cut(world, action))
            tell(world, action->from, &action->message);
        break;
    case DO_CALL:
        hosts_call(world, action);
        break;
    case DO_START:
        hosts_start(world, action);
        break;
    case DO_MEET:
        if (!world->hosts[action->host].lost)
            hosts_met(world, action->host);
        break;
    case DO_LOOK:
        if (!world->hosts[action->host].lost && world->time.now < LOOKS_MOST)
            hosts_look(world, action->host);
        break;
    case DO_LOSE:
        lose(world, action->host);
        break;
    case DO_NOTICE:
        SAY(COORD_BSPRUN, LINK_LOST, .link_lost.peer = action->host);
        break;
    case DO_SAVE:
        SAY(COORD_BSPRUN, SAVE);
        break;
    }
}

static void check_end(const struct world *world)
{
    struct coord_outcome outcome = coord_outcome(world->zero);

    if (!world->over)
        timeline_fail(&world->time, "the job never ends, Processor Zero is %s",
                      coord_phase_name(coord_phase(world->zero)));
    if (outcome.again && outcome.cause == WIRE_CAUSE_HOST_LOST) {
        survive_summary.back++;
        return;
    }
    if (outcome.cause != WIRE_CAUSE_NONE && outcome.cause != WIRE_CAUSE_HOST_LOST)
        timeline_fail(&world->time, "the job ends by cause %d: %s", (int)outcome.cause,
                      outcome.text);
    survive_summary.ended++;
    for (uint32_t pid = 0; pid < world->pids && outcome.cause == WIRE_CAUSE_NONE; pid++)
        if (world->processes[pid].done != world->processes[pid].total)
            timeline_fail(&world->time, "process %u has not done its work", pid);
}

static void run(const struct seeds_job *job)
{
    struct world world;
    struct action action;

    make_world(&world, job);
    while (!world.over && timeline_next(&world.time, &action))
        happen(&world, &action);
    check_end(&world);
    coord_free(world.zero);
    timeline_end(&world.time);
}

static int report(uint64_t count)
{
    const uint64_t *seen = (const uint64_t *)&survive_summary;
    const struct survive_summary *all = &survive_summary;
    int missing = 0;

    printf(
        "%llu jobs: %llu ended well, %llu went back; %llu hosts lost, %llu outlived, %llu "
        "processes "
        "moved; %llu snapshots, %llu abandoned; %llu barriers decided, %llu arrivals taken back, "
        "%llu held up\n",
        (unsigned long long)count, (unsigned long long)all->ended, (unsigned long long)all->back,
        (unsigned long long)all->lost, (unsigned long long)all->outlived,
        (unsigned long long)all->moved, (unsigned long long)all->snapshots,
        (unsigned long long)all->abandoned, (unsigned long long)all->released,
        (unsigned long long)all->taken_back, (unsigned long long)all->held_up);
    for (size_t i = 0; i < sizeof survive_summary / sizeof *seen; i++)
        missing += seen[i] == 0;
    return seeds_verdict("survive", missing);
}

int main(int argc, char **argv)
{
    static const struct seeds_program program = {
        .name = "survive", .count = 1000, .run = run, .report = report};

    return seeds_main(&program, argc, argv);
}
