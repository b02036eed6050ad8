/* How many supersteps the operations take on 4 processes, when the machine's parameters favour few
 * supersteps and when they favour little communication.  The first operation of all, here bsp_any,
 * takes two more (and, where little communication is favoured, two itself); comparing the calls
 * takes one where the operation writes to registered memory.  Errors of the program count its own
 * calls of bsp_sync; what bsprun says of a process that left counts the others, too.
 *
 * @procs 4
 * @fails few nothing => pid 1: .* superstep 3,
 * @fails few sum => pid 1: .* superstep 4,
 * @fails few fold => pid 1: .* superstep 4,
 * @fails few scan => pid 1: .* superstep 4,
 * @fails few large-fold => pid 1: .* superstep 6,
 * @fails few sort => pid 1: .* superstep 4,
 * @fails few bcast => pid 1: .* superstep 5,
 * @fails few gather => pid 1: .* superstep 5,
 * @fails few scatter => pid 1: .* superstep 5,
 * @fails little sum => pid 1: .* superstep 6,
 * @fails little fold => pid 1: .* superstep 6,
 * @fails little scan => pid 1: .* superstep 6,
 * @fails little bcast => pid 1: .* superstep 7,
 */
#include <bsp.h>
#include <bsp_level1.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 100000 };

static int area[4000], mine[4000], large[LARGE];

static void take_left(void *result, const void *left, const void *right, int *n)
{
    (void)right;
    memcpy(result, left, (size_t)*n);
}

static int never(const void *left, const void *right, int *n)
{
    (void)left;
    (void)right;
    (void)n;
    return 0;
}

static void operation(const char *name)
{
    if (strcmp(name, "sum") == 0)
        bsp_sumI(1);
    if (strcmp(name, "fold") == 0)
        bsp_fold(take_left, mine, mine, 1000);
    if (strcmp(name, "large-fold") == 0)
        bsp_fold(take_left, large, large, sizeof(large));
    if (strcmp(name, "scan") == 0)
        bsp_scan(take_left, mine, mine, 1000);
    if (strcmp(name, "sort") == 0)
        bsp_sort(never, mine, mine, 1000);
    if (strcmp(name, "bcast") == 0)
        bsp_bcast(1, mine, area, sizeof(mine));
    if (strcmp(name, "gather") == 0)
        bsp_gather(1, mine, area, sizeof(mine) / 4);
    if (strcmp(name, "scatter") == 0)
        bsp_scatter(1, area, mine, sizeof(mine) / 4);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 1;
    setenv("BSP_SLG", strcmp(argv[1], "few") == 0 ? "100,1e9,1,1" : "100,1,1e6,1", 1);
    bsp_begin(0);
    bsp_push_reg(area, sizeof(area));
    bsp_any(0);
    operation(argv[2]);
    if (bsp_pid() == 1)
        exit(1);
    bsp_end();
    return 0;
}
