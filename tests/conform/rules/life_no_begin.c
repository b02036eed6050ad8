/* Life cycle: a program may end before bsp_begin, say after --help or for wrong arguments, and with the
 * status of its choice; bsprun -v notes that nothing ran in parallel.
 *
 * P: 1 3
 * OUT: before
 *
 * CASE: all is well, it says
 * ARGS: 0
 *
 * CASE: with an SPMD function announced
 * ARGS: 0 announced
 *
 * CASE: a note
 * RUN: bsprun
 * SHELL: "$BSPRUN" -v -np $P "$PROG" 0
 * ERR-RE: (?m)^bsprun: [^\n]*life_no_begin ended before bsp_begin, with status 0$
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

static void spmd(void)
{
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";

    if (argc > 2)
        bsp_init(spmd, argc, argv);
    printf("before\n");
    if (strcmp(how, "mistake") == 0)
        bsp_sync(); /* @sync */
    if (*how)
        return atoi(how);
    bsp_begin(0);
    bsp_end();
    return 0;
}
