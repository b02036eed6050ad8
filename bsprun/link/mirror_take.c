/* mirror_take.c - takes blocks from other hosts; see mirror.h.
 *
 * mirror_expect validates the head before anything is written; the links of the chains are part of
 * the data, and are validated when those have arrived.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/link/mirror_inside.h"
#include "lib/base/clock.h"

/* ---- The parts of a head ------------------------------------------------------------------- */

bool mirror_take_apart(const void *bytes, uint64_t size, struct mirror_parts *parts)
{
    struct mirror_head *head = (struct mirror_head *)bytes;
    uint64_t left = size - sizeof *head;
    unsigned char *at = (unsigned char *)bytes + sizeof *head;

    if (size < sizeof *head || head->magic != MIRROR_MAGIC || head->head_bytes != size)
        return false;
    parts->head = head;
#define PART(member, many)                                                                         \
    do {                                                                                           \
        if ((many) > left / sizeof *parts->member)                                                 \
            return false;                                                                          \
        parts->member = (void *)at;                                                                \
        at += (many) * sizeof *parts->member;                                                      \
        left -= (many) * sizeof *parts->member;                                                    \
    } while (0)
    PART(lines, head->lines);
    PART(names, head->names);
    PART(areas, head->areas);
    PART(entries, head->entries);
    PART(ranges, head->ranges);
#undef PART
    return left == 0;
}

static bool is_of(const struct mirror *mirror, const struct mirror_peer *peer, uint32_t pid)
{
    return pid < (uint32_t)mirror->nprocs && mirror->source_of[pid] == peer;
}

/* ---- Checks before the data ---------------------------------------------------------------- */

/* Whether the peer may send this stage now.  ARRIVED of a superstep is valid only when all ranks
 * here have arrived at the previous barrier: the sender has passed that, and the data to be
 * overwritten are no longer read. */
static bool in_order(const struct mirror *mirror, const struct mirror_peer *peer,
                     const struct mirror_head *head)
{
    const struct mirror_peer *own = &mirror->own;
    bool first = peer->next == mirror->first;

    switch (head->stage) {
    case BSPZ_STAGE_ARRIVED:
        return head->superstep == peer->next &&
               (first || bspz_barrier_reached(mirror->board, own->pids, own->count,
                                              head->superstep - 1, BSPZ_STAGE_ARRIVED));
    case BSPZ_STAGE_MATCHED:
        return !first && head->superstep + 1 == peer->next && !peer->matched && !peer->replied;
    case BSPZ_STAGE_REPLIED:
        return !first && head->superstep + 1 == peer->next && !peer->replied;
    default:
        return false;
    }
}

static bool check_counts(const struct mirror *mirror, const struct mirror_peer *peer,
                         const struct mirror_parts *parts)
{
    const struct mirror_head *head = parts->head;

    switch (head->stage) {
    case BSPZ_STAGE_ARRIVED:
        return head->lines == (uint32_t)peer->count &&
               (head->areas == 0 || head->superstep == mirror->first);
    case BSPZ_STAGE_REPLIED:
        return head->lines == 0 && head->names == 0 && head->areas == 0;
    default:
        return head->lines == 0 && head->names == 0 && head->areas == 0 && head->entries == 0 &&
               head->ranges == 0 && head->data_bytes == 0;
    }
}

static bool check_names(const struct mirror *mirror, const struct mirror_peer *peer,
                        const struct mirror_parts *parts)
{
    for (uint32_t i = 0; i < parts->head->names; i++) {
        const struct mirror_name *name = &parts->names[i];

        if (!is_of(mirror, peer, name->pid) || name->index >= BSPZ_NAME_COUNT ||
            !memchr(name->text, '\0', sizeof name->text))
            return false;
    }
    for (uint32_t i = 0; i < parts->head->areas; i++)
        if (!is_of(mirror, peer, parts->areas[i].pid) || parts->areas[i].slot >= BSPZ_AREAS_MAX)
            return false;
    return true;
}

/* Walks the ranges of a block in order. */
struct walk {
    const struct mirror *mirror;
    const struct mirror_parts *parts;
    uint64_t next, bytes;
};

static const struct mirror_range *next_range(struct walk *walk, int pid, uint64_t least)
{
    const struct mirror_head *head = walk->parts->head;
    const struct mirror_range *range = &walk->parts->ranges[walk->next];

    if (walk->next >= head->ranges || range->offset % 8 != 0 || range->bytes < least ||
        !mirror_in_half(walk->mirror, pid, head->superstep, range))
        return NULL;
    walk->next++;
    walk->bytes += range->bytes;
    return range;
}

static bool check_calls(struct walk *walk, const struct mirror_peer *peer)
{
    for (uint32_t i = 0; i < walk->parts->head->lines; i++) {
        const struct mirror_line *line = &walk->parts->lines[i];
        const struct mirror_range *range;

        if (!(line->flags & BSPZ_HAS_SEQUENCE))
            continue;
        range = next_range(walk, peer->pids[i], sizeof(struct bspz_calls));
        if (!range || range->offset != line->sequence)
            return false;
    }
    return true;
}

static bool check_entry(struct walk *walk, const struct mirror_peer *peer,
                        const struct mirror_entry *entry)
{
    const struct mirror *mirror = walk->mirror;
    bool replies = walk->parts->head->stage == BSPZ_STAGE_REPLIED;

    if (!is_of(mirror, peer, entry->from) || !is_of(mirror, &mirror->own, entry->to))
        return false;
    for (int kind = 0; kind < BSPZ_KINDS; kind++) {
        if ((entry->first[kind] == 0) != (entry->chunks[kind] == 0) ||
            (entry->chunks[kind] > 0 && (kind == BSPZ_REPLIES) != replies))
            return false;
        for (uint32_t i = 0; i < entry->chunks[kind]; i++) {
            const struct mirror_range *range =
                next_range(walk, (int)entry->from, sizeof(struct bspz_chunk));

            if (!range || (i == 0 && range->offset != entry->first[kind]))
                return false;
        }
    }
    return true;
}

static bool check_ranges(const struct mirror *mirror, const struct mirror_peer *peer,
                         const struct mirror_parts *parts)
{
    struct walk walk = {.mirror = mirror, .parts = parts};

    if (!check_calls(&walk, peer))
        return false;
    for (uint32_t i = 0; i < parts->head->entries; i++)
        if (!check_entry(&walk, peer, &parts->entries[i]))
            return false;
    return walk.next == parts->head->ranges && walk.bytes == parts->head->data_bytes;
}

/* ---- Memory -------------------------------------------------------------------------------- */

static int make_room(struct mirror *mirror, const struct mirror_peer *peer,
                     const struct mirror_parts *parts, struct mirror_block *block)
{
    block->data = malloc((parts->head->ranges + 1) * sizeof *block->data);
    if (!block->data)
        return -ENOMEM;
    for (uint32_t i = 0; i < parts->head->lines; i++)
        mirror_calm(mirror, peer->pids[i], parts->head->superstep);
    for (uint64_t i = 0; i < parts->head->ranges; i++) {
        const struct mirror_range *range = &parts->ranges[i];
        struct iovec *last = block->count > 0 ? &block->data[block->count - 1] : NULL;
        char *at = (char *)mirror->board + range->offset;
        int error = mirror_back_range(mirror, range);

        if (error)
            return error;
        if (last && (char *)last->iov_base + last->iov_len == at)
            last->iov_len += range->bytes;
        else
            block->data[block->count++] = (struct iovec){at, range->bytes};
    }
    return 0;
}

/* A block takes some time, so the least clock difference is the most accurate; the mean over both
 * directions nearly cancels the delay. */
static void compare_clocks(struct mirror_peer *peer, const struct mirror_head *head)
{
    int64_t ahead = (int64_t)(bspz_now_ns() - head->clock_ns);

    if (ahead < atomic_load(&peer->ahead_ns))
        atomic_store(&peer->ahead_ns, ahead);
    ahead = atomic_load(&peer->ahead_ns);
    peer->offset_ns = head->ahead_ns == MIRROR_NO_CLOCK
                          ? ahead
                          : (int64_t)((uint64_t)ahead - (uint64_t)head->ahead_ns) / 2;
}

int mirror_expect(struct mirror *mirror, uint32_t host, unsigned char *head, uint64_t bytes,
                  struct mirror_block *block)
{
    struct mirror_peer *peer = mirror_peer_of(mirror, host);
    struct mirror_parts parts;
    int error;

    *block = (struct mirror_block){0};
    if (!peer || bytes < sizeof(struct mirror_head) || !mirror_take_apart(head, bytes, &parts) ||
        !in_order(mirror, peer, parts.head) || !check_counts(mirror, peer, &parts) ||
        !check_names(mirror, peer, &parts) || !check_ranges(mirror, peer, &parts))
        return -EPROTO;
    if (!mirror->apart)
        compare_clocks(peer, parts.head);
    error = make_room(mirror, peer, &parts, block);
    if (error) {
        mirror_block_free(block);
        return error;
    }
    block->head = head;
    block->head_bytes = bytes;
    block->data_bytes = parts.head->data_bytes;
    return 0;
}

/* ---- The data are there -------------------------------------------------------------------- */

static const void *at_range(const struct mirror *mirror, const struct mirror_range *range)
{
    return (const char *)mirror->board + range->offset;
}

/* Each chunk must link to the next range, and the last to none. */
static bool check_chains(const struct mirror *mirror, const struct mirror_parts *parts,
                         uint64_t next)
{
    for (uint32_t i = 0; i < parts->head->entries; i++) {
        for (int kind = 0; kind < BSPZ_KINDS; kind++) {
            for (uint32_t left = parts->entries[i].chunks[kind]; left > 0; left--, next++) {
                const struct mirror_range *range = &parts->ranges[next];
                const struct bspz_chunk *chunk = at_range(mirror, range);

                if (chunk->used != range->bytes - sizeof *chunk ||
                    chunk->next != (left > 1 ? range[1].offset : 0))
                    return false;
            }
        }
    }
    return true;
}

static bool check_operations(const struct bspz_calls *calls, uint64_t bytes)
{
    const uint64_t room = (bytes - sizeof *calls) / sizeof *calls->operations;

    if (calls->count != room || bytes != sizeof *calls + room * sizeof *calls->operations)
        return false;
    for (uint64_t i = 0; i < calls->count; i++) {
        const struct bspz_operation *call = &calls->operations[i];

        if (call->kind > BSPZ_OP_TAG_SIZE ||
            (call->slot >= BSPZ_AREAS_MAX &&
             !(call->kind == BSPZ_OP_POP && call->slot == BSPZ_SLOT_WILDCARD)))
            return false;
    }
    return true;
}

static int show_area(struct mirror *mirror, int pid, uint32_t slot, uint64_t base,
                     bspz_position position)
{
    int error = mirror_back_area(mirror, pid, slot);

    if (error)
        return error;
    bspz_areas_at(mirror->board, pid)[slot].base = base;
    bspz_areas_at(mirror->board, pid)[slot].position = position;
    return 0;
}

/* Updates the areas of a rank by its registration calls, for comparison. */
static int show_calls(struct mirror *mirror, const struct mirror_peer *peer,
                      const struct mirror_parts *parts, uint64_t *next)
{
    for (uint32_t i = 0; i < parts->head->lines; i++) {
        const struct mirror_range *range = &parts->ranges[*next];
        const struct bspz_calls *calls;

        if (!(parts->lines[i].flags & BSPZ_HAS_SEQUENCE))
            continue;
        calls = at_range(mirror, range);
        if (!check_operations(calls, range->bytes))
            return -EPROTO;
        for (uint64_t k = 0; k < calls->count; k++) {
            const struct bspz_operation *call = &calls->operations[k];
            int error = 0;

            if (call->kind == BSPZ_OP_PUSH)
                error = show_area(mirror, peer->pids[i], call->slot, (uint64_t)call->value,
                                  call->position);
            if (error)
                return error;
        }
        ++*next;
    }
    return 0;
}

static int show_names(struct mirror *mirror, const struct mirror_parts *parts)
{
    uint32_t nprocs = (uint32_t)mirror->nprocs;
    int error = 0;

    for (uint32_t i = 0; i < parts->head->names && !error; i++) {
        const struct mirror_name *name = &parts->names[i];
        struct bspz_rank *rank = bspz_rank_of(mirror->board, (int)name->pid);
        char *at = bspz_name_of(mirror->board, (int)nprocs, (int)name->pid, name->index);

        error = mirror_back(mirror, (uint64_t)(at - (char *)mirror->board), BSPZ_NAME_BYTES);
        if (error)
            return error;
        memcpy(at, name->text, sizeof name->text);
        if (name->index + 1 > atomic_load(&rank->file_count))
            atomic_store(&rank->file_count, name->index + 1);
    }
    for (uint32_t i = 0; i < parts->head->areas && !error; i++)
        error = show_area(mirror, (int)parts->areas[i].pid, parts->areas[i].slot,
                          parts->areas[i].base, parts->areas[i].position);
    return error;
}

static void show_entries(struct mirror *mirror, const struct mirror_parts *parts)
{
    uint64_t superstep = parts->head->superstep;

    for (uint32_t i = 0; i < parts->head->entries; i++) {
        const struct mirror_entry *from = &parts->entries[i];
        struct bspz_entry *to =
            bspz_entry_at(mirror->board, mirror->nprocs, (int)from->from, (int)from->to, superstep);

        if (parts->head->stage == BSPZ_STAGE_REPLIED) {
            /* Its requests may be read now, so they are not changed. */
            if (atomic_load_explicit(&to->stamp, memory_order_relaxed) != superstep + 1)
                memset(to->first, 0, sizeof to->first);
            to->first[BSPZ_REPLIES] = from->first[BSPZ_REPLIES];
        } else {
            memcpy(to->first, from->first, sizeof to->first);
        }
        atomic_store_explicit(&to->stamp, superstep + 1, memory_order_release);
    }
}

static void show_trace(const struct mirror_peer *peer, const struct bspz_trace *from,
                       struct bspz_trace *to)
{
    uint64_t offset = (uint64_t)peer->offset_ns;

    if (atomic_load(&from->stamp) == 0)
        return;
    to->began_ns = from->began_ns + offset;
    to->entered_ns = from->entered_ns + offset;
    to->left_ns = from->left_ns + offset;
    to->calls_out = from->calls_out;
    to->calls_in = from->calls_in;
    to->bytes_out = from->bytes_out;
    to->bytes_in = from->bytes_in;
    atomic_store(&to->stamp, atomic_load(&from->stamp));
}

/* All of a line but its stamps. */
static void show_lines(struct mirror *mirror, const struct mirror_peer *peer,
                       const struct mirror_parts *parts)
{
    for (uint32_t i = 0; i < parts->head->lines; i++) {
        const struct mirror_line *from = &parts->lines[i];
        struct bspz_line *to =
            &bspz_rank_of(mirror->board, peer->pids[i])->line[parts->head->superstep & 1];

        to->flags = from->flags;
        to->position = from->position;
        to->digest = from->digest;
        to->decision = from->decision;
        to->sync_number = from->sync_number;
        to->warning = from->warning;
        to->sequence = from->sequence;
        show_trace(peer, &from->trace, &to->trace);
    }
}

int mirror_accept(struct mirror *mirror, uint32_t host, const struct mirror_block *block)
{
    struct mirror_peer *peer = mirror_peer_of(mirror, host);
    struct mirror_parts parts;
    uint64_t next = 0;
    int error;

    if (!peer || !mirror_take_apart(block->head, block->head_bytes, &parts))
        return -EPROTO;
    /* Areas made before the blocks began come first: a call of this superstep may use their slots.
     */
    error = show_names(mirror, &parts);
    if (!error)
        error = show_calls(mirror, peer, &parts, &next);
    if (!error && !check_chains(mirror, &parts, next))
        error = -EPROTO;
    if (error)
        return error;
    show_entries(mirror, &parts);
    show_lines(mirror, peer, &parts);
    peer->matched |= parts.head->stage == BSPZ_STAGE_MATCHED;
    peer->replied |= parts.head->stage == BSPZ_STAGE_REPLIED;
    if (parts.head->stage == BSPZ_STAGE_ARRIVED) {
        peer->next = parts.head->superstep + 1;
        peer->matched = peer->replied = false;
        mirror_note_arrival(mirror);
    }
    bspz_barrier_mirror(mirror->board, mirror->nprocs, peer->pids, peer->count,
                        parts.head->superstep, (enum bspz_stage)parts.head->stage);
    return 0;
}
