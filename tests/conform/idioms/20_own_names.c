/* Idiom 20: the program's own functions have names of the collectives and of common helpers.
 *
 * OUT-EACH: ${i}: sum ${p*(p-1)//2} broadcast 7 max ${p-1} nloc ${(100 + p - i - 1) // p}
 */
#include <stdlib.h>
#include "bsp.h"

int nloc(int p, int s, int n) { return (n + p - s - 1) / p; }

int bsp_allsums(int mine)
{
    int p = bsp_nprocs(), i, sum = 0, *all = calloc(p, sizeof(int));

    bsp_push_reg(all, p * sizeof(int));
    bsp_sync();
    for (i = 0; i < p; i++)
        bsp_put(i, &mine, all, bsp_pid() * sizeof(int), sizeof(int));
    bsp_sync();
    for (i = 0; i < p; i++)
        sum += all[i];
    bsp_pop_reg(all);
    bsp_sync();
    free(all);
    return sum;
}

int bsp_sum(int mine) { return bsp_allsums(mine); }
double bsp_max(double x) { return x; }
void bsp_fold(int *x) { *x += 0; }
int bsp_scan, bsp_sort, bsp_bcast_count;

void bsp_broadcast(int *x, int root)
{
    bsp_push_reg(x, sizeof(int));
    bsp_sync();
    bsp_get(root, x, 0, x, sizeof(int));
    bsp_sync();
    bsp_pop_reg(x);
    bsp_sync();
}

int main()
{
    int x, s;

    bsp_begin(bsp_nprocs());
    s = bsp_pid();
    x = s == 0 ? 7 : 0;
    bsp_broadcast(&x, 0);
    bsp_fold(&x);
    printf("%d: sum %d broadcast %d max %.0f nloc %d\n", s, bsp_sum(s), x,
           bsp_max(bsp_nprocs() - 1.0) + bsp_scan + bsp_sort + bsp_bcast_count,
           nloc(bsp_nprocs(), s, 100));
    bsp_end();
    return 0;
}
