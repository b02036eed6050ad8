/* DRMA: megabytes per call and per superstep, then small supersteps again, in both directions.
 *
 * P: 1 2 3
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

enum { WORDS = 6 << 20 };

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), left = (me + p - 1) % p, right = (me + 1) % p;
    int *area = malloc(WORDS * sizeof(int)), *source = malloc(WORDS * sizeof(int));

    bsp_push_reg(area, WORDS * sizeof(int));
    bsp_sync();
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < WORDS; i++)
            source[i] = me + i + round;
        bsp_put(right, source, area, 0, WORDS * sizeof(int));
        bsp_sync();
        CHECK_INT(area[0], left + round);
        CHECK_INT(area[WORDS / 2], left + WORDS / 2 + round);
        CHECK_INT(area[WORDS - 1], left + WORDS - 1 + round);
        for (int k = 0; k < 10; k++) {
            bsp_put(right, &k, area, k * (int)sizeof(int), sizeof(int));
            bsp_sync();
            CHECK_INT(area[k], k);
        }
    }
    bsp_get(right, area, 0, source, WORDS * sizeof(int));
    bsp_sync();
    CHECK_INT(source[5], 5);
    CHECK_INT(source[WORDS - 1], me + WORDS - 1 + 1);
    conform_done();
    bsp_end();
    return 0;
}
