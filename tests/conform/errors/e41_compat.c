/* Error 41: BSP_COMPAT is no mode that there is.
 *
 * P: 1 3
 * STATUS: nonzero
 * OUT: before
 *
 * CASE: misspelt
 * ENV: BSP_COMPAT=oxfrod
 * ERROR: bsp_begin @begin -1 ?
 * FACT: BSP_COMPAT=oxfrod\b
 * FACT: give oxford or none\b
 *
 * CASE: capitals
 * ENV: BSP_COMPAT=Oxford
 * ERROR: bsp_begin @begin -1 ?
 * FACT: BSP_COMPAT=Oxford\b
 */
#include <bsp.h>

int main(void)
{
    puts("before");
    bsp_begin(0); /* @begin */
    puts("after");
    bsp_end();
    return 0;
}
