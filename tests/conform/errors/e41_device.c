/* Error 41: BSP_DEVICE or BSP_MACHINE name another device or machine than the program was linked
 * for.
 *
 * P: 1 3
 * STATUS: nonzero
 * OUT: before
 *
 * CASE: device
 * ENV: BSP_DEVICE=MPASS_TCPIP
 * ERROR: bsp_begin @begin -1 ?
 * FACT: BSP_DEVICE=MPASS_TCPIP\b
 * FACT: linked for .*SHMEM_SYSV\b
 *
 * CASE: chosen device
 * CC: -device MPASS_UDPIP
 * ENV: BSP_DEVICE=SHMEM_SYSV
 * ERROR: bsp_begin @begin -1 ?
 * FACT: BSP_DEVICE=SHMEM_SYSV\b
 * FACT: linked for .*MPASS_UDPIP\b
 *
 * CASE: machine
 * ENV: BSP_DEVICE=SHMEM_SYSV BSP_MACHINE=SGI
 * ERROR: bsp_begin @begin -1 ?
 * FACT: BSP_MACHINE=SGI\b
 * FACT: linked for .*LINUX\b
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
