/* DRMA: a get fetches what the memory holds when its process reaches the barrier, local stores made
 * behind the call included; the destination is not written before the barrier.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid();
    int value = -5, fetched[64];

    for (int i = 0; i < 64; i++)
        fetched[i] = -9;
    bsp_push_reg(&value, sizeof value);
    bsp_sync();
    for (int from = 0; from < p; from++)
        bsp_get(from, &value, 0, &fetched[from], sizeof(int));
    value = 100 + me;
    for (int i = 0; i < 64; i++)
        CHECK_INT(fetched[i], -9);
    bsp_sync();
    for (int i = 0; i < 64; i++)
        CHECK_INT(fetched[i], i < p ? 100 + i : -9);
    value = 200 + me;
    bsp_sync();
    CHECK_INT(fetched[0], 100);
    conform_done();
    bsp_end();
    return 0;
}
