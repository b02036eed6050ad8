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

/* The hosts that are no spares; false: one has not said how many slots it has. */
static bool fill_hosts(const struct options *options, uint32_t cores, struct placement_host *hosts,
                       uint32_t count, char *error, size_t size)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct host *host = &options->hosts.all.items[i];
        bool own = hosts_is_own(host->name, options->hosts.own);

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

static char *print(const struct placement *placement, uint32_t spares, const struct host *all,
                   const uint64_t *homes)
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
        char *pids = map_pids(homes, count, i);

        fprintf(file, "host %s, %u slot%s: %s\n", host->name, host->slots,
                host->slots == 1 ? "" : "s", pids && *pids ? pids : "no process");
        free(pids);
    }
    for (uint32_t i = 0; i < spares; i++)
        fprintf(file, "host %s: spare\n", all[hosts + i].name);
    return fclose(file) == 0 ? text : NULL;
}

char *map_expected(const struct options *options, uint32_t cores, char *error, size_t size)
{
    const struct hosts *all = &options->hosts.all;
    struct placement placement = {.host_count = all->count - options->hosts.spares,
                                  .by_node = options->hosts.by_node};
    uint64_t *homes = NULL;
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
    if (known) {
        placement.home = calloc(placement.processes, sizeof *placement.home);
        homes = calloc(placement.processes, sizeof *homes);
    }
    if (placement.home && homes) {
        placement_begin(&placement, 0);
        for (uint32_t pid = 0; pid < placement.processes; pid++)
            homes[pid] = placement.home[pid];
        text = print(&placement, options->hosts.spares, all->items, homes);
    }
    free(homes);
    free(placement.home);
    free(placement.hosts);
    return text;
}
