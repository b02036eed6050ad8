/* Barrier: bspcc -fcheck-syncs makes different places of bsp_sync an error without any environment.
 *
 * CC: -fcheck-syncs
 * CASE: same place
 * ARGS: same
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: different places
 * P: 2 3 4
 * ARGS: different
 * STATUS: nonzero
 * ERR-RE: sync_check_option\.c:${line('even')}
 * ERR-RE: sync_check_option\.c:${line('odd')}
 */
#include "../check.h"

int main(int argc, char **argv)
{
    int different = argc > 1 && strcmp(argv[1], "different") == 0;

    bsp_begin(0);
    for (int i = 0; i < 10; i++)
        bsp_sync();
    if (different && bsp_pid() % 2)
        bsp_sync(); /* @odd */
    else
        bsp_sync(); /* @even */
    conform_done();
    bsp_end();
    return 0;
}
