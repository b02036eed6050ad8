/* Idiom 14: the source of a put is filled again right after the call, or freed.
 *
 * OUT-EACH: ${i}: ${sum(1000 * ((i + p - 1) % p) + k for k in range(64))} 64 times 500
 */
#include <stdlib.h>
#include "bsp.h"

int main()
{
    double x[64], *tmp, block[500], area[64 * 500], sum = 0.0;
    int k, i, s, p, good = 0;

    bsp_begin(bsp_nprocs());
    s = bsp_pid();
    p = bsp_nprocs();
    bsp_push_reg(x, sizeof(x));
    bsp_push_reg(area, sizeof(area));
    bsp_sync();
    for (k = 0; k < 64; k++) {
        tmp = malloc(sizeof(double));
        *tmp = 1000.0 * s + k;
        bsp_put((s + 1) % p, tmp, x, k * sizeof(double), sizeof(double));
        *tmp = -1.0;
        free(tmp);
        for (i = 0; i < 500; i++)
            block[i] = k + i;
        bsp_put((s + 1) % p, block, area, k * sizeof(block), sizeof(block));
    }
    bsp_sync();
    for (k = 0; k < 64; k++) {
        sum += x[k];
        for (i = 0; i < 500 && area[k * 500 + i] == k + i; i++)
            ;
        good += i == 500;
    }
    printf("%d: %.0f %d times 500\n", s, sum, good);
    bsp_end();
    return 0;
}
