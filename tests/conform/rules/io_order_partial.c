/* I/O: parts of lines, printed in turn with a barrier between, come out in turn as well.
 *
 * P: 1 2 3 4
 * OUT: ${''.join('%d.%d ' % (r, i) for r in range(5) for i in range(p))}
 */
#include <bsp.h>

int main(void)
{
    bsp_begin(0);
    for (int round = 0; round < 5; round++)
        for (int i = 0; i < bsp_nprocs(); i++) {
            if (bsp_pid() == i)
                printf("%d.%d ", round, i);
            bsp_sync();
        }
    bsp_end();
    printf("\n");
    return 0;
}
