/* Compatibility: with BSP_COMPAT=oxford, large bsp_hpput and bsp_hpget to an area pushed in the same
 * superstep work although the other process comes to its own push only later.
 *
 * P: 2 3 4
 * ENV: BSP_COMPAT=oxford BSPZERO_DIRECT=4096
 *
 * CASE: put
 * ARGS: put
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: get
 * ARGS: get
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"
#include "../common_count.h"

enum { WORDS = 20000 };
static int area[WORDS], other[WORDS];

int main(int argc, char **argv)
{
    int put = argc > 1 && strcmp(argv[1], "put") == 0;

    bsp_begin(0);
    int issued = common_count_open(); /* how many have issued theirs */
    int p = bsp_nprocs(), me = bsp_pid(), right = (me + 1) % p, left = (me + p - 1) % p;

    for (int i = 0; i < WORDS; i++) {
        area[i] = me;
        other[i] = put ? me : -1;
    }
    /* One after the other, upwards: the right neighbour, but for the last one's, has not pushed. */
    common_count_wait(issued, me);
    bsp_push_reg(area, sizeof area);
    if (put)
        bsp_hpput(right, other, area, 0, sizeof area);
    else
        bsp_hpget(right, area, 0, other, sizeof area);
    common_count_raise(issued);
    bsp_sync();
    for (int i = 0; i < WORDS; i++)
        CHECK_INT(put ? area[i] : other[i], put ? left : right);
    conform_done();
    bsp_end();
    return 0;
}
