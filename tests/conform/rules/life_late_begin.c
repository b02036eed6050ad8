/* Life cycle: sequential code before bsp_begin without any bsp_init runs exactly once.
 *
 * OUT-ANY: sequential
 * OUT-ANY: end
 * OUT-EACH: pid ${i}: prepared 42
 */
#include <bsp.h>

int main(void)
{
    int prepared = 42;

    printf("sequential\n");
    bsp_begin(bsp_nprocs());
    printf("pid %d: prepared %d\n", bsp_pid(), prepared);
    bsp_end();
    printf("end\n");
    return 0;
}
