/* Idiom 13: bsp_get of a variable onto itself, and a put from a variable into the same variable of
 * the neighbour.
 *
 * OUT-EACH: ${i}: n=1000 x=${(i + p - 1) % p} y=${(i + p - 5) % p}
 */
#include "bsp.h"

int main()
{
    int n = 0, x, y, k, s, p, big[4000], i;

    bsp_begin(bsp_nprocs());
    s = bsp_pid();
    p = bsp_nprocs();
    if (s == 0)
        n = 1000;
    bsp_push_reg(&n, sizeof(int));
    bsp_push_reg(&x, sizeof(int));
    bsp_push_reg(&y, sizeof(int));
    bsp_push_reg(big, sizeof(big));
    bsp_sync();
    bsp_get(0, &n, 0, &n, sizeof(int));
    x = s;
    bsp_put((s + 1) % p, &x, &x, 0, sizeof(int));
    bsp_sync();
    y = s;
    for (i = 0; i < 4000; i++)
        big[i] = s;
    for (k = 0; k < 5; k++) {
        bsp_put((s + 1) % p, &y, &y, 0, sizeof(int));
        bsp_put((s + 1) % p, big, big, 0, sizeof(big));
        bsp_sync();
    }
    for (i = 0; i < 4000; i++)
        if (big[i] != y)
            y = -1;
    printf("%d: n=%d x=%d y=%d\n", s, n, x, y);
    bsp_end();
    return 0;
}
