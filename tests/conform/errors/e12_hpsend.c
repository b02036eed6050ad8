/* Errors 7, 12, 27 and 28 of bsp_hpsend: the message names that call, not bsp_send.
 *
 * P: 1 3
 * STATUS: nonzero
 *
 * CASE: outside
 * ARGS: outside
 * ERROR: bsp_hpsend @outside -1 ?
 *
 * CASE: process
 * ARGS: process
 * ERROR: bsp_hpsend @process ? 0
 * FACT: \b${p}\b
 *
 * CASE: payload
 * ARGS: payload
 * ERROR: bsp_hpsend @payload ? 0
 * FACT: NULL
 *
 * CASE: size
 * ARGS: size
 * ERROR: bsp_hpsend @size ? 0
 * FACT: -3\b
 */
#include <bsp.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    if (strcmp(name, "outside") == 0)
        bsp_hpsend(0, NULL, "abc", 3); /* @outside */
    bsp_begin(0);
    if (strcmp(name, "process") == 0)
        bsp_hpsend(bsp_nprocs(), NULL, "abc", 3); /* @process */
    if (strcmp(name, "payload") == 0)
        bsp_hpsend(0, NULL, NULL, 3); /* @payload */
    if (strcmp(name, "size") == 0)
        bsp_hpsend(0, NULL, "abc", -3); /* @size */
    bsp_sync();
    bsp_end();
    return 0;
}
