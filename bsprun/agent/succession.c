/* succession.c - see succession.h. */
#include "bsprun/agent/succession.h"
#include "bsprun/agent/core/known.h"

#include <stdlib.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/barrier.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/decided.h"
#include "bsprun/agent/core/election.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/job.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/saved.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/to_zero.h"
#include "bsprun/agent/core/zero_here.h"
#include "bsprun/agent/dataspace.h"
#include "bsprun/agent/ranks.h"
#include "bsprun/agent/replica_objects.h"
#include "bsprun/agent/snapshot/alone.h"
#include "bsprun/agent/snapshot/snapshots.h"
#include "bsprun/agent/survive.h"
#include "bsprun/agent/zero.h"
#include "lib/shm/board.h"

struct kept_account {
    struct kept_account *next;
    struct wire_message message; /* owns what it points to */
};

/* ---- Accounts ---- */

bool agent_awaits_successor(const struct agent *agent)
{
    return (agent_has_replicas(agent) && agent_job(agent) != JOB_REWINDING) ||
           agent_survive_awaits(agent);
}

static void give_account(struct agent *agent)
{
    const struct known known = agent_known(agent);
    struct wire_message message = {.kind = WIRE_ACCOUNT};
    struct wire_account *account = &message.account;

    account->decided = known.decided;
    account->ended = known.ended;
    account->consult = known.next;
    account->captures = agent_snapshots_captures(agent);
    account->committed = agent_committed(agent);
    account->right = agent_snapshots_right(agent);
    account->shared = agent_store_is_shared(agent);
    account->ready = known.ready;
    account->runs = known.runs;
    account->over = agent_ended_elsewhere(agent);
    account->survived = agent_survived(agent);
    account->arrived = agent_awaits_decision(agent);
    account->asked = atomic_load(&agent_board(agent)->consult_from) < known.next;
    account->stopped = job_is_stopping(agent_job(agent)) || agent_job(agent) == JOB_REWINDING;
    if (account->over) {
        account->status = agent_outcome(agent)->status;
        account->cause = agent_outcome(agent)->cause;
    }
    agent_dataspace_account(agent, account);
    agent_tell_zero(agent, &message);
}

void agent_keep_account(struct agent *agent, const struct wire_message *message)
{
    struct kept_account *kept = calloc(1, sizeof *kept);
    char error[WIRE_ERROR_SIZE];

    if (!kept || wire_copy(message, &kept->message, error, sizeof error) != 0) {
        free(kept);
        agent_peers_drop(agent, message->account.host, "no memory for what it knows");
        return;
    }
    kept->next = agent->accounts;
    agent->accounts = kept;
}

static void take_kept(struct agent *agent)
{
    while (agent->accounts) {
        struct kept_account *kept = agent->accounts;

        agent->accounts = kept->next;
        if (agent_zero(agent) && kept->message.envelope.term == agent_term(agent))
            coord_shell_message(agent_zero(agent), kept->message.account.host, &kept->message);
        wire_message_free(&kept->message);
        free(kept);
    }
}

void agent_succession_end(struct agent *agent)
{
    while (agent->accounts) {
        struct kept_account *kept = agent->accounts;

        agent->accounts = kept->next;
        wire_message_free(&kept->message);
        free(kept);
    }
}

/* ---- TAKE_OVER ---- */

/* The former one has said that the job is over, and bsprun may not have heard it. */
static void say_over(struct agent *agent)
{
    struct wire_message message = {.kind = WIRE_ENDED};

    message.ended.status = agent_outcome(agent)->status;
    message.ended.cause = agent_outcome(agent)->cause;
    message.ended.pid = COORD_NOBODY;
    message.ended.text = message.ended.table = "";
    message.ended.learned = agent_learned(agent);
    agent_tells_the_end(agent);
    agent_send(agent, &message);
}

/* Hosts that bsprun has given up are not heard any more, whether or not they live. */
static void leave_lost(struct agent *agent, const struct wire_numbers *lost)
{
    for (uint32_t i = 0; i < lost->count; i++)
        if (lost->items[i] != agent_host(agent))
            agent_peers_drop(agent, (uint32_t)lost->items[i], "the job goes on without it");
}

static bool begin(struct agent *agent, const struct wire_take_over *order)
{
    if (agent_succeed(agent, order->committed) != 0) {
        agent_cannot_go_on(agent, COORD_NOBODY, "no memory for Processor Zero");
        return false;
    }
    for (uint32_t i = 0; i < order->lost.count; i++)
        if (order->lost.items[i] != agent_host(agent))
            coord_shell_host_lost(agent_zero(agent), (uint32_t)order->lost.items[i]);
    return true;
}

void agent_take_over(struct agent *agent, const struct wire_message *message)
{
    const struct wire_take_over *order = &message->take_over;

    if (message->envelope.term != agent_term(agent) ||
        (!agent_has_replicas(agent) && !agent_wants_copies(agent)) || agent_zero(agent) ||
        agent_election(agent)->pending)
        return;
    agent_peers_succeed(agent, order->elected);
    if (order->elected == agent_host(agent) && agent_is_finished(agent)) {
        say_over(agent);
        return;
    }
    agent_known_wait(agent, true);
    leave_lost(agent, &order->lost);
    if (order->elected == agent_host(agent) && !begin(agent, order))
        return;
    give_account(agent);
    if (!agent_zero(agent))
        return; /* an account that is kept is for the next one to take over, who may be this host */
    agent_tells_the_end(agent);
    take_kept(agent);
}

/* ---- TAKEN_OVER ---- */

static void pass(struct agent *agent, uint64_t superstep, uint64_t next, bool end)
{
    struct decided decided = {.superstep = superstep, .consult = next, .end = end};
    bool captured = agent_snapshots_captures(agent) == superstep + 1;

    agent_known_decided(agent, superstep, next, end);
    if (captured)
        agent_snapshots_resume(agent, superstep, next);
    else if (!agent_decided_add(agent, &decided))
        agent_cannot_go_on(agent, COORD_NOBODY, "out of memory");
}

static void catch_up(struct agent *agent, const struct wire_taken_over *taken)
{
    const struct known known = agent_known(agent);
    struct known_barrier missed[KNOWN_MISSED_MOST];
    unsigned count = known_missed(&known, taken, missed);

    for (unsigned i = 0; i < count; i++)
        pass(agent, missed[i].superstep, missed[i].next, missed[i].ended);
    if (count > 0)
        agent_known_caught_up(agent, taken);
}

void agent_taken_over(struct agent *agent, const struct wire_message *message)
{
    const struct known known = agent_known(agent);

    if (known.ready && !known.runs)
        agent_say_all_ready(agent); /* the processes of other hosts were not yet */
    if (agent_zero(agent) && known.runs)
        agent_tell_running(agent); /* the former one may not have been heard */
    agent_survive_again(agent);
    agent_snapshots_settle(agent, message->taken_over.committed);
    if (agent_has_dataspace(agent)) /* some may not have heard of the snapshot that is begun */
        agent_dataspace_gather(agent, 0, NULL);
    catch_up(agent, &message->taken_over);
    if (agent_has_dataspace(agent))
        agent_objects_begun(agent);
    agent_arrive_again(agent);
    agent_snapshots_say_captured(agent);
    agent_report_leavers_again(agent);
    agent_scan(agent); /* for those that were held */
    if (agent_known_abort(agent))
        agent_tell_zero(agent, agent_known_abort(agent));
}
