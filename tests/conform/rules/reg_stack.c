/* Registration: registrations of one address form a stack; the newest hides the older ones and a
 * pop brings the next older one back, with its size and its partners.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), right = (me + 1) % p, left = (me + p - 1) % p;
    int common[10] = {0}, other[10] = {0}, value = me + 1;

    bsp_push_reg(common, sizeof common); /* slot 0: common everywhere */
    bsp_sync();
    bsp_push_reg(me == 0 ? other : common, sizeof other); /* slot 1: pid 0 gives other */
    bsp_push_reg(me == 0 ? common : other, sizeof other); /* slot 2: the others do */
    bsp_sync();
    /* common now names slot 2 on pid 0 and slot 1 on the others */
    bsp_put(right, &value, common, 0, sizeof(int));
    bsp_sync();
    int *hit = left == 0 ? (me == 0 ? common : other) : (me == 0 ? other : common);

    CHECK_INT(hit[0], left + 1);
    CHECK_INT((hit == common ? other : common)[0], 0);
    bsp_pop_reg(me == 0 ? other : common);
    bsp_pop_reg(me == 0 ? common : other);
    bsp_sync();
    bsp_put(right, &value, common, 9 * sizeof(int), sizeof(int));
    bsp_sync();
    CHECK_INT(common[9], left + 1);
    CHECK_INT(other[9], 0);
    conform_done();
    bsp_end();
    return 0;
}
