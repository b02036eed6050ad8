/* Error 17: beyond the area as its owner registered it, by a lot and by a single byte; whoever finds
 * it names the caller's line, offset, size, the owner's extent and the line of the registration.
 *
 * STATUS: nonzero
 *
 * CASE: put one byte
 * P: 1 2 4
 * ARGS: put 17 4
 * ERROR: bsp_put @put 0 1
 * FACT: \b17\b
 * FACT: \b4\b
 * FACT: \b20\b
 * FACT: e17_bounds\.c:${line('push')}\b
 *
 * CASE: put behind
 * P: 3
 * ARGS: put 21 4
 * ERROR: bsp_put @put 0 1
 * FACT: \b21\b
 * FACT: \b4\b
 * FACT: \b20\b
 * FACT: e17_bounds\.c:${line('push')}\b
 *
 * CASE: put far
 * P: 3
 * ARGS: put 1000000 1
 * ERROR: bsp_put @put 0 1
 * FACT: \b1000000\b
 * FACT: \b1\b
 * FACT: \b20\b
 * FACT: e17_bounds\.c:${line('push')}\b
 *
 * CASE: put whole
 * P: 1 2 4
 * ARGS: put 0 21
 * ERROR: bsp_put @put 0 1
 * FACT: \b0\b
 * FACT: \b21\b
 * FACT: \b20\b
 * FACT: e17_bounds\.c:${line('push')}\b
 *
 * CASE: hpput one byte
 * P: 1 2 4
 * ARGS: hpput 17 4
 * ERROR: bsp_hpput @hpput 0 1
 * FACT: \b17\b
 * FACT: \b4\b
 * FACT: \b20\b
 * FACT: e17_bounds\.c:${line('push')}\b
 *
 * CASE: hpput direct
 * P: 2 4
 * ENV: BSPZERO_DIRECT=1
 * ARGS: hpput 17 4
 * ERROR: bsp_hpput @hpput 0 1
 * FACT: \b17\b
 * FACT: \b4\b
 * FACT: \b20\b
 * FACT: e17_bounds\.c:${line('push')}\b
 *
 * CASE: hpput behind
 * P: 3
 * ARGS: hpput 21 4
 * ERROR: bsp_hpput @hpput 0 1
 * FACT: \b21\b
 * FACT: \b4\b
 * FACT: \b20\b
 * FACT: e17_bounds\.c:${line('push')}\b
 *
 * CASE: hpput far
 * P: 3
 * ARGS: hpput 1000000 1
 * ERROR: bsp_hpput @hpput 0 1
 * FACT: \b1000000\b
 * FACT: \b1\b
 * FACT: \b20\b
 * FACT: e17_bounds\.c:${line('push')}\b
 *
 * CASE: hpput whole
 * P: 1 2 4
 * ARGS: hpput 0 21
 * ERROR: bsp_hpput @hpput 0 1
 * FACT: \b0\b
 * FACT: \b21\b
 * FACT: \b20\b
 * FACT: e17_bounds\.c:${line('push')}\b
 *
 * CASE: get one byte
 * P: 1 2 4
 * ARGS: get 17 4
 * ERROR: bsp_get @get 0 1
 * FACT: \b17\b
 * FACT: \b4\b
 * FACT: \b20\b
 * FACT: e17_bounds\.c:${line('push')}\b
 *
 * CASE: get behind
 * P: 3
 * ARGS: get 21 4
 * ERROR: bsp_get @get 0 1
 * FACT: \b21\b
 * FACT: \b4\b
 * FACT: \b20\b
 * FACT: e17_bounds\.c:${line('push')}\b
 *
 * CASE: get far
 * P: 3
 * ARGS: get 1000000 1
 * ERROR: bsp_get @get 0 1
 * FACT: \b1000000\b
 * FACT: \b1\b
 * FACT: \b20\b
 * FACT: e17_bounds\.c:${line('push')}\b
 *
 * CASE: get whole
 * P: 1 2 4
 * ARGS: get 0 21
 * ERROR: bsp_get @get 0 1
 * FACT: \b0\b
 * FACT: \b21\b
 * FACT: \b20\b
 * FACT: e17_bounds\.c:${line('push')}\b
 *
 * CASE: hpget one byte
 * P: 1 2 4
 * ARGS: hpget 17 4
 * ERROR: bsp_hpget @hpget 0 1
 * FACT: \b17\b
 * FACT: \b4\b
 * FACT: \b20\b
 * FACT: e17_bounds\.c:${line('push')}\b
 *
 * CASE: hpget behind
 * P: 3
 * ARGS: hpget 21 4
 * ERROR: bsp_hpget @hpget 0 1
 * FACT: \b21\b
 * FACT: \b4\b
 * FACT: \b20\b
 * FACT: e17_bounds\.c:${line('push')}\b
 *
 * CASE: hpget far
 * P: 3
 * ARGS: hpget 1000000 1
 * ERROR: bsp_hpget @hpget 0 1
 * FACT: \b1000000\b
 * FACT: \b1\b
 * FACT: \b20\b
 * FACT: e17_bounds\.c:${line('push')}\b
 *
 * CASE: hpget whole
 * P: 1 2 4
 * ARGS: hpget 0 21
 * ERROR: bsp_hpget @hpget 0 1
 * FACT: \b0\b
 * FACT: \b21\b
 * FACT: \b20\b
 * FACT: e17_bounds\.c:${line('push')}\b
 *
 * CASE: the whole area is fine
 * STATUS: 0
 * ARGS: put 0 20
 *
 * CASE: the last byte is fine
 * STATUS: 0
 * ARGS: hpget 19 1
 *
 * CASE: overflow of offset and size
 * P: 2
 * ARGS: put 9223372036854775800 100
 * ERROR: bsp_put @put 0 1
 * FACT: 9223372036854775800
 */
#include <bsp.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    static char area[50], value[50];

    if (argc < 4)
        return 99;
    bsp_begin(0);
    int to = bsp_nprocs() - 1;
    long offset = atol(argv[2]), size = atol(argv[3]);
    const char *name = bsp_pid() == 0 ? argv[1] : "";

    /* the owner's extent is 20; where they differ, the caller's own would allow more */
    bsp_push_reg(area, bsp_pid() == to ? 20 : 50); /* @push */
    bsp_sync();
    if (strcmp(name, "put") == 0)
        bsp_put(to, value, area, offset, size); /* @put */
    if (strcmp(name, "hpput") == 0)
        bsp_hpput(to, value, area, offset, size); /* @hpput */
    if (strcmp(name, "get") == 0)
        bsp_get(to, area, offset, value, size); /* @get */
    if (strcmp(name, "hpget") == 0)
        bsp_hpget(to, area, offset, value, size); /* @hpget */
    bsp_sync();
    bsp_end();
    return 0;
}
