/* bsp.h - BSPlib, the Bulk Synchronous Parallel library interface.
 *
 * The twenty primitives of BSPlib (Hill, McColl, Stefanescu, Goudreau, Lang, Rao, Suel,
 * Tsantilas, Bisseling: "BSPlib: The BSP programming library", Parallel Computing 24, 1998), the
 * older spellings of the Oxford BSP Toolset and the Miller library calls.
 *
 * Every call below is also a macro that passes the caller's line and file on, so that a message
 * can name the statement that is wrong.  Sizes and offsets count bytes; through the macros they
 * are signed 64-bit numbers, through the plain symbols they are int as in 1998.  Process numbers
 * run from 0 to bsp_nprocs()-1.  A call that is misused ends the whole job with one message and a
 * non-zero status; no call returns an error code.  bsp_begin .. bsp_end is called the SPMD part;
 * calls marked [any] may be used outside of it too.
 *
 * Costs are in the BSP model: a superstep costs w + h*g + l, where w is the longest local
 * computation, h the largest number of bytes any process sends or receives, g the time per byte
 * and l the time of an empty bsp_sync.
 */
#ifndef _BSP_H
#define _BSP_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define BSPZERO 1
#define BSPZERO_VERSION "0.2.0"

#if defined(__GNUC__)
#define BSP_NORETURN_ __attribute__((__noreturn__))
#define BSP_PRINTF_(f, a) __attribute__((__format__(__printf__, f, a)))
#else
#define BSP_NORETURN_
#define BSP_PRINTF_(f, a)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifdef BSP_MCBSP_COMPAT
typedef unsigned int bsp_pid_t;
typedef unsigned int bsp_nprocs_t;
typedef size_t bsp_size_t;
#else
typedef int bsp_pid_t;
typedef int bsp_nprocs_t;
typedef int bsp_size_t;
#endif

/* ---- Life cycle ------------------------------------------------------------------------- */

/* bsp_init(spmd, argc, argv): announces that spmd() is the SPMD part.  Optional here; it may be
 * called at any time before bsp_begin.  spmd must not be NULL; a second call is an error. */

/* Starts the SPMD part on min(maxprocs, bound) processes, where bound is bsprun's -np or BSP_PROCS
 * when given, else unlimited for maxprocs > 0 and the usable cores for maxprocs = 0.  The caller
 * goes on as process 0; the others are copies of it, so every variable, argument and open file is
 * inherited.  stdin belongs to process 0 alone, the others read end-of-file.  Errors: maxprocs
 * negative, called twice. */
void bsp_begin(int maxprocs);

/* Ends the SPMD part: a barrier, after which process 0 goes on and the others leave through
 * exit(0).  Communication issued since the last bsp_sync is dropped.  Collective. */
void bsp_end(void);

/* Prints the text to stderr after "ABORT(pid  n):" and ends every process of the job with status
 * 1.  Needs no partner and no barrier. [any] */
void bsp_abort(const char *format, ...) BSP_PRINTF_(1, 2) BSP_NORETURN_;

/* The number of processes; before bsp_begin the number that bsp_begin(0) would start. [any] */
int bsp_nprocs(void);

/* This process's number; -1 before bsp_begin, 0 after bsp_end. [any] */
int bsp_pid(void);

/* Seconds of wall time since bsp_begin, at nanosecond resolution; monotone, per process; 0 before
 * bsp_begin. [any] */
double bsp_time(void);

/* Seconds since this process's last bsp_dtime (the first time: since bsp_begin). [any] */
double bsp_dtime(void);

/* Seconds of processor time (user and system) of this process since bsp_begin. [any] */
double bsp_cputime(void);

/* ---- The entry points behind the macros --------------------------------------------------- */

void bsp_begin_cpp(int maxprocs, int line, const char *file);
void bsp_end_cpp(int line, const char *file);

void bsp_init_cpp(void (*spmd)(void), int argc, char **argv, int line, const char *file);

/* bsp_sync(): ends the superstep.  When it returns, gets have read the values from before any
 * put, puts are written (ascending by source process, then in the order issued), the messages
 * sent to this process are in its queue, and registrations and tag size are up to date.
 * Collective; cost l + h*g. */
void bsp_sync_cpp(int line, const char *file);

/* bsp_push_reg(ident, size): registers size bytes at ident for remote access from the next
 * superstep on.  The k-th push of every process belongs together; addresses and sizes may differ.
 * NULL needs size 0 and means "no area here".  Errors: negative size, NULL with a size.
 * Collective. */
void bsp_push_reg_cpp(const void *ident, ptrdiff_t size, int line, const char *file);

/* bsp_pop_reg(ident): takes back the newest registration of ident, from the next superstep on.
 * The memory itself is never touched.  NULL stands for whatever the other processes pop.
 * Collective. */
void bsp_pop_reg_cpp(const void *ident, int line, const char *file);

/* bsp_put(pid, src, dst, offset, nbytes): copies nbytes at src, at the time of the call, to byte
 * offset of process pid's area registered under the caller's address dst, where they arrive at the
 * end of the superstep.  nbytes 0 does nothing.  Errors: bad pid, NULL, dst not registered, offset
 * or nbytes negative or beyond the area registered by pid.  Cost: nbytes to h. */
void bsp_put_cpp(int pid, const void *src, void *dst, ptrdiff_t offset, ptrdiff_t nbytes, int line,
                 const char *file);

/* bsp_get(pid, src, offset, dst, nbytes): at the end of the superstep, before any put is written,
 * copies nbytes from byte offset of process pid's area registered under the caller's address src to
 * dst.  Errors as bsp_put. */
void bsp_get_cpp(int pid, const void *src, ptrdiff_t offset, void *dst, ptrdiff_t nbytes, int line,
                 const char *file);

/* bsp_hpput, bsp_hpget: as bsp_put and bsp_get, but the copy may happen at any time between the
 * call and the end of the superstep: neither area may be touched meanwhile. */
void bsp_hpput_cpp(int pid, const void *src, void *dst, ptrdiff_t offset, ptrdiff_t nbytes,
                   int line, const char *file);
void bsp_hpget_cpp(int pid, const void *src, ptrdiff_t offset, void *dst, ptrdiff_t nbytes,
                   int line, const char *file);

/* bsp_set_tagsize(&n): the tags of messages sent from the next superstep on have n bytes; n
 * becomes the value last set (at first 0).  Collective. */
void bsp_set_tagsize_cpp(int *tag_nbytes, int line, const char *file);
void bsp_set_tagsize_size_cpp(size_t *tag_nbytes, int line, const char *file);

/* bsp_send(pid, tag, payload, nbytes): sends a message, copied at the call, into process pid's
 * queue of the next superstep. */
void bsp_send_cpp(int pid, const void *tag, const void *payload, ptrdiff_t nbytes, int line,
                  const char *file);

/* bsp_qsize(&packets, &nbytes): the messages left in the queue and the sum of their payloads; NULL
 * for one that is not wanted. */
void bsp_qsize_cpp(int *packets, int *nbytes, int line, const char *file);
void bsp_qsize_int_size_cpp(int *packets, size_t *nbytes, int line, const char *file);
void bsp_qsize_unsigned_size_cpp(unsigned *packets, size_t *nbytes, int line, const char *file);
void bsp_qsize_size_size_cpp(size_t *packets, size_t *nbytes, int line, const char *file);

/* bsp_get_tag(&status, tag): status becomes the payload size of the first message and its tag is
 * copied to tag; -1 (size_t: (size_t)-1) and no copy when the queue is empty. */
void bsp_get_tag_cpp(int *status, void *tag, int line, const char *file);
void bsp_get_tag_size_cpp(size_t *status, void *tag, int line, const char *file);

/* bsp_move(payload, reception_nbytes): copies at most reception_nbytes of the first message's
 * payload and removes the message.  Error: empty queue. */
void bsp_move_cpp(void *payload, ptrdiff_t reception_nbytes, int line, const char *file);

/* bsp_hpmove(&tag, &payload): points tag and payload at the first message where it lies (16-byte
 * aligned, valid until the next bsp_sync), removes it and returns its payload size; -1 when the
 * queue is empty. */
int bsp_hpmove_cpp(void **tag, void **payload, int line, const char *file);

/* Also known elsewhere: bsp_hpsend is bsp_send without the promise to copy; bsp_abort with a
 * va_list under two names. */
void bsp_hpsend_cpp(int pid, const void *tag, const void *payload, ptrdiff_t nbytes, int line,
                    const char *file);
void bsp_abort_va(const char *format, va_list arguments) BSP_NORETURN_;
void bsp_vabort(const char *format, va_list arguments) BSP_NORETURN_;

/* Hooks for a breakpoint; they do nothing. */
void bsp_sync_end(void);
void bsp_begin_end(void);

/* ---- Miller library ----------------------------------------------------------------------- */

/* bspstart: bsp_begin(maxprocs), a registration that lets bspstore and bspfetch address statics
 * of other processes, and one bsp_sync. */
void bspstart(int argc, char **argv, int maxprocs, int *nprocs, int *mypid);
void bspfinish(void);
void bspstore_cpp(int pid, const void *src, void *dst, ptrdiff_t nbytes, int line,
                  const char *file);
void bspfetch_cpp(int pid, const void *src, void *dst, ptrdiff_t nbytes, int line,
                  const char *file);
/* The operator of bspreduce takes the size by value: op(result, left, right, nbytes). */
void bspreduce_cpp(void (*op)(void *, void *, void *, int), void *src, void *dst, ptrdiff_t nbytes,
                   int line, const char *file);
void bspbroadcast_cpp(int pid, void *src, void *dst, ptrdiff_t nbytes, int line, const char *file);
double bsptime(void);
double bspdtime(void);

extern char _bsp_miller_reference;
extern const int _bsp_pid, _bsp_nprocs;

#define bspsstep(id)

/* In 1998 these two were functions only: a program that declares them itself after this header, or
 * has macros of these names, asks for that with BSP_PLAIN_BEGIN_END. (bspcc does so by itself where
 * it sees such a declaration.)  Their addresses can be taken in any case. */
#ifndef BSP_PLAIN_BEGIN_END
#define bsp_begin(...) bsp_begin_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_end() bsp_end_cpp(__LINE__, __FILE__)
#endif

#ifdef __cplusplus
} /* extern "C" */

/* Also where the program includes this header inside an extern "C" of its own. */
extern "C++" {

#define BSP_HERE_ int line = __builtin_LINE(), const char *file = __builtin_FILE()

inline void bsp_init(void (*spmd)(void), int argc, char **argv, BSP_HERE_)
{
    bsp_init_cpp(spmd, argc, argv, line, file);
}
inline void bsp_sync(BSP_HERE_)
{
    bsp_sync_cpp(line, file);
}
inline void bsp_push_reg(const void *ident, ptrdiff_t size, BSP_HERE_)
{
    bsp_push_reg_cpp(ident, size, line, file);
}
inline void bsp_pushregister(const void *ident, ptrdiff_t size, BSP_HERE_)
{
    bsp_push_reg_cpp(ident, size, line, file);
}
inline void bsp_pop_reg(const void *ident, BSP_HERE_)
{
    bsp_pop_reg_cpp(ident, line, file);
}
inline void bsp_popregister(const void *ident, BSP_HERE_)
{
    bsp_pop_reg_cpp(ident, line, file);
}
inline void bsp_put(int pid, const void *src, void *dst, ptrdiff_t offset, ptrdiff_t nbytes,
                    BSP_HERE_)
{
    bsp_put_cpp(pid, src, dst, offset, nbytes, line, file);
}
inline void bsp_hpput(int pid, const void *src, void *dst, ptrdiff_t offset, ptrdiff_t nbytes,
                      BSP_HERE_)
{
    bsp_hpput_cpp(pid, src, dst, offset, nbytes, line, file);
}
inline void bsp_get(int pid, const void *src, ptrdiff_t offset, void *dst, ptrdiff_t nbytes,
                    BSP_HERE_)
{
    bsp_get_cpp(pid, src, offset, dst, nbytes, line, file);
}
inline void bsp_hpget(int pid, const void *src, ptrdiff_t offset, void *dst, ptrdiff_t nbytes,
                      BSP_HERE_)
{
    bsp_hpget_cpp(pid, src, offset, dst, nbytes, line, file);
}
inline void bsp_set_tagsize(int *tag_nbytes, BSP_HERE_)
{
    bsp_set_tagsize_cpp(tag_nbytes, line, file);
}
inline void bsp_set_tagsize(size_t *tag_nbytes, BSP_HERE_)
{
    bsp_set_tagsize_size_cpp(tag_nbytes, line, file);
}
inline void bsp_set_tag_size(int *tag_nbytes, BSP_HERE_)
{
    bsp_set_tagsize_cpp(tag_nbytes, line, file);
}
inline void bsp_send(int pid, const void *tag, const void *payload, ptrdiff_t nbytes, BSP_HERE_)
{
    bsp_send_cpp(pid, tag, payload, nbytes, line, file);
}
inline void bsp_hpsend(int pid, const void *tag, const void *payload, ptrdiff_t nbytes, BSP_HERE_)
{
    bsp_hpsend_cpp(pid, tag, payload, nbytes, line, file);
}
/* Two results of matching types; or NULL for one that is not wanted, which matches a pointer to
 * member, as no pointer to an object does. */
inline void bsp_qsize_pair_(int *packets, int *nbytes, int line, const char *file)
{
    bsp_qsize_cpp(packets, nbytes, line, file);
}
inline void bsp_qsize_pair_(int *packets, size_t *nbytes, int line, const char *file)
{
    bsp_qsize_int_size_cpp(packets, nbytes, line, file);
}
inline void bsp_qsize_pair_(unsigned *packets, size_t *nbytes, int line, const char *file)
{
    bsp_qsize_unsigned_size_cpp(packets, nbytes, line, file);
}
inline void bsp_qsize_pair_(size_t *packets, size_t *nbytes, int line, const char *file)
{
    bsp_qsize_size_size_cpp(packets, nbytes, line, file);
}
struct bsp_nothing_;
template <class Packets, class Bytes>
inline void bsp_qsize(Packets *packets, Bytes *nbytes, BSP_HERE_)
{
    bsp_qsize_pair_(packets, nbytes, line, file);
}
template <class Packets> inline void bsp_qsize(Packets *packets, int bsp_nothing_::*, BSP_HERE_)
{
    bsp_qsize_pair_(packets, (size_t *)0, line, file);
}
inline void bsp_qsize_bytes_(int *nbytes, int line, const char *file)
{
    bsp_qsize_cpp(0, nbytes, line, file);
}
inline void bsp_qsize_bytes_(size_t *nbytes, int line, const char *file)
{
    bsp_qsize_size_size_cpp(0, nbytes, line, file);
}
template <class Bytes> inline void bsp_qsize(int bsp_nothing_::*, Bytes *nbytes, BSP_HERE_)
{
    bsp_qsize_bytes_(nbytes, line, file);
}
inline void bsp_qsize(int bsp_nothing_::*, int bsp_nothing_::*, BSP_HERE_)
{
    bsp_qsize_cpp(0, 0, line, file);
}
inline void bsp_bsmp_info(int *packets, int *nbytes, BSP_HERE_)
{
    bsp_qsize_cpp(packets, nbytes, line, file);
}
inline void bsp_get_tag(int *status, void *tag, BSP_HERE_)
{
    bsp_get_tag_cpp(status, tag, line, file);
}
inline void bsp_get_tag(size_t *status, void *tag, BSP_HERE_)
{
    bsp_get_tag_size_cpp(status, tag, line, file);
}
inline void bsp_move(void *payload, ptrdiff_t reception_nbytes, BSP_HERE_)
{
    bsp_move_cpp(payload, reception_nbytes, line, file);
}
template <class Tag, class Payload> inline int bsp_hpmove(Tag **tag, Payload **payload, BSP_HERE_)
{
    return bsp_hpmove_cpp((void **)tag, (void **)payload, line, file);
}
inline void bspstore(int pid, const void *src, void *dst, ptrdiff_t nbytes, BSP_HERE_)
{
    bspstore_cpp(pid, src, dst, nbytes, line, file);
}
inline void bspfetch(int pid, const void *src, void *dst, ptrdiff_t nbytes, BSP_HERE_)
{
    bspfetch_cpp(pid, src, dst, nbytes, line, file);
}
inline void bspreduce(void (*op)(void *, void *, void *, int), void *src, void *dst,
                      ptrdiff_t nbytes, BSP_HERE_)
{
    bspreduce_cpp(op, src, dst, nbytes, line, file);
}
inline void bspbroadcast(int pid, void *src, void *dst, ptrdiff_t nbytes, BSP_HERE_)
{
    bspbroadcast_cpp(pid, src, dst, nbytes, line, file);
}
#define bspsstep_end(id) bsp_sync()

} /* extern "C++" */

#else /* C */

/* The plain symbols, for callers without the macros (function pointers, Fortran, K&R code). */
void bsp_init(void (*spmd)(void), int argc, char **argv);
void bsp_sync(void);
void bsp_push_reg(const void *ident, int size);
void bsp_pushregister(const void *ident, int size);
void bsp_pop_reg(const void *ident);
void bsp_popregister(const void *ident);
void bsp_put(int pid, const void *src, void *dst, int offset, int nbytes);
void bsp_get(int pid, const void *src, int offset, void *dst, int nbytes);
void bsp_hpput(int pid, const void *src, void *dst, int offset, int nbytes);
void bsp_hpget(int pid, const void *src, int offset, void *dst, int nbytes);
void bsp_set_tagsize(int *tag_nbytes);
void bsp_set_tag_size(int *tag_nbytes);
void bsp_send(int pid, const void *tag, const void *payload, int nbytes);
void bsp_hpsend(int pid, const void *tag, const void *payload, int nbytes);
void bsp_qsize(int *packets, int *nbytes);
void bsp_get_tag(int *status, void *tag);
void bsp_move(void *payload, int reception_nbytes);
int bsp_hpmove(void **tag, void **payload);
void bspstore(int pid, const void *src, void *dst, int nbytes);
void bspfetch(int pid, const void *src, void *dst, int nbytes);
void bspreduce(void (*op)(void *, void *, void *, int), void *src, void *dst, int nbytes);
void bspbroadcast(int pid, void *src, void *dst, int nbytes);

/* Variadic, so that commas inside a compound literal do no harm. */
#define bsp_init(...) bsp_init_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_sync() bsp_sync_cpp(__LINE__, __FILE__)
#define bsp_push_reg(...) bsp_push_reg_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_pushregister(...) bsp_push_reg_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_pop_reg(...) bsp_pop_reg_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_popregister(...) bsp_pop_reg_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_put(...) bsp_put_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_get(...) bsp_get_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_hpput(...) bsp_hpput_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_hpget(...) bsp_hpget_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_send(...) bsp_send_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_hpsend(...) bsp_hpsend_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bsp_move(...) bsp_move_cpp(__VA_ARGS__, __LINE__, __FILE__)

/* int * and size_t * callers both exist; the pointer's type decides.  NULL has the type of none.
 * Callers with two unsigned variables get the calls of 1998, which took these for int. */
#define bsp_set_tagsize(n)                                                                         \
    __extension__ _Generic((n),                                                                    \
        size_t *: bsp_set_tagsize_size_cpp,                                                        \
        default: bsp_set_tagsize_cpp)((n), __LINE__, __FILE__)
#define bsp_set_tag_size(n) bsp_set_tagsize(n)
#define bsp_get_tag(status, tag)                                                                   \
    __extension__ _Generic((status),                                                               \
        size_t *: bsp_get_tag_size_cpp,                                                            \
        default: bsp_get_tag_cpp)((status), (tag), __LINE__, __FILE__)
#define bsp_qsize(packets, nbytes)                                                                 \
    __extension__ _Generic((nbytes),                                                               \
        int *: bsp_qsize_cpp,                                                                      \
        unsigned *: bsp_qsize_cpp,                                                                 \
        default: _Generic((packets),                                                               \
            size_t *: bsp_qsize_size_size_cpp,                                                     \
            unsigned *: bsp_qsize_unsigned_size_cpp,                                               \
            default: _Generic((nbytes),                                                            \
                size_t *: bsp_qsize_int_size_cpp,                                                  \
                default: bsp_qsize_cpp)))((packets), (nbytes), __LINE__, __FILE__)
#define bsp_bsmp_info(packets, nbytes) bsp_qsize(packets, nbytes)
#define bsp_hpmove(tag, payload)                                                                   \
    bsp_hpmove_cpp((void **)(tag), (void **)(payload), __LINE__, __FILE__)

#define bspstore(...) bspstore_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bspfetch(...) bspfetch_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bspreduce(op, src, dst, n)                                                                 \
    bspreduce_cpp((void (*)(void *, void *, void *, int))(op), (src), (dst), (n), __LINE__,        \
                  __FILE__)
#define bspbroadcast(...) bspbroadcast_cpp(__VA_ARGS__, __LINE__, __FILE__)
#define bspsstep_end(id) bsp_sync_cpp(__LINE__, __FILE__)

#endif /* C */

#endif /* _BSP_H */
