/* Error 15, Miller library: bspstore and bspfetch in a program that has not called bspstart.
 *
 * STATUS: nonzero
 *
 * CASE: store
 * ERROR: bspstore @store ? 0
 * FACT: bspstart
 *
 * CASE: fetch
 * ARGS: fetch
 * ERROR: bspfetch @fetch ? 0
 * FACT: bspstart
 */
#include <bsp.h>

static int from, to;

int main(int argc, char **argv)
{
    (void)argv;
    bsp_begin(0);
    if (argc > 1)
        bspfetch(0, &from, &to, sizeof to); /* @fetch */
    bspstore(0, &from, &to, sizeof to);     /* @store */
    bsp_sync();
    bsp_end();
    return 0;
}
