/* Header: the variables _bsp_pid and _bsp_nprocs of old programs say what the calls say.
 *
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 */
#include "../check.h"

int main(void)
{
    CHECK_INT(_bsp_pid, bsp_pid());
    bsp_begin(0);
    CHECK_INT(_bsp_pid, bsp_pid());
    CHECK_INT(_bsp_nprocs, bsp_nprocs());
    conform_done();
    bsp_end();
    CHECK_INT(_bsp_pid, 0);
    CHECK_INT(_bsp_nprocs, bsp_nprocs());
    return conform_end();
}
