/* Idiom 10: a popped area is freed, the next malloc returns the same address, and it is registered
 * before the barrier.
 *
 * OUT-EACH: ${i}: same address, result ${(i + p - 1) % p * 100 + 9}
 */
#include <stdlib.h>
#include "bsp.h"

int main()
{
    int *a, *b, k, p, s, right, same = 1, last = 0;

    bsp_begin(bsp_nprocs());
    p = bsp_nprocs();
    s = bsp_pid();
    right = (s + 1) % p;
    a = malloc(40 * sizeof(int));
    bsp_push_reg(a, 1 * sizeof(int));
    bsp_sync();
    for (k = 0; k < 10; k++) {
        int value = s * 100 + k;

        bsp_pop_reg(a);
        free(a);
        b = malloc(40 * sizeof(int));
        same = same && a == b;
        bsp_push_reg(b, (k + 2) * sizeof(int)); /* larger each time */
        bsp_sync();
        bsp_put(right, &value, b, (k + 1) * sizeof(int), sizeof(int));
        bsp_sync();
        last = b[k + 1];
        a = b;
    }
    printf("%d: %s address, result %d\n", s, same ? "same" : "another", last);
    bsp_pop_reg(a);
    bsp_sync();
    free(a);
    bsp_end();
    return 0;
}
