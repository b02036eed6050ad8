/* Error 20: the processes push a different number of times; the message has both numbers.
 *
 * P: 2 3 4 7
 * STATUS: nonzero
 *
 * CASE: the last pushes once more
 * ARGS: 2 3
 * ERROR: bsp_(push_reg|sync) ? ? 1
 * FACT: (?i)regist
 * FACT: \b2\b
 * FACT: \b3\b
 *
 * CASE: the last does not push
 * ARGS: 2 0
 * ERROR: bsp_(push_reg|sync) ? ? 1
 * FACT: (?i)regist
 * FACT: \b2\b
 * FACT: \b0\b
 */
#include <bsp.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int area[4] = {0};

    if (argc < 3)
        return 99;
    bsp_begin(0);
    bsp_sync();
    for (int k = atoi(argv[bsp_pid() == bsp_nprocs() - 1 ? 2 : 1]); k > 0; k--)
        bsp_push_reg(area, k * (int)sizeof(int));
    bsp_sync();
    bsp_end();
    return 0;
}
