/* Error 18: a negative offset or a negative number of bytes, found at the call.
 *
 * P: 1 3
 * STATUS: nonzero
 * OUT-NOT: behind
 *
 * CASE: put offset
 * ARGS: put -8 4
 * ERROR: bsp_put @put ? 1
 * FACT: -8\b
 *
 * CASE: put size
 * ARGS: put 4 -12
 * ERROR: bsp_put @put ? 1
 * FACT: -12\b
 *
 * CASE: hpput offset
 * ARGS: hpput -8 4
 * ERROR: bsp_hpput @hpput ? 1
 * FACT: -8\b
 *
 * CASE: hpput size
 * ARGS: hpput 4 -12
 * ERROR: bsp_hpput @hpput ? 1
 * FACT: -12\b
 *
 * CASE: get offset
 * ARGS: get -8 4
 * ERROR: bsp_get @get ? 1
 * FACT: -8\b
 *
 * CASE: get size
 * ARGS: get 4 -12
 * ERROR: bsp_get @get ? 1
 * FACT: -12\b
 *
 * CASE: hpget offset
 * ARGS: hpget -8 4
 * ERROR: bsp_hpget @hpget ? 1
 * FACT: -8\b
 *
 * CASE: hpget size
 * ARGS: hpget 4 -12
 * ERROR: bsp_hpget @hpget ? 1
 * FACT: -12\b
 */
#include <bsp.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    static char area[20], value[20];

    if (argc < 4)
        return 99;
    bsp_begin(0);
    int offset = atoi(argv[2]), size = atoi(argv[3]);
    const char *name = argv[1];

    bsp_push_reg(area, sizeof area);
    bsp_sync();
    if (strcmp(name, "put") == 0)
        bsp_put(0, value, area, offset, size); /* @put */
    if (strcmp(name, "hpput") == 0)
        bsp_hpput(0, value, area, offset, size); /* @hpput */
    if (strcmp(name, "get") == 0)
        bsp_get(0, area, offset, value, size); /* @get */
    if (strcmp(name, "hpget") == 0)
        bsp_hpget(0, area, offset, value, size); /* @hpget */
    printf("behind the call\n");
    bsp_sync();
    bsp_end();
    return 0;
}
