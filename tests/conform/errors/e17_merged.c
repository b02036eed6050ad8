/* Error 17, for calls that continue each other and travel together: the message is about the first
 * call that leaves the area, its own offset and size, not about what it was merged with.
 *
 * P: 1 2 3
 * STATUS: nonzero
 *
 * CASE: put of 8
 * ARGS: put 8
 * ERROR: bsp_put @put 0 1
 * FACT: ^8 bytes at offset 16 do not fit: process ${p-1} registered 20 bytes \(at [^\n]*:${line('push')}\), 4 too few$
 *
 * CASE: put of 4
 * ARGS: put 4
 * ERROR: bsp_put @put 0 1
 * FACT: ^4 bytes at offset 20 do not fit: process ${p-1} registered 20 bytes \(at [^\n]*:${line('push')}\), 4 too few$
 *
 * CASE: put of 3
 * ARGS: put 3
 * ERROR: bsp_put @put 0 1
 * FACT: ^3 bytes at offset 18 do not fit: process ${p-1} registered 20 bytes \(at [^\n]*:${line('push')}\), 1 too few$
 *
 * CASE: hpput of 8
 * ARGS: hpput 8
 * ERROR: bsp_hpput @hpput 0 1
 * FACT: ^8 bytes at offset 16 do not fit: process ${p-1} registered 20 bytes \(at [^\n]*:${line('push')}\), 4 too few$
 *
 * CASE: get of 8
 * ARGS: get 8
 * ERROR: bsp_get @get 0 1
 * FACT: ^8 bytes at offset 16 do not fit: process ${p-1} registered 20 bytes \(at [^\n]*:${line('push')}\), 4 too few$
 *
 * CASE: get of 3
 * ARGS: get 3
 * ERROR: bsp_get @get 0 1
 * FACT: ^3 bytes at offset 18 do not fit: process ${p-1} registered 20 bytes \(at [^\n]*:${line('push')}\), 1 too few$
 *
 * CASE: hpget of 4
 * ARGS: hpget 4
 * ERROR: bsp_hpget @hpget 0 1
 * FACT: ^4 bytes at offset 20 do not fit: process ${p-1} registered 20 bytes \(at [^\n]*:${line('push')}\), 4 too few$
 *
 * CASE: puts to odd places
 * ARGS: scatter 4
 * ERROR: bsp_put @scatter 0 1
 * FACT: ^4 bytes at offset 24 do not fit: process ${p-1} registered 20 bytes \(at [^\n]*:${line('push')}\), 8 too few$
 *
 * CASE: puts that grow
 * ARGS: grow 1
 * ERROR: bsp_put @grow 0 1
 * FACT: ^6 bytes at offset 15 do not fit: process ${p-1} registered 20 bytes \(at [^\n]*:${line('push')}\), 1 too few$
 *
 * CASE: all of it behind the end
 * ARGS: behind 8
 * ERROR: bsp_put @behind 0 1
 * FACT: ^8 bytes at offset 24 do not fit: process ${p-1} registered 20 bytes \(at [^\n]*:${line('push')}\), 12 too few$
 *
 * CASE: gets of more than there can be
 * ARGS: huge 0
 * ERROR: bsp_get @huge 0 1
 * FACT: ^281474976710664 bytes
 */
#include <bsp.h>
#include <stdlib.h>
#include <string.h>

enum { EXTENT = 20, OWN = 100 };
static char area[OWN], value[OWN];

static void issue(const char *how, int to, int n)
{
    if (strcmp(how, "put") == 0)
        for (int at = 0; at + n <= 40; at += n)
            bsp_put(to, value, area, at, n); /* @put */
    if (strcmp(how, "hpput") == 0)
        for (int at = 0; at + n <= 40; at += n)
            bsp_hpput(to, value, area, at, n); /* @hpput */
    if (strcmp(how, "get") == 0)
        for (int at = 0; at + n <= 40; at += n)
            bsp_get(to, area, at, value + at, n); /* @get */
    if (strcmp(how, "hpget") == 0)
        for (int at = 0; at + n <= 40; at += n)
            bsp_hpget(to, area, at, value + at, n); /* @hpget */
    if (strcmp(how, "scatter") == 0)
        for (int at = 0; at + n <= 40; at += 3 * n)
            bsp_put(to, value, area, at, n); /* @scatter */
    if (strcmp(how, "grow") == 0)
        for (int at = 0; at + n <= 40; at += n++)
            bsp_put(to, value, area, at, n); /* @grow */
    if (strcmp(how, "behind") == 0)
        for (int at = 24; at + n <= 48; at += n)
            bsp_put(to, value, area, at, n); /* @behind */
    if (strcmp(how, "huge") == 0)
        bsp_get(to, area, 0, value, (1LL << 48) + 8); /* @huge */
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 99;
    bsp_begin(0);
    int to = bsp_nprocs() - 1;

    bsp_push_reg(area, bsp_pid() == to ? EXTENT : OWN); /* @push */
    bsp_sync();
    if (bsp_pid() == 0)
        issue(argv[1], to, atoi(argv[2]));
    bsp_sync();
    bsp_end();
    return 0;
}
