/* Idiom 6: behind bsp_end the program prints its result, reads on and ends with exit(0), once.
 *
 * CASE: pipe
 * STDIN: pipe 5 7\nyes\n
 * OUT: Numbers: sum over all: ${sum(5 + i for i in range(p))}
 * OUT: second number 7, again? yes
 *
 * CASE: file
 * STDIN: file 5 7\nyes\n
 * OUT: Numbers: sum over all: ${sum(5 + i for i in range(p))}
 * OUT: second number 7, again? yes
 */
#include "bsp.h"
#include <stdlib.h>

int n, sum;

void spmd()
{
    int *all, mine, i;

    bsp_begin(bsp_nprocs());
    all = (int *)calloc(bsp_nprocs(), sizeof(int));
    bsp_push_reg(all, bsp_nprocs() * sizeof(int));
    bsp_sync();
    mine = n + bsp_pid();
    for (i = 0; i < bsp_nprocs(); i++)
        bsp_put(i, &mine, all, bsp_pid() * sizeof(int), sizeof(int));
    bsp_sync();
    for (i = 0; i < bsp_nprocs(); i++)
        sum += all[i];
    bsp_pop_reg(all);
    free(all);
    bsp_end();
}

int main(int argc, char **argv)
{
    char answer[20];
    int second;

    bsp_init(spmd, argc, argv);
    printf("Numbers: ");
    scanf("%d", &n);
    spmd();
    printf("sum over all: %d\n", sum);
    scanf("%d %19s", &second, answer);
    printf("second number %d, again? %s\n", second, answer);
    exit(0);
}
