/* Error 12: a process number out of range, one past the end, far out and negative.
 *
 * P: 1 2 4
 * STATUS: nonzero
 *
 * CASE: put p
 * ARGS: put ${p}
 * ERROR: bsp_put @put ${p-1} 1
 * FACT: \b${p}\b
 *
 * CASE: put minus one
 * ARGS: put -1
 * ERROR: bsp_put @put ${p-1} 1
 * FACT: -1\b
 *
 * CASE: put far
 * ARGS: put 1000000
 * ERROR: bsp_put @put ${p-1} 1
 * FACT: \b1000000\b
 *
 * CASE: hpput p
 * ARGS: hpput ${p}
 * ERROR: bsp_hpput @hpput ${p-1} 1
 * FACT: \b${p}\b
 *
 * CASE: hpput minus one
 * ARGS: hpput -1
 * ERROR: bsp_hpput @hpput ${p-1} 1
 * FACT: -1\b
 *
 * CASE: hpput far
 * ARGS: hpput 1000000
 * ERROR: bsp_hpput @hpput ${p-1} 1
 * FACT: \b1000000\b
 *
 * CASE: get p
 * ARGS: get ${p}
 * ERROR: bsp_get @get ${p-1} 1
 * FACT: \b${p}\b
 *
 * CASE: get minus one
 * ARGS: get -1
 * ERROR: bsp_get @get ${p-1} 1
 * FACT: -1\b
 *
 * CASE: get far
 * ARGS: get 1000000
 * ERROR: bsp_get @get ${p-1} 1
 * FACT: \b1000000\b
 *
 * CASE: hpget p
 * ARGS: hpget ${p}
 * ERROR: bsp_hpget @hpget ${p-1} 1
 * FACT: \b${p}\b
 *
 * CASE: hpget minus one
 * ARGS: hpget -1
 * ERROR: bsp_hpget @hpget ${p-1} 1
 * FACT: -1\b
 *
 * CASE: hpget far
 * ARGS: hpget 1000000
 * ERROR: bsp_hpget @hpget ${p-1} 1
 * FACT: \b1000000\b
 *
 * CASE: send p
 * ARGS: send ${p}
 * ERROR: bsp_send @send ${p-1} 1
 * FACT: \b${p}\b
 *
 * CASE: send minus one
 * ARGS: send -1
 * ERROR: bsp_send @send ${p-1} 1
 * FACT: -1\b
 *
 * CASE: send far
 * ARGS: send 1000000
 * ERROR: bsp_send @send ${p-1} 1
 * FACT: \b1000000\b
 */
#include <bsp.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int area = 0, value = 0;

    if (argc < 3)
        return 99;
    bsp_begin(0);
    bsp_push_reg(&area, sizeof area);
    bsp_sync();
    int to = bsp_pid() == bsp_nprocs() - 1 ? atoi(argv[2]) : 0;
    const char *name = argv[1];

    if (strcmp(name, "put") == 0)
        bsp_put(to, &value, &area, 0, sizeof value); /* @put */
    if (strcmp(name, "hpput") == 0)
        bsp_hpput(to, &value, &area, 0, sizeof value); /* @hpput */
    if (strcmp(name, "get") == 0)
        bsp_get(to, &area, 0, &value, sizeof value); /* @get */
    if (strcmp(name, "hpget") == 0)
        bsp_hpget(to, &area, 0, &value, sizeof value); /* @hpget */
    if (strcmp(name, "send") == 0)
        bsp_send(to, NULL, &value, sizeof value); /* @send */
    bsp_sync();
    bsp_end();
    return 0;
}
