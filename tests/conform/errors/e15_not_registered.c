/* Error 15: an address that is not registered: never, an interior pointer, one past, or popped in an
 * earlier superstep.
 *
 * P: 1 3
 * STATUS: nonzero
 *
 * CASE: put
 * ARGS: put
 * ERROR: bsp_put @put ? 2
 * FACT: (?i)not registered|no registered
 *
 * CASE: hpput
 * ARGS: hpput
 * ERROR: bsp_hpput @hpput ? 2
 * FACT: (?i)not registered|no registered
 *
 * CASE: get
 * ARGS: get
 * ERROR: bsp_get @get ? 2
 * FACT: (?i)not registered|no registered
 *
 * CASE: hpget
 * ARGS: hpget
 * ERROR: bsp_hpget @hpget ? 2
 * FACT: (?i)not registered|no registered
 *
 * CASE: interior
 * ARGS: interior
 * ERROR: bsp_put @interior ? 2
 * FACT: (?i)not registered|no registered
 *
 * CASE: past
 * ARGS: past
 * ERROR: bsp_get @past ? 2
 * FACT: (?i)not registered|no registered
 *
 * CASE: popped
 * ARGS: popped
 * ERROR: bsp_put @popped ? 2
 * FACT: (?i)not registered|no registered
 *
 * CASE: popped_get
 * ARGS: popped_get
 * ERROR: bsp_get @popped_get ? 2
 * FACT: (?i)not registered|no registered
 */
#include <bsp.h>
#include <string.h>

int main(int argc, char **argv)
{
    static char area[20], value[20];
    const char *name = argc > 1 ? argv[1] : "";

    bsp_begin(0);
    bsp_push_reg(area, sizeof area);
    static char popped[8];
    bsp_push_reg(popped, sizeof popped);
    bsp_sync();
    bsp_pop_reg(popped);
    bsp_sync();
    if (strcmp(name, "put") == 0)
        bsp_put(0, value, value, 0, 12); /* @put */
    if (strcmp(name, "hpput") == 0)
        bsp_hpput(0, value, value, 0, 12); /* @hpput */
    if (strcmp(name, "get") == 0)
        bsp_get(0, value, 0, value, 12); /* @get */
    if (strcmp(name, "hpget") == 0)
        bsp_hpget(0, value, 0, value, 12); /* @hpget */
    if (strcmp(name, "interior") == 0)
        bsp_put(0, value, area + 4, 0, 4); /* @interior */
    if (strcmp(name, "past") == 0)
        bsp_get(0, area + sizeof area, 0, value, 1); /* @past */
    if (strcmp(name, "popped") == 0)
        bsp_put(0, value, popped, 0, 4); /* @popped */
    if (strcmp(name, "popped_get") == 0)
        bsp_get(0, popped, 0, value, 4); /* @popped_get */
    memset(value, 0, sizeof value);
    bsp_sync();
    bsp_end();
    return 0;
}
