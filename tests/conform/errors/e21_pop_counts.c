/* Error 21: the processes pop a different number of times; the message has both numbers.
 *
 * P: 2 3 4 7
 * STATUS: nonzero
 *
 * CASE: the last pops once less
 * ARGS: 2 1
 * ERROR: bsp_(pop_reg|sync) ? ? 1
 * FACT: (?i)pop
 * FACT: \b2\b
 * FACT: \b1\b
 *
 * CASE: only the last pops
 * ARGS: 0 3
 * ERROR: bsp_(pop_reg|sync) ? ? 1
 * FACT: (?i)pop
 * FACT: \b0\b
 * FACT: \b3\b
 */
#include <bsp.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int area[4] = {0};

    if (argc < 3)
        return 99;
    bsp_begin(0);
    for (int k = 0; k < 4; k++)
        bsp_push_reg(&area[k], sizeof(int));
    bsp_sync();
    for (int k = 0; k < atoi(argv[bsp_pid() == bsp_nprocs() - 1 ? 2 : 1]); k++)
        bsp_pop_reg(&area[k]);
    bsp_sync();
    bsp_end();
    return 0;
}
