/* Environment: an empty BSP_COMPAT, and none, are the default: a put to an area pushed in the same
 * superstep is an error.
 *
 * P: 2
 * STATUS: nonzero
 *
 * CASE: empty
 * ENV: BSP_COMPAT=
 * ERROR: bsp_put @put ? ?
 *
 * CASE: none
 * ENV: BSP_COMPAT=none
 * ERROR: bsp_put @put ? ?
 */
#include <bsp.h>

int main(void)
{
    int area = 0, me;

    bsp_begin(0);
    me = bsp_pid();
    bsp_push_reg(&area, sizeof area);
    bsp_put(0, &me, &area, 0, sizeof area); /* @put */
    bsp_sync();
    bsp_end();
    return 0;
}
