/* Idiom 7: a prompt without fflush before bsp_begin, and printing in turn with nothing but bsp_sync
 * between.
 *
 * P: 1 2 3 4
 * OUT-RE: \Aready: 0 1 2 3 4 5 6 7 8 9 \n${''.join('round %d process %d\n' % (r, i) for r in range(6) for i in range(p))}\Z
 */
#include "bsp.h"

int main(int argc, char **argv)
{
    int i, r;

    printf("ready: ");
    for (i = 0; i < 10; i++)
        printf("%d ", i);
    printf("\n");
    bsp_begin(bsp_nprocs());
    for (r = 0; r < 6; r++)
        for (i = 0; i < bsp_nprocs(); i++) {
            if (bsp_pid() == i)
                printf("round %d process %d\n", r, i);
            bsp_sync();
        }
    bsp_end();
    return 0;
}
