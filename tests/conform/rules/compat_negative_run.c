/* Compatibility: with BSP_COMPAT=oxford, puts and gets that start before the area, in another one, and
 * go on into it are good each for itself, though no area holds all of them.
 *
 * ENV: BSP_COMPAT=oxford
 *
 * CASE: good
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: one of them is not
 * ARGS: beyond
 * STATUS: nonzero
 * ERROR: bsp_put @put ? 1
 * FACT: 4 bytes at offset -24\b
 */
#include "../check.h"

int main(int argc, char **argv)
{
    int first = argc > 1 && strcmp(argv[1], "beyond") == 0 ? -6 : -5;

    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), room[12] = {0}, seen[10] = {0};
    int *low = room + 1, *high = room + 6;

    bsp_push_reg(low, 5 * sizeof(int));
    bsp_push_reg(high, 5 * sizeof(int));
    bsp_sync();
    for (int i = first; i < 5; i++)
        bsp_put((me + 1) % p, &me, high, i * (int)sizeof(int), sizeof(int)); /* @put */
    bsp_sync();
    for (int i = -5; i < 5; i++)
        bsp_get((me + 1) % p, high, i * (int)sizeof(int), &seen[i + 5], sizeof(int));
    bsp_sync();
    for (int i = 0; i < 10; i++) {
        CHECK_INT(room[i + 1], (me + p - 1) % p);
        CHECK_INT(seen[i], me);
    }
    conform_done();
    bsp_end();
    return 0;
}
