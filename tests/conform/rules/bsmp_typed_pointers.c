/* Messages: bsp_hpmove takes the addresses of pointers of any type without a word from the compiler.
 *
 * CC: -Wall -Wextra -Werror
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), tag_size = sizeof(int), *tag;
    double half = me / 2.0, *payload;
    const char *letters;
    void *any;

    bsp_set_tagsize(&tag_size);
    bsp_sync();
    bsp_send((me + 1) % p, &me, &half, sizeof half);
    bsp_send((me + 1) % p, &me, "abc", 4);
    bsp_sync();
    CHECK_INT(bsp_hpmove(&tag, &payload), sizeof half);
    CHECK(*tag == (me + p - 1) % p && *payload == *tag / 2.0);
    CHECK_INT(bsp_hpmove(&any, &letters), 4);
    CHECK(*(int *)any == *tag && strcmp(letters, "abc") == 0);
    conform_done();
    bsp_end();
    return 0;
}
