/* DRMA: gets of one process whose destinations overlap are written ascending by the process they
 * come from, and in the order of the calls among those from one process.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid();
    int source[2] = {10 + me, 100 + me}, target = 0, twice = 0;

    bsp_push_reg(source, sizeof source);
    bsp_sync();
    for (int k = 0; k < p; k++)
        bsp_get((p - k) % p, source, 0, &target, sizeof(int));
    bsp_get(p - 1, source, 0, &twice, sizeof(int));
    bsp_get(p - 1, source, sizeof(int), &twice, sizeof(int));
    bsp_sync();
    CHECK_INT(target, 10 + p - 1);
    CHECK_INT(twice, 100 + p - 1);
    conform_done();
    bsp_end();
    return 0;
}
