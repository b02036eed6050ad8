/* Error 10: bsp_sync at different places of the text, where that check is asked for; the message
 * has the place of every process.
 *
 * CC: -fcheck-syncs
 * STATUS: nonzero
 * ERR-RE: bsp_sync
 * ERR-RE: superstep 3
 * ERR-RE: e10_sync_positions\.c:${line('zero')}
 * ERR-RE: e10_sync_positions\.c:${line('others')}
 *
 * CASE: few
 * P: 2 3 4 7
 *
 * CASE: more than a message holds
 * P: 100
 * ERR-RE: \n  \.\.\. and [1-9][0-9]* more\n
 */
#include <bsp.h>

int main(void)
{
    bsp_begin(0);
    for (int i = 0; i < 3; i++)
        bsp_sync();
    if (bsp_pid() == 0)
        bsp_sync(); /* @zero */
    else
        bsp_sync(); /* @others */
    bsp_end();
    return 0;
}
