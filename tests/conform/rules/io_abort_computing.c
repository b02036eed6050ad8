/* I/O: bsp_abort ends processes that compute and never reach another BSPlib call.
 *
 * P: 2 3
 * ERR-RE: ABORT\(pid  1\): ?enough
 *
 * CASE: launcher
 * RUN: bsprun
 * STATUS: 1
 *
 * CASE: bare, where process 0 itself is the command the shell waits for
 * RUN: bare
 * STATUS: failed
 */
#include <bsp.h>
#include <unistd.h>

int main(void)
{
    bsp_begin(0);
    if (bsp_pid() == 1)
        bsp_abort("enough");
    for (;;)
        pause();
}
