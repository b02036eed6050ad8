/* Idiom 4: bsp_init comes after input and argument checks.
 *
 * CASE: good
 * ARGS: 3
 * STDIN: pipe 4\n
 * OUT-EACH: ${i}: 12
 *
 * CASE: argument missing
 * STDIN: pipe 4\n
 * STATUS: 2
 * OUT: usage: it factor
 */
#include <stdio.h>
#include <stdlib.h>
#include "bsp.h"

static int factor, number;

static void spmd(void)
{
    bsp_begin(bsp_nprocs());
    printf("%d: %d\n", bsp_pid(), factor * number);
    bsp_end();
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        printf("usage: it factor\n");
        return 2;
    }
    factor = atoi(argv[1]);
    if (scanf("%d", &number) != 1)
        return 3;
    bsp_init(spmd, argc, argv);
    spmd();
    return EXIT_SUCCESS;
}
