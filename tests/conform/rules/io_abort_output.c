/* I/O: what the aborting process has printed before, and what others have printed before the last
 * barrier, is not lost.
 *
 * STATUS: 1
 * OUT-EACH: pid ${i} before the barrier
 * OUT-ANY: about to abort
 * ERR-RE: ABORT\(pid  0\): ?now
 */
#include <bsp.h>

int main(void)
{
    bsp_begin(0);
    printf("pid %d before the barrier\n", bsp_pid());
    bsp_sync();
    if (bsp_pid() == 0) {
        printf("about to abort\n");
        bsp_abort("now");
    }
    bsp_sync();
    bsp_end();
    return 0;
}
