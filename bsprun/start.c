/* start.c - starting the node agent; see start.h.
 *
 * A pipe that a successful exec closes brings the error of a failed one.
 */
#include "bsprun/start.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bsprun/verdict.h"

/* The agent lies beside bsprun. */
static bool agent_path(char *path, size_t size)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    if (length <= 0)
        return false;
    self[length] = '\0';
    return snprintf(path, size, "%s/" AGENT_NAME, dirname(self)) < (int)size;
}

/* Forks and waits until the exec has succeeded or failed.  No signal reaches the child while it has
 * bsprun's handlers.  0 or the error. */
static int fork_agent(const struct process_signals *signals, const char *path, int its_end,
                      int hold, pid_t *agent)
{
    sigset_t all, before;
    char number[16], held[16];
    int errors[2];
    int error = 0;

    if (pipe2(errors, O_CLOEXEC) != 0)
        return errno;
    snprintf(number, sizeof number, "%d", its_end);
    snprintf(held, sizeof held, "%d", hold);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    *agent = fork();
    if (*agent == 0) {
        process_signals_restore(signals);
        fcntl(its_end, F_SETFD, 0);
        fcntl(hold, F_SETFD, 0);
        execl(path, AGENT_NAME, "--fd", number, hold < 0 ? NULL : "--hold", held, (char *)NULL);
        error = errno;
        _exit(write(errors[1], &error, sizeof error) < 0);
    }
    if (*agent < 0)
        error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(errors[1]);
    while (*agent > 0 && read(errors[0], &error, sizeof error) < 0 && errno == EINTR)
        ;
    close(errors[0]);
    if (*agent > 0 && error)
        waitpid(*agent, NULL, 0);
    return error;
}

int start_agent(const struct process_signals *signals, int hold, pid_t *agent, char *failure,
                size_t size)
{
    char path[PATH_MAX + 16];
    int ends[2];
    int error;

    if (!agent_path(path, sizeof path) ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        error = errno;
        snprintf(failure, size, "cannot start the node agent: %s%s", strerror(error),
                 verdict_limit_hint(error));
        return -1;
    }
    error = fork_agent(signals, path, ends[1], hold, agent);
    close(ends[1]);
    if (!error)
        return ends[0];
    close(ends[0]);
    snprintf(failure, size, "cannot start the node agent %s: %s%s", path, strerror(error),
             verdict_limit_hint(error));
    return -1;
}
