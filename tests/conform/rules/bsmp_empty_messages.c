/* Messages: a message without tag and without payload counts; NULL is fine where the size is 0.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), packets, bytes, status;
    void *tag, *payload;

    for (int k = 0; k < 5; k++)
        bsp_send((me + 1) % p, NULL, NULL, 0);
    bsp_sync();
    bsp_qsize(&packets, &bytes);
    CHECK(packets == 5 && bytes == 0);
    bsp_get_tag(&status, NULL);
    CHECK_INT(status, 0);
    bsp_move(NULL, 0);
    CHECK_INT(bsp_hpmove(&tag, &payload), 0);
    bsp_move(NULL, 100 * 0);
    bsp_qsize(&packets, &bytes);
    CHECK(packets == 2 && bytes == 0);
    conform_done();
    bsp_end();
    return 0;
}
