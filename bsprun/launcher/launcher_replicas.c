/* launcher_replicas.c - bspctl: another number of replicas of processes.
 *
 * Happy path: bspctl wants another number -> the term ends at a snapshot, as for a move -> ELECT
 * with that number -> Processor Zero forms other cells -> RUNNING: "done".
 *
 * What can fail: a refusal, after which nothing is changed.  A fault that comes first: the next
 * term has the number all the same.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bsprun/launcher/launcher_inside.h"

/* Of the members: those that may have processes. */
static uint32_t count_open(const struct launcher *launcher)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < launcher->agents.count; i++)
        count += job_machine_member(launcher->machine, i) &&
                 !job_machine_drained(launcher->machine, i) &&
                 agents_is_up(&launcher->agents.items[i]);
    return count;
}

/* What agents have said that speaks against replicas; NULL: nothing. */
static const char *find_reason(const struct launcher *launcher)
{
    for (uint32_t i = 0; launcher->places && i < launcher->agents.count; i++)
        if (launcher->places[i].alone && job_machine_member(launcher->machine, i))
            return launcher->places[i].alone;
    return NULL;
}

static const char *refuse_number(struct launcher *launcher, const struct replica_counts *counts)
{
    uint32_t processes = launcher->processes, open = count_open(launcher);
    uint32_t needed = replica_counts_hosts(counts, processes);
    char *text = launcher->refusal;
    size_t size = sizeof launcher->refusal;

    if (counts->named > processes)
        snprintf(text, size, "it has no process %u: its processes are 0 to %u", counts->named - 1,
                 processes - 1);
    else if (open < needed)
        snprintf(text, size,
                 "these replicas need %u hosts, and %u take%s part in it that %s not drained",
                 needed, open, open == 1 ? "s" : "", open == 1 ? "is" : "are");
    else
        return NULL;
    return text;
}

/* What the processes of this term have is free when those of the next one are made. */
static void add_own(const struct launcher *launcher, uint32_t host, struct room_host *room)
{
    const struct host_places *places = &launcher->places[host];

    for (uint32_t i = 0; room->available != PLACEMENT_UNKNOWN && i < places->count; i++)
        room->available += places->items[i].memory;
}

static const char *refuse_memory(struct launcher *launcher, const struct replica_counts *counts)
{
    struct room_host *hosts = calloc(launcher->agents.count, sizeof *hosts);
    struct room_process *processes = calloc(launcher->processes, sizeof *processes);
    struct room room = {.hosts = hosts,
                        .host_count = launcher->agents.count,
                        .processes = processes,
                        .process_count = launcher->processes,
                        .by_node = launcher->common.options->hosts.by_node};
    char text[ROOM_REPLICAS_TEXT];
    bool fit = true;

    if (hosts && processes && launcher->places) {
        launcher_describe_hosts(launcher, hosts);
        launcher_describe_processes(launcher, hosts, processes);
        for (uint32_t i = 0; i < launcher->agents.count; i++)
            add_own(launcher, i, &hosts[i]);
        fit = room_replicas_fit(&room, counts, text);
    }
    free(hosts);
    free(processes);
    if (fit)
        return NULL;
    snprintf(launcher->refusal, sizeof launcher->refusal, "%s", text);
    return launcher->refusal;
}

static const char *refuse(struct launcher *launcher, const struct replica_counts *counts)
{
    const struct options *options = launcher->common.options;

    if (job_machine_closed(launcher->machine) || launcher->common.life.signals > 0)
        return "it is ending";
    if (options->hosts.replicas_on_host)
        return "it has all replicas of a process on the same host (--replicas-on-host)";
    if (!agents_has_hosts(&launcher->agents) || !launcher->agents.start)
        return "it has only one host; start it with several hosts, or with spares";
    if (job_machine_term(launcher->machine) == 0 || launcher->processes == 0)
        return "its processes are not running yet";
    if (options->debug.asked || options->debug.attach)
        return "it runs with a debugger, which replicas do not go together with";
    const char *refusal = refuse_number(launcher, counts);

    if (!refusal && replica_counts_most(counts, launcher->processes) > 1)
        refusal = find_reason(launcher);
    if (!refusal && replica_counts_most(counts, launcher->processes) > 1)
        refusal = refuse_memory(launcher, counts);
    return refusal;
}

const char *launcher_change_replicas(struct launcher *launcher, struct status_order *order)
{
    struct replica_counts counts;
    char text[REPLICA_TEXT], why[REPLICA_WHY];

    if (!replica_counts_parse(&counts, order->host, why)) {
        snprintf(launcher->refusal, sizeof launcher->refusal, "%s", why);
        return launcher->refusal;
    }
    const char *refusal = refuse(launcher, &counts);
    if (refusal)
        return refusal;
    if (replica_counts_same(&counts, &launcher->replicas.wanted) && launcher->move_asked_in == 0) {
        snprintf(launcher->refusal, sizeof launcher->refusal, "replicas are already: %.200s",
                 replica_counts_text(&counts, text));
        order->already = launcher->refusal;
        return NULL;
    }
    status_socket_tell_others(launcher->status_socket, 1u << STATUS_REPLICAS, order->host,
                              "another number of replicas is wanted now, by another bspctl");
    if (replica_counts_most(&counts, WIRE_RANKS_MAX) > 1)
        status_socket_tell_all(launcher->status_socket, 1u << STATUS_MOVE,
                               "processes get replicas, which are not moved, by another bspctl");
    launcher->replicas.wanted = counts;
    launcher_await_next_term(launcher);
    launcher_event(launcher,
                   (struct job_event){.kind = JOB_EVENT_REPLICAS,
                                      .replicas = replica_counts_most(&counts, WIRE_RANKS_MAX)});
    return NULL;
}
