/* Life cycle: bsp_init first in main, sequential code, the SPMD function, sequential code again,
 * which only process 0 runs.
 *
 * OUT: before
 * OUT: sum ${p*(p+1)//2}
 * OUT: after ${p}
 */
#include <bsp.h>

static int sum;

static void spmd(void)
{
    bsp_begin(bsp_nprocs());
    int all[64] = {0}, mine = bsp_pid() + 1;

    bsp_push_reg(all, sizeof all);
    bsp_sync();
    bsp_put(0, &mine, all, bsp_pid() * (int)sizeof mine, sizeof mine);
    bsp_sync();
    for (int i = 0; i < bsp_nprocs(); i++)
        sum += all[i];
    bsp_end();
}

int main(int argc, char **argv)
{
    bsp_init(spmd, argc, argv);
    printf("before\n");
    spmd();
    printf("sum %d\n", sum);
    printf("after %d\n", bsp_nprocs());
    return 0;
}
