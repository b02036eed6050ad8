/* random - random numbers that do not depend on the number of processes: the i-th number is
 * computed from the seed and i, so it does not matter which process needs it. */
#include <bsp.h>
#include <bsp_level1.h>
#include <stdint.h>

enum { N = 200000, SEED = 1 };

/* Weyl's sequence through a mixing function (SplitMix64; Steele, Lea, Flood, OOPSLA 2014). */
static double number(uint64_t index)
{
    uint64_t z = SEED + (index + 1) * 0x9E3779B97F4A7C15;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

int main(void)
{
    bsp_begin(0);
    int inside = 0;

    for (int i = bsp_pid(); i < N; i += bsp_nprocs()) {
        double x = number(2 * (uint64_t)i), y = number(2 * (uint64_t)i + 1);

        inside += x * x + y * y < 1;
    }
    inside = bsp_sumI(inside); /* whole numbers: the sum does not depend on the order */
    double pi = 4.0 * inside / N;
    int right = pi > 3.12 && pi < 3.16;

    if (bsp_pid() == 0)
        printf("pi is about %.5f\n%s\n", pi, right ? "verified" : "FAILED");
    bsp_end();
    return !right;
}
