/* survive.c - see survive.h. */
#include "bsprun/agent/survive.h"

#include <stdbool.h>
#include <stdlib.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/binding.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/job.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/to_zero.h"
#include "bsprun/agent/dataspace.h"
#include "bsprun/agent/ranks.h"
#include "bsprun/agent/snapshot/alone.h"
#include "lib/shm/barrier.h"
#include "lib/shm/board.h"

#define LOOK_MS  20u
#define AGAIN_NS UINT64_C(1000000000)
/* What of a line matters where there are no supersteps but those of snapshots and the end. */
#define MET_BITS (BSPZ_HAS_CALL | BSPZ_HAS_END | BSPZ_HAS_EXIT)

/* A process that has got another home in this term. */
struct moved {
    bool here;         /* it has come to this host */
    uint64_t told;     /* ... and others know that it has arrived at so many barriers */
    uint32_t survived; /* the newest MEET about it is by a host that knew of so many losses */
};

struct agent_survival {
    uv_timer_t timer;
    bool bears, burdened; /* as Processor Zero knows */
    uint64_t again_ns;    /* when a snapshot is asked for once more */
    struct moved *moved;  /* by process */
};

/* ---- Could this host be lost? --------------------------------------------------------------- */

static void tell_bears(struct agent *agent)
{
    struct agent_survival *survival = agent->survival;
    struct wire_message message = {.kind = WIRE_BEARS};
    bool bears = agent_alone_bears(agent) && agent_dataspace_bears_loss(agent);
    bool burdened = agent_keeps_copies(agent) && agent_dataspace_is_burdened(agent);
    uint64_t now = agent_now_ns();

    if (bears == survival->bears && burdened == survival->burdened &&
        (!burdened || now < survival->again_ns))
        return;
    survival->bears = bears;
    survival->burdened = burdened;
    survival->again_ns = now + AGAIN_NS;
    message.bears.bears = bears;
    message.bears.burdened = burdened;
    agent_tell_zero(agent, &message);
}

bool agent_survive_awaits(const struct agent *agent)
{
    return agent->survival && agent_job(agent) == JOB_RUNNING &&
           (agent_here(agent) == 0 || agent_alone_suits(agent));
}

void agent_survive_again(struct agent *agent)
{
    if (agent->survival)
        agent->survival->bears = agent->survival->burdened = false;
}

/* ---- Barriers ------------------------------------------------------------------------------- */

static struct bspz_line *line_of(const struct agent *agent, int pid, uint64_t superstep)
{
    return &bspz_rank_of(agent_board(agent), pid)->line[superstep & 1];
}

static void say_met(struct agent *agent, int pid, uint64_t superstep)
{
    const struct bspz_line *line = line_of(agent, pid, superstep);
    struct wire_message message = {.kind = WIRE_MEET, .envelope.superstep = superstep};
    const struct wire_host *hosts;
    uint32_t count;

    message.meet.pid = (uint32_t)pid;
    message.meet.flags = line->flags & MET_BITS;
    message.meet.position = line->position;
    message.meet.digest = line->digest;
    message.meet.survived = agent_survived(agent);
    hosts = agent_peers_hosts(agent, &count);
    for (uint32_t i = 0; i < count; i++)
        if (hosts[i].host != agent_host(agent) && !agent_peers_is_lost(agent, hosts[i].host))
            agent_peers_send(agent, hosts[i].host, &message);
}

/* It waits there until all have arrived, so that it can be at no other one meanwhile. */
static void tell_met(struct agent *agent, int pid)
{
    struct moved *moved = &agent->survival->moved[pid];
    uint64_t superstep = atomic_load(&bspz_rank_of(agent_board(agent), pid)->superstep);

    if (!moved->here || moved->told > superstep ||
        atomic_load(&line_of(agent, pid, superstep)->stamp) != superstep + 1)
        return;
    moved->told = superstep + 1;
    say_met(agent, pid, superstep);
}

static bool is_sensible(const struct agent *agent, const struct wire_meet *meet)
{
    return agent->survival && meet->pid < (uint32_t)agent_nprocs(agent) &&
           !agent_is_here(agent, (int)meet->pid);
}

void agent_survive_meet(struct agent *agent, const struct wire_message *message)
{
    const struct wire_meet *meet = &message->meet;
    uint64_t superstep = message->envelope.superstep;
    int pid = (int)meet->pid;
    struct bspz_line *line;

    if (!is_sensible(agent, meet))
        return;
    agent->survival->moved[pid].survived = meet->survived;
    line = line_of(agent, pid, superstep);
    line->flags = meet->flags & MET_BITS;
    line->position = meet->position;
    line->digest = meet->digest;
    line->decision = BSPZ_DECIDE_CONSULT;
    line->sync_number = 0;
    bspz_barrier_mirror(agent_board(agent), agent_nprocs(agent), &pid, 1, superstep,
                        BSPZ_STAGE_ARRIVED);
}

/* What the lost process has said of the barrier to come, its next life may say otherwise. */
static void take_back_arrival(struct agent *agent, int pid, uint64_t superstep)
{
    struct bspz_line *line = line_of(agent, pid, superstep);

    if (agent->survival->moved[pid].survived < agent_survived(agent) &&
        atomic_load(&line->stamp) == superstep + 1)
        atomic_store(&line->stamp, 0);
}

/* ---- SURVIVED ------------------------------------------------------------------------------- */

/* The place of the process on this board, as that of another host's until now. */
static void make_place(struct agent *agent, int pid, uint64_t superstep)
{
    bspz_board_receive(agent_board(agent), pid, agent_host(agent), superstep);
    agent_member_received(agent, pid);
    agent_board(agent)->here =
        1; /* whoever arrives rings, as they do not do so together any more */
}

static void settle(struct agent *agent, const struct wire_move *move, uint64_t superstep)
{
    int pid = (int)move->pid;
    struct moved *moved = &agent->survival->moved[pid];

    agent_set_home(agent, pid, move->host);
    moved->here = move->host == agent_host(agent);
    take_back_arrival(agent, pid, superstep);
    if (!moved->here) {
        atomic_store(&bspz_rank_of(agent_board(agent), pid)->host, move->host);
        return;
    }
    moved->told = superstep;
    make_place(agent, pid, superstep);
    agent_alone_expect(agent, pid);
}

static bool can_follow(const struct agent *agent, const struct wire_survived *order)
{
    if (!agent->survival || order->number != agent_survived(agent) + 1 ||
        order->lost == agent_host(agent) || !agent_has_peers(agent))
        return false;
    for (uint32_t i = 0; i < order->moves.count; i++)
        if (order->moves.items[i].pid >= (uint32_t)agent_nprocs(agent) ||
            agent_homes(agent)[order->moves.items[i].pid] != order->lost)
            return false;
    return true;
}

void agent_survive_take(struct agent *agent, const struct wire_message *message)
{
    const struct wire_survived *order = &message->survived;

    if (agent_job(agent) != JOB_RUNNING || !can_follow(agent, order))
        return; /* Processor Zero ends the term, or is told of a process that cannot go on */
    agent_set_survived(agent, order->number);
    agent_peers_lose(agent, order->lost, "the job goes on without it");
    agent_dataspace_host_lost(agent, order->lost);
    for (uint32_t i = 0; i < order->moves.count; i++)
        settle(agent, &order->moves.items[i], message->envelope.superstep);
    for (uint32_t i = 0; i < order->moves.count; i++)
        agent_dataspace_moved(agent, (int)order->moves.items[i].pid, order->moves.items[i].host);
    agent_binding_renew(agent);
    agent_alone_receive(agent, order->name, order->lost);
}

/* ---- LOSSES --------------------------------------------------------------------------------- */

void agent_survive_losses(struct agent *agent, const struct wire_message *message)
{
    const struct wire_numbers *hosts = &message->losses.hosts;

    if (!agent_has_replicas(agent) || job_is_stopping(agent_job(agent)))
        return;
    for (uint32_t i = 0; i < hosts->count; i++)
        if (hosts->items[i] != agent_host(agent)) {
            agent_peers_drop(agent, (uint32_t)hosts->items[i], "the job goes on without it");
            agent_dataspace_host_lost(agent, (uint32_t)hosts->items[i]);
        }
}

/* ---- Life ----------------------------------------------------------------------------------- */

static void on_look(uv_timer_t *timer)
{
    struct agent *agent = timer->data;

    if (agent_job(agent) != JOB_RUNNING)
        return;
    tell_bears(agent);
    for (int pid = 0; agent_survived(agent) > 0 && pid < agent_nprocs(agent); pid++)
        tell_met(agent, pid);
    if (agent_survived(agent) == 0)
        return;
    agent_alone_look_for(agent);
    agent_scan(agent); /* the last to arrive may be one that has come here */
}

static void on_closed(uv_handle_t *handle)
{
    struct agent_survival *survival = handle->data;

    free(survival->moved);
    free(survival);
}

void agent_survive_forget(struct agent *agent)
{
    struct agent_survival *survival = agent->survival;

    agent_set_survived(agent, 0);
    agent->survival = NULL;
    if (!survival)
        return;
    survival->timer.data = survival;
    uv_close((uv_handle_t *)&survival->timer, on_closed);
}

/* Without memory no loss is borne. */
void agent_survive_begin(struct agent *agent)
{
    struct agent_survival *survival;

    agent_survive_forget(agent);
    if (!agent_keeps_copies(agent))
        return;
    survival = calloc(1, sizeof *survival);
    if (!survival)
        return;
    survival->moved = calloc((size_t)agent_nprocs(agent), sizeof *survival->moved);
    if (!survival->moved) {
        free(survival);
        return;
    }
    uv_timer_init(agent_loop(agent), &survival->timer);
    survival->timer.data = agent;
    agent->survival = survival;
    uv_timer_start(&survival->timer, on_look, LOOK_MS, LOOK_MS);
}
