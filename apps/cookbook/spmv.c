/* spmv - sparse matrix times vector: each process gets exactly the elements of x that its rows
 * need. */
#include <bsp.h>
#include <bsp_level1.h>
#include <stdlib.h>

enum { N = 1000, PER_ROW = 3 };

/* The matrix of this example: row i has 2, 1 and -1 in these columns. */
static const int value[PER_ROW] = {2, 1, -1};
static int column(int row, int k)
{
    return k == 0 ? row : k == 1 ? (7 * row + 1) % N : (13 * row + 5) % N;
}

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), s = bsp_pid(), n = (N - s + p - 1) / p; /* rows s, s + p, s + 2p, ... */
    double *x = malloc((n + 1) * sizeof *x), *y = calloc(n + 1, sizeof *y);
    double *needed = malloc((PER_ROW * n + 1) * sizeof *needed);

    for (int i = 0; i < n; i++)
        x[i] = s + i * p;
    bsp_push_reg(x, n * sizeof *x);
    bsp_sync();

    for (int i = 0; i < n; i++)
        for (int k = 0; k < PER_ROW; k++) {
            int j = column(s + i * p, k);

            bsp_get(j % p, x, j / p * sizeof *x, &needed[PER_ROW * i + k], sizeof *x);
        }
    bsp_sync();
    for (int i = 0; i < n; i++)
        for (int k = 0; k < PER_ROW; k++)
            y[i] += value[k] * needed[PER_ROW * i + k];

    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += y[i] != 2.0 * (s + i * p) + column(s + i * p, 1) - column(s + i * p, 2);
    wrong = bsp_sumI(wrong);
    if (s == 0)
        printf("rows: %d\n%s\n", N, wrong == 0 ? "verified" : "FAILED");
    bsp_end();
    return wrong != 0;
}
