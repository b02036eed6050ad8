/* Error 36: bsp_hpmove without a place for one of its pointers.
 *
 * P: 1 3
 * STATUS: nonzero
 *
 * CASE: tag
 * ARGS: tag
 * ERROR: bsp_hpmove @tag ? 1
 * FACT: NULL
 *
 * CASE: payload
 * ARGS: payload
 * ERROR: bsp_hpmove @payload ? 1
 * FACT: NULL
 */
#include <bsp.h>
#include <string.h>

int main(int argc, char **argv)
{
    void *pointer, **nowhere = NULL;

    bsp_begin(0);
    bsp_send(bsp_pid(), NULL, "abc", 3);
    bsp_sync();
    if (argc > 1 && strcmp(argv[1], "tag") == 0)
        bsp_hpmove(nowhere, &pointer); /* @tag */
    else
        bsp_hpmove(&pointer, nowhere); /* @payload */
    bsp_end();
    return 0;
}
