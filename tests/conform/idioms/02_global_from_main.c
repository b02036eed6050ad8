/* Idiom 2: globals (and what they point at) set in main between bsp_init and bsp_begin are used by
 * every process behind it.
 *
 * OUT-EACH: ${i}: n=12 name=matrix table=144
 */
#include <stdlib.h>
#include "bsp.h"

int n;
char *name;
int *table;

void spmd()
{
    bsp_begin(bsp_nprocs());
    printf("%d: n=%d name=%s table=%d\n", bsp_pid(), n, name, table[n]);
    bsp_end();
}

int main(int argc, char **argv)
{
    int i;

    bsp_init(spmd, argc, argv);
    n = 12;
    name = "matrix";
    table = (int *)malloc(100 * sizeof(int));
    for (i = 0; i < 100; i++)
        table[i] = i * i;
    spmd();
    return 0;
}
