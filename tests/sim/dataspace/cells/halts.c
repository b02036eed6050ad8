/* halts.c - snapshots at calls in the made-up world: where the replicas of each process stop, again
 * and again, with a Processor Zero on one of the hosts, which may be lost.
 *
 * Hosts keep what they are told as agents do (bsprun/dataspace/stops.h).  Processor Zero does what
 * coordinator/core/halt.c and takeover.c do: it asks, says where processes stop, asks again when a
 * host is lost, and takes a snapshot when for each cell some host has come there; others come
 * later, some after the next ones have been asked for.  If its host is lost another one hears from
 * all hosts what they know, in the midst of what the former one had said.
 *
 * Checked: all come to each stop that is asked for.
 */
#include <stdio.h>
#include <string.h>

#include "bsprun/dataspace/stops.h"
#include "tests/sim/dataspace/cells/world.h"

#define NEVER      UINT64_MAX
#define NEVER_STOP 60000u
#define HALTS_MOST 4u
#define APART      500u /* of one and the next, at most */

static struct {
    uint64_t asked, again, went_on, spared, behind, taken_over, in_capture, told_again, ended;
} summary;

static bool has_replicas(const struct world *world, uint32_t host)
{
    for (uint32_t pid = 0; pid < world->process_count; pid++)
        if (world->processes[pid].replicas[host].is)
            return true;
    return false;
}

/* ---- Messages -------------------------------------------------------------------------------- */

static struct halt_said *new_said(struct world *world, uint32_t *number)
{
    struct halts *halts = &world->halts;

    if (halts->said_count == HALT_SAYINGS)
        fail(world, "too much is said of halts");
    *number = halts->said_count++;
    halts->said[*number] = (struct halt_said){.superstep = 0};
    return &halts->said[*number];
}

static void say_to_all(struct world *world, enum action_kind kind, uint32_t number)
{
    for (uint32_t i = 0; i < world->host_count; i++) {
        struct action *action = losses_plan(world, kind, &world->hosts[i].last_asked);

        action->from = world->halts.zero.host;
        action->to = i;
        action->number = number;
        action->era = world->halts.zero.era;
    }
}

static void say_to_zero(struct world *world, const struct host *host, enum action_kind kind,
                        uint32_t number)
{
    struct action *action;

    if (world->halts.hosts[host->number].waits && kind != DO_ACCOUNT)
        return;
    action = losses_plan(world, kind, &world->hosts[host->number].last_quiet);
    action->from = host->number;
    action->number = number;
    action->era = world->halts.hosts[host->number].era;
}

/* ---- Processor Zero -------------------------------------------------------------------------- */

static void say_superstep(struct world *world, enum action_kind kind, uint64_t superstep)
{
    uint32_t number;

    new_said(world, &number)->superstep = superstep;
    say_to_all(world, kind, number);
}

/* Its host is, in the midst of what it says. */
static void lose_zero(struct world *world)
{
    struct action *action;

    if (timeline_apart(&world->time, 6) > 0 || !seeds_keeps_fault(&world->time.job, LOSSES))
        return;
    action = timeline_plan(&world->time, timeline_apart(&world->time, 40));
    action->kind = DO_LOSE_HOST;
    action->from = world->halts.zero.host;
}

static void say_where(struct world *world, uint64_t superstep, const uint64_t *after)
{
    uint32_t number;
    struct halt_said *said = new_said(world, &number);

    said->superstep = superstep;
    said->round = world->halts.zero.round;
    for (uint32_t pid = 0; pid < world->process_count; pid++)
        said->requests[pid] = after ? after[pid] : NEVER;
    say_to_all(world, DO_HALT_AT, number);
    lose_zero(world);
}

static void ask(struct world *world)
{
    struct halt_zero *zero = &world->halts.zero;
    struct action *action;
    uint32_t number;
    struct halt_said *said = new_said(world, &number);

    zero->halt = HALT_IS_ASKED;
    said->superstep = zero->superstep;
    said->round = ++zero->round;
    zero->missing = 0;
    memset(zero->reached, 0, sizeof zero->reached);
    for (uint32_t i = 0; i < world->host_count; i++) {
        zero->answered[i] = world->saved.known_lost[i] || !has_replicas(world, i);
        zero->missing += !zero->answered[i];
    }
    summary.asked++;
    say_to_all(world, DO_HALT, number);
    action = timeline_plan(&world->time, NEVER_STOP);
    action->kind = DO_HALT_LIMIT;
    action->number = zero->superstep;
}

static void ask_later(struct world *world)
{
    struct action *action;

    if (world->halts.left == 0)
        return;
    world->halts.left--;
    action = timeline_plan(&world->time, timeline_apart(&world->time, APART));
    action->kind = DO_HALT_DUE;
}

static void halted(struct world *world, uint32_t from, const struct halt_said *answer)
{
    struct halt_zero *zero = &world->halts.zero;

    if (answer->round != zero->round || zero->halt != HALT_IS_ASKED || zero->answered[from])
        return;
    zero->answered[from] = true;
    for (uint32_t pid = 0; pid < world->process_count; pid++)
        if (zero->reached[pid] < answer->requests[pid])
            zero->reached[pid] = answer->requests[pid];
    if (--zero->missing > 0)
        return;
    zero->halt = HALT_IS_SAID;
    memcpy(zero->after, zero->reached, sizeof zero->after);
    for (uint32_t pid = 0; pid < world->process_count; pid++)
        note(world, "pid %u stops after %llu calls", pid, (unsigned long long)zero->after[pid]);
    say_where(world, zero->superstep, zero->after);
}

static void resume(struct world *world)
{
    struct halt_zero *zero = &world->halts.zero;

    say_superstep(world, DO_HALT_RESUME, zero->superstep++);
    zero->phase = HALT_ZERO_RUNS;
    memset(zero->arrived, 0, sizeof zero->arrived);
    lose_zero(world);
    ask_later(world);
}

static void resume_when_captured(struct world *world)
{
    struct halt_zero *zero = &world->halts.zero;
    bool taken = !world->saved.failed;

    if (zero->phase != HALT_ZERO_CAPTURES)
        return;
    for (uint32_t i = 0; i < world->host_count; i++)
        if (!zero->captured[i] && !world->saved.known_lost[i])
            return;
    note(world, "the snapshot of superstep %llu %s", (unsigned long long)zero->superstep,
         taken ? "is taken" : "has failed");
    if (taken && saved_taken(world, zero->after))
        world->halts.left = 0; /* all go back to it */
    resume(world);
}

static void choose(struct world *world)
{
    struct halt_zero *zero = &world->halts.zero;
    uint32_t number;
    struct halt_said *said = new_said(world, &number);

    said->superstep = zero->superstep;
    memset(zero->captured, true, sizeof zero->captured);
    for (uint32_t lead = 0; lead < world->host_count; lead++) {
        uint32_t first = saved_first(world, lead, zero->arrived);

        if (first == HOSTS)
            continue;
        said->keepers[said->keeper_count++] = first;
        zero->captured[first] = false;
    }
    world->saved.kept_count = 0;
    world->saved.failed = false;
    zero->phase = HALT_ZERO_CAPTURES;
    say_to_all(world, DO_HALT_RELEASE, number);
}

static void decide_when_complete(struct world *world)
{
    struct halt_zero *zero = &world->halts.zero;

    if (zero->phase != HALT_ZERO_RUNS || !saved_all_arrived(world, zero->arrived))
        return;
    summary.went_on += zero->halt == HALT_IS_ASKED;
    if (zero->halt == HALT_IS_ASKED)
        say_where(world, zero->superstep, zero->calls ? zero->after : NULL);
    zero->halt = HALT_IS_NONE;
    if (!zero->calls) { /* all are at their end */
        summary.ended++;
        zero->phase = HALT_ZERO_ENDS;
        say_superstep(world, DO_HALT_END, zero->superstep);
        lose_zero(world);
    } else if (zero->superstep == zero->spared) {
        summary.spared++;
        resume(world);
    } else {
        choose(world);
    }
    zero->calls = false;
}

static void arrive(struct world *world, uint32_t from, const struct halt_said *said)
{
    struct halt_zero *zero = &world->halts.zero;

    if (zero->phase != HALT_ZERO_RUNS || said->superstep < zero->superstep) {
        summary.behind++;
        return;
    }
    if (said->superstep > zero->superstep)
        fail(world, "host %u arrives at a barrier to come", from);
    zero->arrived[from] = ++zero->arrivals;
    zero->calls |= said->calls;
    decide_when_complete(world);
}

/* ---- ... in the place of another one --------------------------------------------------------- */

static void take_over(struct world *world)
{
    struct halts *halts = &world->halts;
    uint32_t host = 0;

    while (world->saved.known_lost[host])
        host++;
    note(world, "host %u is Processor Zero", host);
    summary.taken_over++;
    halts->zero = (struct halt_zero){
        .host = host, .era = halts->zero.era + 1, .spared = NEVER, .phase = HALT_ZERO_ASKS};
    world->saved.failed = true; /* what is being taken */
    say_to_all(world, DO_TAKE_OVER, 0);
}

static void begin_anew(struct world *world)
{
    struct halts *halts = &world->halts;
    struct halt_zero *zero = &halts->zero;
    uint64_t decided = 0, captures = 0;
    bool ended = false;

    for (uint32_t i = 0; i < world->host_count; i++) {
        const struct halt_said *account = &halts->said[zero->accounts[i]];

        if (world->saved.known_lost[i])
            continue;
        decided = account->decided > decided ? account->decided : decided;
        ended |= account->ended;
        captures = account->captures > captures ? account->captures : captures;
        if (account->round > zero->round) {
            zero->round = account->round;
            zero->after_at = account->superstep;
            memcpy(zero->after, account->requests, sizeof zero->after);
        }
    }
    bool resumes = captures > decided && !ended;
    zero->superstep = resumes ? captures - 1 : decided;
    zero->phase = ended ? HALT_ZERO_ENDS : resumes ? HALT_ZERO_CAPTURES : HALT_ZERO_RUNS;
    for (uint32_t i = 0; i < world->host_count; i++)
        zero->captured[i] =
            world->saved.known_lost[i] || halts->said[zero->accounts[i]].captures != captures;
    say_superstep(world, DO_TAKEN_OVER, decided);
    summary.in_capture += resumes;
    if (zero->round > 0 && (zero->after_at < zero->superstep || resumes)) {
        summary.told_again++;
        say_where(world, zero->after_at, zero->after);
    }
    if (ended)
        say_where(world, zero->superstep, NULL);
    if (resumes || ended)
        return;
    zero->spared = zero->superstep;
    ask(world);
}

static void begin_anew_when_complete(struct world *world)
{
    if (world->halts.zero.phase != HALT_ZERO_ASKS)
        return;
    for (uint32_t i = 0; i < world->host_count; i++)
        if (!world->halts.zero.accounted[i] && !world->saved.known_lost[i])
            return;
    begin_anew(world);
}

void halts_lost(struct world *world, uint32_t host)
{
    struct halt_zero *zero = &world->halts.zero;

    world->saved.failed |= zero->phase == HALT_ZERO_CAPTURES;
    if (host == zero->host) {
        take_over(world);
        return;
    }
    begin_anew_when_complete(world);
    resume_when_captured(world);
    decide_when_complete(world);
    if (zero->phase == HALT_ZERO_RUNS && zero->halt != HALT_IS_NONE &&
        !world->hosts[zero->host].lost) {
        summary.again++;
        ask(world);
    }
}

/* ---- Hosts ----------------------------------------------------------------------------------- */

static bool is_over(const struct world *world, uint32_t pid, uint32_t host)
{
    return acts_are_over(&world->processes[pid], &world->processes[pid].replicas[host]);
}

bool halts_hold(const struct world *world, uint32_t pid, uint32_t host)
{
    const struct halting *here = &world->halts.hosts[host];

    return here->stop_in == here->superstep + 1 &&
           world->processes[pid].replicas[host].at >= here->after[pid];
}

static bool all_are_here(const struct world *world, uint32_t host, bool *calls)
{
    bool any = false;

    *calls = false;
    for (uint32_t pid = 0; pid < world->process_count; pid++) {
        const struct replica *replica = &world->processes[pid].replicas[host];
        bool over = is_over(world, pid, host) && !replica->transfer.busy;

        if (!replica->is)
            continue;
        if (!over && (!halts_hold(world, pid, host) ||
                      (replica->transfer.busy && !transfer_is_held(&replica->transfer))))
            return false;
        *calls |= !over;
        any = true;
    }
    return any;
}

static void say_arrived(struct world *world, uint32_t host, bool calls)
{
    uint32_t number;
    struct halt_said *said = new_said(world, &number);

    said->superstep = world->halts.hosts[host].superstep;
    said->calls = calls;
    say_to_zero(world, &world->hosts[host], DO_HALT_ARRIVE, number);
}

/* They have passed the barrier. */
static void pass(struct world *world, uint32_t host)
{
    struct halting *here = &world->halts.hosts[host];

    here->superstep++;
    here->captures = 0;
    here->arrived = false;
    for (uint32_t pid = 0; pid < world->process_count; pid++) {
        const struct replica *replica = &world->processes[pid].replicas[host];

        if (replica->is && !replica->transfer.posted && !is_over(world, pid, host))
            acts_plan(world, pid, host, 1 + timeline_apart(&world->time, 20));
    }
    world->withdrawn_at = world->time.now;
    halts_arrive(world, host);
}

void halts_arrive(struct world *world, uint32_t host)
{
    struct halting *here = &world->halts.hosts[host];
    bool calls;

    if (here->arrived || world->hosts[host].lost || !all_are_here(world, host, &calls))
        return;
    here->arrived = true;
    if (here->decided > here->superstep)
        pass(world, host);
    else
        say_arrived(world, host, calls);
}

void halts_posted(struct world *world, uint32_t host)
{
    stops_passed(world->halts.hosts[host].stops);
}

static void on_stop(void *context, const struct stops_one *stop)
{
    struct host *host = context;
    struct halting *here = &host->world->halts.hosts[host->number];

    here->stop_in = stop->superstep + 1;
    memcpy(here->after, stop->requests, host->world->process_count * sizeof *here->after);
}

static bool on_where(void *context, uint32_t pid, uint64_t *superstep)
{
    const struct host *host = context;
    const struct world *world = host->world;

    *superstep = world->halts.hosts[host->number].superstep;
    return world->processes[pid].replicas[host->number].is;
}

static const struct stops_calls calls = {.stop = on_stop, .where = on_where};

static void keep_when_gathered(struct world *world, struct host *host)
{
    struct halting *here = &world->halts.hosts[host->number];
    uint32_t number;

    if (!here->keeps || !dataspace_gathered(host->space))
        return;
    here->keeps = false;
    saved_keep(world, host);
    new_said(world, &number)->superstep = here->superstep;
    say_to_zero(world, host, DO_HALT_CAPTURED, number);
}

void halts_look(struct world *world, struct host *host)
{
    struct halting *here = &world->halts.hosts[host->number];
    const struct stops_one *answer;

    if (host->lost)
        return;
    while ((answer = stops_answer(here->stops))) {
        uint32_t number;
        struct halt_said *said = new_said(world, &number);

        said->round = answer->round;
        memcpy(said->requests, answer->requests, world->process_count * sizeof *said->requests);
        say_to_zero(world, host, DO_HALTED, number);
    }
    keep_when_gathered(world, host);
}

static void resumed(struct world *world, struct host *host, uint64_t decided)
{
    struct halting *here = &world->halts.hosts[host->number];

    if (here->decided < decided)
        here->decided = decided;
    if (here->arrived && here->decided > here->superstep)
        pass(world, host->number);
}

static void released(struct world *world, struct host *host, const struct halt_said *said)
{
    struct halting *here = &world->halts.hosts[host->number];

    for (uint32_t i = 0; i < said->keeper_count; i++)
        if (said->keepers[i] == host->number) {
            here->captures = said->superstep + 1;
            here->keeps = true;
        }
    dataspace_gather(host->space, said->superstep + 1, said->keepers, said->keeper_count);
}

static void account(struct world *world, struct host *host, uint32_t era)
{
    struct halting *here = &world->halts.hosts[host->number];
    const struct stops_one *newest = stops_newest(here->stops);
    uint32_t number;
    struct halt_said *said = new_said(world, &number);

    here->era = era;
    here->waits = true;
    said->decided = here->decided;
    said->captures = here->captures;
    said->ended = here->ended;
    if (newest) {
        said->superstep = newest->superstep;
        said->round = newest->round;
        memcpy(said->requests, newest->requests, world->process_count * sizeof *said->requests);
    }
    say_to_zero(world, host, DO_ACCOUNT, number);
}

static void taken_over(struct world *world, struct host *host, uint64_t decided)
{
    struct halting *here = &world->halts.hosts[host->number];
    bool calls, again = here->arrived;

    here->waits = false;
    dataspace_gather(host->space, 0, NULL, 0);
    resumed(world, host, decided);
    if (again && here->arrived && all_are_here(world, host->number, &calls))
        say_arrived(world, host->number, calls);
    if (here->captures > 0 && !here->keeps) {
        uint32_t number;

        new_said(world, &number)->superstep = here->superstep;
        say_to_zero(world, host, DO_HALT_CAPTURED, number);
    }
}

/* ---- The world ------------------------------------------------------------------------------- */

static void tell_host(struct world *world, const struct action *action)
{
    struct host *host = &world->hosts[action->to];
    struct halting *here = &world->halts.hosts[action->to];
    const struct halt_said *said = &world->halts.said[action->number];
    const struct stops_one at = {said->superstep, said->round, said->requests};

    if (!host_hears(host, &world->hosts[action->from]) ||
        (action->kind == DO_TAKE_OVER ? action->era <= here->era : action->era != here->era))
        return;
    switch (action->kind) {
    case DO_HALT:
        if (!has_replicas(world, action->to))
            break;
        world->withdrawn_at = world->time.now;
        if (!stops_ask(here->stops, said->superstep, said->round))
            fail(world, "no memory");
        break;
    case DO_HALT_AT:
        if (!stops_set(here->stops, &at))
            fail(world, "no memory");
        halts_arrive(world, action->to);
        break;
    case DO_HALT_RELEASE:
        released(world, host, said);
        break;
    case DO_HALT_RESUME:
        resumed(world, host, said->superstep + 1);
        break;
    case DO_HALT_END:
        here->ended = true;
        break;
    case DO_TAKE_OVER:
        account(world, host, action->era);
        break;
    default:
        taken_over(world, host, said->superstep);
        break;
    }
    hosts_go_on(world, host);
    halts_look(world, host);
}

static void tell_zero(struct world *world, const struct action *action)
{
    struct halt_zero *zero = &world->halts.zero;
    const struct halt_said *said = &world->halts.said[action->number];

    if (action->era != zero->era || world->hosts[zero->host].lost ||
        world->saved.known_lost[action->from])
        return;
    switch (action->kind) {
    case DO_HALTED:
        halted(world, action->from, said);
        break;
    case DO_HALT_ARRIVE:
        arrive(world, action->from, said);
        break;
    case DO_HALT_CAPTURED:
        zero->captured[action->from] |= zero->phase == HALT_ZERO_CAPTURES;
        resume_when_captured(world);
        break;
    default:
        zero->accounts[action->from] = (uint32_t)action->number;
        zero->accounted[action->from] = true;
        begin_anew_when_complete(world);
        break;
    }
}

void halts_carry_out(struct world *world, const struct action *action)
{
    struct halt_zero *zero = &world->halts.zero;

    switch (action->kind) {
    case DO_HALT_DUE:
        if (zero->phase == HALT_ZERO_RUNS && zero->halt == HALT_IS_NONE && !world->stuck &&
            !world->hosts[zero->host].lost)
            ask(world);
        break;
    case DO_HALT_LIMIT:
        if (!world->stuck && zero->superstep == action->number && zero->halt != HALT_IS_NONE &&
            zero->phase == HALT_ZERO_RUNS)
            fail(world, "processes never stop");
        break;
    case DO_HALTED:
    case DO_HALT_ARRIVE:
    case DO_HALT_CAPTURED:
    case DO_ACCOUNT:
        tell_zero(world, action);
        break;
    default:
        tell_host(world, action);
        break;
    }
}

void halts_open_host(struct world *world, struct host *host)
{
    struct halting *here = &world->halts.hosts[host->number];

    *here = (struct halting){.stops = stops_open(host->space, world->process_count, &calls, host)};
    if (!here->stops)
        fail(world, "no memory");
}

void halts_close_host(struct world *world, uint32_t host)
{
    stops_close(world->halts.hosts[host].stops);
}

void halts_begin(struct world *world)
{
    struct halts *halts = &world->halts;

    halts->zero = (struct halt_zero){
        .host = (uint32_t)timeline_apart(&world->time, world->host_count), .spared = NEVER};
    halts->left = 1 + (uint32_t)timeline_apart(&world->time, HALTS_MOST);
    ask_later(world);
}

int halts_report(void)
{
    printf("asked %llu times where they stop, %llu of them again as a host was lost, %llu times "
           "decided meanwhile; %llu barriers without a snapshot, %llu hosts came later, %llu ends; "
           "%llu times another Processor Zero, %llu in the midst of a snapshot, %llu said again "
           "where they stop\n",
           (unsigned long long)summary.asked, (unsigned long long)summary.again,
           (unsigned long long)summary.went_on, (unsigned long long)summary.spared,
           (unsigned long long)summary.behind, (unsigned long long)summary.ended,
           (unsigned long long)summary.taken_over, (unsigned long long)summary.in_capture,
           (unsigned long long)summary.told_again);
    return seeds_missing(&summary, sizeof summary);
}
