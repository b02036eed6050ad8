/* mirror.c - collects the data for other hosts; see mirror.h. */
#include "bsprun/link/mirror.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "bsprun/link/mirror_inside.h"
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
    mirror->source_of = calloc((size_t)nprocs, sizeof *mirror->source_of);
    if (!mirror->peers || !mirror->source_of)
        return false;
    for (int pid = 0; pid < nprocs; pid++) {
        uint32_t host = host_of(mirror, pid);
        struct mirror_peer *peer = host == mirror->own.host ? &mirror->own : NULL;

        if (mirror->apart)
            host = (uint32_t)pid;
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
    for (int i = 0; i < mirror->own.count; i++)
        mirror->source_of[mirror->own.pids[i]] = &mirror->own;
    for (uint32_t k = 0; k < mirror->peer_count; k++)
        for (int i = 0; i < mirror->peers[k].count; i++)
            mirror->source_of[mirror->peers[k].pids[i]] = &mirror->peers[k];
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

static void set_gate(struct mirror *mirror)
{
    struct bspz_board *board = mirror->board;

    if (!mirror->apart && !(board->flags & BSPZ_BOARD_REPLICAS))
        return;
    for (int parity = 0; parity < 2; parity++)
        for (int stage = BSPZ_STAGE_ARRIVED; stage <= BSPZ_STAGE_REPLIED; stage++)
            atomic_store(&board->gate[parity][stage], 0);
    board->flags &= ~BSPZ_BOARD_REPLICAS;
    board->flags |= mirror->apart ? BSPZ_BOARD_REPLICAS : 0;
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
    set_gate(mirror);
    return 0;
}

static struct mirror *make(int board_fd, int nprocs, bool apart, int *error)
{
    struct mirror *mirror = calloc(1, sizeof *mirror);
    struct bspz_board *page;
    uint64_t total = 0;

    *error = -ENOMEM;
    if (!mirror)
        return NULL;
    mirror->board_fd = board_fd;
    mirror->nprocs = nprocs;
    mirror->apart = apart;
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

struct mirror *mirror_new(int board_fd, int nprocs, int *error)
{
    return make(board_fd, nprocs, false, error);
}

struct mirror *mirror_new_apart(int board_fd, int nprocs, int *error)
{
    return make(board_fd, nprocs, true, error);
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
    free(mirror->source_of);
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

bool mirror_captures(const struct mirror *mirror, uint64_t superstep)
{
    return atomic_load(&mirror->board->answered) == superstep + 1 &&
           atomic_load(&mirror->board->answer) == BSPZ_DECIDE_SNAPSHOT;
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

/* ---- Making a block ------------------------------------------------------------------------ */

int mirror_collect(struct mirror *mirror, uint32_t host, uint64_t superstep, enum bspz_stage stage,
                   struct mirror_block *block)
{
    const struct mirror_peer *peer = mirror_peer_of(mirror, host);
    struct mirror_making making = {.mirror = mirror,
                                   .from = mirror->own.pids,
                                   .from_count = mirror->own.count,
                                   .superstep = superstep,
                                   .stage = stage};
    struct mirror_head *head;
    int error;

    *block = (struct mirror_block){0};
    if (!peer)
        return -EINVAL;
    making.to = peer->pids;
    making.to_count = peer->count;
    error = mirror_make(&making, block);
    if (error)
        return error;
    head = (struct mirror_head *)(void *)block->head;
    head->clock_ns = bspz_now_ns();
    head->ahead_ns = atomic_load(&peer->ahead_ns);
    return 0;
}

void mirror_block_free(struct mirror_block *block)
{
    free(block->head);
    free(block->data);
    free(block->content);
    *block = (struct mirror_block){0};
}
