/* replica_view.c - see replica_view.h. */
#include "bsprun/launcher/replica_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/launcher/map.h"

void replica_view_begin(struct replica_view *view, const struct replica_counts *counts)
{
    *view = (struct replica_view){.present = *counts, .wanted = *counts};
}

void replica_view_free(struct replica_view *view)
{
    free(view->homes);
    free(view->list);
    view->homes = NULL;
    view->list = NULL;
}

bool replica_view_any(const struct replica_view *view)
{
    return replica_counts_most(&view->present, WIRE_RANKS_MAX) > 1;
}

void replica_view_elect(struct replica_view *view)
{
    if (!replica_counts_same(&view->present, &view->wanted))
        view->missing = 0; /* of another number */
    view->present = view->wanted;
    view->why[0] = '\0';
    view->any = view->any || replica_view_any(view);
    view->running = false;
}

void replica_view_explain(struct replica_view *view, const char *why)
{
    snprintf(view->why, sizeof view->why, "%s", why);
}

bool replica_view_lives(const struct replica_view *view, uint32_t pid, uint32_t host)
{
    return view->running && pid < view->processes && host < COORD_HOSTS_MAX &&
           view->homes[pid] == view->lead[host];
}

/* ---- A term -------------------------------------------------------------------------------- */

static uint32_t count_on(const struct replica_view *view, uint32_t host)
{
    uint32_t count = 0;

    for (uint32_t pid = 0; pid < view->processes; pid++)
        count += replica_view_lives(view, pid, host);
    return count;
}

/* Of those that there should be, how many there are not, as hosts were too few. */
static uint32_t count_missing(const struct replica_view *view)
{
    uint32_t missing = 0;

    for (uint32_t pid = 0; pid < view->processes; pid++) {
        uint32_t wanted = replica_counts_of(&view->present, pid), have = 0;

        for (uint32_t host = 0; host < COORD_HOSTS_MAX; host++)
            have += replica_view_lives(view, pid, host);
        missing += wanted > have ? wanted - have : 0;
    }
    return missing;
}

void replica_view_run(struct replica_view *view, const struct wire_numbers *homes,
                      const struct wire_numbers *leads)
{
    uint32_t before = view->missing;

    if (view->running)
        return; /* another Processor Zero says it again */
    uint64_t *own = calloc((size_t)homes->count + 1, sizeof *own);
    free(view->homes);
    view->homes = own;
    view->processes = own ? homes->count : 0;
    view->running = own != NULL;
    memset(view->gone, 0, sizeof view->gone);
    for (uint32_t host = 0; host < COORD_HOSTS_MAX; host++)
        view->lead[host] = host;
    for (uint32_t i = 0; i + 1 < leads->count; i += 2)
        if (leads->items[i] < COORD_HOSTS_MAX)
            view->lead[leads->items[i]] = (uint32_t)leads->items[i + 1];
    /* The host that says it may name itself in place of its lead. */
    for (uint32_t pid = 0; own && pid < homes->count; pid++)
        own[pid] =
            homes->items[pid] < COORD_HOSTS_MAX ? view->lead[homes->items[pid]] : homes->items[pid];
    if (!replica_view_any(view))
        return;
    view->missing = count_missing(view);
    if (before > view->missing)
        view->made += before - view->missing;
}

void replica_view_lose(struct replica_view *view, uint32_t host)
{
    if (!view->running || host >= COORD_HOSTS_MAX || view->gone[host] || !replica_view_any(view))
        return;
    uint32_t count = count_on(view, host);

    view->gone[host] = true;
    view->lost += count;
    view->missing += count;
}

/* ---- Answers ------------------------------------------------------------------------------- */

const struct status_lost *replica_view_lost(struct replica_view *view, uint32_t *count)
{
    uint32_t all = 0;

    *count = 0;
    for (uint32_t host = 0; host < COORD_HOSTS_MAX; host++)
        all += view->gone[host] ? count_on(view, host) : 0;
    free(view->list);
    view->list = calloc((size_t)all + 1, sizeof *view->list);
    for (uint32_t pid = 0; view->list && pid < view->processes; pid++)
        for (uint32_t host = 0; host < COORD_HOSTS_MAX; host++)
            if (view->gone[host] && replica_view_lives(view, pid, host))
                view->list[(*count)++] = (struct status_lost){pid, host};
    return view->list;
}

bool replica_view_missing(const struct replica_view *view, char text[REPLICA_VIEW_TEXT])
{
    if (!replica_view_any(view) || view->missing == 0)
        return false;
    snprintf(text, REPLICA_VIEW_TEXT, "%u replica%s missing, as %s", view->missing,
             view->missing == 1 ? " is" : "s are",
             view->why[0] ? view->why
                          : "there are too few hosts: they are made at a snapshot when there are "
                            "more");
    return true;
}

static void print_cell(FILE *file, const struct replica_view *view, uint32_t lead,
                       const char *(*name)(void *, uint32_t host), void *context)
{
    char *pids = map_pids(view->homes, view->processes, lead);
    uint32_t hosts = 0;

    for (uint32_t host = 0; host < COORD_HOSTS_MAX; host++)
        hosts += view->lead[host] == lead;
    if (hosts > 1 && pids && *pids) {
        fprintf(file, "host %s", name(context, lead));
        for (uint32_t host = 0; host < COORD_HOSTS_MAX; host++)
            if (view->lead[host] == lead && host != lead)
                fprintf(file, ", host %s", name(context, host));
        fprintf(file, ": %s\n", pids);
    }
    free(pids);
}

char *replica_view_text(const struct replica_view *view, const char *(*name)(void *, uint32_t host),
                        void *context)
{
    size_t size;
    char *text = NULL;
    FILE *file = open_memstream(&text, &size);

    if (!file)
        return NULL;
    for (uint32_t lead = 0; view->running && lead < COORD_HOSTS_MAX; lead++)
        if (view->lead[lead] == lead)
            print_cell(file, view, lead, name, context);
    return fclose(file) == 0 ? text : NULL;
}

/* ---- Ends ---- */

static bool lists(const struct wire_numbers *list, uint64_t pid)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i] == pid)
            return true;
    return false;
}

bool replica_reports_cover(const struct wire_numbers *early, uint32_t count)
{
    for (uint32_t i = 0; count > 0 && i < early[0].count; i++) {
        uint32_t host = 1;

        while (host < count && lists(&early[host], early[0].items[i]))
            host++;
        if (host == count)
            return false;
    }
    return count > 0;
}
