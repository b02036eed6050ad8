/* Idiom 17: static arrays of hundreds of megabytes and automatic arrays of megabytes.
 *
 * P: 1 2 4
 * OUT-EACH: ${i}: ${i + 3} ${(i + p - 1) % p}
 */
#include "bsp.h"

#define HUGE_SIZE 50000000
double huge_array[HUGE_SIZE];

double work(int s)
{
    double big[700000];
    int i;

    for (i = 0; i < 700000; i += 100)
        big[i] = s;
    bsp_sync();
    return big[699900] + 3;
}

int main()
{
    int s, p;
    double x;

    huge_array[HUGE_SIZE - 1] = 1;
    bsp_begin(bsp_nprocs());
    s = bsp_pid();
    p = bsp_nprocs();
    bsp_push_reg(huge_array, sizeof(huge_array));
    bsp_sync();
    x = s;
    bsp_put((s + 1) % p, &x, huge_array, (HUGE_SIZE - 1) * sizeof(double), sizeof(double));
    bsp_sync();
    printf("%d: %.0f %.0f\n", s, work(s), huge_array[HUGE_SIZE - 1]);
    bsp_end();
    return 0;
}
