/* guard.c - work in a child process; see guard.h. */
#include "tools/bspsim/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/bspsim/command.h"

#define OURS      "bspsim: "
#define SAID_SIZE 256

/* The child's process. */
static _Noreturn void be_child(guard_work *work, void *context, struct guard_shared *shared,
                               int said, pid_t parent)
{
    const struct rlimit none = {0, 0};
    int status = STATUS_BAD;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &none); /* that the library ends the child is expected */
    if (getppid() == parent && dup2(said, STDERR_FILENO) >= 0)
        status = work(context, shared);
    if (fflush(stdout) != 0 || ferror(stdout))
        status = bspsim_command_fail(STATUS_BAD, "standard output: %s", strerror(errno));
    fflush(stderr);
    _exit(status);
}

/* What SimGrid says behind the place in its sources and the category. */
static const char *words_of(const char *line)
{
    static const char uncaught[] = "Uncaught exception ";
    const char *end;
    if (line[0] == '[')
        while ((end = strstr(line, "] ")))
            line = end + 2;
    return strncmp(line, uncaught, sizeof(uncaught) - 1) == 0 ? line + sizeof(uncaught) - 1 : line;
}

/* Passes on the lines of ours, and keeps the first of the library's. */
static void listen(FILE *said, char first[SAID_SIZE])
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    while ((length = getline(&line, &room, said)) >= 0) {
        if (strncmp(line, OURS, sizeof(OURS) - 1) == 0) {
            fputs(line, stderr);
            continue;
        }
        line[strcspn(line, "\n")] = '\0';
        if (first[0] == '\0')
            snprintf(first, SAID_SIZE, "%s", words_of(line));
    }
    free(line);
}

static int judge(int status, const struct guard_shared *shared, const char *first)
{
    const char *colon = first[0] ? ": " : "";
    if (WIFEXITED(status) && shared->doing[0] == '\0')
        return WEXITSTATUS(status);
    if (WIFSIGNALED(status) && WTERMSIG(status) != SIGABRT)
        return bspsim_command_fail(STATUS_BAD, "the simulation was ended by signal %d",
                                   WTERMSIG(status));
    return bspsim_command_fail(STATUS_BAD, "%s%s%s",
                               shared->doing[0] ? shared->doing : "SimGrid ended the simulation",
                               colon, first);
}

/* The parent's part.  Closes the file. */
static int wait_for(pid_t child, FILE *said, const struct guard_shared *shared)
{
    char first[SAID_SIZE] = "";
    int status = 0;
    listen(said, first);
    fclose(said);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return bspsim_command_fail(STATUS_BAD, "waitpid: %s", strerror(errno));
    return judge(status, shared, first);
}

int guard_run(guard_work *work, void *context)
{
    int ends[2], status;
    pid_t parent = getpid(), child;
    struct guard_shared *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return bspsim_command_fail(STATUS_BAD, "mmap: %s", strerror(errno));
    if (pipe(ends) < 0) {
        munmap(shared, sizeof(*shared));
        return bspsim_command_fail(STATUS_BAD, "pipe: %s", strerror(errno));
    }
    fflush(stdout);
    child = fork();
    if (child == 0) {
        close(ends[0]);
        be_child(work, context, shared, ends[1], parent);
    }
    close(ends[1]);
    FILE *said = child > 0 ? fdopen(ends[0], "r") : NULL;
    if (said)
        status = wait_for(child, said, shared);
    else {
        status =
            bspsim_command_fail(STATUS_BAD, "a process for the simulation: %s", strerror(errno));
        close(ends[0]);
    }
    munmap(shared, sizeof(*shared));
    return status;
}
