/* Registration: NULL with size 0 says "no area here", several at once; a pop of NULL stands for
 * whatever the other processes pop, in any order.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid();
    int area[3][4], last = p - 1, value = me + 1;

    memset(area, 0, sizeof area);
    for (int k = 0; k < 3; k++) /* only the last process owns anything */
        bsp_push_reg(me == last ? area[k] : NULL, me == last ? (int)sizeof area[k] : 0);
    bsp_push_reg(area[0], me == last ? 0 : (int)sizeof area[0]);
    bsp_sync();
    if (me == last) {
        bsp_put(me, &value, area[1], 0, sizeof(int));
        bsp_get(me, area[2], 0, &value, sizeof(int));
    }
    bsp_sync();
    CHECK_INT(area[1][0], me == last ? p : 0);
    CHECK_INT(value, me == last ? 0 : me + 1);
    bsp_pop_reg(area[0]);
    bsp_pop_reg(me == last ? area[1] : NULL); /* neither the first nor the last of the NULLs */
    bsp_sync();
    bsp_pop_reg(me == last ? area[0] : NULL);
    bsp_pop_reg(me == last ? area[2] : NULL);
    bsp_sync();
    bsp_push_reg(NULL, 0); /* nobody owns it */
    bsp_push_reg(NULL, 0);
    bsp_sync();
    bsp_pop_reg(NULL);
    bsp_sync();
    bsp_pop_reg(NULL);
    bsp_sync();
    bsp_push_reg(area[1], sizeof area[1]);
    bsp_sync();
    bsp_put((me + 1) % p, &me, area[1], 8, sizeof(int));
    bsp_sync();
    CHECK_INT(area[1][2], (me + p - 1) % p);
    conform_done();
    bsp_end();
    return 0;
}
