/* Error 5: the program ends, by return or exit, without bsp_end.
 *
 * STATUS: nonzero
 * ERR-RE: (bsprun|bspzero): pid [0-9]+\b.* superstep 2\b.*bsp_end
 * ERR-RE: ^  pid ${p-1}: last call bsp_sync at .*e05_no_end\.c:${line('last')}, superstep
 *
 * CASE: return
 * ARGS: return
 *
 * CASE: exit 0
 * ARGS: exit
 *
 * CASE: exit with another status
 * ARGS: exit3
 *
 * CASE: exit with what the shell takes for 0
 * ARGS: exit256
 */
#include <bsp.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    bsp_begin(0);
    bsp_sync();
    bsp_sync(); /* @last */
    if (argc > 1 && strcmp(argv[1], "exit") == 0)
        exit(0);
    if (argc > 1 && strcmp(argv[1], "exit3") == 0)
        exit(3);
    if (argc > 1 && strcmp(argv[1], "exit256") == 0)
        exit(256);
    return 0;
}
