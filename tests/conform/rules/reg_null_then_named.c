/* Registration: an address registered more than once is popped behind a NULL, which means its newest
 * registration on one process and an older one, or another area, on others.  The later pop takes the
 * newest one that the NULL left.
 *
 * P: 2 3 4 7
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

static int a[3], b[3], c;

/* Which registrations of process 0's `a` are left is seen by how much the right process may put. */
static void expect_bytes(int *area, int bytes)
{
    int p = bsp_nprocs(), me = bsp_pid(), value[3] = {me + 1, me + 2, me + 3};

    memset(area, 0, sizeof a);
    bsp_sync();
    bsp_put((me + 1) % p, value, area, 0, bytes);
    bsp_sync();
    for (int k = 0; k < bytes / (int)sizeof(int); k++)
        CHECK_INT(area[k], (me + p - 1) % p + 1 + k);
}

int main(void)
{
    bsp_begin(0);
    int me = bsp_pid();
    int *other = me == 0 ? a : b;

    /* Process 0 has a, a, a where the others have a, a and b: slots of 1, 2 and 3 words. */
    bsp_push_reg(a, sizeof(int));
    bsp_push_reg(a, 2 * sizeof(int));
    bsp_push_reg(other, 3 * sizeof(int));
    bsp_sync();
    bsp_pop_reg(me == 0 ? NULL : b); /* the third */
    bsp_pop_reg(a);                  /* the second, on process 0 too */
    bsp_sync();
    expect_bytes(a, 4);

    /* NULL means an older one. */
    bsp_push_reg(a, 3 * sizeof(int));
    bsp_push_reg(me == 0 ? a : &c, sizeof(int));
    bsp_sync();
    bsp_pop_reg(me == 0 ? NULL : a); /* that of 3 words */
    bsp_pop_reg(me == 0 ? a : &c);   /* the newest */
    bsp_sync();
    expect_bytes(a, 4);

    /* Two of NULL, and areas that are pushed before and behind them in the same superstep. */
    bsp_push_reg(me == 0 ? a : b, 2 * sizeof(int));
    bsp_pop_reg(me == 0 ? NULL : b);
    bsp_pop_reg(a);
    bsp_push_reg(me == 0 ? a : b, 3 * sizeof(int));
    bsp_pop_reg(me == 0 ? NULL : b);
    bsp_push_reg(a, 3 * sizeof(int));
    bsp_sync();
    expect_bytes(a, 12);
    bsp_pop_reg(a);
    bsp_sync();
    conform_done();
    bsp_end();
    return 0;
}
