/* agent_held.c - tells Processor Zero which snapshots the host has, the newest first.
 *
 * What can fail: a manifest or an image is not as it should be.  The user is told, and the next
 * older snapshot is looked at.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bsprun/agent/agent_snapshots.h"

#define TOLD_MOST 4 /* complete snapshots: older ones are not even looked at */

/* What store_check finds. */
struct faults {
    char why[AGENT_WHY];
    bool *bad; /* per number of an image */
    uint32_t count;
    bool elsewhere; /* nothing but images that are missing, and may be on other hosts */
};

static void note_fault(void *context, const struct store_fault *fault)
{
    struct faults *faults = context;

    if (!faults->why[0])
        snprintf(faults->why, sizeof faults->why, "the image of process %lld: %.300s",
                 (long long)fault->pid, fault->fault.text);
    faults->elsewhere = faults->elsewhere && fault->status == -ENOENT;
    for (uint32_t pid = 0; pid < faults->count; pid++)
        if (fault->pid < 0 || fault->pid == (int64_t)pid)
            faults->bad[pid] = true;
}

/* Whether Processor Zero could choose it. */
static bool may_be_chosen(const struct agent *agent, const struct store_entry *entry)
{
    const struct election *election = &agent->snapshots->election;
    struct coord_name name = {entry->superstep, entry->term};

    if (entry->state != STORE_COMMITTED || entry->term >= election->term ||
        (election->wanted != COORD_NEVER && election->wanted != name.superstep) ||
        !coord_lineage_allows(&election->lineage, name))
        return false;
    for (uint32_t i = 0; i < election->avoid_count; i++)
        if (coord_name_same(election->avoid[i], name))
            return false;
    return true;
}

/* Where hosts share no directory, each has some of the images, also that which sees the directory of
 * bsprun.  The list is for free(). */
static uint64_t *list_intact(const struct manifest *manifest, const struct faults *faults,
                             uint32_t *count)
{
    uint64_t *list = calloc((size_t)manifest->nprocs + 1, sizeof *list);

    *count = 0;
    for (uint32_t pid = 0; list && faults->bad && pid < manifest->nprocs; pid++)
        if (!faults->bad[manifest->images.items[pid].image_pid])
            list[(*count)++] = pid;
    return list;
}

/* True: it is complete, or as complete as it can be here. */
static bool tell_manifest(struct agent *agent, const struct manifest *manifest, uint64_t *copies)
{
    struct agent_snapshots *snapshots = agent->snapshots;
    struct wire_message message = {.kind = WIRE_HELD};
    struct wire_held *held = &message.held;
    struct coord_name name = {manifest->superstep, manifest->term};
    struct faults faults = {.bad = calloc(manifest->nprocs, sizeof *faults.bad),
                            .count = manifest->nprocs,
                            .elsewhere = agent->peers && manifest->hosts.count > 1};
    uint64_t *images = NULL, *together = NULL;

    held->superstep = name.superstep;
    held->from = name.term;
    held->processes = manifest->nprocs;
    held->manifest = true;
    held->all = store_check(snapshots->store, manifest, false, note_fault, &faults) == 0;
    if (!held->all && snapshots->shared && !faults.elsewhere)
        agent_notice(agent, "snapshot %llu.%u cannot be used: %s",
                     (unsigned long long)name.superstep, name.term, faults.why);
    if (!held->all && agent->peers)
        images = list_intact(manifest, &faults, &held->images.count);
    held->images.items = images;
    for (int pid = 0; pid < agent->nprocs && pid < (int)manifest->nprocs; pid++)
        if (agent_copy_of(agent, pid, name) >= 0)
            copies[held->copies.count++] = (uint64_t)pid;
    held->copies.items = copies;
    if (agent->peers && snapshots->election.between_failures_ns > 0)
        held->together.items = together = agent_list_together(agent, manifest, &held->together.count);
    agent_tell_zero(agent, &message);
    free(together);
    free(images);
    free(faults.bad);
    return held->all || !snapshots->shared || faults.elsewhere;
}

static bool tell_entry(struct agent *agent, const struct store_entry *entry, uint64_t *copies)
{
    struct manifest manifest;
    char error[AGENT_WHY];
    bool complete;

    if (store_manifest(agent->snapshots->store, entry->superstep, entry->term, &manifest, error) !=
        0) {
        agent_notice(agent, "%.500s", error);
        return false;
    }
    complete = tell_manifest(agent, &manifest, copies);
    manifest_free(&manifest);
    return complete;
}

void agent_tell_held(struct agent *agent)
{
    uint64_t *copies = calloc((size_t)agent->nprocs + 1, sizeof *copies);
    struct store_entry *entries = NULL;
    size_t count = 0;
    int complete = 0;
    char why[AGENT_WHY];

    agent_prune_finish(agent); /* what is being removed is not told of */
    if (!copies || store_list(agent->snapshots->store, &entries, &count, why) != 0) {
        agent_notice(agent, "the snapshots cannot be read: %s", copies ? why : "out of memory");
        free(copies);
        return;
    }
    for (size_t i = count; i-- > 0 && complete < TOLD_MOST;)
        if (may_be_chosen(agent, &entries[i]))
            complete += tell_entry(agent, &entries[i], copies);
    free(entries);
    free(copies);
}
