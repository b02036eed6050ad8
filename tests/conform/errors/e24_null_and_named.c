/* Error 24: NULL stands for what the others name, and so comes to name an area that an earlier call
 * of the superstep popped.
 *
 * P: 2 3 4 7
 * STATUS: nonzero
 * ERROR: bsp_pop_reg @pop 0 1
 * FACT: e24_null_and_named\.c:${line('area')}\b
 * FACT: NULL
 */
#include <bsp.h>

int main(void)
{
    int area = 0;

    bsp_begin(0);
    bsp_push_reg(&area, sizeof area); /* @area */
    bsp_sync();
    bsp_pop_reg(bsp_pid() == 0 ? NULL : &area);
    bsp_pop_reg(bsp_pid() == 0 ? &area : NULL); /* @pop */
    bsp_sync();
    bsp_end();
    return 0;
}
