/* DRMA: bsp_hpput and bsp_hpget have done their work at the end of the superstep, for small and for
 * large areas, also to the own process and with overlapping areas there.
 *
 * CASE: standard
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: direct
 * ENV: BSPZERO_DIRECT=4096
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: not a number
 * P: 1 2
 * ENV: BSPZERO_DIRECT=4k
 * STATUS: nonzero
 * ERR-RE: BSPZERO_DIRECT=4k is not a number of bytes
 */
#include "../check.h"

enum { LARGE = 300000 };
static int area[LARGE], source[LARGE], fetched[LARGE], fixed[LARGE];

static void exchange(int words, int partner, int from)
{
    int me = bsp_pid();

    for (int i = 0; i < words; i++) {
        source[i] = me * 1000000 + i;
        fixed[i] = -source[i];
        area[i] = fetched[i] = 0;
    }
    bsp_sync();
    bsp_hpput(partner, source, area, 0, words * (int)sizeof(int));
    bsp_hpget(partner, fixed, 0, fetched, words * (int)sizeof(int));
    bsp_sync();
    for (int i = 0; i < words; i++) {
        CHECK_INT(area[i], from * 1000000 + i);
        CHECK_INT(fetched[i], -(partner * 1000000 + i));
    }
}

int main(void)
{
    static const int sizes[] = {1, 3, 100, 1000, 20000, LARGE};

    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid();

    bsp_push_reg(area, sizeof area);
    bsp_push_reg(fixed, sizeof fixed);
    bsp_sync();
    for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        exchange(sizes[k], (me + 1) % p, (me + p - 1) % p);
        exchange(sizes[k], me, me);
    }
    for (int i = 0; i < 100; i++)
        fixed[i] = i;
    bsp_hpput(me, fixed, fixed, sizeof(int), 99 * sizeof(int));
    bsp_sync();
    for (int i = 1; i < 100; i++)
        CHECK_INT(fixed[i], i - 1);
    conform_done();
    bsp_end();
    return 0;
}
