/* Error 5: the program ends, by return or exit, without bsp_end.
 *
 * STATUS: nonzero
 * ERR-RE: bspzero: .*pid [0-9]+ of ${p}, superstep 2: .*bsp_end
 *
 * CASE: return
 * ARGS: return
 *
 * CASE: exit 0
 * ARGS: exit
 *
 * CASE: exit with another status
 * ARGS: exit3
 */
#include <bsp.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    bsp_begin(0);
    bsp_sync();
    bsp_sync();
    if (argc > 1 && strcmp(argv[1], "exit") == 0)
        exit(0);
    if (argc > 1 && strcmp(argv[1], "exit3") == 0)
        exit(3);
    return 0;
}
