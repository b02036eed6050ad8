/* Registration: a fast process that goes on and pushes an area, in the place of the NULL that all
 * have just popped, does not disturb slow ones that are still finding out what was popped.
 *
 * P: 2 3 4 7
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

enum { ROUNDS = 400, OTHERS = 200 };

int main(void)
{
    static char others[OTHERS];

    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid();

    /* Finding out takes the longer the more there is. */
    for (int k = 0; k < OTHERS; k++)
        bsp_push_reg(&others[k], 1);
    bsp_push_reg(NULL, 0);
    bsp_sync();
    for (int round = 1; round <= ROUNDS; round++) {
        int area = -1;

        bsp_pop_reg(NULL);
        bsp_sync();
        bsp_push_reg(&area, sizeof area);
        bsp_sync();
        bsp_put((me + 1) % p, &round, &area, 0, sizeof area);
        bsp_pop_reg(&area);
        bsp_push_reg(NULL, 0);
        bsp_sync();
        CHECK_INT(area, round);
    }
    conform_done();
    bsp_end();
    return 0;
}
