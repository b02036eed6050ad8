/* rt.h - the process context of libbsp and the interfaces of its files.
 *
 * Everything here runs in the user's process, on the user's one thread, and touches memory only.
 * Names start with bspz_ because the static library shares the user's namespace.
 */
#ifndef BSPZ_RT_RT_H
#define BSPZ_RT_RT_H

#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/clock.h"
#include "lib/rt/link_options.h"
#include "lib/rt/processor_time.h"
#include "lib/shm/barrier.h"
#include "lib/shm/board.h"

#define bspz_likely(x)    __builtin_expect(!!(x), 1)
#define bspz_unlikely(x)  __builtin_expect(!!(x), 0)
#define BSPZ_COLD         __attribute__((cold, noinline))
#define BSPZ_NOINLINE     __attribute__((noinline))
/* Has two callers or more, of which a hot one must not pay for the others. */
#define BSPZ_INLINED      inline __attribute__((always_inline))
#define BSPZ_NORETURN     __attribute__((noreturn))
#define BSPZ_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define BSPZ_HIDDEN       __attribute__((visibility("hidden")))

#pragma GCC visibility push(hidden)

/* The phases of the life of a BSP program. */
enum bspz_life {
    BSPZ_LIFE_BEFORE,  /* bsp_begin not called */
    BSPZ_LIFE_SPMD,    /* between bsp_begin and bsp_end */
    BSPZ_LIFE_AFTER,   /* pid 0 past bsp_end */
    BSPZ_LIFE_INERT,   /* a process the user forked: not part of the job */
    BSPZ_LIFE_LEAVING, /* exiting because of a stop, an abort or an error */
};

/* The process context; one per process, written by the one thread that calls BSPlib. */
struct bspz_runtime {
    enum bspz_life life;
    int leaving_status; /* while LEAVING: what the process ends with */
    int pid;            /* BSP process number, -1 before bsp_begin */
    int nprocs;         /* p; before bsp_begin 0 */
    uint64_t superstep;
    uint64_t hidden;         /* number of these supersteps inside collective operations */
    uint64_t received_bytes; /* in the superstep being synchronised, from other ranks */

    /* The collective operation that the process is in; call 0: none. */
    struct {
        enum bspz_call call;
        int line;
        const char *file;
    } inside;

    bool bare;               /* without bsprun */
    bool has_mail;           /* the program communicates by MPI; before bsp_begin */
    bool oxford;             /* BSP_COMPAT=oxford */
    bool checks;             /* library level 0 */
    bool check_syncs;        /* syncs at different lines are an error */
    bool measuring;          /* keep the counter of processor time */
    bool prof, stat;         /* write PROF.bsp, STAT.bsp */
    bool warn;               /* BSP_WARN: warn of doubtful calls, see warn.h */
    bool tracing;            /* prof or stat, in the SPMD part: calls are counted one by one */
    bool direct;             /* cross-process copies work so far */
    bool safe_calls;         /* calls are safe points, see safe_point.h */
    uint64_t direct_minimum; /* least bytes of an hp call for which they are used */

    unsigned
        stream_blocks; /* blocks to copy by non-temporal stores before the next probe, see copy.c */

    /* The processors that the agent has bound this process to, BSPZ_AFFINITY_WORDS words; NULL: it
     * has not. */
    const uint64_t *bound;

    int board_fd;
    struct bspz_board *board;
    struct bspz_rank *self;

    int begin_line; /* where bsp_begin was called */
    const char *begin_file;

    /* Called before the process exits early, also in signal handlers: completes the files of a
     * profile.  May be NULL. */
    void (*before_leaving)(void);

    void (*spmd)(void); /* the argument of bsp_init */

    uint64_t begin_ns;                         /* monotonic clock at bsp_begin */
    uint64_t begin_cpu_ns;                     /* process clock at bsp_begin */
    uint64_t dtime_ns;                         /* last bsp_dtime */
    uint64_t left_sync_ns;                     /* end of the last bsp_sync whose time was counted */
    struct bspz_processor_time processor_time; /* with measuring */
};

extern struct bspz_runtime bspz_rt;

/* The offset of an address in the shared memory. */
static inline uint64_t bspz_offset_of(const void *at)
{
    return (uint64_t)((const char *)at - (const char *)bspz_rt.board);
}

static inline void bspz_set_leaving(int status)
{
    bspz_rt.life = BSPZ_LIFE_LEAVING;
    bspz_rt.leaving_status = status;
}

static inline void bspz_cut_short(void)
{
    if (bspz_rt.before_leaving)
        bspz_rt.before_leaving();
}

/* The place that errors inside bsp_begin name. */
#define BSPZ_AT_BEGIN bspz_rt.begin_line, bspz_rt.begin_file

/* ---- errors.c ---- */

/* Ends the job: one line on stderr naming the place, pid and superstep; status 1.  Of several ranks
 * that fail together one prints its line.  NULL as the file: the call that the process is in, and
 * its place. */
BSPZ_NORETURN BSPZ_COLD void bspz_fail(const char *function, int line, const char *file,
                                       const char *format, ...) BSPZ_PRINTF(4, 5);
/* The same for an error that the affected rank found: the place is another rank's. */
BSPZ_NORETURN BSPZ_COLD void bspz_fail_for(const char *function, int pid, bspz_position position,
                                           const char *format, ...) BSPZ_PRINTF(4, 5);
/* What to say when board_fd is not what it was. */
#define BSPZ_DESCRIPTOR_CLOSED                                                                     \
    "the program has closed the descriptor of the job's memory: it must close only descriptors "   \
    "that it has opened itself"
/* One line on stderr in the same format; the job goes on. */
BSPZ_COLD void bspz_warn(const char *function, int line, const char *file, const char *format, ...)
    BSPZ_PRINTF(4, 5);
/* A message has been printed on stderr: errors of other ranks need not be. */
void bspz_has_spoken(void);
/* The call is legal only in the SPMD part. */
BSPZ_NORETURN BSPZ_COLD void bspz_fail_outside(const char *function, int line, const char *file);

/* True while argument checks that cost more than a few instructions are on (library level 0). */
bool bspz_checks(void);

/* ---- context.c ---- */

uint64_t bspz_cpu_ns(void);
const struct bspz_link_options *bspz_options(void);
/* The value of the environment variable BSP_PROCS, 0 when unset; ends the program when it is
 * invalid. */
int bspz_limit_from_environment(void);
/* A number of bytes from the environment, or `standard` when unset; ends the program when it is
 * invalid. */
uint64_t bspz_bytes_from_environment(const char *name, uint64_t standard);

/* Tells the agent that this process itself ends the job (ABORTED, FAILED, EXITED). */
void bspz_announce(enum bspz_rank_state state, int status);

/* Sets the variables _bsp_pid and _bsp_nprocs. */
void bspz_show_identity(int pid, int nprocs);

/* ---- environment.c ---- */

/* Whether BSP_COMPAT selects the behaviour of the Oxford toolset. */
bool bspz_compat_is_oxford(void);
/* In bsp_begin: ends the program when BSP_COMPAT is neither oxford nor none nor empty. */
void bspz_check_compat(void);
/* In bsp_begin: ends the program when it is not linked for BSP_DEVICE or BSP_MACHINE. */
void bspz_check_linked_for(void);
/* Sets the environment variable BSPTCP_PID of this process to its number. */
void bspz_export_pid(void);

/* ---- leave.c ---- */

/* Exits as the agent's stop request says; there must be one on the board, or the agent be dead. */
BSPZ_NORETURN void bspz_leave(void);
/* Flushes every stream, tells the agent why this process ends the job (bspz_announce), and ends it
 * with exit_status, without exit handlers. */
BSPZ_NORETURN void bspz_end_flushed(enum bspz_rank_state state, int status, int exit_status);
/* The same, without telling the agent. */
BSPZ_NORETURN void bspz_end_flushed_untold(int exit_status);
/* Another rank reports the error: waits for the agent's stop, then exits. */
BSPZ_NORETURN void bspz_leave_when_stopped(void);

/* ---- exit.c ---- */

/* Installs the handler for exit() inside the SPMD part. */
void bspz_arm_exit_hook(void);
/* Notes the status of such an exit() before handlers that are registered already end the SPMD part.
 */
void bspz_arm_begin_of_exit(void);
/* In a call that ends the SPMD part: does not return in an exit handler of a process that ends for
 * another reason, since what the program does after the call is not to be done then. */
void bspz_go_on_leaving(void);

/* ---- stdio.c ---- */

/* Before main: looks which languages the program is written in. */
void bspz_stdio_find_languages(void);
/* Flushes every stream (Fortran units and the standard ones of C++ too): before processes are made.
 */
void bspz_stdio_flush_all(void);
/* Only Fortran units and the standard streams of C++. */
void bspz_stdio_flush_languages(void);
/* Flushes stdout and stderr (those too) if anything is pending; at every sync at checking level. */
void bspz_stdio_flush_output(void);
/* Several hosts: waits, for a limited time, until the agent has taken what was written, so that it
 * knows the superstep. */
void bspz_stdio_hand_over(void);
/* Makes stdout keep lines together while several processes write to it; undone after bsp_end. */
void bspz_stdio_begin(void);
void bspz_stdio_end(void);
/* Descriptors of the agent's streams that this process keeps besides 0 to 2; how many. */
#define BSPZ_RELAYS 5
int bspz_stdio_relays(int fds[BSPZ_RELAYS]);
/* In a restored process: forgets those, which no longer exist. */
void bspz_stdio_forget_terminal(void);
/* With --stdin PID: notes the input that process 0 hands on; in process 0, when all are made: lets
 * go of it. */
void bspz_stdio_attach(void);
void bspz_stdio_made(void);
/* In a clone: /dev/null as stdin, or what was handed on to it, no inherited unread input, private
 * offsets of read-only files. */
void bspz_stdio_clone(void);

/* ---- signals.c ---- */

/* HUP, INT, TERM, USR1, USR2 at their default no longer end a rank by themselves: the agent acts
 * on them.  Programs the rank starts have the default again. */
void bspz_signals_begin(void);
void bspz_signals_end(void);

/* ---- plea.c ---- */

/* This process fails: waits while a debugger examines it, if that is wanted (--attach-on-error).
 * Async-signal-safe. */
void bspz_wait_for_debugger(void);
/* From now on, until the second call, the same before it dies of the signal of an error, if the
 * program has no handler for that. */
void bspz_plea_begin(void);
void bspz_plea_end(void);

/* ---- threads.c ---- */

/* Releases an OpenMP pool, whose threads then exit; the next parallel region makes a new one. */
void bspz_release_pool(void);
/* Before clones are made: the same, and waits for the threads to exit; warns of other threads. */
void bspz_release_threads(int line, const char *file);
/* In a clone: restores the program's OpenMP settings, if the library has lost them. */
void bspz_put_back_pool(void);

/* ---- clone.c ---- */

/* One program per job: true for the first to call bsp_begin.  Another one, say the second of a
 * script that bsprun started, is a job of its own: then rt is as without bsprun. */
bool bspz_take_job(int maxprocs);
/* Makes ranks 1..p-1; returns in every one of them and in the caller (as pid 0) with rt.pid set.
 * Under bsprun the clones are adopted by the agent; bare, the agent is started here, too. */
void bspz_make_ranks(void);
void bspz_make_ranks_bare(int maxprocs);
/* In a program without bsprun: prints a line on stderr when mpirun has started several of it. */
void bspz_hint_of_mpi(void);
/* The set-up in every rank once its agent holds it. */
void bspz_rank_setup(void);

/* ---- attach.c ---- */

/* A constructor that runs before those of the program's own files, which may have effects outside
 * of the process, or begin.  101 is the first priority that is not the compiler's. */
#define BSPZ_BEFORE_PROGRAM __attribute__((constructor(101)))

/* In such a constructor.  A second call has no effect. */
void bspz_attach(void);
/* After the program's constructors, and in bsp_begin, which one of them may call. */
void bspz_after_constructors(void);
/* Determines what the link options and the environment say; in bsp_begin again, since the program
 * may have set variables. */
void bspz_read_options(void);

/* ---- join.c ---- */

/* Attaches a process that the agent holds (state HELD) to it: the process dies with it; what it is
 * bound to is noted. */
void bspz_join_agent(void);
/* Sets READY and waits for BSPZ_PHASE_RUN. */
void bspz_wait_to_run(void);
/* Waits until *word exceeds `value`; exits when the job is stopped meanwhile. */
void bspz_wait_past(_Atomic uint32_t *word, uint32_t value);

/* ---- position.c ---- */

bspz_position bspz_position_slow(const char *file, int line);
void bspz_position_reset(void);

struct bspz_position_cache {
    const char *file;
    uint32_t shifted_index;
};
extern struct bspz_position_cache bspz_last_file;

/* The position of a statement in 32 bits; the name is stored once per rank and file. */
static inline bspz_position bspz_here(const char *file, int line)
{
    if (bspz_likely(file == bspz_last_file.file))
        return bspz_last_file.shifted_index | ((uint32_t)line & 0xffffffu);
    return bspz_position_slow(file, line);
}

/* The part of a long path that messages have room for: its end, which tells files apart. */
const char *bspz_shown_name(const char *file);
/* "file:line" of a position of rank pid, into buffer. */
const char *bspz_place(int pid, bspz_position position, char *buffer, size_t size);

/* The collective operation in which rank pid is at the barrier that all have reached, or 0. */
enum bspz_call bspz_collective_of(int pid);

/* Records the present call of this rank, for the table of a job that hangs. */
static inline void bspz_note(enum bspz_call call, bspz_position position)
{
    atomic_store_explicit(&bspz_rt.self->where, (uint64_t)call << 32 | position,
                          memory_order_relaxed);
}

/* ---- registration.c: see registration.h; outbox.c: see outbox.h ---- */

/* ---- drma.c, drma_apply.c ---- */

/* Puts and gets addressed by the displacement of a static from the Miller reference byte. */
void bspz_put_displaced(int pid, const void *src, void *dst, ptrdiff_t nbytes, int line,
                        const char *file);
void bspz_get_displaced(int pid, const void *src, void *dst, ptrdiff_t nbytes, int line,
                        const char *file);
/* Permits any displacement with the registration of `base`. */
void bspz_register_reference(const void *base);

/* Serves the gets from this rank; when all ranks have, bspz_collect_gets (get_order.h) writes the
 * results of its own gets. */
void bspz_serve_gets(void);
/* Writes the puts of all ranks, ascending by source. */
void bspz_apply_puts(void);
void bspz_drma_begin(void);

/* ---- bsmp.c ---- */

void bspz_bsmp_begin(void);
void bspz_queue_swap(bool any_messages);
void bspz_queue_clear(void);
/* Unread messages, after a header, in memory aligned to 16: the bytes they take, the copy, and a
 * queue that continues from such a copy, which stays in use until the next swap. */
uint64_t bspz_queue_left_bytes(void);
void bspz_queue_keep(void *memory);
void bspz_queue_put_back(const void *memory);
/* tag sizes: a := b, b := c */
void bspz_tag_shift(void);
/* The number of unread messages; their bytes in *bytes unless that is NULL. */
uint64_t bspz_queue_left(uint64_t *bytes);

/* ---- sync.c ---- */

/* The barrier of bsp_end. */
void bspz_sync_end_barrier(int line, const char *file);
/* The same when a program exits without bsp_end (BSP_COMPAT=oxford). */
void bspz_sync_exit_barrier(void);
/* A superstep ended by a Fortran program with a number (bspsync_number). */
void bspz_sync_numbered(int number, int line, const char *file);

/* Stores the peak resident memory in the counters. */
void bspz_count_memory(void);

/* ---- trace.c ---- */

void bspz_trace_begin(void);
/* In bsp_sync, after all communication: counts it; pid 0 reads the records of the previous
 * superstep. */
void bspz_trace_superstep(uint64_t entered_ns, int line, const char *file);
/* At the end of bsp_sync: publishes the record of the completed superstep for pid 0. */
void bspz_trace_publish(void);
/* To be called in a restored process, so long after it was saved. */
void bspz_trace_put_back(uint64_t passed_ns);
/* In bsp_sync, after a snapshot that began then, in the saved process and in the restored one. */
void bspz_trace_paused(uint64_t begun_ns);
/* After the barrier of bsp_end: completes the files. */
void bspz_trace_end(void);

#pragma GCC visibility pop

#endif
