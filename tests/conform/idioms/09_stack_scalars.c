/* Idiom 9: parameters and locals are registered and popped in a function that returns before the
 * next barrier.
 *
 * OUT-EACH: ${i}: reverse ${p-1-i} sum ${p*(p-1)//2}
 */
#include <stdlib.h>
#include "bsp.h"

int bsp_reverse(x)
int x;
{
    bsp_push_reg(&x, sizeof(int));
    bsp_sync();
    bsp_put(bsp_nprocs() - bsp_pid() - 1, &x, &x, 0, sizeof(int));
    bsp_sync();
    bsp_pop_reg(&x);
    return x;
}

/* Dirties the stack where the parameter was. */
int scribble(int depth)
{
    volatile int junk[200];
    int i;

    for (i = 0; i < 200; i++)
        junk[i] = -i;
    return depth ? scribble(depth - 1) + junk[depth] : junk[1];
}

int total(int mine)
{
    int p = bsp_nprocs(), i, sum = 0;
    int *all = calloc(p, sizeof(int));

    bsp_push_reg(all, p * sizeof(int));
    bsp_sync();
    for (i = 0; i < p; i++)
        bsp_put(i, &mine, all, bsp_pid() * sizeof(int), sizeof(int));
    bsp_sync();
    for (i = 0; i < p; i++)
        sum += all[i];
    bsp_pop_reg(all);
    free(all);
    return sum;
}

int main()
{
    int r, s, k;

    bsp_begin(bsp_nprocs());
    for (k = 0; k < 5; k++) {
        r = bsp_reverse(bsp_pid());
        scribble(10);
        s = total(bsp_pid());
        scribble(10);
    }
    printf("%d: reverse %d sum %d\n", bsp_pid(), r, s);
    bsp_end();
    return 0;
}
