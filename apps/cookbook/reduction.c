/* reduction - one number of each process becomes one number that all processes know. */
#include <bsp.h>

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), s = bsp_pid(), n = 1000;
    long mine = 0, sum = 0, of_each[p];

    bsp_push_reg(of_each, sizeof of_each);
    bsp_sync();

    for (int i = s; i < n; i += p)
        mine += i;
    for (int i = 0; i < p; i++)
        bsp_put(i, &mine, of_each, s * sizeof mine, sizeof mine);
    bsp_sync();
    for (int i = 0; i < p; i++) /* the same order everywhere: the same result everywhere */
        sum += of_each[i];

    if (s == 0)
        printf("sum: %ld\n%s\n", sum, sum == n * (n - 1) / 2 ? "verified" : "FAILED");
    bsp_end();
    return sum != n * (n - 1) / 2;
}
