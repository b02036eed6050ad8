/* launcher_cells.c - the replicas of processes in a term: which host has which, and what became of
 * them (replica_view.h). */
#include <stdlib.h>
#include <string.h>

#include "bsprun/launcher/launcher_inside.h"

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
    char missing[REPLICA_VIEW_TEXT];

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
    if (replica_view_missing(view, missing))
        notices_say(&launcher->common.notices, "%s", missing);
}

void launcher_replicas_tell(struct launcher *launcher)
{
    char missing[REPLICA_VIEW_TEXT];

    status_socket_tell_all(launcher->status_socket, 1u << STATUS_REPLICAS,
                           replica_view_missing(&launcher->replicas, missing) ? missing : "done");
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
