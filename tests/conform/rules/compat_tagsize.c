/* Compatibility: a send behind bsp_set_tagsize in the same superstep uses the old size, with one
 * warning per job; with BSP_COMPAT=oxford it uses the new size, without one.
 *
 * CASE: default
 * ARGS: 0
 * OUT-EACH: pid ${i}: ok
 * ERR-RE: \A[^\n]*compat_tagsize\.c:${line('first')}: bsp_send: pid 0 of ${p}, superstep 0: [^\n]*tag size 4[^\n]*\n\Z
 *
 * CASE: oxford
 * ARGS: 4
 * ENV: BSP_COMPAT=oxford
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(int argc, char **argv)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), tag_size = 4, status,
        wanted = argc > 1 ? atoi(argv[1]) : 0;
    char tag[8] = "-------";

    bsp_set_tagsize(&tag_size);
    CHECK_INT(tag_size, 0);
    bsp_send((me + 1) % p, "abcd", "payload", 7); /* @first */
    bsp_send((me + 1) % p, "efgh", "payload", 7); /* @second */
    bsp_sync();
    bsp_get_tag(&status, tag);
    CHECK_INT(status, 7);
    CHECK(memcmp(tag, "abcd", (size_t)wanted) == 0 && tag[wanted] == '-');
    bsp_move(tag, 7);
    CHECK(memcmp(tag, "payload", 7) == 0);
    conform_done();
    bsp_end();
    return 0;
}
