/* watch.c - see watch.h. */
#include "bsprun/agent/core/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/process.h"

static void on_pidfd(uv_poll_t *handle, int status, int events)
{
    struct watched *process = handle->data;

    (void)status;
    (void)events;
    uv_poll_stop(handle);
    process->state = WATCH_GONE;
    process->death = process_death(process->pidfd);
    agent_calls(process->agent)->ended(process);
}

int agent_watch(struct agent *agent, struct watched *process, int pid, pid_t ospid)
{
    int error;
    int pidfd = process_pidfd(ospid);

    if (pidfd < 0)
        return pidfd;
    process->agent = agent;
    process->pid = pid;
    process->ospid = ospid;
    process->pidfd = pidfd;
    process->death = (struct death){0};
    process->paused = process->in_group = false;
    process->poll = malloc(sizeof *process->poll);
    error = process->poll ? uv_poll_init(agent_loop(agent), process->poll, pidfd) : -ENOMEM;
    if (error) {
        free(process->poll);
        close(pidfd);
        process->pidfd = -1;
        return error;
    }
    process->state = WATCH_LIVES;
    process->poll->data = process;
    return uv_poll_start(process->poll, UV_READABLE, on_pidfd);
}

static void free_poll(uv_handle_t *handle)
{
    free(handle);
}

void agent_unwatch(struct watched *process)
{
    if (process->state == WATCH_NONE)
        return;
    uv_close((uv_handle_t *)process->poll, free_poll);
    close(process->pidfd);
    process->pidfd = -1;
    process->poll = NULL;
    process->state = WATCH_NONE;
}

void agent_bury(struct watched *process)
{
    pid_t ospid = process->ospid;

    agent_unwatch(process);
    if (ospid > 0)
        waitpid(ospid, NULL, WNOHANG | __WALL);
    *process = (struct watched){.pidfd = -1};
}

void agent_move_watched(struct watched *from, struct watched *to)
{
    *to = *from;
    to->poll->data = to;
    *from = (struct watched){.pidfd = -1};
}
