/* Idiom 23: bsp_abort from a helper function, by a single process, before bsp_begin and inside.
 *
 * STATUS: 1
 *
 * CASE: before
 * ARGS: -1
 * ERR-RE: \A\nABORT\(pid -1\): ?vecalloc: not enough memory 8\n
 *
 * CASE: one while the others wait
 * ARGS: ${p-1}
 * ERR-RE: ^ABORT\(pid  ${p-1}\): ?vecalloc: not enough memory 8\n
 */
#include <stdlib.h>
#include "bsp.h"

double *vecalloc(int n)
{
    double *pd = n ? NULL : malloc(8);

    if (pd == NULL)
        bsp_abort("vecalloc: not enough memory %d", n);
    return pd;
}

int main(int argc, char **argv)
{
    int who = atoi(argv[1]);

    if (who == -1)
        vecalloc(8);
    bsp_begin(bsp_nprocs());
    if (bsp_pid() == who)
        vecalloc(8);
    bsp_sync();
    bsp_end();
    return 0;
}
