/* alone_restart.c - restarts a process alone; see alone.h. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/binding.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/input.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/core/pause.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/saved.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/agent/snapshot/alone.h"
#include "bsprun/agent/snapshot/alone_inside.h"
#include "bsprun/agent/snapshot/alone_loss.h"
#include "bsprun/agent/snapshot/opened.h"
#include "bsprun/verdict.h"
#include "lib/shm/board.h"

#define NS 1e9

/* ---- May it be? ------------------------------------------------------------------------------ */

bool agent_is_wrapped(const struct agent *agent)
{
    pid_t root = agent_root(agent)->ospid;

    return agent_is_here(agent, 0) && root != 0 && root != agent_process(agent, 0)->ospid;
}

/* Whether it has published its arrival at a barrier that is not over for it. */
static bool is_at_barrier(const struct bspz_rank *rank)
{
    uint64_t superstep = atomic_load(&rank->superstep);

    return atomic_load(&rank->in_barrier) || atomic_load(&rank->applied) != superstep ||
           atomic_load(&rank->line[superstep & 1].stamp) == superstep + 1;
}

static struct alone_facts look_at(struct agent *agent, int pid)
{
    const struct agent_snapshots *snapshots = snapshots_of(agent);
    const struct bspz_rank *rank = bspz_rank_of(agent_board(agent), pid);
    const struct lone *lone = &snapshots->alone->lones[pid];

    agent_note_bound(agent);
    return (struct alone_facts){
        .wanted = agent_order_alone(agent),
        .suits = rank->request.alone,
        .runs = agent_job(agent) == JOB_RUNNING && (pid > 0 || !agent_is_wrapped(agent)),
        .has_image = lone->fd >= 0 || lone->snapshot.term > 0,
        .at_barrier = is_at_barrier(rank),
        .shares = agent_is_bound(agent, pid) || opened_writes(snapshots->opened, pid),
        .restarts = lone->images.restarts,
    };
}

/* ---- The new process ------------------------------------------------------------------------- */

/* 0, or a negative errno and `why`; the chain is to be closed in any case. */
static int open_chain(struct agent *agent, int pid, struct sources *sources, struct chain *chain,
                      char *why)
{
    const struct lone *lone = &snapshots_of(agent)->alone->lones[pid];

    chain->count = 0;
    if (lone->fd < 0)
        return agent_chain_open(sources, lone->snapshot, (uint32_t)pid, chain, why);
    chain->fds[0] = dup(lone->fd);
    chain->names[0] = lone->name;
    chain->count = chain->fds[0] >= 0;
    snprintf(why, AGENT_WHY, "its image cannot be opened");
    return chain->count > 0 ? 0 : -1;
}

/* What the lost process has left on the board. */
static void clear_place(struct agent *agent, int pid)
{
    struct bspz_rank *rank = bspz_rank_of(agent_board(agent), pid);
    struct bspz_snap *snap = agent_snap_of(agent, pid);

    atomic_store(&rank->own, BSPZ_OWN_NONE);
    atomic_store(&rank->plea, BSPZ_PLEA_NONE);
    atomic_store(&rank->again, 1);
    atomic_store(&snap->staged, 0);
    atomic_store(&snap->copy_slot, -1);
    snap->error = 0;
    snap->why[0] = '\0';
    atomic_store(&agent_board(agent)->snap_passed, 1); /* nobody is waited for */
    agent_board(agent)->stdin_fd = agent_board(agent)->common_fd =
        0; /* no process is cloned from it */
    bspz_word_set(&rank->state, BSPZ_RANK_HELD);
}

/* False: it cannot be watched, and is killed. */
static bool take_its_place(struct agent *agent, int pid, pid_t ospid)
{
    struct watched *process = agent_process(agent, pid);
    pid_t lost = process->ospid;

    if (pid > 0 && lost > 0 && getpgid(lost) == lost)
        kill(-lost, SIGKILL); /* what it has started */
    if (pid == 0)
        agent_bury(agent_root(agent));
    agent_bury(process);
    agent_member_anew(agent, pid, BSPZ_RANK_RUNNING);
    agent_member_move(agent, pid, MEMBER_KNOWN);
    if (agent_watch(agent, process, pid, ospid) != 0) {
        kill(ospid, SIGKILL);
        return false;
    }
    agent_binding_apply(agent, pid);
    atomic_store(&bspz_rank_of(agent_board(agent), pid)->ospid, ospid);
    return true;
}

bool agent_alone_start(struct agent *agent, int pid, char *why)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    const struct lone *lone = &snapshots->alone->lones[pid];
    struct sources sources = {.store = agent_store(agent)};
    struct chain chain;
    pid_t ospid = -1;

    if (snapshots->shares)
        shares_take(snapshots->shares);
    if (open_chain(agent, pid, &sources, &chain, why) == 0) {
        clear_place(agent, pid);
        if (pid == agent_order(agent)->stdin_pid)
            agent_input_rewind(agent, lone->input.position, lone->input.digest);
        ospid = agent_start_of_image(agent, pid, &chain, &sources, -1, why);
    }
    agent_chain_close(&chain);
    agent_free_sources(&sources);
    if (ospid < 0)
        return false;
    snprintf(why, AGENT_WHY, "the new process cannot be watched");
    return take_its_place(agent, pid, ospid);
}

static void say_restarted(struct agent *agent, int pid, const struct verdict *verdict)
{
    const struct lone *lone = &snapshots_of(agent)->alone->lones[pid];
    double ago = (double)(agent_now_ns() - lone->saved_ns) / NS;
    char text[1024];

    if (lone->fd < 0 && lone->snapshot.superstep == 0)
        snprintf(text, sizeof text, "%s; it is restarted alone, from the beginning", verdict->text);
    else
        snprintf(text, sizeof text, "%s; it is restarted alone, from %.1f s ago", verdict->text,
                 ago);
    agent_tell_restarted(agent, pid, text);
}

static bool begin_again(struct agent *agent, int pid, char why[AGENT_WHY])
{
    snprintf(why, AGENT_WHY, "its output cannot be passed on");
    if (!agent_relay_again(agent, pid))
        return false;
    agent_calls(agent)->restarted(agent, pid);
    return agent_alone_start(agent, pid, why);
}

bool agent_alone_restart(struct agent *agent, int pid, const struct verdict *verdict)
{
    struct agent_alone *alone = snapshots_of(agent)->alone;
    struct alone_facts facts;
    enum alone_verdict judged;
    struct lone *lone;
    char why[AGENT_WHY];

    if (!alone)
        return false;
    lone = &alone->lones[pid];
    facts = look_at(agent, pid);
    judged = alone_judge(&facts);
    if (judged == ALONE_RESTARTED) {
        if (alone->saving == pid)
            agent_alone_give_way(agent);
        if (lone->state == LONE_RESTORED)
            alone->restoring--;
        lone->state = LONE_RUNS;
        if (begin_again(agent, pid, why)) {
            lone->state = LONE_RESTORED;
            alone->restoring++;
            say_restarted(agent, pid, verdict);
            alone_images_restarted(&lone->images);
            agent_pause_renew(agent);
            return true;
        }
    }
    if (judged == ALONE_RESTARTED || alone_reason(judged)[0])
        agent_notice(agent, "process %d cannot be restarted alone, as %s", pid,
                     judged == ALONE_RESTARTED ? why : alone_reason(judged));
    return false;
}

/* ---- Until it is in its place ---------------------------------------------------------------- */

bool agent_alone_is_restored(const struct agent *agent, int pid)
{
    const struct agent_alone *alone = snapshots_of(agent)->alone;

    return alone && alone->lones[pid].state == LONE_RESTORED;
}
