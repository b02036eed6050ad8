/* transpose - a matrix distributed by blocks of rows is transposed. */
#include <bsp.h>
#include <stdlib.h>

enum { N = 60 };

static int first_row(int pid)
{
    return N * pid / bsp_nprocs();
}

int main(void)
{
    int mistakes = 0;

    bsp_begin(0);
    int p = bsp_nprocs(), s = bsp_pid(), first = first_row(s), rows = first_row(s + 1) - first;
    double(*a)[N] = malloc((rows + 1) * sizeof *a), (*t)[N] = malloc((rows + 1) * sizeof *t);
    double column[N];

    for (int i = 0; i < rows; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = (first + i) * 1000 + j;
    bsp_push_reg(t, rows * sizeof *t);
    bsp_push_reg(&mistakes, sizeof mistakes);
    bsp_sync();

    for (int to = 0; to < p; to++)
        for (int j = first_row(to); j < first_row(to + 1); j++) {
            for (int i = 0; i < rows; i++)
                column[i] = a[i][j];
            bsp_put(to, column, t, (j - first_row(to)) * sizeof *t + first * sizeof(double),
                    rows * sizeof(double));
        }
    bsp_sync();

    int wrong = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < N; j++)
            wrong += t[i][j] != j * 1000 + first + i;
    if (wrong != 0)
        bsp_put(0, &wrong, &mistakes, 0, sizeof wrong);
    bsp_sync();
    if (s == 0)
        printf("order: %d\n%s\n", N, mistakes == 0 ? "verified" : "FAILED");
    bsp_end();
    return mistakes != 0;
}
