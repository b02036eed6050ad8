/* Process model: a program started by a rank, or by process 0 behind the end, may be a BSP program
 * itself and runs as a job of its own.
 *
 * P: 1 2
 *
 * CASE: behind the end
 * ARGS: after
 * OUT-EACH: outer ${i}
 * OUT-ANY: inner 0 of 2
 * OUT-ANY: inner 1 of 2
 *
 * CASE: inside
 * ARGS: inside
 * OUT-EACH: outer ${i}
 * OUT-ANY: inner 0 of 2
 * OUT-ANY: inner 1 of 2
 *
 * CASE: before
 * ARGS: before
 * OUT-EACH: outer ${i}
 * OUT-ANY: inner 0 of 2
 * OUT-ANY: inner 1 of 2
 */
#include <bsp.h>
#include <stdlib.h>
#include <string.h>

static int start_inner(void)
{
    fflush(stdout);
    return system("BSP_PROCS=2 \"$PROG\" inner") != 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int status = 0;

    if (strcmp(how, "before") == 0)
        status = start_inner();
    bsp_begin(0);
    if (strcmp(how, "inner") == 0)
        printf("inner %d of %d\n", bsp_pid(), bsp_nprocs());
    else
        printf("outer %d\n", bsp_pid());
    bsp_sync();
    if (strcmp(how, "inside") == 0 && bsp_pid() == 0)
        status = start_inner();
    bsp_sync();
    bsp_end();
    if (strcmp(how, "after") == 0)
        status = start_inner();
    return status;
}
