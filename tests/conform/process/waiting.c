/* Process model: who waits in bsp_sync sleeps after a moment, and where there are more processes than
 * cores nobody spins at all.
 *
 * P: 2 3 4 7
 * OUT-EACH: pid ${i}: ok
 */
#define _GNU_SOURCE
#include "../check.h"
#include "board_access.h"
#include <sched.h>
#include <time.h>

static double cpu_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(void)
{
    const struct timespec long_time = {0, 600000000};
    cpu_set_t before;

    sched_getaffinity(0, sizeof before, &before);
    bsp_begin(0);
    const struct bspz_board *board = board_of_this_job();
    double start;

    if (!board)
        bsp_abort("no board");
    if (bsp_nprocs() > CPU_COUNT(&before))
        CHECK_INT(board->spin_ns, 0);
    bsp_sync();
    start = cpu_seconds();
    if (bsp_pid() == 0)
        nanosleep(&long_time, NULL);
    bsp_sync();
    CHECK(cpu_seconds() - start < 0.1);
    conform_done();
    bsp_end();
    return 0;
}
