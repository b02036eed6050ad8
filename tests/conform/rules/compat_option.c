/* Compatibility: bspcc -fcompat=oxford has the effect of BSP_COMPAT=oxford.
 *
 * CC: -fcompat=oxford
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), area = -1, untouched = 3;

    bsp_push_reg(&area, sizeof area);
    bsp_put((me + 1) % p, &me, &area, 0, sizeof(int)); /* before the push has taken effect */
    bsp_move(&untouched, sizeof untouched);            /* of an empty queue */
    bsp_sync();
    CHECK_INT(area, (me + p - 1) % p);
    CHECK_INT(untouched, 3);
    conform_done();
    bsp_end();
    return 0;
}
