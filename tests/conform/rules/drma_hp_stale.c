/* DRMA: an early bsp_hpget of a fast process never reads what its partner's last superstep has yet
 * to write there, and an early bsp_hpput never is overwritten by it.
 *
 * P: 2 3 4 7
 * ENV: BSPZERO_DIRECT=4096
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

enum { ROUNDS = 1000, BLOCK = 2048 };
static int written[BLOCK], fresh[BLOCK], seen[BLOCK], source[BLOCK];

/* Uneven work, so that the processes reach the barrier and leave it at different times. */
static void dawdle(int round)
{
    volatile int sink = 0;

    for (int i = 0; i < (round * 7 + bsp_pid() * 13) % 5 * 400; i++)
        sink += i;
}

static void round_of_gets(int round)
{
    int p = bsp_nprocs(), next = (bsp_pid() + 1) % p;

    for (int i = 0; i < BLOCK; i++)
        source[i] = round;
    for (int to = 0; to < p; to++)
        bsp_put(to, source, written, 0, sizeof written);
    dawdle(round);
    bsp_sync();
    bsp_hpget(next, written, 0, seen, sizeof seen);
    bsp_hpput(next, source, fresh, 0, sizeof fresh);
    dawdle(round + 1);
    bsp_sync();
    CHECK_INT(seen[0], round);
    CHECK_INT(seen[BLOCK - 1], round);
    CHECK_INT(fresh[BLOCK - 1], round);
}

int main(void)
{
    bsp_begin(0);
    bsp_push_reg(written, sizeof written);
    bsp_push_reg(fresh, sizeof fresh);
    bsp_sync();
    for (int round = 1; round <= ROUNDS; round++)
        round_of_gets(round);
    conform_done();
    bsp_end();
    return 0;
}
