/* Process model: every barrier has one decision, the same for all processes: the coordinator may be
 * asked at each, at some or at none, and it may end the job at any.
 *
 * CASE: asked at every barrier
 * ENV: BSPZERO_FAULT=consult:1
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: asked at some
 * ENV: BSPZERO_FAULT=consult:3
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: ended at the third
 * ENV: BSPZERO_FAULT=consult:1,abort-at:3
 * STATUS: nonzero
 * OUT-NOT: ok
 * ERR-RE: superstep 3
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int area = 0;

    bsp_push_reg(&area, sizeof area);
    bsp_sync();
    for (int round = 1; round < 400; round++) {
        bsp_put((bsp_pid() + 1) % bsp_nprocs(), &round, &area, 0, sizeof area);
        bsp_sync();
        CHECK_INT(area, round);
    }
    conform_done();
    bsp_end();
    return 0;
}
