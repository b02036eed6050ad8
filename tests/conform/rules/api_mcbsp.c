/* Header: programs written for the unsigned and size_t dialect compile with its switch.
 *
 * CC: -DBSP_MCBSP_COMPAT
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin((int)bsp_nprocs());
    bsp_nprocs_t p = (bsp_nprocs_t)bsp_nprocs();
    bsp_pid_t me = (bsp_pid_t)bsp_pid();
    bsp_size_t tag_size = sizeof(unsigned), status;
    unsigned area = 0, tag = 0, packets;
    size_t bytes;

    bsp_push_reg(&area, sizeof area);
    bsp_set_tagsize(&tag_size);
    bsp_sync();
    bsp_put((int)((me + 1) % p), &me, &area, (size_t)0, sizeof area);
    bsp_send((int)((me + 1) % p), &me, &me, sizeof me);
    bsp_sync();
    bsp_qsize(&packets, &bytes);
    CHECK(packets == 1 && bytes == sizeof me);
    bsp_get_tag(&status, &tag);
    CHECK(status == sizeof me && tag == (me + p - 1) % p);
    CHECK(area == (me + p - 1) % p);
    conform_done();
    bsp_end();
    return 0;
}
