/* launcher_agents.c - the table of agents; see launcher_agents.h.
 *
 * Happy path: an agent is started -> its line opens -> HELLO (launcher_talk.c) -> messages -> EXIT
 * -> its line closes, and it is reaped.
 *
 * What can fail: the agent of this host cannot be started or dies (all that it leaves behind is
 * ours, as we are the next subreaper: it is killed); one elsewhere: launcher_remote.c.
 */
#include "bsprun/launcher/launcher_agents.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bsprun/hosts/adapter.h"
#include "bsprun/launcher/launcher_inside.h"
#include "bsprun/launcher/start.h"
#include "bsprun/verdict.h"

#define SIGNAL_STATUS 128
#define UNBORN_MS     500
#define AGENT_ENDS_MS 3000 /* once its connection is closed */

/* ---- The table ---- */

/* Of another name of the host, by which its data is to go; NULL: as if there were none. */
static char *find_adapter(struct launcher *launcher, const struct host *host)
{
    const char *why = "";
    char *addresses = adapter_resolve(host->adapter, &why);

    if (!addresses)
        launcher_say(launcher, "host %s: its adapter %s is not used: %s", host->name, host->adapter,
                     why);
    return addresses;
}

bool launcher_make_agents(struct launcher *launcher)
{
    const struct options_hosts *options = &launcher->options->hosts;

    launcher->agents = calloc(options->all.count, sizeof *launcher->agents);
    if (!launcher->agents)
        return false;
    launcher->agent_count = options->all.count;
    launcher->spares = options->spares;
    for (uint32_t i = 0; i < launcher->agent_count; i++) {
        const struct host *host = &options->all.items[i];
        bool local = hosts_is_own(host->name, options->own);

        launcher->agents[i] = (struct launcher_agent){.launcher = launcher,
                                                      .host = i,
                                                      .slots = host->slots,
                                                      .load = host->load,
                                                      .name = local ? options->own : host->name,
                                                      .local = local};
        if (host->adapter && options->all.count > 1)
            launcher->agents[i].adapter = find_adapter(launcher, host);
    }
    return true;
}

void launcher_free_agents(struct launcher *launcher)
{
    for (uint32_t i = 0; i < launcher->agent_count; i++) {
        free(launcher->agents[i].addresses);
        free(launcher->agents[i].adapter);
        free(launcher->agents[i].places);
    }
    free(launcher->agents);
    launcher->agents = NULL;
    launcher->agent_count = 0;
}

struct launcher_agent *launcher_agent_of(struct launcher *launcher, uint32_t host)
{
    return host < launcher->agent_count ? &launcher->agents[host] : NULL;
}

bool launcher_has_hosts(const struct launcher *launcher)
{
    return launcher->agent_count > 1 || !launcher->agents[0].local;
}

bool launcher_slots(const struct launcher *launcher, uint32_t *slots)
{
    *slots = 0;
    for (uint32_t i = 0; i < launcher->agent_count; i++) {
        const struct launcher_agent *agent = &launcher->agents[i];

        if (!agent->starting && !agent->line)
            continue; /* a spare, or one that was lost */
        if (agent->slots == 0 && !agent->up)
            return false;
        *slots += agent->slots > 0 ? agent->slots : agent->cores;
    }
    return true;
}

void launcher_host_text(const struct launcher_agent *agent, char *text, size_t size)
{
    text[0] = '\0';
    if (launcher_has_hosts(agent->launcher))
        snprintf(text, size, "host %s", agent->name);
}

/* ---- The end of the agent of this host ---- */

/* It has closed its connection, so that it ends soon, or must be made to.  How it ended. */
static int wait_for_agent(struct launcher_agent *agent)
{
    const struct timespec pause = {0, 2000000};
    uint64_t end = launcher_now_ms() + AGENT_ENDS_MS;
    int status = 0;
    pid_t got;

    while ((got = waitpid(agent->pid, &status, WNOHANG)) <= 0) {
        if (got < 0 && errno != EINTR)
            break;
        if (launcher_now_ms() >= end && !agent->launcher->over)
            kill(agent->pid, SIGKILL);
        nanosleep(&pause, NULL);
    }
    return status;
}

static bool is_launching(const void *context, pid_t pid)
{
    return launcher_is_launching(context, pid);
}

/* Counts those that are not. */
struct count {
    const struct launcher *launcher;
    int others;
};

static bool is_no_copy(const void *context, pid_t pid)
{
    struct count *const *count = context;

    if (process_is_copy(pid))
        return false;
    ++(*count)->others;
    return true;
}

/* Nothing that the agent started may outlive it. */
static void kill_what_is_left(const struct launcher *launcher)
{
    const struct timespec pause = {0, 2000000};

    while (process_kill_descendants_beside(is_launching, launcher) > 0)
        nanosleep(&pause, NULL);
    process_reap_strangers(is_launching, launcher);
}

/* The program has ended well: what it left behind is the user's, and only copies of it are not. One
 * that is not a copy yet, as it was just being made, ends by itself. */
static void kill_copies(const struct launcher *launcher)
{
    const struct timespec pause = {0, 2000000};
    uint64_t end = launcher_now_ms() + UNBORN_MS;
    struct count count = {.launcher = launcher}, *counted = &count;
    int killed;

    do {
        count.others = 0;
        killed = process_kill_descendants_but(is_no_copy, &counted);
        if (killed > 0 || count.others > 0)
            nanosleep(&pause, NULL);
        process_reap_strangers(is_launching, launcher);
    } while (killed > 0 || (count.others > 0 && launcher_now_ms() < end));
}

/* The agent is gone without a word. */
static void tell_lost(struct launcher_agent *agent, int wait_status)
{
    struct launcher *launcher = agent->launcher;
    char how[96] = "ended", host[WIRE_NAME_MAX + 16], text[WIRE_NAME_MAX + 192];

    if (WIFSIGNALED(wait_status)) {
        char name[48];

        verdict_signal_text(WTERMSIG(wait_status), name, sizeof name);
        snprintf(how, sizeof how, "was killed by signal %s", name);
    }
    launcher_host_text(agent, host, sizeof host);
    snprintf(text, sizeof text, "the node agent (" AGENT_NAME ", process %d)%s%s %s",
             (int)agent->pid, host[0] ? " of " : "", host, how);
    if (!agent->dismissed)
        launcher_fault_text(launcher, text);
    launcher_saw(launcher, agent, EVIDENCE_AGENT_ENDED);
    agent->pid = 0;
    launcher->agent_status = WIFSIGNALED(wait_status) ? SIGNAL_STATUS + WTERMSIG(wait_status) : 1;
    if (!launcher_has_snapshots(launcher) && launcher->signals_seen <= 2) /* else we killed it */
        launcher->forced_status = launcher->agent_status;
    launcher_event(
        launcher,
        (struct job_event){.kind = JOB_EVENT_AGENT_LOST, .host = agent->host, .usable = true});
    launcher_check_roll(launcher);
}

static void own_line_closed(struct launcher_agent *agent)
{
    struct launcher *launcher = agent->launcher;
    int wait_status = wait_for_agent(agent);

    if (launcher->over && launcher_has_store(launcher) &&
        job_machine_outcome(launcher->machine).cause == WIRE_CAUSE_NONE)
        kill_copies(launcher);
    else if (!launcher->over || launcher_has_store(launcher))
        kill_what_is_left(launcher);
    if (!launcher->over)
        tell_lost(agent, wait_status);
    else
        agent->pid = 0;
}

/* ---- Lines ---- */

static void on_message(void *context, struct net_connection *connection,
                       const struct wire_message *message)
{
    struct launcher_line *line = context;

    (void)connection;
    if (!line->agent)
        return;
    line->agent->heard_ms = launcher_now_ms();
    if (message->kind != WIRE_ALIVE)
        line->agent->spoke_ms = line->agent->heard_ms;
    launcher_take(line->agent, message);
}

static void forget_line(struct launcher_agent *agent)
{
    launcher_watch(agent->launcher);
    agent->line->agent = NULL;
    agent->line = NULL;
    launcher_order_lost(agent);
    agent->up = agent->starting = agent->unstarted = false;
}

static void on_closed(void *context, enum net_end end, const char *text)
{
    struct launcher_line *line = context;
    struct launcher_agent *agent = line->agent;
    struct launcher *launcher;

    if (agent) {
        launcher_tell_incomplete(agent);
        forget_line(agent);
    }
    free(line);
    if (!agent)
        return;
    launcher = agent->launcher;
    if (launcher->forced_status && !launcher->over) {
        launcher->over = launcher->said = true;
        launcher->status = launcher->forced_status;
        launcher_cut_lines(launcher);
    }
    if (launcher->said && !launcher_has_lines(launcher))
        launcher_wind_up(launcher);
    if (agent->local)
        own_line_closed(agent);
    else
        launcher_remote_closed(agent, end, text);
    launcher_finish(launcher); /* which may have waited for what this agent had to say */
}

int launcher_open_line(struct launcher_agent *agent, int fd, const struct net_options *options)
{
    static const struct net_handlers handlers = {.message = on_message, .closed = on_closed};
    struct launcher_line *line = calloc(1, sizeof *line);
    int error =
        line ? net_open(&agent->launcher->loop, fd, options, &handlers, line, &line->connection)
             : -ENOMEM;

    if (error) {
        free(line);
        return error;
    }
    line->agent = agent;
    agent->line = line;
    agent->heard_ms = launcher_now_ms();
    agent->reported = agent->answered = agent->dismissed = false;
    agent->calls = agent->answers = agent->called_at = 0;
    if (agent->launcher->paused)
        net_pause(line->connection);
    return 0;
}

void launcher_give_up_agent(struct launcher_agent *agent, bool unheard, bool usable,
                            const char *text)
{
    struct launcher *launcher = agent->launcher;

    if (agent->line) {
        struct net_connection *connection = agent->line->connection;

        forget_line(agent);
        /* A sign of life that came when the way is open again would give the agent time that the
         * fence does not leave it. */
        if (unheard)
            net_cut(connection);
        else
            net_close(connection);
    }
    agent->starting = false;
    if (launcher->over) {
        launcher_finish(launcher);
        return;
    }
    if (!agent->dismissed) {
        launcher_fault_text(launcher, text);
        launcher_tell_zero_lost(agent, text);
    }
    launcher_event(launcher, (struct job_event){.kind = JOB_EVENT_AGENT_LOST,
                                                .host = agent->host,
                                                .unheard = unheard,
                                                .usable = usable});
    launcher_check_roll(launcher);
}

static bool start_own_agent(struct launcher_agent *agent)
{
    struct launcher *launcher = agent->launcher;
    char failure[PATH_MAX + 128];
    /* So that the directory stays locked until nothing of the job is left, whatever becomes of us.
     */
    int hold = launcher_has_store(launcher) ? store_lock(launcher->saved.store) : -1;
    int fd = start_agent(launcher->process_signals, hold, launcher_has_hosts(launcher), &agent->pid,
                         failure, sizeof failure);

    if (fd < 0) {
        launcher_say(launcher, "%s", failure);
        return false;
    }
    int error = launcher_open_line(agent, fd, NULL);
    if (error) {
        launcher_say(launcher, "cannot talk to the node agent: %s", strerror(-error));
        close(fd);
        wait_for_agent(agent);
        kill_what_is_left(launcher);
        return false;
    }
    return true;
}

bool launcher_start_agents(struct launcher *launcher)
{
    uint32_t remotes[HOSTS_MAX], count = 0;

    for (uint32_t i = 0; i < launcher->agent_count - launcher->spares; i++)
        if (!launcher->agents[i].local)
            remotes[count++] = i;
        else if (!launcher_start_agent(&launcher->agents[i]))
            return false;
    return launcher_start_remotes(launcher, remotes, count);
}

bool launcher_start_agent(struct launcher_agent *agent)
{
    if (!agent->local)
        return launcher_start_remotes(agent->launcher, &agent->host, 1);
    agent->incarnation++;
    return start_own_agent(agent) &&
           (!launcher_has_hosts(agent->launcher) || launcher_send_join(agent));
}

/* ---- What is sent ---- */

void launcher_send_to(struct launcher_agent *agent, struct wire_message *message)
{
    struct launcher *launcher = agent->launcher;
    int error;

    if (!agent->line)
        return;
    memcpy(message->envelope.job, launcher->job, sizeof launcher->job);
    message->envelope.term = job_machine_term(launcher->machine);
    error = net_send(agent->line->connection, message);
    if (error == -EINVAL || error == -EMSGSIZE || error == -ENOMEM) {
        launcher_say(launcher, "the arguments or the environment are too long: %s",
                     strerror(-error));
        launcher->forced_status = LAUNCHER_NOT_RUNNABLE;
        net_close(agent->line->connection);
    }
}

void launcher_send_all(struct launcher *launcher, struct wire_message *message)
{
    for (uint32_t i = 0; i < launcher->agent_count; i++)
        launcher_send_to(&launcher->agents[i], message);
}

void launcher_pause(struct launcher *launcher, bool pause)
{
    launcher->paused = pause;
    for (uint32_t i = 0; i < launcher->agent_count; i++) {
        struct launcher_agent *agent = &launcher->agents[i];

        agent->heard_ms = launcher_now_ms(); /* it may have spoken, which we have not looked at */
        if (agent->line && pause)
            net_pause(agent->line->connection);
        else if (agent->line)
            net_resume(agent->line->connection);
    }
}

bool launcher_has_lines(const struct launcher *launcher)
{
    for (uint32_t i = 0; i < launcher->agent_count; i++)
        if (launcher->agents[i].line)
            return true;
    return false;
}

void launcher_cut_lines(struct launcher *launcher)
{
    for (uint32_t i = 0; i < launcher->agent_count; i++)
        if (launcher->agents[i].line)
            net_close(launcher->agents[i].line->connection);
}

void launcher_kill_agents(struct launcher *launcher)
{
    for (uint32_t i = 0; i < launcher->agent_count; i++) {
        struct launcher_agent *agent = &launcher->agents[i];

        if (agent->local && agent->line)
            kill(agent->pid, SIGKILL);
        else if (agent->line)
            net_close(agent->line->connection);
    }
}
