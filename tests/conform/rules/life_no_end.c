/* Life cycle: leaving the program without bsp_end is an error unless BSP_COMPAT=oxford accepts it.
 *
 * CASE: default
 * STATUS: nonzero
 * ERR-RE: bsp_end
 *
 * CASE: oxford
 * ENV: BSP_COMPAT=oxford
 * STATUS: 0
 * OUT-EACH: pid ${i}
 */
#include <bsp.h>

int main(void)
{
    bsp_begin(0);
    printf("pid %d\n", bsp_pid());
    bsp_sync();
    return 0;
}
