/* Messages: arrive in the next superstep with tag and payload, ascending by source and first in
 * first out within one; a message to oneself is one like any other.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), tag_size = sizeof(int), packets, bytes;

    bsp_set_tagsize(&tag_size);
    CHECK_INT(tag_size, 0);
    bsp_sync();
    for (int to = 0; to < p; to++)
        for (int k = 0; k < 3; k++) {
            int tag = me * 10 + k, payload[3] = {me, k, to};

            bsp_send(to, &tag, payload, (k + 1) * (int)sizeof(int));
            payload[0] = tag = -1; /* copied at the call */
        }
    bsp_qsize(&packets, &bytes);
    CHECK(packets == 0 && bytes == 0);
    bsp_sync();
    bsp_qsize(&packets, &bytes);
    CHECK_INT(packets, 3 * p);
    CHECK_INT(bytes, 6 * p * (int)sizeof(int));
    for (int from = 0; from < p; from++)
        for (int k = 0; k < 3; k++) {
            int status, tag = 0, payload[3] = {-7, -7, -7};

            bsp_get_tag(&status, &tag);
            CHECK_INT(status, (k + 1) * (int)sizeof(int));
            CHECK_INT(tag, from * 10 + k);
            bsp_move(payload, sizeof payload);
            CHECK_INT(payload[0], from);
            CHECK_INT(payload[1], k >= 1 ? k : -7);
            CHECK_INT(payload[2], k >= 2 ? me : -7);
        }
    bsp_qsize(&packets, &bytes);
    CHECK(packets == 0 && bytes == 0);
    conform_done();
    bsp_end();
    return 0;
}
