/* DRMA: all get sources are read before any get destination is written: values can be exchanged and
 * rotated by gets alone.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

enum { WORDS = 3000 };
static int area[WORDS];

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid();
    int pair[2] = {10 * me, 10 * me + 1};

    for (int i = 0; i < WORDS; i++)
        area[i] = 100000 * me + i;
    bsp_push_reg(area, sizeof area);
    bsp_push_reg(pair, sizeof pair);
    bsp_sync();
    bsp_get((me + 1) % p, area, 0, area, sizeof area);
    bsp_get(me, pair, 0, &pair[1], sizeof(int));
    bsp_get(me, pair, sizeof(int), &pair[0], sizeof(int));
    bsp_sync();
    for (int i = 0; i < WORDS; i++)
        CHECK_INT(area[i], 100000 * ((me + 1) % p) + i);
    CHECK_INT(pair[0], 10 * me + 1);
    CHECK_INT(pair[1], 10 * me);
    conform_done();
    bsp_end();
    return 0;
}
