/* DRMA: a run of puts (or gets) that continue each other arrives as if each were alone, also when
 * the run is broken by another target, another area, a gap, a step back or a get.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

enum { WORDS = 1000 };
static int first[WORDS], second[WORDS], fetched[WORDS];

static void puts_of(int me, int p)
{
    int to = (me + 1) % p;

    for (int i = 0; i < WORDS; i++) {
        int value = me * WORDS + i, other = -value;

        bsp_put(to, &value, first, i * (int)sizeof(int), sizeof(int));
        if (i % 10 == 3)
            bsp_put(to, &other, second, i * (int)sizeof(int), sizeof(int));
        if (i % 50 == 7)
            bsp_put(me, &other, second, 5 * sizeof(int), sizeof(int));
        if (i % 100 == 99) { /* a step back: overwrites what the run has just written */
            bsp_put(to, &other, first, (i - 1) * (int)sizeof(int), sizeof(int));
            bsp_put(to, &other, first, i * (int)sizeof(int), sizeof(int));
        }
    }
}

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), left = (me + p - 1) % p;

    bsp_push_reg(first, sizeof first);
    bsp_push_reg(second, sizeof second);
    bsp_sync();
    puts_of(me, p);
    bsp_sync();
    for (int i = 0; i < WORDS; i++) {
        int sent = left * WORDS + i;

        /* the step back writes -(the value of its last word) twice */
        if (i % 100 == 98)
            sent = -(left * WORDS + i + 1);
        if (i % 100 == 99)
            sent = -sent;
        CHECK_INT(first[i], sent);
        if (i % 10 == 3)
            CHECK_INT(second[i], -(left * WORDS + i));
    }
    CHECK_INT(second[5], -(me * WORDS + 957));
    for (int i = 0; i < WORDS; i++)
        bsp_get((me + 1) % p, first, (i ^ 1) * (int)sizeof(int), &fetched[i], sizeof(int));
    bsp_sync();
    for (int i = 0; i < WORDS; i++) {
        int source = me * WORDS + (i ^ 1);

        if ((i ^ 1) % 100 == 98)
            source = -(source + 1);
        else if ((i ^ 1) % 100 == 99)
            source = -source;
        CHECK_INT(fetched[i], source);
    }
    conform_done();
    bsp_end();
    return 0;
}
