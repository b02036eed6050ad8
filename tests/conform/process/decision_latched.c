/* Process model: what a barrier does is read once, by process 0 on its arrival, and holds for all:
 * a request that comes or goes while the others have still to arrive changes nothing.  The last
 * process plays the agent and changes the request once process 0 has arrived.
 *
 * P: 2 3 4
 *
 * CASE: asked for too late
 * ARGS: late
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: withdrawn too late
 * ENV: BSPZERO_FAULT=consult:1,abort-at:3
 * ARGS: withdrawn
 * STATUS: nonzero
 * OUT-NOT: passed
 * ERR-RE: superstep 3
 */
#include "../check.h"
#include "board_access.h"
#include <unistd.h>

static struct bspz_board *board;

/* Returns when process 0 has arrived at this superstep's barrier. */
static void wait_for_process_0(uint64_t superstep)
{
    const struct bspz_line *line = &bspz_rank_of(board, 0)->line[superstep & 1];

    while (atomic_load(&line->stamp) != superstep + 1)
        usleep(100);
}

/* Nobody may wait for an answer in superstep 0, and nobody does: the request is gone again before
 * process 0 arrives at the next barrier. */
static void ask_too_late(bool last, _Atomic int *asked)
{
    if (last) {
        wait_for_process_0(0);
        atomic_store(&board->consult_from, 0);
    }
    bsp_sync();
    if (last) {
        atomic_store(&board->consult_from, UINT64_MAX);
        atomic_store(asked, 1);
    }
    while (!atomic_load(asked))
        usleep(100);
    bsp_sync();
}

/* The job ends in superstep 3, for all. */
static void withdraw_too_late(bool last)
{
    for (uint64_t superstep = 0; superstep <= 3; superstep++) {
        if (last && superstep == 3) {
            wait_for_process_0(superstep);
            atomic_store(&board->consult_from, UINT64_MAX);
        }
        bsp_sync();
    }
    (void)!write(STDOUT_FILENO, "passed\n", 7);
}

int main(int argc, char **argv)
{
    _Atomic int *asked = shared_memory(4096);

    bsp_begin(0);
    bool last = bsp_pid() == bsp_nprocs() - 1;

    board = board_of_this_job();
    if (!board)
        bsp_abort("no board");
    if (argc > 1 && strcmp(argv[1], "late") == 0)
        ask_too_late(last, asked);
    else
        withdraw_too_late(last);
    conform_done();
    bsp_end();
    return 0;
}
