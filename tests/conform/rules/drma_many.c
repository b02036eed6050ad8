/* DRMA: tens of thousands of tiny puts and gets per superstep, then thousands of empty supersteps.
 *
 * P: 1 2 4
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

enum { COUNT = 30000 };
static int area[COUNT], fetched[COUNT];

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), right = (me + 1) % p;

    bsp_push_reg(area, sizeof area);
    bsp_sync();
    for (int i = 0; i < COUNT; i++) {
        int at = (int)((i * 7919LL) % COUNT);

        bsp_put(right, &i, area, at * (int)sizeof(int), sizeof(int));
    }
    bsp_sync();
    for (int i = 0; i < COUNT; i++) {
        int at = (int)((i * 7919LL) % COUNT);

        CHECK_INT(area[at], i);
        bsp_get(right, area, at * (int)sizeof(int), &fetched[i], sizeof(int));
    }
    bsp_sync();
    for (int i = 0; i < COUNT; i++)
        CHECK_INT(fetched[i], i);
    for (int i = 0; i < 5000; i++)
        bsp_sync();
    conform_done();
    bsp_end();
    return 0;
}
