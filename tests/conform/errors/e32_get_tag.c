/* Error 32: bsp_get_tag without a place for the status, or for a tag that has a size.
 *
 * P: 1 3
 * STATUS: nonzero
 *
 * CASE: status
 * ARGS: status
 * ERROR: bsp_get_tag @status ? 2
 * FACT: NULL
 *
 * CASE: tag
 * ARGS: tag
 * ERROR: bsp_get_tag @tag ? 2
 * FACT: NULL
 * FACT: \b14\b
 */
#include <bsp.h>
#include <string.h>

int main(int argc, char **argv)
{
    char tag[14] = "";
    int size = sizeof tag, status, *nowhere = NULL;

    bsp_begin(0);
    bsp_set_tagsize(&size);
    bsp_sync();
    bsp_send(bsp_pid(), tag, NULL, 0);
    bsp_sync();
    if (argc > 1 && strcmp(argv[1], "status") == 0)
        bsp_get_tag(nowhere, tag); /* @status */
    else
        bsp_get_tag(&status, NULL); /* @tag */
    bsp_end();
    return 0;
}
