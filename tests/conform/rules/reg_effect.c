/* Registration: push and pop take effect at the next barrier; a popped area stays usable to the end
 * of the superstep, a re-registration hides the old one only from the next superstep on.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), right = (me + 1) % p, left = (me + p - 1) % p;
    int area[4] = {0}, value = me + 1, fetched = 0;

    bsp_push_reg(area, sizeof area);
    bsp_sync();
    bsp_pop_reg(area);
    bsp_put(right, &value, area, 0, sizeof(int)); /* behind the pop, same superstep */
    bsp_get(right, area, sizeof(int), &fetched, sizeof(int));
    area[1] = 50 + me;
    bsp_sync();
    CHECK_INT(area[0], left + 1);
    CHECK_INT(fetched, 50 + right);

    bsp_push_reg(area, sizeof area);
    bsp_sync();
    bsp_push_reg(area, sizeof(int)); /* smaller, effective in the next superstep only */
    bsp_put(right, &value, area, 3 * sizeof(int), sizeof(int));
    bsp_sync();
    CHECK_INT(area[3], left + 1);
    bsp_put(right, &value, area, 0, sizeof(int));
    bsp_sync();
    CHECK_INT(area[0], left + 1);
    conform_done();
    bsp_end();
    return 0;
}
