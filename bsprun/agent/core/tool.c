/* tool.c - see tool.h.
 *
 * Happy path: fork and exec -> output, until the pidfd says that the command has ended -> what is
 * left in the pipe is read -> `done`.
 *
 * What can fail: the command hangs or writes without end (its group is killed, and its end is
 * awaited as ever); a child of it keeps the pipe open (only the command itself is waited for).
 */
#include "bsprun/agent/core/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/launch.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/process.h"
#include "lib/base/buffer.h"

#define PIECE      16384u
#define HANDLES    2u /* of a tool, apart from that of its pidfd */
#define NO_SERVERS "DEBUGINFOD_URLS="

struct tool {
    struct agent *agent;
    struct tool *next;
    struct watched process;
    int output; /* our end of the pipe */
    uv_poll_t readable;
    uv_timer_t limit;
    unsigned open_handles;
    enum tool_end end;
    struct bspz_buffer text;
    tool_done *done;
    void *context;
};

char *tool_find(const char *name)
{
    const char *path = getenv("PATH");
    char *file;

    while (path && *path) {
        size_t length = strcspn(path, ":");

        if (length > 0 && path[0] == '/') {
            if (asprintf(&file, "%.*s/%s", (int)length, path, name) < 0)
                return NULL;
            if (access(file, X_OK) == 0)
                return file;
            free(file);
        }
        path += length + (path[length] == ':');
    }
    return NULL;
}

bool tool_owns(const struct agent *agent, pid_t ospid)
{
    const struct tool *tool = agent->tools;

    while (tool && tool->process.ospid != ospid)
        tool = tool->next;
    return tool;
}

/* ---- The end --------------------------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle)
{
    struct tool *tool = handle->data;

    if (--tool->open_handles > 0)
        return;
    close(tool->output);
    bspz_buffer_free(&tool->text);
    free(tool);
}

/* The process id is the tool's until it has been reaped. */
static void kill_group(const struct tool *tool)
{
    kill(-tool->process.ospid, SIGKILL);
}

/* One that still dies is reaped as other orphans are. */
void tool_cancel(struct tool *tool)
{
    struct tool **link = &tool->agent->tools;

    while (*link != tool)
        link = &(*link)->next;
    *link = tool->next;
    kill_group(tool);
    waitpid(tool->process.ospid, NULL, WNOHANG | __WALL);
    agent_unwatch(&tool->process);
    uv_close((uv_handle_t *)&tool->readable, on_closed);
    uv_close((uv_handle_t *)&tool->limit, on_closed);
}

/* False: there is no more at present, or there is too much. */
static bool read_piece(struct tool *tool)
{
    size_t room = TOOL_OUTPUT_MAX - tool->text.size;
    ssize_t got;

    if (room == 0 || !bspz_buffer_reserve(&tool->text, PIECE + 1)) {
        tool->end = TOOL_CUT;
        kill_group(tool);
        uv_poll_stop(&tool->readable);
        return false;
    }
    got = read(tool->output, tool->text.data + tool->text.size, room < PIECE ? room : PIECE);
    if (got > 0)
        tool->text.size += (size_t)got;
    else if (got == 0)
        uv_poll_stop(&tool->readable);
    return got > 0;
}

static void on_readable(uv_poll_t *handle, int status, int events)
{
    (void)status;
    (void)events;
    read_piece(handle->data);
}

static void on_limit(uv_timer_t *timer)
{
    struct tool *tool = timer->data;

    tool->end = TOOL_SLOW;
    kill_group(tool);
}

static void on_ended(struct watched *process)
{
    struct tool *tool = (struct tool *)((char *)process - offsetof(struct tool, process));

    while (tool->end == TOOL_ENDED && read_piece(tool))
        continue;
    if (bspz_buffer_reserve(&tool->text, 1))
        tool->text.data[tool->text.size] = '\0';
    tool->done(tool->context, tool->end, tool->text.data ? (char *)tool->text.data : "",
               tool->text.size);
    tool_cancel(tool);
}

/* ---- The start ------------------------------------------------------------------------------- */

static pid_t launch(struct agent *agent, char **arguments, int output)
{
    char **environment = process_environment_but(NO_SERVERS, NULL);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct agent_launch order = {.agent = agent,
                                 .path = arguments[0],
                                 .arguments = arguments,
                                 .environment = environment,
                                 .directory = "",
                                 .tool = true,
                                 .own_group = true,
                                 .standard = {nothing, output, output}};
    pid_t ospid = environment && nothing >= 0 ? agent_launch(&order) : -ENOMEM;

    if (nothing >= 0)
        close(nothing);
    free(environment);
    return ospid;
}

static void listen_to(struct tool *tool, unsigned limit_ms)
{
    struct agent *agent = tool->agent;

    tool->next = agent->tools;
    agent->tools = tool;
    tool->process.ended = on_ended;
    tool->open_handles = HANDLES;
    uv_poll_init(agent_loop(agent), &tool->readable, tool->output);
    uv_timer_init(agent_loop(agent), &tool->limit);
    tool->readable.data = tool->limit.data = tool;
    uv_poll_start(&tool->readable, UV_READABLE, on_readable);
    uv_timer_start(&tool->limit, on_limit, limit_ms, 0);
}

struct tool *tool_start(struct agent *agent, char **arguments, unsigned limit_ms, tool_done *done,
                        void *context)
{
    int ends[2], error = 0;
    struct tool *tool = calloc(1, sizeof *tool);

    if (!tool || pipe2(ends, O_CLOEXEC) != 0) {
        free(tool);
        return NULL;
    }
    *tool = (struct tool){
        .agent = agent, .output = ends[0], .done = done, .context = context, .process.pidfd = -1};
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    pid_t ospid = launch(agent, arguments, ends[1]);
    close(ends[1]);
    error = ospid < 0 ? ospid : agent_watch(agent, &tool->process, AGENT_ROOT, ospid);
    if (error == 0) {
        listen_to(tool, limit_ms);
        return tool;
    }
    if (ospid > 0) {
        kill(-ospid, SIGKILL);
        waitpid(ospid, NULL, __WALL);
    }
    close(ends[0]);
    free(tool);
    errno = -error;
    return NULL;
}
