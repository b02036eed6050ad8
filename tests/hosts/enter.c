/* enter.c - runs a command inside a host, for farm.py.
 *
 *   farmhost enter PROCESS UID GID DIRECTORY COMMAND ...
 *
 * PROCESS is any process of the host (or the switch).  Signals are passed on to the command, which
 * is killed when this process is.  The exit status is the command's.
 */
#include "tests/hosts/farmhost.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const int passed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};

static _Noreturn void end_alike(int status)
{
    if (WIFSIGNALED(status)) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(WTERMSIG(status), SIG_DFL);
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_UNBLOCK, &all, NULL);
        raise(WTERMSIG(status));
    }
    _exit(WEXITSTATUS(status));
}

static _Noreturn void look_after(pid_t command, const sigset_t *waited)
{
    for (;;) {
        int status;
        siginfo_t info;
        if (waitpid(command, &status, WNOHANG) == command)
            end_alike(status);
        int number = sigwaitinfo(waited, &info);
        /* What the terminal sent, the command has had, too. */
        if (number > 0 && number != SIGCHLD && info.si_code != SI_KERNEL)
            kill(command, number);
    }
}

int enter_main(int argc, char **argv)
{
    static const char *const names[] = {"user", "mnt", "uts", "ipc", "net", "pid", NULL};
    if (argc < 5)
        return 255;
    sigset_t waited, before;
    sigemptyset(&waited);
    sigaddset(&waited, SIGCHLD);
    for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
        sigaddset(&waited, passed_on[i]);
    sigprocmask(SIG_BLOCK, &waited, &before);

    join_namespaces(atoi(argv[0]), names);
    if (chdir(argv[3]) != 0)
        give_up("no directory", argv[3]);
    pid_t command = fork();
    if (command < 0)
        give_up("cannot start", argv[4]);
    if (command == 0) {
        become((uid_t)strtoul(argv[1], NULL, 10), (gid_t)strtoul(argv[2], NULL, 10));
        die_with_parent();
        sigprocmask(SIG_SETMASK, &before, NULL);
        execvp(argv[4], argv + 4);
        fprintf(stderr, "farmhost: cannot run %s\n", argv[4]);
        _exit(127);
    }
    die_with_parent();
    look_after(command, &waited);
}
