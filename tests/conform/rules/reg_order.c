/* Registration: pops may come in any order that is the same on all processes.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), right = (me + 1) % p, left = (me + p - 1) % p;
    int area[6][2], value = me + 1;
    static const int order[] = {2, 0, 5, 3};

    memset(area, 0, sizeof area);
    for (int k = 0; k < 6; k++)
        bsp_push_reg(area[k], sizeof area[k]);
    bsp_sync();
    for (int k = 0; k < 4; k++)
        bsp_pop_reg(area[order[k]]);
    bsp_sync();
    bsp_put(right, &value, area[1], 0, sizeof(int));
    bsp_put(right, &value, area[4], sizeof(int), sizeof(int));
    bsp_sync();
    CHECK_INT(area[1][0], left + 1);
    CHECK_INT(area[4][1], left + 1);
    bsp_push_reg(area[0], sizeof area[0]);
    bsp_pop_reg(area[4]);
    bsp_sync();
    bsp_put(right, &value, area[0], 0, sizeof(int));
    bsp_put(right, &value, area[1], sizeof(int), sizeof(int));
    bsp_sync();
    CHECK_INT(area[0][0], left + 1);
    CHECK_INT(area[1][1], left + 1);
    conform_done();
    bsp_end();
    return 0;
}
