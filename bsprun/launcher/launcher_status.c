/* launcher_status.c - what bspstat is told of the job, and what bspkill wants of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/launcher/launcher_inside.h"

/* ---- Facts ---- */

/* As it was given to bsprun, this time or when the job began. */
static char *join_command(const struct launcher *launcher)
{
    const struct options *options = launcher->options;
    const struct wire_texts *before = &launcher->saved.manifest.arguments;
    uint32_t count = options->command_length > 0    ? (uint32_t)options->command_length
                     : launcher->saved.has_manifest ? before->count
                                                    : 0;
    char *line = NULL;
    size_t size;
    FILE *file = open_memstream(&line, &size);

    if (!file)
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        fprintf(file, "%s%s", i > 0 ? " " : "",
                options->command_length > 0 ? options->command[i] : before->items[i]);
    return fclose(file) == 0 ? line : NULL;
}

static const char *host_state(const struct launcher *launcher, const struct launcher_agent *agent)
{
    if (job_machine_term(launcher->machine) == 0)
        return agent->up ? "up" : "starting";
    if (job_machine_member(launcher->machine, agent->host))
        return agent->up ? "up" : "lost";
    if (agent->starting)
        return "starting";
    return agent->host >= launcher->agent_count - launcher->spares ? "spare" : "lost";
}

static void describe_hosts(struct launcher *launcher, struct status_facts *facts)
{
    if (!launcher->status_hosts)
        launcher->status_hosts = calloc(launcher->agent_count, sizeof *launcher->status_hosts);
    if (!launcher->status_hosts)
        return;
    for (uint32_t i = 0; i < launcher->agent_count; i++) {
        const struct launcher_agent *agent = &launcher->agents[i];

        launcher->status_hosts[i] = (struct status_host){
            .name = agent->name,
            .slots = agent->slots > 0 ? agent->slots : agent->cores,
            .state = host_state(launcher, agent)};
        if (job_machine_term(launcher->machine) > 0 &&
            agent->host == job_machine_zero(launcher->machine))
            facts->zero = agent->name;
    }
    facts->hosts = launcher->status_hosts;
    facts->host_count = launcher->agent_count;
}

static void describe(void *context, struct status_facts *facts)
{
    struct launcher *launcher = context;
    uint64_t now = launcher_now_ms();

    facts->os_pid = (int)getpid();
    facts->program = launcher->command_line;
    facts->directory = launcher->directory;
    facts->job = launcher_has_snapshots(launcher) ? store_job_name(launcher->saved.store) : "";
    facts->term = job_machine_term(launcher->machine);
    facts->restarts = launcher->faults;
    facts->snapshots = launcher_has_snapshots(launcher);
    facts->has_snapshot = launcher->committed.term > 0;
    facts->snapshot_superstep = launcher->committed.superstep;
    facts->snapshot_count = launcher->snapshots;
    facts->snapshot_age = launcher->saved_ms > 0 ? (double)(now - launcher->saved_ms) / 1000 : -1;
    launcher->learned = launcher_learned(launcher);
    facts->learned = facts->snapshots ? &launcher->learned : NULL;
    describe_hosts(launcher, facts);
}

/* ---- Calls ---- */

static uint32_t ask(void *context)
{
    struct launcher *launcher = context;
    uint32_t count = 0;

    for (uint32_t i = 0; i < launcher->agent_count; i++)
        count += launcher->agents[i].up;
    launcher_query_status(launcher);
    return count;
}

static const char *wish(void *context, enum status_wish what)
{
    struct launcher *launcher = context;
    struct job_event event = {.kind = JOB_EVENT_STOP, .signal = SIGTERM};

    if (launcher->over)
        return NULL;
    if (what == STATUS_SAVE && !launcher_has_snapshots(launcher))
        return "it takes no snapshots: it was started without --ckpt";
    if (what == STATUS_SAVE) {
        event.kind = JOB_EVENT_SAVE;
        event.stop = true;
        event.grace_ms = launcher->options->snapshots.grace_ms;
    } else {
        event.how = what == STATUS_KILL ? WIRE_STOP_KILL : WIRE_STOP_SIGNAL;
    }
    launcher->signals_seen++;
    launcher->wished = true;
    launcher_event(launcher, event);
    if (what == STATUS_KILL)
        launcher_drop_output(launcher);
    return NULL;
}

/* ---- Life ---- */

void launcher_open_status(struct launcher *launcher)
{
    static const struct status_calls calls = {ask, describe, wish};

    launcher->command_line = join_command(launcher);
    launcher->directory = getcwd(NULL, 0);
    if (!launcher->directory)
        launcher->directory = strdup("?");
    if (launcher->command_line && launcher->directory)
        launcher->status_socket = status_socket_open(&launcher->loop, &calls, launcher);
}

void launcher_close_status(struct launcher *launcher)
{
    status_socket_close(launcher->status_socket);
    launcher->status_socket = NULL;
    free(launcher->command_line);
    free(launcher->directory);
    free(launcher->status_hosts);
    launcher->command_line = launcher->directory = NULL;
    launcher->status_hosts = NULL;
}
