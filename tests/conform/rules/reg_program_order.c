/* Registration: push and pop are matched in program order: pop then push of one address in a
 * superstep re-registers it, push then pop cancels, a pop takes the newest un-popped entry even when
 * it was pushed in the same superstep.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

static int me, left, right;

static void works(int *area, int at)
{
    int value = 100 * at + me;

    bsp_put(right, &value, area, at * (int)sizeof(int), sizeof(int));
    bsp_sync();
    CHECK_INT(area[at], 100 * at + left);
}

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), area[20] = {0}, other[20] = {0};

    me = bsp_pid();
    right = (me + 1) % p;
    left = (me + p - 1) % p;
    bsp_push_reg(area, 2 * sizeof(int));
    bsp_sync();
    works(area, 1);
    bsp_pop_reg(area); /* takes the registered one ... */
    bsp_push_reg(area, 4 * sizeof(int));
    bsp_sync();
    works(area, 3);
    bsp_push_reg(area, 1 * sizeof(int)); /* ... this pair leaves the one of four words */
    bsp_pop_reg(area);
    bsp_sync();
    works(area, 2);
    bsp_push_reg(area, 6 * sizeof(int));
    bsp_push_reg(area, 8 * sizeof(int));
    bsp_pop_reg(area); /* the one of eight words */
    bsp_sync();
    works(area, 5);
    bsp_push_reg(other, 1 * sizeof(int));
    bsp_pop_reg(area); /* the one of six words */
    bsp_push_reg(area, 10 * sizeof(int));
    bsp_pop_reg(other);
    bsp_pop_reg(area);
    bsp_push_reg(other, 3 * sizeof(int));
    bsp_sync();
    works(area, 3);
    works(other, 2);
    bsp_pop_reg(other);
    bsp_pop_reg(area);
    bsp_sync();
    conform_done();
    bsp_end();
    return 0;
}
