/* Compatibility: a negative registration size is an error in both modes.
 *
 * CASE: default
 * STATUS: nonzero
 * ERROR: bsp_push_reg @push ? 0
 * FACT: -4\b
 *
 * CASE: oxford
 * ENV: BSP_COMPAT=oxford
 * STATUS: nonzero
 * ERROR: bsp_push_reg @push ? 0
 * FACT: -4\b
 */
#include <bsp.h>

int main(void)
{
    int area = 0;

    bsp_begin(0);
    bsp_push_reg(&area, -4); /* @push */
    bsp_sync();
    bsp_end();
    return 0;
}
