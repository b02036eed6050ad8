/* DRMA: a transfer of 0 bytes has no effect and none of its other arguments is looked at.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    int unregistered = 5, other = 6;

    bsp_begin(0);
    bsp_put(-1, NULL, NULL, -8, 0);
    bsp_put(1000, &other, &unregistered, 1 << 30, 0);
    bsp_hpput(bsp_nprocs(), NULL, &unregistered, -1, 0);
    bsp_get(-7, NULL, -8, NULL, 0);
    bsp_get(1000, &unregistered, 99, &other, 0);
    bsp_hpget(bsp_nprocs(), &unregistered, -1, NULL, 0);
    bsp_sync();
    CHECK(unregistered == 5 && other == 6);
    conform_done();
    bsp_end();
    return 0;
}
