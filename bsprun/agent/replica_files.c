/* replica_files.c - see replica_files.h. */
#include "bsprun/agent/replica_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/core/outside.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/starter.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/verdict.h"
#include "lib/base/process_stat.h"

/* Whether it is the program's own, and not what bsprun gave it or passed on. */
static bool is_of_program(const struct agent *agent, int number, const struct stat *file)
{
    return number > STDERR_FILENO && number != agent_relay_writer_of_ranks(agent, 1) &&
           number != agent_relay_writer_of_ranks(agent, 2) &&
           !outside_has(agent_outside(agent), number, file);
}

/* What the process would do twice with the descriptor; NULL: nothing. */
static const char *harm_of(const struct agent *agent, pid_t ospid, int directory, const char *name)
{
    int number = atoi(name);
    struct stat link, file;

    if (name[0] == '.' || fstatat(directory, name, &link, AT_SYMLINK_NOFOLLOW) != 0 ||
        fstatat(directory, name, &file, 0) != 0 || !is_of_program(agent, number, &file))
        return NULL;
    if (S_ISFIFO(file.st_mode))
        return "uses a pipe";
    if (S_ISSOCK(file.st_mode))
        return "uses a socket";
    return S_ISREG(file.st_mode) && file.st_nlink > 0 && (link.st_mode & S_IWUSR) &&
                   bspz_process_appends(ospid, number)
               ? "appends to a file"
               : NULL;
}

static void describe(int pid, const char *harm, int directory, const char *name, char *text,
                     size_t size)
{
    char path[PATH_MAX];
    ssize_t length = readlinkat(directory, name, path, sizeof path - 1);

    snprintf(text, size,
             "pid %d %s, %.300s (descriptor %.20s), as each of its replicas does: the result is "
             "not that "
             "of one process; --replica-files allow runs it in spite of that",
             pid, harm, length > 0 ? (path[length] = '\0', path) : "?", name);
}

/* Whether the process has such a descriptor; then with a message. */
static bool look(const struct agent *agent, int pid, char *text, size_t size)
{
    pid_t ospid = agent_process(agent, pid)->ospid;
    const struct dirent *entry;
    char path[64];
    bool found = false;

    snprintf(path, sizeof path, "/proc/%d/fd", (int)ospid);
    DIR *list = opendir(path);

    while (list && !found && (entry = readdir(list))) {
        const char *harm = harm_of(agent, ospid, dirfd(list), entry->d_name);

        if (harm)
            describe(pid, harm, dirfd(list), entry->d_name, text, size);
        found = harm != NULL;
    }
    if (list)
        closedir(list);
    return found;
}

int agent_replica_files_find(struct agent *agent, char *text, size_t size)
{
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_is_here(agent, pid) && agent_process(agent, pid)->state == WATCH_LIVES &&
            look(agent, pid, text, size))
            return pid;
    return COORD_NOBODY;
}

bool agent_replica_files_are_good(struct agent *agent)
{
    struct verdict verdict = {.cause = WIRE_CAUSE_REFUSED, .status = 1};

    if (!agent_has_replicas(agent) || agent_order(agent)->any_replica_files)
        return true;
    int pid = agent_replica_files_find(agent, verdict.text, sizeof verdict.text);
    if (pid != COORD_NOBODY)
        agent_abort(agent, pid, &verdict);
    return pid == COORD_NOBODY;
}
