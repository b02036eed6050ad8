/* DRMA: get destinations are written before any put: where both land on the same bytes the put
 * stays.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid();
    int source_area = 0, both[3];

    bsp_push_reg(&source_area, sizeof source_area);
    bsp_push_reg(both, sizeof both);
    bsp_sync();
    for (int round = 0; round < 200; round++) {
        int mine = 1000 + me;

        source_area = 2000 + me;
        both[0] = both[1] = both[2] = 0;
        bsp_sync();
        bsp_put((me + 1) % p, &mine, both, sizeof(int), sizeof(int));
        bsp_get((me + 1) % p, &source_area, 0, &both[1], sizeof(int));
        bsp_get((me + 1) % p, &source_area, 0, &both[2], sizeof(int));
        bsp_sync();
        CHECK_INT(both[0], 0);
        CHECK_INT(both[1], 1000 + (me + p - 1) % p);
        CHECK_INT(both[2], 2000 + (me + 1) % p);
    }
    conform_done();
    bsp_end();
    return 0;
}
