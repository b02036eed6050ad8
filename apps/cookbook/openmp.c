/* openmp - threads within a process: OpenMP shares the loop, BSPlib communicates.
 *
 * BSPlib calls are made outside of parallel regions, by the first thread. */
#include <bsp.h>
#include <bsp_level1.h>

enum { N = 100000 };

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), s = bsp_pid();
    int first = (int)((long)N * s / p), last = (int)((long)N * (s + 1) / p);
    long sum = 0;

#pragma omp parallel for reduction(+ : sum)
    for (int i = first; i < last; i++)
        sum += i % 10;

    int all = bsp_sumI((int)sum);
    if (s == 0)
        printf("sum: %d\n%s\n", all, all == N / 10 * 45 ? "verified" : "FAILED");
    bsp_end();
    return all != N / 10 * 45;
}
