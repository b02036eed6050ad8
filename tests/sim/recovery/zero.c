/* zero.c - Processor Zero of the made-up world: the real one, in its shell. */
#include "tests/sim/recovery/made_up.h"

#include <stdlib.h>
#include <string.h>

#include "bsprun/agent/core/known.h"

static const unsigned char job[WIRE_JOB_SIZE] = "a made-up job";

static bool reaches(const struct world *world, const struct zero *zero, uint32_t host)
{
    return zero->host == host ||
           (!world->agents[host].cut_off && !world->agents[zero->host].cut_off &&
            hears(world, host, zero->host) && hears(world, zero->host, host));
}

/* With replicas the term outlives that: a link on which something was lost brings nothing any more.
 */
static bool passes(const struct world *world, struct zero *zero, uint32_t host)
{
    uint64_t bit = (uint64_t)1 << host;
    if (!reaches(world, zero, host))
        zero->broken |= cells_any(world) ? bit : 0;
    return reaches(world, zero, host) && !(zero->broken & bit);
}

static void tell(struct zero *zero, const struct wire_message *message)
{
    struct world *world = zero->world;
    struct job_event event = {.term = zero->term};
    switch (message->kind) {
    case WIRE_CHOSEN:
        event.kind = JOB_EVENT_CHOSEN;
        event.name = message->chosen.name;
        check_chosen(world, zero, event.name);
        memory_missed(zero, &message->chosen);
        break;
    case WIRE_SAVED:
        if (message->saved.known) {
            event.kind = JOB_EVENT_PLACED;
            event.replicas = message->saved.replicas;
            if (cells_any(world) && message->saved.superstep == 0)
                tell_bsprun(world, zero->host, event);
            return;
        }
        event.kind = JOB_EVENT_COMMITTED;
        event.name = (struct bspz_snapshot_name){message->saved.superstep, zero->term};
        check_committed(world, zero, event.name);
        step_is_done(world, STEP_COMMITTED);
        if (world->agents[zero->host].cut_off)
            return; /* nobody hears */
        world->announced = event.name;
        world->commits++;
        break;
    case WIRE_UNSAVED:
        event.kind = JOB_EVENT_UNSAVED;
        break;
    default: /* CLOSING */
        event.kind = JOB_EVENT_CLOSING;
        event.outcome.cause = coord_outcome(coord_shell_state(zero->shell)).cause;
        event.cut_short = !message->closing.whole;
        if (event.outcome.cause == WIRE_CAUSE_NOTHING_SAVED)
            check_nothing_saved(world, zero);
        if (event.outcome.cause == WIRE_CAUSE_NO_MEMORY)
            memory_check_refusal(world, zero);
        break;
    }
    learned_say(world, zero, tell_bsprun(world, zero->host, event));
}

/* Where a term restores processes to. */
static void check_places(struct world *world, const struct zero *zero, const uint64_t *host_of)
{
    uint64_t wanted[RANKS];

    memcpy(wanted, host_of, world->processes * sizeof(*wanted));
    for (uint32_t i = 0; i < zero->move_count; i++) {
        uint64_t bit = (uint64_t)1 << host_index(world, zero->moves[i].host);
        if ((zero->member_bits & bit) && zero->moves[i].pid < world->processes)
            wanted[zero->moves[i].pid] =
                zero->drained & bit ? host_of[zero->moves[i].pid] : zero->moves[i].host;
    }
    for (uint32_t pid = 0; pid < world->processes; pid++) {
        if (zero->missed & (uint64_t)1 << pid)
            continue; /* which was said */
        if (zero->drained & (uint64_t)1 << host_index(world, (uint32_t)host_of[pid]))
            fail(world, "process %u goes to a drained host", pid);
        if (host_of[pid] != wanted[pid])
            fail(world, "process %u is not moved to host %u", pid, (unsigned)wanted[pid]);
    }
}

/* ---- Restoring ahead ---- */

uint32_t ahead_count(const struct world *world, uint32_t host, const struct wire_message *order)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < order->ahead.moves.count; i++)
        count += order->ahead.moves.items[i].host == world->agents[host].id;
    return count;
}

/* As said to that host, of processes that are elsewhere now, of hosts of the term.  An answer is
 * awaited of each that is named. */
static void note_ahead(struct zero *zero, uint32_t host, const struct wire_message *order)
{
    struct world *world = zero->world;
    uint64_t bit = (uint64_t)1 << host;
    if (!world->shared)
        fail(world, "full images are to be restored ahead");
    for (uint32_t i = 0; i < order->ahead.moves.count; i++) {
        const struct wire_move *move = &order->ahead.moves.items[i];
        uint32_t to = host_index(world, move->host);
        if (move->pid >= world->processes || (i > 0 && move[-1].pid >= move->pid))
            fail(world, "process %u is to be restored ahead", move->pid);
        if (to == world->host_count || !(zero->member_bits & (uint64_t)1 << to) ||
            (world->agents[to].term == zero->term && world->agents[to].mine[move->pid]))
            fail(world, "process %u is to be restored ahead on host %u", move->pid, move->host);
    }
    if (ahead_count(world, host, order) == 0)
        return;
    if (zero->ahead & bit)
        fail(world, "AHEAD comes before the last one is answered");
    zero->ahead |= bit;
    zero->said_ahead = true;
}

/* What bsprun expects: where the newest moves go; sometimes nothing, sometimes nonsense. */
static struct wire_move_list expect_moves(struct world *world,
                                          struct wire_move expected[WANTED_MOVES + 4])
{
    uint32_t count = 0;
    if (apart(world, 4) == 0)
        return (struct wire_move_list){NULL, 0};
    for (uint32_t i = 0; i < WANTED_MOVES && i < world->wanted_count; i++)
        expected[count++] = world->wanted_moves[i];
    for (uint32_t i = 0; i < 4; i++)
        expected[count++] = (struct wire_move){(uint32_t)apart(world, world->processes + 2),
                                               world->agents[apart(world, world->host_count)].id +
                                                   (apart(world, 8) == 0)};
    return (struct wire_move_list){expected, count};
}

static void on_send(void *context, uint32_t id, const struct wire_message *message)
{
    struct zero *zero = context;
    struct world *world = zero->world;
    uint32_t host = host_index(world, id);
    struct bspz_snapshot_name name = {message->envelope.superstep, zero->term};
    if (message->envelope.term != zero->term)
        fail(world, "term %u sends in term %u", zero->term, message->envelope.term);
    if (id == COORD_BSPRUN) {
        tell(zero, message);
        return;
    }
    if (cells_any(world))
        cells_said(zero, message);
    if (message->kind == WIRE_PERSIST)
        check_images(world, name);
    if (message->kind == WIRE_RESTORE) {
        check_places(world, zero, message->restore.host_of.items);
        memory_check_places(world, zero, &message->restore);
    }
    if (message->kind == WIRE_AHEAD)
        note_ahead(zero, host, message);
    if (message->kind == WIRE_RELEASE && message->release.last && zero->ahead && !zero->stops)
        fail(world, "a move is decided while processes are restored ahead");
    if (message->kind == WIRE_RELEASE && !cells_any(world) &&
        (message->release.decision == WIRE_DECISION_GO ||
         message->release.decision == WIRE_DECISION_SNAPSHOT))
        check_leave(world, zero->term, message->envelope.superstep);
    if (!passes(world, zero, host))
        return;
    struct action *action = plan_on_link(world, DO_TO_AGENT, host, 1);
    action->term = zero->term;
    action->era = zero->era;
    char error[WIRE_ERROR_SIZE];
    if (wire_encode(message, &action->frame, error, sizeof(error)) < 0)
        fail(world, "cannot encode: %s", error);
}

static void on_set_timer(void *context, enum coord_timer timer, uint64_t milliseconds)
{
    struct zero *zero = context;
    struct action *action = plan(zero->world, DO_ZERO_TIMER, milliseconds);
    action->term = zero->term;
    action->host = timer;
    action->number = ++zero->timers[timer];
}

static void on_cancel_timer(void *context, enum coord_timer timer)
{
    ((struct zero *)context)->timers[timer]++;
}

static void on_drop_host(void *context, uint32_t id, const char *complaint)
{
    fail(((struct zero *)context)->world, "honest host %u is dropped: %s", id, complaint);
}

static void on_finish(void *context, const struct coord_outcome *outcome)
{
    struct zero *zero = context;
    if (zero->finished)
        fail(zero->world, "FINISH comes twice");
    zero->finished = true;
    zero->moved = outcome->cause == WIRE_CAUSE_MOVED;
    zero->world->moves += zero->moved;
    zero->world->moves_ahead += outcome->cause == WIRE_CAUSE_MOVED && zero->said_ahead;
    if (outcome->cause == WIRE_CAUSE_MOVED && zero->ahead)
        fail(zero->world, "processes move while they are restored ahead");
    zero->world->own_moves += outcome->moves.count;
    zero->world->moving_seconds = outcome->moving_seconds;
    zero->world->passed_seconds = outcome->passed_seconds;
    for (uint32_t i = 0; i < outcome->moves.count; i++)
        zero->world->wanted_moves[zero->world->wanted_count++ % WANTED_MOVES] =
            outcome->moves.items[i];
    if (outcome->cause == WIRE_CAUSE_NOTHING_SAVED && !zero->world->nothing_saved)
        check_nothing_saved(zero->world, zero);
    if (outcome->cause == WIRE_CAUSE_NO_MEMORY && !zero->world->no_memory)
        memory_check_refusal(zero->world, zero);
    note(zero->world, "term %u is over: %s%s", zero->term, wire_cause_text(outcome->cause),
         outcome->again ? ", again" : "");
    struct job_event event = {.kind = outcome->again ? JOB_EVENT_TERM_OVER : JOB_EVENT_ENDED,
                              .term = zero->term,
                              .outcome = *outcome};
    event.outcome.text = "";
    event.outcome.moves = (struct wire_move_list){NULL, 0};
    learned_say(zero->world, zero, tell_bsprun(zero->world, zero->host, event));
}

static void on_trace(void *context, const char *text)
{
    note(((struct zero *)context)->world, "zero: %s", text);
}

static uint64_t on_now(void *context)
{
    return ((struct zero *)context)->world->time.now * 1000000u;
}

/* Moves may take any time. */
static const struct balance_rule eager = {
    .budget = 1e9, .alpha_least = 1, .alpha_most = 2, .moves = RANKS};

static void set_up(struct world *world, struct coord_config *config, uint64_t bits,
                   uint64_t drained, struct wire_host hosts[HOSTS])
{
    const struct bspz_snapshot_name *avoid;
    uint32_t count = 0;
    uint32_t term = config->term;
    for (uint32_t i = 0; i < world->host_count; i++)
        if (bits >> i & 1)
            hosts[count++] =
                (struct wire_host){.host = world->agents[i].id, .drained = (drained >> i & 1) != 0};
    *config = (struct coord_config){
        .term = term,
        .host_count = count,
        .hosts = hosts,
        .processes_max = RANKS,
        .by_node = world->host_count % 2 == 0,
        .consult_every = count > 1, /* barriers between hosts go through Processor Zero here */
        .abort_at = COORD_NEVER,
        .stop_grace_ms = 200,
        .snapshots = true,
        .recover = true,
        .rule = world->rule,
        .stop_on_failure = world->stop_on_failure,
        .stop_on_late_failure = world->stop_on_late_failure,
        .copies = 2,
        .replicas = world->replicas,
        .anew = world->anew,
        .balance = world->balance,
        .moving_seconds = world->moving_seconds,
        .passed_seconds = world->passed_seconds,
        .balance_rule = &eager,
        .look_ns = 5000000,
        .moves = {world->wanted_moves,
                  world->wanted_count < WANTED_MOVES ? world->wanted_count : WANTED_MOVES},
        .restore = job_machine_restores(world->machine),
        .wanted = job_machine_wanted(world->machine),
        .lineage = job_machine_lineage(world->machine),
        .estimate = world->handed[term].estimate,
        .seen = world->handed[term].seen,
        .recovery = world->handed[term].recovery,
        .notice = (double)FENCE_MS / 1e3,
    };
    config->avoid_count = job_machine_avoid(world->machine, &avoid);
    memcpy(config->job, job, sizeof(job));
    memcpy(config->avoid, avoid, config->avoid_count * sizeof(*avoid));
}

static void begin(struct zero *zero, const struct coord_config *config)
{
    struct coord_shell_calls calls = {.send = on_send,
                                      .set_timer = on_set_timer,
                                      .cancel_timer = on_cancel_timer,
                                      .drop_host = on_drop_host,
                                      .finish = on_finish,
                                      .trace = zero->world->time.job.verbose ? on_trace : NULL,
                                      .now_ns = on_now};
    zero->shell = coord_shell_new(config, &calls, zero);
    if (!zero->shell)
        fail(zero->world, "no Processor Zero");
    note(zero->world, "term %u: Processor Zero on host %u", zero->term,
         zero->world->agents[zero->host].id);
}

void zero_create(struct world *world, uint32_t host, uint32_t term)
{
    struct wire_host hosts[HOSTS];
    uint64_t bits = 0, drained = 0;
    for (uint32_t i = 0; i < world->host_count; i++)
        if (job_machine_member(world->machine, world->agents[i].id)) {
            bits |= (uint64_t)1 << i;
            drained |= (uint64_t)job_machine_drained(world->machine, world->agents[i].id) << i;
        }
    struct coord_config config = {.term = term};
    set_up(world, &config, bits, drained, hosts);
    struct zero *zero = &world->zeros[term];
    if (zero->shell)
        fail(world, "term %u has two Processor Zeros", term);
    *zero = (struct zero){.world = world,
                          .host = host,
                          .life = world->agents[host].life,
                          .term = term,
                          .members = config.host_count,
                          .wanted = config.wanted,
                          .member_bits = bits,
                          .drained = drained == bits ? 0 : drained,
                          .move_count = config.moves.count,
                          .gone = !world->agents[host].up};
    memcpy(zero->moves, world->wanted_moves, sizeof(zero->moves));
    begin(zero, &config);
}

/* Which hosts it does not obey, and which are lost, bsprun says. */
static void list_leads(const struct zero *zero, uint64_t leads[2 * HOSTS],
                       struct coord_predecessor *predecessor)
{
    const struct world *world = zero->world;
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->host_count; i++)
        if ((zero->member_bits >> i & 1) && zero->lead[i] != world->agents[i].id) {
            leads[count++] = world->agents[i].id;
            leads[count++] = zero->lead[i];
        }
    predecessor->homes = (struct wire_numbers){zero->homes, world->processes};
    predecessor->leads = (struct wire_numbers){leads, count};
    predecessor->committed = world->heard_of;
}

void zero_succeed(struct world *world, uint32_t host)
{
    struct wire_host hosts[HOSTS];
    uint64_t leads[2 * HOSTS];
    struct zero *zero = &world->zeros[job_machine_term(world->machine)];
    struct coord_config config = {.term = zero->term};
    if (!world->agents[host].replicated.placed)
        return; /* its agent knows of no replicas */
    set_up(world, &config, zero->member_bits, zero->drained, hosts);
    list_leads(zero, leads, &config.predecessor);
    coord_shell_free(zero->shell);
    for (unsigned i = 0; i < COORD_TIMER_COUNT; i++)
        zero->timers[i]++;
    zero->host = host;
    zero->life = world->agents[host].life;
    zero->era++;
    zero->gone = !world->agents[host].up;
    zero->finished = zero->moved = false;
    zero->ahead = zero->broken = 0;
    world->taken_over++;
    begin(zero, &config);
    for (uint32_t i = 0; i < world->host_count; i++) {
        if (!(zero->member_bits >> i & 1))
            continue;
        if (!job_machine_goes_on(world->machine, world->agents[i].id)) {
            coord_shell_host_lost(zero->shell, world->agents[i].id);
        } else if (!world->agents[i].cut_off) {
            struct action *action = plan_on_link(world, DO_TAKE_OVER, i, 2);
            action->term = zero->term;
            action->era = zero->era;
        }
    }
}

void send_to_zero(struct world *world, uint32_t host, struct wire_message *message)
{
    struct agent *agent = &world->agents[host];
    struct zero *zero = &world->zeros[agent->term];
    if (!zero->shell || zero->gone || zero->era != agent->replicated.era ||
        !passes(world, zero, host) || (agent->replicated.waits && !known_lets(message->kind)))
        return;
    memcpy(message->envelope.job, job, WIRE_JOB_SIZE);
    message->envelope.term = agent->term;
    *wire_sender(message) = agent->id;
    struct action *action = plan_on_link(world, DO_TO_ZERO, host, 0);
    action->term = agent->term;
    action->era = zero->era;
    char error[WIRE_ERROR_SIZE];
    if (wire_encode(message, &action->frame, error, sizeof(error)) < 0)
        fail(world, "cannot encode: %s", error);
}

void zero_frame(struct world *world, struct action *action)
{
    struct zero *zero = &world->zeros[action->term];
    if (!zero->shell || zero->gone || zero->era != action->era)
        return;
    struct wire_message message;
    if (wire_decode(action->frame.data + WIRE_HEADER, action->frame.size - WIRE_HEADER, &message,
                    NULL, 0) < 0)
        fail(world, "an agent sends what cannot be read");
    if (message.kind == WIRE_AHEAD_READY)
        zero->ahead &= ~((uint64_t)1 << action->host);
    coord_shell_message(zero->shell, world->agents[action->host].id, &message);
    world->held_back += coord_phase(coord_shell_state(zero->shell)) == COORD_HELD_BACK;
    wire_message_free(&message);
}

void zero_told(struct world *world, const struct action *action)
{
    struct zero *zero = &world->zeros[action->effect.term];
    const struct job_effect *effect = &action->effect;
    if (!zero->shell || zero->gone || zero->host != action->host)
        return;
    struct wire_message message = {.kind = WIRE_CLOSED, .envelope.term = effect->term};
    struct wire_move expected[WANTED_MOVES + 4];
    memcpy(message.envelope.job, job, WIRE_JOB_SIZE);
    if (effect->kind == JOB_EFFECT_TERM_RECORDED) {
        message.kind = WIRE_TERM_RECORDED;
    } else if (effect->kind == JOB_EFFECT_STOP) {
        message.kind = WIRE_STOP;
        message.stop = (struct wire_stop){effect->how, effect->signal, "asked to"};
    } else if (effect->kind != JOB_EFFECT_CLOSED) {
        message.kind = WIRE_SAVE;
        message.save = (struct wire_save){.stop = effect->stop,
                                          .move = effect->move,
                                          .signal = effect->signal,
                                          .grace_ms = effect->milliseconds};
        zero->stops = zero->stops || effect->stop;
        if (effect->move)
            message.save.expected = expect_moves(world, expected);
    }
    coord_shell_message(zero->shell, COORD_BSPRUN, &message);
}

void zero_timer(struct world *world, const struct action *action)
{
    struct zero *zero = &world->zeros[action->term];
    if (zero->shell && !zero->gone && !zero->finished &&
        zero->timers[action->host] == action->number)
        coord_shell_timer(zero->shell, (enum coord_timer)action->host);
}

/* With replicas bsprun says who is lost, as Processor Zero's host may be the one that is cut off.
 */
void zero_notice(struct world *world, const struct action *action)
{
    struct zero *zero = &world->zeros[action->term];
    if (action->number == ON_ITS_OWN && zero->shell && world->agents[zero->host].replicated.placed)
        return;
    if (zero->shell && !zero->gone && !zero->finished &&
        zero->member_bits & (uint64_t)1 << action->host)
        coord_shell_host_lost(zero->shell, world->agents[action->host].id);
}
