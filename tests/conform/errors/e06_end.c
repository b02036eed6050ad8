/* Error 6: bsp_end without bsp_begin, and twice.
 *
 * STATUS: nonzero
 *
 * CASE: without begin
 * ARGS: without
 * ERROR: bsp_end @without -1 ?
 * FACT: bsp_begin
 *
 * CASE: twice
 * ARGS: twice
 * ERROR: bsp_end @twice 0 ?
 */
#include <bsp.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "without") == 0)
        bsp_end(); /* @without */
    bsp_begin(0);
    bsp_sync();
    bsp_end();
    bsp_end(); /* @twice */
    return 0;
}
