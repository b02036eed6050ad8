/* I/O: standard error of all processes reaches the user's standard error, apart from standard
 * output.
 *
 * P: 1 2 4
 * OUT-EACH: out ${i}
 * ERR-RE: ^err 0$
 * ERR-RE: ^err ${p-1}$
 * ERR-NOT: out
 */
#include <bsp.h>

int main(void)
{
    bsp_begin(0);
    printf("out %d\n", bsp_pid());
    fprintf(stderr, "err %d\n", bsp_pid());
    bsp_end();
    return 0;
}
