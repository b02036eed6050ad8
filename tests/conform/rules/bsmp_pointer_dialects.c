/* Messages: the calls with result pointers take int, unsigned and size_t pointers.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), packets_int;
    unsigned packets_unsigned, counts[4] = {0, 1, 0, 2}; /* each with a neighbour to be left alone */
    size_t tag_size = 2, status = 0, packets_size, bytes = 0;
    char tag[3] = "--";

    bsp_set_tagsize(&tag_size);
    CHECK(tag_size == 0);
    bsp_sync();
    bsp_send((me + 1) % p, "tg", "payload", (size_t)7);
    bsp_sync();
    bsp_qsize(&packets_int, &bytes);
    CHECK(packets_int == 1 && bytes == 7);
    bsp_qsize(&packets_unsigned, &bytes);
    CHECK(packets_unsigned == 1 && bytes == 7);
    bsp_qsize(&packets_size, &bytes);
    CHECK(packets_size == 1 && bytes == 7);
    bsp_qsize(&counts[0], &counts[2]);
    CHECK(counts[0] == 1 && counts[1] == 1 && counts[2] == 7 && counts[3] == 2);
    bsp_get_tag(&status, tag);
    CHECK(status == 7 && strcmp(tag, "tg") == 0);
    bsp_move(NULL, 0);
    bsp_get_tag(&status, tag);
    CHECK(status == (size_t)-1);
    tag_size = 9;
    bsp_set_tagsize(&tag_size);
    CHECK(tag_size == 2);
    conform_done();
    bsp_end();
    return 0;
}
