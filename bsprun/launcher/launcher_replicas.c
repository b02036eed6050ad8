/* launcher_replicas.c - the replicas of processes: how many, as bspctl wants it, and what became of
 * them.
 *
 * Happy path: bspctl wants another number -> the term ends at a snapshot, as for a move -> ELECT
 * with that number -> Processor Zero forms other cells -> RUNNING: "done".
 *
 * What can fail: a refusal, after which nothing is changed.  A fault that comes first: the next term
 * has the number all the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/launcher/launcher_inside.h"

/* ---- bspctl ---- */

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
                 "these replicas need %u hosts, and %u take part in it that are not drained",
                 needed, open);
    else
        return NULL;
    return text;
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
    launcher->replicas.wanted = counts;
    launcher_await_next_term(launcher);
    launcher_event(launcher,
                   (struct job_event){.kind = JOB_EVENT_REPLICAS,
                                      .replicas = replica_counts_most(&counts, WIRE_RANKS_MAX)});
    return NULL;
}

/* ---- Terms ---- */

static const char *name_of(void *context, uint32_t host)
{
    const struct launcher *launcher = context;

    return host < launcher->agents.count ? launcher->agents.items[host].name : "?";
}

void launcher_replicas_elect(struct launcher *launcher)
{
    replica_view_elect(&launcher->replicas);
    launcher->common.replicas = launcher->replicas.present;
}

void launcher_replicas_run(struct launcher *launcher, const struct wire_running *running)
{
    struct replica_view *view = &launcher->replicas;

    replica_view_run(view, &running->homes, &running->leads);
    if (!replica_view_any(view) || launcher->common.options->verbosity == 0)
        return;
    char *text = replica_view_text(view, name_of, launcher);

    for (char *line = text, *end; line && *line; line = end + 1) {
        end = strchr(line, '\n');
        *end = '\0';
        notices_say(&launcher->common.notices, "replicas: %s", line);
    }
    free(text);
    if (view->missing > 0)
        notices_say(&launcher->common.notices,
                    "%u replica%s missing, as there are too few hosts: they are made at a snapshot "
                    "when there are more",
                    view->missing, view->missing == 1 ? " is" : "s are");
}

void launcher_replicas_lose(struct launcher *launcher, uint32_t host)
{
    if (!life_is_over(&launcher->common.life) && !job_machine_closed(launcher->machine) &&
        job_machine_member(launcher->machine, host))
        replica_view_lose(&launcher->replicas, host);
}

void launcher_describe_replicas(struct launcher *launcher, struct status_facts *facts)
{
    struct replica_view *view = &launcher->replicas;

    if (!replica_view_any(view))
        return;
    facts->replicas = replica_counts_text(&view->present, launcher->replicas_text);
    facts->missing = view->missing;
    facts->lost = replica_view_lost(view, &facts->lost_count);
    facts->replicas_lost = view->lost;
    facts->replicas_made = view->made;
}
