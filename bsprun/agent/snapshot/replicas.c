/* replicas.c - see replicas.h.
 *
 * KEEP offers an image to another host, which fetches and checks it, and tells Processor Zero.
 * When a term begins from a snapshot its images are offered again, since hosts with copies may have
 * been lost.
 *
 * What can fail: the received image is damaged, or there is no room: the snapshot fails; the one
 * that the term began from has a copy less, which a line reports.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/fetch.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/saved.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/to_zero.h"
#include "bsprun/agent/snapshot/inside.h"
#include "bsprun/agent/snapshot/replicas.h"

#define EARLY_OFFERS_MAX 4096u

/* The next hosts after this one that are left, or were so before that one was lost
 * (WIRE_HOSTS_MAX: none): as many as keep an image beside this host.  Their number. */
static uint32_t list_keepers(const struct agent *agent, uint32_t copies, uint32_t lost,
                             uint32_t keepers[COORD_COPIES_MAX])
{
    uint32_t own = 0, kept = 0, count;
    const struct wire_host *hosts = agent_peers_hosts(agent, &count);

    while (own < count && hosts[own].host != agent_host(agent))
        own++;
    for (uint32_t i = 1; kept + 1 < copies && kept < COORD_COPIES_MAX && i < count; i++) {
        uint32_t host = hosts[(own + i) % count].host;

        if (host == lost || !agent_peers_is_lost(agent, host))
            keepers[kept++] = host;
    }
    return kept;
}

static void offer_to(struct agent *agent, uint32_t host, struct bspz_snapshot_name name, int pid,
                     const struct bspz_image_facts *facts)
{
    struct wire_message message = {.kind = WIRE_KEEP};

    message.envelope.superstep = name.superstep;
    message.keep.from = name.term;
    message.keep.pid = (uint32_t)pid;
    message.keep.facts = *facts;
    agent_peers_send(agent, host, &message);
}

static void offer(struct agent *agent, struct bspz_snapshot_name name, int pid,
                  const struct bspz_image_facts *facts, uint32_t copies)
{
    uint32_t keepers[COORD_COPIES_MAX];
    uint32_t count = list_keepers(agent, copies, WIRE_HOSTS_MAX, keepers);

    for (uint32_t i = 0; i < count; i++)
        offer_to(agent, keepers[i], name, pid, facts);
}

void agent_replicas_spread(struct agent *agent, int pid, uint32_t copies)
{
    offer(agent, snapshots_of(agent)->ticket.name, pid, &snapshots_of(agent)->kept[pid].facts,
          copies);
}

/* The one that keeps images in the place of a host that is lost; WIRE_HOSTS_MAX: none. */
static uint32_t find_heir(const struct agent *agent, uint32_t copies, uint32_t lost)
{
    uint32_t before[COORD_COPIES_MAX], now[COORD_COPIES_MAX];
    uint32_t count = list_keepers(agent, copies, lost, before);
    uint32_t left = list_keepers(agent, copies, WIRE_HOSTS_MAX, now);

    for (uint32_t i = 0; i < count; i++)
        if (before[i] == lost && left == count)
            return now[left - 1];
    return WIRE_HOSTS_MAX;
}

void agent_replicas_lost(struct agent *agent, uint32_t host)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    uint32_t heir;

    if (!snapshots || !snapshots->kept || !snapshots->ticket.staging || snapshots->copies < 2)
        return;
    heir = find_heir(agent, snapshots->copies, host);
    for (int pid = 0; heir < WIRE_HOSTS_MAX && pid < agent_nprocs(agent); pid++)
        if (agent_is_here(agent, pid) && snapshots->kept[pid].written)
            offer_to(agent, heir, snapshots->ticket.name, pid, &snapshots->kept[pid].facts);
}

/* Each host offers those of its own processes.  Not waited for: the next snapshot will have copies
 * anyway, but may be far off. */
void agent_replicas_spread_again(struct agent *agent)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    struct bspz_snapshot_name name = agent_committed(agent);
    struct manifest manifest;

    if (!agent_has_peers(agent) || snapshots->copies < 2 ||
        store_manifest(agent_store(agent), name, &manifest, NULL) != 0)
        return;
    for (int pid = 0; pid < agent_nprocs(agent) && pid < (int)manifest.nprocs; pid++)
        if (agent_is_here(agent, pid) && manifest.images.items[pid].image_pid == (uint32_t)pid)
            offer(agent, name, pid, &manifest.images.items[pid].facts, snapshots->copies);
    manifest_free(&manifest);
}

struct agent_replicas {
    struct image_offer *early;     /* from before the placement is known here */
    struct bspz_image_facts *kept; /* by process: images kept for others; NULL: none yet */
};

/* Made on demand; NULL: no memory. */
static struct agent_replicas *replicas_of(struct agent *agent)
{
    if (!agent->replicas)
        agent->replicas = calloc(1, sizeof *agent->replicas);
    return agent->replicas;
}

/* NULL: no memory, or no such process. */
static struct bspz_image_facts *replica_of(struct agent *agent, uint32_t pid)
{
    struct agent_replicas *replicas = replicas_of(agent);

    if (replicas && !replicas->kept)
        replicas->kept = calloc((size_t)agent_nprocs(agent), sizeof *replicas->kept);
    return replicas && replicas->kept && pid < (uint32_t)agent_nprocs(agent) ? &replicas->kept[pid]
                                                                             : NULL;
}

static void kept_for_another(struct agent *agent, const struct fetch_want *want, int error,
                             const char *why)
{
    struct wire_message message = {.kind = WIRE_IMAGE_DURABLE};
    const struct bspz_image_facts *replica = replica_of(agent, want->pid);

    if (!replica || bspz_snapshot_same(want->name, snapshots_of(agent)->abandoned))
        return;
    if (error) {
        agent_image_of_failed(agent, want->name, (int)want->pid, WIRE_CAUSE_NOT_WRITTEN, why);
        return;
    }
    message.envelope.superstep = want->name.superstep;
    message.image_durable.pid = want->pid;
    message.image_durable.facts = *replica;
    agent_tell_zero(agent, &message);
}

/* ---- Copies that were lost ---- */

/* Processor Zero need not know, and the job goes on without. */
static void kept_again(struct agent *agent, const struct fetch_want *want, int error,
                       const char *why)
{
    if (error && want->thing == WIRE_THING_IMAGE &&
        bspz_snapshot_same(want->name, agent_committed(agent)))
        agent_notice(agent, "no other copy of the image of process %u in snapshot %llu.%u: %s",
                     want->pid, (unsigned long long)want->name.superstep, want->name.term, why);
}

/* A damaged one does not count. */
static bool has_image(struct agent *agent, const struct fetch_want *want)
{
    struct bspz_image_name name = {
        .superstep = want->name.superstep, .term = want->name.term, .pid = want->pid};

    memcpy(name.digest, want->digest, sizeof name.digest);
    return store_image_look(agent_store(agent), &name) == 0;
}

/* A replacement host may not know the snapshot. */
static void keep_again(struct agent *agent, struct fetch_want *want)
{
    uint64_t size;
    int manifest = store_manifest_open(agent_store(agent), want->name, &size, NULL);
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

/* An offer from the host of a process may arrive before Processor Zero's message with the
 * placement. */
struct image_offer {
    struct image_offer *next;
    uint32_t host, pid;
    struct bspz_snapshot_name name;
    struct bspz_image_facts facts;
};

static void keep(struct agent *agent, const struct image_offer *offered)
{
    struct fetch_want want = {.thing = WIRE_THING_IMAGE,
                              .name = offered->name,
                              .pid = offered->pid,
                              .from = offered->host,
                              .otherwise = offered->host,
                              .done = kept_for_another};
    struct bspz_image_facts *replica = replica_of(agent, want.pid);

    if (!replica || /* a peer that breaks a rule */
        bspz_snapshot_same(offered->name, snapshots_of(agent)->abandoned))
        return;
    memcpy(want.digest, offered->facts.digest, sizeof want.digest);
    if (want.name.term != agent_term(agent)) {
        keep_again(agent, &want);
        return;
    }
    *replica = offered->facts;
    agent_fetch(agent, &want);
}

static void keep_later(struct agent *agent, const struct image_offer *offered)
{
    struct agent_replicas *replicas = replicas_of(agent);
    struct image_offer **at = replicas ? &replicas->early : NULL, *copy;
    uint32_t count = 0;

    for (; at && *at; at = &(*at)->next)
        count++;
    copy = at && count < EARLY_OFFERS_MAX ? malloc(sizeof *copy) : NULL;
    if (!copy) {
        agent_peers_drop(agent, offered->host, "more images offered than can be remembered");
        return;
    }
    *copy = *offered;
    *at = copy;
}

void agent_replicas_take(struct agent *agent, uint32_t host, const struct wire_message *message)
{
    struct image_offer offered = {.host = host,
                                  .pid = message->keep.pid,
                                  .name = {message->envelope.superstep, message->keep.from},
                                  .facts = message->keep.facts};

    if (!bspz_image_has_digest(offered.facts.digest)) /* a peer that breaks a rule */
        return;
    if (snapshots_of(agent) && agent_nprocs(agent) > 0)
        keep(agent, &offered);
    else
        keep_later(agent, &offered);
}

/* The first waiting offer, passed to the caller; NULL: none. */
static struct image_offer *next_early(struct agent *agent)
{
    struct image_offer *offered = agent->replicas ? agent->replicas->early : NULL;

    if (offered)
        agent->replicas->early = offered->next;
    return offered;
}

void agent_replicas_placed(struct agent *agent)
{
    struct image_offer *offered;

    while (snapshots_of(agent) && (offered = next_early(agent))) {
        keep(agent, offered);
        free(offered);
    }
}

void agent_replicas_forget(struct agent *agent)
{
    struct image_offer *offered;

    while ((offered = next_early(agent)))
        free(offered);
}

void agent_replicas_free(struct agent *agent)
{
    agent_replicas_forget(agent);
    if (agent->replicas)
        free(agent->replicas->kept);
    free(agent->replicas);
    agent->replicas = NULL;
}
