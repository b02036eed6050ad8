/* Environment: what old shell profiles and scripts set for the old toolset does no harm.
 *
 * P: 1 2
 * ENV: BSP_DEVICE=SHMEM_SYSV BSP_MACHINE=LINUX BSP_EXEC=other BSP_PWD=/nowhere BSP_LOCAL=1
 * ENV: BSP_DOLOAD=0 BSP_SPLITOUTPUT=0 BSP_THROTTLE_PROCS=1 BSPTCP_PID=9 BSPTCP_NCPUS=4
 * ENV: BSP_INCLUDE_DIR=/nowhere DAVINCIHOME=/nowhere
 * OUT-EACH: pid ${i} of ${p}: BSPTCP_NCPUS is 4, BSP_EXEC is other, BSP_PWD is /nowhere
 */
#include <bsp.h>
#include <stdlib.h>

int main(void)
{
    bsp_begin(0);
    printf("pid %d of %d: BSPTCP_NCPUS is %s, BSP_EXEC is %s, BSP_PWD is %s\n", bsp_pid(),
           bsp_nprocs(), getenv("BSPTCP_NCPUS"), getenv("BSP_EXEC"), getenv("BSP_PWD"));
    bsp_sync();
    bsp_end();
    return 0;
}
