/* Registration: an address with size 0 is a name by which areas of other processes are reached;
 * negative pids of arithmetic stay in range by the caller's care.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid();
    int area[64], name, value = 10 + me, seen = 0;

    memset(area, 0, sizeof area);
    area[63] = 77;
    if (me == 0)
        bsp_push_reg(area, sizeof area);
    else
        bsp_push_reg(&name, 0);
    bsp_sync();
    bsp_put(0, &value, me == 0 ? (void *)area : (void *)&name, me * (int)sizeof(int), sizeof(int));
    bsp_get(0, me == 0 ? (void *)area : (void *)&name, 63 * sizeof(int), &seen, sizeof(int));
    bsp_sync();
    CHECK_INT(seen, 77);
    for (int i = 0; i < p && me == 0; i++)
        CHECK_INT(area[i], 10 + i);
    conform_done();
    bsp_end();
    return 0;
}
