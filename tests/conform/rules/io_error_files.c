/* I/O: what a process has written to a file is not lost when it misuses a call.
 *
 * P: 1 2 3
 * STATUS: nonzero
 * OUT: before the error
 * ERROR: bsp_put @put 0 0
 *
 * CASE: under bsprun
 * RUN: bsprun
 * SHELL: "$BSPRUN" -np $P "$PROG"; status=$?; cat log; exit $status
 *
 * CASE: bare
 * RUN: bare
 * SHELL: BSP_PROCS=$P "$PROG"; status=$?; cat log; exit $status
 */
#include <bsp.h>

int main(void)
{
    bsp_begin(bsp_nprocs());
    int value = 0;

    if (bsp_pid() == 0) {
        FILE *log = fopen("log", "w");

        if (!log)
            bsp_abort("no file");
        fprintf(log, "before the error\n");
        bsp_put(bsp_nprocs(), &value, &value, 0, sizeof value); /* @put */
    }
    bsp_sync();
    bsp_end();
    return 0;
}
