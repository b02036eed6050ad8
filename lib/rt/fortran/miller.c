/* The Fortran names of the Miller library: bsp_store and so on, each with one and with two
 * underscores at the end.
 */
#include "include/bsp_level1.h"
#include "lib/rt/fortran/fortran.h"

FORTRAN_SUBROUTINE(_start, (const int *maxprocs, int *nprocs, int *mypid),
                   bspstart(0, NULL, *maxprocs, nprocs, mypid))
FORTRAN_SUBROUTINE_0(_finish, bspfinish())
FORTRAN_SUBROUTINE(_sstep, (const int *id), (void)id)
FORTRAN_SUBROUTINE(_sstep_end, (const int *id), (void)id, bsp_sync_cpp(line, file))
FORTRAN_SUBROUTINE(_store, (const int *pid, const void *src, void *dst, const int *n),
                   bspstore_cpp(*pid, src, dst, *n, line, file))
FORTRAN_SUBROUTINE(_fetch, (const int *pid, const void *src, void *dst, const int *n),
                   bspfetch_cpp(*pid, src, dst, *n, line, file))
/* The operator is a Fortran subroutine: it gets n by reference, unlike that of C's bspreduce. */
FORTRAN_SUBROUTINE(_reduce, (bsp_operator_t op, const void *src, void *dst, const int *n),
                   bsp_fold_cpp(op, src, dst, *n, line, file))
FORTRAN_SUBROUTINE(_broadcast, (const int *pid, void *src, void *dst, const int *n),
                   bspbroadcast_cpp(*pid, src, dst, *n, line, file))
FORTRAN_FUNCTION(double, _time, (void), bsp_time())
FORTRAN_FUNCTION(double, _dtime, (void), bsp_dtime())

#define BOTH_SPELLINGS(name)                                                                       \
    FORTRAN_TWO_UNDERSCORES(bsp_##name)                                                            \
    FORTRAN_TWO_UNDERSCORES(cpp_##name)

BOTH_SPELLINGS(start)
BOTH_SPELLINGS(finish)
BOTH_SPELLINGS(sstep)
BOTH_SPELLINGS(sstep_end)
BOTH_SPELLINGS(store)
BOTH_SPELLINGS(fetch)
BOTH_SPELLINGS(reduce)
BOTH_SPELLINGS(broadcast)
FORTRAN_TWO_UNDERSCORES(bsp_time)
FORTRAN_TWO_UNDERSCORES(bsp_dtime)
