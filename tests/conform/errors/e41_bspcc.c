/* Error 41: bspcc says that it does not know the device it is to link for.
 *
 * P: 1
 * RUN: bare
 * STATUS: 1
 *
 * CASE: variable
 * SHELL: BSP_DEVICE=modem exec "$BIN/bspcc" '${file}' -o it
 * ERR: bspcc: BSP_DEVICE: 'modem' is not a device of BSPlib: try SHMEM_SYSV
 *
 * CASE: option
 * SHELL: exec "$BIN/bspcc" -device modem '${file}' -o it
 * ERR: bspcc: -device: 'modem' is not a device of BSPlib: try SHMEM_SYSV
 */
#include <bsp.h>

int main(void)
{
    bsp_begin(0);
    bsp_end();
    return 0;
}
