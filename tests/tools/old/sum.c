/* The second file of the ring program: no header of the first one, parameters in the old style. */
#include "bsp.h"

int p;
int total;
static int passed;

sum_of_ring(me, right)
{
    register i;
    int sum = me;

    bsp_push_reg(&passed, sizeof(passed));
    bsp_sync();
    for (i = 1; i < bsp_nprocs(); i++) {
        int give = i == 1 ? me : passed;
        bsp_put(right, &give, &passed, 0, sizeof(int));
        bsp_sync();
        sum += passed;
    }
    bsp_pop_reg(&passed);
    return sum;
}
