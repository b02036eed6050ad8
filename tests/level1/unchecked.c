/* At library level 1 nothing is compared: each process sees to its own arguments.  Only the results
 * are checked here, over many collectives in a row.
 *
 * @flags -flibrary-level 1
 */
#include <bsp.h>
#include <bsp_level1.h>

#include "check.h"

int main(void)
{
    int value, everybody[64];

    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid();
    bsp_push_reg(&value, sizeof(value));
    bsp_push_reg(everybody, sizeof(everybody));
    bsp_sync();
    for (int round = 0; round < 200; round++) {
        int root = round % p;
        value = me == root ? round : -1;
        bsp_bcast(root, &value, &value, sizeof(value));
        CHECK(value == round);
        CHECK(bsp_sumI_prefix(round) == round * (me + 1));
        bsp_gather(root, &me, everybody, sizeof(me));
        CHECK(me != root || everybody[p - 1] == p - 1);
        bsp_scatter(root, everybody, &value, sizeof(value));
        CHECK(value == me);
        CHECK(bsp_sortI(round - me) == round - (p - 1 - me));
    }
    bsp_end();
    puts("ok");
    return 0;
}
