/* bsp_level1.h - collective operations on top of the BSPlib primitives.
 *
 * Every call is collective: all processes make it, in the same order, with the same root, the same
 * n and the same kind of operator.  With checks on, a difference ends the job with a message that
 * names both processes.  A collective contains one or more bsp_syncs: communication issued before
 * it is delivered by it, and messages not yet read are lost.  How many there are is not part of
 * the interface.  n counts bytes.
 *
 * As in bsp.h the calls are macros that pass the caller's line and file on; functions of the plain
 * names exist too and may be replaced by functions of the program's own.
 *
 * Costs are in the model of bsp.h, for p processes.
 */
#ifndef _BSP_LEVEL1_H
#define _BSP_LEVEL1_H

#include "bsp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An associative operator: *result = *left o *right for items of *nbytes bytes.  The three never
 * overlap. */
typedef void (*bsp_operator_t)(void *result, void *left, void *right, int *nbytes);

/* An order: non-zero when *left comes before *right. */
typedef int (*bsp_order_t)(void *left, void *right, int *nbytes);

/* bsp_bcast(root, src, dst, n): copies n bytes at root's src to everybody's dst.  dst is
 * registered by all; src is only looked at by root and may be dst.
 * Cost: the smaller of (p-1)*n*g + l and 2*n*g + 2*l. */
void bsp_bcast_cpp(int root, const void *src, void *dst, ptrdiff_t nbytes, int line,
                   const char *file);

/* bsp_gather(root, src, dst, n): collects n bytes at every process's src one after the other, in
 * the order of the process numbers, at root's dst.  dst is registered, by root with p*n bytes.
 * Cost: (p-1)*n*g + l. */
void bsp_gather_cpp(int root, const void *src, void *dst, ptrdiff_t nbytes, int line,
                    const char *file);

/* bsp_scatter(root, src, dst, n): the opposite: copies the i-th n bytes at root's src to the dst of
 * process i.  src is registered, by root with p*n bytes.  Cost: (p-1)*n*g + l. */
void bsp_scatter_cpp(int root, const void *src, void *dst, ptrdiff_t nbytes, int line,
                     const char *file);

/* bsp_fold(op, src, dst, n): dst becomes x0 o x1 o ... o x(p-1) on every process, where xi are the
 * n bytes at process i's src.  The order is kept, how the terms are bracketed is not fixed.
 * Neither src nor dst need be registered; they may be the same.
 * Cost: the smaller of (p-1)*n*g + l and about log(p)*(n*g + l). */
void bsp_fold_cpp(bsp_operator_t op, const void *src, void *dst, ptrdiff_t nbytes, int line,
                  const char *file);

/* bsp_scan(op, src, dst, n): as bsp_fold, but process i gets x0 o ... o xi.  Same cost. */
void bsp_scan_cpp(bsp_operator_t op, const void *src, void *dst, ptrdiff_t nbytes, int line,
                  const char *file);

/* bsp_sort(before, src, dst, n): every process gives an item of n bytes; process i gets the i-th
 * smallest.  Items of which neither comes before the other keep the order of their processes.
 * Cost: about 3*p comparisons + (p-1)*n*g + l. */
void bsp_sort_cpp(bsp_order_t before, const void *src, void *dst, ptrdiff_t nbytes, int line,
                  const char *file);

/* The machine's parameters for the number of processes that run: s, the speed of a process in
 * flop/s; l, the cost of a bsp_sync in flops; g, the cost of communicating a 32-bit word in flops;
 * n_half, the message size in words at which half the bandwidth is reached.  They come from
 * BSP_SLG="s,l,g,nhalf" (s in Mflop/s) or from the database that bspparam shows, else they are
 * those of a typical machine.  Local. */
double bsp_s_cpp(int line, const char *file);
double bsp_l_cpp(int line, const char *file);
double bsp_g_cpp(int line, const char *file);
int bsp_nhalf_cpp(int line, const char *file);

/* Scalars: the result of folding (with _prefix: scanning) one value of each process.  any and all
 * take and give truth values; constantI is 1 when all processes gave the same value, else 0; sort
 * gives process i the i-th smallest value. */
#define BSP_FOR_EACH_SCALAR_(X)                                                                    \
    X(bsp_sumI, int)                                                                               \
    X(bsp_sumR, float)                                                                             \
    X(bsp_sumD, double)                                                                            \
    X(bsp_productI, int)                                                                           \
    X(bsp_productR, float)                                                                         \
    X(bsp_productD, double)                                                                        \
    X(bsp_minI, int)                                                                               \
    X(bsp_minR, float)                                                                             \
    X(bsp_minD, double)                                                                            \
    X(bsp_maxI, int)                                                                               \
    X(bsp_maxR, float)                                                                             \
    X(bsp_maxD, double)                                                                            \
    X(bsp_sumI_prefix, int)                                                                        \
    X(bsp_sumR_prefix, float)                                                                      \
    X(bsp_sumD_prefix, double)                                                                     \
    X(bsp_productI_prefix, int)                                                                    \
    X(bsp_productR_prefix, float)                                                                  \
    X(bsp_productD_prefix, double)                                                                 \
    X(bsp_minI_prefix, int)                                                                        \
    X(bsp_minR_prefix, float)                                                                      \
    X(bsp_minD_prefix, double)                                                                     \
    X(bsp_maxI_prefix, int)                                                                        \
    X(bsp_maxR_prefix, float)                                                                      \
    X(bsp_maxD_prefix, double)                                                                     \
    X(bsp_any, int)                                                                                \
    X(bsp_all, int)                                                                                \
    X(bsp_any_prefix, int)                                                                         \
    X(bsp_all_prefix, int)                                                                         \
    X(bsp_constantI, int)                                                                          \
    X(bsp_sortI, int)                                                                              \
    X(bsp_sortR, float)                                                                            \
    X(bsp_sortD, double)                                                                           \
    X(bsp_sortC, char)

#define BSP_DECLARE_(name, type) type name##_cpp(type value, int line, const char *file);
BSP_FOR_EACH_SCALAR_(BSP_DECLARE_)
#undef BSP_DECLARE_

#ifdef __cplusplus
} /* extern "C" */

/* Also where the program includes this header inside an extern "C" of its own. */
extern "C++" {

inline void bsp_bcast(int root, const void *src, void *dst, ptrdiff_t nbytes, BSP_HERE_)
{
    bsp_bcast_cpp(root, src, dst, nbytes, line, file);
}
inline void bsp_gather(int root, const void *src, void *dst, ptrdiff_t nbytes, BSP_HERE_)
{
    bsp_gather_cpp(root, src, dst, nbytes, line, file);
}
inline void bsp_scatter(int root, const void *src, void *dst, ptrdiff_t nbytes, BSP_HERE_)
{
    bsp_scatter_cpp(root, src, dst, nbytes, line, file);
}

/* The operator may be written with the types of its items: void add(double *, double *, double *,
 * int *).  The first of each pair also takes a lambda without captures. */
inline void bsp_fold(bsp_operator_t op, const void *src, void *dst, ptrdiff_t nbytes, BSP_HERE_)
{
    bsp_fold_cpp(op, src, dst, nbytes, line, file);
}
template <class R, class A, class B, class C, class D>
inline void bsp_fold(R (*op)(A, B, C, D), const void *src, void *dst, ptrdiff_t nbytes, BSP_HERE_)
{
    bsp_fold_cpp((bsp_operator_t)(void (*)(void))op, src, dst, nbytes, line, file);
}
inline void bsp_scan(bsp_operator_t op, const void *src, void *dst, ptrdiff_t nbytes, BSP_HERE_)
{
    bsp_scan_cpp(op, src, dst, nbytes, line, file);
}
template <class R, class A, class B, class C, class D>
inline void bsp_scan(R (*op)(A, B, C, D), const void *src, void *dst, ptrdiff_t nbytes, BSP_HERE_)
{
    bsp_scan_cpp((bsp_operator_t)(void (*)(void))op, src, dst, nbytes, line, file);
}
inline void bsp_sort(bsp_order_t before, const void *src, void *dst, ptrdiff_t nbytes, BSP_HERE_)
{
    bsp_sort_cpp(before, src, dst, nbytes, line, file);
}
template <class A, class B, class C>
inline void bsp_sort(int (*before)(A, B, C), const void *src, void *dst, ptrdiff_t nbytes,
                     BSP_HERE_)
{
    bsp_sort_cpp((bsp_order_t)(void (*)(void))before, src, dst, nbytes, line, file);
}
inline double bsp_s(BSP_HERE_)
{
    return bsp_s_cpp(line, file);
}
inline double bsp_l(BSP_HERE_)
{
    return bsp_l_cpp(line, file);
}
inline double bsp_g(BSP_HERE_)
{
    return bsp_g_cpp(line, file);
}
inline int bsp_nhalf(BSP_HERE_)
{
    return bsp_nhalf_cpp(line, file);
}

#define BSP_DEFINE_(name, type)                                                                    \
    inline type name(type value, BSP_HERE_)                                                        \
    {                                                                                              \
        return name##_cpp(value, line, file);                                                      \
    }
BSP_FOR_EACH_SCALAR_(BSP_DEFINE_)
#undef BSP_DEFINE_

} /* extern "C++" */

#else /* C */

/* The plain symbols, for callers without the macros. */
void bsp_bcast(int root, const void *src, void *dst, int nbytes);
void bsp_gather(int root, const void *src, void *dst, int nbytes);
void bsp_scatter(int root, const void *src, void *dst, int nbytes);
void bsp_fold(bsp_operator_t op, const void *src, void *dst, int nbytes);
void bsp_scan(bsp_operator_t op, const void *src, void *dst, int nbytes);
void bsp_sort(bsp_order_t before, const void *src, void *dst, int nbytes);
double bsp_s(void);
double bsp_l(void);
double bsp_g(void);
int bsp_nhalf(void);

#define BSP_DECLARE_(name, type) type name(type value);
BSP_FOR_EACH_SCALAR_(BSP_DECLARE_)
#undef BSP_DECLARE_

/* Operators are written with the types of their items or with other qualifiers; the detour over
 * void (*)(void) says that this is meant. */
#define BSP_OPERATOR_(op)        ((bsp_operator_t)(void (*)(void))(op))
#define BSP_ORDER_(order)        ((bsp_order_t)(void (*)(void))(order))

#define bsp_bcast(...)           bsp_bcast_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_gather(...)          bsp_gather_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_scatter(...)         bsp_scatter_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_fold(op, ...)        bsp_fold_cpp(BSP_OPERATOR_(op), __VA_ARGS__, __LINE__, __FILE__)
#define bsp_scan(op, ...)        bsp_scan_cpp(BSP_OPERATOR_(op), __VA_ARGS__, __LINE__, __FILE__)
#define bsp_sort(order, ...)     bsp_sort_cpp(BSP_ORDER_(order), __VA_ARGS__, __LINE__, __FILE__)
#define bsp_s()                  bsp_s_cpp(__LINE__, __FILE__)
#define bsp_l()                  bsp_l_cpp(__LINE__, __FILE__)
#define bsp_g()                  bsp_g_cpp(__LINE__, __FILE__)
#define bsp_nhalf()              bsp_nhalf_cpp(__LINE__, __FILE__)

#define bsp_sumI(...)            bsp_sumI_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_sumR(...)            bsp_sumR_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_sumD(...)            bsp_sumD_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_productI(...)        bsp_productI_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_productR(...)        bsp_productR_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_productD(...)        bsp_productD_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_minI(...)            bsp_minI_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_minR(...)            bsp_minR_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_minD(...)            bsp_minD_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_maxI(...)            bsp_maxI_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_maxR(...)            bsp_maxR_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_maxD(...)            bsp_maxD_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_sumI_prefix(...)     bsp_sumI_prefix_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_sumR_prefix(...)     bsp_sumR_prefix_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_sumD_prefix(...)     bsp_sumD_prefix_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_productI_prefix(...) bsp_productI_prefix_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_productR_prefix(...) bsp_productR_prefix_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_productD_prefix(...) bsp_productD_prefix_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_minI_prefix(...)     bsp_minI_prefix_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_minR_prefix(...)     bsp_minR_prefix_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_minD_prefix(...)     bsp_minD_prefix_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_maxI_prefix(...)     bsp_maxI_prefix_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_maxR_prefix(...)     bsp_maxR_prefix_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_maxD_prefix(...)     bsp_maxD_prefix_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_any(...)             bsp_any_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_all(...)             bsp_all_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_any_prefix(...)      bsp_any_prefix_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_all_prefix(...)      bsp_all_prefix_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_constantI(...)       bsp_constantI_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_sortI(...)           bsp_sortI_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_sortR(...)           bsp_sortR_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_sortD(...)           bsp_sortD_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_sortC(...)           bsp_sortC_cpp(__VA_ARGS__, __LINE__, __FILE__)

#endif /* C */

#endif /* _BSP_LEVEL1_H */
