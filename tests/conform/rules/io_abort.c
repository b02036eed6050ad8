/* I/O: bsp_abort prints a newline, ABORT(pid%3d):, the text and a newline, ends the whole job with
 * status 1 and needs no barrier, no partner and no SPMD part.
 *
 * CASE: before begin
 * ARGS: before
 * STATUS: 1
 * ERR:
 * ERR: ABORT(pid -1):usage 42 of it
 *
 * CASE: one of them
 * ARGS: one
 * STATUS: 1
 * ERR-RE: \A\nABORT\(pid\s+${p-1}\): ?last one 17\n
 *
 * CASE: process 0
 * ARGS: zero
 * STATUS: 1
 * ERR-RE: \A\nABORT\(pid  0\): ?first one 17\n
 *
 * CASE: all of them
 * ARGS: all
 * STATUS: 1
 * ERR-RE: ^ABORT\(pid  [0-9]\): ?everybody\n
 *
 * CASE: behind the end
 * ARGS: after
 * STATUS: 1
 * ERR-RE: \A\nABORT\(pid  0\): ?behind\n\Z
 */
#include <bsp.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *when = argc > 1 ? argv[1] : "";

    if (strcmp(when, "before") == 0)
        bsp_abort("usage %d of %s", 42, "it");
    bsp_begin(0);
    bsp_sync();
    if (strcmp(when, "one") == 0 && bsp_pid() == bsp_nprocs() - 1)
        bsp_abort("last one %d", 17);
    if (strcmp(when, "zero") == 0 && bsp_pid() == 0)
        bsp_abort("first one %d", 17);
    if (strcmp(when, "all") == 0)
        bsp_abort("everybody");
    bsp_sync();
    bsp_end();
    bsp_abort("behind");
}
