/* Compatibility: put and get to an area pushed in the same superstep: an error, accepted with
 * BSP_COMPAT=oxford.
 *
 * CASE: default put
 * ARGS: put
 * STATUS: nonzero
 * ERROR: bsp_put @put ? 0
 *
 * CASE: default get
 * ARGS: get
 * STATUS: nonzero
 * ERROR: bsp_get @get ? 0
 *
 * CASE: oxford
 * ENV: BSP_COMPAT=oxford
 * ARGS: put get
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(int argc, char **argv)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), area[2] = {-1, 500 + me}, seen = -2;

    bsp_push_reg(area, sizeof area);
    for (int k = 1; k < argc; k++) {
        if (strcmp(argv[k], "put") == 0)
            bsp_put((me + 1) % p, &me, area, 0, sizeof(int)); /* @put */
        if (strcmp(argv[k], "get") == 0)
            bsp_get((me + 1) % p, area, sizeof(int), &seen, sizeof(int)); /* @get */
    }
    bsp_sync();
    CHECK_INT(area[0], (me + p - 1) % p);
    CHECK_INT(seen, 500 + (me + 1) % p);
    conform_done();
    bsp_end();
    return 0;
}
