/* Idiom 1: the number of processes is asked for in main, used in bsp_begin by the SPMD function.
 *
 * STDIN: pipe ${p}\n
 * OUT-EACH: Hello from ${i} of ${p}
 * OUT-ANY: How many processes do you want?
 */
#include "bsp.h"

int P;

void spmd_hello()
{
    bsp_begin(P);
    printf("Hello from %d of %d\n", bsp_pid(), bsp_nprocs());
    bsp_end();
}

int main(int argc, char **argv)
{
    bsp_init(spmd_hello, argc, argv);
    printf("How many processes do you want?\n"); fflush(stdout);
    scanf("%d", &P);
    if (P > bsp_nprocs()) {
        printf("Sorry, not enough processors available.\n"); fflush(stdout);
        exit(1);
    }
    spmd_hello();
    exit(0);
}
