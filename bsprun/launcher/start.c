/* start.c - starting the node agent; see start.h.
 *
 * A close-on-exec pipe reports the error of a failed exec.
 */
#include "bsprun/launcher/start.h"

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

bool start_agent_path(char *path, size_t size)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    if (length <= 0)
        return false;
    self[length] = '\0';
    return snprintf(path, size, "%s/" AGENT_NAME, dirname(self)) < (int)size;
}

/* Forks and waits until the exec has succeeded or failed.  Signals are blocked while the child has
 * bsprun's handlers. 0 or the error. */
static int fork_agent(const struct process_signals *signals, const char *path, char **arguments,
                      const int kept[2], pid_t *agent)
{
    sigset_t all, before;
    int errors[2];
    int error = 0;

    if (pipe2(errors, O_CLOEXEC) != 0)
        return errno;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    *agent = fork();
    if (*agent == 0) {
        process_signals_restore(signals);
        process_restore_descriptors();
        for (int i = 0; i < 2; i++)
            if (kept[i] >= 0)
                fcntl(kept[i], F_SETFD, 0);
        execv(path, arguments);
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

int start_agent(const struct process_signals *signals, int hold, bool join, pid_t *agent,
                char *failure, size_t size)
{
    char path[PATH_MAX + 16], number[16], held[16];
    char *arguments[7] = {AGENT_NAME, "--fd", number};
    int count = 3;
    int ends[2];
    int error;

    if (!start_agent_path(path, sizeof path) ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        error = errno;
        snprintf(failure, size, "cannot start the node agent: %s%s", strerror(error),
                 verdict_limit_hint(error));
        return -1;
    }
    snprintf(number, sizeof number, "%d", ends[1]);
    snprintf(held, sizeof held, "%d", hold);
    if (hold >= 0) {
        arguments[count++] = "--hold";
        arguments[count++] = held;
    }
    if (join)
        arguments[count++] = "--join";
    error = fork_agent(signals, path, arguments, (const int[]){ends[1], hold}, agent);
    close(ends[1]);
    if (!error)
        return ends[0];
    close(ends[0]);
    snprintf(failure, size, "cannot start the node agent %s: %s%s", path, strerror(error),
             verdict_limit_hint(error));
    return -1;
}
