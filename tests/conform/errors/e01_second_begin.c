/* Error 1: a second bsp_begin, nested in the first or behind its end.
 *
 * STATUS: nonzero
 *
 * CASE: nested
 * ARGS: nested
 * ERROR: bsp_begin @nested ? 0
 *
 * CASE: nested, later superstep, one process
 * ARGS: one
 * P: 2 3 4
 * ERROR: bsp_begin @one 1 2
 *
 * CASE: behind the end
 * ARGS: later
 * ERROR: bsp_begin @later 0 ?
 */
#include <bsp.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";

    bsp_begin(0);
    if (strcmp(how, "nested") == 0)
        bsp_begin(0); /* @nested */
    bsp_sync();
    bsp_sync();
    if (strcmp(how, "one") == 0 && bsp_pid() == 1)
        bsp_begin(2); /* @one */
    bsp_end();
    bsp_begin(0); /* @later */
    bsp_end();
    return 0;
}
