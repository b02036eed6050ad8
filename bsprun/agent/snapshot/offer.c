/* offer.c - reports the snapshots on this host to Processor Zero, newest first.
 *
 * What can fail: a manifest or an image is damaged.  The user is told, and the next older snapshot
 * is checked.  Where hosts share the directory the agent of another one may be removing it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/election.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/saved.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/to_zero.h"
#include "bsprun/agent/snapshot/inside.h"

#define TOLD_MOST 4 /* most complete snapshots; older ones are not checked */

/* Results of store_check_needs. */
struct faults {
    char why[AGENT_WHY];
    bool *bad; /* per number of an image */
    uint32_t count;
    bool elsewhere; /* images are missing only, and may be on other hosts */
    bool whole;     /* ... or they are damaged, and may be whole there */
};

static void note_fault(void *context, const struct store_fault *fault)
{
    struct faults *faults = context;

    if (!faults->why[0])
        snprintf(faults->why, sizeof faults->why, "the image of process %lld: %.300s",
                 (long long)fault->pid, fault->fault.text);
    faults->elsewhere = faults->elsewhere && fault->status == -ENOENT;
    faults->whole = faults->whole && (fault->status == -ENOENT || fault->status == -EBADMSG ||
                                      fault->status == -ESTALE);
    for (uint32_t pid = 0; pid < faults->count; pid++)
        if (fault->pid < 0 || fault->pid == (int64_t)pid)
            faults->bad[pid] = true;
}

/* ---- Images that a restore found bad --------------------------------------------------------- */

/* Called for an image; false ends the walk. */
typedef bool meet_image(void *context, struct bspz_snapshot_name name, uint32_t pid);

/* Walks the chain of images of a process, as far as manifests exist. */
static void walk_chain(struct sources *sources, struct bspz_snapshot_name name, uint32_t pid,
                       meet_image *meet, void *context)
{
    char why[AGENT_WHY];
    int error;

    for (uint32_t step = 0; step < BSPZ_IMAGE_CHAIN_MAX; step++) {
        const struct manifest *manifest = agent_manifest_of(sources, name, &error, why);
        const struct manifest_image *image;

        if (!manifest || pid >= manifest->nprocs)
            return;
        image = &manifest->images.items[pid];
        if (!meet(context, name, image->image_pid) || image->facts.generation == 0)
            return;
        name = bspz_image_snapshot(&image->facts.base);
        pid = image->facts.base.pid;
    }
}

struct descent {
    uint32_t left;
    struct bad_image found;
};

static bool descend(void *context, struct bspz_snapshot_name name, uint32_t pid)
{
    struct descent *descent = context;

    descent->found = (struct bad_image){name, pid};
    return descent->left-- > 0;
}

void agent_note_bad_image(struct agent *agent, int pid, uint32_t number)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    struct sources sources = {.store = agent_store(agent)};
    struct descent descent = {.left = number};

    walk_chain(&sources, agent_committed(agent), (uint32_t)pid, descend, &descent);
    agent_free_sources(&sources);
    if (descent.found.name.term > 0 && snapshots->bad_count < BAD_IMAGES_MOST)
        snapshots->bad[snapshots->bad_count++] = descent.found;
}

struct search {
    const struct agent_snapshots *snapshots;
    const struct bad_image *found;
};

static bool is_good(void *context, struct bspz_snapshot_name name, uint32_t pid)
{
    struct search *search = context;

    for (uint32_t i = 0; i < search->snapshots->bad_count && !search->found; i++) {
        const struct bad_image *bad = &search->snapshots->bad[i];

        if (bspz_snapshot_same(bad->name, name) && bad->pid == pid)
            search->found = bad;
    }
    return !search->found;
}

/* The damaged image in the snapshot's chains; NULL: none. */
static const struct bad_image *find_bad(const struct agent *agent, const struct manifest *manifest,
                                        struct faults *faults)
{
    const struct agent_snapshots *snapshots = snapshots_of(agent);
    struct bspz_snapshot_name name = manifest->name;
    const struct bad_image *first = NULL;

    for (uint32_t pid = 0; pid < manifest->nprocs && snapshots->bad_count > 0; pid++) {
        struct sources sources = {.store = agent_store(agent)};
        struct search search = {.snapshots = snapshots};

        walk_chain(&sources, name, pid, is_good, &search);
        agent_free_sources(&sources);
        if (search.found && faults->bad)
            faults->bad[manifest->images.items[pid].image_pid] = true;
        first = first ? first : search.found;
    }
    if (first && !faults->why[0])
        snprintf(faults->why, sizeof faults->why,
                 "it needs the image of process %u in snapshot %llu.%u, which is damaged",
                 first->pid, (unsigned long long)first->name.superstep, first->name.term);
    return first;
}

/* ---- What there is --------------------------------------------------------------------------- */

/* Whether Processor Zero could choose it. */
static bool may_be_chosen(const struct agent *agent, const struct store_entry *entry)
{
    const struct election *election = agent_election(agent);
    struct bspz_snapshot_name name = entry->name;

    if (entry->state != STORE_COMMITTED || entry->name.term >= election->term ||
        (election->wanted != COORD_NEVER && election->wanted != name.superstep) ||
        !coord_lineage_allows(&election->lineage, name))
        return false;
    for (uint32_t i = 0; i < election->avoid_count; i++)
        if (bspz_snapshot_same(election->avoid[i], name))
            return false;
    return true;
}

/* If hosts share no directory, each has some of the images, including the one that shares bsprun's.
 * The list is for free(). */
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

/* True: it is complete, as far as this host can have it. */
static bool tell_manifest(struct agent *agent, const struct manifest *manifest, uint64_t *copies)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    struct wire_message message = {.kind = WIRE_HELD};
    struct wire_held *held = &message.held;
    struct bspz_snapshot_name name = manifest->name;
    struct faults faults = {.bad = calloc(manifest->nprocs, sizeof *faults.bad),
                            .count = manifest->nprocs,
                            .elsewhere = manifest->hosts.count > 1,
                            .whole = manifest->hosts.count > 1 && agent_has_peers(agent)};
    uint64_t *images = NULL, *together = NULL;
    uint64_t *needs = calloc(manifest->nprocs, sizeof *needs);

    held->name = name;
    held->processes = manifest->nprocs;
    held->manifest = true;
    held->all = store_check_needs(agent_store(agent), manifest, note_fault, &faults, needs) == 0;
    held->needs = (struct wire_numbers){needs, needs ? manifest->nprocs : 0};
    if (find_bad(agent, manifest, &faults)) {
        faults.elsewhere = faults.whole = false;
        held->all = false;
    }
    if (!held->all && snapshots->shared && !faults.elsewhere)
        agent_notice(agent, "snapshot %llu.%u cannot be used%s: %s",
                     (unsigned long long)name.superstep, name.term,
                     faults.whole ? " unless another host has it whole" : "", faults.why);
    if (!held->all && (agent_has_peers(agent) || faults.elsewhere))
        images = list_intact(manifest, &faults, &held->images.count);
    held->images.items = images;
    for (int pid = 0; pid < agent_nprocs(agent) && pid < (int)manifest->nprocs; pid++)
        if (agent_copy_of(agent, pid, name) >= 0)
            copies[held->copies.count++] = (uint64_t)pid;
    held->copies.items = copies;
    if (agent_has_peers(agent) && !agent_election(agent)->first_of_run)
        held->together.items = together =
            agent_list_together(agent, manifest, &held->together.count);
    if (held->all || agent_has_peers(agent)) /* else it would only displace a usable one */
        agent_tell_zero(agent, &message);
    free(needs);
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

    if (store_manifest(agent_store(agent), entry->name, &manifest, error) != 0) {
        if (!store_is_removed(agent_store(agent), entry->name))
            agent_notice(agent, "%.500s", error);
        return false;
    }
    complete = tell_manifest(agent, &manifest, copies);
    manifest_free(&manifest);
    return complete;
}

void agent_tell_held(struct agent *agent)
{
    uint64_t *copies = calloc((size_t)agent_nprocs(agent) + 1, sizeof *copies);
    struct store_entry *entries = NULL;
    size_t count = 0;
    int complete = 0;
    char why[AGENT_WHY];

    agent_prune_finish(agent); /* snapshots being removed are not reported */
    if (!copies || store_list(agent_store(agent), &entries, &count, why) != 0) {
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
