/* boards.c - see boards.h. */
#include "tests/unit/boards.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "boards: %s\n", what);
    abort();
}

void board_make(struct board_host *at, int host, int nprocs, const int *host_of,
                uint64_t half_bytes)
{
    struct bspz_board *page;

    memset(at, 0, sizeof *at);
    at->nprocs = nprocs;
    at->fd = bspz_board_create("boards", 0, 1, BSPZ_BOARD_HOSTS, &page);
    must(at->fd >= 0, "no board");
    at->board = bspz_board_map_rank(at->fd, nprocs, half_bytes, false, false);
    must(at->board && mprotect(at->board, at->board->layout.total, PROT_READ | PROT_WRITE) == 0,
         "no memory for a board");
    munmap(page, BSPZ_BOARD_BYTES);
    at->board->host = host;
    at->board->first_here = -1;
    atomic_store(&at->board->nprocs, nprocs);
    for (int pid = 0; pid < nprocs; pid++) {
        atomic_store(&bspz_rank_of(at->board, pid)->host, (uint32_t)host_of[pid]);
        if (host_of[pid] == host && at->board->first_here < 0)
            at->board->first_here = pid;
        at->board->here += host_of[pid] == host;
        board_empty(at, pid, 0);
        board_empty(at, pid, 1);
    }
}

void board_free(struct board_host *at)
{
    munmap(at->board, at->board->layout.total);
    close(at->fd);
    free(at->kept);
}

void board_empty(struct board_host *at, int pid, uint64_t superstep)
{
    at->top[pid][superstep & 1] = 512;
    for (int to = 0; to < at->nprocs; to++)
        memset(bspz_entry_at(at->board, at->nprocs, pid, to, superstep)->first, 0,
               sizeof((struct bspz_entry *)NULL)->first);
}

void *board_take(struct board_host *at, int pid, uint64_t superstep, uint64_t from, uint64_t bytes)
{
    const struct bspz_layout *layout = &at->board->layout;
    uint64_t *top = &at->top[pid][superstep & 1];

    if (*top < from)
        *top = from;
    for (unsigned k = 0; k < BSPZ_STRETCHES; k++) {
        uint64_t start = bspz_stretch_start(k), end = start + bspz_stretch_bytes(layout, k);
        uint64_t place = *top > start ? *top : start;

        if (place + bytes > end)
            continue;
        *top = (place + bytes + 15) & ~UINT64_C(15);
        return (char *)at->board + bspz_stretch_offset(layout, at->nprocs, pid, superstep, k) +
               place - start;
    }
    must(false, "a half is full");
    return NULL;
}

static uint64_t word_of(int from, int to, enum bspz_kind kind, uint64_t superstep, unsigned chunk,
                        uint64_t i)
{
    return (((uint64_t)from * 31 + (uint64_t)to) * 7 + kind) * UINT64_C(0x9e3779b97f4a7c15) +
           superstep * 1000003 + chunk * 10007 + i;
}

void board_send(struct board_host *at, int from, int to, enum bspz_kind kind, uint64_t superstep,
                unsigned chunks, uint64_t bytes, uint64_t place)
{
    struct bspz_entry *entry = bspz_entry_at(at->board, at->nprocs, from, to, superstep);
    uint64_t *link = &entry->first[kind];

    for (unsigned k = 0; k < chunks; k++) {
        struct bspz_chunk *chunk = board_take(at, from, superstep, place, sizeof *chunk + bytes);

        *chunk = (struct bspz_chunk){.used = bytes, .bytes = k == 0 ? chunks * bytes : 0};
        for (uint64_t i = 0; i < bytes / 8; i++)
            ((uint64_t *)(chunk + 1))[i] = word_of(from, to, kind, superstep, k, i);
        *link = (uint64_t)((char *)chunk - (char *)at->board);
        link = &chunk->next;
    }
    atomic_store(&entry->stamp, superstep + 1);
}

bool board_has(const struct board_host *at, int from, int to, enum bspz_kind kind,
               uint64_t superstep, unsigned chunks, uint64_t bytes)
{
    const struct bspz_entry *entry = bspz_entry_at(at->board, at->nprocs, from, to, superstep);
    uint64_t offset = entry->first[kind];

    if (atomic_load(&entry->stamp) != superstep + 1)
        return chunks == 0;
    for (unsigned k = 0; k < chunks; k++) {
        const struct bspz_chunk *chunk = (const void *)((const char *)at->board + offset);

        if (offset == 0 || chunk->used != bytes)
            return false;
        for (uint64_t i = 0; i < bytes / 8; i++)
            if (((const uint64_t *)(chunk + 1))[i] != word_of(from, to, kind, superstep, k, i))
                return false;
        offset = chunk->next;
    }
    return offset == 0;
}

void board_arrive(struct board_host *at, int pid, uint64_t superstep, uint32_t flags)
{
    struct bspz_line *line = &bspz_rank_of(at->board, pid)->line[superstep & 1];

    line->flags = flags;
    line->position = BSPZ_POSITION(0, 100 + pid);
    line->digest = superstep * 77;
    line->warning = superstep;
    bspz_barrier_arrive(at->board, at->nprocs, pid, superstep, BSPZ_STAGE_ARRIVED);
}

void board_push(struct board_host *at, int pid, uint64_t superstep, uint32_t slot, uint32_t count)
{
    struct bspz_calls *calls =
        board_take(at, pid, superstep, 0, sizeof *calls + count * sizeof *calls->operations);

    calls->count = count;
    for (uint32_t i = 0; i < count; i++)
        calls->operations[i] = (struct bspz_operation){.kind = BSPZ_OP_PUSH,
                                                       .slot = slot + i,
                                                       .value = 4096 * (pid + 1) + i,
                                                       .position = BSPZ_POSITION(0, i)};
    bspz_rank_of(at->board, pid)->line[superstep & 1].sequence =
        (uint64_t)((char *)calls - (char *)at->board);
}

void board_name(struct board_host *at, int pid, const char *name)
{
    struct bspz_rank *rank = bspz_rank_of(at->board, pid);
    uint32_t index = atomic_load(&rank->file_count);

    snprintf(bspz_name_of(at->board, at->nprocs, pid, index), BSPZ_NAME_BYTES, "%s", name);
    atomic_store(&rank->file_count, index + 1);
}

/* Sanitizers and coverage would make this most of what a fuzz target does. */
#ifdef __clang__
#define AS_IT_IS __attribute__((no_sanitize("address", "undefined", "coverage")))
#else
#define AS_IT_IS
#endif

/* Zeros count for nothing, so that a hole and the zeros that are read from it are the same. */
AS_IT_IS static uint64_t sum_of(const void *bytes, size_t size)
{
    const uint64_t *words = bytes;
    uint64_t sum = 0;

    for (size_t i = 0; i < size / 8; i++)
        if (words[i])
            sum += (words[i] ^ i) * UINT64_C(0x9e3779b97f4a7c15) ^ i << 32;
    return sum;
}

/* The ranges of a board that are backed with memory; asking the kernel for them is what costs. */
struct backed {
    struct board_range range[BOARD_BACKED_MAX];
    unsigned count;
};

static void find_backed(const struct board_host *at, struct backed *backed)
{
    off_t data, hole = 0;

    backed->count = 0;
    while ((data = lseek(at->fd, hole, SEEK_DATA)) >= 0) {
        must(backed->count < BOARD_BACKED_MAX, "a board in too many pieces");
        hole = lseek(at->fd, data, SEEK_HOLE);
        must(hole > data, "a board without an end");
        backed->range[backed->count++] = (struct board_range){(uint64_t)data, (uint64_t)hole};
    }
}

static uint64_t sum_of_range(const struct board_host *at, const struct backed *backed,
                             const void *begin, uint64_t bytes)
{
    uint64_t start = (uint64_t)((const char *)begin - (const char *)at->board), sum = 0;

    for (unsigned i = 0; i < backed->count; i++) {
        const struct board_range *range = &backed->range[i];
        uint64_t first = range->first > start ? range->first : start;
        uint64_t last = range->last < start + bytes ? range->last : start + bytes;

        if (first < last)
            sum += sum_of((const char *)at->board + first, last - first) * (first - start + 8191);
    }
    return sum;
}

static uint64_t sum_of_rank(const struct board_host *at, const struct backed *backed, int pid)
{
    const struct bspz_layout *layout = &at->board->layout;
    uint64_t sum = sum_of(bspz_rank_of(at->board, pid), sizeof(struct bspz_rank));

    sum = sum * 31 + sum_of_range(at, backed, bspz_areas_at(at->board, pid), BSPZ_TABLE_BYTES);
    sum = sum * 31 + sum_of(bspz_name_of(at->board, at->nprocs, pid, 0), BSPZ_NAME_BYTES);
    for (uint64_t superstep = 0; superstep < 2; superstep++)
        for (unsigned k = 0; k < BSPZ_STRETCHES; k++)
            sum =
                sum * 31 + sum_of_range(at, backed,
                                        (char *)at->board + bspz_stretch_offset(layout, at->nprocs,
                                                                                pid, superstep, k),
                                        bspz_stretch_bytes(layout, k));
    return sum;
}

uint64_t board_sum(const struct board_host *at)
{
    struct backed backed;
    uint64_t sum = 0;

    find_backed(at, &backed);
    for (int pid = 0; pid < at->nprocs; pid++)
        if (atomic_load(&bspz_rank_of(at->board, pid)->host) == (uint32_t)at->board->host)
            sum = sum * 37 + sum_of_rank(at, &backed, pid);
    return sum;
}

void board_keep(struct board_host *at)
{
    struct backed backed;
    char *bytes;

    must(!at->kept, "a board is kept once");
    find_backed(at, &backed);
    memcpy(at->kept_at, backed.range, sizeof at->kept_at);
    at->kept_count = backed.count;
    for (unsigned i = 0; i < backed.count; i++)
        at->kept_bytes += backed.range[i].last - backed.range[i].first;
    at->kept = bytes = malloc(at->kept_bytes);
    must(bytes, "no memory for what is kept");
    for (unsigned i = 0; i < backed.count; i++) {
        uint64_t size = backed.range[i].last - backed.range[i].first;

        memcpy(bytes, (char *)at->board + backed.range[i].first, size);
        bytes += size;
    }
}

void board_restore(struct board_host *at)
{
    const char *bytes = at->kept;

    must(fallocate(at->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                   (off_t)at->board->layout.total) == 0,
         "a board cannot be emptied");
    for (unsigned i = 0; i < at->kept_count; i++) {
        uint64_t size = at->kept_at[i].last - at->kept_at[i].first;

        must(pwrite(at->fd, bytes, size, (off_t)at->kept_at[i].first) == (ssize_t)size,
             "a board cannot be written");
        bytes += size;
    }
}
