/* Error 16: an area that was pushed in this very superstep; the text differs from that of an
 * unregistered one.
 *
 * P: 1 3
 * STATUS: nonzero
 *
 * CASE: put
 * ARGS: put
 * ERROR: bsp_put @put ? 1
 * FACT: (?i)superstep|bsp_sync
 *
 * CASE: hpput
 * ARGS: hpput
 * ERROR: bsp_hpput @hpput ? 1
 * FACT: (?i)superstep|bsp_sync
 *
 * CASE: get
 * ARGS: get
 * ERROR: bsp_get @get ? 1
 * FACT: (?i)superstep|bsp_sync
 *
 * CASE: hpget
 * ARGS: hpget
 * ERROR: bsp_hpget @hpget ? 1
 * FACT: (?i)superstep|bsp_sync
 */
#include <bsp.h>
#include <string.h>

int main(int argc, char **argv)
{
    int area = 0, value = 0;
    const char *name = argc > 1 ? argv[1] : "";

    bsp_begin(0);
    bsp_sync();
    bsp_push_reg(&area, sizeof area);
    if (strcmp(name, "put") == 0)
        bsp_put(0, &value, &area, 0, 4); /* @put */
    if (strcmp(name, "hpput") == 0)
        bsp_hpput(0, &value, &area, 0, 4); /* @hpput */
    if (strcmp(name, "get") == 0)
        bsp_get(0, &area, 0, &value, 4); /* @get */
    if (strcmp(name, "hpget") == 0)
        bsp_hpget(0, &area, 0, &value, 4); /* @hpget */
    bsp_sync();
    bsp_end();
    return 0;
}
