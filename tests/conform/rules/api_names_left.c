/* Header: bsp.h may be included twice, says so by _BSP_H, and leaves to the program what the old
 * header left it: names of <stdlib.h> and <string.h> (but for what <stdio.h> needs), and level 1.
 *
 * P: 2
 * OUT-EACH: pid ${i}: 5 6 7
 */
#include <bsp.h>

#include <bsp.h> /* once more */

#ifndef _BSP_H
#error "bsp.h has another guard"
#endif
#if defined _STDLIB_H || defined _STRING_H || defined _ASSERT_H
#error "bsp.h includes more than stdio.h"
#endif
#if defined bsp_bcast || defined bsp_fold || defined bsp_sumI || defined bsp_sort
#error "bsp.h has names of level 1"
#endif

/* Not as the C library and level 1 have them. */
static double bsp_bcast = 5;

static int atoi(int x)
{
    return x + 1;
}

static int bsp_sumI(void)
{
    return 7;
}

int main(void)
{
    bsp_begin(0);
    printf("pid %d: %g %d %d\n", bsp_pid(), bsp_bcast, atoi(5), bsp_sumI());
    bsp_end();
    return 0;
}
