/* owners.c - which host has which tags; see inside.h. */
#include "bsprun/dataspace/inside.h"

#include <stdlib.h>
#include <string.h>

uint32_t dataspace_owner(const struct dataspace *space, const void *tag, size_t size)
{
    return copies_owner(space->copies, copies_part(space->copies, tag, size));
}

static int ascending(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

/* Replicas may be on more hosts than there are processes. */
static bool find_cells(struct dataspace *space, const uint32_t *homes)
{
    space->owners = malloc(((size_t)space->hosts + 1) * sizeof *space->owners);
    if (!space->owners)
        return false;
    for (uint32_t host = 0; host < space->hosts; host++) {
        uint32_t pid = 0;

        while (pid < space->nprocs && homes[pid] != space->leads[host])
            pid++;
        if (pid < space->nprocs)
            space->owners[space->owner_count++] = host;
    }
    return true;
}

bool service_find_owners(struct dataspace *space, const uint32_t *homes)
{
    uint32_t count = 0;

    if (space->replicas)
        return find_cells(space, homes);
    space->owners = malloc(((size_t)space->nprocs + 1) * sizeof *space->owners);
    if (!space->owners)
        return false;
    memcpy(space->owners, homes, space->nprocs * sizeof *homes);
    qsort(space->owners, space->nprocs, sizeof *space->owners, ascending);
    for (uint32_t i = 0; i < space->nprocs; i++)
        if (i == 0 || space->owners[i] != space->owners[i - 1])
            space->owners[count++] = space->owners[i];
    space->owner_count = count;
    return true;
}
