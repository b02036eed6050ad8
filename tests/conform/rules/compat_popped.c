/* Compatibility: put and get behind a pop in the same superstep are valid in both modes.
 *
 * CASE: default
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: oxford
 * ENV: BSP_COMPAT=oxford
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), area[2] = {-1, 60 + me}, seen = 0;

    bsp_push_reg(area, sizeof area);
    bsp_sync();
    bsp_pop_reg(area);
    bsp_put((me + 1) % p, &me, area, 0, sizeof(int));
    bsp_get((me + 1) % p, area, sizeof(int), &seen, sizeof(int));
    bsp_sync();
    CHECK_INT(area[0], (me + p - 1) % p);
    CHECK_INT(seen, 60 + (me + 1) % p);
    conform_done();
    bsp_end();
    return 0;
}
