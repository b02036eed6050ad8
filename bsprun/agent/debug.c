/* debug.c - see debug.h.
 *
 * Happy path: RUN -> gdb is started for each process that is to have one, while all of them wait in
 * bsp_begin -> each is traced -> they run, and those with a debugger stop at the end of bsp_begin.
 *
 * --attach-on-error: a process marks its slot and rings -> gdb is started, or its stack is read ->
 * when no debugger is left, all that have failed go on to their end.
 *
 * What can fail: a debugger cannot be started, or ends without having attached: its process runs
 * without; the job ends meanwhile: the debugger is killed with it.
 */
#include "bsprun/agent/debug.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/launch.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/tool.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/agent/stack_lines.h"
#include "bsprun/agent/stack_tool.h"
#include "bsprun/verdict.h"
#include "lib/base/states.h"
#include "lib/shm/board.h"

#define LOOK_MS    20u /* the kernel does not tell when a process is traced */
#define WORDS_MAX  24  /* of the command for a window */

#define STACK_MOST (WIRE_TEXT_MAX - 256) /* bytes of a stack in a notice */

enum debugger_state {
    DEBUGGER_STARTED,
    DEBUGGER_ATTACHED,
    DEBUGGER_GONE, /* or was never started */
    DEBUGGER_STATE_COUNT
};

struct debugger {
    struct agent_debug *debug;
    enum debugger_state state;
    int pid;
    struct watched process;
};

struct agent_debug {
    struct agent *agent;
    bool all; /* processes */
    uint32_t *pids, count;
    char *window; /* the command for one; "": the terminal */
    struct debugger *debuggers;
    uint32_t started; /* debuggers that are in the list */
    bool holds;       /* the processes wait for them */
    uv_timer_t timer;
    uint32_t stacks; /* that are being printed */
    struct stack_tool stack_tool;
    struct wire_run order;
    void (*let_run)(struct agent *agent, const struct wire_run *order);
};

#define TO BSPZ_STATES_TO
static const struct bspz_states_row rows[DEBUGGER_STATE_COUNT] = {
    [DEBUGGER_STARTED] = {"started", TO(DEBUGGER_ATTACHED) | TO(DEBUGGER_GONE)},
    [DEBUGGER_ATTACHED] = {"attached", TO(DEBUGGER_GONE)},
    [DEBUGGER_GONE] = {"gone", 0},
};
static const struct bspz_states states = {"a debugger", DEBUGGER_STATE_COUNT, rows};

static void move(struct debugger *debugger, enum debugger_state to)
{
    debugger->state = (enum debugger_state)bspz_states_move(&states, debugger->state, to);
}

/* ---- While they run -------------------------------------------------------------------------- */

static uint32_t count_running(const struct agent_debug *debug)
{
    uint32_t running = 0;

    for (uint32_t i = 0; i < debug->started; i++)
        running += debug->debuggers[i].state != DEBUGGER_GONE;
    return running;
}

bool agent_debug_runs(const struct agent *agent)
{
    return agent->debug && count_running(agent->debug) > 0;
}

bool agent_debug_in_terminal(const struct agent *agent)
{
    return agent_debug_runs(agent) && !agent->debug->window[0];
}

static void tell_running(const struct agent_debug *debug)
{
    struct wire_message message = {.kind = WIRE_DEBUGGED};

    message.debugged.count = count_running(debug);
    agent_send(debug->agent, &message);
}

static bool is_traced(pid_t ospid)
{
    char path[64], line[128];
    int tracer = 0;

    snprintf(path, sizeof path, "/proc/%d/status", (int)ospid);
    FILE *file = fopen(path, "re");

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "TracerPid: %d", &tracer) == 1)
            break;
    if (file)
        fclose(file);
    return tracer > 0;
}

/* Lets the processes run when no debugger is still to attach. */
static void release_if_ready(struct agent_debug *debug)
{
    for (uint32_t i = 0; i < debug->started; i++) {
        struct debugger *debugger = &debug->debuggers[i];

        if (debugger->state == DEBUGGER_STARTED &&
            is_traced(agent_process(debug->agent, debugger->pid)->ospid))
            move(debugger, DEBUGGER_ATTACHED);
        if (debugger->state == DEBUGGER_STARTED)
            return;
    }
    uv_timer_stop(&debug->timer);
    if (!debug->holds)
        return;
    debug->holds = false;
    debug->let_run(debug->agent, &debug->order);
}

/* Processes that have failed go on to their end when nobody looks at any process. */
static void let_fail(struct agent_debug *debug)
{
    struct agent *agent = debug->agent;

    if (count_running(debug) > 0 || debug->stacks > 0)
        return;
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        bspz_word_move(&bspz_rank_of(agent_board(agent), pid)->plea, BSPZ_PLEA_TAKEN, BSPZ_PLEA_GO);
}

static void on_look(uv_timer_t *timer)
{
    release_if_ready(timer->data);
}

static void on_ended(struct watched *process)
{
    struct debugger *debugger =
        (struct debugger *)((char *)process - offsetof(struct debugger, process));
    struct agent_debug *debug = debugger->debug;

    waitpid(process->ospid, NULL, WNOHANG | __WALL);
    agent_unwatch(process);
    move(debugger, DEBUGGER_GONE);
    tell_running(debug);
    release_if_ready(debug);
    let_fail(debug);
    if (count_running(debug) == 0 && agent_job(debug->agent) == JOB_OVER)
        agent_post(debug->agent, AGENT_JOB_OVER);
}

/* ---- The start ------------------------------------------------------------------------------- */

/* The words of the command for gdb, behind those of a window; `window` is taken apart. */
static void make_command(char *window, char *gdb, char *number, bool has_failed, char **words)
{
    char *const of_gdb[] = {gdb, "-q", "-p", number};
    char *const begins[] = {"-ex", "tbreak bsp_begin_end", "-ex", "continue"};
    char *const fails[] = {"-ex", "backtrace"};
    char *rest = window, *word;
    int count = 0;

    while ((word = strsep(&rest, " ")) && count < WORDS_MAX)
        if (*word)
            words[count++] = word;
    for (size_t i = 0; i < sizeof of_gdb / sizeof *of_gdb; i++)
        words[count++] = of_gdb[i];
    for (size_t i = 0; !has_failed && i < sizeof begins / sizeof *begins; i++)
        words[count++] = begins[i];
    for (size_t i = 0; has_failed && i < sizeof fails / sizeof *fails; i++)
        words[count++] = fails[i];
    words[count] = NULL;
}

static pid_t launch(struct agent_debug *debug, char **words, const char *path)
{
    bool in_window = debug->window[0];
    int terminal = open(in_window ? "/dev/null" : "/dev/tty", O_RDWR | O_CLOEXEC);
    struct agent_launch order = {.agent = debug->agent,
                                 .path = path,
                                 .arguments = words,
                                 .environment = environ,
                                 .directory = "",
                                 .tool = true,
                                 .own_group = in_window,
                                 .standard = {terminal, terminal, terminal}};
    pid_t ospid = terminal < 0 ? -errno : agent_launch(&order);

    if (terminal >= 0)
        close(terminal);
    return ospid;
}

/* 0 or -errno. */
static int start(struct agent_debug *debug, struct debugger *debugger, bool has_failed)
{
    struct agent *agent = debug->agent;
    char *words[WORDS_MAX + 10], number[16];
    char *window = strdup(debug->window), *gdb = tool_find("gdb"), *path = NULL;
    int error = window && gdb ? 0 : -ENOENT;

    snprintf(number, sizeof number, "%d", (int)agent_process(agent, debugger->pid)->ospid);
    if (!error) {
        make_command(window, gdb, number, has_failed, words);
        path = words[0][0] == '/' ? strdup(words[0]) : tool_find(words[0]);
        error = path ? launch(debug, words, path) : -ENOENT;
    }
    if (error > 0) /* its process */
        error = agent_watch(agent, &debugger->process, AGENT_ROOT, error);
    free(path);
    free(window);
    free(gdb);
    return error;
}

static void start_one(struct agent_debug *debug, int pid, bool has_failed)
{
    struct debugger *debugger = &debug->debuggers[debug->started];
    int error;

    *debugger = (struct debugger){.debug = debug, .pid = pid, .process.pidfd = -1};
    error = start(debug, debugger, has_failed);
    if (error) {
        agent_notice(debug->agent, "pid %d has no debugger: %s", pid, strerror(-error));
        return;
    }
    debugger->process.ended = on_ended;
    debug->started++;
}

static bool has_all(struct agent_debug *debug)
{
    struct agent *agent = debug->agent;
    struct verdict verdict = {.cause = WIRE_CAUSE_PLACEMENT, .status = 2};

    for (uint32_t i = 0; i < debug->count; i++) {
        if ((int)debug->pids[i] < agent_nprocs(agent))
            continue;
        snprintf(
            verdict.text, sizeof verdict.text,
            "--debug %u: there is no such process; the job has %d, of which the last is pid %d",
            debug->pids[i], agent_nprocs(agent), agent_nprocs(agent) - 1);
        agent_abort(agent, COORD_NOBODY, &verdict);
        return false;
    }
    return true;
}

bool agent_debug_begin(struct agent *agent, const struct wire_run *order,
                       void (*let_run)(struct agent *agent, const struct wire_run *order))
{
    struct agent_debug *debug = agent->debug;

    if (!debug || debug->debuggers)
        return false;
    if (!has_all(debug))
        return true;
    /* Each may have one at the beginning, and one when it fails. */
    debug->debuggers = calloc(2 * (size_t)agent_nprocs(agent) + 1, sizeof *debug->debuggers);
    if (!debug->debuggers)
        return false;
    debug->order = *order;
    debug->let_run = let_run;
    for (int pid = 0; debug->all && pid < agent_nprocs(agent); pid++)
        start_one(debug, pid, false);
    for (uint32_t i = 0; i < debug->count; i++)
        start_one(debug, (int)debug->pids[i], false);
    if (debug->started == 0)
        return false;
    tell_running(debug);
    debug->holds = true;
    uv_timer_start(&debug->timer, on_look, LOOK_MS, LOOK_MS);
    return true;
}

/* ---- Processes that fail --------------------------------------------------------------------- */

/* A process, while its stack is read. */
struct failed {
    struct agent_debug *debug;
    int pid;
};

static void print_stack(const struct failed *failed, const char *text)
{
    struct wire_message message = {.kind = WIRE_NOTICE};
    char *line;

    if (asprintf(&line, "pid %d has failed here:\n%s", failed->pid, text) < 0)
        return;
    line[strlen(line) - 1] = '\0'; /* the last line break is bsprun's */
    message.notice.text = line;
    agent_send(failed->debug->agent, &message);
    free(line);
}

static void on_stack(void *context, enum tool_end end, const char *output, size_t size)
{
    struct failed *failed = context;
    struct agent_debug *debug = failed->debug;
    char *text = stack_lines(output, size, STACK_MOST, end == TOOL_CUT);

    print_stack(failed, text && end != TOOL_SLOW ? text
                        : stack_refused(output)
                            ? "    no stack: ptrace is not permitted\n"
                            : "    no stack: it could not be obtained in time\n");
    free(text);
    free(failed);
    debug->stacks--;
    let_fail(debug);
}

static void start_stack(struct agent_debug *debug, int pid)
{
    struct failed *failed = malloc(sizeof *failed);
    pid_t ospid = agent_process(debug->agent, pid)->ospid;

    stack_tool_find(&debug->stack_tool);
    if (failed)
        *failed = (struct failed){debug, pid};
    if (failed && debug->stack_tool.path &&
        stack_tool_start(&debug->stack_tool, debug->agent, ospid, on_stack, failed))
        debug->stacks++;
    else
        free(failed);
}

static void attend(struct agent_debug *debug, int pid)
{
    struct agent *agent = debug->agent;

    if (agent_order(agent)->attach == WIRE_ATTACH_STACK)
        start_stack(debug, pid);
    else if ((debug->window[0] || count_running(debug) == 0) &&
             debug->started < 2 * (uint32_t)agent_nprocs(agent))
        start_one(debug, pid, true);
}

void agent_debug_scan(struct agent *agent)
{
    struct agent_debug *debug = agent->debug;
    bool found = false;

    if (!debug || agent_order(agent)->attach == WIRE_ATTACH_NOT || !debug->debuggers)
        return;
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_process(agent, pid)->state == WATCH_LIVES &&
            bspz_word_move(&bspz_rank_of(agent_board(agent), pid)->plea, BSPZ_PLEA_ASKS,
                           BSPZ_PLEA_TAKEN)) {
            attend(debug, pid);
            found = true;
        }
    if (!found)
        return;
    tell_running(debug);
    let_fail(debug); /* those for which nothing could be started */
}

/* ---- Life ------------------------------------------------------------------------------------ */

int agent_debug_open(struct agent *agent, const struct wire_start *start)
{
    struct agent_debug *debug;

    if (!start->debug_all && start->debug.count == 0 && start->attach == WIRE_ATTACH_NOT)
        return 0;
    debug = calloc(1, sizeof *debug);
    if (!debug)
        return -ENOMEM;
    debug->agent = agent;
    debug->all = start->debug_all;
    debug->window = strdup(start->window);
    debug->pids = calloc(start->debug.count + 1, sizeof *debug->pids);
    if (!debug->window || !debug->pids) {
        free(debug->window);
        free(debug->pids);
        free(debug);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < start->debug.count; i++)
        debug->pids[debug->count++] = (uint32_t)start->debug.items[i];
    uv_timer_init(agent_loop(agent), &debug->timer);
    debug->timer.data = debug;
    agent->debug = debug;
    return 0;
}

void agent_debug_close(struct agent *agent)
{
    struct agent_debug *debug = agent->debug;

    if (!debug || uv_is_closing((uv_handle_t *)&debug->timer))
        return;
    debug->holds = false;
    for (uint32_t i = 0; i < debug->started; i++)
        agent_unwatch(&debug->debuggers[i].process);
    uv_close((uv_handle_t *)&debug->timer, NULL);
}

void agent_debug_free(struct agent *agent)
{
    struct agent_debug *debug = agent->debug;

    if (!debug)
        return;
    free(debug->debuggers);
    free(debug->pids);
    free(debug->window);
    stack_tool_free(&debug->stack_tool);
    free(debug);
    agent->debug = NULL;
}
