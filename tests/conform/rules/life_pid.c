/* Life cycle: bsp_pid() is -1 before bsp_begin, 0 .. p-1 inside, 0 behind bsp_end.
 *
 * OUT-ANY: before -1
 * OUT-EACH: inside ${i}
 * OUT-ANY: after 0
 */
#include <bsp.h>

int main(void)
{
    printf("before %d\n", bsp_pid());
    bsp_begin(0);
    printf("inside %d\n", bsp_pid());
    bsp_end();
    printf("after %d\n", bsp_pid());
    return 0;
}
