/* Error 25 does not occur: an area popped by its owner in this superstep is still there for the
 * others to the end of it, whatever the order in which the processes come to the barrier.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

static atomic_int *popped; /* pops so far, of all processes */

/* The processes take turns to be the last of a round: its put and get are issued when all others
 * have popped already. */
static void wait_until_popped(int count)
{
    while (atomic_load(popped) < count)
        sched_yield();
}

int main(void)
{
    popped = mmap(NULL, sizeof *popped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid();

    for (int round = 0; round < 20; round++) {
        int area[2] = {0, 30 + me + round}, value = me + round, seen = 0;

        bsp_push_reg(area, sizeof area);
        bsp_sync();
        if (me == round % p)
            wait_until_popped(round * p + p - 1);
        bsp_put((me + 1) % p, &value, area, 0, sizeof(int));
        bsp_get((me + 1) % p, area, sizeof(int), &seen, sizeof(int));
        bsp_pop_reg(area);
        atomic_fetch_add(popped, 1);
        bsp_sync();
        CHECK_INT(area[0], (me + p - 1) % p + round);
        CHECK_INT(seen, 30 + (me + 1) % p + round);
    }
    conform_done();
    bsp_end();
    return 0;
}
