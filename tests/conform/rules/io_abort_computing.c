/* I/O: bsp_abort ends processes that compute and never reach another BSPlib call.
 *
 * P: 2 3
 * STATUS: 1
 * ERR-RE: ABORT\(pid  1\): ?enough
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
