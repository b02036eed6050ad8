/* twice.c - see twice.h.
 *
 * Not seen: files that were closed meanwhile, and those that were created exclusively, as the
 * kernel does not keep how a file was created.
 */
#include "bsprun/agent/twice.h"

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
#include "bsprun/agent/core/stop.h"
#include "lib/base/io.h"

static bool appends(pid_t ospid, int number)
{
    char path[64], text[256];
    const char *flags;

    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)ospid, number);
    if (!bspz_read_text(path, text, sizeof text))
        return false;
    flags = strstr(text, "flags:");
    unsigned long word = flags ? strtoul(flags + strlen("flags:"), NULL, 8) : 0;
    return (word & O_APPEND) && (word & O_ACCMODE) != O_RDONLY;
}

/* What is wrong with the descriptor; NULL: nothing.  The standard streams are bsprun's. */
static const char *wrong_with(const struct agent *agent, pid_t ospid, int directory,
                              const char *name)
{
    int number = atoi(name);
    struct stat file;

    if (number <= 2 || fstatat(directory, name, &file, 0) != 0 ||
        outside_has(&agent->outside, number, &file))
        return NULL;
    if (S_ISFIFO(file.st_mode))
        return "a pipe";
    if (S_ISSOCK(file.st_mode))
        return "a socket";
    return S_ISREG(file.st_mode) && appends(ospid, number) ? "a file for appending" : NULL;
}

/* Whether the process has such a descriptor: which one, and its path. */
static bool find(const struct agent *agent, pid_t ospid, char *text, size_t size)
{
    char path[PATH_MAX] = "";
    const struct dirent *entry;
    const char *what = NULL;

    snprintf(path, sizeof path, "/proc/%d/fd", (int)ospid);
    DIR *directory = opendir(path);
    if (!directory)
        return false;
    while (!what && (entry = readdir(directory)))
        if (entry->d_name[0] != '.' &&
            (what = wrong_with(agent, ospid, dirfd(directory), entry->d_name))) {
            ssize_t length = readlinkat(dirfd(directory), entry->d_name, path, sizeof path - 1);
            path[length > 0 ? length : 0] = '\0';
        }
    closedir(directory);
    if (what)
        snprintf(text, size, "%s open, %.200s", what, path);
    return what != NULL;
}

bool agent_check_twice(struct agent *agent)
{
    struct verdict verdict = {.cause = WIRE_CAUSE_REFUSED, .status = 1};
    char found[300];

    if (!agent_has_replicas(agent) || agent->order.any_files)
        return true;
    for (int pid = 0; pid < agent->nprocs; pid++) {
        if (!agent_is_here(agent, pid) || agent->members[pid].process.state == WATCH_NONE ||
            !find(agent, agent->members[pid].process.ospid, found, sizeof found))
            continue;
        snprintf(verdict.text, sizeof verdict.text,
                 "process %d has %s: with --replicas it is written or read by each replica; write "
                 "at positions of a file, run the job without replicas, or, if it does no harm, "
                 "with --replica-files allow",
                 pid, found);
        agent_abort(agent, pid, &verdict);
        return false;
    }
    return true;
}
