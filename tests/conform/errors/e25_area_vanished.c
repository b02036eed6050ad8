/* Error 25 does not occur: an area popped by its owner in this superstep is still there for the
 * others to the end of it, whatever the order in which the processes come to the barrier.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"
#include "../common_count.h"

int main(void)
{
    bsp_begin(0);
    int popped = common_count_open(); /* pops so far, of all processes */
    int p = bsp_nprocs(), me = bsp_pid();

    for (int round = 0; round < 20; round++) {
        int area[2] = {0, 30 + me + round}, value = me + round, seen = 0;

        bsp_push_reg(area, sizeof area);
        bsp_sync();
        /* They take turns to be the last of a round, with its put and get when all others have
         * popped already. */
        if (me == round % p)
            common_count_wait(popped, round * p + p - 1);
        bsp_put((me + 1) % p, &value, area, 0, sizeof(int));
        bsp_get((me + 1) % p, area, sizeof(int), &seen, sizeof(int));
        bsp_pop_reg(area);
        common_count_raise(popped);
        bsp_sync();
        CHECK_INT(area[0], (me + p - 1) % p + round);
        CHECK_INT(seen, 30 + (me + 1) % p + round);
    }
    conform_done();
    bsp_end();
    return 0;
}
