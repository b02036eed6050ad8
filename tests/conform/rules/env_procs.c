/* Environment: a BSP_PROCS that is no number of processes gives one clear message.
 *
 * P: 1
 * STATUS: nonzero
 * ERR-RE: BSP_PROCS
 * OUT-NOT: .
 *
 * CASE: word
 * RUN: bare-free bsprun-free
 * ENV: BSP_PROCS=abc
 *
 * CASE: zero
 * RUN: bare-free bsprun-free
 * ENV: BSP_PROCS=0
 *
 * CASE: negative
 * RUN: bare-free bsprun-free
 * ENV: BSP_PROCS=-3
 *
 * CASE: tail
 * RUN: bare-free bsprun-free
 * ENV: BSP_PROCS=3x
 *
 * CASE: too many
 * RUN: bare-free bsprun-free
 * ENV: BSP_PROCS=100000
 */
#include <bsp.h>

int main(void)
{
    bsp_begin(bsp_nprocs());
    printf("pid %d\n", bsp_pid());
    bsp_end();
    return 0;
}
