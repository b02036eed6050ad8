/* Idiom 15: tens of thousands of tiny puts and gets in one superstep, and thousands of empty
 * supersteps.
 *
 * P: 1 2 3 4
 * OUT-EACH: ${i}: 40000 right, 40000 right
 */
#include "bsp.h"

#define H 40000
double src, dest[H], back[H];

int main()
{
    int i, s, p, good = 0, got = 0;

    bsp_begin(bsp_nprocs());
    s = bsp_pid();
    p = bsp_nprocs();
    bsp_push_reg(dest, sizeof(dest));
    bsp_sync();
    for (i = 0; i < H; i++) {
        src = s + i;
        bsp_put((s + 1 + i % (p > 1 ? p - 1 : 1)) % p, &src, dest, i * sizeof(double),
                sizeof(double));
    }
    bsp_sync();
    for (i = 0; i < H; i++) {
        int from = (s + p - 1 - i % (p > 1 ? p - 1 : 1) + p) % p;

        good += dest[i] == from + i;
        bsp_get((s + 1) % p, dest, i * sizeof(double), &back[i], sizeof(double));
    }
    bsp_sync();
    for (i = 0; i < H; i++)
        got += back[i] == ((s + 1) % p + p - 1 - i % (p > 1 ? p - 1 : 1) + p) % p + i;
    for (i = 0; i < 4000; i++)
        bsp_sync();
    printf("%d: %d right, %d right\n", s, good, got);
    bsp_end();
    return 0;
}
