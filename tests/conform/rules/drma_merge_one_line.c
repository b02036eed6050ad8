/* DRMA: puts, gets and hp variants issued by one and the same line keep their own area, place and
 * target, even where each continues the one before in one respect but not in another.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

enum { WORDS = 60 };
static int area[2][WORDS], source[WORDS], fetched[WORDS];

static void puts_of_one_line(int me, int p)
{
    for (int i = 0; i < WORDS; i++) {
        int value = me * 1000 + i;

        /* continues the place, in the other area; continues the area, at another place */
        bsp_put((me + i / 30) % p, &value, area[i % 2], (i / 10 * 10 + i % 10) * 4, 4);
    }
}

/* Continue each other at the source, but land in reverse. */
static void gets_of_one_line(int from)
{
    for (int i = 0; i < WORDS; i++)
        bsp_get(from, source, i * 4, &fetched[WORDS - 1 - i], 4);
}

/* Land one behind the other, but come from every second place. */
static void scattered_gets_of_one_line(int from)
{
    for (int i = 0; i < WORDS / 2; i++)
        bsp_get(from, source, 2 * i * 4, &fetched[i], 4);
}

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid();

    bsp_push_reg(area[0], sizeof area[0]);
    bsp_push_reg(area[1], sizeof area[1]);
    bsp_push_reg(source, sizeof source);
    bsp_sync();
    for (int i = 0; i < WORDS; i++)
        source[i] = me * 1000 + i;
    puts_of_one_line(me, p);
    gets_of_one_line((me + 1) % p);
    bsp_sync();
    for (int i = 0; i < WORDS; i++) {
        int from = (me + p - i / 30 % p) % p;

        CHECK_INT(area[i % 2][i], from * 1000 + i);
        CHECK_INT(area[1 - i % 2][i], 0);
        CHECK_INT(fetched[WORDS - 1 - i], (me + 1) % p * 1000 + i);
    }
    scattered_gets_of_one_line((me + 1) % p);
    bsp_sync();
    for (int i = 0; i < WORDS / 2; i++)
        CHECK_INT(fetched[i], (me + 1) % p * 1000 + 2 * i);
    conform_done();
    bsp_end();
    return 0;
}
