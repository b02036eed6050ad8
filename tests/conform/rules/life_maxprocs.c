/* Life cycle: bsp_begin(n) starts at most n processes, 0 means all available, and -np or BSP_PROCS
 * is the upper bound.
 *
 * CASE: zero is all
 * ARGS: 0
 * OUT-EACH: pid ${i} of ${p}
 *
 * CASE: more than there are
 * ARGS: 100
 * OUT-EACH: pid ${i} of ${p}
 *
 * CASE: huge
 * ARGS: 2147483647
 * OUT-EACH: pid ${i} of ${p}
 *
 * CASE: exactly
 * ARGS: ${p}
 * OUT-EACH: pid ${i} of ${p}
 *
 * CASE: fewer
 * P: 2 3 4 7
 * ARGS: 2
 * OUT-ANY: pid 0 of 2
 * OUT-ANY: pid 1 of 2
 *
 * CASE: one
 * ARGS: 1
 * OUT: pid 0 of 1
 *
 * CASE: honoured beyond the processors when nothing bounds it
 * RUN: bare-free
 * ARGS: ${p}
 * OUT-EACH: pid ${i} of ${p}
 */
#include <bsp.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    bsp_begin(argc > 1 ? atoi(argv[1]) : 0);
    printf("pid %d of %d\n", bsp_pid(), bsp_nprocs());
    bsp_end();
    return 0;
}
