/* launcher_status.c - the status of the job for bspstat and --progress. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/launcher/launcher_inside.h"

/* ---- Facts ---- */

/* The command line of this bsprun, or of the original one. */
static char *join_command(const struct launcher *launcher)
{
    const struct options *options = launcher->common.options;
    const struct wire_texts *before = &launcher->common.saved.manifest.arguments;
    uint32_t count = options->command_length > 0           ? (uint32_t)options->command_length
                     : launcher->common.saved.has_manifest ? before->count
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
        return agents_is_up(agent) ? "up" : "starting";
    bool drained = job_machine_drained(launcher->machine, agent->host);
    const char *owner = owners_text(&launcher->owners, agent->host);

    if (job_machine_member(launcher->machine, agent->host))
        return !agents_is_up(agent) ? "lost" : owner ? owner : drained ? "drained" : "up";
    if (job_machine_joins(launcher->machine, agent->host))
        return "joining";
    if (launcher->allocation.outside[agent->host])
        return "released";
    if (job_machine_removed(launcher->machine, agent->host))
        return "removed";
    if (agent->state == AGENT_STARTING || (agent->state == AGENT_LINKED && !agent->local))
        return "starting";
    return job_machine_spare(launcher->machine, agent->host) ? "spare" : "lost";
}

static void describe_hosts(struct launcher *launcher, struct status_facts *facts)
{
    if (!launcher->status_hosts)
        launcher->status_hosts = calloc(launcher->agents.room, sizeof *launcher->status_hosts);
    if (!launcher->status_hosts)
        return;
    for (uint32_t i = 0; i < launcher->agents.count; i++) {
        const struct launcher_agent *agent = &launcher->agents.items[i];

        launcher->status_hosts[i] = (struct status_host){
            .name = agent->name,
            .slots = agent->slots > 0 ? agent->slots : agent->cores,
            .state = host_state(launcher, agent),
            .available = launcher->places[i].answered ? launcher->places[i].available : UINT64_MAX};
        struct share_sums shares = host_shares_now(&launcher->learning.history.shares, i);
        if (shares.seconds > 0) {
            launcher->status_hosts[i].share = shares.sum / shares.seconds;
            launcher->status_hosts[i].share_seconds = shares.seconds;
        }
        if (job_machine_term(launcher->machine) > 0 &&
            agent->host == job_machine_zero(launcher->machine))
            facts->zero = agent->name;
    }
    facts->hosts = launcher->status_hosts;
    facts->host_count = launcher->agents.count;
}

static void describe(void *context, struct status_facts *facts)
{
    struct launcher *launcher = context;
    uint64_t now = launcher_now_ms();

    facts->os_pid = (int)getpid();
    facts->program = launcher->command_line;
    facts->directory = launcher->directory;
    facts->job =
        launcher_has_snapshots(launcher) ? store_job_name(launcher->common.saved.store) : "";
    facts->term = job_machine_term(launcher->machine);
    facts->restarts = launcher->faults;
    facts->restarted_alone = launcher->restarted_alone;
    facts->snapshots = launcher_has_snapshots(launcher);
    facts->has_snapshot = launcher->committed.term > 0;
    facts->snapshot_superstep = launcher->committed.superstep;
    facts->snapshot_count = launcher->snapshots;
    facts->snapshot_age = launcher->saved_ms > 0 ? (double)(now - launcher->saved_ms) / 1000 : -1;
    launcher->learned = learning_facts(&launcher->learning);
    facts->learned = facts->snapshots ? &launcher->learned : NULL;
    describe_hosts(launcher, facts);
    launcher_describe_replicas(launcher, facts);
}

void launcher_forget_status(struct launcher *launcher, uint32_t host)
{
    if (launcher->places)
        launcher->places[host].answered = false;
}

static void query(struct launcher *launcher, bool times, bool replicas)
{
    struct wire_message message = {.kind = WIRE_QUERY_STATUS,
                                   .query_status = {.times = times, .replicas = replicas}};

    for (uint32_t i = 0; i < launcher->agents.count; i++)
        launcher_forget_status(launcher, i);
    agents_send_all(&launcher->agents, &message);
}

void launcher_query_status(struct launcher *launcher, bool times)
{
    query(launcher, times, false);
}

/* ---- What agents answer ---- */

/* Whether another replica of the process is in that superstep or beyond. */
static bool has_come_before(const struct wire_where *rows, uint32_t count,
                            const struct wire_where *row)
{
    for (uint32_t i = 0; i < count; i++)
        if (rows[i].pid == row->pid && rows[i].superstep >= row->superstep)
            return true;
    return false;
}

/* Only the replicas that lead count. */
static uint32_t drop_those_behind(struct wire_where *rows, uint32_t count)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++)
        if (!has_come_before(rows, kept, &rows[i]) &&
            !has_come_before(
                rows + i + 1, count - i - 1,
                &(struct wire_where){.pid = rows[i].pid, .superstep = rows[i].superstep + 1}))
            rows[kept++] = rows[i];
    return kept;
}

/* The answers of all agents combined, but not what hosts said that answer no more; the caller frees
 * them.  NULL: no memory. */
static struct wire_where *gather_places(const struct launcher *launcher, uint32_t *count)
{
    uint32_t all = 0;

    for (uint32_t i = 0; i < launcher->agents.count; i++)
        all += launcher->places[i].answered ? launcher->places[i].count : 0;
    struct wire_where *rows = calloc(all + 1, sizeof *rows);

    *count = 0;
    for (uint32_t i = 0; rows && i < launcher->agents.count; i++) {
        const struct host_places *places = &launcher->places[i];

        for (uint32_t j = 0; places->answered && j < places->count; j++)
            rows[(*count)++] = places->items[j];
    }
    if (rows && replica_view_any(&launcher->replicas))
        *count = drop_those_behind(rows, *count);
    return rows;
}

static void show_progress(struct launcher *launcher, const struct wire_status *status)
{
    struct progress *progress = &launcher->progress;
    char text[256];

    progress->total = launcher->common.options->total_supersteps;
    progress->has_snapshot = launcher_has_snapshots(launcher) && launcher->committed.term > 0;
    progress->snapshot = launcher->committed.superstep;
    progress->restarts = launcher->faults;
    progress_text(status, progress, text, sizeof text);
    if (!life_is_over(&launcher->common.life))
        notices_progress(&launcher->common.notices, text);
}

/* Of a process that has ended since it is known what it had. */
static uint64_t memory_before(const struct host_places *own, uint32_t pid)
{
    for (uint32_t i = 0; i < own->count; i++)
        if (own->items[i].pid == pid)
            return own->items[i].memory;
    return 0;
}

/* Copies places without their names, which belong to the message. */
static bool keep_places(struct host_places *own, const struct wire_where_list *places)
{
    struct wire_where *rows = calloc(places->count + 1, sizeof *rows);

    if (!rows)
        return false;
    for (uint32_t i = 0; i < places->count; i++) {
        rows[i] = places->items[i];
        rows[i].function = rows[i].file = "";
        if (rows[i].memory == 0)
            rows[i].memory = memory_before(own, rows[i].pid);
    }
    free(own->items);
    own->items = rows;
    own->count = places->count;
    return true;
}

void launcher_take_status(struct launcher *launcher, const struct launcher_agent *agent,
                          const struct wire_status *status)
{
    struct wire_status all = *status;

    all.host = agent->host;
    if (!launcher->places)
        return;
    launcher->places[agent->host].available = status->available;
    launcher->places[agent->host].term = job_machine_term(launcher->machine);
    if (status->alone[0] && !launcher->places[agent->host].alone)
        launcher->places[agent->host].alone = strdup(status->alone);
    launcher->places[agent->host].answered =
        keep_places(&launcher->places[agent->host], &status->ranks);
    status_socket_take(launcher->status_socket, &all);
    if (agent->host == job_machine_zero(launcher->machine)) {
        launcher->status_seconds = status->seconds;
        launcher->status_processes = status->processes;
    }
    for (uint32_t i = 0; i < launcher->agents.count; i++)
        if (agents_is_up(&launcher->agents.items[i]) && !launcher->places[i].answered)
            return;
    launcher_expect_again(launcher);
    struct wire_where *rows = gather_places(launcher, &all.ranks.count);
    all.ranks.items = rows;
    all.seconds = launcher->status_seconds;
    all.processes = launcher->status_processes;
    if (rows && launcher->common.options->progress)
        show_progress(launcher, &all);
    free(rows);
}

/* ---- Calls ---- */

static void forget_reason(struct host_places *places)
{
    free(places->alone);
    places->alone = NULL;
}

static uint32_t ask(void *context, bool times)
{
    struct launcher *launcher = context;
    uint32_t count = 0;

    for (uint32_t i = 0; i < launcher->agents.count; i++)
        count += agents_is_up(&launcher->agents.items[i]);
    for (uint32_t i = 0; launcher->places && i < launcher->agents.count; i++)
        forget_reason(&launcher->places[i]);
    query(launcher, times, true);
    return count;
}

static void ask_stacks(void *context)
{
    launcher_ask_stacks(context, STATUS_STACKS_MS, NULL);
}

void launcher_tell_not_joined(struct launcher *launcher, const struct launcher_agent *agent,
                              const char *why)
{
    char text[HOSTS_ERROR];
    bool names_it = strncmp(why, "host ", 5) == 0;

    snprintf(text, sizeof text, "%s%s%s%.200s; the job continues without it",
             names_it ? "" : "host ", names_it ? "" : agent->name, names_it ? "" : ": ", why);
    for (char *at = text; (at = strchr(at, '\n'));)
        *at = ' '; /* it is a line */
    if (!agent->tried_again || launcher->common.options->verbosity > 0)
        notices_say(&launcher->common.notices, "%s", text);
    status_socket_tell(launcher->status_socket, 1u << STATUS_OPEN, agent->name, text);
}

/* ---- Life ---- */

static void forget_places(struct host_places *places)
{
    free(places->items);
    forget_reason(places);
}

void launcher_open_status(struct launcher *launcher,
                          const char *(*request)(void *launcher, struct status_order *order))
{
    launcher->status_calls = (struct status_calls){ask, describe, request, ask_stacks};
    launcher->places = calloc(launcher->agents.room, sizeof *launcher->places);
    launcher->command_line = join_command(launcher);
    launcher->directory = getcwd(NULL, 0);
    if (!launcher->directory)
        launcher->directory = strdup("?");
    if (launcher->command_line && launcher->directory)
        launcher->status_socket =
            status_socket_open(&launcher->common.loop, &launcher->status_calls, launcher);
}

void launcher_close_status(struct launcher *launcher)
{
    status_socket_close(launcher->status_socket);
    launcher->status_socket = NULL;
    free(launcher->command_line);
    free(launcher->directory);
    free(launcher->status_hosts);
    for (uint32_t i = 0; launcher->places && i < launcher->agents.count; i++)
        forget_places(&launcher->places[i]);
    free(launcher->places);
    launcher->places = NULL;
    launcher->command_line = launcher->directory = NULL;
    launcher->status_hosts = NULL;
}
