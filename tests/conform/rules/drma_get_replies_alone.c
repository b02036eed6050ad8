/* DRMA: the owner of an area answers a get although it issues nothing for the reader itself; what
 * it put there earlier is not applied again.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), right = (me + 1) % p, left = (me + p - 1) % p;
    int area = -1, mine = 10 * me, own = -1, fetched;

    bsp_push_reg(&area, sizeof area);
    bsp_push_reg(&mine, sizeof mine);
    bsp_push_reg(&own, sizeof own);
    bsp_sync();
    for (int round = 0; round < 20; round++) {
        bsp_put(left, &round, &area, 0, sizeof round);
        bsp_sync();
        CHECK_INT(area, round);
        bsp_sync();
        /* From here on only the reader issues anything: the owner's answer goes the other way. */
        area = -5;
        fetched = -1;
        if (me % 2 == 0) {
            bsp_get(right, &mine, 0, &fetched, sizeof fetched);
            bsp_put(me, &me, &own, 0, sizeof me);
        }
        bsp_sync();
        CHECK_INT(area, -5);
        CHECK_INT(own, me % 2 == 0 ? me : -1);
        CHECK_INT(fetched, me % 2 == 0 ? 10 * right : -1);
        bsp_sync();
    }
    conform_done();
    bsp_end();
    return 0;
}
