/* Messages: what is not read in its superstep is gone, also when nothing new arrives.
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
    int p = bsp_nprocs(), me = bsp_pid(), value = 7;

    for (int to = 0; to < p; to++)
        bsp_send(to, NULL, &value, sizeof value);
    bsp_sync();
    expect(p, p * (int)sizeof value);
    bsp_sync();
    expect(0, 0);
    bsp_sync();
    expect(0, 0);
    for (int to = 0; to < p; to++)
        bsp_send(to, NULL, &value, sizeof value);
    bsp_sync();
    bsp_move(&value, sizeof value);
    if (me == 0) /* only one of them sends again */
        for (int to = 0; to < p; to++)
            bsp_send(to, NULL, &value, 1);
    bsp_sync();
    expect(1, 1);
    conform_done();
    bsp_end();
    return 0;
}
