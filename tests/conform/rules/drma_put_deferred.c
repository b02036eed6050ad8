/* DRMA: a put, also one to the own process, is not visible before the end of the superstep.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid();
    int area[64] = {0}, value = me + 1;

    bsp_push_reg(area, sizeof area);
    bsp_sync();
    for (int to = 0; to < p; to++)
        bsp_put(to, &value, area, me * (int)sizeof(int), sizeof(int));
    for (int i = 0; i < 64; i++)
        CHECK_INT(area[i], 0);
    bsp_sync();
    for (int i = 0; i < 64; i++)
        CHECK_INT(area[i], i < p ? i + 1 : 0);
    conform_done();
    bsp_end();
    return 0;
}
