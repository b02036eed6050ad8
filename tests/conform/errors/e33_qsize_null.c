/* Error 33: bsp_qsize without a place for one of its results.
 *
 * P: 1 3
 * STATUS: nonzero
 *
 * CASE: packets
 * ARGS: packets
 * ERROR: bsp_qsize @packets ? 1
 * FACT: NULL
 *
 * CASE: bytes
 * ARGS: bytes
 * ERROR: bsp_qsize @bytes ? 1
 * FACT: NULL
 */
#include <bsp.h>
#include <string.h>

int main(int argc, char **argv)
{
    int value, *nowhere = NULL;

    bsp_begin(0);
    bsp_sync();
    if (argc > 1 && strcmp(argv[1], "packets") == 0)
        bsp_qsize(nowhere, &value); /* @packets */
    else
        bsp_qsize(&value, nowhere); /* @bytes */
    bsp_end();
    return 0;
}
