/* Idiom 5: main gives up with exit(1) before bsp_begin: no process waits for a beginning that never
 * comes, the status is 1.
 *
 * STDIN: pipe 1000000\n
 * STATUS: 1
 * OUT: Sorry, only ${p} processors available.
 */
#include "bsp.h"
#include <stdlib.h>

int P;

void spmd()
{
    bsp_begin(P);
    printf("never\n");
    bsp_end();
}

int main(int argc, char **argv)
{
    bsp_init(spmd, argc, argv);
    scanf("%d", &P);
    if (P > bsp_nprocs()) {
        printf("Sorry, only %d processors available.\n", bsp_nprocs());
        exit(1);
    }
    spmd();
    return 0;
}
