/* Messages: bsp_set_tagsize returns the value set last, takes effect for the sends of the next
 * superstep, and a queue is read with the size its messages were sent with.
 *
 * OUT-EACH: pid ${i}: ok
 * ERR-RE: bsmp_tagsize\.c:${line('early')}: bsp_send: .*tag size 8
 */
#include "../check.h"

static int set(int size)
{
    bsp_set_tagsize(&size);
    return size;
}

/* As a library function does it: its own size, and at the end the caller's back without a sync. */
static int library_call(void)
{
    int size = 16;

    bsp_set_tagsize(&size);
    bsp_sync();
    int previous = size;

    bsp_set_tagsize(&size);
    CHECK_INT(size, 16);
    return previous;
}

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), status;
    char tag[16];

    CHECK_INT(set(4), 0);
    CHECK_INT(set(8), 4);                        /* twice in a superstep: the last one counts */
    bsp_send((me + 1) % p, NULL, "untagged", 8); /* @early */
    bsp_sync();
    bsp_send((me + 1) % p, "12345678", "tagged", 6);
    CHECK_INT(set(2), 8);
    memset(tag, '.', sizeof tag);
    bsp_get_tag(&status, tag);
    CHECK(status == 8 && tag[0] == '.');
    bsp_sync();
    memset(tag, '.', sizeof tag);
    bsp_send((me + 1) % p, "ab", NULL, 0);
    bsp_get_tag(&status, tag); /* sent with 8, read with 8 */
    CHECK(status == 6 && memcmp(tag, "12345678.", 9) == 0);
    bsp_sync();
    memset(tag, '.', sizeof tag);
    bsp_get_tag(&status, tag);
    CHECK(status == 0 && memcmp(tag, "ab.", 3) == 0);
    CHECK_INT(library_call(), 2);
    CHECK_INT(library_call(), 2); /* no sync in between */
    bsp_sync();
    bsp_send((me + 1) % p, "xy", NULL, 0);
    bsp_sync();
    memset(tag, '.', sizeof tag);
    bsp_get_tag(&status, tag);
    CHECK(status == 0 && memcmp(tag, "xy.", 3) == 0);
    CHECK_INT(set(0), 2);
    conform_done();
    bsp_end();
    return 0;
}
