/* remote_child.c - one child that starts a program on another host; see remote_child.h.
 *
 * A close-on-exec pipe reports the error of a failed exec.
 */
#include "bsprun/hosts/remote_child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STREAM_IN, STREAM_OUT, STREAM_ERR, STREAM_ERROR, STREAMS };

/* Runs in the child, with signals blocked. */
static void become(char *const *command, char **environment, int pipes[STREAMS][2],
                   const struct process_signals *signals, const sigset_t *mask, pid_t parent)
{
    struct sigaction plain;
    int error;

    memset(&plain, 0, sizeof plain);
    plain.sa_handler = SIG_DFL;
    setsid();
    process_restore_descriptors();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
    if (dup2(pipes[STREAM_IN][0], STDIN_FILENO) < 0 ||
        dup2(pipes[STREAM_OUT][1], STDOUT_FILENO) < 0 ||
        dup2(pipes[STREAM_ERR][1], STDERR_FILENO) < 0)
        error = errno;
    else {
        if (signals) {
            process_signals_restore(signals);
        } else {
            sigaction(SIGPIPE, &plain, NULL);
            sigprocmask(SIG_SETMASK, mask, NULL);
        }
        execvpe(command[0], command, environment);
        error = errno;
    }
    _exit(write(pipes[STREAM_ERROR][1], &error, sizeof error) < 0);
}

static int fork_child(struct remote_child *child, char *const *command, int pipes[STREAMS][2],
                      const struct process_signals *signals)
{
    static char never[] = "SSH_ASKPASS_REQUIRE=never"; /* no window asks for a password */
    char **environment = process_environment_but("SSH_ASKPASS", never);
    pid_t parent = getpid();
    sigset_t all, before;
    int error = 0;

    if (!environment)
        return ENOMEM;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    child->pid = fork();
    if (child->pid == 0)
        become(command, environment, pipes, signals, &before, parent);
    if (child->pid < 0)
        error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    free(environment);
    if (error)
        return error;
    close(pipes[STREAM_ERROR][1]);
    pipes[STREAM_ERROR][1] = -1;
    while (read(pipes[STREAM_ERROR][0], &error, sizeof error) < 0 && errno == EINTR)
        ;
    if (!error) {
        child->pidfd = process_pidfd(child->pid);
        error = child->pidfd < 0 ? -child->pidfd : 0;
        if (error)
            kill(-child->pid, SIGKILL);
    }
    if (error)
        while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    return error;
}

/* Our ends do not block. */
static int take_end(int pipes[STREAMS][2], int stream, int end)
{
    int fd = pipes[stream][end];

    pipes[stream][end] = -1;
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    return fd;
}

int remote_child_start(struct remote_child *child, char *const *command, bool own_output,
                       const struct process_signals *signals)
{
    int pipes[STREAMS][2] = {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    int error = 0;

    for (int i = 0; i < STREAMS && !error; i++)
        if ((i != STREAM_OUT || own_output) && pipe2(pipes[i], O_CLOEXEC) != 0)
            error = errno;
    if (!error && !own_output) {
        pipes[STREAM_OUT][1] = fcntl(pipes[STREAM_ERR][1], F_DUPFD_CLOEXEC, 3);
        error = pipes[STREAM_OUT][1] < 0 ? errno : 0;
    }
    if (!error)
        error = fork_child(child, command, pipes, signals);
    if (!error) {
        child->in = take_end(pipes, STREAM_IN, 1);
        child->err = take_end(pipes, STREAM_ERR, 0);
        child->out = own_output ? take_end(pipes, STREAM_OUT, 0) : -1;
    }
    for (int i = 0; i < STREAMS; i++)
        for (int end = 0; end < 2; end++)
            if (pipes[i][end] >= 0)
                close(pipes[i][end]);
    return error;
}
