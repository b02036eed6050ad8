/* Error 8: some processes call bsp_sync and others bsp_end; the message lists where each is.
 *
 * P: 2 3 4 7
 * STATUS: nonzero
 *
 * CASE: process 0 syncs
 * ARGS: 0
 * ERR-RE: bsp_sync
 * ERR-RE: bsp_end
 * ERR-RE: bsp_sync at .*e08_sync_end\.c:${line('sync')}
 * ERR-RE: bsp_end at .*e08_sync_end\.c:${line('end')}
 * ERR-RE: superstep 1
 *
 * CASE: the last syncs
 * ARGS: ${p-1}
 * ERR-RE: bsp_sync
 * ERR-RE: bsp_end
 * ERR-RE: bsp_sync at .*e08_sync_end\.c:${line('sync')}
 * ERR-RE: bsp_end at .*e08_sync_end\.c:${line('end')}
 * ERR-RE: superstep 1
 */
#include <bsp.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    bsp_begin(0);
    bsp_sync();
    if (argc > 1 && bsp_pid() == atoi(argv[1]))
        bsp_sync(); /* @sync */
    bsp_end(); /* @end */
    return 0;
}
