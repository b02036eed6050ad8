/* file_groups.c - groups of processes that share open file descriptions.
 *
 * Processes of one host are cloned from one process and share its open files; those of another host
 * have their own.  Groups are never merged: processes of two groups on one host remain two groups;
 * but a group is split when its processes are placed on two hosts.  A --restart may split groups,
 * as the user chooses the hosts.  In a rollback, Processor Zero is told of groups that must stay
 * together, because they write to shared files.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/agent/snapshot/inside.h"

/* Computes the groups, named by their lowest process: processes of one former group on one host. */
static void group(const struct agent *agent, const struct manifest *manifest, uint32_t *together)
{
    for (int pid = 0; pid < agent->nprocs; pid++) {
        int first = 0;

        while (agent->home[first] != agent->home[pid] ||
               (manifest && manifest_together(manifest, (uint32_t)first) !=
                                manifest_together(manifest, (uint32_t)pid)))
            first++;
        together[pid] = (uint32_t)first;
    }
}

void agent_group_by_host(struct agent *agent)
{
    group(agent, NULL, agent->snapshots->together);
}

/* Regroups the descriptors that this agent keeps for the processes. */
bool agent_group_from(struct agent *agent, const struct manifest *manifest)
{
    struct agent_snapshots *snapshots = agent->snapshots;
    size_t bytes = (size_t)agent->nprocs * sizeof(uint32_t);
    uint32_t *pairs = malloc(2 * bytes + 1), *from = pairs, *to = pairs + agent->nprocs;
    int count = 0;

    if (!pairs)
        return false;
    for (int pid = 0; pid < agent->nprocs; pid++)
        if (agent_is_here(agent, pid))
            from[count++] = snapshots->together[pid];
    group(agent, manifest, snapshots->together);
    count = 0;
    for (int pid = 0; pid < agent->nprocs; pid++)
        if (agent_is_here(agent, pid))
            to[count++] = snapshots->together[pid];
    if (snapshots->shares)
        shares_regroup(snapshots->shares, from, to, count);
    free(pairs);
    return true;
}

/* ---- For Processor Zero ---- */

static bool has_shares(const struct agent *agent, const struct manifest *manifest, uint32_t pid)
{
    uint64_t size;
    char why[AGENT_WHY];
    int fd = store_image_open(agent->store, manifest->name, manifest->images.items[pid].image_pid,
                              &size, why);
    bool found = fd >= 0 && shares_in_image(fd) > 0;

    if (fd >= 0)
        close(fd);
    return found;
}

uint64_t *agent_list_together(const struct agent *agent, const struct manifest *manifest,
                              uint32_t *count)
{
    uint64_t *together = calloc((size_t)manifest->nprocs + 1, sizeof *together);
    bool *shares = calloc((size_t)manifest->nprocs + 1, sizeof *shares), any = false;

    *count = 0;
    for (uint32_t pid = 0; together && shares && pid < manifest->nprocs; pid++) {
        uint32_t first = manifest_together(manifest, pid);

        shares[first] = shares[first] || has_shares(agent, manifest, pid);
        any = any || shares[first];
    }
    for (uint32_t pid = 0; any && pid < manifest->nprocs; pid++) {
        uint32_t first = manifest_together(manifest, pid);

        together[pid] = shares[first] ? first : pid;
    }
    if (any)
        *count = manifest->nprocs;
    free(shares);
    return together;
}
