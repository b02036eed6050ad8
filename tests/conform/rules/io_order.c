/* I/O: output before a barrier precedes output behind it, without any fflush, on a pipe and on a
 * terminal: printing in a loop with a bsp_sync is ordered.
 *
 * CASE: pipe
 * P: 1 2 3 4
 * OUT-RE: ^start\n${''.join('round %d of %d\n' % (r, i) for r in range(20) for i in range(p))}end\n
 *
 * CASE: terminal
 * P: 3
 * STDOUT: tty
 * OUT-RE: ^start\n${''.join('round %d of %d\n' % (r, i) for r in range(20) for i in range(p))}end\n
 */
#include <bsp.h>

int main(void)
{
    printf("start\n");
    bsp_begin(0);
    for (int round = 0; round < 20; round++)
        for (int i = 0; i < bsp_nprocs(); i++) {
            if (bsp_pid() == i)
                printf("round %d of %d\n", round, i);
            bsp_sync();
        }
    bsp_end();
    printf("end\n");
    return 0;
}
