/* Compatibility: bsp_pid, bsp_nprocs and bsp_time outside the SPMD part return a value in both
 * modes.
 *
 * CASE: default
 * OUT-RE: \A-1 ${p} 0.0\n0 ${p} 1\n\Z
 *
 * CASE: oxford
 * ENV: BSP_COMPAT=oxford
 * OUT-RE: \A-1 ${p} 0.0\n0 ${p} 1\n\Z
 */
#include <bsp.h>

int main(void)
{
    printf("%d %d %.1f\n", bsp_pid(), bsp_nprocs(), bsp_time());
    bsp_begin(0);
    bsp_sync();
    bsp_end();
    printf("%d %d %d\n", bsp_pid(), bsp_nprocs(), bsp_time() > 0);
    return 0;
}
