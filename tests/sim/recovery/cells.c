/* cells.c - processes with replicas on several hosts in the made-up world: what their agents do
 * beside what hosts.c has, and what must hold of it.
 *
 * A host passes a barrier that Processor Zero has decided, when its processes have come to it and
 * those of one host of each other cell have; as it did in the simulator of cells (tests/sim/cells),
 * which this one has with snapshots that count and terms that follow each other.
 *
 * What must hold:
 *   - every replica of a process consumes the same: its value is that of the term after each
 *     superstep
 *   - the images of a snapshot are of one execution (check_images)
 *   - replicas of a process run on different hosts, of one term
 *   - a term in which each process has a living replica is not over, unless it is to move: neither
 *     for hosts that are lost, Processor Zero's included, from the moment that bsprun knows that
 *     all have snapshot 0, nor for processes that are killed while they run
 */
#include "tests/sim/recovery/made_up.h"

#include <string.h>

bool cells_any(const struct world *world)
{
    return world->replicas > 1;
}

void cells_elect(struct agent *agent)
{
    agent->replicated = (struct replicated){.next = COORD_NEVER};
}

/* ---- Who has what ------------------------------------------------------------------------- */

uint64_t cells_lead(struct wire_numbers leads, uint64_t id)
{
    for (uint32_t i = 0; i + 1 < leads.count; i += 2)
        if (leads.items[i] == id)
            return leads.items[i + 1];
    return id;
}

void cells_take(struct world *world, uint32_t host, const struct wire_message *order)
{
    struct agent *agent = &world->agents[host];
    bool restore = order->kind == WIRE_RESTORE;
    struct wire_numbers homes = restore ? order->restore.host_of : order->place.host_of;
    struct wire_numbers leads = restore ? order->restore.leads : order->place.leads;
    uint64_t lead = cells_lead(leads, agent->id);
    for (uint32_t pid = 0; pid < homes.count; pid++)
        agent->mine[pid] = homes.items[pid] == lead;
    agent->replicated.placed = leads.count > 0; /* as agents tell */
}

static void note_homes(struct zero *zero, struct wire_numbers homes, struct wire_numbers leads)
{
    const struct world *world = zero->world;
    memcpy(zero->homes, homes.items, homes.count * sizeof(*zero->homes));
    for (uint32_t i = 0; i < world->host_count; i++)
        zero->lead[i] = cells_lead(leads, world->agents[i].id);
}

/* Of hosts with processes. */
static bool has_processes(const struct world *world, const struct zero *zero, uint32_t host)
{
    for (uint32_t pid = 0; pid < world->processes; pid++)
        if (zero->homes[pid] == zero->lead[host])
            return (zero->member_bits >> host & 1) != 0;
    return false;
}

/* ---- What it says ------------------------------------------------------------------------- */

static void say_arrived(struct world *world, uint32_t host, uint64_t superstep)
{
    struct wire_message message = {.kind = WIRE_ARRIVE, .envelope = {.superstep = superstep}};
    message.arrive.available = WIRE_NEVER;
    message.arrive.barrier = superstep == world->supersteps ? WIRE_BARRIER_END : WIRE_BARRIER_SYNC;
    send_to_zero(world, host, &message);
}

static void say_captured(struct world *world, uint32_t host, uint64_t superstep)
{
    struct wire_message message = {.kind = WIRE_CAPTURED, .envelope = {.superstep = superstep}};
    send_to_zero(world, host, &message);
}

static void say_left(struct world *world, uint32_t host)
{
    const struct agent *agent = &world->agents[host];
    for (uint32_t pid = 0; pid < world->processes; pid++) {
        struct wire_message message = {.kind = WIRE_RANK_EXITED};
        bool killed = agent->ranks[pid].killed;
        if (!agent->mine[pid] || agent->ranks[pid].alive || !(agent->let_out || killed))
            continue;
        message.rank_exited.pid = pid;
        message.rank_exited.signal = killed ? 9 : 0;
        message.rank_exited.status = pid == 0 ? (uint32_t)world->status : 0;
        send_to_zero(world, host, &message);
    }
}

static void say_ready(struct world *world, uint32_t host)
{
    struct wire_message message = {.kind = WIRE_RANKS_READY};
    message.ranks_ready.count = world->agents[host].count;
    send_to_zero(world, host, &message);
}

/* By the agent of Processor Zero. */
static void say_running(struct world *world, uint32_t host)
{
    if (world->zeros[world->agents[host].term].host == host)
        tell_bsprun(world, host,
                    (struct job_event){.kind = JOB_EVENT_RUNNING,
                                       .term = world->agents[host].term,
                                       .replicas = world->agents[host].replicated.placed});
}

/* ---- Barriers ----------------------------------------------------------------------------- */

static uint64_t superstep_of(const struct world *world, const struct agent *agent)
{
    for (uint32_t pid = 0; pid < world->processes; pid++)
        if (agent->mine[pid])
            return agent->ranks[pid].superstep;
    return 0;
}

/* Of every other cell the data of one host are here. */
static bool is_complete(const struct world *world, uint32_t host, uint64_t superstep)
{
    const struct agent *agent = &world->agents[host];
    const struct zero *zero = &world->zeros[agent->term];
    for (uint32_t pid = 0; pid < world->processes; pid++) {
        bool got = agent->mine[pid];
        for (uint32_t i = 0; i < world->host_count && !got; i++)
            got = zero->lead[i] == zero->homes[pid] && agent->replicated.reached[i] > superstep;
        if (!got)
            return false;
    }
    return true;
}

/* Once, whoever comes there first. */
static void make_next(struct world *world, struct zero *zero, uint64_t superstep)
{
    if (zero->next[superstep] == 0)
        zero->next[superstep] = random_below(world, (uint64_t)1 << 56) | superstep << 56 | 1;
}

/* The values of the processes here must be what the term has come to. */
static void pass(struct world *world, uint32_t host, uint64_t superstep)
{
    struct agent *agent = &world->agents[host];
    struct zero *zero = &world->zeros[agent->term];
    bool first = superstep == zero->base.superstep;
    make_next(world, zero, superstep);
    for (uint32_t pid = 0; pid < world->processes; pid++) {
        struct rank *rank = &agent->ranks[pid];
        if (!agent->mine[pid] || !rank->alive)
            continue;
        if (!first && rank->value != zero->next[superstep - 1])
            fail(world, "a replica of process %u has consumed something else", pid);
        rank->next = zero->next[superstep];
    }
    agent->replicated.asked = agent->replicated.captured = agent->replicated.recorded = false;
}

static void go_on(struct world *world, uint32_t host, uint64_t superstep)
{
    pass(world, host, superstep);
    agent_leave(world, host);
}

/* Real agents look when a host is lost. */
static void look_later(struct world *world, uint32_t host)
{
    if (world->agents[host].replicated.looks)
        return;
    world->agents[host].replicated.looks = true;
    agent_plan(world, DO_LOOK, host, 20);
}

/* Whether something can go on at the barrier where the host may be. */
static void look(struct world *world, uint32_t host)
{
    struct agent *agent = &world->agents[host];
    struct replicated *here = &agent->replicated;
    uint64_t superstep = superstep_of(world, agent);
    struct heard *heard = &here->heard[superstep];
    bool end = superstep == world->supersteps, complete = is_complete(world, host, superstep);
    if (!agent->waiting || agent->job != JOB_RUNNING || here->over ||
        (here->held > 0 && here->held == superstep))
        return;
    if (superstep < agent->consult && !end) {
        if (complete)
            go_on(world, host, superstep);
        return;
    }
    if (!heard->told) {
        if (!here->asked)
            say_arrived(world, host, superstep);
        here->asked = true;
        return;
    }
    if (!complete || (heard->captures && here->captured && !heard->resumed))
        return;
    if (heard->captures && !heard->resumed) {
        pass(world, host, superstep);
        here->captured = true;
        agent_capture(world, host, superstep);
        return;
    }
    if (heard->end) {
        agent->waiting = false;
        agent_let_out(world, host);
        return;
    }
    bool held = heard->snapshot && !heard->resumed;
    agent->consult = held ? superstep + 1 : heard->consult;
    here->held = held ? superstep + 1 : here->held;
    world->ahead += held;
    go_on(world, host, superstep);
}

void cells_arrived(struct world *world, uint32_t host)
{
    const struct agent *agent = &world->agents[host];
    uint64_t members = world->zeros[agent->term].member_bits;
    for (uint32_t i = 0; i < world->host_count; i++) {
        if (i == host || !(members >> i & 1) || !world->agents[i].up)
            continue;
        struct action *action = agent_plan(world, DO_DATA, i, 8);
        action->term = agent->term;
        action->number = host;
        action->superstep = superstep_of(world, agent);
    }
    look(world, host);
}

/* What was on its way when its host was lost, or its link, may be lost, too. */
void cells_data(struct world *world, const struct action *action)
{
    struct agent *agent = &world->agents[action->host];
    const struct agent *from = &world->agents[action->number];
    bool heard = hears(world, action->host, action->number) && !from->cut_off && !agent->cut_off;
    if (agent->term != action->term || (!from->up && apart(world, 2) == 0) || !heard)
        return;
    if (agent->replicated.reached[action->number] < action->superstep + 1)
        agent->replicated.reached[action->number] = action->superstep + 1;
    look(world, action->host);
}

/* ---- Data that can not come any more ------------------------------------------------------ */

static bool is_on_its_way(const struct world *world, uint32_t from, uint32_t to, uint64_t superstep)
{
    for (uint32_t i = 0; i < world->time.count; i++) {
        const struct action *action = timeline_at(&world->time, i);
        if (action->kind == DO_DATA && action->host == to && action->number == from &&
            action->life == world->agents[to].life && action->term == world->agents[to].term &&
            action->superstep >= superstep)
            return true;
    }
    return false;
}

/* Whether the data of that host may still come. */
static bool may_come(const struct world *world, uint32_t from, uint32_t to, uint64_t superstep)
{
    const struct agent *agent = &world->agents[from], *here = &world->agents[to];
    return here->replicated.reached[from] > superstep ||
           is_on_its_way(world, from, to, superstep) ||
           (agent->up && agent->term == here->term && !agent->cut_off && !agent->dismissed &&
            !here->cut_off && hears(world, to, from) && hears(world, from, to));
}

static bool waits_in_vain(const struct world *world, uint32_t host, uint64_t superstep)
{
    const struct zero *zero = &world->zeros[world->agents[host].term];
    for (uint32_t pid = 0; pid < world->processes; pid++) {
        bool any = world->agents[host].mine[pid];
        for (uint32_t i = 0; i < world->host_count && !any; i++)
            any = i != host && zero->lead[i] == zero->homes[pid] &&
                  may_come(world, i, host, superstep);
        if (!any)
            return true;
    }
    return false;
}

static bool has_lost_any(const struct world *world, const struct agent *agent)
{
    for (uint32_t pid = 0; pid < world->processes; pid++)
        if (agent->mine[pid] && agent->ranks[pid].killed)
            return true;
    return false;
}

/* The end is decided, and the processes here come to it later. */
static bool is_late(const struct agent *agent)
{
    return agent->up && agent->replicated.ended && !agent->replicated.over &&
           agent->job == JOB_RUNNING;
}

void cells_look(struct world *world, const struct action *action)
{
    struct agent *agent = &world->agents[action->host];
    uint64_t superstep = superstep_of(world, agent);
    bool vain = agent->waiting && waits_in_vain(world, action->host, superstep);
    agent->replicated.looks = false;
    if (!is_late(agent))
        return;
    if (vain || has_lost_any(world, agent)) {
        note(world, "host %u cannot come to the end, and leaves", agent->id);
        world->in_vain += vain;
        leave_term(world, action->host);
        return;
    }
    look_later(world, action->host);
}

/* ---- Messages of Processor Zero ----------------------------------------------------------- */

static void note_decided(struct replicated *here, uint64_t superstep, uint64_t consult, bool end)
{
    if (superstep + 1 <= here->decided)
        return;
    here->decided = superstep + 1;
    here->next = consult;
    here->ended = end;
}

static void look_at_end(struct world *world, uint32_t host)
{
    if (world->agents[host].replicated.ended)
        look_later(world, host);
}

static void let_on(struct agent *agent, uint64_t superstep, uint64_t consult)
{
    if (agent->replicated.held != superstep + 1)
        return;
    agent->replicated.held = 0;
    agent->consult = consult;
}

static void release(struct agent *agent, const struct wire_message *message)
{
    struct replicated *here = &agent->replicated;
    uint64_t superstep = message->envelope.superstep;
    struct heard *heard = &here->heard[superstep];
    bool snapshot = message->release.decision == WIRE_DECISION_SNAPSHOT;
    if (heard->told && (snapshot || here->held != superstep + 1))
        return;
    *heard = (struct heard){.told = true,
                            .snapshot = snapshot,
                            .end = message->release.decision == WIRE_DECISION_END,
                            .consult = message->release.consult};
    for (uint32_t i = 0; i < message->release.captures.count; i++)
        heard->captures = heard->captures || message->release.captures.items[i] == agent->id;
    if (snapshot)
        return;
    let_on(agent, superstep, heard->consult);
    note_decided(here, superstep, heard->consult, heard->end);
}

static void resume(struct agent *agent, uint64_t superstep, uint64_t consult)
{
    struct heard *heard = &agent->replicated.heard[superstep];
    heard->told = heard->resumed = true;
    heard->consult = consult;
    let_on(agent, superstep, consult);
    note_decided(&agent->replicated, superstep, consult, false);
}

static void forget_abandoned(struct world *world, struct replicated *here)
{
    for (uint64_t i = 0; i <= world->supersteps; i++)
        if (here->heard[i].snapshot && !here->heard[i].captures && !here->heard[i].resumed &&
            here->held != i + 1)
            here->heard[i] = (struct heard){.told = false};
}

/* What this host has not heard of and another one has; what may be lost is said again. */
static void taken_over(struct world *world, uint32_t host, const struct wire_taken_over *taken)
{
    struct agent *agent = &world->agents[host];
    struct replicated *here = &agent->replicated;
    uint64_t next = here->next, newest = taken->decided - 1;
    here->waits = false;
    if (here->made && !here->runs)
        say_ready(world, host);
    if (here->runs)
        say_running(world, host);
    if (taken->decided > here->decided && here->runs && next < taken->decided &&
        !(taken->ended && next == newest))
        resume(agent, next, taken->ended ? newest : taken->consult);
    if (taken->decided > here->decided && taken->ended) {
        here->heard[newest] = (struct heard){.told = true, .end = true, .consult = COORD_NEVER};
        note_decided(here, newest, COORD_NEVER, true);
    }
    forget_abandoned(world, here);
    uint64_t superstep = superstep_of(world, agent);
    if (here->held > 0)
        say_arrived(world, host, here->held - 1);
    else if (here->asked && !here->heard[superstep].told)
        say_arrived(world, host, superstep);
    else if (here->recorded && !here->heard[superstep].resumed)
        say_captured(world, host, superstep);
    say_left(world, host);
    look_at_end(world, host);
    if (here->aborts)
        send_to_zero(world, host, &here->abort);
    look(world, host);
}

static void run(struct world *world, uint32_t host, uint64_t consult)
{
    struct replicated *here = &world->agents[host].replicated;
    here->runs = true;
    here->next = consult;
    say_running(world, host);
}

bool cells_obey(struct world *world, uint32_t host, const struct wire_message *message)
{
    struct agent *agent = &world->agents[host];
    switch (message->kind) {
    case WIRE_RUN:
        if (!agent->replicated.runs)
            run(world, host, message->run.consult);
        return false; /* it computes */
    case WIRE_RELEASE:
        release(agent, message);
        look_at_end(world, host);
        look(world, host);
        return true;
    case WIRE_RESUME:
        resume(agent, message->envelope.superstep, message->resume.consult);
        look(world, host);
        return true;
    case WIRE_TAKEN_OVER:
        taken_over(world, host, &message->taken_over);
        return true;
    case WIRE_END:
        agent->replicated.over = true;
        kill_ranks(world, host, true); /* those that trail */
        return true;
    default:
        return false;
    }
}

/* ---- Another Processor Zero --------------------------------------------------------------- */

void cells_taken_over(struct world *world, const struct action *action)
{
    struct agent *agent = &world->agents[action->host];
    struct replicated *here = &agent->replicated;
    struct wire_message message = {.kind = WIRE_ACCOUNT};
    uint64_t superstep = superstep_of(world, agent);
    const struct heard *now = &here->heard[superstep];
    if (action->era <= here->era || !here->placed)
        return;
    here->era = action->era;
    here->waits = true;
    message.account =
        (struct wire_account){.decided = here->decided,
                              .ended = here->ended,
                              .consult = here->runs ? here->next : COORD_NEVER,
                              .committed = agent->known,
                              .shared = world->shared,
                              .ready = here->made,
                              .runs = here->runs,
                              .stopped = job_is_stopping(agent->job) || agent->job == JOB_REWINDING,
                              .over = here->over,
                              .status = world->status,
                              .cause = WIRE_CAUSE_NONE};
    if (now->told && now->captures && !now->resumed)
        message.account.captures = superstep + 1;
    send_to_zero(world, action->host, &message);
}

/* ---- What must hold ----------------------------------------------------------------------- */

static void note_decision(struct zero *zero, const struct wire_message *message)
{
    struct world *world = zero->world;
    uint64_t superstep = message->envelope.superstep;
    if (superstep > world->supersteps)
        fail(world, "superstep %llu never comes", (unsigned long long)superstep);
    if (message->release.decision == WIRE_DECISION_END && superstep != world->supersteps)
        fail(world, "bsp_end is decided at superstep %llu", (unsigned long long)superstep);
    make_next(world, zero, superstep);
    if (message->release.decision == WIRE_DECISION_END && !zero->closing)
        end_is_decided(world);
    zero->closing = zero->closing || message->release.decision == WIRE_DECISION_END;
}

void cells_said(struct zero *zero, const struct wire_message *message)
{
    struct world *world = zero->world;
    switch (message->kind) {
    case WIRE_PLACE:
        note_homes(zero, message->place.host_of, message->place.leads);
        zero->base = (struct bspz_snapshot_name){0, zero->term};
        break;
    case WIRE_RESTORE:
        note_homes(zero, message->restore.host_of, message->restore.leads);
        zero->base =
            (struct bspz_snapshot_name){message->envelope.superstep, message->restore.from};
        break;
    case WIRE_RUN:
        for (uint32_t i = 0; i < world->host_count; i++)
            if (has_processes(world, zero, i) && world->agents[i].up &&
                world->agents[i].term == zero->term && !world->agents[i].replicated.made &&
                coord_host_alive(coord_shell_state(zero->shell), world->agents[i].id))
                fail(world, "host %u is not ready to run", world->agents[i].id);
        break;
    case WIRE_RELEASE:
        note_decision(zero, message);
        break;
    default:
        break;
    }
}

bool cells_is_covered(const struct world *world, uint32_t term, uint32_t without)
{
    for (uint32_t pid = 0; pid < world->processes; pid++) {
        bool any = false;
        for (uint32_t i = 0; i < world->host_count && !any; i++)
            any = i != without && world->agents[i].up && !world->agents[i].cut_off &&
                  !world->agents[i].dismissed && world->agents[i].term == term &&
                  world->agents[i].mine[pid];
        if (!any)
            return false;
    }
    return world->processes > 0;
}

bool cells_leaves(struct world *world, uint32_t host)
{
    const struct agent *agent = &world->agents[host];
    const struct zero *zero = &world->zeros[agent->term];
    bool made = agent->job == JOB_FORMING && agent->known.term == agent->term;
    if (!cells_any(world) || (agent->job != JOB_RUNNING && !made) || !zero->shell)
        return false;
    return agent->replicated.ended || zero->host != host ||
           coord_can_lose(coord_shell_state(zero->shell), agent->id);
}

void cells_check_alone(struct world *world)
{
    for (uint32_t pid = 0; pid < world->processes; pid++) {
        uint32_t running = 0, term = 0;
        for (uint32_t i = 0; i < world->host_count; i++) {
            const struct agent *agent = &world->agents[i];
            if (!agent->up || !agent->ranks[pid].alive || !agent->ranks[pid].runs)
                continue;
            if (term > 0 && term != agent->term)
                fail(world, "process %u runs in two terms", pid);
            term = agent->term;
            running++;
        }
        if (running > world->replicas)
            fail(world, "process %u has %u replicas", pid, running);
    }
}

/* Links that fall silent may need hosts to be left out, one after the other.  A process that is
 * killed takes its host with it (cells_leaves), unless that was the last. */
void cells_check_rollback(struct world *world, enum wire_cause cause)
{
    uint32_t term = job_machine_term(world->machine);
    if (!cells_any(world) || cause != WIRE_CAUSE_HOST_LOST || !world->zeros[term].placed ||
        world->faults[FAULT_LINK] > 0 || world->faults[FAULT_CUT_OFF] > 0)
        return;
    if (cells_is_covered(world, term, NOBODY))
        fail(world, "term %u is rolled back though each process has a living replica", term);
}
