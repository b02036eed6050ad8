/* Messages: bsp_qsize counts what is left and does not count tags, bsp_get_tag takes nothing away,
 * bsp_move copies the smaller of the two lengths and removes the message, with 0 only removes it.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

static void expect(int packets, int bytes)
{
    int n = -1, b = -1;

    bsp_qsize(&n, &b);
    CHECK_INT(n, packets);
    CHECK_INT(b, bytes);
}

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), tag_size = 3, status = 5;
    char tag[4] = "xyz", text[11] = "0123456789";

    expect(0, 0); /* before the first barrier */
    bsp_get_tag(&status, tag);
    CHECK(status == -1 && strcmp(tag, "xyz") == 0);
    bsp_set_tagsize(&tag_size);
    bsp_sync();
    for (int k = 0; k < 4; k++)
        bsp_send((me + 1) % p, "tag", text, 10);
    bsp_send((me + 1) % p, "end", NULL, 0);
    bsp_sync();
    expect(5, 40);
    for (int k = 0; k < 3; k++) {
        bsp_get_tag(&status, tag);
        CHECK(status == 10 && memcmp(tag, "tag", 3) == 0);
    }
    expect(5, 40);
    memset(text, '-', 10);
    bsp_move(text, 4);
    CHECK(strcmp(text, "0123------") == 0);
    expect(4, 30);
    bsp_move(text, 0);
    bsp_move(NULL, 0);
    CHECK(strcmp(text, "0123------") == 0);
    expect(2, 10);
    char large[30];

    memset(large, '+', sizeof large);
    bsp_move(large, sizeof large);
    CHECK(memcmp(large, "0123456789++++", 14) == 0);
    expect(1, 0);
    bsp_get_tag(&status, tag);
    CHECK(status == 0 && memcmp(tag, "end", 3) == 0);
    bsp_move(NULL, 0);
    expect(0, 0);
    strcpy(tag, "abc");
    bsp_get_tag(&status, tag); /* once more than there are messages: no harm */
    CHECK(status == -1 && strcmp(tag, "abc") == 0);
    conform_done();
    bsp_end();
    return 0;
}
