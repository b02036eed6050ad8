/* map.c - which process is on which host; see map.h. */
#include "bsprun/launcher/map.h"

#include <stdio.h>
#include <stdlib.h>

#include "coordinator/core/placement.h"

/* The last of the processes that follow each other on that host. */
static uint32_t last_in_row(const uint64_t *homes, uint32_t count, uint32_t first)
{
    uint32_t last = first;

    while (last + 1 < count && homes[last + 1] == homes[first])
        last++;
    return last;
}

char *map_pids(const uint64_t *homes, uint32_t count, uint64_t host)
{
    uint32_t found = 0;
    size_t size;
    char *text = NULL;
    FILE *file;

    for (uint32_t pid = 0; pid < count; pid++)
        found += homes[pid] == host;
    file = open_memstream(&text, &size);
    if (!file)
        return NULL;
    if (found > 0)
        fprintf(file, found == 1 ? "process" : "processes");
    for (uint32_t pid = 0, shown = 0; pid < count; pid++) {
        uint32_t last = last_in_row(homes, count, pid);

        if (homes[pid] == host) {
            fprintf(file, "%s %u", shown++ > 0 ? "," : "", pid);
            if (last > pid)
                fprintf(file, "-%u", last);
        }
        pid = last;
    }
    return fclose(file) == 0 ? text : NULL;
}

/* ---- Before anything runs ---- */

static bool has_replicas(const struct options *options)
{
    return replica_counts_most(&options->hosts.replicas, WIRE_RANKS_MAX) > 1;
}

/* The hosts that are no spares; false: one has not said how many slots it has. */
static bool fill_hosts(const struct options *options, uint32_t cores, struct placement_host *hosts,
                       uint32_t count, char *error, size_t size)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct host *host = &options->hosts.all.items[i];
        bool own = host->here || hosts_is_own(host->name, options->hosts.own);

        if (host->slots == 0 && !own) {
            snprintf(
                error, size,
                "--dry-run: host %.200s is not asked how many cores it has: give its slots, as "
                "in --hosts %.80s:4",
                host->name, host->name);
            return false;
        }
        hosts[i] = (struct placement_host){.name = host->name,
                                           .id = i,
                                           .slots = host->slots > 0 ? host->slots : cores,
                                           .speed = 1,
                                           .left = PLACEMENT_UNKNOWN};
    }
    return true;
}

/* A Processor Zero to which all hosts and the program have come, with what it then does; NULL: no
 * memory. */
static struct coord *begin_on_paper(const struct options *options, const struct map_begin *begin,
                                    struct coord_effects *effects)
{
    struct coord_config config = {.term = 1,
                                  .host_count = begin->count,
                                  .hosts = begin->hosts,
                                  .process_limit = (uint32_t)options->processes,
                                  .by_node = options->hosts.by_node,
                                  .abort_at = COORD_NEVER,
                                  .counts = options->hosts.replicas};
    struct coord *zero = coord_new(&config);
    struct wire_message message = {.kind = WIRE_HOST_READY, .envelope.term = 1};

    message.host_ready.slots = 1;
    message.host_ready.available = WIRE_NEVER;
    for (uint32_t i = 0; zero && i < begin->count; i++) {
        message.host_ready.host = begin->hosts[i].host;
        coord_step(zero, 1, begin->hosts[i].host, &message, effects);
    }
    message = (struct wire_message){.kind = WIRE_REGISTERED, .envelope.term = 1};
    message.registered.host = begin->program;
    message.registered.wanted = begin->wanted;
    if (zero)
        coord_step(zero, 1, begin->program, &message, effects);
    return zero;
}

uint64_t map_slots(const struct options *options, const struct map_begin *begin)
{
    struct coord_effects effects = {0};
    struct coord *zero = NULL;
    uint64_t slots = 0;

    for (uint32_t i = 0; i < begin->count; i++)
        slots += begin->hosts[i].slots;
    if (has_replicas(options) && (zero = begin_on_paper(options, begin, &effects)) != NULL)
        slots = coord_slots(zero);
    coord_free(zero);
    return slots;
}

/* Where hosts have replicas. */
static bool place_replicas(const struct options *options, struct placement *placement,
                           uint64_t *homes, uint32_t *leads)
{
    struct wire_host hosts[HOSTS_MAX];
    struct map_begin begin = {.hosts = hosts, .count = placement->host_count};
    struct coord_effects effects = {0};
    bool placed = false;

    for (uint32_t i = 0; i < placement->host_count; i++)
        hosts[i] = (struct wire_host){.host = i, .slots = placement->hosts[i].slots, .name = ""};
    struct coord *zero = begin_on_paper(options, &begin, &effects);

    if (zero && effects.count > 0 && effects.items[0].message.kind == WIRE_PLACE) {
        const struct wire_place *place = &effects.items[0].message.place;

        placed = place->processes <= placement->processes;
        placement->processes = placed ? place->processes : placement->processes;
        for (uint32_t pid = 0; placed && pid < place->processes; pid++)
            homes[pid] = place->host_of.items[pid];
        for (uint32_t i = 0; placed && i + 1 < place->leads.count; i += 2)
            leads[place->leads.items[i]] = (uint32_t)place->leads.items[i + 1];
    }
    coord_free(zero);
    return placed;
}

static char *print(const struct placement *placement, uint32_t spares, const struct host *all,
                   const uint64_t *homes, const uint32_t *leads)
{
    uint32_t count = placement->processes, hosts = placement->host_count;
    size_t size;
    char *text = NULL;
    FILE *file = open_memstream(&text, &size);

    if (!file)
        return NULL;
    fprintf(file, "at most %u process%s on %u host%s\n", count, count == 1 ? "" : "es", hosts,
            hosts == 1 ? "" : "s");
    for (uint32_t i = 0; i < hosts; i++) {
        const struct placement_host *host = &placement->hosts[i];
        char *pids = map_pids(homes, count, leads[i]);

        fprintf(file, "host %s, %u slot%s: %s\n", host->name, host->slots,
                host->slots == 1 ? "" : "s", pids && *pids ? pids : "no process");
        free(pids);
    }
    for (uint32_t i = 0; i < spares; i++)
        fprintf(file, "host %s: spare\n", all[hosts + i].name);
    return fclose(file) == 0 ? text : NULL;
}

char *map_expected(const struct options *options, uint32_t cores, uint32_t most, char *error,
                   size_t size)
{
    const struct hosts *all = &options->hosts.all;
    struct placement placement = {.host_count = all->count - options->hosts.spares,
                                  .by_node = options->hosts.by_node};
    uint64_t *homes = NULL;
    uint32_t *leads = NULL;
    char *text = NULL;
    bool known;

    snprintf(error, size, "out of memory");
    placement.hosts = calloc(placement.host_count, sizeof *placement.hosts);
    known = placement.hosts &&
            fill_hosts(options, cores, placement.hosts, placement.host_count, error, size);
    for (uint32_t i = 0; known && options->processes == 0 && i < placement.host_count; i++)
        placement.processes += placement.hosts[i].slots;
    if (options->processes > 0)
        placement.processes = (uint32_t)options->processes;
    if (placement.processes > most)
        placement.processes = most;
    if (known) {
        placement.home = calloc(placement.processes, sizeof *placement.home);
        homes = calloc(placement.processes, sizeof *homes);
        leads = calloc(placement.host_count, sizeof *leads);
    }
    if (placement.home && homes && leads) {
        placement_begin(&placement, 0);
        for (uint32_t pid = 0; pid < placement.processes; pid++)
            homes[pid] = placement.home[pid];
        for (uint32_t i = 0; i < placement.host_count; i++)
            leads[i] = i;
        if (!has_replicas(options) || place_replicas(options, &placement, homes, leads))
            text = print(&placement, options->hosts.spares, all->items, homes, leads);
    }
    free(leads);
    free(homes);
    free(placement.home);
    free(placement.hosts);
    return text;
}
