/* pause.c - see pause.h.
 *
 * Happy path: STOP -> SIGSTOP to each; GO_ON -> SIGCONT to each that was stopped here.
 *
 * What can fail: a process does not enter the control group (all are stopped in turn instead); the
 * group cannot be removed, since a copy of a process lives on (an empty group remains).
 */
#include "bsprun/agent/core/pause.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/agent/owner/idle_group.h"
#include "bsprun/process.h"
#include "lib/base/states.h"

enum pause_state {
    PAUSE_NOT,      /* they go on */
    PAUSE_IDLE,     /* they give way to others */
    PAUSE_TURN_ON,  /* they take turns with others: they go on for a moment */
    PAUSE_TURN_OFF, /* ... they are stopped for longer */
    PAUSE_STOPPED,
    PAUSE_OVER, /* they go on, whatever is wanted */
    PAUSE_STATE_COUNT
};

struct agent_pause {
    enum pause_state state;
    uv_timer_t timer;
    pid_t bsprun;
    char *root;
    bool groups; /* a control group may be used, as far as is known */
    struct idle_group *group;
};

#define TO BSPZ_STATES_TO
#define ANY                                                                                        \
    (TO(PAUSE_NOT) | TO(PAUSE_IDLE) | TO(PAUSE_TURN_ON) | TO(PAUSE_STOPPED) | TO(PAUSE_OVER))

static const struct bspz_states_row rows[PAUSE_STATE_COUNT] = {
    [PAUSE_NOT] = {"going on", ANY},
    [PAUSE_IDLE] = {"giving way", ANY},
    [PAUSE_TURN_ON] = {"taking a turn", ANY | TO(PAUSE_TURN_OFF)},
    [PAUSE_TURN_OFF] = {"waiting for a turn", ANY},
    [PAUSE_STOPPED] = {"stopped", ANY},
    [PAUSE_OVER] = {"over", 0},
};

static const struct bspz_states states = {"the pause of processes", PAUSE_STATE_COUNT, rows};

static void move(struct agent_pause *pause, enum pause_state to)
{
    if (pause->state != to)
        pause->state = (enum pause_state)bspz_states_move(&states, pause->state, to);
}

/* ---- The processes ---- */

static bool computes(const struct agent *agent)
{
    return agent_job(agent) == JOB_SEQUENTIAL || agent_job(agent) == JOB_RUNNING ||
           agent_job(agent) == JOB_ENDING;
}

/* Calls it for each process that computes: the ranks of this host or, before there are any, the
 * program. */
static void each(struct agent *agent, void (*do_it)(struct agent *agent, struct watched *process))
{
    if (agent_nprocs(agent) == 0 && agent_root(agent)->state == WATCH_LIVES)
        do_it(agent, agent_root(agent));
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_process(agent, pid)->state == WATCH_LIVES)
            do_it(agent, agent_process(agent, pid));
}

static void stop_one(struct agent *agent, struct watched *process)
{
    (void)agent;
    if (!process->paused && process_is_stopped(process->ospid))
        return; /* somebody else has done it */
    process->paused = true;
    process_signal(process->pidfd, SIGSTOP);
}

static void continue_one(struct agent *agent, struct watched *process)
{
    (void)agent;
    if (process->paused)
        process_signal(process->pidfd, SIGCONT);
    process->paused = false;
}

/* While it is, its user has stopped the job: that bsprun continues it does the rest. */
static bool bsprun_is_stopped(const struct agent_pause *pause)
{
    return pause->bsprun > 0 && process_is_stopped(pause->bsprun);
}

static void continue_all(struct agent *agent)
{
    if (!bsprun_is_stopped(agent->pause))
        each(agent, continue_one);
    if (agent_nprocs(agent) > 0) /* the program itself was stopped before there were ranks */
        continue_one(agent, agent_root(agent));
}

/* ---- The control group ---- */

static void enter_group(struct agent *agent, struct watched *process)
{
    struct agent_pause *pause = agent->pause;

    if (!pause->groups || process->in_group)
        return;
    process->in_group = idle_group_add(pause->group, process->ospid);
    pause->groups = process->in_group;
}

/* Whether all are in the group now. */
static bool enter_all(struct agent *agent)
{
    struct agent_pause *pause = agent->pause;

    if (pause->groups && !pause->group)
        pause->group = idle_group_new(pause->root);
    pause->groups = pause->groups && pause->group;
    each(agent, enter_group);
    return pause->groups;
}

/* ---- Taking turns ---- */

static void on_turn(uv_timer_t *timer)
{
    struct agent *agent = timer->data;
    struct agent_pause *pause = agent->pause;

    if (pause->state == PAUSE_TURN_ON) {
        move(pause, PAUSE_TURN_OFF);
        if (computes(agent))
            each(agent, stop_one);
        uv_timer_start(timer, on_turn, PAUSE_PERIOD_MS - PAUSE_RUN_MS, 0);
    } else {
        move(pause, PAUSE_TURN_ON);
        continue_all(agent);
        uv_timer_start(timer, on_turn, PAUSE_RUN_MS, 0);
    }
}

static void take_turns(struct agent *agent)
{
    move(agent->pause, PAUSE_TURN_ON);
    on_turn(&agent->pause->timer);
}

/* ---- What is wanted ---- */

static void leave_state(struct agent_pause *pause)
{
    uv_timer_stop(&pause->timer);
    if (pause->state == PAUSE_IDLE)
        idle_group_set(pause->group, false);
}

static void slow(struct agent *agent)
{
    struct agent_pause *pause = agent->pause;

    if (pause->state == PAUSE_TURN_ON || pause->state == PAUSE_TURN_OFF)
        return;
    if (enter_all(agent) && idle_group_set(pause->group, true)) {
        move(pause, PAUSE_IDLE);
        continue_all(agent);
    } else {
        leave_state(pause);
        take_turns(agent);
    }
}

void agent_pause_set(struct agent *agent, enum wire_act act)
{
    struct agent_pause *pause = agent->pause;

    if (!pause || pause->state == PAUSE_OVER)
        return;
    if (act == WIRE_ACT_SLOW) {
        slow(agent);
        return;
    }
    leave_state(pause);
    move(pause, act == WIRE_ACT_STOP ? PAUSE_STOPPED : PAUSE_NOT);
    agent_pause_renew(agent);
}

void agent_pause_renew(struct agent *agent)
{
    struct agent_pause *pause = agent->pause;

    if (!pause)
        return;
    if (pause->state == PAUSE_IDLE && computes(agent) && !enter_all(agent)) {
        leave_state(pause);
        take_turns(agent);
    }
    if (pause->state == PAUSE_STOPPED && computes(agent))
        each(agent, stop_one);
    else if (pause->state != PAUSE_TURN_OFF || !computes(agent))
        continue_all(agent);
}

void agent_pause_end(struct agent *agent)
{
    struct agent_pause *pause = agent->pause;

    if (!pause || pause->state == PAUSE_OVER)
        return;
    leave_state(pause);
    move(pause, PAUSE_OVER);
    each(agent, continue_one);
    continue_one(agent, agent_root(agent));
}

void agent_pause_spare(struct agent *agent, struct watched *process)
{
    continue_one(agent, process);
}

/* ---- Life ---- */

int agent_pause_open(struct agent *agent, const char *root, pid_t bsprun)
{
    struct agent_pause *pause = calloc(1, sizeof *pause);

    if (pause)
        pause->root = strdup(root);
    if (!pause || !pause->root) {
        free(pause);
        return -ENOMEM;
    }
    pause->bsprun = bsprun;
    pause->groups = true;
    uv_timer_init(agent_loop(agent), &pause->timer);
    pause->timer.data = agent;
    agent->pause = pause;
    return 0;
}

void agent_pause_close(struct agent *agent)
{
    if (!agent->pause || uv_is_closing((uv_handle_t *)&agent->pause->timer))
        return;
    agent_pause_end(agent);
    idle_group_free(agent->pause->group);
    agent->pause->group = NULL;
    uv_close((uv_handle_t *)&agent->pause->timer, NULL);
}

void agent_pause_free(struct agent *agent)
{
    if (!agent->pause)
        return;
    free(agent->pause->root);
    free(agent->pause);
    agent->pause = NULL;
}
