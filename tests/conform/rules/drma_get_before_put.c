/* DRMA: a get never sees a put of the same superstep, however large both are.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

enum { WORDS = 20000 };
static int area[WORDS], fetched[WORDS], source[WORDS];

static void round_trip(int words, int round)
{
    int p = bsp_nprocs(), me = bsp_pid(), next = (me + 1) % p;

    for (int i = 0; i < words; i++) {
        area[i] = 10 * round + me;
        source[i] = -1 - me;
        fetched[i] = 0;
    }
    bsp_sync();
    for (int to = 0; to < p; to++)
        bsp_put(to, source, area, 0, words * (int)sizeof(int));
    bsp_get(next, area, 0, fetched, words * (int)sizeof(int));
    bsp_sync();
    for (int i = 0; i < words; i++) {
        CHECK_INT(fetched[i], 10 * round + next);
        CHECK_INT(area[i], -p);
    }
}

int main(void)
{
    bsp_begin(0);
    bsp_push_reg(area, sizeof area);
    for (int round = 1; round <= 20; round++)
        round_trip(1 + round % 7, round);
    round_trip(WORDS, 21);
    conform_done();
    bsp_end();
    return 0;
}
