/* mirror_make.c - makes blocks of what the ranks of this host have published; see mirror.h. */
#include <errno.h>
#include <string.h>

#include "bsprun/link/mirror_inside.h"

/* All hosts get the same names, though ranks may add more at any time. */
static void note_names(struct mirror *mirror, uint64_t superstep)
{
    if (mirror->names_noted == superstep + 1)
        return;
    mirror->names_noted = superstep + 1;
    for (int i = 0; i < mirror->own.count; i++) {
        int pid = mirror->own.pids[i];
        uint32_t count = atomic_load(&bspz_rank_of(mirror->board, pid)->file_count);

        mirror->names[pid].now = count < BSPZ_NAME_COUNT ? count : BSPZ_NAME_COUNT;
    }
}

static void *add(struct mirror_pile *pile, uint64_t bytes)
{
    pile->failed = pile->failed || !bspz_buffer_reserve(&pile->bytes, bytes);
    if (pile->failed)
        return NULL;
    pile->bytes.size += bytes;
    return memset(pile->bytes.data + pile->bytes.size - bytes, 0, bytes);
}

static void add_range(struct mirror_making *making, uint64_t offset, uint64_t bytes)
{
    struct mirror_range *range = add(&making->ranges, sizeof *range);
    char *at = (char *)making->mirror->board + offset;
    struct iovec *piece;

    if (!range)
        return;
    *range = (struct mirror_range){offset, bytes};
    making->data_bytes += bytes;
    piece = making->data.bytes.size > 0
                ? (struct iovec *)(making->data.bytes.data + making->data.bytes.size) - 1
                : NULL;
    if (piece && (char *)piece->iov_base + piece->iov_len == at) {
        piece->iov_len += bytes;
        return;
    }
    piece = add(&making->data, sizeof *piece);
    if (piece)
        *piece = (struct iovec){at, bytes};
}

static const struct bspz_line *line_of(const struct mirror_making *making, int pid)
{
    return &bspz_rank_of(making->mirror->board, pid)->line[making->superstep & 1];
}

static uint32_t add_lines(struct mirror_making *making)
{
    for (int i = 0; i < making->from_count; i++) {
        const struct bspz_line *from = line_of(making, making->from[i]);
        struct mirror_line *line = add(&making->head, sizeof *line);

        if (!line)
            continue;
        line->flags = from->flags;
        line->position = from->position;
        line->digest = from->digest;
        line->decision = from->decision;
        line->sync_number = from->sync_number;
        line->warning = from->warning;
        line->sequence = from->sequence;
        memcpy(&line->trace, &from->trace, sizeof line->trace);
    }
    return (uint32_t)making->from_count;
}

static uint32_t add_names(struct mirror_making *making)
{
    const struct mirror *mirror = making->mirror;
    uint32_t count = 0;

    for (int i = 0; i < making->from_count; i++) {
        int pid = making->from[i];

        for (uint32_t index = mirror->names[pid].sent; index < mirror->names[pid].now; index++) {
            struct mirror_name *name = add(&making->head, sizeof *name);

            if (!name)
                continue;
            name->pid = (uint32_t)pid;
            name->index = index;
            memcpy(name->text, bspz_name_of(mirror->board, mirror->nprocs, pid, index),
                   BSPZ_NAME_BYTES);
            name->text[BSPZ_NAME_BYTES - 1] = '\0';
            count++;
        }
    }
    return count;
}

/* Sorted by process, like `from`. */
static uint32_t add_areas(struct mirror_making *making)
{
    const struct mirror *mirror = making->mirror;
    uint32_t count = 0;
    int i = 0;

    for (uint32_t k = 0; k < mirror->area_count; k++) {
        const struct mirror_area *area = &mirror->areas[k];
        struct mirror_area *added;

        while (i < making->from_count && making->from[i] < (int)area->pid)
            i++;
        if (i == making->from_count || making->from[i] != (int)area->pid)
            continue;
        added = add(&making->head, sizeof *added);
        if (added)
            *added = *area;
        count++;
    }
    return count;
}

static void add_calls(struct mirror_making *making)
{
    for (int i = 0; i < making->from_count; i++) {
        const struct bspz_line *line = line_of(making, making->from[i]);
        const struct bspz_calls *calls =
            (const void *)((const char *)making->mirror->board + line->sequence);

        if (line->flags & BSPZ_HAS_SEQUENCE)
            add_range(making, line->sequence,
                      sizeof *calls + calls->count * sizeof *calls->operations);
    }
}

static void add_chain(struct mirror_making *making, struct mirror_entry *entry, enum bspz_kind kind)
{
    uint64_t offset = entry->first[kind];

    while (offset) {
        const struct bspz_chunk *chunk =
            (const void *)((const char *)making->mirror->board + offset);

        add_range(making, offset, sizeof *chunk + chunk->used);
        entry->chunks[kind]++;
        offset = chunk->next;
    }
}

static bool belongs(enum bspz_stage stage, int kind)
{
    return (kind == BSPZ_REPLIES) == (stage == BSPZ_STAGE_REPLIED);
}

/* False: this stage has no data for that rank. */
static bool read_entry(const struct mirror_making *making, int from, int to,
                       struct mirror_entry *entry)
{
    const struct bspz_entry *at =
        bspz_entry_at(making->mirror->board, making->mirror->nprocs, from, to, making->superstep);
    uint64_t any = 0;

    if (atomic_load_explicit(&at->stamp, memory_order_acquire) != making->superstep + 1)
        return false;
    *entry = (struct mirror_entry){.from = (uint32_t)from, .to = (uint32_t)to};
    for (int kind = 0; kind < BSPZ_KINDS; kind++) {
        entry->first[kind] = belongs(making->stage, kind) ? at->first[kind] : 0;
        any |= entry->first[kind];
    }
    return any != 0;
}

static uint32_t add_entries(struct mirror_making *making)
{
    const uint32_t data = BSPZ_HAS_PUT | BSPZ_HAS_GET | BSPZ_HAS_MESSAGE;
    uint32_t count = 0;

    for (int i = 0; i < making->from_count; i++) {
        if (making->stage == BSPZ_STAGE_ARRIVED &&
            !(line_of(making, making->from[i])->flags & data))
            continue;
        for (int k = 0; k < making->to_count; k++) {
            struct mirror_entry entry, *added;

            if (!read_entry(making, making->from[i], making->to[k], &entry))
                continue;
            for (int kind = 0; kind < BSPZ_KINDS; kind++)
                add_chain(making, &entry, (enum bspz_kind)kind);
            added = add(&making->head, sizeof entry);
            if (added)
                *added = entry;
            count++;
        }
    }
    return count;
}

int mirror_make(struct mirror_making *making, struct mirror_block *block)
{
    struct mirror_head head = {.magic = MIRROR_MAGIC,
                               .stage = (uint32_t)making->stage,
                               .superstep = making->superstep};
    unsigned char *ranges;

    *block = (struct mirror_block){0};
    add(&making->head, sizeof head);
    if (making->stage == BSPZ_STAGE_ARRIVED) {
        note_names(making->mirror, making->superstep);
        head.lines = add_lines(making);
        head.names = add_names(making);
        head.areas = add_areas(making);
        add_calls(making);
    }
    if (making->stage != BSPZ_STAGE_MATCHED)
        head.entries = add_entries(making);
    ranges = add(&making->head, making->ranges.bytes.size);
    if (making->head.failed || making->ranges.failed || making->data.failed) {
        bspz_buffer_free(&making->head.bytes);
        bspz_buffer_free(&making->ranges.bytes);
        bspz_buffer_free(&making->data.bytes);
        return -ENOMEM;
    }
    if (making->ranges.bytes.size > 0)
        memcpy(ranges, making->ranges.bytes.data, making->ranges.bytes.size);
    head.ranges = making->ranges.bytes.size / sizeof(struct mirror_range);
    head.head_bytes = making->head.bytes.size;
    head.data_bytes = making->data_bytes;
    memcpy(making->head.bytes.data, &head, sizeof head);
    bspz_buffer_free(&making->ranges.bytes);
    *block = (struct mirror_block){.head = making->head.bytes.data,
                                   .head_bytes = head.head_bytes,
                                   .data_bytes = head.data_bytes,
                                   .data = (struct iovec *)(void *)making->data.bytes.data,
                                   .count = making->data.bytes.size / sizeof(struct iovec)};
    return 0;
}
