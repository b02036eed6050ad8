/* broadcast - an array of process 0 comes to all, in one phase and in two. */
#include <bsp.h>

enum { N = 1000 };

static void one_phase(const double *from, double *to)
{
    if (bsp_pid() == 0)
        for (int i = 0; i < bsp_nprocs(); i++)
            bsp_put(i, from, to, 0, N * sizeof *to);
    bsp_sync();
}

static void two_phases(const double *from, double *to)
{
    int p = bsp_nprocs(), s = bsp_pid();

    if (s == 0) /* a part for each process ... */
        for (int i = 0; i < p; i++) {
            int first = N * i / p, last = N * (i + 1) / p;

            bsp_put(i, from + first, to, first * sizeof *to, (last - first) * sizeof *to);
        }
    bsp_sync();

    int first = N * s / p, last = N * (s + 1) / p;

    for (int i = 0; i < p; i++) /* ... which that process gives to all */
        bsp_put(i, to + first, to, first * sizeof *to, (last - first) * sizeof *to);
    bsp_sync();
}

static int wrong(double *a)
{
    int count = 0;

    for (int i = 0; i < N; i++) {
        count += a[i] != i / 4.0;
        a[i] = -1;
    }
    return count;
}

int main(void)
{
    double source[N], copy[N];
    int mistakes = 0;

    bsp_begin(0);
    bsp_push_reg(copy, sizeof copy);
    bsp_push_reg(&mistakes, sizeof mistakes);
    for (int i = 0; i < N; i++)
        source[i] = bsp_pid() == 0 ? i / 4.0 : -1;
    bsp_sync();

    one_phase(source, copy);
    int count = wrong(copy);
    two_phases(source, copy);
    count += wrong(copy);

    if (count != 0)
        bsp_put(0, &count, &mistakes, 0, sizeof count);
    bsp_sync();
    if (bsp_pid() == 0)
        printf("elements: %d\n%s\n", N, mistakes == 0 ? "verified" : "FAILED");
    bsp_end();
    return mistakes != 0;
}
