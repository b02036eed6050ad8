/* Header: the spellings from before version 1.1 and the hooks.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), area = -1, tag_size = 2, packets, bytes;

    bsp_pushregister(&area, sizeof area);
    bsp_set_tag_size(&tag_size);
    bsp_sync();
    bsp_sync_end();
    bsp_begin_end();
    bsp_put((me + 1) % p, &me, &area, 0, sizeof me);
    bsp_hpsend((me + 1) % p, "tg", "hello", 5);
    bsp_sync();
    bsp_bsmp_info(&packets, &bytes);
    CHECK(packets == 1 && bytes == 5);
    CHECK_INT(area, (me + p - 1) % p);
    bsp_popregister(&area);
    bsp_sync();
    (bsp_pushregister)(&area, sizeof area);
    (bsp_set_tag_size)(&tag_size);
    bsp_sync();
    (bsp_popregister)(&area);
    bsp_sync();
    conform_done();
    bsp_end();
    return 0;
}
