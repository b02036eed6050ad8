/* bsp_bcast: one superstep in which the root sends everything to all processes, or two in which it
 * scatters pieces that the processes then exchange, whichever is cheaper by the cost model.
 */
#include <string.h>

#include "include/bsp_level1.h"
#include "lib/rt/costs.h"
#include "lib/rt/level1/collective.h"

static void one_phase(struct bspz_collective *call, const void *src, void *dst)
{
    if (bsp_pid() == call->root) {
        for (int pid = 0; pid < bsp_nprocs(); pid++)
            if (pid != call->root)
                bsp_put_cpp(pid, src, dst, 0, call->n, call->line, call->file);
        if (call->n > 0)
            memmove(dst, src, (size_t)call->n);
    }
    bspz_collective_sync(call);
}

/* Piece i of p: [piece_start(i), piece_start(i + 1)). */
static ptrdiff_t piece_start(ptrdiff_t n, int i)
{
    ptrdiff_t piece = (n + bsp_nprocs() - 1) / bsp_nprocs();

    return i * piece < n ? i * piece : n;
}

static void two_phase(struct bspz_collective *call, const void *src, void *dst)
{
    int p = bsp_nprocs(), me = bsp_pid();
    ptrdiff_t start = piece_start(call->n, me);
    ptrdiff_t size = piece_start(call->n, me + 1) - start;

    if (me == call->root) {
        for (int pid = 0; pid < p; pid++) {
            ptrdiff_t from = piece_start(call->n, pid), to = piece_start(call->n, pid + 1);
            if (pid != me)
                bsp_put_cpp(pid, (const char *)src + from, dst, from, to - from, call->line,
                            call->file);
        }
        memmove(dst, src, (size_t)call->n);
    }
    bspz_collective_sync(call);

    /* All processes are inside the call now, so the pieces may arrive at any time. */
    for (int i = 1; i < p; i++) {
        int pid = (me + i) % p;
        if (pid != call->root)
            bsp_hpput_cpp(pid, (char *)dst + start, dst, start, size, call->line, call->file);
    }
    bspz_collective_sync(call);
}

void bspz_bcast(struct bspz_collective *call, const void *src, void *dst)
{
    bspz_collective_agree(call);
    if (bsp_nprocs() == 1)
        bspz_collective_area(call, dst);
    if (bspz_cost_bcast_in_two(bspz_agreed_params(), bsp_nprocs(), call->n))
        two_phase(call, src, dst);
    else
        one_phase(call, src, dst);
    /* No process puts to the root, and others may have passed another address than they registered;
     * but a mismatch of the calls, which a process may have found since, is reported first. */
    bspz_collective_area(call, dst);
}

void bsp_bcast_cpp(int root, const void *src, void *dst, ptrdiff_t nbytes, int line,
                   const char *file)
{
    struct bspz_collective call = {BSPZ_COLLECTIVE(bsp_bcast), .root = root, .n = nbytes,
                                   .line = line, .file = file};

    bspz_collective_begin(&call);
    if (bsp_pid() == root)
        bspz_collective_pointer(&call, "src", src);
    bspz_collective_pointer(&call, "dst", dst);
    bspz_bcast(&call, src, dst);
    bspz_collective_end();
}
