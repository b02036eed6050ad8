/* link_replicas.c - see link_replicas.h.
 *
 * Happy path: the last rank of this host arrives -> link_replicas_collect puts what each process
 * has done into the set of replicas -> link_replicas_fill takes from it what is for a host, when
 * its link has written what was there before -> that host's link_replicas_accept puts it into its
 * set, which applies it by mirror_apply.
 *
 * What can fail: memory, and what others send: the link is broken.  A content of which the set
 * finds out later that it makes no sense gives up this host, as it cannot go on without it. */
#include "bsprun/link/link_replicas.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"

#define NO_HOME      UINT32_MAX
#define FLYING_MOST  LINK_FLYING
#define FLYING_BYTES (UINT64_C(1) << 20)

struct clock {
    int64_t ahead_ns; /* the least by which ours was ahead; MIRROR_NO_CLOCK */
};

/* What the loop is to be told. */
struct report {
    struct report *next;
    bool is_behind;
    struct links_mismatch mismatch;
    uint32_t host; /* behind */
    uint64_t superstep;
};

struct link_replicas {
    struct links *links;
    struct replica_set *set;
    uint32_t home_count, own, nprocs;
    uint32_t *hosts; /* [home_count] */
    struct clock *clocks;
    bool *lives; /* [home_count][nprocs] */
    int **needers; /* [nprocs] of a process here: for which processes its contents are copied */
    int *needer_counts;
    struct report *reports, **tail;
};

/* ---- What the set calls -------------------------------------------------------------------- */

static void report(struct link_replicas *replicas, const struct report *what)
{
    struct report *report = malloc(sizeof *report);

    if (!report)
        return;
    *report = *what;
    report->next = NULL;
    *replicas->tail = report;
    replicas->tail = &report->next;
    uv_async_send(&replicas->links->async);
}

static void on_mismatch(void *context, const struct replica_mismatch *mismatch)
{
    struct link_replicas *replicas = context;
    const struct replica_difference *difference = &mismatch->difference;

    report(replicas,
           &(struct report){.mismatch = {.pid = mismatch->pid,
                                         .superstep = replica_superstep(mismatch->key),
                                         .stage = replica_stage(mismatch->key),
                                         .hosts = {replicas->hosts[mismatch->homes[0]],
                                                   replicas->hosts[mismatch->homes[1]]},
                                         .alike = {mismatch->alike[0], mismatch->alike[1]},
                                         .located = difference->located,
                                         .kind = difference->kind,
                                         .to = difference->to,
                                         .at = difference->at}});
}

static void on_behind(void *context, uint32_t home, uint64_t key)
{
    struct link_replicas *replicas = context;
    struct link *link = links_to(replicas->links, replicas->hosts[home]);

    report(replicas, &(struct report){.is_behind = true,
                                      .host = replicas->hosts[home],
                                      .superstep = key > 0 ? replica_superstep(key) : 0});
    if (home != replicas->own && link)
        link_break(link, "it is too far behind");
}

static bool on_ready(void *context, uint32_t pid, uint64_t key)
{
    const struct link_replicas *replicas = context;

    return mirror_ready(replicas->links->mirror, (int)pid, replica_superstep(key),
                        (enum bspz_stage)replica_stage(key));
}

static int on_apply(void *context, uint32_t pid, uint64_t key, void *bytes, uint64_t size)
{
    const struct link_replicas *replicas = context;
    const struct mirror_head *head = bytes;

    if (size < sizeof *head || head->superstep != replica_superstep(key) ||
        head->stage != replica_stage(key))
        return -EPROTO;
    return mirror_apply(replicas->links->mirror, (int)pid, bytes, size);
}

static void on_locate(void *context, const void *first, uint64_t first_size, const void *second,
                      uint64_t second_size, struct replica_difference *difference)
{
    struct mirror_place place;

    (void)context;
    if (mirror_locate(first, first_size, second, second_size, &place))
        *difference = (struct replica_difference){true, place.kind, place.to, place.at};
}

/* What this host cannot go on without was lost. */
static void check_applied(struct link_replicas *replicas, int error)
{
    if (error)
        on_behind(replicas, replicas->own, 0);
}

/* ---- Beginning and end ---------------------------------------------------------------------- */

static bool *lives_on(const struct link_replicas *replicas, uint32_t home)
{
    return replicas->lives + (size_t)home * replicas->nprocs;
}

/* The processes for which that one's contents are sent anywhere: those on hosts without it. */
static int find_needers(struct link_replicas *replicas, uint32_t pid)
{
    int count = 0;

    replicas->needers[pid] = malloc(replicas->nprocs * sizeof **replicas->needers);
    if (!replicas->needers[pid])
        return -ENOMEM;
    for (uint32_t to = 0; to < replicas->nprocs; to++) {
        bool needs = false;

        for (uint32_t home = 0; home < replicas->home_count; home++)
            needs |= lives_on(replicas, home)[to] && !lives_on(replicas, home)[pid];
        if (needs)
            replicas->needers[pid][count++] = (int)to;
    }
    replicas->needer_counts[pid] = count;
    return 0;
}

static int fill_in(struct link_replicas *replicas, const struct links_replicas *setup,
                   struct replica_home *homes)
{
    int error = 0;

    replicas->own = NO_HOME;
    for (uint32_t home = 0; home < setup->home_count; home++) {
        const struct links_home *from = &setup->homes[home];

        homes[home] = (struct replica_home){from->pids, from->count};
        replicas->hosts[home] = from->host;
        replicas->clocks[home].ahead_ns = MIRROR_NO_CLOCK;
        if (from->host == replicas->links->host)
            replicas->own = home;
        for (uint32_t i = 0; i < from->count; i++) {
            if (from->pids[i] >= replicas->nprocs)
                return -EINVAL;
            lives_on(replicas, home)[from->pids[i]] = true;
        }
    }
    if (replicas->own == NO_HOME)
        return -EINVAL;
    for (uint32_t pid = 0; pid < replicas->nprocs && !error; pid++)
        if (lives_on(replicas, replicas->own)[pid])
            error = find_needers(replicas, pid);
    return error;
}

/* Whether the board and the homes agree about what lives here. */
static bool board_agrees(const struct link_replicas *replicas, const struct mirror *mirror)
{
    const bool *here = lives_on(replicas, replicas->own);

    for (uint32_t pid = 0; pid < replicas->nprocs; pid++)
        if (here[pid] != bspz_is_here(mirror_board(mirror), (int)pid))
            return false;
    return true;
}

static void release(struct link_replicas *replicas)
{
    while (replicas->reports) {
        struct report *report = replicas->reports;

        replicas->reports = report->next;
        free(report);
    }
    for (uint32_t pid = 0; replicas->needers && pid < replicas->nprocs; pid++)
        free(replicas->needers[pid]);
    replica_set_free(replicas->set);
    free(replicas->needers);
    free(replicas->needer_counts);
    free(replicas->hosts);
    free(replicas->clocks);
    free(replicas->lives);
    free(replicas);
}

static struct link_replicas *allocate(struct links *links, uint32_t nprocs, uint32_t home_count)
{
    struct link_replicas *replicas = calloc(1, sizeof *replicas);

    if (!replicas)
        return NULL;
    replicas->links = links;
    replicas->nprocs = nprocs;
    replicas->home_count = home_count;
    replicas->tail = &replicas->reports;
    replicas->hosts = calloc(home_count + 1, sizeof *replicas->hosts);
    replicas->clocks = calloc(home_count + 1, sizeof *replicas->clocks);
    replicas->lives = calloc((size_t)home_count * nprocs + 1, sizeof *replicas->lives);
    replicas->needers = calloc(nprocs, sizeof *replicas->needers);
    replicas->needer_counts = calloc(nprocs, sizeof *replicas->needer_counts);
    if (replicas->hosts && replicas->clocks && replicas->lives && replicas->needers &&
        replicas->needer_counts)
        return replicas;
    release(replicas);
    return NULL;
}

static int make_set(struct link_replicas *replicas, const struct links_replicas *setup)
{
    static const struct replica_calls calls = {.ready = on_ready,
                                               .apply = on_apply,
                                               .locate = on_locate,
                                               .mismatch = on_mismatch,
                                               .behind = on_behind};
    struct replica_home *homes = calloc(setup->home_count + 1, sizeof *homes);
    struct replica_setup facts = {.nprocs = replicas->nprocs,
                                  .home_count = setup->home_count,
                                  .homes = homes,
                                  .log_bytes = setup->log_bytes,
                                  .spill_bytes = setup->spill_bytes,
                                  .agree = setup->agree};
    int error = homes ? fill_in(replicas, setup, homes) : -ENOMEM;

    facts.own = replicas->own;
    if (!error)
        replicas->set = replica_set_new(&facts, &calls, replicas, &error);
    free(homes);
    return error;
}

/* Nobody applies anything before the links know the mirror. */
static void find_lost(struct link_replicas *replicas)
{
    for (uint32_t home = 0; home < replicas->home_count; home++) {
        struct link *link = links_to(replicas->links, replicas->hosts[home]);

        if (home == replicas->own)
            continue;
        if (link)
            link->home = home;
        if (!link || link->broken)
            replica_set_lost(replicas->set, home);
    }
}

int link_replicas_new(struct links *links, int board_fd, int nprocs,
                      const struct links_replicas *setup, struct link_replicas **made,
                      struct mirror **mirror)
{
    struct link_replicas *replicas = allocate(links, (uint32_t)nprocs, setup->home_count);
    int error = replicas ? make_set(replicas, setup) : -ENOMEM;

    *mirror = NULL;
    if (!error)
        *mirror = mirror_new_apart(board_fd, nprocs, &error);
    if (!error && !board_agrees(replicas, *mirror))
        error = -EINVAL;
    if (error) {
        mirror_free(*mirror);
        if (replicas)
            release(replicas);
        return error;
    }
    for (uint32_t i = 0; i < links->count; i++)
        links->all[i].home = NO_HOME;
    find_lost(replicas);
    *made = replicas;
    return 0;
}

void link_replicas_free(struct links *links)
{
    if (links->replicas)
        release(links->replicas);
    links->replicas = NULL;
}

const struct replica_set *link_replicas_set(const struct link_replicas *replicas)
{
    return replicas->set;
}

/* ---- Sending ------------------------------------------------------------------------------- */

static int put(struct links *links, uint32_t pid, uint64_t superstep, enum bspz_stage stage)
{
    struct link_replicas *replicas = links->replicas;
    struct replica_digest digest;
    void *bytes = NULL;
    uint64_t size = 0;
    bool needed;
    int error = mirror_digest(links->mirror, (int)pid, superstep, stage, digest.words);

    if (!error)
        error = replica_set_put(replicas->set, pid, replica_key(superstep, (unsigned)stage),
                                &digest, &needed);
    if (error)
        return error;
    if (needed)
        error = mirror_copy(links->mirror, (int)pid, superstep, stage, replicas->needers[pid],
                            replicas->needer_counts[pid], &bytes, &size);
    if (replica_set_keep(replicas->set, bytes, size) != 0)
        error = -ENOMEM;
    return error;
}

int link_replicas_collect(struct links *links, uint64_t superstep, enum bspz_stage stage)
{
    const struct link_replicas *replicas = links->replicas;
    const bool *here = lives_on(replicas, replicas->own);
    int error = 0;

    for (uint32_t pid = 0; pid < replicas->nprocs; pid++)
        if (here[pid] && !error)
            error = put(links, pid, superstep, stage);
    mirror_collected(links->mirror, superstep, stage);
    return error;
}

void link_replicas_pass(struct links *links, uint64_t superstep, enum bspz_stage stage)
{
    check_applied(links->replicas, replica_set_advance(links->replicas->set));
    mirror_open(links->mirror, superstep, stage);
}

static struct replica_head *begin_head(struct mirror_block *block, const struct replica_head *from)
{
    struct replica_head *head = (struct replica_head *)(void *)block->head;

    *head = *from;
    head->magic = REPLICA_MAGIC;
    block->head_bytes = head->head_bytes;
    return head;
}

static int make_notes(const struct replica_order *order, struct mirror_block *block)
{
    uint64_t bytes = order->note_count * sizeof *order->notes;
    struct replica_head head = {.kind = REPLICA_HEAD_NOTES,
                                .head_bytes = sizeof head + bytes,
                                .count = order->note_count};

    *block = (struct mirror_block){.head = malloc(head.head_bytes),
                                   .data = malloc(sizeof *block->data)};
    if (!block->head || !block->data)
        return -ENOMEM;
    begin_head(block, &head);
    memcpy(block->head + sizeof head, order->notes, bytes);
    return 0;
}

static int make_content(struct link *link, struct replica_copy *copy, struct mirror_block *block)
{
    struct link_replicas *replicas = link->links->replicas;
    struct replica_copy_facts facts = replica_set_facts(copy);
    struct link_flight *flight = &link->flights[link->flying++];
    struct mirror_head *inner;
    uint64_t size;
    void *bytes;
    int error = -ENOMEM;

    *block = (struct mirror_block){0};
    flight->copy = copy;
    bytes = replica_set_see(replicas->set, copy, &size, &flight->read);
    if (bytes)
        error = mirror_part(bytes, lives_on(replicas, link->home), sizeof(struct replica_head),
                            block);
    if (error)
        return error;
    inner = (struct mirror_head *)(void *)(block->head + sizeof(struct replica_head));
    inner->clock_ns = bspz_now_ns();
    inner->ahead_ns = replicas->clocks[link->home].ahead_ns;
    begin_head(block, &(struct replica_head){.kind = REPLICA_HEAD_CONTENT,
                                             .pid = facts.pid,
                                             .head_bytes = sizeof(struct replica_head) +
                                                           block->head_bytes,
                                             .data_bytes = block->data_bytes,
                                             .key = facts.key,
                                             .digest = facts.digest});
    return 0;
}

static void land(struct link *link)
{
    struct replica_set *set = link->links->replicas->set;

    for (unsigned i = 0; i < link->flying; i++) {
        replica_set_sent(set, link->home, link->flights[i].copy);
        free(link->flights[i].read);
    }
    link->flying = 0;
}

bool link_replicas_fill(struct link *link)
{
    struct replica_set *set = link->links->replicas->set;
    struct replica_order order;
    uint64_t bytes = 0;
    bool any = false;
    int error = 0;

    if (link->home == NO_HOME || net_frames_out_loaded(&link->out))
        return false;
    land(link);
    while (!error && bytes < FLYING_BYTES && link->flying < FLYING_MOST &&
           replica_set_next(set, link->home, &order)) {
        struct mirror_block block;

        error = order.copy ? make_content(link, order.copy, &block) : make_notes(&order, &block);
        if (!error)
            error = net_frames_out_block(&link->out, block.head, block.head_bytes, block.data,
                                         block.count);
        if (error)
            mirror_block_free(&block);
        bytes += block.head_bytes + block.data_bytes;
        any = true;
    }
    if (error)
        link_break(link, "no memory to send a superstep");
    return any && !error;
}

void link_replicas_lost(struct link *link)
{
    struct link_replicas *replicas = link->links->replicas;

    if (link->home == NO_HOME)
        return;
    land(link);
    check_applied(replicas, replica_set_lost(replicas->set, link->home));
}

/* ---- Receiving ------------------------------------------------------------------------------ */

static bool makes_sense(const struct link_replicas *replicas, const unsigned char *bytes,
                        uint64_t size)
{
    const struct replica_head *head = (const void *)bytes;

    if (size < sizeof *head || head->magic != REPLICA_MAGIC || head->head_bytes != size)
        return false;
    if (head->kind == REPLICA_HEAD_NOTES)
        return head->data_bytes == 0 && (size - sizeof *head) % sizeof(struct replica_note) == 0 &&
               head->count == (size - sizeof *head) / sizeof(struct replica_note);
    return head->kind == REPLICA_HEAD_CONTENT && head->pid < replicas->nprocs &&
           mirror_is_head(bytes + sizeof *head, size - sizeof *head, head->data_bytes);
}

int link_replicas_expect(struct link *link, unsigned char *bytes, uint64_t size,
                         struct mirror_block *block)
{
    const struct replica_head *head = (const void *)bytes;
    uint64_t inner = size - sizeof *head;

    *block = (struct mirror_block){0};
    if (link->home == NO_HOME || !makes_sense(link->links->replicas, bytes, size))
        return -EPROTO;
    block->data = malloc(sizeof *block->data);
    block->content = malloc(inner + head->data_bytes + 1);
    if (!block->data || !block->content) {
        mirror_block_free(block);
        return -ENOMEM;
    }
    if (head->kind == REPLICA_HEAD_CONTENT)
        memcpy(block->content, bytes + sizeof *head, inner);
    block->data[0] = (struct iovec){(unsigned char *)block->content + inner, head->data_bytes};
    block->count = head->data_bytes > 0;
    block->head = bytes;
    block->head_bytes = size;
    block->data_bytes = head->data_bytes;
    return 0;
}

/* As mirror_take.c does it for a host, and not for a process. */
static void adjust_times(struct link_replicas *replicas, uint32_t home, void *content)
{
    const struct mirror_head *head = content;
    int64_t *least = &replicas->clocks[home].ahead_ns;
    int64_t ahead = (int64_t)(bspz_now_ns() - head->clock_ns);

    if (ahead < *least)
        *least = ahead;
    mirror_shift(content, head->ahead_ns == MIRROR_NO_CLOCK
                              ? *least
                              : (int64_t)((uint64_t)*least - (uint64_t)head->ahead_ns) / 2);
}

static int accept_notes(struct link *link, const struct replica_head *head)
{
    const struct replica_note *notes = (const void *)(head + 1);
    int error = 0;

    for (uint64_t i = 0; i < head->count && !error; i++)
        error = replica_set_note(link->links->replicas->set, link->home, &notes[i]);
    return error;
}

int link_replicas_accept(struct link *link, struct mirror_block *block)
{
    struct link_replicas *replicas = link->links->replicas;
    const struct replica_head *head = (const void *)block->head;
    void *content = block->content;

    if (head->kind == REPLICA_HEAD_NOTES)
        return accept_notes(link, head);
    block->content = NULL;
    adjust_times(replicas, link->home, content);
    return replica_set_take(replicas->set, link->home, (uint32_t)head->pid, head->key,
                            &head->digest, content,
                            head->head_bytes - sizeof *head + head->data_bytes);
}

/* ---- The loop ------------------------------------------------------------------------------- */

void links_replicas_report(struct links *links)
{
    while (!links->closed && links->replicas) {
        struct link_replicas *replicas = links->replicas;
        struct report *report;

        links_lock(links);
        report = replicas->reports;
        if (report)
            replicas->reports = report->next;
        if (!replicas->reports)
            replicas->tail = &replicas->reports;
        links_unlock(links);
        if (!report)
            return;
        if (report->is_behind && links->calls.behind)
            links->calls.behind(links->context, report->host, report->superstep);
        if (!report->is_behind && links->calls.mismatch)
            links->calls.mismatch(links->context, &report->mismatch);
        free(report);
    }
}
