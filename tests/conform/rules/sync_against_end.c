/* Barrier: some processes in bsp_sync and some in bsp_end end the job with the place of each.
 *
 * P: 2 3 4
 * STATUS: nonzero
 * ERR-RE: sync_against_end\.c:${line('sync')}
 * ERR-RE: bsp_end
 */
#include <bsp.h>

int main(void)
{
    bsp_begin(0);
    bsp_sync();
    if (bsp_pid() == 0)
        bsp_sync(); /* @sync */
    bsp_end();
    return 0;
}
