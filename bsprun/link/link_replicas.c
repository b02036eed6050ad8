/* link_replicas.c - see link_replicas.h.
 *
 * Happy path: the last rank of this host arrives -> link_replicas_collect puts what each process
 * has done into the set of replicas -> link_replicas_fill takes from it what is for a host, when
 * its link has written what was there before -> that host's link_replicas_accept puts it into its
 * set, which applies it by mirror_apply.
 *
 * What can fail: memory, and what others send: the link is broken.  A content that cannot be
 * applied gives up this host, as it cannot go on without it. */
#include "bsprun/link/link_replicas_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/link/link_turn.h"
#include "lib/base/clock.h"

#define FLYING_BYTES (UINT64_C(1) << 20)
#define MADE_BYTES   (UINT64_C(256) << 10) /* what a content is made of is kept up to so many */

/* ---- Sending ------------------------------------------------------------------------------- */

/* Once a host has heard of a later stop this one is decided. */
static unsigned stop_of(const struct link_replicas *replicas, uint64_t superstep)
{
    const struct replica_stop *stop = &replicas->stop;

    return stop->any && superstep < stop->superstep ? 0 : replica_stop(stop->round);
}

static int put(struct links *links, uint32_t pid, uint64_t superstep, enum bspz_stage stage)
{
    struct link_replicas *replicas = links->replicas;
    struct mirror_made made = {.most = MADE_BYTES};
    uint64_t key = replica_key(superstep, (unsigned)stage), size = 0;
    struct replica_digest digest;
    void *bytes = NULL;
    bool needed;
    int error = mirror_digest(links->mirror, (int)pid, superstep, stage, digest.words, &made);

    digest.words[1] &= ~REPLICA_STOP;
    if (mirror_is_at_call(links->mirror, (int)pid, superstep))
        digest.words[1] |= stop_of(replicas, superstep);
    if (made.bytes)
        replica_set_made(replicas->set, pid, key, &digest, made.bytes, made.size);
    if (!error)
        error = replica_set_put(replicas->set, pid, key, &digest, &needed);
    if (error)
        return error;
    if (needed)
        error = mirror_copy(links->mirror, (int)pid, superstep, stage, replicas->needers[pid],
                            replicas->needer_counts[pid], &bytes, &size);
    replica_set_keep(replicas->set, bytes, size);
    return error;
}

static void set_even(const struct link *link)
{
    const struct link_replicas *replicas = link->links->replicas;

    replica_set_even(replicas->set, link->home, link_even_is(&replicas->evens[link->home]));
}

static void note_arrival(struct links *links, uint64_t superstep)
{
    struct link_replicas *replicas = links->replicas;
    uint64_t now = bspz_now_ns();

    link_arrivals_add(&replicas->arrivals, superstep + 1, now);
    for (uint32_t i = 0; i < links->count; i++) {
        const struct link *link = &links->all[i];

        if (!link->kin)
            continue;
        link_even_came(&replicas->evens[link->home], &replicas->arrivals, now);
        set_even(link);
    }
}

int link_replicas_collect(struct links *links, uint64_t superstep, enum bspz_stage stage)
{
    const struct link_replicas *replicas = links->replicas;
    const bool *here = link_replicas_on(replicas, replicas->own);
    int error = 0;

    if (stage == BSPZ_STAGE_ARRIVED)
        note_arrival(links, superstep);
    for (uint32_t pid = 0; pid < replicas->nprocs; pid++)
        if (here[pid] && !error)
            error = put(links, pid, superstep, stage);
    mirror_collected(links->mirror, superstep, stage);
    return error;
}

/* Whether this host takes the snapshot of the superstep: until it has, others with the same
 * processes are held back behind their arrival, so that nobody can agree on what follows. */
static bool is_alone(const struct link_replicas *replicas)
{
    return replicas->stage != BSPZ_STAGE_ARRIVED &&
           mirror_captures(replicas->links->mirror, replicas->superstep);
}

/* Whether what is awaited is so. */
static bool is_sure(const struct link_replicas *replicas)
{
    const struct replica_awaited *awaited = &replicas->awaited;

    return replica_set_is_compared(replicas->set, awaited->key) &&
           (awaited->arrived || replica_set_is_sure(replicas->set));
}

/* Who waits to be sure of the images looks again. */
static void say_if_sure(struct link_replicas *replicas)
{
    if (!replicas->awaited.any || !is_sure(replicas))
        return;
    replicas->awaited.any = false;
    bspz_board_ring(mirror_board(replicas->links->mirror));
}

bool links_sure(struct links *links, uint64_t superstep, bool arrived)
{
    bool sure = true;

    links_lock(links);
    if (!links->closed && links->replicas) {
        links->replicas->awaited = (struct replica_awaited){
            .any = true, .arrived = arrived, .key = replica_key(superstep, BSPZ_STAGE_ARRIVED)};
        sure = is_sure(links->replicas);
        links->replicas->awaited.any = !sure;
    }
    links_unlock(links);
    return sure;
}

static bool waits_in_vain(const struct link_replicas *replicas, uint32_t *pid)
{
    return replica_set_is_in_vain(replicas->set,
                                  replica_key(replicas->superstep, (unsigned)replicas->stage), pid);
}

bool links_in_vain(struct links *links, uint32_t *pid)
{
    bool vain;

    links_lock(links);
    vain = !links->closed && links->replicas && waits_in_vain(links->replicas, pid);
    links_unlock(links);
    return vain;
}

bool links_owe(struct links *links)
{
    bool owe;

    links_lock(links);
    owe = !links->closed && links->replicas && replica_set_owes(links->replicas->set);
    links_unlock(links);
    return owe;
}

static void say_if_in_vain(const struct link_replicas *replicas)
{
    uint32_t pid;

    if (waits_in_vain(replicas, &pid))
        bspz_board_ring(mirror_board(replicas->links->mirror));
}

/* Opens the stage at which the ranks here wait, once their contents are agreed on. */
static void pass_if_agreed(struct link_replicas *replicas)
{
    uint64_t key = replica_key(replicas->superstep, (unsigned)replicas->stage);

    say_if_sure(replicas);
    if (!replicas->waits)
        return;
    if (is_alone(replicas)) {
        replica_set_pass_ahead(replicas->set, key);
    } else if (!replica_set_may_pass(replicas->set, key)) {
        return;
    }
    replicas->waits = false;
    mirror_open(replicas->links->mirror, replicas->superstep, replicas->stage);
}

void link_replicas_pass(struct links *links, uint64_t superstep, enum bspz_stage stage)
{
    struct link_replicas *replicas = links->replicas;

    replica_set_advance(replicas->set);
    replicas->waits = true;
    replicas->superstep = superstep;
    replicas->stage = stage;
    say_if_in_vain(replicas);
    pass_if_agreed(replicas);
}

void link_replicas_know_stop(struct links *links, uint64_t superstep, uint64_t round)
{
    struct link_replicas *replicas = links->replicas;
    struct replica_stop *stop = &replicas->stop;

    if (stop->any &&
        (superstep < stop->superstep || (superstep == stop->superstep && round <= stop->round)))
        return;
    *stop = (struct replica_stop){true, superstep, round};
    replica_set_advance(replicas->set);
    pass_if_agreed(replicas);
    links->receipts = true; /* homes may be to hear what has been taken */
}

static struct replica_head *begin_head(struct mirror_block *block, const struct replica_head *from)
{
    struct replica_head *head = (struct replica_head *)(void *)block->head;

    *head = *from;
    head->magic = REPLICA_MAGIC;
    block->head_bytes = head->head_bytes;
    return head;
}

static int make_notes(const struct link *link, const struct replica_order *order,
                      struct mirror_block *block)
{
    const struct link_replicas *replicas = link->links->replicas;
    uint64_t bytes = order->note_count * sizeof *order->notes;
    struct replica_head head = {.kind = REPLICA_HEAD_NOTES,
                                .head_bytes = sizeof head + bytes,
                                .key = (uint64_t)replicas->evens[link->home].after_ns,
                                .count = order->note_count};

    *block =
        (struct mirror_block){.head = malloc(head.head_bytes), .data = malloc(sizeof *block->data)};
    if (!block->head || !block->data)
        return -ENOMEM;
    begin_head(block, &head);
    memcpy(block->head + sizeof head, order->notes, bytes);
    return 0;
}

static int make_account(const struct replica_account *account, struct mirror_block *block)
{
    struct replica_head head = {.kind = REPLICA_HEAD_ACCOUNT,
                                .pid = account->pid,
                                .head_bytes = sizeof head + account->size,
                                .key = account->key};

    *block =
        (struct mirror_block){.head = malloc(head.head_bytes), .data = malloc(sizeof *block->data)};
    if (!block->head || !block->data)
        return -ENOMEM;
    begin_head(block, &head);
    memcpy(block->head + sizeof head, account->bytes, account->size);
    return 0;
}

static int make_content(struct link *link, struct replica_copy *copy, struct mirror_block *block)
{
    struct link_replicas *replicas = link->links->replicas;
    struct replica_copy_facts facts = replica_set_facts(replicas->set, copy);
    struct link_flight *flight = &link->flights[link->flying++];
    struct mirror_head *inner;
    uint64_t size;
    void *bytes;
    int error = -ENOMEM;

    *block = (struct mirror_block){0};
    flight->copy = copy;
    bytes = replica_set_see(replicas->set, copy, &size, &flight->read);
    if (bytes)
        error = mirror_part(bytes, link_replicas_on(replicas, link->home),
                            sizeof(struct replica_head), block);
    if (error)
        return error;
    inner = (struct mirror_head *)(void *)(block->head + sizeof(struct replica_head));
    inner->clock_ns = bspz_now_ns();
    inner->ahead_ns = replicas->clocks[link->home].ahead_ns;
    begin_head(block,
               &(struct replica_head){.kind = REPLICA_HEAD_CONTENT,
                                      .pid = facts.pid,
                                      .head_bytes = sizeof(struct replica_head) + block->head_bytes,
                                      .data_bytes = block->data_bytes,
                                      .key = facts.key,
                                      .digest = facts.digest,
                                      .count = facts.twin,
                                      .large = facts.large});
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

bool link_replicas_is_urgent(struct link *link)
{
    if (link->home == LINK_NO_HOME)
        return false;
    if (!net_frames_out_loaded(&link->out))
        land(link);
    return replica_set_is_urgent(link->links->replicas->set, link->home);
}

static bool next_for(struct link *link, struct replica_order *order)
{
    struct replica_set *set = link->links->replicas->set;

    if (replica_set_next(set, link->home, order))
        return true;
    if (order->wait.key == 0 || !link_turn_is_over(link, &order->wait))
        return false;
    replica_set_release(set, link->home);
    return replica_set_next(set, link->home, order);
}

bool link_replicas_fill(struct link *link)
{
    struct replica_order order;
    uint64_t bytes = 0;
    bool any = false;
    int error = 0;

    if (link->home == LINK_NO_HOME || net_frames_out_loaded(&link->out))
        return false;
    land(link);
    while (!error && bytes < FLYING_BYTES && link->flying < LINK_FLYING && next_for(link, &order)) {
        struct mirror_block block;

        error = order.copy            ? make_content(link, order.copy, &block)
                : order.account.bytes ? make_account(&order.account, &block)
                                      : make_notes(link, &order, &block);
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

    if (link->home == LINK_NO_HOME)
        return;
    land(link);
    replica_set_lost(replicas->set, link->home);
    say_if_in_vain(replicas);
    pass_if_agreed(replicas);
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
    if (head->kind == REPLICA_HEAD_ACCOUNT)
        return head->data_bytes == 0 && head->pid < replicas->nprocs;
    return head->kind == REPLICA_HEAD_CONTENT && head->pid < replicas->nprocs &&
           mirror_is_head(bytes + sizeof *head, size - sizeof *head, head->data_bytes);
}

int link_replicas_expect(struct link *link, unsigned char *bytes, uint64_t size,
                         struct mirror_block *block)
{
    const struct replica_head *head = (const void *)bytes;
    uint64_t inner = size - sizeof *head;

    *block = (struct mirror_block){0};
    if (link->home == LINK_NO_HOME || !makes_sense(link->links->replicas, bytes, size))
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

/* The host has the same processes. */
static void hear(const struct link *link, const struct replica_head *head)
{
    const struct replica_note *notes = (const void *)(head + 1);
    struct link_replicas *replicas = link->links->replicas;
    struct link_even *even = &replicas->evens[link->home];

    link_even_told(even, (int64_t)head->key);
    for (uint64_t i = 0; i < head->count; i++)
        if (notes[i].word == REPLICA_WORD_MADE && notes[i].key > 0 &&
            replica_stage(notes[i].key) == BSPZ_STAGE_ARRIVED)
            link_even_heard(even, &replicas->arrivals, replica_superstep(notes[i].key) + 1,
                            bspz_now_ns());
    set_even(link);
}

static int accept_notes(struct link *link, const struct replica_head *head)
{
    const struct replica_note *notes = (const void *)(head + 1);
    int error = 0;

    if (link->kin)
        hear(link, head);
    for (uint64_t i = 0; i < head->count && !error; i++)
        error = replica_set_note(link->links->replicas->set, link->home, &notes[i]);
    pass_if_agreed(link->links->replicas);
    return error;
}

static int accept_account(struct link *link, const struct replica_head *head)
{
    const struct replica_account account = {.pid = (uint32_t)head->pid,
                                            .key = head->key,
                                            .bytes = head + 1,
                                            .size = head->head_bytes - sizeof *head};

    return replica_set_compare(link->links->replicas->set, link->home, &account);
}

int link_replicas_accept(struct link *link, struct mirror_block *block)
{
    struct link_replicas *replicas = link->links->replicas;
    const struct replica_head *head = (const void *)block->head;
    void *content = block->content;
    struct replica_copy_facts facts;

    if (head->kind == REPLICA_HEAD_NOTES)
        return accept_notes(link, head);
    if (head->kind == REPLICA_HEAD_ACCOUNT)
        return accept_account(link, head);
    block->content = NULL;
    adjust_times(replicas, link->home, content);
    facts = (struct replica_copy_facts){.pid = (uint32_t)head->pid,
                                        .key = head->key,
                                        .digest = head->digest,
                                        .large = head->large == 1,
                                        .twin = head->count};
    return replica_set_take(replicas->set, link->home, &facts, content,
                            head->head_bytes - sizeof *head + head->data_bytes);
}
