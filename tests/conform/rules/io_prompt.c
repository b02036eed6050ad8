/* I/O: a prompt without newline or fflush before bsp_begin appears once.
 *
 * STDIN: pipe 5\n
 * OUT-RE: \ANumber: (pid [0-9]+: 5\n){${p}}\Z
 */
#include <bsp.h>

int main(void)
{
    int n = 0;

    printf("Number: ");
    if (scanf("%d", &n) != 1)
        return 1;
    bsp_begin(0);
    printf("pid %d: %d\n", bsp_pid(), n);
    bsp_end();
    return 0;
}
