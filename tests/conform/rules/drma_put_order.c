/* DRMA: overlapping puts land in ascending order of the source process, and in the order of the
 * calls within one process, whatever their sizes; a put to the own process takes its turn too.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

enum { BIG = 4000 };
static unsigned char area[BIG], block[BIG];

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid();

    bsp_push_reg(area, sizeof area);
    bsp_sync();
    for (int round = 0; round < 20; round++) {
        unsigned char small[2] = {(unsigned char)(100 + me), (unsigned char)(110 + me)};

        memset(area, 0, sizeof area);
        memset(block, 10 + me, sizeof block);
        bsp_sync();
        for (int to = 0; to < p; to++) {
            bsp_put(to, small, area, 5, 1); /* small ones before a large one */
            bsp_put(to, small, area, 6, 2); /* and next to each other */
            bsp_put(to, block, area, 0, sizeof block);
            bsp_put(to, &small[1], area, 8, 1); /* one over the large one */
            bsp_put(to, small, area, 20, 2);
            bsp_put(to, small, area, 21, 2);
        }
        bsp_sync();
        CHECK_INT(area[0], 10 + p - 1);
        CHECK_INT(area[5], 10 + p - 1);
        CHECK_INT(area[6], 10 + p - 1);
        CHECK_INT(area[8], 110 + p - 1);
        CHECK_INT(area[20], 100 + p - 1);
        CHECK_INT(area[21], 100 + p - 1);
        CHECK_INT(area[22], 110 + p - 1);
        CHECK_INT(area[BIG - 1], 10 + p - 1);
        bsp_sync();
    }
    conform_done();
    bsp_end();
    return 0;
}
