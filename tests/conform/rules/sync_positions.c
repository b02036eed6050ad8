/* Barrier: the processes may call bsp_sync at different places of the text; with BSP_COMPAT=oxford,
 * or linked with -fcheck-syncs, a difference is an error that lists the places.
 *
 * CASE: default
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: oxford
 * P: 2 3 4 7
 * ENV: BSP_COMPAT=oxford
 * STATUS: nonzero
 * ERR-RE: bsp_sync
 * ERR-RE: sync_positions\.c:${line('even')}
 * ERR-RE: sync_positions\.c:${line('odd')}
 *
 * CASE: oxford with one process
 * P: 1
 * ENV: BSP_COMPAT=oxford
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    bsp_sync();
    if (bsp_pid() % 2)
        bsp_sync(); /* @odd */
    else
        bsp_sync(); /* @even */
    conform_done();
    bsp_end();
    return 0;
}
