/* mirror.c - collects the data for other hosts; see mirror.h. */
#include "bsprun/link/mirror.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "bsprun/link/mirror_inside.h"
#include "lib/base/buffer.h"
#include "lib/base/clock.h"

#define APART_MOST 64 /* with so many ranks memory is taken by the stretch, else by the page */

/* ---- Who is where -------------------------------------------------------------------------- */

static uint32_t host_of(const struct mirror *mirror, int pid)
{
    return atomic_load(&bspz_rank_of(mirror->board, pid)->host);
}

static int compare_hosts(const void *a, const void *b)
{
    const struct mirror_peer *one = a, *other = b;

    return (one->host > other->host) - (one->host < other->host);
}

struct mirror_peer *mirror_peer_of(const struct mirror *mirror, uint32_t host)
{
    const struct mirror_peer key = {.host = host};

    return bsearch(&key, mirror->peers, mirror->peer_count, sizeof key, compare_hosts);
}

bool mirror_has(const struct mirror *mirror, uint32_t host)
{
    return mirror_peer_of(mirror, host) != NULL;
}

struct bspz_board *mirror_board(const struct mirror *mirror)
{
    return mirror->board;
}

static bool add_pid(struct mirror_peer *peer, int pid, int nprocs)
{
    if (!peer->pids)
        peer->pids = malloc((size_t)nprocs * sizeof *peer->pids);
    if (!peer->pids)
        return false;
    peer->pids[peer->count++] = pid;
    return true;
}

static bool sort_out(struct mirror *mirror)
{
    int nprocs = mirror->nprocs;

    mirror->own.host = (uint32_t)mirror->board->host;
    mirror->peers = calloc((size_t)nprocs, sizeof *mirror->peers);
    if (!mirror->peers)
        return false;
    for (int pid = 0; pid < nprocs; pid++) {
        uint32_t host = host_of(mirror, pid);
        struct mirror_peer *peer = host == mirror->own.host ? &mirror->own : NULL;

        for (uint32_t i = 0; i < mirror->peer_count && !peer; i++)
            if (mirror->peers[i].host == host)
                peer = &mirror->peers[i];
        if (!peer) {
            peer = &mirror->peers[mirror->peer_count++];
            peer->host = host;
        }
        if (!add_pid(peer, pid, nprocs))
            return false;
    }
    qsort(mirror->peers, mirror->peer_count, sizeof *mirror->peers, compare_hosts);
    return true;
}

/* ---- The beginning ------------------------------------------------------------------------- */

/* After a restore no other board knows the existing registrations. */
static bool note_areas(struct mirror *mirror)
{
    uint64_t count = 0;

    for (int i = 0; i < mirror->own.count; i++)
        count += atomic_load(&bspz_rank_of(mirror->board, mirror->own.pids[i])->slot_count);
    if (count > (uint64_t)mirror->own.count * BSPZ_AREAS_MAX)
        return false;
    mirror->areas = calloc(count + 1, sizeof *mirror->areas);
    if (!mirror->areas)
        return false;
    for (int i = 0; i < mirror->own.count; i++) {
        int pid = mirror->own.pids[i];
        const struct bspz_area *table = bspz_areas_at(mirror->board, pid);
        uint32_t slots = atomic_load(&bspz_rank_of(mirror->board, pid)->slot_count);

        for (uint32_t slot = 0; slot < slots && mirror->area_count < count; slot++)
            mirror->areas[mirror->area_count++] = (struct mirror_area){
                (uint32_t)pid, slot, table[slot].base, table[slot].position, 0};
    }
    return true;
}

static int prepare(struct mirror *mirror)
{
    if (!sort_out(mirror))
        return -ENOMEM;
    if (mirror->own.count == 0 || mirror->board->layout.total == 0)
        return -EINVAL;
    mirror->ranks = calloc((size_t)mirror->nprocs, sizeof *mirror->ranks);
    mirror->names = calloc((size_t)mirror->nprocs, sizeof *mirror->names);
    if (!mirror->ranks || !mirror->names || !note_areas(mirror))
        return -ENOMEM;
    mirror->first = atomic_load(&bspz_rank_of(mirror->board, mirror->own.pids[0])->superstep);
    mirror->own.next = mirror->first;
    for (uint32_t i = 0; i < mirror->peer_count; i++) {
        mirror->peers[i].next = mirror->first;
        atomic_store(&mirror->peers[i].ahead_ns, MIRROR_NO_CLOCK);
    }
    return 0;
}

struct mirror *mirror_new(int board_fd, int nprocs, int *error)
{
    struct mirror *mirror = calloc(1, sizeof *mirror);
    struct bspz_board *page;
    uint64_t total = 0;

    *error = -ENOMEM;
    if (!mirror)
        return NULL;
    mirror->board_fd = board_fd;
    mirror->nprocs = nprocs;
    mirror->granule = nprocs <= APART_MOST ? 64u << 10 : 4096u;
    page = mmap(NULL, BSPZ_BOARD_BYTES, PROT_READ, MAP_SHARED, board_fd, 0);
    if (page != MAP_FAILED) {
        total = page->layout.total;
        munmap(page, BSPZ_BOARD_BYTES);
    }
    mirror->board =
        mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, board_fd, 0);
    if (mirror->board == MAP_FAILED) {
        *error = -errno;
        mirror->board = NULL;
    } else {
        madvise(mirror->board, total, MADV_DONTDUMP);
        madvise(mirror->board, total, MADV_DONTFORK);
        *error = prepare(mirror);
    }
    if (*error) {
        mirror_free(mirror);
        return NULL;
    }
    return mirror;
}

void mirror_free(struct mirror *mirror)
{
    if (!mirror)
        return;
    if (mirror->board)
        munmap(mirror->board, mirror->board->layout.total);
    for (uint32_t i = 0; i < mirror->peer_count; i++)
        free(mirror->peers[i].pids);
    for (int pid = 0; mirror->ranks && pid < mirror->nprocs; pid++)
        for (int parity = 0; parity < 2; parity++)
            free(mirror->ranks[pid].halves[parity].backed);
    free(mirror->own.pids);
    free(mirror->peers);
    free(mirror->ranks);
    free(mirror->names);
    free(mirror->areas);
    free(mirror);
}

/* ---- What is to be sent -------------------------------------------------------------------- */

static bool reached(const struct mirror *mirror, uint64_t superstep, enum bspz_stage stage)
{
    return bspz_barrier_reached(mirror->board, mirror->own.pids, mirror->own.count, superstep,
                                stage);
}

bool mirror_due(const struct mirror *mirror, uint64_t *superstep, enum bspz_stage *stage)
{
    const struct mirror_peer *own = &mirror->own;

    *superstep = own->next - 1;
    if (own->next > mirror->first) {
        *stage = BSPZ_STAGE_MATCHED;
        if (!own->matched && reached(mirror, *superstep, *stage))
            return true;
        *stage = BSPZ_STAGE_REPLIED;
        if (!own->replied && reached(mirror, *superstep, *stage))
            return true;
    }
    *superstep = own->next;
    *stage = BSPZ_STAGE_ARRIVED;
    return reached(mirror, *superstep, *stage);
}

bool mirror_waits(const struct mirror *mirror)
{
    const struct mirror_peer *own = &mirror->own;

    for (uint32_t i = 0; i < mirror->peer_count; i++) {
        const struct mirror_peer *peer = &mirror->peers[i];

        if (peer->next < own->next)
            return true;
        if (peer->next == own->next && !peer->replied &&
            (own->replied || (own->matched && !peer->matched)))
            return true;
    }
    return false;
}

/* ---- Time ---------------------------------------------------------------------------------- */

void mirror_note_arrival(struct mirror *mirror)
{
    if (!mirror->incomplete)
        return;
    for (uint32_t i = 0; i < mirror->peer_count; i++)
        if (mirror->peers[i].next < mirror->own.next)
            return;
    mirror->incomplete = false;
    mirror->complete_ns = bspz_now_ns();
}

/* All ranks here have arrived.  Behind a barrier that the coordinator decides they wait for it. */
static void note_own_arrival(struct mirror *mirror, uint64_t superstep)
{
    struct bspz_board *board = mirror->board;
    const struct bspz_rank *first = bspz_rank_of(board, mirror->own.pids[0]);

    if (!(board->flags & BSPZ_BOARD_MEASURES))
        return;
    if (mirror->complete_ns > 0) {
        atomic_fetch_add(&board->busy_ns, bspz_now_ns() - mirror->complete_ns);
        atomic_fetch_add(&board->busy_steps, 1);
    }
    mirror->complete_ns = 0;
    mirror->incomplete = first->line[superstep & 1].decision == BSPZ_DECIDE_GO;
    mirror_note_arrival(mirror);
}

void mirror_collected(struct mirror *mirror, uint64_t superstep, enum bspz_stage stage)
{
    struct mirror_peer *own = &mirror->own;

    own->matched |= stage == BSPZ_STAGE_MATCHED;
    own->replied |= stage == BSPZ_STAGE_REPLIED;
    if (stage != BSPZ_STAGE_ARRIVED)
        return;
    own->next = superstep + 1;
    own->matched = own->replied = false;
    note_own_arrival(mirror, superstep);
    mirror->area_count = 0;
    for (int i = 0; i < own->count; i++)
        mirror->names[own->pids[i]].sent = mirror->names[own->pids[i]].now;
}

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

/* ---- Making a block ------------------------------------------------------------------------ */

/* The first failure is kept. */
struct pile {
    struct bspz_buffer bytes;
    bool failed;
};

static void *add(struct pile *pile, uint64_t bytes)
{
    pile->failed = pile->failed || !bspz_buffer_reserve(&pile->bytes, bytes);
    if (pile->failed)
        return NULL;
    pile->bytes.size += bytes;
    return memset(pile->bytes.data + pile->bytes.size - bytes, 0, bytes);
}

struct making {
    const struct mirror *mirror;
    const struct mirror_peer *peer;
    uint64_t superstep;
    enum bspz_stage stage;
    struct pile head, ranges, data;
    uint64_t data_bytes;
};

static void add_range(struct making *making, uint64_t offset, uint64_t bytes)
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

static const struct bspz_line *line_of(const struct making *making, int pid)
{
    return &bspz_rank_of(making->mirror->board, pid)->line[making->superstep & 1];
}

static uint32_t add_lines(struct making *making)
{
    const struct mirror_peer *own = &making->mirror->own;

    for (int i = 0; i < own->count; i++) {
        const struct bspz_line *from = line_of(making, own->pids[i]);
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
    return (uint32_t)own->count;
}

static uint32_t add_names(struct making *making)
{
    const struct mirror *mirror = making->mirror;
    uint32_t count = 0;

    for (int i = 0; i < mirror->own.count; i++) {
        int pid = mirror->own.pids[i];

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

static uint32_t add_areas(struct making *making)
{
    const struct mirror *mirror = making->mirror;
    void *areas = add(&making->head, mirror->area_count * sizeof *mirror->areas);

    if (areas && mirror->area_count > 0)
        memcpy(areas, mirror->areas, mirror->area_count * sizeof *mirror->areas);
    return mirror->area_count;
}

static void add_calls(struct making *making)
{
    const struct mirror_peer *own = &making->mirror->own;

    for (int i = 0; i < own->count; i++) {
        const struct bspz_line *line = line_of(making, own->pids[i]);
        const struct bspz_calls *calls =
            (const void *)((const char *)making->mirror->board + line->sequence);

        if (line->flags & BSPZ_HAS_SEQUENCE)
            add_range(making, line->sequence,
                      sizeof *calls + calls->count * sizeof *calls->operations);
    }
}

static void add_chain(struct making *making, struct mirror_entry *entry, enum bspz_kind kind)
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
static bool read_entry(const struct making *making, int from, int to, struct mirror_entry *entry)
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

static uint32_t add_entries(struct making *making)
{
    const struct mirror_peer *own = &making->mirror->own;
    const uint32_t data = BSPZ_HAS_PUT | BSPZ_HAS_GET | BSPZ_HAS_MESSAGE;
    uint32_t count = 0;

    for (int i = 0; i < own->count; i++) {
        if (making->stage == BSPZ_STAGE_ARRIVED && !(line_of(making, own->pids[i])->flags & data))
            continue;
        for (int k = 0; k < making->peer->count; k++) {
            struct mirror_entry entry, *added;

            if (!read_entry(making, own->pids[i], making->peer->pids[k], &entry))
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

int mirror_collect(struct mirror *mirror, uint32_t host, uint64_t superstep, enum bspz_stage stage,
                   struct mirror_block *block)
{
    struct making making = {.mirror = mirror,
                            .peer = mirror_peer_of(mirror, host),
                            .superstep = superstep,
                            .stage = stage};
    struct mirror_head head = {MIRROR_MAGIC, (uint32_t)stage, superstep};
    unsigned char *ranges;

    *block = (struct mirror_block){0};
    if (!making.peer)
        return -EINVAL;
    add(&making.head, sizeof head);
    if (stage == BSPZ_STAGE_ARRIVED) {
        note_names(mirror, superstep);
        head.lines = add_lines(&making);
        head.names = add_names(&making);
        head.areas = add_areas(&making);
        add_calls(&making);
    }
    if (stage != BSPZ_STAGE_MATCHED)
        head.entries = add_entries(&making);
    ranges = add(&making.head, making.ranges.bytes.size);
    if (making.head.failed || making.ranges.failed || making.data.failed) {
        bspz_buffer_free(&making.head.bytes);
        bspz_buffer_free(&making.ranges.bytes);
        bspz_buffer_free(&making.data.bytes);
        return -ENOMEM;
    }
    if (making.ranges.bytes.size > 0)
        memcpy(ranges, making.ranges.bytes.data, making.ranges.bytes.size);
    head.ranges = making.ranges.bytes.size / sizeof(struct mirror_range);
    head.head_bytes = making.head.bytes.size;
    head.data_bytes = making.data_bytes;
    head.clock_ns = bspz_now_ns();
    head.ahead_ns = atomic_load(&making.peer->ahead_ns);
    memcpy(making.head.bytes.data, &head, sizeof head);
    bspz_buffer_free(&making.ranges.bytes);
    *block = (struct mirror_block){making.head.bytes.data, head.head_bytes, head.data_bytes,
                                   (struct iovec *)making.data.bytes.data,
                                   making.data.bytes.size / sizeof(struct iovec)};
    return 0;
}

void mirror_block_free(struct mirror_block *block)
{
    free(block->head);
    free(block->data);
    *block = (struct mirror_block){0};
}
