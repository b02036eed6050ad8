/* Registration: thousands of areas at once, popped half in order and half against it, again and
 * again.
 *
 * P: 1 2 4
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

enum { COUNT = 3000 };
static int area[COUNT];

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), right = (me + 1) % p;

    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < COUNT; i++)
            bsp_push_reg(&area[i], sizeof area[i]);
        bsp_sync();
        for (int i = 0; i < COUNT; i++) {
            int value = me * 10000 + i + round;

            bsp_put(right, &value, &area[i], 0, sizeof value);
        }
        bsp_sync();
        for (int i = 0; i < COUNT; i++)
            CHECK_INT(area[i], (me + p - 1) % p * 10000 + i + round);
        for (int i = 0; i < COUNT / 2; i++)
            bsp_pop_reg(&area[i]);
        for (int i = COUNT - 1; i >= COUNT / 2; i--)
            bsp_pop_reg(&area[i]);
        if (round % 2)
            bsp_sync();
    }
    conform_done();
    bsp_end();
    return 0;
}
