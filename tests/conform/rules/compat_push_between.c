/* Compatibility: an area that is pushed again, larger, between two executions of one statement is
 * used at once with BSP_COMPAT=oxford, and from the next superstep on without.
 *
 * P: 1 2 3
 *
 * CASE: oxford
 * ENV: BSP_COMPAT=oxford
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: default
 * P: 1
 * STATUS: nonzero
 * ERROR: bsp_put @put ? 1
 * FACT: registered 8 bytes
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid();
    double area[4] = {-1, -1, -1, -1}, mine = me;

    bsp_push_reg(area, sizeof *area);
    bsp_sync();
    for (int k = 0; k < 4; k++) {
        bsp_put((me + 1) % p, &mine, area, k * (int)sizeof mine, sizeof mine); /* @put */
        if (k == 0)
            bsp_push_reg(area, sizeof area);
    }
    bsp_sync();
    for (int k = 0; k < 4; k++)
        CHECK(area[k] == (me + p - 1) % p);
    conform_done();
    bsp_end();
    return 0;
}
