/* launch.c - see launch.h.
 *
 * The child reports a failed exec through a close-on-exec pipe, so that neither the error nor the
 * process can be lost.  Between fork and exec only async-signal-safe calls are made.
 */
#include "bsprun/agent/core/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/process.h"
#include "ckpt/capture/attributes.h"
#include "ckpt/shares.h"
#include "lib/shm/board.h"

struct agent_origin {
    struct process_signals signals; /* what was done with them */
    struct rlimit descriptors;
    pid_t group; /* process group of bsprun and the program */
};

int agent_launch_open(struct agent *agent)
{
    struct agent_origin *origin = calloc(1, sizeof *origin);

    if (!origin)
        return -ENOMEM;
    agent->origin = origin;
    origin->group = getpgrp();
    getrlimit(RLIMIT_NOFILE, &origin->descriptors);
    process_signals_save(&origin->signals);
    return 0;
}

void agent_launch_free(struct agent *agent)
{
    free(agent->origin);
    agent->origin = NULL;
}

bool agent_signal_was_ignored(const struct agent *agent, int signal)
{
    return process_signal_ignored(&agent->origin->signals, signal);
}

char *agent_board_variable(const struct agent *agent)
{
    char *text;

    return asprintf(&text, "%s=%d:%d:%d:%s", BSPZ_ENV_BOARD, agent_board_fd(agent), (int)getpid(),
                    agent_board_fd(agent), agent_board(agent)->token) < 0
               ? NULL
               : text;
}

static void limit_core_dumps(bool wanted)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_CORE, &limit) != 0)
        return;
    limit.rlim_cur = wanted ? limit.rlim_max : 0;
    setrlimit(RLIMIT_CORE, &limit);
}

static bool set_standard(const struct agent_launch *launch)
{
    for (int i = 0; i < 3; i++)
        if (launch->standard[i] >= 0 && dup2(launch->standard[i], i) < 0)
            return false;
    return true;
}

/* Records the initial attributes: a restore sets only those that the program has changed. */
static void note_initial(struct bspz_board *board)
{
#ifdef BSPZ_CAPTURE
    _Static_assert(sizeof(struct bspz_attributes) <= sizeof board->initial, "it has a place");
    bspz_attributes_initial((struct bspz_attributes *)board->initial);
#else
    (void)board;
#endif
}

/* What must survive this exec and further ones, of a shell for example. */
static void pass_board(const struct agent *agent)
{
    if (agent_board(agent)->common_fd > 0)
        fcntl(agent_board(agent)->common_fd, F_SETFD, 0);
    fcntl(agent_board_fd(agent), F_SETFD, 0);
}

static void child(const struct agent_launch *launch)
{
    int error;

    /* The terminal belongs to bsprun's group: a program in another group would be stopped when it
     * reads. */
    setpgid(0, launch->own_group ? 0 : launch->agent->origin->group);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != launch->parent)
        _exit(1);
    limit_core_dumps(agent_order(launch->agent)->core_dumps);
    setrlimit(RLIMIT_NOFILE, &launch->agent->origin->descriptors);
    if (!set_standard(launch))
        goto failed;
    for (int i = 0; i < launch->handed_on_count; i++)
        fcntl(launch->handed_on[i], F_SETFD, 0);
    if (launch->shares)
        shares_pass(launch->shares, launch->group);
    if (launch->directory[0] && chdir(launch->directory) != 0)
        goto failed;
    process_signals_restore(&launch->agent->origin->signals);
    if (!launch->tool && agent_order(launch->agent)->replicas > 1)
        personality(ADDR_NO_RANDOMIZE); /* addresses are the same in all replicas */
    if (!launch->tool) {
        pass_board(launch->agent);
        note_initial(agent_board(launch->agent));
    }
    execve(launch->path, launch->arguments, launch->environment);
failed:
    error = errno;
    if (write(launch->errors, &error, sizeof error) < 0)
        _exit(2);
    _exit(1);
}

pid_t agent_launch(struct agent_launch *launch)
{
    int errors[2];
    int error = 0;
    ssize_t got;
    pid_t pid;

    if (pipe2(errors, O_CLOEXEC) != 0)
        return -errno;
    launch->errors = errors[1];
    launch->parent = getpid();
    pid = fork();
    if (pid == 0)
        child(launch);
    if (pid < 0)
        error = errno;
    close(errors[1]);
    if (pid > 0) {
        do
            got = read(errors[0], &error, sizeof error);
        while (got < 0 && errno == EINTR);
        if (error)
            waitpid(pid, NULL, 0);
    }
    close(errors[0]);
    return error ? -error : pid;
}
