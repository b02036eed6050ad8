/* Life cycle: bsp_init may come after input has been read, and with any rvalues.
 *
 * STDIN: pipe 3\n
 * OUT-EACH: pid ${i}: read 3
 */
#include <bsp.h>

static int number;

static void spmd(void)
{
    bsp_begin(0);
    printf("pid %d: read %d\n", bsp_pid(), number);
    bsp_end();
}

int main(void)
{
    if (scanf("%d", &number) != 1)
        return 1;
    bsp_init(spmd, 0, NULL);
    spmd();
    return 0;
}
