/* The functions of the plain names: through pointers and, as in old programs, undeclared.
 *
 * @flags -w
 */
#include <bsp.h>

#include "check.h"

typedef int (*scalar)(int);

static int add(int *result, int *left, int *right, int *n)
{
    *result = *left + *right;
    return 0;
}

static int less(int *left, int *right, int *n)
{
    return *left < *right;
}

int main(void)
{
    int value, total, all[64], one;
    scalar functions[2];
    extern int bsp_maxI(int), bsp_any_prefix(int);

    bsp_begin(0);
    value = bsp_pid() + 1;
    bsp_push_reg(&total, sizeof(total));
    bsp_push_reg(all, sizeof(all));
    bsp_sync();
    bsp_bcast(bsp_nprocs() - 1, &value, &total, (int)sizeof(int));
    CHECK(total == bsp_nprocs());
    bsp_gather(0, &value, all, (int)sizeof(int));
    bsp_scatter(0, all, &one, (int)sizeof(int));
    CHECK(one == value);
    bsp_fold(add, &value, &total, (int)sizeof(int));
    CHECK(total == bsp_nprocs() * (bsp_nprocs() + 1) / 2);
    bsp_scan(add, &value, &total, (int)sizeof(int));
    CHECK(total == value * (value + 1) / 2);
    one = -value;
    bsp_sort(less, &one, &total, (int)sizeof(int));
    CHECK(total == bsp_pid() - bsp_nprocs());
    functions[0] = bsp_maxI;
    functions[1] = bsp_any_prefix;
    CHECK(functions[0](value) == bsp_nprocs());
    CHECK(functions[1](bsp_pid() >= 1) == (bsp_pid() >= 1));
    bsp_end();
    puts("ok");
    return 0;
}
