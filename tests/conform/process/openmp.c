/* Process model: an OpenMP pool that exists at bsp_begin is no obstacle: every process has its own
 * threads in the SPMD part, and process 0 behind it.
 *
 * CC: -fopenmp
 * P: 1 2 3
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 */
#include "../check.h"
#include <omp.h>

static int team(void)
{
    int sum = 0;

#pragma omp parallel num_threads(3) reduction(+ : sum)
    sum += 1 + omp_get_thread_num();
    return sum;
}

int main(void)
{
    CHECK_INT(team(), 6);
    bsp_begin(0);
    CHECK_INT(team(), 6);
    bsp_sync();
    CHECK_INT(team(), 6);
    conform_done();
    bsp_end();
    CHECK_INT(team(), 6);
    return conform_end();
}
