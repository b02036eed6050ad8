/* zero.c - Processor Zero in this agent: hands it events, carries out what it decides.
 *
 * Happy path: elected -> PLACE -> RUN -> (ARRIVE, RELEASE for every consulted superstep) -> the
 * barrier of bsp_end -> RANK_EXITED of all -> END -> finish.
 *
 * What can fail: the placing (no memory), which becomes an ABORT; everything else is told to the
 * state machine, which answers STOP_RANKS.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bsprun/agent/agent.h"
#include "bsprun/agent/peers.h"

static bool is_sensible(const struct agent *agent, const struct wire_place *order)
{
    if (order->processes < 1 || order->processes > BSPZ_MAX_PROCS ||
        order->host_of.count != order->processes)
        return false;
    for (uint32_t pid = 0; pid < order->processes; pid++)
        if (order->host_of.items[pid] >= WIRE_HOSTS_MAX)
            return false;
    return agent->nprocs == 0 || agent->nprocs == (int)order->processes;
}

/* Process 0 waits in bsp_begin here; the others are made of it. */
static void form(struct agent *agent, const struct wire_place *order)
{
    if (order->snapshot)
        agent_snapshots_order_first(agent);
    if (atomic_load(&agent->board->phase) < BSPZ_PHASE_LAYOUT)
        bspz_word_set(&agent->board->phase, BSPZ_PHASE_LAYOUT);
    agent_scan(agent);
}

/* Process 0 lives elsewhere: those of this host will be made of snapshot 0, once it is committed. */
static void wait_for_image(struct agent *agent)
{
    bspz_board_reset(agent->board, agent->board_fd, agent->nprocs);
    agent_write_homes(agent);
    agent_snapshots_mark_first(agent);
    if (agent->here == 0)
        agent_all_ready(agent);
}

static void place(struct agent *agent, const struct wire_place *order)
{
    struct verdict verdict = {.cause = WIRE_CAUSE_PLACEMENT, .status = 1};
    int error = -EPROTO;

    if (!job_may_move(agent->job, JOB_FORMING))
        return;
    job_move(&agent->job, JOB_FORMING);
    if (is_sensible(agent, order))
        error = agent->nprocs > 0
                    ? 0
                    : agent_place(agent, (int)order->processes, &order->host_of);
    if (error == 0)
        agent_snapshots_copies(agent, order->copies);
    if (error == 0 && agent_is_here(agent, 0)) {
        form(agent, order);
        return;
    }
    if (error == 0) {
        wait_for_image(agent);
        return;
    }
    snprintf(verdict.text, sizeof verdict.text,
             "no shared memory for %u processes: %s (the limits of this shell: ulimit -a)",
             order->processes, strerror(-error));
    agent_abort(agent, COORD_NOBODY, &verdict);
}

static void tell_running(struct agent *agent, const struct wire_run *order)
{
    struct wire_message message = {.kind = WIRE_RUNNING};
    struct agent_learned learned = agent_learned(agent);

    message.running.processes = order->processes;
    message.running.estimate = learned.estimate;
    message.running.interval_ns = learned.interval_ns;
    message.running.why = learned.why;
    agent_send(agent, &message);
}

static void run(struct agent *agent, const struct wire_run *order)
{
    if (!job_may_move(agent->job, JOB_RUNNING))
        return;
    job_move(&agent->job, JOB_RUNNING);
    if (!agent->begin_ns)
        agent->begin_ns = agent_now_ns();
    atomic_store(&agent->board->consult_from, order->consult);
    bspz_word_set(&agent->board->phase, BSPZ_PHASE_RUN);
    agent_opened_begin(agent);
    agent_say_idle(agent);
    if (agent->zero)
        tell_running(agent, order);
    if (agent->order.verbosity >= 1 && agent->zero) {
        struct wire_message status = {.kind = WIRE_NOTICE};
        char text[WIRE_NAME_MAX + 80];

        snprintf(text, sizeof text, "Processor Zero is host %s (term %u), p = %u", agent->host_name,
                 agent->term, order->processes);
        status.notice.text = text;
        agent_send(agent, &status);
    }
}

static enum bspz_decision decision_word(uint32_t decision)
{
    return decision == WIRE_DECISION_ABORT      ? BSPZ_DECIDE_ABORT
           : decision == WIRE_DECISION_SNAPSHOT ? BSPZ_DECIDE_SNAPSHOT
                                                : BSPZ_DECIDE_GO;
}

static void release(struct agent *agent, const struct wire_message *message)
{
    uint64_t superstep = message->envelope.superstep;

    if (superstep + 1 != agent->consulted)
        return; /* a barrier of bsp_end that nobody waits at here */
    agent->let_out = message->release.decision == WIRE_DECISION_END;
    if (message->release.decision == WIRE_DECISION_SNAPSHOT &&
        !agent_snapshots_order(agent, superstep))
        return;
    agent_answer(agent, superstep, decision_word(message->release.decision),
                 message->release.consult);
}

void agent_answer(struct agent *agent, uint64_t superstep, enum bspz_decision decision,
                  uint64_t consult)
{
    struct bspz_board *board = agent->board;

    atomic_store(&board->consult_from, consult);
    atomic_store(&board->answer, (uint32_t)decision);
    atomic_store(&board->answered, superstep + 1);
    bspz_barrier_wake(board);
}

/* At the next barrier, whichever that is: one at which ranks wait already has asked. */
static void consult(struct agent *agent)
{
    atomic_store(&agent->board->consult_from, 0);
}

static void stop_ranks(struct agent *agent, const struct wire_stop_ranks *order)
{
    int status = agent->zero ? coord_outcome(coord_shell_state(agent->zero)).status : 1;

    if (!order->again)
        agent_stop_ranks(agent, order->cause, status);
    else if (agent->zero)
        agent_rewind(agent);
    else
        agent_peers_term_over(agent);
}

void agent_obey(struct agent *agent, const struct wire_message *message)
{
    if (agent->finished)
        return;
    switch (message->kind) {
    case WIRE_PLACE:
        if (!job_is_stopping(agent->job))
            place(agent, &message->place);
        break;
    case WIRE_RUN:
        if (!job_is_stopping(agent->job))
            run(agent, &message->run);
        break;
    case WIRE_RELEASE:
        if (agent->nprocs > 0)
            release(agent, message);
        break;
    case WIRE_STOP_RANKS:
        stop_ranks(agent, &message->stop_ranks);
        break;
    case WIRE_CONSULT:
        consult(agent);
        break;
    case WIRE_END:
        if (!agent->zero)
            agent_end_here(agent, &message->end);
        break;
    default:
        agent_snapshots_message(agent, message);
        break;
    }
}

static void carry_out(void *context, uint32_t host, const struct wire_message *message)
{
    struct agent *agent = context;

    if (host == agent->host)
        agent_obey(agent, message);
    else
        agent_peers_send(agent, host, message);
}

static void on_zero_timer(uv_timer_t *timer)
{
    struct agent *agent = timer->data;

    coord_shell_timer(agent->zero, (enum coord_timer)(timer - agent->zero_timers));
}

static void set_timer(void *context, enum coord_timer timer, uint64_t milliseconds)
{
    struct agent *agent = context;

    uv_timer_start(&agent->zero_timers[timer], on_zero_timer, milliseconds, 0);
}

static void cancel_timer(void *context, enum coord_timer timer)
{
    struct agent *agent = context;

    uv_timer_stop(&agent->zero_timers[timer]);
}

/* This host is this process: a broken rule is a defect of the agent itself. */
static void drop_host(void *context, uint32_t host, const char *complaint)
{
    struct agent *agent = context;

    if (host != agent->host) {
        agent_peers_drop(agent, host, complaint);
        return;
    }
    agent_notice(agent, "internal error: %s", complaint);
    agent_kill(agent);
}

static void finish(void *context, const struct coord_outcome *outcome)
{
    if (outcome->again)
        agent_term_over(context, outcome);
    else
        agent_finish(context, outcome);
}

/* Those of snapshot 0 are one, from which all processes begin. */
static uint64_t size_of_images(const struct coord *state, struct coord_name name)
{
    uint32_t count = name.superstep == 0 ? 1 : coord_processes(state);
    uint64_t size = 0;

    for (uint32_t pid = 0; pid < count && pid < coord_processes(state); pid++)
        size += coord_image(state, pid)->size;
    return size;
}

struct agent_learned agent_learned(struct agent *agent)
{
    struct agent_learned learned = {.interval_ns = WIRE_NEVER};
    const struct coord *state = agent->zero ? coord_shell_state(agent->zero) : NULL;
    double numbers[ESTIMATE_NUMBERS];
    enum wire_why why;

    if (!state || !agent_takes_snapshots(agent))
        return learned;
    struct estimate estimate = coord_estimate(state, agent_now_ns());
    estimate_to_numbers(&estimate, numbers);
    for (uint32_t i = 0; i < ESTIMATE_NUMBERS; i++)
        agent->learned[i].value = numbers[i];
    learned.estimate = (struct wire_real_list){agent->learned, ESTIMATE_NUMBERS};
    learned.interval_ns = coord_interval(state, &why);
    learned.why = (uint32_t)why;
    return learned;
}

/* What bsprun must know of a snapshot. */
static void tell(void *context, const struct coord_effect *effect)
{
    struct agent *agent = context;
    const struct coord *state = coord_shell_state(agent->zero);
    struct wire_message message = {.kind = WIRE_SAVED};

    if (agent->finished)
        return;
    message.envelope.superstep = effect->name.superstep;
    if (effect->kind == COORD_EFFECT_CHOOSE) {
        message.kind = WIRE_CHOSEN;
        message.chosen.superstep = effect->name.superstep;
        message.chosen.from = effect->name.term;
        message.chosen.processes = effect->processes;
    } else if (effect->kind == COORD_EFFECT_CLOSE) {
        message.kind = WIRE_CLOSING;
        message.envelope.superstep = effect->superstep;
    } else {
        message.saved.superstep = effect->name.superstep;
        message.saved.known = effect->kind == COORD_EFFECT_RETIRE;
        message.saved.pause_ns = coord_costs(state).pause_ns;
        message.saved.commit_ns = coord_costs(state).commit_ns;
        message.saved.size = size_of_images(state, effect->name);
        struct agent_learned learned = agent_learned(agent);
        message.saved.estimate = learned.estimate;
        message.saved.interval_ns = learned.interval_ns;
        message.saved.why = learned.why;
    }
    agent_send(agent, &message);
}

static uint64_t now_ns(void *context)
{
    (void)context;
    return agent_now_ns();
}

static void trace(void *context, const char *text)
{
    struct wire_message message = {.kind = WIRE_TRACE};

    message.trace.text = text;
    agent_send(context, &message);
}

void agent_tell_zero(struct agent *agent, struct wire_message *message)
{
    *wire_sender(message) = agent->host;
    memcpy(message->envelope.job, agent->job_id, sizeof message->envelope.job);
    message->envelope.term = agent->term;
    if (agent->zero)
        coord_shell_message(agent->zero, agent->host, message);
    else
        agent_peers_send_to_zero(agent, message);
}

void agent_arrived(struct agent *agent, uint64_t superstep, enum wire_barrier barrier)
{
    struct wire_message message = {.kind = WIRE_ARRIVE};
    static const uint64_t nothing[2];

    message.envelope.superstep = superstep;
    message.arrive.barrier = barrier;
    message.arrive.output = (struct wire_numbers){nothing, 2};
    agent_tell_zero(agent, &message);
}

void agent_rank_exited(struct agent *agent, int pid, const struct death *death, const char *text)
{
    struct wire_message message = {.kind = WIRE_RANK_EXITED};

    message.rank_exited.pid = (uint32_t)pid;
    message.rank_exited.status = (uint32_t)death->status & 0xff;
    message.rank_exited.signal = (uint32_t)death->signal;
    message.rank_exited.text = text;
    agent_tell_zero(agent, &message);
}

bool agent_zero_decides(const struct agent *agent)
{
    return agent->zero ? coord_phase(coord_shell_state(agent->zero)) != COORD_FAILED
                       : agent_zero_is_elsewhere(agent);
}

void agent_free_zero(struct agent *agent)
{
    for (int i = 0; i < COORD_TIMER_COUNT; i++)
        uv_timer_stop(&agent->zero_timers[i]);
    coord_shell_free(agent->zero);
    agent->zero = NULL;
}

static int agent_make_zero(struct agent *agent, uint32_t term)
{
    struct wire_host host = {agent->host, (uint32_t)agent->order.slots, agent->host_name};
    struct coord_config config = {
        .term = term,
        .host_count = 1,
        .hosts = &host,
        .process_limit = (uint32_t)agent->order.process_limit,
        .processes_max = BSPZ_MAX_PROCS,
        .consult_every = agent->order.consult_every,
        .abort_at = agent->order.abort_at,
    };
    struct coord_shell_calls calls = {
        .send = carry_out,
        .set_timer = set_timer,
        .cancel_timer = cancel_timer,
        .drop_host = drop_host,
        .finish = finish,
        .trace = agent->order.verbosity >= 2 ? trace : NULL,
        .tell = tell,
        .now_ns = now_ns,
    };

    if (agent->zero)
        return -EALREADY;
    if (agent->peers) {
        config.hosts = agent_peers_hosts(agent, &config.host_count, &config.by_node);
        config.loads = agent_peers_loads(agent);
    }
    agent->term = term;
    agent_snapshots_configure(agent, &config);
    agent->zero = coord_shell_new(&config, agent->job_id, &calls, agent);
    if (!agent->zero)
        return -ENOMEM;
    agent->board->term = term;
    return 0;
}

int agent_enter_elected(struct agent *agent, uint32_t term)
{
    struct wire_message elected = {.kind = WIRE_ELECTED};
    int error = agent_zero_is_here(agent) ? agent_make_zero(agent, term) : 0;

    agent->term = term;
    agent->board->term = term;
    if (!error)
        error = agent_peers_enter(agent);
    elected.elected.host = agent->host;
    if (!error && agent->zero)
        agent_send(agent, &elected);
    return error;
}

void agent_say_ready(struct agent *agent)
{
    struct wire_message ready = {.kind = WIRE_HOST_READY};

    ready.host_ready.slots = (uint32_t)agent->order.cores;
    ready.host_ready.shared = agent_store_is_shared(agent);
    agent_tell_zero(agent, &ready);
}

int agent_elect(struct agent *agent, uint32_t term)
{
    struct wire_message registered = {.kind = WIRE_REGISTERED};
    int error = agent_enter_elected(agent, term);

    if (error)
        return error;
    agent_say_ready(agent);
    if (agent->job != JOB_REGISTERED)
        return 0;
    registered.registered.wanted = (uint32_t)atomic_load(&agent->board->wanted);
    if (agent->bare)
        registered.registered.wanted = (uint32_t)agent->nprocs;
    agent_tell_zero(agent, &registered);
    return 0;
}
