/* Compatibility: a negative offset is an error; BSP_COMPAT=oxford accepts it where the memory before
 * the area belongs to another registered area.
 *
 * CASE: default put
 * ARGS: put
 * STATUS: nonzero
 * ERROR: bsp_put @put ? 1
 * FACT: -8\b
 *
 * CASE: default get
 * ARGS: get
 * STATUS: nonzero
 * ERROR: bsp_get @get ? 1
 * FACT: -8\b
 *
 * CASE: oxford, where nothing is registered
 * ENV: BSP_COMPAT=oxford
 * ARGS: nowhere
 * STATUS: nonzero
 * ERROR: bsp_put @nowhere ? 1
 * FACT: 4 bytes at offset -8 do not fit: process [0-9]+ registered 40 bytes \(at [^)]*\), and the access begins 8 bytes before them$
 *
 * CASE: oxford
 * ENV: BSP_COMPAT=oxford
 * ARGS: put get
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(int argc, char **argv)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), whole[10] = {0}, seen = -1;

    bsp_push_reg(whole, sizeof whole);
    bsp_push_reg(&whole[5], 5 * sizeof(int));
    bsp_sync();
    if (strcmp(argv[argc - 1], "nowhere") == 0) {
        bsp_put((me + 1) % p, &me, whole, -8, sizeof(int)); /* @nowhere */
        bsp_sync();
    }
    whole[3] = me;
    for (int k = 1; k < argc; k++) {
        if (strcmp(argv[k], "put") == 0)
            bsp_put((me + 1) % p, &me, &whole[5], -8, sizeof(int)); /* @put */
        if (strcmp(argv[k], "get") == 0)
            bsp_get((me + 1) % p, &whole[5], -8, &seen, sizeof(int)); /* @get */
    }
    bsp_sync();
    CHECK_INT(whole[3], (me + p - 1) % p);
    CHECK_INT(seen, (me + 1) % p);
    conform_done();
    bsp_end();
    return 0;
}
