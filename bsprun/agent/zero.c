/* zero.c - Processor Zero in this agent: creates it, passes on its orders and its messages to
 * bsprun.
 *
 * Happy path: elected -> orders for hosts -> the end of the term, or of the job.
 *
 * What can fail: no memory for it.  All other failures are passed to the state machine, which
 * answers with STOP_RANKS.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/election.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/known.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/starter.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/timers.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/to_zero.h"
#include "bsprun/agent/core/zero_here.h"
#include "bsprun/agent/differs.h"
#include "bsprun/agent/replica_files.h"
#include "bsprun/agent/snapshot/memory.h"
#include "bsprun/agent/snapshot/snapshots.h"
#include "bsprun/agent/zero.h"
#include "lib/shm/board.h"

/* What Processor Zero needs where it is. */
struct agent_hosting {
    struct wire_real learned[ESTIMATE_NUMBERS]; /* its estimates, for bsprun */
};

int agent_zero_open(struct agent *agent)
{
    agent->hosting = calloc(1, sizeof *agent->hosting);
    return agent->hosting ? 0 : -ENOMEM;
}

void agent_zero_free(struct agent *agent)
{
    agent_set_zero(agent, NULL);
    free(agent->hosting);
    agent->hosting = NULL;
}

static void deliver(void *context, uint32_t host, const struct wire_message *message)
{
    struct agent *agent = context;
    struct wire_message copy = *message;

    if (host == agent_host(agent))
        agent_calls(agent)->ordered(agent, message);
    else if (host != COORD_BSPRUN)
        agent_peers_send(agent, host, message);
    else if (!agent_is_finished(agent))
        agent_send(agent, &copy);
}

static uv_timer_t *zero_timer(const struct agent *agent, enum coord_timer timer)
{
    return agent_timer(agent, AGENT_TIMER_ZERO + timer);
}

static void on_zero_timer(uv_timer_t *timer)
{
    struct agent *agent = timer->data;

    coord_shell_timer(agent_zero(agent), (enum coord_timer)(timer - zero_timer(agent, 0)));
}

static void set_timer(void *context, enum coord_timer timer, uint64_t milliseconds)
{
    struct agent *agent = context;

    uv_timer_start(zero_timer(agent, timer), on_zero_timer, milliseconds, 0);
}

static void cancel_timer(void *context, enum coord_timer timer)
{
    struct agent *agent = context;

    uv_timer_stop(zero_timer(agent, timer));
}

/* If it is this host, a broken rule is a defect of the agent itself. */
static void drop_host(void *context, uint32_t host, const char *complaint)
{
    struct agent *agent = context;

    if (host != agent_host(agent)) {
        agent_peers_drop(agent, host, complaint);
        return;
    }
    agent_notice(agent, "internal error: %s", complaint);
    agent_kill(agent);
}

struct wire_learned agent_learned(struct agent *agent)
{
    if (!agent_zero(agent) || !agent_recovers(agent))
        return (struct wire_learned){.interval_ns = WIRE_NEVER};
    return coord_learned(coord_shell_state(agent_zero(agent)), agent_now_ns(),
                         agent->hosting->learned);
}

static void term_over(struct agent *agent)
{
    struct coord_outcome outcome = coord_outcome(coord_shell_state(agent_zero(agent)));
    struct wire_message message = {.kind = WIRE_TERM_OVER};
    struct wire_term_over *over = &message.term_over;

    message.envelope.superstep = outcome.superstep;
    over->status = outcome.status;
    over->cause = outcome.cause;
    over->pid = outcome.pid;
    over->signal = outcome.signal;
    over->bad = outcome.bad.term > 0;
    over->not_restored = outcome.bad;
    over->right = outcome.right;
    over->moves = outcome.moves;
    over->moving_seconds = outcome.moving_seconds;
    over->passed_seconds = outcome.passed_seconds;
    over->learned = agent_learned(agent);
    over->text = agent_blamed(agent)[0] ? agent_blamed(agent) : outcome.text;
    /* Without the message bsprun sees that this agent has exited, and cleans up. */
    agent_post(agent, agent_send(agent, &message) == 0 ? AGENT_TERM_OVER : AGENT_LEAVE);
}

static void all_over(struct agent *agent)
{
    struct coord_outcome outcome = coord_outcome(coord_shell_state(agent_zero(agent)));

    if (agent_has_replicas(agent) && outcome.cause == WIRE_CAUSE_NONE)
        agent_end_replicas(agent);
    agent_job_over(agent, &outcome);
}

/* Called by the state machine, which the next term replaces: so that term must not begin here, nor
 * the job end. */
static void finish(void *context, const struct coord_outcome *outcome)
{
    if (outcome->again || outcome->cause == WIRE_CAUSE_MISMATCH)
        agent_replicas_say_first(context, outcome->cause, outcome->again ? term_over : all_over);
    else
        agent_let_write(context, outcome->cause, all_over); /* replicas may still run */
}

static uint64_t now_ns(void *context)
{
    (void)context;
    return agent_now_ns();
}

static uint64_t superstep(void *context)
{
    struct agent *agent = context;

    if (agent_here(agent) == 0)
        return COORD_NEVER;
    return atomic_load(&bspz_rank_of(agent_board(agent), agent_first_here(agent))->superstep);
}

static void trace(void *context, const char *text)
{
    struct wire_message message = {.kind = WIRE_TRACE};

    message.trace.text = text;
    agent_send(context, &message);
}

void agent_free_zero(struct agent *agent)
{
    agent_replicas_say_no_more(agent);
    for (int i = 0; i < COORD_TIMER_COUNT; i++)
        uv_timer_stop(zero_timer(agent, (enum coord_timer)i));
    agent_set_zero(agent, NULL);
}

static int agent_make_zero(struct agent *agent, uint32_t term,
                           const struct coord_predecessor *predecessor)
{
    struct wire_host host = {agent_host(agent), (uint32_t)agent_order(agent)->slots,
                             agent_host_name(agent)};
    struct coord_config config = {
        .term = term,
        .host_count = 1,
        .hosts = &host,
        .process_limit = (uint32_t)agent_order(agent)->process_limit,
        .processes_max = BSPZ_MAX_PROCS,
        .consult_every = agent_order(agent)->consult_every,
        .abort_at = agent_order(agent)->abort_at,
        .stdin_pid = (uint32_t)agent_order(agent)->stdin_pid,
        .replicas = agent_order(agent)->replicas,
        .counts = agent_order(agent)->counts,
        .back_on_mismatch = agent_order(agent)->on_mismatch != WIRE_MISMATCH_END,
    };
    struct coord_shell_calls calls = {
        .send = deliver,
        .set_timer = set_timer,
        .cancel_timer = cancel_timer,
        .drop_host = drop_host,
        .finish = finish,
        .trace = agent_order(agent)->verbosity >= 2 ? trace : NULL,
        .now_ns = now_ns,
        .superstep = superstep,
    };

    if (agent_zero(agent))
        return -EALREADY;
    if (agent_has_peers(agent)) {
        config.hosts = agent_peers_hosts(agent, &config.host_count);
        struct peers_placement placement = agent_peers_placement(agent);
        config.by_node = placement.by_node;
        config.anew = placement.anew;
        config.moves = placement.moves;
        config.balance = agent_order(agent)->balance && agent_order(agent)->replicas < 2;
        config.at_once = agent_order(agent)->at_once;
        config.moving_seconds = agent_election(agent)->moving_seconds;
        config.passed_seconds = agent_election(agent)->passed_seconds;
        config.loads = agent_peers_loads(agent);
        config.earlier = agent_peers_shares(agent);
    }
    agent_set_term(agent, term);
    memcpy(config.job, agent_job_id(agent), sizeof config.job);
    agent_snapshots_configure(agent, &config);
    if (predecessor)
        config.predecessor = *predecessor;
    agent_set_zero(agent, coord_shell_new(&config, &calls, agent));
    if (!agent_zero(agent))
        return -ENOMEM;
    agent_board(agent)->term = term;
    return 0;
}

int agent_enter_elected(struct agent *agent, uint32_t term)
{
    struct wire_message elected = {.kind = WIRE_ELECTED};
    int error = agent_zero_is_here(agent) ? agent_make_zero(agent, term, NULL) : 0;

    agent_set_term(agent, term);
    agent_board(agent)->term = term;
    agent_known_begin(agent);
    if (!error)
        error = agent_peers_enter(agent);
    elected.elected.host = agent_host(agent);
    if (!error && agent_zero(agent))
        agent_send(agent, &elected);
    return error;
}

int agent_succeed(struct agent *agent, struct bspz_snapshot_name committed)
{
    struct coord_predecessor predecessor = {.leads = agent_cells_list(agent),
                                            .committed = committed};
    uint64_t *homes = calloc((size_t)agent_nprocs(agent) + 1, sizeof *homes);
    int error = homes && (predecessor.leads.items || !agent_has_replicas(agent)) ? 0 : -ENOMEM;

    /* The own number stands for the own lead in agent_homes. */
    for (int pid = 0; !error && pid < agent_nprocs(agent); pid++)
        homes[pid] = agent_cells_lead(agent, agent_home(agent, pid));
    predecessor.homes = (struct wire_numbers){homes, (uint32_t)agent_nprocs(agent)};
    if (!error)
        error = agent_make_zero(agent, agent_term(agent), &predecessor);
    free(homes);
    free((void *)(uintptr_t)predecessor.leads.items);
    return error;
}

void agent_say_ready(struct agent *agent)
{
    struct wire_message ready = {.kind = WIRE_HOST_READY};

    ready.host_ready.slots = (uint32_t)agent_order(agent)->cores;
    ready.host_ready.shared = agent_store_is_shared(agent);
    ready.host_ready.available = memory_available();
    /* What processes hold that were restored ahead is for the ranks that they become. */
    if (ready.host_ready.available != UINT64_MAX)
        ready.host_ready.available += agent_snapshots_ahead(agent);
    agent_tell_zero(agent, &ready);
}

int agent_elect(struct agent *agent, uint32_t term)
{
    struct wire_message registered = {.kind = WIRE_REGISTERED};
    int error = agent_enter_elected(agent, term);

    if (error)
        return error;
    agent_say_ready(agent);
    if (agent_job(agent) != JOB_REGISTERED)
        return 0;
    registered.registered.wanted = (uint32_t)atomic_load(&agent_board(agent)->wanted);
    if (agent_is_bare(agent))
        registered.registered.wanted = (uint32_t)agent_nprocs(agent);
    agent_tell_zero(agent, &registered);
    return 0;
}

void agent_tell_running(struct agent *agent)
{
    struct wire_message message = {.kind = WIRE_RUNNING};
    uint64_t *homes = calloc((size_t)agent_nprocs(agent) + 1, sizeof *homes);

    for (int pid = 0; homes && pid < agent_nprocs(agent); pid++)
        homes[pid] = agent_home(agent, pid);
    message.running.processes = (uint32_t)agent_nprocs(agent);
    message.running.homes = (struct wire_numbers){homes, homes ? (uint32_t)agent_nprocs(agent) : 0};
    message.running.leads = agent_cells_list(agent);
    message.running.learned = agent_learned(agent);
    agent_send(agent, &message);
    free((void *)(uintptr_t)message.running.leads.items);
    free(homes);
}
