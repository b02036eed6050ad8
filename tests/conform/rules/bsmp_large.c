/* Messages: payloads from nothing to megabytes, hundreds of thousands of them, then small ones.
 *
 * P: 1 2 3
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

enum { LARGE = 3 << 20, COUNT = 100000 };

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), right = (me + 1) % p, left = (me + p - 1) % p;
    int packets, bytes;
    char *block = malloc(LARGE);

    memset(block, 'a' + me, LARGE);
    bsp_send(right, NULL, block, LARGE);
    bsp_send(right, NULL, "x", 1);
    bsp_send(right, NULL, block, LARGE);
    memset(block, '-', LARGE);
    bsp_sync();
    bsp_qsize(&packets, &bytes);
    CHECK(packets == 3 && bytes == 2 * LARGE + 1);
    bsp_move(block, LARGE);
    CHECK(block[0] == 'a' + left && block[LARGE - 1] == 'a' + left);
    bsp_move(block, LARGE);
    CHECK(block[0] == 'x' && block[1] == 'a' + left);
    for (int i = 0; i < COUNT; i++)
        bsp_send(right, NULL, &i, sizeof i);
    bsp_sync();
    bsp_qsize(&packets, &bytes);
    CHECK(packets == COUNT && bytes == COUNT * (int)sizeof(int));
    for (int i = 0; i < COUNT; i++) {
        int got = -1;

        bsp_move(&got, sizeof got);
        CHECK_INT(got, i);
    }
    conform_done();
    bsp_end();
    free(block);
    return 0;
}
