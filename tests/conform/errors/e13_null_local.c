/* Error 13: NULL as the source of a put or the destination of a get; the message has the size.
 *
 * P: 1 3
 * STATUS: nonzero
 *
 * CASE: put
 * ARGS: put
 * ERROR: bsp_put @put ? 1
 * FACT: NULL
 * FACT: \b12\b
 *
 * CASE: hpput
 * ARGS: hpput
 * ERROR: bsp_hpput @hpput ? 1
 * FACT: NULL
 * FACT: \b12\b
 *
 * CASE: get
 * ARGS: get
 * ERROR: bsp_get @get ? 1
 * FACT: NULL
 * FACT: \b12\b
 *
 * CASE: hpget
 * ARGS: hpget
 * ERROR: bsp_hpget @hpget ? 1
 * FACT: NULL
 * FACT: \b12\b
 */
#include <bsp.h>
#include <string.h>

int main(int argc, char **argv)
{
    static char area[20], value[20];
    const char *name = argc > 1 ? argv[1] : "";

    bsp_begin(0);
    bsp_push_reg(area, sizeof area);
    bsp_sync();
    if (strcmp(name, "put") == 0)
        bsp_put(0, NULL, area, 0, 12); /* @put */
    if (strcmp(name, "hpput") == 0)
        bsp_hpput(0, NULL, area, 0, 12); /* @hpput */
    if (strcmp(name, "get") == 0)
        bsp_get(0, area, 0, NULL, 12); /* @get */
    if (strcmp(name, "hpget") == 0)
        bsp_hpget(0, area, 0, NULL, 12); /* @hpget */
    memset(value, 0, sizeof value);
    bsp_sync();
    bsp_end();
    return 0;
}
