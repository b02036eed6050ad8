/* mirror_content.c - what a process does at one stage, in one piece: its digest, copies of it, and
 * the way from a content to the board; see mirror.h.
 *
 * A content has the form of a block (mirror_inside.h) with its data behind the head. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/link/mirror_inside.h"
#include "ckpt/format/codec.h"

/* ---- The digest ---------------------------------------------------------------------------- */

static void add_number(struct bspz_digest *digest, uint64_t number)
{
    bspz_digest_add(digest, &number, sizeof number);
}

/* Sizes of areas stay with their owner, but decide what may be communicated with them. */
static void add_area_size(struct bspz_digest *digest, const struct mirror *mirror, int pid,
                          uint32_t slot)
{
    if (slot < BSPZ_AREAS_MAX) /* a process has written it */
        add_number(digest, bspz_areas_at(mirror->board, pid)[slot].bytes);
}

static void digest_head(const struct mirror *mirror, struct bspz_digest *digest,
                        const struct mirror_parts *parts)
{
    for (uint32_t i = 0; i < parts->head->lines; i++) {
        const struct mirror_line *line = &parts->lines[i];

        add_number(digest, line->flags & ~MIRROR_NOT_COMPARED);
        add_number(digest, line->position);
        add_number(digest, line->digest);
        add_number(digest, line->sync_number);
    }
    for (uint32_t i = 0; i < parts->head->names; i++)
        bspz_digest_add(digest, &parts->names[i], sizeof parts->names[i]);
    for (uint32_t i = 0; i < parts->head->areas; i++) {
        add_number(digest, parts->areas[i].slot);
        add_number(digest, parts->areas[i].position);
        add_area_size(digest, mirror, (int)parts->areas[i].pid, parts->areas[i].slot);
    }
}

static void digest_calls(const struct mirror *mirror, struct bspz_digest *digest, int pid,
                         const struct bspz_calls *calls)
{
    add_number(digest, calls->count);
    for (uint64_t i = 0; i < calls->count; i++) {
        const struct bspz_operation *call = &calls->operations[i];

        add_number(digest, (uint64_t)call->kind << 32 | call->slot);
        add_number(digest, (uint64_t)call->position << 32 | call->open);
        if (call->kind == BSPZ_OP_TAG_SIZE)
            add_number(digest, (uint64_t)call->value);
        if (call->kind == BSPZ_OP_PUSH)
            add_area_size(digest, mirror, pid, call->slot);
    }
}

/* Records only: how they are divided into chunks depends on the memory that there was, and the
 * totals stand in the first chunk alone. */
static void digest_chunk(struct bspz_digest *digest, const struct bspz_chunk *chunk, int kind)
{
    const unsigned char *bytes = (const unsigned char *)(chunk + 1);

    if (kind != BSPZ_REQUESTS) {
        bspz_digest_add(digest, bytes, chunk->used);
        return;
    }
    for (uint64_t at = 0; at + BSPZ_REQUEST_BYTES <= chunk->used; at += BSPZ_REQUEST_BYTES)
        bspz_digest_add(digest, bytes + at, BSPZ_REQUEST_SHARED);
}

static void digest_totals(struct bspz_digest *digest, const struct bspz_chunk *first)
{
    add_number(digest, first->count);
    add_number(digest, first->bytes);
}

static const struct bspz_chunk *chunk_at(const char *board, const struct mirror_range *range)
{
    return (const void *)(board + range->offset);
}

static int *everyone(int nprocs)
{
    int *all = malloc((size_t)nprocs * sizeof *all);

    for (int pid = 0; all && pid < nprocs; pid++)
        all[pid] = pid;
    return all;
}

static void digest_parts(const struct mirror *mirror, int pid, struct bspz_digest *digest,
                         const struct mirror_parts *parts)
{
    const struct mirror_range *range = parts->ranges;
    const char *board = (const char *)mirror->board;

    digest_head(mirror, digest, parts);
    for (uint32_t i = 0; i < parts->head->lines; i++)
        if (parts->lines[i].flags & BSPZ_HAS_SEQUENCE)
            digest_calls(mirror, digest, pid, (const void *)(board + range++->offset));
    for (uint32_t i = 0; i < parts->head->entries; i++) {
        const struct mirror_entry *entry = &parts->entries[i];

        add_number(digest, entry->to);
        for (int kind = 0; kind < BSPZ_KINDS; kind++) {
            uint64_t used = 0;
            for (uint32_t k = 0; k < entry->chunks[kind]; k++)
                used += chunk_at(board, range + k)->used;
            add_number(digest, used);
            if (entry->chunks[kind] > 0)
                digest_totals(digest, chunk_at(board, range));
            for (uint32_t k = 0; k < entry->chunks[kind]; k++)
                digest_chunk(digest, chunk_at(board, range++), kind);
        }
    }
}

/* In one piece; NULL: no memory. */
static void *gather(const struct mirror_block *block)
{
    unsigned char *bytes = malloc(block->head_bytes + block->data_bytes), *at = bytes;

    if (!bytes)
        return NULL;
    memcpy(at, block->head, block->head_bytes);
    at += block->head_bytes;
    for (uint64_t i = 0; i < block->count; i++) {
        memcpy(at, block->data[i].iov_base, block->data[i].iov_len);
        at += block->data[i].iov_len;
    }
    return bytes;
}

static uint64_t area_size(const struct mirror *mirror, int pid, uint32_t slot)
{
    return slot < BSPZ_AREAS_MAX ? bspz_areas_at(mirror->board, pid)[slot].bytes : 0;
}

/* Sizes, which are compared, in the place of addresses, which are not. */
static void put_sizes(const struct mirror *mirror, int pid, const struct mirror_parts *parts,
                      unsigned char *data)
{
    for (uint32_t i = 0; i < parts->head->areas; i++)
        parts->areas[i].base = area_size(mirror, pid, parts->areas[i].slot);
    for (uint32_t i = 0, range = 0; i < parts->head->lines; i++) {
        struct bspz_calls *calls = (void *)data;

        if (!(parts->lines[i].flags & BSPZ_HAS_SEQUENCE))
            continue;
        for (uint64_t k = 0; k < calls->count; k++) {
            struct bspz_operation *call = &calls->operations[k];

            if (call->kind != BSPZ_OP_TAG_SIZE)
                call->value =
                    call->kind == BSPZ_OP_PUSH ? (int64_t)area_size(mirror, pid, call->slot) : 0;
        }
        data += parts->ranges[range++].bytes;
    }
}

static void keep_made(const struct mirror *mirror, int pid, const struct mirror_block *block,
                      struct mirror_made *made)
{
    struct mirror_parts parts;

    made->size = block->head_bytes + block->data_bytes;
    made->bytes = made->size <= made->most ? gather(block) : NULL;
    if (made->bytes && mirror_take_apart(made->bytes, block->head_bytes, &parts))
        put_sizes(mirror, pid, &parts, (unsigned char *)made->bytes + block->head_bytes);
}

int mirror_digest(struct mirror *mirror, int pid, uint64_t superstep, enum bspz_stage stage,
                  uint64_t value[2], struct mirror_made *made)
{
    struct mirror_making making = {.mirror = mirror,
                                   .from = &pid,
                                   .from_count = 1,
                                   .to_count = mirror->nprocs,
                                   .superstep = superstep,
                                   .stage = stage};
    int *all = everyone(mirror->nprocs);
    struct bspz_digest digest;
    struct mirror_block block;
    struct mirror_parts parts;
    int error;

    making.to = all;
    error = all ? mirror_make(&making, &block) : -ENOMEM;
    free(all);
    if (error)
        return error;
    mirror_take_apart(block.head, block.head_bytes, &parts);
    bspz_digest_start(&digest, (uint64_t)stage);
    digest_parts(mirror, pid, &digest, &parts);
    bspz_digest_get(&digest, value);
    if (made)
        keep_made(mirror, pid, &block, made);
    mirror_block_free(&block);
    return 0;
}

/* ---- Copies and their parts ----------------------------------------------------------------- */

int mirror_copy(struct mirror *mirror, int pid, uint64_t superstep, enum bspz_stage stage,
                const int *to, int count, void **bytes, uint64_t *size)
{
    struct mirror_making making = {.mirror = mirror,
                                   .from = &pid,
                                   .from_count = 1,
                                   .to = to,
                                   .to_count = count,
                                   .superstep = superstep,
                                   .stage = stage};
    struct mirror_block block;
    int error = mirror_make(&making, &block);

    if (error)
        return error;
    *size = block.head_bytes + block.data_bytes;
    *bytes = gather(&block);
    mirror_block_free(&block);
    return *bytes ? 0 : -ENOMEM;
}

static uint64_t ranges_of(const struct mirror_entry *entry)
{
    uint64_t count = 0;

    for (int kind = 0; kind < BSPZ_KINDS; kind++)
        count += entry->chunks[kind];
    return count;
}

/* Walks the ranges of a content and their data. */
struct walk {
    const struct mirror_range *range;
    const unsigned char *data;
};

/* The part that is being made. */
struct part {
    struct mirror_entry *entries;
    struct mirror_range *ranges;
    struct iovec *data;
    uint64_t entry_count, range_count, piece_count, bytes;
};

static void pass_ranges(struct walk *walk, uint64_t count, struct part *part)
{
    for (; count > 0; count--) {
        struct iovec *last =
            part && part->piece_count > 0 ? &part->data[part->piece_count - 1] : NULL;

        if (part) {
            part->ranges[part->range_count++] = *walk->range;
            part->bytes += walk->range->bytes;
            if (last && (unsigned char *)last->iov_base + last->iov_len == walk->data)
                last->iov_len += walk->range->bytes;
            else
                part->data[part->piece_count++] =
                    (struct iovec){(void *)walk->data, walk->range->bytes};
        }
        walk->data += walk->range->bytes;
        walk->range++;
    }
}

static uint64_t count_calls(const struct mirror_parts *parts)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < parts->head->lines; i++)
        count += (parts->lines[i].flags & BSPZ_HAS_SEQUENCE) != 0;
    return count;
}

int mirror_part(const void *bytes, const bool *to, uint64_t before, struct mirror_block *block)
{
    const struct mirror_head *head = bytes;
    struct mirror_parts parts;
    struct part part = {0};
    uint64_t fixed, at;
    struct mirror_head *made;
    struct walk walk;

    mirror_take_apart(bytes, head->head_bytes, &parts);
    walk = (struct walk){parts.ranges, (const unsigned char *)bytes + head->head_bytes};
    fixed = (uint64_t)((const char *)parts.entries - (const char *)bytes);
    *block = (struct mirror_block){.head = calloc(1, before + head->head_bytes),
                                   .data = malloc((head->ranges + 1) * sizeof *block->data)};
    part.entries = malloc((head->entries + 1) * sizeof *part.entries);
    part.ranges = malloc((head->ranges + 1) * sizeof *part.ranges);
    part.data = block->data;
    if (!block->head || !block->data || !part.entries || !part.ranges) {
        free(part.entries);
        free(part.ranges);
        mirror_block_free(block);
        return -ENOMEM;
    }
    pass_ranges(&walk, count_calls(&parts), &part);
    for (uint32_t i = 0; i < head->entries; i++) {
        bool wanted = to[parts.entries[i].to];

        if (wanted)
            part.entries[part.entry_count++] = parts.entries[i];
        pass_ranges(&walk, ranges_of(&parts.entries[i]), wanted ? &part : NULL);
    }
    made = (struct mirror_head *)(void *)(block->head + before);
    memcpy(made, bytes, fixed);
    at = before + fixed;
    memcpy(block->head + at, part.entries, part.entry_count * sizeof *part.entries);
    at += part.entry_count * sizeof *part.entries;
    memcpy(block->head + at, part.ranges, part.range_count * sizeof *part.ranges);
    at += part.range_count * sizeof *part.ranges;
    made->entries = (uint32_t)part.entry_count;
    made->ranges = part.range_count;
    made->head_bytes = block->head_bytes = at - before;
    made->data_bytes = block->data_bytes = part.bytes;
    block->count = part.piece_count;
    free(part.entries);
    free(part.ranges);
    return 0;
}

/* ---- Contents that have come ---------------------------------------------------------------- */

/* How many the lines and entries say there are. */
static uint64_t claimed_ranges(const struct mirror_parts *parts)
{
    uint64_t count = count_calls(parts);

    for (uint32_t i = 0; i < parts->head->entries; i++)
        count += ranges_of(&parts->entries[i]);
    return count;
}

bool mirror_is_head(const void *bytes, uint64_t head_bytes, uint64_t data_bytes)
{
    struct mirror_parts parts;
    uint64_t sum = 0;

    if (head_bytes < sizeof *parts.head || !mirror_take_apart(bytes, head_bytes, &parts) ||
        parts.head->data_bytes != data_bytes)
        return false;
    for (uint64_t i = 0; i < parts.head->ranges; i++) {
        if (parts.ranges[i].bytes > data_bytes - sum)
            return false;
        sum += parts.ranges[i].bytes;
    }
    return sum == data_bytes && claimed_ranges(&parts) == parts.head->ranges;
}

bool mirror_ready(const struct mirror *mirror, int pid, uint64_t superstep, enum bspz_stage stage)
{
    const struct mirror_peer *own = &mirror->own, *peer = mirror->source_of[pid];

    /* At a stage behind the arrival other ranks are waited for that have arrived themselves. */
    if (stage != BSPZ_STAGE_ARRIVED)
        return own->next > superstep;
    if (superstep == mirror->first || own->next > superstep)
        return true;
    /* Ranks that are still at an earlier stage read what the arrival changes. */
    return own->next == superstep && (own->matched || !peer->matched) &&
           (own->replied || !peer->replied);
}

bool mirror_is_past(const struct mirror *mirror, uint64_t superstep)
{
    return mirror->own.next > superstep + 1;
}

bool mirror_is_at_call(const struct mirror *mirror, int pid, uint64_t superstep)
{
    return bspz_rank_of(mirror->board, pid)->line[superstep & 1].flags & BSPZ_HAS_CALL;
}

void mirror_open(struct mirror *mirror, uint64_t superstep, enum bspz_stage stage)
{
    bspz_barrier_open(mirror->board, mirror->nprocs, superstep, stage);
}

static void spread(const struct mirror_block *block, const unsigned char *data)
{
    for (uint64_t i = 0; i < block->count; i++) {
        memcpy(block->data[i].iov_base, data, block->data[i].iov_len);
        data += block->data[i].iov_len;
    }
}

int mirror_apply(struct mirror *mirror, int pid, void *bytes, uint64_t size)
{
    const struct mirror_head *head = bytes;
    struct mirror_block block;
    int error;

    if (size < sizeof *head || head->head_bytes > size ||
        head->data_bytes != size - head->head_bytes)
        return -EPROTO;
    error = mirror_expect(mirror, (uint32_t)pid, bytes, head->head_bytes, &block);
    if (error)
        return error;
    spread(&block, (const unsigned char *)bytes + head->head_bytes);
    error = mirror_accept(mirror, (uint32_t)pid, &block);
    block.head = NULL; /* the caller's */
    mirror_block_free(&block);
    return error;
}

void mirror_shift(void *bytes, int64_t offset_ns)
{
    struct mirror_head *head = bytes;
    struct mirror_parts parts;

    if (!mirror_take_apart(bytes, head->head_bytes, &parts))
        return;
    for (uint32_t i = 0; i < head->lines; i++) {
        struct bspz_trace *trace = &parts.lines[i].trace;

        trace->began_ns += (uint64_t)offset_ns;
        trace->entered_ns += (uint64_t)offset_ns;
        trace->left_ns += (uint64_t)offset_ns;
    }
}
