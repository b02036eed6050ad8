/* kept.c - messages on their way in a snapshot: the plane of MPI (lib/rt/safe_point.h).
 *
 * When all processes have stopped, nothing is written to the rings any more.  Each process copies
 * what is in those to it to its own memory, which is part of its image, as it is: without finding a
 * receive for it, which might make it answer.  The saved process and a restored one take it from
 * there before anything else.  What waits for room in a ring is in the sender's memory anyway, and
 * so are the bytes of long messages.
 *
 * With several hosts the agents first deliver what is on the links.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/rt/mpi/inside.h"
#include "lib/rt/safe_point.h"

static struct bspz_mpi_kept *first, **last = &first;

struct bspz_mpi_kept *bspz_mpi_take_kept(void)
{
    struct bspz_mpi_kept *kept = first;

    if (!kept)
        return NULL;
    first = kept->next;
    if (!first)
        last = &first;
    return kept;
}

bool bspz_mpi_has_kept(void)
{
    return first != NULL;
}

/* 0 or an errno value; what is not kept stays in the ring. */
static int keep_ring(int source)
{
    struct bspz_ring_end *ring = &bspz_mpi.peers[source].from;
    const struct bspz_record *record;

    bspz_ring_look(ring);
    while ((record = bspz_ring_peek(ring))) {
        uint64_t content = bspz_record_content(record);
        struct bspz_mpi_kept *kept = malloc(sizeof *kept + content);

        if (!kept)
            return ENOMEM;
        *kept = (struct bspz_mpi_kept){.source = source, .record = *record};
        bspz_ring_copy(ring, content, kept->content);
        *last = kept;
        last = &kept->next;
        bspz_mpi_count_read();
        bspz_mpi_tell_read(source, bspz_ring_next(ring, content));
    }
    return 0;
}

static int keep(void)
{
    int error = 0;

    if (!bspz_mpi.peers)
        return 0;
    if (bspz_rt.board->flags & BSPZ_BOARD_HOSTS)
        bspz_mpi_ask_agent(BSPZ_REQUEST_MAIL_SETTLED);
    for (int pid = 0; pid < bspz_rt.nprocs && !error; pid++)
        error = keep_ring(pid);
    return error;
}

static void drop(void)
{
}

static int put_back(void)
{
    int error = bspz_mpi.peers ? bspz_mpi_open() : 0;

    if (bspz_mpi.peers && !error)
        bspz_mpi_ask_agent(BSPZ_REQUEST_MAIL);
    return error;
}

static struct bspz_plane plane = {.keep = keep, .drop = drop, .put_back = put_back};

void bspz_mpi_take_part(void)
{
    bspz_safe_points_begin();
    bspz_plane_use(&plane);
}
