/* The program's own functions take the place of the library's of the same name, while the other
 * source file of the same program uses the library's: see names_library.c.
 *
 * @flags -O
 * @flags -fshared-libbsp
 */
#include <bsp.h>

#include "check.h"

/* Names the library does not have, but a program written today could expect it to. */
int bsp_sum(int x)
{
    return x + 1;
}
void bsp_broadcast(int root, int *x)
{
    *x = root;
}

/* Names that it has. */
int bsp_bcast(int x)
{
    return x + 2;
}
double bsp_sumD(void)
{
    return 3;
}
int bsp_g = 4;

int with_the_library(void);

int main(void)
{
    int x = 7;

    bsp_begin(0);
    CHECK(bsp_sum(1) == 2);
    bsp_broadcast(5, &x);
    CHECK(x == 5);
    CHECK(bsp_bcast(1) == 3);
    CHECK(bsp_sumD() == 3);
    CHECK(with_the_library() == bsp_nprocs());
    CHECK(bsp_g == 4);
    bsp_end();
    puts("ok");
    return 0;
}
