/* Life cycle: bsp_nprocs() is the bound before bsp_begin, the actual number from there on and
 * still behind bsp_end.
 *
 * CC: -D_GNU_SOURCE
 * CASE: all of them
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 * ARGS: ${p} ${p}
 *
 * CASE: fewer
 * P: 2 3 4 7
 * OUT-ANY: pid 0: ok
 * OUT-ANY: end: ok
 * ARGS: ${p} 1
 *
 * On several hosts, as many as the variable CONFORM_SLOTS says.
 *
 * CASE: unbounded, it is the usable cores
 * P: 1
 * RUN: bare-free bsprun-free
 * OUT-RE: ^end: ok$
 * ARGS: cores cores
 */
#include "../check.h"
#include <sched.h>

int main(int argc, char **argv)
{
    cpu_set_t usable;
    const char *slots = getenv("CONFORM_SLOTS");
    int bound, wanted;

    if (argc < 3 || sched_getaffinity(0, sizeof usable, &usable))
        return 1;
    bound = slots ? atoi(slots) : CPU_COUNT(&usable);
    if (strcmp(argv[1], "cores") != 0)
        bound = atoi(argv[1]);
    wanted = strcmp(argv[2], "cores") ? atoi(argv[2]) : bound;
    CHECK_INT(bsp_nprocs(), bound);
    if (wanted > bsp_nprocs())
        bsp_abort("not enough processors");
    bsp_begin(wanted);
    CHECK_INT(bsp_nprocs(), wanted);
    conform_done();
    bsp_end();
    CHECK_INT(bsp_nprocs(), wanted);
    return conform_end();
}
