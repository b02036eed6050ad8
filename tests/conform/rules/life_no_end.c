/* Life cycle: leaving the program without bsp_end is an error unless BSP_COMPAT=oxford accepts it.
 *
 * CASE: default
 * STATUS: nonzero
 * ERR-RE: bsp_end
 *
 * CASE: oxford
 * ENV: BSP_COMPAT=oxford
 * STATUS: 0
 * OUT-EACH: pid ${i}
 *
 * CASE: oxford, with another status
 * ENV: BSP_COMPAT=oxford
 * ARGS: 3
 * STATUS: 3
 * OUT-EACH: pid ${i}
 * ERR-NOT: .
 *
 * CASE: oxford, not all
 * ENV: BSP_COMPAT=oxford
 * P: 2 3
 * ARGS: 3 first
 * STATUS: nonzero
 * ERR-RE: (?s)some processes are in bsp_sync while others are in bsp_end:\n  pid 0: exit without bsp_end\n  pid 1: bsp_sync at [^\n]*life_no_end\.c:${line('sync')}
 * ERR-NOT: before bsp_end
 */
#include <bsp.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int status = argc > 1 ? atoi(argv[1]) : 0;

    bsp_begin(0);
    printf("pid %d\n", bsp_pid());
    if (argc > 2 && bsp_pid() == 0)
        exit(status);
    bsp_sync(); /* @sync */
    return status;
}
