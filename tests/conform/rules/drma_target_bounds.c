/* DRMA: the area registered by the target counts, not the caller's: sizes may differ per process
 * and the last byte of the larger one can be reached.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid();
    unsigned char *area = calloc(1, (size_t)(me + 1) * 100), got = 0;

    bsp_push_reg(area, (me + 1) * 100);
    bsp_sync();
    for (int to = 0; to < p; to++) {
        unsigned char value = (unsigned char)(to + 1);

        if (me == 0)
            bsp_put(to, &value, area, (to + 1) * 100 - 1, 1);
    }
    bsp_sync();
    CHECK_INT(area[(me + 1) * 100 - 1], me + 1);
    bsp_get(p - 1, area, p * 100 - 1, &got, 1);
    bsp_sync();
    CHECK_INT(got, p);
    conform_done();
    bsp_end();
    free(area);
    return 0;
}
