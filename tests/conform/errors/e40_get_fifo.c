/* Error 40 does not occur: no number of gets, puts or messages of a superstep is too large for a
 * fixed queue.
 *
 * P: 1 2 3
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

enum { COUNT = 200000 };

int main(void)
{
    static int fetched[COUNT];
    int value = 0, packets, bytes;

    bsp_begin(0);
    bsp_push_reg(&value, sizeof value);
    bsp_sync();
    value = 41 + bsp_pid();
    for (int i = COUNT - 1; i >= 0; i--)
        bsp_get(i % bsp_nprocs(), &value, 0, &fetched[i], sizeof(int));
    for (int i = 0; i < COUNT; i++)
        bsp_send(0, NULL, NULL, 0);
    bsp_sync();
    bsp_qsize(&packets, &bytes);
    CHECK_INT(packets, bsp_pid() == 0 ? COUNT * bsp_nprocs() : 0);
    for (int i = 0; i < COUNT; i++)
        CHECK_INT(fetched[i], 41 + i % bsp_nprocs());
    conform_done();
    bsp_end();
    return 0;
}
