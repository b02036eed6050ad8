/* Life cycle: a program that ends before bsp_begin.  With another status than 0 it has given up and
 * said why; with 0, under bsprun, its user must not believe that anything has run.
 *
 * P: 1 3
 * OUT: before
 *
 * CASE: all is well, it says
 * RUN: bsprun
 * ARGS: 0
 * STATUS: 1
 * ERR-RE: \Absprun: [^ ]*life_no_begin ended without calling bsp_begin\n\Z
 *
 * CASE: without bsprun it is a program like any other
 * RUN: bare
 * ARGS: 0
 *
 * CASE: given up
 * ARGS: 3
 * STATUS: 3
 * ERR-NOT: .
 *
 * CASE: a mistake that has been reported
 * ARGS: mistake
 * STATUS: 1
 * ERROR: bsp_sync @sync -1 ?
 * ERR-NOT: ended without
 */
#include <bsp.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";

    printf("before\n");
    if (strcmp(how, "mistake") == 0)
        bsp_sync(); /* @sync */
    if (*how)
        return atoi(how);
    bsp_begin(0);
    bsp_end();
    return 0;
}
