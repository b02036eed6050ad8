/* Compatibility: negative numbers of bytes are errors; with BSP_COMPAT=oxford nothing happens.
 *
 * CASE: default put
 * ARGS: put
 * STATUS: nonzero
 * ERROR: bsp_put @put ? 1
 * FACT: -4\b
 *
 * CASE: default get
 * ARGS: get
 * STATUS: nonzero
 * ERROR: bsp_get @get ? 1
 * FACT: -4\b
 *
 * CASE: default hpput
 * ARGS: hpput
 * STATUS: nonzero
 * ERROR: bsp_hpput @hpput ? 1
 * FACT: -4\b
 *
 * CASE: default hpget
 * ARGS: hpget
 * STATUS: nonzero
 * ERROR: bsp_hpget @hpget ? 1
 * FACT: -4\b
 *
 * CASE: oxford
 * ENV: BSP_COMPAT=oxford
 * ARGS: put get hpput hpget
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

static int wants(int argc, char **argv, const char *word)
{
    for (int k = 1; k < argc; k++)
        if (strcmp(argv[k], word) == 0)
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    bsp_begin(0);
    int to = (bsp_pid() + 1) % bsp_nprocs(), area = 5, value = 6;

    bsp_push_reg(&area, sizeof area);
    bsp_sync();
    if (wants(argc, argv, "put"))
        bsp_put(to, &value, &area, 0, -4); /* @put */
    if (wants(argc, argv, "get"))
        bsp_get(to, &area, 0, &value, -4); /* @get */
    if (wants(argc, argv, "hpput"))
        bsp_hpput(to, &value, &area, 0, -4); /* @hpput */
    if (wants(argc, argv, "hpget"))
        bsp_hpget(to, &area, 0, &value, -4); /* @hpget */
    bsp_sync();
    CHECK(area == 5 && value == 6);
    conform_done();
    bsp_end();
    return 0;
}
