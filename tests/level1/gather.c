/* bsp_gather and bsp_scatter, every root, several sizes, also in place. */
#include <bsp.h>
#include <bsp_level1.h>
#include <stdlib.h>

#include "check.h"

/* Item i of process pid. */
static int value(int pid, int i, int root)
{
    return pid * 1000003 + i * 17 + root;
}

static void one_size(int items)
{
    int p = bsp_nprocs(), me = bsp_pid();
    int *all = calloc((size_t)(p * items) + 1, sizeof(int));
    int *mine = calloc((size_t)items + 1, sizeof(int));
    int n = items * (int)sizeof(int);

    bsp_push_reg(all, p * n);
    bsp_sync();
    for (int root = 0; root < p; root++) {
        for (int i = 0; i < p * items; i++)
            all[i] = -1;
        for (int i = 0; i < items; i++)
            mine[i] = value(me, i, root);
        bsp_gather(root, mine, all, n);
        for (int i = 0; i < p * items; i++)
            CHECK(all[i] == (me == root ? value(i / items, i % items, root) : -1));

        for (int i = 0; i < items; i++)
            mine[i] = -1;
        bsp_scatter(root, all, mine, n);
        for (int i = 0; i < items; i++)
            CHECK(mine[i] == value(me, i, root));

        /* Scattered to the place it comes from: everybody's item becomes its first one. */
        bsp_scatter(root, all, all, n);
        for (int i = 0; i < items; i++)
            CHECK(all[i] == value(me, i, root));
    }
    bsp_pop_reg(all);
    bsp_sync();
    free(all);
    free(mine);
}

int main(void)
{
    bsp_begin(0);
    one_size(0);
    one_size(1);
    one_size(1000);
    bsp_end();
    puts("ok");
    return 0;
}
