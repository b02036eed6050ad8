/* Idiom 22: arithmetic with signed process numbers, and comparisons with -1.
 *
 * OUT-ANY: outside
 * OUT-EACH: ${i}: left ${(i + p - 1) % p} below ${i - 1} ${'none' if i == 0 else 'some'}
 */
#include "bsp.h"

int main()
{
    if (bsp_pid() == -1 && bsp_pid() < 0)
        printf("outside\n");
    bsp_begin(bsp_nprocs());
    printf("%d: left %d below %d %s\n", bsp_pid(), (bsp_pid() + bsp_nprocs() - 1) % bsp_nprocs(),
           bsp_pid() - 1, bsp_pid() - 1 > -1 ? "some" : "none");
    bsp_end();
    return 0;
}
