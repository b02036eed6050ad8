/* The Fortran names of the collective operations. */
#include "include/bsp_level1.h"
#include "lib/rt/fortran/fortran.h"
#include "lib/rt/rt.h"

FORTRAN_SUBROUTINE(bcast, (const int *root, const void *src, void *dst, const int *n),
                   bsp_bcast_cpp(*root, src, dst, *n, line, file))
FORTRAN_SUBROUTINE(gather, (const int *root, const void *src, void *dst, const int *n),
                   bsp_gather_cpp(*root, src, dst, *n, line, file))
FORTRAN_SUBROUTINE(fold, (bsp_operator_t op, const void *src, void *dst, const int *n),
                   bsp_fold_cpp(op, src, dst, *n, line, file))
FORTRAN_SUBROUTINE(scan, (bsp_operator_t op, const void *src, void *dst, const int *n),
                   bsp_scan_cpp(op, src, dst, *n, line, file))

/* A place inside a registered COMMON block is given by its address. */

static ptrdiff_t distance(const void *base, const void *place)
{
    return (const char *)place - (const char *)base;
}

FORTRAN_SUBROUTINE(put_common,
                   (const int *pid, const void *src, void *common, void *dst, const int *n),
                   bsp_put_cpp(*pid, src, common, distance(common, dst), *n, line, file))
FORTRAN_SUBROUTINE(hpput_common,
                   (const int *pid, const void *src, void *common, void *dst, const int *n),
                   bsp_hpput_cpp(*pid, src, common, distance(common, dst), *n, line, file))
FORTRAN_SUBROUTINE(get_common,
                   (const int *pid, const void *common, const void *src, void *dst, const int *n),
                   bsp_get_cpp(*pid, common, distance(common, src), dst, *n, line, file))
FORTRAN_SUBROUTINE(hpget_common,
                   (const int *pid, const void *common, const void *src, void *dst, const int *n),
                   bsp_hpget_cpp(*pid, common, distance(common, src), dst, *n, line, file))
FORTRAN_SUBROUTINE(sync_number, (const int *number), bspz_sync_numbered(*number, line, file))

#define BOTH_SPELLINGS(name)                                                                       \
    FORTRAN_TWO_UNDERSCORES(bsp##name)                                                             \
    FORTRAN_TWO_UNDERSCORES(cpp##name)

BOTH_SPELLINGS(put_common)
BOTH_SPELLINGS(hpput_common)
BOTH_SPELLINGS(get_common)
BOTH_SPELLINGS(hpget_common)
BOTH_SPELLINGS(sync_number)

#define SCALAR(name, c_name, type)                                                                 \
    FORTRAN_FUNCTION(type, name, (const type *value), c_name##_cpp(*value, 0, "unprofiled"))

#define SCALAR_AND_PREFIX(name, c_name, type)                                                      \
    SCALAR(name, c_name, type)                                                                     \
    SCALAR(name##_prefix, c_name##_prefix, type)                                                   \
    FORTRAN_TWO_UNDERSCORES(bsp##name##_prefix)

SCALAR_AND_PREFIX(sumi, bsp_sumI, int)
SCALAR_AND_PREFIX(sumr, bsp_sumR, float)
SCALAR_AND_PREFIX(sumd, bsp_sumD, double)
SCALAR_AND_PREFIX(producti, bsp_productI, int)
SCALAR_AND_PREFIX(productr, bsp_productR, float)
SCALAR_AND_PREFIX(productd, bsp_productD, double)
SCALAR_AND_PREFIX(mini, bsp_minI, int)
SCALAR_AND_PREFIX(minr, bsp_minR, float)
SCALAR_AND_PREFIX(mind, bsp_minD, double)
SCALAR_AND_PREFIX(maxi, bsp_maxI, int)
SCALAR_AND_PREFIX(maxr, bsp_maxR, float)
SCALAR_AND_PREFIX(maxd, bsp_maxD, double)
SCALAR(any, bsp_any, int)
SCALAR(all, bsp_all, int)

FORTRAN_FUNCTION(double, s, (void), bsp_s_cpp(0, "unprofiled"))
FORTRAN_FUNCTION(double, l, (void), bsp_l_cpp(0, "unprofiled"))
FORTRAN_FUNCTION(double, g, (void), bsp_g_cpp(0, "unprofiled"))
FORTRAN_FUNCTION(int, nhalf, (void), bsp_nhalf_cpp(0, "unprofiled"))
