/* program.c - starts the user's program, which becomes process 0.
 *
 * The child reports a failed exec through a close-on-exec pipe, so that neither the error nor the
 * process can be lost.  Between fork and exec only async-signal-safe calls are made.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/input.h"
#include "bsprun/agent/core/launch.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/agent/program.h"
#include "bsprun/agent/snapshot/snapshots.h"
#include "bsprun/verdict.h"
#include "lib/shm/ahead.h"
#include "lib/shm/board.h"

#define STATUS_NOT_FOUND    127
#define STATUS_NOT_RUNNABLE 126
#define DEFAULT_PATH        "/usr/local/bin:/usr/bin:/bin"

extern char **environ;

/* ---- The environment ---- */

struct environment {
    char **entries; /* NULL-terminated; entries are borrowed but for `owned` */
    size_t count;
    char *owned[2];
};

static bool same_name(const char *entry, const char *name)
{
    size_t length = strcspn(name, "=");

    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

static void remove_entry(struct environment *environment, const char *name)
{
    size_t kept = 0;

    for (size_t i = 0; i < environment->count; i++)
        if (!same_name(environment->entries[i], name))
            environment->entries[kept++] = environment->entries[i];
    environment->count = kept;
    environment->entries[kept] = NULL;
}

static void set_entry(struct environment *environment, char *assignment)
{
    remove_entry(environment, assignment);
    environment->entries[environment->count++] = assignment;
    environment->entries[environment->count] = NULL;
}

static bool make_environment(const struct agent *agent, const struct wire_start *start,
                             struct environment *environment)
{
    size_t inherited = 0;

    memset(environment, 0, sizeof *environment);
    while (!start->only_named && environ[inherited])
        inherited++;
    environment->entries = calloc(inherited + start->environment.count + 3, sizeof(char *));
    environment->owned[0] = agent_board_variable(agent);
    if (!environment->entries || !environment->owned[0])
        return false;
    memcpy(environment->entries, environ, inherited * sizeof(char *));
    environment->count = inherited;
    remove_entry(environment, BSPZ_ENV_RESTORE); /* even if the user has set it */
    remove_entry(environment, BSPZ_ENV_AHEAD);
    remove_entry(environment, BSPZ_ENV_BINARIES);
    remove_entry(environment, BSPZ_ENV_ELSEWHERE);
    for (uint32_t i = 0; i < start->unset.count; i++)
        remove_entry(environment, start->unset.items[i]);
    for (uint32_t i = 0; i < start->environment.count; i++)
        set_entry(environment, (char *)start->environment.items[i]);
    set_entry(environment, environment->owned[0]);
    if (agent_order(agent)->process_limit > 0) {
        if (asprintf(&environment->owned[1], "BSP_PROCS=%d", agent_order(agent)->process_limit) < 0)
            return false;
        set_entry(environment, environment->owned[1]);
    }
    return true;
}

static void free_environment(struct environment *environment)
{
    free(environment->entries);
    free(environment->owned[0]);
    free(environment->owned[1]);
}

static const char *lookup(const struct environment *environment, const char *name)
{
    for (size_t i = 0; i < environment->count; i++)
        if (same_name(environment->entries[i], name))
            return environment->entries[i] + strlen(name) + 1;
    return NULL;
}

/* ---- The program's file ---- */

static bool runnable(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* Looks up a name without a slash in PATH, as the shell does, then in the current directory. */
static bool search(const char *name, const char *path, char *found, size_t size)
{
    for (const char *at = path; at; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
        int length = (int)strcspn(at, ":");

        snprintf(found, size, "%.*s%s%s", length, at, length ? "/" : "./", name);
        if (runnable(found))
            return true;
    }
    snprintf(found, size, "./%s", name);
    return access(found, F_OK) == 0;
}

static bool refuse(struct verdict *verdict, int status, const char *program, const char *why)
{
    memset(verdict, 0, sizeof *verdict);
    verdict->cause = WIRE_CAUSE_PLACEMENT;
    verdict->status = status;
    snprintf(verdict->text, sizeof verdict->text, "%.300s: %s", program, why);
    return false;
}

static bool find_program(const char *program, const char *path, char *found, size_t size,
                         struct verdict *verdict)
{
    struct stat status;
    int error;

    if (strchr(program, '/'))
        snprintf(found, size, "%s", program);
    else if (!search(program, path ? path : DEFAULT_PATH, found, size))
        return refuse(verdict, STATUS_NOT_FOUND, program,
                      "no such program, neither in PATH nor in the current directory");
    error = stat(found, &status) == 0 ? 0 : errno;
    if (error == ENOENT || error == ENOTDIR)
        return refuse(verdict, STATUS_NOT_FOUND, program, "no such program");
    if (error)
        return refuse(verdict, STATUS_NOT_RUNNABLE, program, strerror(error));
    if (S_ISDIR(status.st_mode))
        return refuse(verdict, STATUS_NOT_RUNNABLE, program, "is a directory, not a program");
    if (access(found, X_OK) != 0)
        return refuse(verdict, STATUS_NOT_RUNNABLE, program,
                      "is not executable: compile it with bspcc, or permit it with chmod +x");
    return true;
}

static bool refuse_exec(struct verdict *verdict, const char *program, int error)
{
    char why[160];

    if (error == ENOEXEC)
        return refuse(verdict, STATUS_NOT_RUNNABLE, program,
                      "is not a program that this machine can run");
    if (error == ENOENT)
        return refuse(verdict, STATUS_NOT_RUNNABLE, program,
                      "exists, but the interpreter or loader that it names does not");
    snprintf(why, sizeof why, "%s%s", strerror(error), verdict_limit_hint(error));
    return refuse(verdict, STATUS_NOT_RUNNABLE, program, why);
}

/* ---- Its directory ---- */

/* 0 or the error. */
static int can_enter(const char *directory)
{
    struct stat status;

    if (stat(directory, &status) != 0)
        return errno;
    if (!S_ISDIR(status.st_mode))
        return ENOTDIR;
    return access(directory, X_OK) == 0 ? 0 : errno;
}

static bool check_directory(const struct wire_start *start, struct verdict *verdict)
{
    int error = start->directory_needed ? can_enter(start->directory) : 0;
    char why[200];

    if (!error)
        return true;
    snprintf(why, sizeof why, "is not started, as it cannot begin in --wdir %.100s: %s",
             start->directory, strerror(error));
    return refuse(verdict, STATUS_NOT_RUNNABLE, start->program, why);
}

/* ---- The child ---- */

/* The agent itself must not keep the user's pipes open. */
static void drop_stdio(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null < 0)
        return;
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    close(null);
}

/* --stdin PID: process 0 has /dev/null, and hands the input on.  Returns the descriptor for that;
 * -1: process 0 reads it, or there is no room, and nobody does. */
static int offer_input(struct agent *agent, int *null)
{
    int reader = agent_input_reader(agent), input;

    *null = -1;
    if (agent_order(agent)->stdin_pid == 0)
        return -1;
    *null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    input = bspz_move_to_top(fcntl(reader >= 0 ? reader : STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
    agent_board(agent)->stdin_fd = input > 0 ? input : 0;
    return input;
}

bool agent_start_program(struct agent *agent, const struct wire_start *start,
                         struct verdict *verdict)
{
    struct environment environment;
    char path[PATH_MAX + 8];
    int handed_on[4], offered = agent_snapshots_offer(agent), null, input;
    struct agent_launch launch = {
        .agent = agent, .path = path, .standard = {-1, -1, -1}, .handed_on = handed_on};
    char **arguments = calloc((size_t)start->arguments.count + 2, sizeof *arguments);
    pid_t pid = -ENOMEM;
    bool good;

    good = make_environment(agent, start, &environment) && arguments;
    input = offer_input(agent, &null);
    if (!good) {
        refuse(verdict, STATUS_NOT_RUNNABLE, start->program, strerror(ENOMEM));
    } else {
        arguments[0] = (char *)start->program;
        for (uint32_t i = 0; i < start->arguments.count; i++)
            arguments[i + 1] = (char *)start->arguments.items[i];
        good =
            find_program(start->program, lookup(&environment, "PATH"), path, sizeof path, verdict);
    }
    good = good && check_directory(start, verdict);
    if (good) {
        launch.arguments = arguments;
        launch.environment = environment.entries;
        launch.directory = can_enter(start->directory) == 0 ? start->directory : "";
        if (!launch.directory[0] && start->directory[0])
            agent_notice(agent,
                         "host %s: there is no directory %s, the program starts in another one",
                         agent_host_name(agent), start->directory);
        launch.standard[0] = null >= 0 ? null : agent_input_reader(agent);
        for (int stream = 1; agent_has_relay(agent) && stream <= 2; stream++) {
            int kept = agent_relay_writer_of_ranks(agent, stream);

            launch.standard[stream] = agent_relay_writer(agent, stream);
            if (kept >= 0)
                handed_on[launch.handed_on_count++] = kept;
        }
        if (offered >= 0)
            handed_on[launch.handed_on_count++] = offered;
        if (input >= 0)
            handed_on[launch.handed_on_count++] = input;
        pid = agent_launch(&launch);
        good = pid > 0 || refuse_exec(verdict, start->program, -pid);
    }
    if (good && agent_watch(agent, agent_root(agent), AGENT_ROOT, pid) != 0) {
        kill(pid, SIGKILL);
        good = refuse(verdict, STATUS_NOT_RUNNABLE, start->program, "cannot be watched");
    }
    for (int i = 0, ends[] = {offered, input, null}; i < 3; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    free_environment(&environment);
    free(arguments);
    drop_stdio();
    return good;
}
