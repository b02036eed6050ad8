/* keep.c - images that hosts without a common directory keep for each other.
 *
 * KEEP offers an image to another host, which fetches and checks it, and tells Processor Zero. When
 * a term begins from a snapshot it is offered again, for those that had it may have been lost.
 *
 * What can fail: what comes is damaged, or there is no room: the snapshot comes to nothing; of the
 * one that the term began from there is a copy less, and a line says so.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/agent/fetch_inside.h"

#define EARLY_KEEPS_MAX 4096u

/* To the hosts that come after this one. */
static void offer(struct agent *agent, struct coord_name name, int pid,
                  const struct manifest_image *image, uint32_t copies)
{
    const struct agent_peers *peers = agent->peers;
    struct wire_message message = {.kind = WIRE_KEEP};
    uint32_t own = 0;

    message.envelope.superstep = name.superstep;
    message.keep.from = name.term;
    message.keep.pid = (uint32_t)pid;
    message.keep.size = image->size;
    message.keep.digest = image->digest;
    while (own < peers->host_count && peers->hosts[own].host != agent->host)
        own++;
    for (uint32_t i = 1; i < copies && i < peers->host_count; i++)
        agent_peers_send(agent, peers->hosts[(own + i) % peers->host_count].host, &message);
}

void agent_fetch_spread(struct agent *agent, int pid, uint32_t copies)
{
    offer(agent, agent->snapshots->ticket.name, pid, &agent->snapshots->kept[pid].image, copies);
}

/* Each host those of its own processes, which it has.  Not waited for: the next snapshot has its
 * copies anyway, but may be long in coming. */
void agent_fetch_spread_again(struct agent *agent)
{
    struct agent_snapshots *snapshots = agent->snapshots;
    struct coord_name name = snapshots->committed;
    struct manifest manifest;

    if (!agent->peers || snapshots->copies < 2 ||
        store_manifest(snapshots->store, name.superstep, name.term, &manifest, NULL) != 0)
        return;
    for (int pid = 0; pid < agent->nprocs && pid < (int)manifest.nprocs; pid++)
        if (agent_is_here(agent, pid) && manifest.images.items[pid].image_pid == (uint32_t)pid)
            offer(agent, name, pid, &manifest.images.items[pid], snapshots->copies);
    manifest_free(&manifest);
}

/* The digest of what is kept for others, until Processor Zero has been told. */
struct keeping {
    uint64_t size;
    uint32_t digest_size;
    unsigned char digest[WIRE_DIGEST_MAX];
};

static struct keeping *keeping_of(struct agent *agent, uint32_t pid)
{
    struct agent_snapshots *snapshots = agent->snapshots;

    if (!snapshots->keeping)
        snapshots->keeping = calloc((size_t)agent->nprocs, sizeof(struct keeping));
    return snapshots->keeping && pid < (uint32_t)agent->nprocs
               ? (struct keeping *)snapshots->keeping + pid
               : NULL;
}

static void kept_for_another(struct agent *agent, const struct fetch_want *want, int error,
                             const char *why)
{
    struct wire_message message = {.kind = WIRE_IMAGE_DURABLE};
    const struct keeping *keeping = keeping_of(agent, want->pid);

    if (!keeping)
        return;
    if (error) {
        agent_image_failed(agent, (int)want->pid, WIRE_CAUSE_NOT_WRITTEN, why);
        return;
    }
    message.envelope.superstep = want->name.superstep;
    message.image_durable.pid = want->pid;
    message.image_durable.size = keeping->size;
    message.image_durable.digest = (struct wire_bytes){keeping->digest, keeping->digest_size};
    message.image_durable.base_digest = (struct wire_bytes){keeping->digest, 0};
    agent_tell_zero(agent, &message);
}

/* ---- Copies that were lost ---- */

/* Processor Zero has no use for the news, and the job goes on without. */
static void kept_again(struct agent *agent, const struct fetch_want *want, int error,
                       const char *why)
{
    if (error && want->thing == WIRE_THING_IMAGE &&
        coord_name_same(want->name, agent->snapshots->committed))
        agent_notice(agent, "no other copy of the image of process %u in snapshot %llu.%u: %s",
                     want->pid, (unsigned long long)want->name.superstep, want->name.term, why);
}

static bool has_image(struct agent *agent, const struct fetch_want *want)
{
    uint64_t size;
    int file = store_image_open(agent->snapshots->store, want->name.superstep, want->name.term,
                                want->pid, &size, NULL);

    if (file >= 0)
        close(file);
    return file >= 0;
}

/* A host that takes the place of one that was lost may know nothing of the snapshot. */
static void keep_again(struct agent *agent, struct fetch_want *want)
{
    uint64_t size;
    int manifest = store_manifest_open(agent->snapshots->store, want->name.superstep,
                                       want->name.term, &size, NULL);
    struct fetch_want whole;

    want->done = kept_again;
    want->in_time = true;
    whole = *want;
    whole.thing = WIRE_THING_MANIFEST;
    if (manifest >= 0)
        close(manifest);
    else
        agent_fetch(agent, &whole);
    if (!has_image(agent, want))
        agent_fetch(agent, want);
}

/* ---- KEEP ---- */

/* An offer is made by the host of a process, and its way is shorter than that of the word of
 * Processor Zero by which this host learns of the job's processes: it may come first. */
struct early_keep {
    struct early_keep *next;
    uint32_t host, pid;
    uint64_t superstep;
    uint32_t term;
    struct keeping what;
};

static void keep(struct agent *agent, const struct early_keep *offered)
{
    struct fetch_want want = {.thing = WIRE_THING_IMAGE,
                              .name = {offered->superstep, offered->term},
                              .pid = offered->pid,
                              .from = offered->host,
                              .otherwise = offered->host,
                              .done = kept_for_another};
    struct keeping *keeping = keeping_of(agent, want.pid);

    if (!keeping) /* a peer that breaks a rule */
        return;
    memcpy(want.digest, offered->what.digest, sizeof want.digest);
    if (want.name.term != agent->term) {
        keep_again(agent, &want);
        return;
    }
    *keeping = offered->what;
    agent_fetch(agent, &want);
}

static void keep_later(struct agent *agent, const struct early_keep *offered)
{
    struct fetches *fetches = agent_fetches(agent);
    struct early_keep **at = fetches ? &fetches->early_keeps : NULL, *copy;
    uint32_t count = 0;

    for (; at && *at; at = &(*at)->next)
        count++;
    copy = at && count < EARLY_KEEPS_MAX ? malloc(sizeof *copy) : NULL;
    if (!copy) {
        agent_peers_drop(agent, offered->host, "more images offered than can be remembered");
        return;
    }
    *copy = *offered;
    *at = copy;
}

void agent_keep(struct agent *agent, uint32_t host, const struct wire_message *message)
{
    const struct wire_bytes *digest = &message->keep.digest;
    struct early_keep offered = {.host = host,
                                 .pid = message->keep.pid,
                                 .superstep = message->envelope.superstep,
                                 .term = message->keep.from,
                                 .what = {message->keep.size, digest->size, {0}}};

    if (digest->size != sizeof((struct fetch_want *)0)->digest) /* a peer that breaks a rule */
        return;
    memcpy(offered.what.digest, digest->data, digest->size);
    if (agent->snapshots && agent->nprocs > 0)
        keep(agent, &offered);
    else
        keep_later(agent, &offered);
}

void agent_fetch_placed(struct agent *agent)
{
    struct fetches *fetches = agent->peers ? agent->peers->fetches : NULL;

    while (fetches && agent->snapshots && fetches->early_keeps) {
        struct early_keep *offered = fetches->early_keeps;

        fetches->early_keeps = offered->next;
        keep(agent, offered);
        free(offered);
    }
}

void agent_keep_forget(struct fetches *fetches)
{
    while (fetches->early_keeps) {
        struct early_keep *offered = fetches->early_keeps;

        fetches->early_keeps = offered->next;
        free(offered);
    }
}
