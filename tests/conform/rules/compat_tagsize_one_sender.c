/* Compatibility: with BSP_COMPAT=oxford a receiver that has sent nothing itself reads tags of the
 * new size.
 *
 * ENV: BSP_COMPAT=oxford
 * P: 2 3 4 7
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int tag_size = 4, status;
    char tag[8] = "-------", payload[8] = "-------";

    bsp_set_tagsize(&tag_size);
    if (bsp_pid() == 0)
        for (int to = 0; to < bsp_nprocs(); to++)
            bsp_send(to, "abcd", "payload", 7);
    bsp_sync();
    bsp_get_tag(&status, tag);
    CHECK_INT(status, 7);
    CHECK(strcmp(tag, "abcd---") == 0);
    bsp_move(payload, 7);
    CHECK(strcmp(payload, "payload") == 0);
    conform_done();
    bsp_end();
    return 0;
}
