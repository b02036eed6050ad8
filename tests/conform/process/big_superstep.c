/* Process model: memory of an unusually large superstep returns to the system.
 *
 * P: 1 2
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"
#include "shared_memory.h"

enum { LARGE = 64 << 20 };
static char area[LARGE], source[LARGE];

int main(void)
{
    bsp_begin(0);
    int right = (bsp_pid() + 1) % bsp_nprocs(), small = 5;

    bsp_push_reg(area, sizeof area);
    bsp_sync();
    for (int round = 0; round < 2; round++) {
        source[0] = 1;
        bsp_put(right, source, area, 0, LARGE);
        bsp_sync();
        CHECK(area[0] == 1);
    }
    CHECK(shared_kilobytes() > 30 << 10);
    for (int i = 0; i < 1000; i++) {
        bsp_put(right, &small, area, 0, sizeof small);
        bsp_sync();
    }
    CHECK(shared_kilobytes() < 24 << 10);
    conform_done();
    bsp_end();
    return 0;
}
