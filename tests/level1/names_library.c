/* The part of names.c that uses the library's functions: by macro and, where the program has none
 * of its own, by plain name.
 */
#include <bsp.h>
#include <bsp_level1.h>

#include "check.h"

int with_the_library(void)
{
    int (*plain)(int) = bsp_sumI;
    double root_value = bsp_pid() == 0 ? 2.5 : 0, value = 0;

    CHECK(bsp_sumD(0.5) == 0.5 * bsp_nprocs());
    bsp_push_reg(&value, sizeof(value));
    bsp_sync();
    bsp_bcast(0, &root_value, &value, sizeof(value));
    CHECK(value == 2.5);
    CHECK(bsp_g() > 0);
    return plain(1);
}
