/* hosts.c - made-up agents: what they do with Processor Zero's messages, and their processes. */
#include "tests/sim/recovery/made_up.h"

#include <string.h>

#define FIRST_VALUE 7u

uint32_t host_index(const struct world *world, uint32_t id)
{
    uint32_t i = 0;
    while (i < world->host_count && world->agents[i].id != id)
        i++;
    return i;
}

/* ---- Life --------------------------------------------------------------------------------- */

struct action *agent_plan(struct world *world, enum action_kind kind, uint32_t host, uint64_t most)
{
    struct action *action = plan(world, kind, 1 + random_below(world, most));
    action->host = host;
    action->life = world->agents[host].life;
    action->term = world->agents[host].term;
    return action;
}

void kill_ranks(struct world *world, uint32_t host, bool copies_too)
{
    for (uint32_t pid = 0; pid < RANKS; pid++) {
        struct rank *rank = &world->agents[host].ranks[pid];
        rank->alive = rank->runs = false;
        for (int i = 0; i < 2 && copies_too; i++)
            rank->copy[i] = (struct bspz_snapshot_name){0};
    }
}

/* With replicas. */
static void count_loss(struct world *world, const struct agent *agent)
{
    const struct zero *zero = &world->zeros[agent->term];
    world->lost_passing += cells_any(world) && agent->term > 0 && zero->shell && !zero->gone &&
                           coord_phase(coord_shell_state(zero->shell)) == COORD_PASSING;
}

void agent_ends(struct world *world, uint32_t host)
{
    if (!world->agents[host].up)
        return;
    count_loss(world, &world->agents[host]);
    disk_agent_ends(world, host);
    kill_ranks(world, host, true);
    world->agents[host].up = false;
    for (uint32_t term = 1; term < TERMS; term++)
        if (world->zeros[term].shell && world->zeros[term].host == host)
            world->zeros[term].gone = true;
}

void agent_start(struct world *world, uint32_t host)
{
    struct agent *agent = &world->agents[host];
    struct job_event event = {.kind = JOB_EVENT_AGENT_UP};
    if (world->over)
        return;
    /* An agent that is cut off may live: there is no way to that host. */
    if (agent->gone || agent->cut_off || world->time.now < agent->down_until) {
        event = (struct job_event){.kind = JOB_EVENT_AGENT_LOST, .host = agent->id};
        struct action *action = plan(world, DO_JOB_EVENT, 1 + random_below(world, 30));
        action->event = event;
        action->number = world->machine_life;
        return;
    }
    if (agent->up)
        return;
    *agent = (struct agent){.id = agent->id, .slots = agent->slots, .life = agent->life + 1};
    agent->up = true;
    tell_bsprun(world, host, event);
    event.kind = JOB_EVENT_REGISTERED;
    const struct agent *first = &world->agents[world->registrar];
    if (host >= world->host_count - world->spares && !world->opened[host] &&
        job_machine_term(world->machine) == 0 && (!first->up || first->cut_off))
        world->registrar = host; /* the program begins on the spare */
    if (world->runs == 1 && host == world->registrar) {
        job_move(&agent->job, JOB_REGISTERED);
        tell_bsprun(world, host, event);
    }
}

void agent_rewind(struct world *world, uint32_t host)
{
    struct agent *agent = &world->agents[host];
    if (agent->job == JOB_REWINDING || !job_may_move(agent->job, JOB_REWINDING))
        return;
    job_move(&agent->job, JOB_REWINDING);
    kill_ranks(world, host, false);
}

void agent_elect(struct world *world, const struct action *action)
{
    uint32_t host = action->host;
    struct agent *agent = &world->agents[host];
    if (!agent->up || action->life != agent->life || action->term <= agent->term)
        return;
    if (action->term > 1 || world->runs > 1) {
        agent_rewind(world, host);
        if (agent->job != JOB_REWINDING)
            return;
        job_move(&agent->job, JOB_RESTORING);
    }
    if (agent->term > 0 && world->zeros[agent->term].host == host)
        world->zeros[agent->term].gone = true;
    /* What was being written is now there, or will never be. */
    disk_agent_ends(world, host);
    agent->term = action->term;
    agent->let_out = agent->waiting = agent->asked = false;
    making_move(&agent->making, MAKING_NONE);
    agent->count = 0;
    memset(agent->mine, 0, sizeof(agent->mine));
    cells_elect(agent);
    agent_plan(world, DO_READY, host, 20);
}

static void ready(struct world *world, uint32_t host)
{
    struct agent *agent = &world->agents[host];
    bool fresh = agent->term == 1 && world->runs == 1;
    for (uint32_t i = 0; i < world->snap_count && !fresh; i++)
        if (world->snaps[i].name.term < agent->term && disk_has_any(world, host, &world->snaps[i]))
            disk_report(world, host, &world->snaps[i]);
    struct wire_message message = {.kind = WIRE_HOST_READY};
    message.host_ready.slots = agent->slots;
    message.host_ready.shared = world->shared;
    message.host_ready.available = memory_left(world, host);
    world->zeros[agent->term].left[host] = message.host_ready.available;
    send_to_zero(world, host, &message);
    if (!fresh || host != world->registrar)
        return;
    message = (struct wire_message){.kind = WIRE_REGISTERED};
    message.registered.wanted = world->wanted;
    send_to_zero(world, host, &message);
}

/* ---- Barriers ----------------------------------------------------------------------------- */

static void compute(struct world *world, uint32_t host)
{
    struct agent *agent = &world->agents[host];
    for (uint32_t pid = 0; pid < world->processes; pid++)
        if (agent->mine[pid] && agent->ranks[pid].alive) {
            agent->ranks[pid].runs = true;
            agent_plan(world, DO_ARRIVE, host,
                       world->time.now < agent->slow_until ? 400
                       : chance(world, 5)                  ? 60
                                                           : 8)
                ->number = pid;
        }
}

void agent_leave(struct world *world, uint32_t host)
{
    struct agent *agent = &world->agents[host];
    agent->waiting = false;
    for (uint32_t pid = 0; pid < world->processes; pid++) {
        struct rank *rank = &agent->ranks[pid];
        if (!agent->mine[pid] || !rank->alive)
            continue;
        rank->arrived = false;
        rank->value = rank->next;
        rank->superstep++;
    }
    compute(world, host);
}

/* Some hosts are slow for a while; one in eight answers has no measurements. */
static struct wire_measure_list measure(struct world *world, uint32_t host,
                                        struct wire_measure *measures)
{
    struct agent *agent = &world->agents[host];
    uint64_t ran = world->time.now * UINT64_C(1000000000000),
             waited = host % 3 == world->time.now / 1000 % 5;
    uint32_t count = 0;
    if (apart(world, 8) == 0)
        return (struct wire_measure_list){NULL, 0};
    for (uint32_t pid = 0; pid < world->processes; pid++)
        if (agent->mine[pid])
            measures[count++] = (struct wire_measure){.pid = pid,
                                                      .compute_ns = ran,
                                                      .work_ns = ran,
                                                      .ran_ns = ran,
                                                      .waited_ns = 4 * waited * ran,
                                                      .bytes = 1 << 20,
                                                      .bound = apart(world, 8) == 0};
    return (struct wire_measure_list){measures, count};
}

static void arrive(struct world *world, uint32_t host, uint32_t number)
{
    struct agent *agent = &world->agents[host];
    struct rank *rank = &agent->ranks[number];
    if (!rank->alive || agent->job != JOB_RUNNING)
        return;
    rank->arrived = true;
    for (uint32_t pid = 0; pid < world->processes; pid++)
        if (agent->mine[pid] && (!agent->ranks[pid].alive || !agent->ranks[pid].arrived))
            return;
    if (cells_any(world)) {
        agent->waiting = true;
        cells_arrived(world, host);
        return;
    }
    bool end = rank->superstep == world->supersteps;
    bool alone = world->zeros[agent->term].members == 1;
    if (alone && !end && rank->superstep < agent->consult && !agent->asked) {
        check_leave(world, agent->term, rank->superstep);
        agent_leave(world, host);
        return;
    }
    struct wire_message message = {.kind = WIRE_ARRIVE, .envelope = {.superstep = rank->superstep}};
    message.arrive.available = memory_left(world, host);
    message.arrive.barrier = end ? WIRE_BARRIER_END : WIRE_BARRIER_SYNC;
    struct wire_measure measures[RANKS];
    if (!end && world->balance)
        message.arrive.measures = measure(world, host, measures);
    if (message.arrive.measures.count > 0) {
        const struct wire_measure *first = message.arrive.measures.items;
        message.arrive.busy_ns = first->ran_ns + first->waited_ns;
        message.arrive.busy_steps = rank->superstep;
    }
    agent->waiting = true;
    send_to_zero(world, host, &message);
}

void agent_send_failure(struct world *world, uint32_t host, uint32_t pid,
                        struct bspz_snapshot_name name, enum wire_cause cause)
{
    struct wire_message message = {.kind = WIRE_IMAGE_FAILED,
                                   .envelope = {.superstep = name.superstep}};
    message.image_failed.pid = pid;
    message.image_failed.cause = cause;
    message.image_failed.text = "it is so";
    send_to_zero(world, host, &message);
}

void agent_capture(struct world *world, uint32_t host, uint64_t superstep)
{
    struct agent *agent = &world->agents[host];
    struct bspz_snapshot_name name = {superstep + 1, agent->term};
    struct snap *snap = snap_find(world, name, true);
    step_is_done(world, STEP_CAPTURE);
    for (uint32_t pid = 0; pid < world->processes; pid++) {
        struct rank *rank = &agent->ranks[pid];
        if (!agent->mine[pid] || !rank->alive)
            continue;
        if (world->refuse) {
            world->refuse = false;
            world->was_refused = true;
            agent_send_failure(world, host, pid, name, WIRE_CAUSE_REFUSED);
            continue;
        }
        snap->value[pid] = rank->next;
        struct action *action = agent_plan(world, DO_IMAGE, host, chance(world, 20) ? 150 : 20);
        action->number = pid;
        action->name = name;
        int slot = bspz_snapshot_same(rank->copy[0], agent->known) ? 1 : 0;
        if (world->copies_kept && chance(world, 90)) {
            rank->copy[slot] = name;
            rank->copy_values[slot] = rank->next;
        }
    }
    struct action *action = agent_plan(world, DO_CAPTURED, host, 20);
    action->name = name;
}

static void release(struct world *world, uint32_t host, const struct wire_message *message)
{
    struct agent *agent = &world->agents[host];
    agent->consult = message->release.consult;
    agent->asked = false;
    if (!agent->waiting)
        return;
    if (message->release.decision == WIRE_DECISION_GO)
        agent_leave(world, host);
    else if (message->release.decision == WIRE_DECISION_SNAPSHOT)
        agent_capture(world, host, message->envelope.superstep);
    if (message->release.decision == WIRE_DECISION_END)
        agent_let_out(world, host);
}

void agent_let_out(struct world *world, uint32_t host)
{
    struct agent *agent = &world->agents[host];
    world->past_end = agent->let_out = true;
    if (agent->job == JOB_RUNNING)
        job_move(&agent->job, JOB_ENDING);
    for (uint32_t pid = 0; pid < world->processes; pid++)
        if (agent->mine[pid] && agent->ranks[pid].alive) {
            agent_plan(world, DO_LEAVE, host, 30)->number = pid;
        }
}

/* ---- Messages of Processor Zero ----------------------------------------------------------- */

static void place(struct world *world, uint32_t host, const struct wire_message *message)
{
    const struct wire_place *place = &message->place;
    struct agent *agent = &world->agents[host];
    if (!job_may_move(agent->job, JOB_FORMING))
        return;
    job_move(&agent->job, JOB_FORMING);
    world->processes = place->processes;
    cells_take(world, host, message);
    for (uint32_t pid = 0; pid < place->processes; pid++) {
        agent->count += agent->mine[pid];
        if (agent->mine[pid])
            agent->ranks[pid] = (struct rank){.alive = true, .value = FIRST_VALUE};
    }
    /* Processes of other hosts are made of snapshot 0, once it is committed. */
    bool first = agent->mine[0] && (!cells_any(world) || host == world->registrar);
    if (first || agent->count == 0 || !place->snapshot)
        agent_plan(world, DO_RANKS_READY, host, 20);
    if (!first || !place->snapshot)
        return;
    struct action *action = agent_plan(world, DO_IMAGE, host, 60);
    action->name = (struct bspz_snapshot_name){0, agent->term};
    struct snap *snap = snap_find(world, action->name, true);
    for (uint32_t pid = 0; pid < place->processes; pid++)
        snap->value[pid] = FIRST_VALUE;
}

static bool listed(struct wire_numbers list, uint64_t number)
{
    for (uint32_t i = 0; i < list.count; i++)
        if (list.items[i] == number)
            return true;
    return false;
}

static bool can_be_asked(const struct world *world, uint32_t host, uint32_t other)
{
    const struct agent *agent = &world->agents[other];
    return other == host || (agent->up && !agent->cut_off && !world->agents[host].cut_off &&
                             hears(world, host, other) && hears(world, other, host));
}

/* Whoever does not answer is lost, with which the term is over: the image is waited for until then.
 */
static bool bring_image(struct world *world, uint32_t host, struct snap *snap, uint32_t pid)
{
    if (snap->images[pid] == 0) {
        if (!world->zeros[world->agents[host].term].shaken)
            fail(world, "process %u has no image", pid);
        agent_send_failure(world, host, pid, snap->name, WIRE_CAUSE_NOT_RESTORED);
        return false;
    }
    if (snap->images[pid] & disk_bit(world, host))
        return true;
    for (uint32_t i = 0; i < world->host_count; i++)
        if ((snap->images[pid] & disk_bit(world, i)) && can_be_asked(world, host, i)) {
            disk_fetched(world, host, snap, pid);
            return true;
        }
    return false;
}

static void restore(struct world *world, uint32_t host, const struct wire_message *message)
{
    struct agent *agent = &world->agents[host];
    const struct wire_restore *order = &message->restore;
    agent->from = (struct bspz_snapshot_name){message->envelope.superstep, order->from};
    agent->known = agent->from;
    struct snap *snap = snap_find(world, agent->from, false);
    if (!snap)
        fail(world, "a snapshot that never was is restored");
    world->processes = order->processes;
    making_move(&agent->making, MAKING_STAGING);
    cells_take(world, host, message);
    for (uint32_t pid = 0; pid < order->processes; pid++) {
        struct rank *rank = &agent->ranks[pid];
        if (!agent->mine[pid])
            continue;
        agent->count++;
        uint64_t value = snap->value[pid];
        if (listed(order->copy, pid)) {
            int slot = bspz_snapshot_same(rank->copy[1], agent->from);
            if (!bspz_snapshot_same(rank->copy[slot], agent->from))
                fail(world, "process %u has no copy on host %u", pid, agent->id);
            value = rank->copy_values[slot];
            world->thawed++;
        } else if (snap->damaged) {
            agent_send_failure(world, host, pid, agent->from, WIRE_CAUSE_NOT_RESTORED);
            return;
        } else {
            if (!bring_image(world, host, snap, pid))
                return;
            world->restored++;
        }
        struct rank restored = {.alive = true, .value = value, .superstep = agent->from.superstep};
        memcpy(restored.copy, rank->copy, sizeof(rank->copy));
        memcpy(restored.copy_values, rank->copy_values, sizeof(rank->copy_values));
        *rank = restored;
    }
    agent_plan(world, DO_STAGED, host, 40);
}

static void check_all_staged(struct world *world, uint32_t term)
{
    for (uint32_t i = 0; i < world->host_count; i++) {
        const struct agent *agent = &world->agents[i];
        if (agent->up && agent->term == term && agent->job == JOB_RESTORING &&
            agent->making != MAKING_STAGED)
            fail(world, "processes pass while host %u has not staged its own", agent->id);
    }
}

/* Whatever snapshot it is of, this host knows that it is committed, and has not heard of another.
 */
static void restore_ahead(struct world *world, uint32_t host, const struct wire_message *message)
{
    struct bspz_snapshot_name name = {message->envelope.superstep, message->ahead.from};
    uint32_t count = ahead_count(world, host, message);
    if (!bspz_snapshot_same(world->agents[host].known, name))
        fail(world, "host %u is to restore ahead what it does not know", world->agents[host].id);
    if (count == 0)
        return;
    struct action *action = agent_plan(world, DO_AHEAD, host, chance(world, 20) ? 600 : 60);
    action->name = name;
    action->number = random_below(world, count + 1);
}

static void obey(struct world *world, uint32_t host, const struct wire_message *message)
{
    struct agent *agent = &world->agents[host];
    uint64_t superstep = message->envelope.superstep;
    struct wire_message answer = {.kind = WIRE_KNOWN, .envelope = {.superstep = superstep}};
    struct bspz_snapshot_name before = agent->known;
    if (cells_any(world) && cells_obey(world, host, message))
        return;
    switch (message->kind) {
    case WIRE_PLACE:
        place(world, host, message);
        break;
    case WIRE_RESTORE:
        restore(world, host, message);
        break;
    case WIRE_PASS:
        check_all_staged(world, agent->term);
        agent_plan(world, DO_RANKS_READY, host, 20);
        disk_spread_again(world, host);
        break;
    case WIRE_RUN:
        if (!job_may_move(agent->job, JOB_RUNNING))
            break;
        job_move(&agent->job, JOB_RUNNING);
        agent->consult = message->run.consult;
        compute(world, host);
        break;
    case WIRE_RELEASE:
        release(world, host, message);
        break;
    case WIRE_RESUME:
        agent->consult = message->resume.consult;
        agent->asked = false;
        if (agent->waiting)
            agent_leave(world, host);
        break;
    case WIRE_CONSULT:
        agent->asked = true;
        break;
    case WIRE_PERSIST:
        agent_plan(world, DO_MANIFEST, host, 30)->name =
            (struct bspz_snapshot_name){superstep, agent->term};
        step_is_done(world, STEP_PERSIST);
        break;
    case WIRE_COMMITTED:
        agent->known = (struct bspz_snapshot_name){superstep, message->committed.from};
        send_to_zero(world, host, &answer);
        step_is_done(world, STEP_KNOWN);
        if (agent->job == JOB_FORMING && agent->count > 0 &&
            !bspz_snapshot_same(before, agent->known) &&
            (!agent->mine[0] || (cells_any(world) && host != world->registrar)))
            agent_plan(world, DO_RANKS_READY, host, 20);
        break;
    case WIRE_AHEAD:
        restore_ahead(world, host, message);
        break;
    case WIRE_RETIRE:
        disk_retire(world, host, (struct bspz_snapshot_name){superstep, message->retire.from});
        step_is_done(world, STEP_RETIRED);
        break;
    case WIRE_ABANDON:
        disk_abandon(world, host, (struct bspz_snapshot_name){superstep, agent->term});
        break;
    case WIRE_STOP_RANKS:
        if (message->stop_ranks.again) {
            agent_rewind(world, host);
        } else if (!job_is_stopping(agent->job)) {
            job_move(&agent->job, JOB_STOPPING);
            agent_plan(world, DO_STOPPED, host, 40);
        }
        break;
    case WIRE_END:
        break;
    default:
        fail(world, "Processor Zero sends %s to an agent", wire_kind_name(message->kind));
    }
}

void agent_frame(struct world *world, struct action *action)
{
    struct agent *agent = &world->agents[action->host];
    struct wire_message message;
    if (!agent->up || agent->life != action->life || agent->term != action->term ||
        agent->replicated.era != action->era)
        return;
    if (wire_decode(action->frame.data + WIRE_HEADER, action->frame.size - WIRE_HEADER, &message,
                    NULL, 0) < 0)
        fail(world, "Processor Zero sends what cannot be read");
    obey(world, action->host, &message);
    wire_message_free(&message);
}

/* ---- What happens by itself --------------------------------------------------------------- */

static void rank_leaves(struct world *world, uint32_t host, uint32_t pid)
{
    struct wire_message message = {.kind = WIRE_RANK_EXITED};
    struct rank *rank = &world->agents[host].ranks[pid];
    if (!rank->alive)
        return;
    rank->alive = rank->runs = false;
    message.rank_exited.pid = pid;
    message.rank_exited.status = pid == 0 ? (uint32_t)world->status : 0;
    send_to_zero(world, host, &message);
}

void agent_act(struct world *world, struct action *action)
{
    uint32_t host = action->host;
    struct agent *agent = &world->agents[host];
    struct wire_message message = {0};
    if (!agent->up || agent->life != action->life)
        return;
    if (action->kind == DO_ORPHANED || action->kind == DO_ISOLATED) {
        agent_ends(world, host);
        return;
    }
    if (action->kind == DO_DISMISSED) {
        agent_ends(world, host);
        tell_bsprun(world, host, (struct job_event){.kind = JOB_EVENT_AGENT_LOST});
        return;
    }
    if (agent->term != action->term)
        return;
    switch (action->kind) {
    case DO_READY:
        ready(world, host);
        break;
    case DO_ARRIVE:
        arrive(world, host, action->number);
        break;
    case DO_LEAVE:
        rank_leaves(world, host, action->number);
        break;
    case DO_IMAGE:
        disk_image(world, action);
        break;
    case DO_MANIFEST:
        disk_manifest(world, action);
        break;
    case DO_COPY:
        disk_copy(world, action);
        break;
    case DO_STAGED:
        if (agent->job != JOB_RESTORING)
            break;
        making_move(&agent->making, MAKING_STAGED);
        message.kind = WIRE_STAGED;
        message.staged.count = agent->count;
        send_to_zero(world, host, &message);
        break;
    case DO_RANKS_READY:
        if (agent->job != JOB_FORMING && agent->job != JOB_RESTORING)
            break;
        agent->replicated.made = true;
        message.kind = WIRE_RANKS_READY;
        message.ranks_ready.count = agent->count;
        send_to_zero(world, host, &message);
        break;
    case DO_DATA:
        cells_data(world, action);
        break;
    case DO_LOOK:
        cells_look(world, action);
        break;
    case DO_TAKE_OVER:
        cells_taken_over(world, action);
        break;
    case DO_AHEAD:
        message.kind = WIRE_AHEAD_READY;
        message.ahead_ready.name = action->name;
        message.ahead_ready.count = action->number;
        send_to_zero(world, host, &message);
        break;
    case DO_CAPTURED:
        agent->replicated.recorded = true;
        message.kind = WIRE_CAPTURED;
        message.envelope.superstep = action->name.superstep - 1;
        message.captured.pause_ns = 1000000 + random_below(world, 20000000);
        send_to_zero(world, host, &message);
        step_is_done(world, STEP_CAPTURED);
        break;
    default: /* DO_STOPPED */
        job_move(&agent->job, JOB_OVER);
        kill_ranks(world, host, true);
        message.kind = WIRE_RANKS_STOPPED;
        send_to_zero(world, host, &message);
        break;
    }
}
