/* Registration: NULL pushed and popped within one superstep, beside processes that have an area.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), area[2] = {0, 0}, stays[2] = {0, 0};

    bsp_push_reg(stays, sizeof stays);
    bsp_push_reg(me == 0 ? area : NULL, me == 0 ? (int)sizeof area : 0);
    bsp_pop_reg(me == 0 ? area : NULL);
    bsp_sync();
    bsp_put((me + 1) % p, &me, stays, sizeof(int), sizeof(int));
    bsp_sync();
    CHECK_INT(stays[1], (me + p - 1) % p);
    conform_done();
    bsp_end();
    return 0;
}
