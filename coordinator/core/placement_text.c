/* placement_text.c - why a process is not where it was to be, for the user; see placement.h. */
#include "coordinator/core/placement.h"
#include "lib/base/formatted.h"
#include "lib/base/units.h"

#define HOSTS_MOST 4u /* most hosts that are named */

static void add_bytes(struct bspz_formatted *line, uint64_t bytes)
{
    char text[BSPZ_BYTES_TEXT];

    bspz_bytes_text(bytes, text, sizeof(text));
    bspz_formatted_add(line, "%s", text);
}

static void add_host(struct bspz_formatted *line, const struct placement_host *host)
{
    if (host->name && host->name[0])
        bspz_formatted_add(line, "host %.255s", host->name);
    else
        bspz_formatted_add(line, "host %u", host->id);
}

static void add_left(struct bspz_formatted *line, const struct placement_host *host)
{
    add_host(line, host);
    bspz_formatted_add(line, " has ");
    add_bytes(line, host->free);
    bspz_formatted_add(line,
                       host->free == host->left ? " left" : " left beside what else goes there");
}

/* Whether the process could have gone there, but for its memory. */
static bool was_considered(const struct placement *placement, uint32_t pid, uint32_t index)
{
    const struct placement_host *host = &placement->hosts[index];
    uint16_t wanted = placement->wanted[pid];
    uint16_t on = placement->copy_on[pid];
    /* Else all were tried. */
    bool only = wanted > 0 && placement->nowhere == PLACEMENT_NOBODY && on > 0 &&
                placement_is_open(placement, &placement->hosts[on - 1]);

    return host->free != PLACEMENT_UNKNOWN && on != index + 1 &&
           (only ? index + 1 == wanted : placement_is_open(placement, host));
}

/* Names the hosts with the most memory: of many, only some. */
static void add_hosts(struct bspz_formatted *line, const struct placement *placement, uint32_t pid)
{
    uint32_t count = 0, named = 0;
    uint64_t bound = PLACEMENT_UNKNOWN, least = PLACEMENT_UNKNOWN;

    for (uint32_t i = 0; i < placement->host_count; i++)
        count += was_considered(placement, pid, i);
    /* The amounts from the greatest on, and all hosts that have each. */
    while (named < count && named < HOSTS_MOST) {
        least = 0;
        for (uint32_t i = 0; i < placement->host_count; i++)
            if (was_considered(placement, pid, i) && placement->hosts[i].free < bound &&
                placement->hosts[i].free > least)
                least = placement->hosts[i].free;
        for (uint32_t i = 0; i < placement->host_count && named < HOSTS_MOST; i++)
            if (was_considered(placement, pid, i) && placement->hosts[i].free == least) {
                bspz_formatted_add(line, "%s", named++ > 0 ? ", " : "; ");
                add_left(line, &placement->hosts[i]);
            }
        bound = least;
    }
    if (count > named)
        bspz_formatted_add(line, ", and the others (%u) no more", count - named);
}

void placement_text(const struct placement *placement, uint32_t pid, char text[PLACEMENT_TEXT_MAX])
{
    struct bspz_formatted line = {.at = text, .size = PLACEMENT_TEXT_MAX};
    uint32_t lowest = pid, members = 0, name = placement->pids ? placement->pids[pid] : pid;
    uint64_t need = 0;

    text[0] = '\0';
    while (placement->together[lowest] != lowest)
        lowest = placement->together[lowest];
    for (uint32_t other = lowest; other != PLACEMENT_NOBODY; other = placement->next[other]) {
        need += placement->needs[other];
        members++;
    }
    if (members > 1)
        bspz_formatted_add(&line, "process %u, with %u that share files with it, needs ", name,
                           members - 1);
    else
        bspz_formatted_add(&line, "process %u needs ", name);
    add_bytes(&line, need);
    bspz_formatted_add(&line, " of memory");
    add_hosts(&line, placement, pid);
}
