/* agents_own.c - the agent of bsprun's own host, a child process.
 *
 * Happy path: it is started with a socket pair -> its line -> EXIT -> its line ends, it is reaped,
 * and remaining processes of the job on this host are killed.
 *
 * What can fail: it cannot be started, or dies: bsprun, the next subreaper, becomes the parent of
 * the processes it leaves behind.
 */
#include "bsprun/launcher/agents_inside.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bsprun/hosts/remote_start.h"
#include "bsprun/launcher/start.h"
#include "bsprun/verdict.h"

#define SIGNAL_STATUS 128
#define UNBORN_MS     500
#define AGENT_ENDS_MS 3000 /* after its connection is closed */

/* The agent has closed its connection: waits for it, and kills it if it does not end soon.  Returns
 * its wait status. */
static int wait_for_agent(struct launcher_agent *agent)
{
    const struct timespec pause = {0, 2000000};
    uint64_t end = launcher_now_ms() + AGENT_ENDS_MS;
    int status = 0;
    pid_t got;

    while ((got = waitpid(agent->pid, &status, WNOHANG)) <= 0) {
        if (got < 0 && errno != EINTR)
            break;
        if (launcher_now_ms() >= end && !life_is_over(&agent->all->common->life))
            kill(agent->pid, SIGKILL);
        nanosleep(&pause, NULL);
    }
    return status;
}

/* Whether the child starts an agent on another host. */
static bool is_launching(const void *context, pid_t pid)
{
    const struct agents *agents = context;

    return agents->start && remote_start_owns(agents->start, pid);
}

/* Counts processes that are not copies. */
static bool is_no_copy(const void *context, pid_t pid)
{
    int *const *others = context;

    if (process_is_copy(pid))
        return false;
    ++**others;
    return true;
}

/* No process that the agent started may outlive it. */
static void kill_leftovers(const struct agents *agents)
{
    const struct timespec pause = {0, 2000000};

    while (process_kill_descendants_beside(is_launching, agents) > 0)
        nanosleep(&pause, NULL);
    process_reap_strangers(is_launching, agents);
}

/* The program has ended well: its remaining processes are left alone, except copies of it.  One
 * that is just being made, and is not recognisable as a copy yet, ends by itself. */
static void kill_copies(const struct agents *agents)
{
    const struct timespec pause = {0, 2000000};
    uint64_t end = launcher_now_ms() + UNBORN_MS;
    int killed, others, *counted = &others;

    do {
        others = 0;
        killed = process_kill_descendants_but(is_no_copy, &counted);
        if (killed > 0 || others > 0)
            nanosleep(&pause, NULL);
        process_reap_strangers(is_launching, agents);
    } while (killed > 0 || (others > 0 && launcher_now_ms() < end));
}

/* Reports that the agent has died. */
static void tell_lost(struct launcher_agent *agent, int wait_status)
{
    bool killed = WIFSIGNALED(wait_status), among = agents_has_hosts(agent->all);
    char how[96] = "ended", text[WIRE_NAME_MAX + 192];

    if (killed) {
        char name[48];

        verdict_signal_text(WTERMSIG(wait_status), name, sizeof name);
        snprintf(how, sizeof how, "was killed by signal %s", name);
    }
    snprintf(text, sizeof text, "the node agent (" AGENT_NAME ", process %d)%s%s %s",
             (int)agent->pid, among ? " of host " : "", among ? agent->name : "", how);
    agent->pid = 0;
    agents_lost(agent, AGENT_ENDED, killed ? SIGNAL_STATUS + WTERMSIG(wait_status) : 1, text);
}

static void on_line_ended(struct launcher_agent *agent, enum net_end end, const char *text)
{
    struct agents *agents = agent->all;
    int wait_status = wait_for_agent(agent);

    (void)end;
    (void)text;
    if (agents->leftovers == LEFTOVERS_COPIES_DIE)
        kill_copies(agents);
    else if (agents->leftovers == LEFTOVERS_DIE)
        kill_leftovers(agents);
    if (life_is_over(&agents->common->life))
        agent->pid = 0;
    else
        tell_lost(agent, wait_status);
}

/* ---- The start ---- */

bool agents_start_own(struct launcher_agent *agent)
{
    struct agents *agents = agent->all;
    struct common *common = agents->common;
    char failure[PATH_MAX + 128];
    /* Keeps the directory locked until no process of the job is left, even if bsprun dies. */
    int hold = common->saved.store ? store_lock(common->saved.store) : -1;
    int fd = start_agent(common->signals, hold, agents_has_hosts(agents), &agent->pid, failure,
                         sizeof failure);

    if (fd < 0) {
        notices_say(&common->notices, "%s", failure);
        return false;
    }
    int error = agents_open_line(agent, fd, NULL, on_line_ended);
    if (error) {
        notices_say(&common->notices, "cannot talk to the node agent: %s", strerror(-error));
        close(fd);
        wait_for_agent(agent);
        kill_leftovers(agents);
        return false;
    }
    return true;
}
