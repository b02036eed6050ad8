/* Messages: what bsp_hpmove points at is not overwritten by sends, puts and gets of the superstep
 * in which it is read, by no process.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

enum { WORDS = 4000, ROUNDS = 60 };

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), right = (me + 1) % p, left = (me + p - 1) % p;
    static int data[WORDS], area[WORDS];

    bsp_push_reg(area, sizeof area);
    bsp_sync();
    for (int round = 0; round < ROUNDS; round++) {
        int *received[2] = {NULL, NULL};
        void *tag;

        for (int k = 0; k < 2 && round > 0; k++)
            CHECK_INT(bsp_hpmove(&tag, &received[k]), (int)sizeof data);
        for (int k = 0; k < 2; k++) {
            for (int i = 0; i < WORDS; i++)
                data[i] = round * 10 + me + k;
            bsp_send(right, NULL, data, sizeof data);
        }
        bsp_put(right, data, area, 0, sizeof data);
        for (int k = 0; k < 2 && round > 0; k++)
            for (int i = 0; i < WORDS; i++)
                CHECK_INT(received[k][i], (round - 1) * 10 + left + k);
        bsp_sync();
    }
    conform_done();
    bsp_end();
    return 0;
}
