/* dataspace_halt.c - processes with replicas stop at calls, each where all of its replicas do, to
 * be saved: the board and Processor Zero for bsprun/dataspace/stops.h; see dataspace_inside.h.
 *
 * What can fail: no memory: the job ends.
 */
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/known.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/timers.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/to_zero.h"
#include "bsprun/agent/dataspace.h"
#include "bsprun/agent/dataspace_inside.h"
#include "bsprun/dataspace/stops.h"
#include "lib/shm/barrier.h"
#include "lib/shm/board.h"

static struct bspz_rank *rank_of(const struct agent *agent, int pid)
{
    return bspz_rank_of(agent_board(agent), pid);
}

static bool on_where(void *context, uint32_t pid, uint64_t *superstep)
{
    const struct agent *agent = context;

    *superstep = atomic_load(&rank_of(agent, (int)pid)->superstep);
    return agent_is_here(agent, (int)pid);
}

/* Each looks at its next call. */
static void on_stop(void *context, const struct stops_one *stop)
{
    struct agent *agent = context;

    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        struct bspz_request *request = &rank_of(agent, pid)->request;

        if (!agent_is_here(agent, pid))
            continue;
        request->behind = stop->requests[pid];
        atomic_store(&request->halts_in, stop->superstep + 1);
    }
    if (atomic_load(&agent_board(agent)->consult_from) > stop->superstep)
        atomic_store(&agent_board(agent)->consult_from, stop->superstep);
}

static const struct stops_calls calls = {.stop = on_stop, .where = on_where};

/* The next HALTED; false: none can be said now. */
static bool find_answer(const struct agent_dataspace *shell, struct wire_message *message)
{
    const struct stops_one *answer = stops_answer(shell->stops);

    if (!answer)
        return false;
    *message = (struct wire_message){.kind = WIRE_HALTED};
    message->halted.round = answer->round;
    message->halted.requests = (struct wire_numbers){answer->requests, shell->nprocs};
    return true;
}

/* Whenever something has happened.  The lock is not held, as Processor Zero may be here, and answer
 * at once. */
static void say_halted(struct agent *agent)
{
    struct wire_message message;
    bool any = true;

    while (any && objects_shell(agent)) {
        objects_lock(agent);
        any = find_answer(objects_shell(agent), &message);
        objects_unlock(agent);
        if (any)
            agent_tell_zero(agent, &message);
    }
}

/* ---- Who does not stop ----------------------------------------------------------------------- */

#define LATE_MS 10000u

static bool is_late(const struct agent *agent, int pid, uint64_t superstep)
{
    return agent_is_here(agent, pid) &&
           !bspz_barrier_reached(agent_board(agent), &pid, 1, superstep, BSPZ_STAGE_ARRIVED);
}

/* The others wait, for as long as it takes, unless a replica elsewhere has come there: it is known
 * then that they have passed.  The process may even stand still in the barrier before. */
static void on_late(uv_timer_t *timer)
{
    struct agent *agent = timer->data;
    struct agent_dataspace *shell = objects_shell(agent);
    uint64_t superstep;
    int pid = 0;

    if (!shell || !shell->stops || shell->said_late || agent_job(agent) != JOB_RUNNING ||
        !stops_awaited(shell->stops, agent_known(agent).decided, &superstep))
        return;
    while (pid < agent_nprocs(agent) && !is_late(agent, pid, superstep))
        pid++;
    if (pid == agent_nprocs(agent))
        return;
    shell->said_late = true;
    agent_notice(agent,
                 "a snapshot is due, and process %d on host %s has made no call at which it could "
                 "be saved for %u s: all wait until a replica of it does",
                 pid, agent_host_name(agent), LATE_MS / 1000);
}

/* ---- Processor Zero -------------------------------------------------------------------------- */

/* False: no memory. */
static bool take(struct agent *agent, struct agent_dataspace *shell,
                 const struct wire_message *message)
{
    const struct wire_numbers *requests = &message->halt_at.requests;
    uint64_t superstep = message->envelope.superstep;

    if (!shell->stops)
        shell->stops = stops_open(shell->space, shell->nprocs, &calls, agent);
    if (!shell->stops)
        return false;
    shell->left = say_halted;
    if (message->kind == WIRE_HALT)
        return stops_ask(shell->stops, superstep, message->halt.round);
    if (requests->count != shell->nprocs)
        return true;
    return stops_set(shell->stops,
                     &(struct stops_one){superstep, message->halt_at.round, requests->items});
}

/* A host without processes keeps what is said, as it may be the only one left to know that the
 * barrier there was decided.  A Processor Zero that takes over may tell hosts that have never been
 * asked. */
static bool concerns(const struct agent *agent, const struct wire_message *message)
{
    if (agent_here(agent) == 0)
        return message->kind == WIRE_HALT_AT;
    return message->kind == WIRE_HALT || objects_shell(agent);
}

static void halt(struct agent *agent, const struct wire_message *message)
{
    struct agent_dataspace *shell = objects_shell(agent);

    objects_lock(agent);
    if (!take(agent, shell, message))
        shell->failure = (struct failure){.known = true, .bytes = sizeof *message};
    if (message->kind == WIRE_HALT_AT)
        uv_timer_start(agent_timer(agent, AGENT_TIMER_STOPS), on_late, LATE_MS, 0);
    objects_leave(agent);
}

/* The links hear of a stop before processes here come to it, so that what these make is marked as
 * made there.  Before anything else comes this host can tell another Processor Zero of it. */
void agent_dataspace_halt(struct agent *agent, const struct wire_message *message)
{
    if (message->kind == WIRE_HALT)
        agent_known_asked(agent, message->envelope.superstep);
    if (message->kind == WIRE_HALT_AT)
        agent_peers_know_stop(agent, message->envelope.superstep, message->halt_at.round);
    if (concerns(agent, message) && objects_begin(agent))
        halt(agent, message);
}

void agent_dataspace_account(const struct agent *agent, struct wire_account *account)
{
    const struct agent_dataspace *shell = objects_shell(agent);
    const struct stops_one *newest = shell && shell->stops ? stops_newest(shell->stops) : NULL;

    if (!newest)
        return;
    account->halt_superstep = newest->superstep;
    account->halt_round = newest->round;
    account->halt_requests = (struct wire_numbers){newest->requests, shell->nprocs};
}
