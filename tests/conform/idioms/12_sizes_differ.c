/* Idiom 12: the registered size differs per process, and sizes are size_t expressions where the
 * prototype has int.
 *
 * OUT-EACH: ${i}: ${' '.join('%d' % (10 * s) for s in range(p)) if i == 0 else 'sent'}
 */
#include <stdlib.h>
#include "bsp.h"

int main()
{
    double *all, mine;
    size_t length;
    long i;

    bsp_begin(bsp_nprocs());
    length = bsp_pid() == 0 ? bsp_nprocs() : 0;
    all = malloc((length + 1) * sizeof(double));
    bsp_push_reg(all, length * sizeof(double));
    bsp_sync();
    mine = 10.0 * bsp_pid();
    bsp_put(0, &mine, all, bsp_pid() * sizeof(double), sizeof(double));
    bsp_sync();
    printf("%d:", bsp_pid());
    if (bsp_pid() == 0)
        for (i = 0; i < bsp_nprocs(); i++)
            printf(" %.0f", all[i]);
    else
        printf(" sent");
    printf("\n");
    bsp_end();
    return 0;
}
