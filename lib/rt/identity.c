/* identity.c - the two variables that old programs read instead of calling bsp_pid; bsp.h declares
 * them read-only, so they are defined in a file that does not include it. */
#include "lib/rt/rt.h"

__attribute__((visibility("default"))) int _bsp_pid = -1;
__attribute__((visibility("default"))) int _bsp_nprocs = 0;

void bspz_show_identity(int pid, int nprocs)
{
    _bsp_pid = pid;
    _bsp_nprocs = nprocs;
}
