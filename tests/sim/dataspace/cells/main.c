/* main.c - processes with replicas that put, get and read in a made-up world, driven by one seed:
 * messages take their time, links are full, pieces are small, some replicas are slow, requests are
 * withdrawn for a while as for a snapshot, hosts are lost as long as each process has a replica
 * (losses.c), a replica does something else than the others, a snapshot is taken, to which all go
 * back (saved.c).  In every fourth job snapshots are at calls, as the real Processor Zero decides
 * (zero.c, halts.c, barriers.c), whose host may be lost, too.
 *
 *   dataspace_cells [OPTIONS of seeds.h]
 *
 * Checked: every object that is returned was put, whole, under that tag; all replicas of a process
 * get the same; the operations on each tag, each of which ends when the first replica has returned
 * from it, have an order that explains them (zones.h); who still waits at the end has nothing to
 * wait for, and then, and only then, Processor Zero has found out (quiet.h); hosts do not complain
 * of each other; all go back only if as many hosts are lost as there are copies; other data are
 * found out, and nothing else is said to differ; answers that all have got are not kept.
 */
#include <stdio.h>
#include <string.h>

#include "tests/sim/dataspace/cells/world.h"

static struct {
    uint64_t messages, full, spilled, mismatches, unlike, behind, offers, turns, referred, passed,
        refused, given_up;
} summary;

/* ---- Hosts ----------------------------------------------------------------------------------- */

static void on_send(void *context, uint32_t to, const struct wire_message *message)
{
    struct host *host = context;
    struct world *world = host->world;
    uint64_t delay;
    struct wire_message *copy = host_send(host, to, message, &delay);
    struct action *action;

    summary.messages++;
    summary.offers += message->kind == WIRE_DATA_OFFER;
    summary.turns += message->kind == WIRE_DATA_TURN;
    summary.referred += message->kind == WIRE_DATA_REFER;
    if (message->kind == WIRE_DATA_PASS)
        *(message->data_pass.here ? &summary.passed : &summary.refused) += 1;
    summary.given_up += message->kind == WIRE_DATA_FETCH && !message->data_fetch.wants;
    action = timeline_plan(&world->time, delay);
    action->kind = DO_DELIVER;
    action->from = host->number;
    action->to = to;
    action->message = copy;
}

static bool on_has_room(void *context, uint32_t to)
{
    bool room = host_has_room(context, to);

    summary.full += !room;
    return room;
}

static uint64_t on_now(void *context)
{
    const struct host *host = context;

    return host->world->time.now;
}

static void on_answer(void *context, uint32_t pid, uint64_t size, uint32_t length)
{
    const struct host *host = context;

    acts_answered(host->world, host->number, pid, size, length);
}

static void on_withdrawn(void *context, uint32_t pid)
{
    const struct host *host = context;

    acts_withdrawn(host->world, host->number, pid);
}

static void on_part_lost(void *context)
{
    const struct host *host = context;

    losses_part_lost(host->world, host);
}

static void on_mismatch(void *context, const struct dataspace_mismatch *mismatch)
{
    const struct host *host = context;
    struct world *world = host->world;
    const struct fault *fault = &world->fault;

    note(world, "pid %u differs in call %llu on hosts %u and %u", mismatch->pid,
         (unsigned long long)mismatch->number, mismatch->hosts[0], mismatch->hosts[1]);
    if (!fault->done || mismatch->pid != fault->pid || mismatch->number <= fault->at ||
        (!fault->tag && mismatch->number != fault->at + 1) || mismatch->answered != !fault->tag ||
        mismatch->hosts[0] == mismatch->hosts[1])
        fail(world, "pid %u is said to differ in call %llu on hosts %u and %u", mismatch->pid,
             (unsigned long long)mismatch->number, mismatch->hosts[0], mismatch->hosts[1]);
    for (int i = 0; i < 2; i++)
        if (!world->processes[fault->pid].replicas[mismatch->hosts[i]].is)
            fail(world, "pid %u is said to be on host %u", fault->pid, mismatch->hosts[i]);
    summary.mismatches++;
    summary.unlike += fault->tag;
    world->over = true;
}

/* Its host is given up, or it catches up. */
static void on_too_far_behind(void *context, uint32_t pid, uint32_t of)
{
    struct host *host = context;
    struct world *world = host->world;
    struct action *action;

    note(world, "host %u says that pid %u is too far behind on host %u", host->number, pid, of);
    if (!world->processes[pid].replicas[of].is || host->knows[of] ||
        world->too_far[host->number][pid][of])
        fail(world, "pid %u is said to be too far behind on host %u", pid, of);
    world->too_far[host->number][pid][of] = true;
    summary.behind++;
    if (pick(world, 2) == 0)
        return;
    action = timeline_plan(&world->time, pick(world, 100));
    action->kind = DO_LOSE_HOST;
    action->from = of;
}

static const struct dataspace_calls calls = {.send = on_send,
                                             .has_room = on_has_room,
                                             .answer = on_answer,
                                             .withdrawn = on_withdrawn,
                                             .no_memory = host_no_memory,
                                             .broken = host_broken,
                                             .differs = host_differs,
                                             .part_lost = on_part_lost,
                                             .mismatch = on_mismatch,
                                             .too_far_behind = on_too_far_behind,
                                             .now_ms = on_now};

void hosts_go_on(struct world *world, struct host *host)
{
    struct action *action;

    if (host->lost || host->goes_on || !dataspace_go_on(host->space))
        return;
    host->goes_on = true;
    action = timeline_plan(&world->time, 5);
    action->kind = DO_GO_ON;
    action->from = host->number;
}

/* ---- The world ------------------------------------------------------------------------------- */

/* Which hosts are a cell, and which processes each cell has; some have none. */
static void make_cells(struct world *world)
{
    uint32_t cells, cell_of[HOSTS], lead[CELLS], count[CELLS] = {0};

    world->host_count = 1 + (uint32_t)pick(world, HOSTS);
    if (world->host_count > world->time.job.hosts)
        world->host_count = (uint32_t)world->time.job.hosts;
    cells = 1 + (uint32_t)pick(world, CELLS);
    if (cells > world->host_count)
        cells = world->host_count;
    if (world->host_count > cells * REPLICAS)
        world->host_count = cells * REPLICAS;
    for (uint32_t host = 0; host < world->host_count; host++) {
        uint32_t cell = host < cells ? host : (uint32_t)pick(world, cells);

        while (count[cell] == REPLICAS)
            cell = (cell + 1) % cells;
        cell_of[host] = cell;
        if (count[cell]++ == 0 || pick(world, 2) == 0)
            lead[cell] = host;
    }
    for (uint32_t host = 0; host < world->host_count; host++)
        world->leads[host] = lead[cell_of[host]];
    world->process_count = 1 + (uint32_t)pick(world, PROCESSES);
    for (uint32_t pid = 0; pid < world->process_count; pid++)
        world->processes[pid].lead = lead[pick(world, cells)];
}

/* No more than there are hosts with processes. */
static uint32_t pick_copies(struct world *world)
{
    uint32_t copies = 1 + (uint32_t)pick(world, COPIES), owners = 0;

    for (uint32_t host = 0; host < world->host_count; host++)
        for (uint32_t pid = 0; pid < world->process_count; pid++)
            if (world->processes[pid].lead == world->leads[host]) {
                owners++;
                break;
            }
    return copies < owners ? copies : owners;
}

void world_open_host(struct world *world, uint32_t number)
{
    uint32_t homes[PROCESSES];
    struct dataspace_setup setup = {.host = number,
                                    .nprocs = world->process_count,
                                    .homes = homes,
                                    .hosts = world->host_count,
                                    .leads = world->leads,
                                    .copies = world->copies,
                                    .log = world->log,
                                    .large = 60,
                                    .passed = world->passed,
                                    .cut_every = world->cut_every,
                                    .behind_most = 1};

    for (uint32_t pid = 0; pid < world->process_count; pid++)
        homes[pid] = world->processes[pid].lead;
    memset(world->too_far[number], 0, sizeof world->too_far[number]);
    host_open(&world->hosts[number], world, &world->time, setup, &calls, &summary.spilled);
    if (world->halts.on)
        halts_open_host(world, &world->hosts[number]);
}

void world_close_host(struct world *world, uint32_t number)
{
    if (world->halts.on)
        halts_close_host(world, number);
    host_close(&world->hosts[number]);
}

static void make_world(struct world *world, const struct seeds_job *job)
{
    memset(world, 0, sizeof *world);
    timeline_begin(&world->time, sizeof(struct action), job);
    world->halts.on = pick(world, 4) == 0;
    if (world->halts.on)
        zero_begin(world);
    else
        make_cells(world);
    world->copies = pick_copies(world);
    world->cut_every = 1 + (uint32_t)pick(world, 4);
    world->log = pick(world, 3) == 0 ? UINT64_MAX : pick(world, 800);
    world->passed = pick(world, 2) == 0 ? 1 : 60;
    acts_begin(world);
    losses_begin(world);
    saved_begin(world);
    timeline_take_course(&world->time);
    for (uint32_t i = 0; i < world->host_count; i++)
        world_open_host(world, i);
}

/* For processes that wait for ever, at whose end nothing else happens. */
static bool is_of_search(const struct action *action)
{
    return (action->kind == DO_TO_ZERO && action->message->kind == WIRE_QUIET) ||
           (action->kind == DO_TO_HOST && action->message->kind == WIRE_ASK_QUIET);
}

static void carry_out(struct world *world, const struct action *action)
{
    struct host *to = &world->hosts[action->to];

    if (action->kind < DO_LOOK && !is_of_search(action))
        world->looks = 0;
    switch (action->kind) {
    case DO_ACT:
    case DO_WITHDRAW:
        acts_carry_out(world, action);
        break;
    case DO_DELIVER:
        world->hosts[action->from].queued[action->to]--;
        if (losses_let_pass(world, action)) {
            if (world->halts.on)
                halts_begun(world, action->to);
            dataspace_message(to->space, action->from, action->message);
            hosts_go_on(world, to);
            saved_look(world, to);
        }
        host_drop(action->message);
        break;
    case DO_GO_ON:
        world->hosts[action->from].goes_on = false;
        hosts_go_on(world, &world->hosts[action->from]);
        break;
    case DO_ARRIVE:
    case DO_RELEASE:
    case DO_CAPTURED:
    case DO_RESUME:
    case DO_CALL_OFF:
    case DO_GO_BACK:
    case DO_PUT_BACK:
        saved_carry_out(world, action);
        break;
    case DO_TO_ZERO:
    case DO_TIMER:
    case DO_SAVE:
    case DO_CLOSED:
    case DO_HALT_LIMIT:
        zero_carry_out(world, action);
        break;
    case DO_TO_HOST:
    case DO_TAKE_OVER:
    case DO_MEET:
    case DO_LEAVE:
    case DO_IMAGE:
        halts_carry_out(world, action);
        break;
    default:
        losses_carry_out(world, action);
        break;
    }
}

void world_drop_plan(struct world *world)
{
    struct action action;

    while (timeline_next(&world->time, &action))
        if (action.message)
            host_drop(action.message);
}

/* What all have got is not kept but for the last few answers. */
static void check_logs(struct world *world)
{
    uint32_t pid;

    for (uint32_t i = 0; i < world->host_count && world->lost == 0 && !world->fault.done; i++)
        if (dataspace_logged(world->hosts[i].space, &pid) >
            (uint64_t)world->process_count * (world->cut_every + 1) * (64 + SIZE_MOST))
            fail(world, "host %u keeps %llu bytes of answers", i,
                 (unsigned long long)dataspace_logged(world->hosts[i].space, &pid));
}

static void run(const struct seeds_job *job)
{
    static struct world world;
    struct action action;

    make_world(&world, job);
    while (!world.over && timeline_next(&world.time, &action))
        carry_out(&world, &action);
    acts_check_end(&world);
    if (!world.over) {
        /* Processor Zero says nothing of losses any more when none can go on. */
        if (!world.halts.on || !world.stuck || world.lost == 0)
            hosts_check_traffic(world.hosts, world.host_count, "at the end");
        check_logs(&world);
    }
    world_drop_plan(&world); /* what all that went back had on its way */
    for (uint32_t i = 0; i < world.host_count; i++)
        world_close_host(&world, i);
    zero_end(&world);
    losses_end(&world);
    timeline_end(&world.time);
}

static int report(uint64_t count)
{
    printf(
        "%llu jobs: %llu messages, %llu times no room, %llu objects in files, %llu replicas were "
        "found to differ, %llu of them in what they call, %llu to be too far behind, %llu puts "
        "offered, %llu turns taken, %llu replicas referred to others, which passed %llu pieces on, "
        "%llu times had none, and were not waited for %llu times\n",
        (unsigned long long)count, (unsigned long long)summary.messages,
        (unsigned long long)summary.full, (unsigned long long)summary.spilled,
        (unsigned long long)summary.mismatches, (unsigned long long)summary.unlike,
        (unsigned long long)summary.behind, (unsigned long long)summary.offers,
        (unsigned long long)summary.turns, (unsigned long long)summary.referred,
        (unsigned long long)summary.passed, (unsigned long long)summary.refused,
        (unsigned long long)summary.given_up);
    return seeds_verdict("dataspace_cells", seeds_missing(&summary, sizeof summary) +
                                                acts_report() + losses_report() + saved_report() +
                                                zero_report() + barriers_report() + halts_report());
}

static const struct seeds_fixed fixed[] = {
    {301, "a barrier at calls was passed without Processor Zero"},
    {164, "another Processor Zero did not tell of a decision about a barrier at calls"},
    {1003, "a loss after the end was not told"},
    {833, "the search for processes that wait stayed open after a snapshot"},
    {2748, "HALT was said after a timer was set"},
    {13245, "only a host without processes had heard of a barrier at calls"},
    {1795734449547333131, "that all go on took the place of the last stop, which a host lacked"},
    {1795734093116945010,
     "the only host left had heard that a barrier was decided, not where they stop"},
    {1795798579295828793,
     "replicas stop elsewhere than one that is lost, of which nobody had heard"},
};

int main(int argc, char **argv)
{
    static const struct seeds_program program = {.name = "dataspace_cells",
                                                 .count = 1000,
                                                 .fixed = fixed,
                                                 .fixed_count = sizeof fixed / sizeof *fixed,
                                                 .run = run,
                                                 .report = report};

    return seeds_main(&program, argc, argv);
}
