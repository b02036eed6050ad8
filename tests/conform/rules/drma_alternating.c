/* DRMA: supersteps with puts, with gets, with messages and with nothing follow each other, issued by
 * one process only; none is missed by a process that comes late out of the barrier before.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

enum { ROUNDS = 1200 };

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), area = 0, fetched = 0, packets, bytes;

    bsp_push_reg(&area, sizeof area);
    bsp_sync();
    for (int round = 1; round <= ROUNDS; round++) {
        int speaker = round % p, to = (round * 5 + 1) % p;

        if (me == speaker)
            bsp_put(to, &round, &area, 0, sizeof area);
        bsp_sync();
        if (me == to)
            CHECK_INT(area, round);
        bsp_sync(); /* nothing */
        if (me == to)
            bsp_send(speaker, NULL, NULL, 0);
        bsp_sync();
        bsp_qsize(&packets, &bytes);
        CHECK_INT(packets, me == speaker);
        if (me == speaker)
            bsp_get(to, &area, 0, &fetched, sizeof area);
        bsp_sync();
        if (me == speaker)
            CHECK_INT(fetched, round);
    }
    conform_done();
    bsp_end();
    return 0;
}
