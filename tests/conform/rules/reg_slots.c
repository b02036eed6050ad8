/* Registration: the k-th push of every process forms one slot, whatever variables, addresses and
 * sizes the processes give it.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid();
    int even[20] = {0}, odd[40] = {0}, value = me + 1;
    int *mine = me % 2 ? odd : even;

    bsp_push_reg(mine, me % 2 ? (int)sizeof odd : (int)sizeof even);
    bsp_sync();
    for (int to = 0; to < p; to++)
        bsp_put(to, &value, mine, me * (int)sizeof(int), sizeof(int));
    bsp_sync();
    for (int i = 0; i < p; i++)
        CHECK_INT(mine[i], i + 1);
    for (int i = 0; i < 20; i++)
        CHECK_INT((me % 2 ? even : odd)[i], 0);
    conform_done();
    bsp_end();
    return 0;
}
