/* Life cycle: bsp_begin first in main and bsp_end last make the whole program SPMD.
 *
 * OUT-EACH: pid ${i} of ${p}: ok
 */
#include <bsp.h>

int main(void)
{
    bsp_begin(bsp_nprocs());
    printf("pid %d of %d: ok\n", bsp_pid(), bsp_nprocs());
    bsp_end();
    return 0;
}
