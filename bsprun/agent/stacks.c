/* stacks.c - see stacks.h.
 *
 * Happy path: QUERY_STACKS -> where each process is -> STACKS_WATCH_MS later the tool is started
 * for some processes at a time -> its output -> STACK, for each.
 *
 * What can fail: there is no tool, ptrace is refused, a tool fails or hangs, the process ends: the
 * answer has where the process is, and why there is no stack; the time is over: so have all that
 * are missing.
 */
#include "bsprun/agent/stacks.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/starter.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/agent/stack_lines.h"
#include "bsprun/agent/stack_tool.h"
#include "bsprun/process.h"
#include "bsprun/whereabouts.h"
#include "lib/base/io.h"
#include "lib/base/states.h"
#include "lib/net/net.h"

/* Whoever still computes in the same superstep after that time is not just a little late. */
#define STACKS_WATCH_MS  200u
#define STACKS_AT_A_TIME 8
#define STACKS_QUEUE_MAX (8u << 20) /* bytes for bsprun that may wait; more stacks do not */
#define YAMA             "/proc/sys/kernel/yama/ptrace_scope"

enum stacks_state {
    STACKS_NOT_ASKED,
    STACKS_WATCHING, /* where the processes are */
    STACKS_READING,  /* tools run */
    STACKS_CLOSED,
    STACKS_STATE_COUNT
};

enum look_state { LOOK_DUE, LOOK_RUNNING, LOOK_SENT };

/* One process. */
struct look {
    struct agent_stacks *stacks;
    enum look_state state;
    int pid;
    pid_t ospid; /* 0: it has none (any more) */
    enum wire_rank_state at;
    uint64_t superstep;
    struct tool *tool;
};

struct agent_stacks {
    struct agent *agent;
    enum stacks_state state;
    uint32_t number; /* of the question */
    struct look *looks;
    int count, next, running, left;
    struct stack_tool tool;
    uv_timer_t watch_timer, limit_timer;
};

#define TO BSPZ_STATES_TO
static const struct bspz_states_row rows[STACKS_STATE_COUNT] = {
    [STACKS_NOT_ASKED] = {"not asked", TO(STACKS_WATCHING) | TO(STACKS_CLOSED)},
    [STACKS_WATCHING] = {"watching", TO(STACKS_READING) | TO(STACKS_NOT_ASKED) | TO(STACKS_CLOSED)},
    [STACKS_READING] = {"reading", TO(STACKS_NOT_ASKED) | TO(STACKS_CLOSED)},
    [STACKS_CLOSED] = {"closed", 0},
};
static const struct bspz_states states = {"stacks of this host", STACKS_STATE_COUNT, rows};

static void move(struct agent_stacks *stacks, enum stacks_state to)
{
    stacks->state = (enum stacks_state)bspz_states_move(&states, stacks->state, to);
}

/* ---- Answers --------------------------------------------------------------------------------- */

static pid_t os_pid_of(const struct agent *agent, int pid)
{
    const struct watched *process = pid < agent_nprocs(agent) ? agent_process(agent, pid) : NULL;

    return process && process->state == WATCH_LIVES ? process->ospid : 0;
}

static const char *advice(void)
{
    char text[16];

    return stack_advice(bspz_read_text(YAMA, text, sizeof text) ? atoi(text) : -1);
}

/* All have been answered: nothing runs any more. */
static void finish(struct agent_stacks *stacks)
{
    uv_timer_stop(&stacks->watch_timer);
    uv_timer_stop(&stacks->limit_timer);
    move(stacks, STACKS_NOT_ASKED);
}

/* Without a stack: why. */
static void answer(struct look *look, const char *stack, const char *why, const char *to_do)
{
    struct agent_stacks *stacks = look->stacks;
    struct agent *agent = stacks->agent;
    struct wire_message message = {.kind = WIRE_STACK};
    struct whereabouts place;
    struct wire_where at = {.pid = (uint32_t)look->pid};

    look->state = LOOK_SENT;
    stacks->left--;
    if (look->pid < agent_nprocs(agent)) {
        whereabouts_read(agent_board(agent), agent_nprocs(agent), look->pid, &place);
        at.state = place.state;
        at.superstep = place.superstep;
        at.function = place.function;
        at.file = place.file;
        at.line = place.line;
        at.os_pid = (uint32_t)os_pid_of(agent, look->pid);
    }
    message.stack.host = agent_host(agent);
    message.stack.number = stacks->number;
    message.stack.left = (uint32_t)stacks->left;
    message.stack.at = (struct wire_where_list){&at, 1};
    message.stack.stays = at.state == look->at && at.superstep == look->superstep;
    message.stack.text = stack ? stack : "";
    message.stack.why = why;
    message.stack.advice = to_do;
    if (agent_control(agent) && net_queued(agent_control(agent)) > STACKS_QUEUE_MAX) {
        message.stack.text = "";
        message.stack.why = "bsprun accepts no more at the moment";
    }
    agent_send(agent, &message);
    if (stacks->left == 0)
        finish(stacks);
}

/* A tool that is killed may leave the process stopped. */
static void let_go_on(const struct look *look)
{
    const struct agent *agent = look->stacks->agent;

    if (look->ospid == 0 || os_pid_of(agent, look->pid) != look->ospid ||
        agent_process(agent, look->pid)->paused)
        return;
    process_signal(agent_process(agent, look->pid)->pidfd, SIGCONT);
}

static void answer_from(struct look *look, enum tool_end end, const char *output, size_t size)
{
    const char *name = stack_tool_name(&look->stacks->tool);
    char *stack = stack_lines(output, size, WIRE_STACK_MAX, end == TOOL_CUT);
    char why[WIRE_NAME_MAX];

    if (end != TOOL_ENDED)
        let_go_on(look);
    if (stack && end != TOOL_SLOW) {
        answer(look, stack, "", "");
    } else if (end == TOOL_SLOW) {
        snprintf(why, sizeof why, "%s took longer than %u s", name, STACK_TOOL_MS / 1000);
        answer(look, NULL, why, "");
    } else if (stack_refused(output)) {
        answer(look, NULL, "ptrace is not permitted", advice());
    } else {
        snprintf(why, sizeof why, "%s prints none", name);
        answer(look, NULL, why, "");
    }
    free(stack);
}

/* ---- Tools ----------------------------------------------------------------------------------- */

static void start_some(struct agent_stacks *stacks);

static void on_done(void *context, enum tool_end end, const char *output, size_t size)
{
    struct look *look = context;
    struct agent_stacks *stacks = look->stacks;

    look->tool = NULL;
    stacks->running--;
    answer_from(look, end, output, size);
    if (stacks->state == STACKS_READING)
        start_some(stacks);
}

static void start_one(struct look *look)
{
    struct agent_stacks *stacks = look->stacks;
    char why[WIRE_NAME_MAX];

    if (!stacks->tool.path) {
        answer(look, NULL, "neither eu-stack nor gdb is in PATH", "");
    } else if (look->ospid == 0 || os_pid_of(stacks->agent, look->pid) != look->ospid) {
        answer(look, NULL, "the process has ended", "");
    } else if (!(look->tool =
                     stack_tool_start(&stacks->tool, stacks->agent, look->ospid, on_done, look))) {
        snprintf(why, sizeof why, "%s cannot be started: %s", stack_tool_name(&stacks->tool),
                 strerror(errno));
        answer(look, NULL, why, "");
    } else {
        look->state = LOOK_RUNNING;
        stacks->running++;
    }
}

static void start_some(struct agent_stacks *stacks)
{
    int most = agent_order(stacks->agent)->cores < STACKS_AT_A_TIME
                   ? agent_order(stacks->agent)->cores
                   : STACKS_AT_A_TIME;

    while (stacks->state == STACKS_READING && stacks->next < stacks->count &&
           stacks->running < most)
        start_one(&stacks->looks[stacks->next++]);
}

static void on_watched(uv_timer_t *timer)
{
    struct agent_stacks *stacks = timer->data;

    move(stacks, STACKS_READING);
    start_some(stacks);
}

/* Those that run are killed. */
static void cancel_tools(struct agent_stacks *stacks)
{
    for (int i = 0; i < stacks->count; i++) {
        struct look *look = &stacks->looks[i];

        if (look->state != LOOK_RUNNING)
            continue;
        tool_cancel(look->tool);
        look->tool = NULL;
        let_go_on(look);
    }
    stacks->running = 0;
}

static void on_limit(uv_timer_t *timer)
{
    struct agent_stacks *stacks = timer->data;

    cancel_tools(stacks);
    for (int i = 0; i < stacks->count; i++)
        if (stacks->looks[i].state != LOOK_SENT)
            answer(&stacks->looks[i], NULL, "there was no time left for it", "");
}

/* ---- Questions ------------------------------------------------------------------------------- */

static struct agent_stacks *open_stacks(struct agent *agent)
{
    struct agent_stacks *stacks = calloc(1, sizeof *stacks);

    if (!stacks)
        return NULL;
    stacks->agent = agent;
    uv_timer_init(agent_loop(agent), &stacks->watch_timer);
    uv_timer_init(agent_loop(agent), &stacks->limit_timer);
    stacks->watch_timer.data = stacks->limit_timer.data = stacks;
    return agent->stacks = stacks;
}

/* Where each process is when the question comes.  False: there are none, or no memory. */
static bool look_at_all(struct agent_stacks *stacks)
{
    struct agent *agent = stacks->agent;
    struct whereabouts place;

    free(stacks->looks);
    stacks->count = stacks->next = stacks->running = 0;
    stacks->looks = calloc((size_t)agent_here(agent) + 1, sizeof *stacks->looks);
    for (int pid = 0;
         stacks->looks && pid < agent_nprocs(agent) && stacks->count < agent_here(agent); pid++) {
        if (!agent_is_here(agent, pid))
            continue;
        whereabouts_read(agent_board(agent), agent_nprocs(agent), pid, &place);
        stacks->looks[stacks->count++] = (struct look){.stacks = stacks,
                                                       .pid = pid,
                                                       .ospid = os_pid_of(agent, pid),
                                                       .at = place.state,
                                                       .superstep = place.superstep};
    }
    stacks->left = stacks->count;
    return stacks->count > 0;
}

void agent_stacks_take(struct agent *agent, const struct wire_query_stacks *query)
{
    struct agent_stacks *stacks = agent->stacks ? agent->stacks : open_stacks(agent);
    struct wire_message none = {.kind = WIRE_STACK};

    if (stacks && stacks->state == STACKS_CLOSED)
        return;
    if (stacks && stacks->state != STACKS_NOT_ASKED) {
        cancel_tools(stacks);
        finish(stacks);
    }
    if (!stacks || !look_at_all(stacks)) {
        none.stack.host = agent_host(agent);
        none.stack.number = query->number;
        none.stack.text = none.stack.why = none.stack.advice = "";
        agent_send(agent, &none);
        return;
    }
    stack_tool_find(&stacks->tool);
    stacks->number = query->number;
    move(stacks, STACKS_WATCHING);
    uv_timer_start(&stacks->watch_timer, on_watched, STACKS_WATCH_MS, 0);
    uv_timer_start(&stacks->limit_timer, on_limit, query->limit_ms, 0);
}

void agent_stacks_close(struct agent *agent)
{
    struct agent_stacks *stacks = agent->stacks;

    if (!stacks || stacks->state == STACKS_CLOSED)
        return;
    cancel_tools(stacks);
    move(stacks, STACKS_CLOSED);
    uv_close((uv_handle_t *)&stacks->watch_timer, NULL);
    uv_close((uv_handle_t *)&stacks->limit_timer, NULL);
}

void agent_stacks_free(struct agent *agent)
{
    struct agent_stacks *stacks = agent->stacks;

    if (!stacks)
        return;
    free(stacks->looks);
    stack_tool_free(&stacks->tool);
    free(stacks);
    agent->stacks = NULL;
}
