/* Idiom 11: a process that owns nothing registers NULL with size 0, several at once, and pops them
 * in reverse order.
 *
 * OUT-EACH: ${i}: rows ${0 if i else 2} ${'20.0 31.0' if i == 0 else '-'} then ${(i + p - 1) % p}
 */
#include <stdlib.h>
#include "bsp.h"

int main()
{
    double *row[2], x;
    int rows, k, p, s, area = -1;

    bsp_begin(bsp_nprocs());
    p = bsp_nprocs();
    s = bsp_pid();
    rows = s == 0 ? 2 : 0; /* fewer rows than processes */
    for (k = 0; k < 2; k++) {
        row[k] = k < rows ? calloc(4, sizeof(double)) : NULL;
        bsp_push_reg(row[k], k < rows ? 4 * sizeof(double) : 0);
    }
    bsp_sync();
    if (s == 0)
        for (k = 0; k < rows; k++) {
            x = 10.0 * (k + 2) + k;
            bsp_put(0, &x, row[k], 3 * sizeof(double), sizeof(double));
        }
    bsp_sync();
    for (k = 1; k >= 0; k--)
        bsp_pop_reg(row[k]);
    bsp_push_reg(&area, sizeof(int));
    bsp_sync();
    bsp_put((s + 1) % p, &s, &area, 0, sizeof(int));
    bsp_sync();
    printf("%d: rows %d ", s, rows);
    if (rows)
        printf("%.1f %.1f", row[0][3], row[1][3]);
    else
        printf("-");
    printf(" then %d\n", area);
    bsp_end();
    return 0;
}
