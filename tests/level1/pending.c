/* What a collective does to communication around it: puts and gets issued before are carried out,
 * unread messages are gone, the tag size stays, registrations made before become effective.
 */
#include <bsp.h>
#include <bsp_level1.h>

#include "check.h"

int main(void)
{
    int target = -1, got = -1, source, packets, nbytes, tag_size = sizeof(int), status, registered;

    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), right = (me + 1) % p, left = (me + p - 1) % p;
    source = me + 50;
    bsp_set_tagsize(&tag_size);
    bsp_push_reg(&target, sizeof(target));
    bsp_push_reg(&source, sizeof(source));
    bsp_sync();

    bsp_put(right, &me, &target, 0, sizeof(me));
    bsp_get(right, &source, 0, &got, sizeof(got));
    bsp_push_reg(&registered, sizeof(registered));
    CHECK(bsp_sumI(1) == p);
    CHECK(target == left);
    CHECK(got == right + 50);
    bsp_put(right, &me, &registered, 0, sizeof(me));
    CHECK(bsp_maxI(me) == p - 1);
    CHECK(registered == left);

    bsp_send(right, &me, &source, sizeof(source));
    bsp_sync();
    bsp_qsize(&packets, &nbytes);
    CHECK(packets == 1 && nbytes == (int)sizeof(source));
    bsp_all(1);
    bsp_qsize(&packets, &nbytes);
    CHECK(packets == 0 && nbytes == 0);

    bsp_send(right, &me, &source, sizeof(source));
    bsp_sync();
    int tag = -1;
    bsp_get_tag(&status, &tag);
    CHECK(status == (int)sizeof(source) && tag == left);

    /* A collective may stand between a pop and a new push of the same address. */
    bsp_pop_reg(&target);
    CHECK(bsp_constantI(3) == 1);
    bsp_push_reg(&target, sizeof(target));
    bsp_bcast(0, &me, &got, 0);
    bsp_put(right, &p, &target, 0, sizeof(p));
    bsp_sync();
    CHECK(target == p);
    tag_size = 0;
    bsp_set_tagsize(&tag_size);
    CHECK(tag_size == (int)sizeof(int));
    bsp_end();
    puts("ok");
    return 0;
}
