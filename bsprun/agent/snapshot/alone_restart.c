/* alone_restart.c - restarts a process alone; see alone.h. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bsprun/agent/core/binding.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/input.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/core/pause.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/snapshot/alone.h"
#include "bsprun/agent/snapshot/alone_inside.h"
#include "bsprun/agent/snapshot/alone_loss.h"
#include "bsprun/agent/snapshot/opened.h"
#include "bsprun/verdict.h"

#define NS 1e9

/* ---- May it be? ------------------------------------------------------------------------------ */

/* Whether it has published its arrival at a barrier that is not over for it. */
static bool is_at_barrier(const struct bspz_rank *rank)
{
    uint64_t superstep = atomic_load(&rank->superstep);

    return atomic_load(&rank->in_barrier) || atomic_load(&rank->applied) != superstep ||
           atomic_load(&rank->line[superstep & 1].stamp) == superstep + 1;
}

static struct alone_facts look_at(struct agent *agent, int pid)
{
    const struct agent_snapshots *snapshots = agent->snapshots;
    const struct bspz_rank *rank = bspz_rank_of(agent->board, pid);
    const struct lone *lone = &snapshots->alone->lones[pid];
    pid_t ospid = agent->members[pid].process.ospid;

    agent_note_bound(agent);
    return (struct alone_facts){
        .wanted = snapshots->lone_restarts,
        .suits = rank->request.alone,
        .runs = agent->job == JOB_RUNNING &&
                (pid > 0 || agent->root.ospid == 0 || agent->root.ospid == ospid),
        .has_image = lone->fd >= 0 || lone->snapshot.term > 0,
        .at_barrier = is_at_barrier(rank),
        .shares = agent_is_bound(agent, pid) || opened_writes(snapshots->opened, pid),
        .has_read = pid == agent->order.stdin_pid && agent_input_position(agent) != lone->input,
        .restarts = lone->images.restarts,
    };
}

/* ---- The new process ------------------------------------------------------------------------- */

/* 0, or a negative errno and `why`; the chain is to be closed in any case. */
static int open_chain(struct agent *agent, int pid, struct sources *sources, struct chain *chain,
                      char *why)
{
    const struct lone *lone = &agent->snapshots->alone->lones[pid];

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
    struct bspz_rank *rank = bspz_rank_of(agent->board, pid);
    struct bspz_snap *snap = agent_snap_of(agent, pid);

    atomic_store(&rank->own, BSPZ_OWN_NONE);
    atomic_store(&rank->plea, BSPZ_PLEA_NONE);
    atomic_store(&rank->again, 1);
    atomic_store(&snap->staged, 0);
    atomic_store(&snap->copy_slot, -1);
    snap->error = 0;
    snap->why[0] = '\0';
    atomic_store(&agent->board->snap_passed, 1);          /* nobody is waited for */
    agent->board->stdin_fd = agent->board->common_fd = 0; /* no process is cloned from it */
    bspz_word_set(&rank->state, BSPZ_RANK_HELD);
}

static void bury(struct watched *process)
{
    pid_t ospid = process->ospid;

    agent_unwatch(process);
    if (ospid > 0)
        waitpid(ospid, NULL, WNOHANG | __WALL);
    *process = (struct watched){.pidfd = -1};
}

/* False: it cannot be watched, and is killed. */
static bool take_its_place(struct agent *agent, int pid, pid_t ospid)
{
    struct member *member = &agent->members[pid];
    pid_t lost = member->process.ospid;

    if (pid > 0 && lost > 0 && getpgid(lost) == lost)
        kill(-lost, SIGKILL); /* what it has started */
    if (pid == 0)
        bury(&agent->root);
    bury(&member->process);
    *member = (struct member){.process.pidfd = -1, .seen = BSPZ_RANK_RUNNING};
    agent_member_move(agent, pid, MEMBER_KNOWN);
    if (agent_watch(agent, &member->process, pid, ospid) != 0) {
        kill(ospid, SIGKILL);
        return false;
    }
    agent_binding_apply(agent, pid);
    atomic_store(&bspz_rank_of(agent->board, pid)->ospid, ospid);
    return true;
}

bool agent_alone_start(struct agent *agent, int pid, char *why)
{
    struct agent_snapshots *snapshots = agent->snapshots;
    struct sources sources = {.store = agent->store};
    struct chain chain;
    pid_t ospid = -1;

    if (snapshots->shares)
        shares_take(snapshots->shares);
    if (open_chain(agent, pid, &sources, &chain, why) == 0) {
        clear_place(agent, pid);
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
    const struct lone *lone = &agent->snapshots->alone->lones[pid];
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
    agent->calls->restarted(agent, pid);
    return agent_alone_start(agent, pid, why);
}

bool agent_alone_restart(struct agent *agent, int pid, const struct verdict *verdict)
{
    struct agent_alone *alone = agent->snapshots->alone;
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
    const struct agent_alone *alone = agent->snapshots->alone;

    return alone && alone->lones[pid].state == LONE_RESTORED;
}
