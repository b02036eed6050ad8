/* Compatibility: with BSP_COMPAT=oxford a registration is in effect at once, and a pop in the same
 * superstep does not hide it, as no pop hides anything before the superstep ends.
 *
 * ENV: BSP_COMPAT=oxford
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), area[4] = {0}, other[4] = {0}, value[4] = {1, 2, 3, 4};

    bsp_push_reg(area, sizeof(int));
    bsp_push_reg(other, sizeof other);
    bsp_sync();
    bsp_push_reg(area, sizeof area);
    bsp_put((me + 1) % p, value, area, 0, sizeof(int));
    bsp_pop_reg(area);
    bsp_put((me + 1) % p, value + 1, area, sizeof(int), sizeof(int));
    bsp_put((me + 1) % p, value, other, 0, sizeof value);
    bsp_put((me + 1) % p, value + 2, area, 2 * sizeof(int), 2 * sizeof(int));
    bsp_sync();
    CHECK(memcmp(area, value, sizeof area) == 0);
    CHECK(memcmp(other, value, sizeof other) == 0);
    conform_done();
    bsp_end();
    return 0;
}
