/* Idiom 21: bsp_begin(bsp_nprocs()) is the first statement of all.
 *
 * OUT-EACH: ${i} of ${p}
 */
#include "bsp.h"

int main()
{
    bsp_begin(bsp_nprocs());
    printf("%d of %d\n", bsp_pid(), bsp_nprocs());
    bsp_end();
    return 0;
}
