/* outgoing.c - writing to the rings of other ranks, in order.
 *
 * Happy path: a record is written at once.  What can fail: there is no room; then it waits in a
 * list of its ring until the reader has gone on.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/rt/mpi/inside.h"

#define EAGER_NEAR     (UINT64_C(8) << 10)
#define EAGER_FAR      (UINT64_C(256) << 10) /* asking takes as long as 100 KiB and more */
#define PIECES         8 /* of DATA in a ring, and of eager messages, when near */
#define PIECES_FAR     3 /* eager messages in a ring */
#define AGENT_CHECK_MS 500

struct bspz_mpi bspz_mpi;

static void open_peer(int pid)
{
    struct bspz_mpi_peer *peer = &bspz_mpi.peers[pid];
    const struct bspz_post *post = &bspz_mpi.post;
    uint64_t size;

    peer->near = bspz_is_here(bspz_rt.board, pid);
    size = bspz_ring_size(post, peer->near);
    bspz_ring_open(&peer->to, bspz_ring_of(post, bspz_rt.pid, pid), size, true);
    bspz_ring_open(&peer->from, bspz_ring_of(post, pid, bspz_rt.pid), size, false);
    peer->reported = 0;
}

/* A message that waits for room has been meant for a ring that may have been longer than this one,
 * between other hosts: what is too long here becomes an offer. */
static void offer_what_is_long(struct bspz_mpi_peer *peer)
{
    for (struct bspz_outgoing *at = peer->first; at; at = at->next) {
        if (at->record.kind != BSPZ_RECORD_MESSAGE || at->left <= bspz_mpi_eager(peer))
            continue;
        at->record.kind = BSPZ_RECORD_OFFER;
        at->left = 0;
        at->written = NULL;
    }
}

int bspz_mpi_open(void)
{
    const struct bspz_layout *layout = &bspz_rt.board->layout;
    char *at = (char *)bspz_rt.board + layout->mail;

    if (mprotect(at, bspz_post_bytes(layout), PROT_READ | PROT_WRITE) != 0)
        return errno;
    bspz_mpi.post = (struct bspz_post){.board = bspz_rt.board,
                                       .at = at,
                                       .nprocs = bspz_rt.nprocs,
                                       .ring_bytes = layout->ring_bytes};
    bspz_mpi.mail = bspz_mail_of(&bspz_mpi.post, bspz_rt.pid);
    for (int pid = 0; pid < bspz_rt.nprocs; pid++) {
        open_peer(pid);
        offer_what_is_long(&bspz_mpi.peers[pid]);
        /* What waits for room finds it when the process looks there next. */
        atomic_fetch_or(&bspz_mpi.mail->in[pid / 64], UINT64_C(1) << pid % 64);
    }
    return 0;
}

void bspz_mpi_begin(void)
{
    int error = ENOMEM;

    bspz_mpi.words = (bspz_rt.nprocs + 63) / 64;
    bspz_mpi.direct_least = bspz_bytes_from_environment("BSPZERO_DIRECT", EAGER_NEAR + 1);
    bspz_mpi.peers = calloc((size_t)bspz_rt.nprocs, sizeof *bspz_mpi.peers);
    for (int pid = 0; bspz_mpi.peers && pid < bspz_rt.nprocs; pid++)
        bspz_mpi.peers[pid].last = &bspz_mpi.peers[pid].first;
    if (bspz_mpi.peers)
        error = bspz_mpi_open();
    if (error)
        BSPZ_MPI_FAIL("cannot open the memory for messages of %d processes: %s", bspz_rt.nprocs,
                      strerror(error));
}

void bspz_mpi_ask_agent(enum bspz_request_kind kind)
{
    struct bspz_request *request = &bspz_rt.self->request;
    struct bspz_board *board = bspz_rt.board;

    request->kind = kind;
    request->size = bspz_rt.superstep;
    request->safe = 0;
    atomic_store(&request->state, BSPZ_REQUEST_POSTED);
    bspz_board_ring(board);
    while (atomic_load(&request->state) == BSPZ_REQUEST_POSTED) {
        if (atomic_load(&board->stop))
            bspz_leave();
        bspz_word_wait(&request->state, BSPZ_REQUEST_POSTED, AGENT_CHECK_MS);
        if (atomic_load(&request->state) == BSPZ_REQUEST_POSTED && bspz_agent_gone(board))
            bspz_leave();
    }
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t bspz_mpi_eager(const struct bspz_mpi_peer *peer)
{
    return peer->near ? least(EAGER_NEAR, peer->to.size / PIECES)
                      : least(EAGER_FAR, peer->to.size / PIECES_FAR);
}

/* The thread that waits for the bell handles it, and the loop of the agent need not know of it. */
void bspz_mpi_ring(void)
{
    struct bspz_board *board = bspz_rt.board;

    atomic_store_explicit(&board->rung_on, sched_getcpu() + 1, memory_order_relaxed);
    bspz_board_ring_awake(board);
}

static void tell_agent(int peer)
{
    atomic_fetch_or(&bspz_mpi.mail->out[peer / 64], UINT64_C(1) << peer % 64);
    bspz_mpi_ring();
}

void bspz_mpi_count_read(void)
{
    uint64_t received = atomic_load_explicit(&bspz_mpi.mail->received, memory_order_relaxed);

    atomic_store_explicit(&bspz_mpi.mail->received, received + 1, memory_order_release);
}

static void count_sent(void)
{
    uint64_t sent = atomic_load_explicit(&bspz_mpi.mail->sent, memory_order_relaxed);

    atomic_store_explicit(&bspz_mpi.mail->sent, sent + 1, memory_order_release);
}

/* Bytes of content that the next record of it has. */
static uint64_t next_piece(const struct bspz_mpi_peer *peer, const struct bspz_outgoing *outgoing)
{
    if (outgoing->record.kind != BSPZ_RECORD_DATA)
        return outgoing->left;
    return least(outgoing->left, peer->to.size / PIECES - BSPZ_RECORD_UNIT);
}

/* Writes as much as there is room for; false: not all. */
static bool write_some(struct bspz_mpi_peer *peer, int to, struct bspz_outgoing *outgoing)
{
    bool any = false, all = false;

    while (!all) {
        uint64_t piece = next_piece(peer, outgoing), bytes = bspz_record_bytes(piece);

        if (bspz_ring_room(&peer->to) < bytes && bspz_ring_want_room(&peer->to) < bytes)
            break;
        if (outgoing->record.kind == BSPZ_RECORD_DATA)
            outgoing->record.size = piece;
        count_sent();
        bspz_ring_write(&peer->to, &outgoing->record, outgoing->content);
        outgoing->content += piece;
        outgoing->left -= piece;
        all = outgoing->left == 0;
        if (!peer->near)
            tell_agent(to); /* which sends it while the next piece is written */
        any = peer->near;
    }
    if (any)
        bspz_mail_tell(&bspz_mpi.post, to, bspz_rt.pid);
    if (all && outgoing->written)
        *outgoing->written = true;
    return all;
}

void bspz_mpi_push(int to, struct bspz_outgoing *outgoing)
{
    struct bspz_mpi_peer *peer = &bspz_mpi.peers[to];

    outgoing->next = NULL;
    if (!peer->first && write_some(peer, to, outgoing))
        return;
    *peer->last = outgoing;
    peer->last = &outgoing->next;
}

void bspz_mpi_push_record(int to, const struct bspz_record *record)
{
    struct bspz_mpi_peer *peer = &bspz_mpi.peers[to];
    struct bspz_outgoing now = {.record = *record}, *later;

    if (!peer->first && write_some(peer, to, &now))
        return;
    later = malloc(sizeof *later);
    if (!later)
        BSPZ_MPI_FAIL("out of memory");
    *later = (struct bspz_outgoing){.record = *record, .own = true};
    *peer->last = later;
    peer->last = &later->next;
}

void bspz_mpi_push_on(int to)
{
    struct bspz_mpi_peer *peer = &bspz_mpi.peers[to];

    while (peer->first) {
        struct bspz_outgoing *outgoing = peer->first, *next = outgoing->next;
        bool own = outgoing->own;

        if (!write_some(peer, to, outgoing))
            return;
        peer->first = next;
        if (!next)
            peer->last = &peer->first;
        if (own)
            free(outgoing);
    }
}

bool bspz_mpi_pushing(void)
{
    for (int pid = 0; pid < bspz_rt.nprocs; pid++)
        if (bspz_mpi.peers[pid].first)
            return true;
    return false;
}

void bspz_mpi_tell_read(int from, bool wanted)
{
    struct bspz_mpi_peer *peer = &bspz_mpi.peers[from];

    if (peer->near) {
        if (wanted)
            bspz_mail_tell(&bspz_mpi.post, from, bspz_rt.pid);
    } else if (peer->from.own - peer->reported >= peer->from.size / BSPZ_RING_REPORTS) {
        peer->reported = peer->from.own;
        tell_agent(from);
    }
}
