/* Error 24: NULL is popped everywhere and no slot is NULL everywhere.
 *
 * P: 1 2 3
 * STATUS: nonzero
 * ERROR: bsp_pop_reg @pop ? 1
 * FACT: NULL
 *
 * CASE: no NULL slot
 * ARGS: 1
 *
 * CASE: one NULL slot popped twice
 * ARGS: 2
 */
#include <bsp.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int area = 0, count = argc > 1 ? atoi(argv[1]) : 0;

    bsp_begin(0);
    bsp_push_reg(&area, sizeof area);
    if (count == 2)
        bsp_push_reg(NULL, 0);
    bsp_sync();
    for (int k = 0; k < count; k++)
        bsp_pop_reg(NULL); /* @pop */
    bsp_sync();
    bsp_end();
    return 0;
}
