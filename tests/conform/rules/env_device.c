/* Environment: BSP_DEVICE and BSP_MACHINE may say what the program was linked for, and whatever was
 * no name of a device or machine in the Oxford toolset.
 *
 * P: 1 2
 * OUT-EACH: pid ${i} runs
 *
 * CASE: as linked
 * ENV: BSP_DEVICE=SHMEM_SYSV BSP_MACHINE=LINUX
 *
 * CASE: as chosen at the link
 * CC: -device MPASS_TCPIP
 * ENV: BSP_DEVICE=MPASS_TCPIP BSP_MACHINE=LINUX
 *
 * CASE: as chosen by a short option
 * CC: -udpip
 * ENV: BSP_DEVICE=MPASS_UDPIP
 *
 * CASE: chosen at the link only
 * CC: -device MPASS_MPI
 *
 * CASE: as the environment of bspcc chose
 * RUN: bsprun
 * SHELL: export BSP_DEVICE=MPASS_MPI; "$BIN/bspcc" '${file}' -o it && exec "$BSPRUN" -np $P ./it
 *
 * CASE: names from elsewhere
 * ENV: BSP_DEVICE=modem BSP_MACHINE=cluster7
 *
 * CASE: empty
 * ENV: BSP_DEVICE= BSP_MACHINE=
 *
 * CASE: not linked by bspcc
 * RUN: bsprun
 * SHELL: "$BIN/bspcc" -c '${file}' -o it.o && cc it.o "$BIN/../lib/libbsp.a" -lm -o it && BSP_DEVICE=MPASS_MPI exec "$BSPRUN" -np $P ./it
 */
#include <bsp.h>

int main(void)
{
    bsp_begin(0);
    printf("pid %d runs\n", bsp_pid());
    bsp_end();
    return 0;
}
