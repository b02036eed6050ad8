/* zero.c - Processor Zero of the made-up world, where there are snapshots at calls, and bsprun.
 *
 * It is the real one (coordinator/core), on one of the hosts; what it says is on its way for a
 * while, and does not come if that host is lost meanwhile.  bsprun wants snapshots, hears of hosts
 * that are lost, agrees to the end, and names another Processor Zero.
 *
 * Checked: nobody breaks a rule; no term ends, nor is anything decided but stops, snapshots and the
 * end; all come to each stop that is asked for, and to the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/dataspace/cells/world.h"

#define TERM       1u
#define NEVER_STOP 60000u
#define SAVES_MOST 4u
#define APART      500u /* of one and the next, at most */
#define SELDOM     8u
#define STALLS     4000u /* of a host */

static struct {
    uint64_t asked, said, spared, snapshots, failed, committed, ended, taken_over, taken_again,
        in_capture, told_again, mixed;
} summary;

static uint64_t went_back; /* one of 100,000 jobs: a run may have none, in contrast to the above */

static uint64_t now_ns(const struct world *world)
{
    return world->time.now * 1000000u + 1;
}

static struct zero *zero_of(struct world *world)
{
    return &world->halts.zeros[world->halts.era];
}

/* ---- What it says ---------------------------------------------------------------------------- */

static void send_to_all(struct world *world, uint32_t era, const struct wire_message *message)
{
    const struct zero *zero = &world->halts.zeros[era];
    char error[WIRE_ERROR_SIZE];

    for (uint32_t i = 0; i < world->host_count; i++) {
        struct wire_message *copy;
        struct action *action;

        if (!coord_is_addressed(zero->coord, i, message->kind))
            continue;
        copy = malloc(sizeof *copy);
        if (!copy || wire_copy(message, copy, error, sizeof error) != 0)
            fail(world, "Processor Zero says what it must not: %s", error);
        action = losses_plan(world, DO_TO_HOST, &world->hosts[i].last_asked);
        action->from = zero->host;
        action->to = i;
        action->era = era;
        action->message = copy;
    }
}

/* Its host is, in the midst of what it says. */
static void lose_zero(struct world *world, uint32_t era, uint64_t odds)
{
    struct action *action;

    if (timeline_apart(&world->time, odds) > 0 || !seeds_keeps_fault(&world->time.job, LOSSES))
        return;
    action = timeline_plan(&world->time, timeline_apart(&world->time, 40));
    action->kind = DO_LOSE_HOST;
    action->from = world->halts.zeros[era].host;
}

/* A host stands still: what it is told from now on waits. */
static void stall(struct world *world)
{
    struct host *host = &world->hosts[timeline_apart(&world->time, world->host_count)];
    uint64_t until = world->time.now + timeline_apart(&world->time, STALLS);

    if (timeline_apart(&world->time, 4) > 0 || host->last_asked >= until)
        return;
    host->last_asked = until;
    world->halts.stalls = true;
}

static void note_halt(struct world *world, uint32_t era, uint64_t superstep, uint64_t round)
{
    struct action *action = timeline_plan(&world->time, NEVER_STOP);

    note(world, "asked where they stop, round %llu", (unsigned long long)round);
    summary.asked++;
    action->kind = DO_HALT_LIMIT;
    action->era = era;
    action->number = superstep;
}

static void note_release(struct world *world, const struct wire_message *message)
{
    const struct wire_release *release = &message->release;

    summary.spared += release->decision == WIRE_DECISION_GO;
    summary.ended += release->decision == WIRE_DECISION_END;
    if (release->decision == WIRE_DECISION_ABORT)
        fail(world, "Processor Zero aborts");
    if (release->decision != WIRE_DECISION_SNAPSHOT || release->captures.count == 0)
        return; /* the latter of a former Processor Zero */
    summary.snapshots++;
    if (world->saved.snapshot > message->envelope.superstep)
        fail(world, "snapshot %llu is taken twice", (unsigned long long)world->saved.snapshot);
    world->saved.snapshot = message->envelope.superstep + 1;
    world->saved.kept_count = 0;
    world->saved.failed = false;
}

static void note_said(struct world *world, uint32_t era, const struct wire_message *message)
{
    uint64_t superstep = message->envelope.superstep;

    note(world, "Processor Zero on host %u: %s %llu", world->halts.zeros[era].host,
         wire_kind_name(message->kind), (unsigned long long)superstep);
    switch (message->kind) {
    case WIRE_HALT:
        note_halt(world, era, superstep, message->halt.round);
        break;
    case WIRE_HALT_AT:
        summary.said++;
        stall(world);
        for (uint32_t pid = 0; pid < world->process_count; pid++)
            note(world, "... pid %u after %llu calls", pid,
                 (unsigned long long)message->halt_at.requests.items[pid]);
        lose_zero(world, era, SELDOM);
        break;
    case WIRE_RELEASE:
        note_release(world, message);
        lose_zero(world, era, SELDOM);
        break;
    case WIRE_RESUME:
        lose_zero(world, era, SELDOM);
        break;
    case WIRE_COMMITTED: /* of which a host that stands still may never hear */
        lose_zero(world, era, world->halts.stalls ? 2 : SELDOM);
        break;
    case WIRE_ABANDON:
        summary.failed++;
        world->saved.failed = true;
        break;
    case WIRE_STOP_RANKS:
        if (!message->stop_ranks.again)
            fail(world, "processes are stopped");
        break;
    default:
        break;
    }
}

/* What bsprun hears. */
static void tell(struct world *world, uint32_t era, const struct wire_message *message)
{
    struct action *action;

    if (message->kind == WIRE_CLOSING && !message->closing.whole) {
        losses_stuck(world);
    } else if (message->kind == WIRE_CLOSING) {
        action = timeline_plan(&world->time, 1 + timeline_apart(&world->time, 20));
        action->kind = DO_CLOSED;
        action->era = era;
    } else if (message->kind == WIRE_SAVED && message->saved.superstep > 0) {
        summary.committed += !message->saved.known;
        saved_committed(world, message->saved.superstep);
        /* Its last words may be lost with it. */
        if (timeline_apart(&world->time, 4) > 0)
            world->halts.told = (struct bspz_snapshot_name){message->saved.superstep, TERM};
    }
}

/* What its predecessor has said, after all know what was decided. */
static void note_taken_over(const struct coord_effects *effects, const struct coord *coord)
{
    bool over = false;

    for (uint32_t i = 0; i < effects->count; i++) {
        enum wire_kind kind = effects->items[i].message.kind;

        if (effects->items[i].kind != COORD_EFFECT_SEND)
            continue;
        over |= kind == WIRE_TAKEN_OVER;
        summary.told_again += over && kind == WIRE_HALT_AT;
    }
    summary.in_capture += over && coord_phase(coord) == COORD_CAPTURING;
}

/* The term ends by a fault: only if no host is left that knows where all have stopped. */
static void go_back(struct world *world, const struct coord *coord)
{
    struct coord_outcome outcome = coord_outcome(coord);

    if (!outcome.again || outcome.superstep < world->saved.committed)
        fail(world, "the term ends: %s", wire_cause_text(outcome.cause));
    for (uint32_t i = 0; i < world->host_count; i++)
        if (!world->hosts[i].lost && halts_know(world, i, outcome.superstep))
            fail(world, "the term ends, and host %u knows where they have stopped", i);
    went_back++;
    saved_back(world);
}

static void set_timer(struct world *world, uint32_t era, const struct coord_effect *effect)
{
    struct action *action = timeline_plan(&world->time, effect->milliseconds);

    action->kind = DO_TIMER;
    action->era = era;
    action->pid = effect->timer;
    action->number = ++world->halts.zeros[era].timers[effect->timer];
}

static void carry_out(struct world *world, uint32_t era, const struct coord_effects *effects)
{
    struct zero *zero = &world->halts.zeros[era];

    note_taken_over(effects, zero->coord);
    for (uint32_t i = 0; i < effects->count; i++) {
        const struct coord_effect *effect = &effects->items[i];

        switch (effect->kind) {
        case COORD_EFFECT_TELL:
            tell(world, era, &effect->message);
            break;
        case COORD_EFFECT_SEND:
            note_said(world, era, &effect->message);
            send_to_all(world, era, &effect->message);
            break;
        case COORD_EFFECT_SET_TIMER:
            set_timer(world, era, effect);
            break;
        case COORD_EFFECT_CANCEL_TIMER:
            zero->timers[effect->timer]++;
            break;
        default:
            go_back(world, zero->coord);
        }
    }
}

/* ---- What it hears --------------------------------------------------------------------------- */

static bool decides(const struct world *world, uint32_t era)
{
    return !world->stuck && !world->over && world->halts.zeros[era].coord &&
           !world->hosts[world->halts.zeros[era].host].lost;
}

static void feed(struct world *world, uint32_t era, uint32_t from,
                 const struct wire_message *message)
{
    struct coord_effects effects;
    struct zero *zero = &world->halts.zeros[era];

    if (!decides(world, era))
        return;
    if (coord_step(zero->coord, now_ns(world), from, message, &effects) < 0)
        fail(world, "%s: %s", wire_kind_name(message->kind), effects.complaint);
    carry_out(world, era, &effects);
}

static void order(struct world *world, struct wire_message message)
{
    message.envelope.term = TERM;
    feed(world, world->halts.era, COORD_BSPRUN, &message);
}

static void expire(struct world *world, const struct action *action)
{
    struct coord_effects effects;
    struct zero *zero = &world->halts.zeros[action->era];

    if (!decides(world, action->era) || action->number != zero->timers[action->pid])
        return;
    coord_expire(zero->coord, now_ns(world), (enum coord_timer)action->pid, &effects);
    carry_out(world, action->era, &effects);
}

static void check_limit(const struct world *world, const struct action *action)
{
    const struct zero *zero = &world->halts.zeros[action->era];

    if (decides(world, action->era) && coord_phase(zero->coord) == COORD_RUNNING &&
        coord_outcome(zero->coord).superstep == action->number)
        fail(world, "processes never stop");
}

static void hear(struct world *world, const struct action *action)
{
    const struct host *zero = &world->hosts[world->halts.zeros[action->era].host];

    if (host_hears(zero, &world->hosts[action->from]))
        feed(world, action->era, action->from, action->message);
    host_drop(action->message);
}

void zero_carry_out(struct world *world, const struct action *action)
{
    switch (action->kind) {
    case DO_TO_ZERO:
        hear(world, action);
        break;
    case DO_TIMER:
        expire(world, action);
        break;
    case DO_SAVE:
        order(world, (struct wire_message){.kind = WIRE_SAVE});
        break;
    case DO_CLOSED:
        if (action->era == world->halts.era)
            order(world, (struct wire_message){.kind = WIRE_CLOSED});
        break;
    default:
        check_limit(world, action);
        break;
    }
}

/* ---- Another one ----------------------------------------------------------------------------- */

/* Of the hosts that bsprun does not know to be lost. */
static uint32_t choose(struct world *world)
{
    uint32_t at = (uint32_t)timeline_apart(&world->time, world->host_count);

    while (world->saved.known_lost[at])
        at = (at + 1) % world->host_count;
    return at;
}

static void take_over(struct world *world)
{
    struct halts *halts = &world->halts;
    struct coord_config config = halts->config;
    struct zero *zero = &halts->zeros[++halts->era];

    config.predecessor = (struct coord_predecessor){.homes = {halts->homes, world->process_count},
                                                    .leads = {halts->pairs, halts->pair_count},
                                                    .committed = halts->told};
    *zero = (struct zero){.coord = coord_new(&config), .host = choose(world)};
    if (!zero->coord)
        fail(world, "there is no other Processor Zero");
    note(world, "host %u is Processor Zero", zero->host);
    summary.taken_over++;
    summary.taken_again += halts->era > 1;
    world->saved.failed = true; /* what is being taken */
    for (uint32_t i = 0; i < world->host_count; i++) {
        struct action *action;

        if (world->saved.known_lost[i]) {
            order(world, (struct wire_message){.kind = WIRE_LINK_LOST, .link_lost.peer = i});
            continue;
        }
        action = timeline_plan(&world->time, 1 + timeline_apart(&world->time, 30));
        action->kind = DO_TAKE_OVER;
        action->to = i;
        action->era = halts->era;
    }
}

void zero_lost(struct world *world, uint32_t host)
{
    world->saved.known_lost[host] = true;
    if (host == zero_of(world)->host)
        take_over(world);
    else
        order(world, (struct wire_message){.kind = WIRE_LINK_LOST, .link_lost.peer = host});
}

/* ---- The beginning --------------------------------------------------------------------------- */

/* As PLACE says. */
static void note_place(struct world *world, const struct wire_place *place)
{
    struct halts *halts = &world->halts;

    world->process_count = place->processes;
    for (uint32_t i = 0; i < world->host_count; i++)
        world->leads[i] = i;
    halts->pair_count = place->leads.count;
    memcpy(halts->pairs, place->leads.items, halts->pair_count * sizeof *halts->pairs);
    for (uint32_t i = 0; i + 1 < halts->pair_count; i += 2)
        world->leads[halts->pairs[i]] = (uint32_t)halts->pairs[i + 1];
    memcpy(halts->homes, place->host_of.items, place->processes * sizeof *halts->homes);
    for (uint32_t pid = 0; pid < place->processes; pid++)
        world->processes[pid].lead = (uint32_t)halts->homes[pid];
}

/* In no time: who is placed where, snapshot 0, and that all run. */
static void step(struct world *world, uint32_t from, struct wire_message message)
{
    struct coord_effects effects;

    message.envelope.term = TERM;
    *wire_sender(&message) = from;
    if (coord_step(zero_of(world)->coord, now_ns(world), from, &message, &effects) < 0)
        fail(world, "at the beginning: %s", effects.complaint);
    for (uint32_t i = 0; i < effects.count; i++) {
        const struct coord_effect *effect = &effects.items[i];

        if (effect->kind == COORD_EFFECT_SET_TIMER)
            set_timer(world, 0, effect);
        if (effect->kind == COORD_EFFECT_SEND && effect->message.kind == WIRE_PLACE)
            note_place(world, &effect->message.place);
        if (effect->kind == COORD_EFFECT_SEND && effect->message.kind == WIRE_RUN)
            for (uint32_t host = 0; host < world->host_count; host++)
                world->halts.hosts[host].consult = world->halts.hosts[host].known.next =
                    effect->message.run.consult;
    }
}

static uint32_t count_on(const struct world *world, uint32_t host)
{
    uint32_t count = 0;

    for (uint32_t pid = 0; pid < world->process_count; pid++)
        count += world->processes[pid].lead == world->leads[host];
    return count;
}

static void begin_term(struct world *world)
{
    struct coord *coord = zero_of(world)->coord;
    uint32_t first = (uint32_t)pick(world, world->host_count);

    for (uint32_t i = 0; i < world->host_count; i++)
        step(world, i,
             (struct wire_message){.kind = WIRE_HOST_READY,
                                   .host_ready = {.slots = 1 + (uint32_t)pick(world, 3),
                                                  .shared = world->halts.shared,
                                                  .available = WIRE_NEVER}});
    step(world, first, (struct wire_message){.kind = WIRE_REGISTERED});
    step(world, first,
         (struct wire_message){.kind = WIRE_IMAGE_DURABLE, .image_durable.facts.size = 7});
    for (uint32_t i = 0; i < world->host_count; i++)
        if (coord_is_addressed(coord, i, WIRE_PERSIST))
            step(world, i, (struct wire_message){.kind = WIRE_PERSISTED});
    for (uint32_t i = 0; i < world->host_count; i++)
        step(world, i, (struct wire_message){.kind = WIRE_KNOWN});
    for (uint32_t i = 0; i < world->host_count; i++)
        step(world, i,
             (struct wire_message){.kind = WIRE_RANKS_READY,
                                   .ranks_ready.count = count_on(world, i)});
    if (coord_phase(coord) != COORD_RUNNING)
        fail(world, "the term does not begin: %s", coord_phase_name(coord_phase(coord)));
}

/* As many replicas of each process, or more of the first ones than of others, or fewer. */
static void choose_replicas(struct world *world, struct coord_config *config)
{
    uint32_t some = 1 + (uint32_t)pick(world, REPLICAS), others = 1 + some % REPLICAS;
    struct replica_counts counts = {.count = 2, .runs = {{0, some}, {1, others}}};

    world->process_count = 1 + (uint32_t)pick(world, PROCESSES);
    config->replicas = 2 + (uint32_t)pick(world, REPLICAS - 1);
    if (pick(world, 3) == 0 && world->process_count > 1) {
        config->counts = counts;
        config->replicas = replica_counts_hosts(&counts, world->process_count);
        summary.mixed++;
    }
    world->host_count = config->replicas + (uint32_t)pick(world, HOSTS - config->replicas + 1);
    if (world->host_count > world->time.job.hosts && world->time.job.hosts >= config->replicas)
        world->host_count = (uint32_t)world->time.job.hosts;
    if (config->counts.count > 0)
        config->replicas = 0;
}

void zero_begin(struct world *world)
{
    static const struct policy_rule rules[] = {
        {.kind = POLICY_OFF},
        {.kind = POLICY_AUTO, .overhead = 1e-6},
        {.kind = POLICY_TIME, .every = UINT64_C(6000000000)}};
    struct halts *halts = &world->halts;
    struct coord_config config = {.term = TERM,
                                  .processes_max = PROCESSES,
                                  .abort_at = COORD_NEVER,
                                  .snapshots = true,
                                  .recover = true};

    choose_replicas(world, &config);
    for (uint32_t i = 0; i < world->host_count; i++)
        halts->listed[i] = (struct wire_host){.host = i, .name = "h"};
    config.host_count = world->host_count;
    config.hosts = halts->listed;
    config.process_limit = world->process_count;
    config.by_node = pick(world, 2) == 0;
    halts->shared = pick(world, 2) == 0;
    config.rule = rules[pick(world, sizeof rules / sizeof *rules)];
    config.notice = (double)(10u << timeline_apart(&world->time, 12)) / 1e3;
    halts->config = config;
    halts->told.term = TERM;
    halts->zeros[0] = (struct zero){.coord = coord_new(&config),
                                    .host = (uint32_t)pick(world, world->host_count)};
    if (!halts->zeros[0].coord)
        fail(world, "there is no Processor Zero");
    begin_term(world);
}

void zero_plan(struct world *world)
{
    uint64_t when = 0;

    for (uint64_t saves = timeline_apart(&world->time, SAVES_MOST + 1); saves > 0; saves--) {
        struct action *action;

        when += timeline_apart(&world->time, APART);
        action = timeline_plan(&world->time, when);
        action->kind = DO_SAVE;
    }
}

void zero_end(struct world *world)
{
    for (uint32_t era = 0; era <= world->halts.era; era++)
        coord_free(world->halts.zeros[era].coord);
    memset(world->halts.zeros, 0, sizeof world->halts.zeros);
}

/* ---- The end --------------------------------------------------------------------------------- */

void zero_check_end(const struct world *world)
{
    const struct zero *zero = &world->halts.zeros[world->halts.era];

    if (world->stuck || world->over)
        return;
    if (coord_phase(zero->coord) != COORD_ENDING)
        fail(world, "all stand still: Processor Zero is in state %s",
             coord_phase_name(coord_phase(zero->coord)));
    for (uint32_t i = 0; i < world->host_count; i++)
        if (count_on(world, i) > 0 && !world->hosts[i].lost && !world->halts.hosts[i].left)
            fail(world, "host %u stands still at barrier %llu", i,
                 (unsigned long long)world->halts.hosts[i].superstep);
}

int zero_report(void)
{
    printf("asked %llu times where they stop, said %llu times; %llu barriers without a snapshot, "
           "%llu snapshots, %llu failed, %llu committed; %llu ends; %llu times another Processor "
           "Zero, %llu in the place of another one, %llu in the midst of a snapshot, %llu said "
           "again where they stop; %llu jobs with different numbers of replicas; %llu went "
           "back as nobody knew\n",
           (unsigned long long)summary.asked, (unsigned long long)summary.said,
           (unsigned long long)summary.spared, (unsigned long long)summary.snapshots,
           (unsigned long long)summary.failed, (unsigned long long)summary.committed,
           (unsigned long long)summary.ended, (unsigned long long)summary.taken_over,
           (unsigned long long)summary.taken_again, (unsigned long long)summary.in_capture,
           (unsigned long long)summary.told_again, (unsigned long long)summary.mixed,
           (unsigned long long)went_back);
    return seeds_missing(&summary, sizeof summary);
}
