/* file_groups.c - groups of processes that share open file descriptions.
 *
 * Processes of one host are cloned from one process and share its open files; those of another host
 * have their own.  Groups are never merged: processes of two groups on one host remain two groups;
 * but a group is split when its processes are placed on two hosts.  A --restart may split groups,
 * as the user chooses the hosts.  Before any other restore Processor Zero is told of groups that
 * must stay together, because they write to shared files.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/saved.h"
#include "bsprun/agent/snapshot/inside.h"

/* Computes the groups, named by their lowest process: processes of one former group on one host. */
static void group(const struct agent *agent, const struct manifest *manifest, uint32_t *together)
{
    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        int first = 0;

        while (agent_home(agent, first) != agent_home(agent, pid) ||
               (manifest && manifest_together(manifest, (uint32_t)first) !=
                                manifest_together(manifest, (uint32_t)pid)))
            first++;
        together[pid] = (uint32_t)first;
    }
}

void agent_group_by_host(struct agent *agent)
{
    group(agent, NULL, snapshots_of(agent)->together);
}

/* Regroups the descriptors that this agent keeps for the processes. */
bool agent_group_from(struct agent *agent, const struct manifest *manifest)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    size_t bytes = (size_t)agent_nprocs(agent) * sizeof(uint32_t);
    uint32_t *pairs = malloc(2 * bytes + 1), *from = pairs, *to = pairs + agent_nprocs(agent);
    int count = 0;

    if (!pairs)
        return false;
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_is_here(agent, pid))
            from[count++] = snapshots->together[pid];
    group(agent, manifest, snapshots->together);
    count = 0;
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
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
    int fd = store_image_open(agent_store(agent), manifest->name,
                              manifest->images.items[pid].image_pid, &size, why);
    bool found = fd >= 0 && shares_in_image(fd) > 0;

    if (fd >= 0)
        close(fd);
    return found;
}

/* As agent_list_together; reads the images of the processes in `read` only. */
static uint64_t *list_together(const struct agent *agent, const struct manifest *manifest,
                               bool (*read)(const struct agent *, int pid), uint32_t *count)
{
    uint64_t *together = calloc((size_t)manifest->nprocs + 1, sizeof *together);
    bool *shares = calloc((size_t)manifest->nprocs + 1, sizeof *shares), any = false;

    *count = 0;
    for (uint32_t pid = 0; together && shares && pid < manifest->nprocs; pid++) {
        uint32_t first = manifest_together(manifest, pid);

        if (shares[first] || (read && !read(agent, (int)pid)))
            continue;
        shares[first] = has_shares(agent, manifest, pid);
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

uint64_t *agent_list_together(const struct agent *agent, const struct manifest *manifest,
                              uint32_t *count)
{
    return list_together(agent, manifest, NULL, count);
}

/* ---- For its measurements ---- */

/* The processes of a group are on one host. */
static void note_bound(struct agent *agent, const struct manifest *manifest)
{
    bool *alone = snapshots_of(agent)->free_alone;
    uint32_t count;
    uint64_t *together = list_together(agent, manifest, agent_is_here, &count);

    for (uint32_t pid = 0; together && pid < manifest->nprocs && (int)pid < agent_nprocs(agent);
         pid++)
        alone[pid] = true;
    for (uint32_t pid = 0; together && pid < count && (int)pid < agent_nprocs(agent); pid++)
        if (together[pid] != pid)
            alone[pid] = alone[together[pid]] = false;
    free(together);
}

void agent_note_bound(struct agent *agent)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    struct manifest manifest;
    char why[AGENT_WHY];

    if (agent_committed(agent).term == 0 ||
        bspz_snapshot_same(snapshots->free_by, agent_committed(agent)))
        return;
    snapshots->free_by = agent_committed(agent);
    memset(snapshots->free_alone, 0, (size_t)agent_nprocs(agent) * sizeof *snapshots->free_alone);
    if (store_manifest(agent_store(agent), agent_committed(agent), &manifest, why) != 0)
        return; /* this host keeps none, or it is being written */
    note_bound(agent, &manifest);
    manifest_free(&manifest);
}

bool agent_is_bound(const struct agent *agent, int pid)
{
    return !snapshots_of(agent)->free_alone[pid];
}
