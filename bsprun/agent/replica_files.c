/* replica_files.c - see replica_files.h. */
#include "bsprun/agent/replica_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/job.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/core/outside.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/starter.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/timers.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/verdict.h"
#include "lib/base/process_stat.h"

#define LOOK_MS   10u
#define MOMENT_NS UINT64_C(1500000000) /* less than bsprun waits for replicas at the end */

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

/* Whether it may have truncated a file, which it still writes. */
static bool writes_file(const struct agent *agent, int directory, const char *name)
{
    struct stat link, file;

    return name[0] != '.' && fstatat(directory, name, &link, AT_SYMLINK_NOFOLLOW) == 0 &&
           fstatat(directory, name, &file, 0) == 0 && S_ISREG(file.st_mode) && file.st_nlink > 0 &&
           (link.st_mode & S_IWUSR) && is_of_program(agent, atoi(name), &file);
}

static DIR *open_descriptors(pid_t ospid)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/fd", (int)ospid);
    return opendir(path);
}

/* Whether the process has such a descriptor; then with a message. */
static bool look(const struct agent *agent, int pid, char *text, size_t size)
{
    pid_t ospid = agent_process(agent, pid)->ospid;
    const struct dirent *entry;
    bool found = false;
    DIR *list = open_descriptors(ospid);

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

/* ---- At the end ---- */

static bool any_writes(const struct agent *agent)
{
    bool found = false;

    for (int pid = 0; pid < agent_nprocs(agent) && !found; pid++) {
        const struct dirent *entry;
        DIR *list = NULL;

        if (agent_is_here(agent, pid) && agent_process(agent, pid)->state == WATCH_LIVES)
            list = open_descriptors(agent_process(agent, pid)->ospid);
        while (list && !found && (entry = readdir(list)))
            found = writes_file(agent, dirfd(list), entry->d_name);
        if (list)
            closedir(list);
    }
    return found;
}

static void look_again(uv_timer_t *timer)
{
    struct agent *agent = timer->data;

    if (agent_now_ns() < agent->writing.until_ns && any_writes(agent))
        return;
    uv_timer_stop(timer);
    agent->writing.end(agent);
}

void agent_let_write(struct agent *agent, uint32_t cause, void (*end)(struct agent *agent))
{
    if (!agent_has_replicas(agent) || cause != WIRE_CAUSE_NONE ||
        job_is_stopping(agent_job(agent)) || !any_writes(agent)) {
        end(agent);
        return;
    }
    agent->writing.until_ns = agent_now_ns() + MOMENT_NS;
    agent->writing.end = end;
    uv_timer_start(agent_timer(agent, AGENT_TIMER_WRITING), look_again, LOOK_MS, LOOK_MS);
}

bool agent_let_write_first(struct agent *agent, void (*end)(struct agent *agent))
{
    agent->writing.end = end;
    return uv_is_active((uv_handle_t *)agent_timer(agent, AGENT_TIMER_WRITING));
}
