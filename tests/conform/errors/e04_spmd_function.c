/* Error 4: bsp_init announces a function that returns without bsp_end.  One that never begins is no
 * error: the program may have had to show its help only.
 *
 * CASE: never began
 * ARGS: never
 *
 * CASE: no end
 * ARGS: noend
 * STATUS: nonzero
 * ERR-RE: (bsprun|bspzero): .*pid [0-6]\b.* superstep 1\b.*bsp_end
 */
#include <bsp.h>
#include <string.h>

static int begins;

static void spmd(void)
{
    if (begins) {
        bsp_begin(0);
        bsp_sync();
    }
}

int main(int argc, char **argv)
{
    begins = argc > 1 && strcmp(argv[1], "noend") == 0;
    bsp_init(spmd, argc, argv);
    spmd();
    return 0;
}
