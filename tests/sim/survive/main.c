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
    uint32_t to = from == COORD_BSPRUN ? world->named : world->hosts[from].zero;
    struct action *action;

    if (from != COORD_BSPRUN && world->hosts[from].waits && message->kind != WIRE_ACCOUNT)
        return;
    if (world->hosts[to].lost)
        return;
    action = timeline_plan(&world->time, from == COORD_BSPRUN
                                             ? 1 + timeline_random(&world->time, DELAY_MOST)
                                             : delay_of(world, from, to));
    action->kind = DO_TELL_ZERO;
    fill(action, from, to, message);
}

static bool is_cut(const struct world *world, const struct action *action)
{
    return action->from < HOSTS_MOST && world->hosts[action->from].lost &&
           action->moment.when > world->cut[action->from][action->host];
}

/* bsprun ends the term by itself. */
static void go_back(struct world *world)
{
    timeline_note(&world->time, "all go back");
    world->over = world->back = true;
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
    uint64_t superstep = message->envelope.superstep;

    if (superstep >= STEPS_MOST)
        timeline_fail(&world->time, "too many supersteps");
    survive_summary.snapshots += superstep > 0 && !world->committed[superstep];
    world->committed[superstep] = true;
}

static void note_survived(struct world *world, const struct wire_message *message)
{
    const struct wire_survived *order = &message->survived;

    if (order->name.superstep >= STEPS_MOST || !world->committed[order->name.superstep])
        timeline_fail(&world->time, "processes go on from a snapshot that is none");
    survive_summary.outlived++;
    survive_summary.moved += order->moves.count;
}

static void note(struct world *world, const struct wire_message *message)
{
    if (message->kind == WIRE_RELEASE)
        check_release(world, message);
    if (message->kind == WIRE_COMMITTED)
        note_committed(world, message);
    survive_summary.abandoned += message->kind == WIRE_ABANDON;
    survive_summary.succeeded += message->kind == WIRE_TAKEN_OVER;
    if (message->kind == WIRE_SURVIVED)
        note_survived(world, message);
}

/* What Processor Zero says to bsprun. */
static void tell_bsprun(struct world *world, const struct wire_message *message)
{
    const struct wire_message closed = {.kind = WIRE_CLOSED};
    struct action *action;

    if (message->kind == WIRE_CLOSING) {
        world->closed = true;
        world_tell_zero(world, COORD_BSPRUN, &closed);
    } else if (message->kind == WIRE_BEARABLE) {
        world->bears[message->bearable.of] = message->bearable.bears;
    } else if (message->kind == WIRE_SAVED) {
        action = timeline_plan(&world->time, 1 + timeline_random(&world->time, DELAY_MOST));
        action->kind = DO_SAVED;
        fill(action, world->zero_at, 0, message);
    }
}

static void carry_out(struct world *world, const struct coord_effect *effect)
{
    char text[256];

    coord_effect_text(effect, text, sizeof text);
    timeline_note(&world->time, "  %s", text);
    if (effect->kind == COORD_EFFECT_FINISH)
        world->over = true;
    if (effect->kind == COORD_EFFECT_TELL)
        tell_bsprun(world, &effect->message);
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

    if (world->hosts[world->zero_at].lost || world->over)
        return;
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
        SAY(h, BEARS, .bears = {.host = h, .bears = world->hosts[h].bears});
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
        uint32_t host = (uint32_t)timeline_random(&world->time, world->host_count);
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

static void make_zero(struct world *world, uint32_t h, const struct coord_predecessor *predecessor)
{
    struct wire_host hosts[HOSTS_MOST] = {{0}};

    for (uint32_t i = 0; i < world->host_count; i++)
        hosts[i] = (struct wire_host){.host = i, .slots = 2, .name = ""};
    const struct coord_config config = {.term = TERM,
                                        .own = h,
                                        .host_count = world->host_count,
                                        .hosts = hosts,
                                        .by_node = true,
                                        .processes_max = PIDS_MOST,
                                        .abort_at = COORD_NEVER,
                                        .snapshots = true,
                                        .recover = true,
                                        .survives = true,
                                        .copies = 2,
                                        .rule = {.kind = POLICY_SUPERSTEPS, .every = 1000},
                                        .predecessor = *predecessor};
    coord_free(world->zero);
    world->zero_at = h;
    world->zero = coord_new(&config);
    if (!world->zero)
        timeline_fail(&world->time, "no Processor Zero");
}

static void make_world(struct world *world, const struct seeds_job *job)
{
    *world = (struct world){.zero = NULL};
    timeline_begin(&world->time, sizeof(struct action), job);
    world->host_count = 3 + (uint32_t)timeline_random(&world->time, HOSTS_MOST - 2);
    world->pids = world->host_count +
                  (uint32_t)timeline_random(&world->time, PIDS_MOST - world->host_count + 1);
    world->named = (uint32_t)timeline_random(&world->time, world->host_count);
    for (uint32_t h = 0; h < world->host_count; h++) {
        world->hosts[h].consult_from = world->hosts[h].next = COORD_NEVER;
        world->hosts[h].committed.term = TERM;
        world->hosts[h].zero = world->named;
        world->hosts[h].bears = timeline_chance(&world->time, 97);
    }
    make_zero(world, world->named, &(struct coord_predecessor){.committed = {0}});
    begin(world);
    world->saved.term = TERM; /* of superstep 0 */
    make_processes(world);
    plan_faults(world, job);
    timeline_take_course(&world->time);
}

/* ---- What happens --------------------------------------------------------------------------- */

void world_succeed(struct world *world, uint32_t h)
{
    uint64_t homes[PIDS_MOST];

    for (uint32_t pid = 0; pid < world->pids; pid++)
        homes[pid] = world->hosts[h].home[pid];
    make_zero(world, h, &(struct coord_predecessor){{homes, world->pids}, {NULL, 0}, world->saved});
    timeline_note(&world->time, "Processor Zero is on host %u now", h);
    for (uint32_t lost = 0; lost < world->host_count; lost++)
        if (world->noticed[lost])
            SAY(COORD_BSPRUN, LINK_LOST, .link_lost.peer = lost);
    if (world->wants_snapshot)
        SAY(COORD_BSPRUN, SAVE);
    for (uint32_t i = 0; i < world->early_count; i++) {
        survive_summary.early++;
        tell(world, world->early[i].from, &world->early[i].message);
    }
    world->early_count = 0;
}

static bool has_asked(const struct world *world)
{
    for (uint32_t h = 0; h < world->host_count; h++)
        if (world->asked[h])
            return true;
    return false;
}

/* The host of Processor Zero is lost: another one is named, if the term can go on. */
static void name_another(struct world *world, uint32_t former)
{
    uint32_t count = 0, names[HOSTS_MOST];

    for (uint32_t h = 0; h < world->host_count; h++)
        if (!world->noticed[h])
            names[count++] = h;
    if (!world->bears[former] || world->closed || has_asked(world) || count == 0) {
        go_back(world);
        return;
    }
    world->asked[former] = true;
    world->named = names[timeline_random(&world->time, count)];
    memset(world->bears, 0, sizeof world->bears);
    for (uint32_t i = 0; i < count; i++) {
        struct action *order =
            timeline_plan(&world->time, 1 + timeline_random(&world->time, DELAY_MOST));

        order->kind = DO_TAKE_OVER;
        order->from = world->named;
        order->host = names[i];
        memcpy(order->ends, world->noticed, sizeof world->noticed);
    }
}

static void notice(struct world *world, uint32_t h)
{
    struct wire_message lost = {.kind = WIRE_LINK_LOST, .envelope.term = TERM, .link_lost.peer = h};

    world->noticed[h] = true;
    if (h == world->named) {
        name_another(world, h);
        return;
    }
    world->asked[h] = world->bears[h];
    if (world->zero_at == world->named)
        tell(world, COORD_BSPRUN, &lost);
    else
        go_back(world); /* to be told, it would have to be there */
}

/* From an agent to Processor Zero, which may be gone, or not there yet. */
static void hear_at_zero(struct world *world, const struct action *action)
{
    uint32_t h = action->host;

    if (world->hosts[h].lost || is_cut(world, action))
        return;
    if (world->zero_at == h)
        tell(world, action->from, &action->message);
    else if (action->message.kind == WIRE_ACCOUNT)
        world->early[world->early_count++] = *action;
}

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
    world->cut_off[h] = world->time.now + timeline_random(&world->time, DELAY_MOST);
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
        hear_at_zero(world, action);
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
        notice(world, action->host);
        break;
    case DO_TAKE_OVER:
        if (!world->hosts[action->host].lost)
            hosts_take_over(world, action);
        break;
    case DO_SAVED:
        if (!world->hosts[action->from].lost ||
            action->moment.when <= world->cut_off[action->from]) {
            world->saved = (struct bspz_snapshot_name){action->message.saved.superstep, TERM};
            world->wants_snapshot = false;
        }
        break;
    case DO_SAVE:
        world->wants_snapshot = true;
        SAY(COORD_BSPRUN, SAVE);
        break;
    }
}

static void check_end(const struct world *world)
{
    struct coord_outcome outcome = coord_outcome(world->zero);

    if (world->back) {
        survive_summary.back++;
        return;
    }
    if (!world->over)
        timeline_fail(&world->time, "the job never ends, Processor Zero is %s",
                      coord_phase_name(coord_phase(world->zero)));
    if (outcome.again && outcome.cause == WIRE_CAUSE_HOST_LOST) {
        survive_summary.back++;
        survive_summary.refused +=
            outcome.text && strstr(outcome.text, "something was being decided") != NULL;
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
    const struct survive_summary *all = &survive_summary;

    printf(
        "%llu jobs: %llu ended well, %llu went back; %llu hosts lost, %llu outlived, %llu "
        "processes "
        "moved; %llu snapshots, %llu abandoned; %llu barriers decided, %llu arrivals taken back, "
        "%llu held up; %llu times another Processor Zero, refused %llu times, %llu accounts "
        "early\n",
        (unsigned long long)count, (unsigned long long)all->ended, (unsigned long long)all->back,
        (unsigned long long)all->lost, (unsigned long long)all->outlived,
        (unsigned long long)all->moved, (unsigned long long)all->snapshots,
        (unsigned long long)all->abandoned, (unsigned long long)all->released,
        (unsigned long long)all->taken_back, (unsigned long long)all->held_up,
        (unsigned long long)all->succeeded, (unsigned long long)all->refused,
        (unsigned long long)all->early);
    return seeds_verdict("survive", seeds_missing(&survive_summary, sizeof survive_summary));
}

int main(int argc, char **argv)
{
    static const struct seeds_program program = {
        .name = "survive", .count = 1000, .run = run, .report = report};

    return seeds_main(&program, argc, argv);
}
