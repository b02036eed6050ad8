/* life.c - bsp_init, bsp_begin, bsp_end, bsp_abort and the enquiry functions. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "include/bsp.h"
#include "lib/base/io.h"
#include "lib/rt/outbox.h"
#include "lib/rt/rt.h"
#include "lib/rt/times.h"

void bsp_init_cpp(void (*spmd)(void), int argc, char **argv, int line, const char *file)
{
    (void)argc;
    (void)argv;
    if (!spmd)
        bspz_fail("bsp_init", line, file, "NULL given as the SPMD function");
    if (bspz_rt.spmd)
        bspz_fail("bsp_init", line, file, "called twice");
    if (bspz_rt.life == BSPZ_LIFE_SPMD || bspz_rt.life == BSPZ_LIFE_AFTER)
        bspz_fail("bsp_init", line, file, "called after bsp_begin");
    bspz_rt.spmd = spmd;
}

static void check_begin(int maxprocs, int line, const char *file)
{
    if (bspz_rt.life == BSPZ_LIFE_SPMD)
        bspz_fail("bsp_begin", line, file, "already started: bsp_begin was called before");
    if (bspz_rt.life == BSPZ_LIFE_AFTER)
        bspz_fail("bsp_begin", line, file,
                  "a program has one SPMD part: bsp_begin and bsp_end were called before");
    if (bspz_rt.life != BSPZ_LIFE_BEFORE)
        bspz_fail_outside("bsp_begin", line, file);
    if (maxprocs < 0)
        bspz_fail("bsp_begin", line, file, "negative number of processes %d", maxprocs);
}

/* The bound that bsprun or BSP_PROCS sets; 0 = none. */
static int limit(void)
{
    return bspz_rt.board ? bspz_rt.board->limit : bspz_limit_from_environment();
}

/* The greatest possible number of processes. */
static int decide(int maxprocs)
{
    return bspz_decide_nprocs(maxprocs, limit(),
                              bspz_rt.board ? bspz_rt.board->slots : bspz_usable_cores());
}

static int check_most(int maxprocs)
{
    int wanted = decide(maxprocs);

    if (wanted > BSPZ_MAX_PROCS)
        bspz_fail("bsp_begin", BSPZ_AT_BEGIN, "%d processes requested, at most %d are possible",
                  wanted, BSPZ_MAX_PROCS);
    return wanted;
}

void bsp_begin_cpp(int maxprocs, int line, const char *file)
{
    int errno_before = errno; /* preserved as in bsp_sync, also in the other processes */

    /* Called by a constructor of a shared library, the program may be here first.  The reference
     * also pulls attach.c into programs that link the static library. */
    bspz_attach();
    bspz_after_constructors();
    bspz_read_options();
    check_begin(maxprocs, line, file);
    bspz_rt.begin_line = line;
    bspz_rt.begin_file = file;
    bspz_check_compat();
    bspz_check_linked_for();
    if (check_most(maxprocs) > 1)
        bspz_release_threads(BSPZ_AT_BEGIN);
    bspz_stdio_flush_all();
    if (bspz_rt.board && bspz_take_job(maxprocs)) {
        bspz_make_ranks();
    } else {
        bspz_hint_of_mpi();
        bspz_make_ranks_bare(maxprocs);
    }
    if (bspz_rt.board->flags & BSPZ_BOARD_TIMING)
        bspz_times_always(bspz_rt.self);
    bspz_rt.measuring = bspz_rt.board->flags & BSPZ_BOARD_MEASURES;
    bspz_rt.begin_ns = bspz_rt.dtime_ns = bspz_rt.left_sync_ns = bspz_now_ns();
    bspz_processor_time_begin(&bspz_rt.processor_time, bspz_rt.begin_ns, 0);
    bspz_times_begin(bspz_rt.self);
    bspz_rt.begin_cpu_ns = bspz_cpu_ns();
    _Static_assert(sizeof(int) == 4, "the plain symbols pass int");
    bspz_show_identity(bspz_rt.pid, bspz_rt.nprocs);
    bspz_export_pid();
    bspz_rt.life = BSPZ_LIFE_SPMD;
    if (bspz_rt.prof || bspz_rt.stat)
        bspz_trace_begin();
    if (bspz_rt.board->flags & BSPZ_BOARD_REPLICAS)
        bspz_clear_stack();
    errno = errno_before;
    bsp_begin_end();
}

void bsp_end_cpp(int line, const char *file)
{
    bspz_go_on_leaving();
    if (bspz_rt.life == BSPZ_LIFE_AFTER)
        bspz_fail("bsp_end", line, file, "called twice");
    if (bspz_rt.life != BSPZ_LIFE_SPMD)
        bspz_fail_outside("bsp_end", line, file);
    bspz_stdio_flush_output();
    bspz_sync_end_barrier(line, file);
    bspz_count_memory();
    if (bspz_rt.tracing)
        bspz_trace_end();
    bspz_rt.life = BSPZ_LIFE_AFTER;
    bspz_announce(BSPZ_RANK_ENDED, 0);
    if (bspz_rt.pid > 0)
        exit(0);
    bspz_stdio_end();
    bspz_signals_end();
    bspz_plea_end();
}

/* "(pid n)" as printed by the toolset, the text, a newline; in a single write. */
static void print_abort(const char *format, va_list arguments)
{
    char text[8192];
    size_t used = (size_t)snprintf(text, sizeof text, "\nABORT(pid%3d):", bspz_rt.pid);
    int length = vsnprintf(text + used, sizeof text - used - 1, format, arguments);

    if (length > 0)
        used += (size_t)length < sizeof text - used - 1 ? (size_t)length : sizeof text - used - 2;
    text[used++] = '\n';
    bspz_write_all(STDERR_FILENO, text, used);
}

void bsp_abort_va(const char *format, __builtin_va_list arguments)
{
    enum bspz_life life = bspz_rt.life;

    bspz_set_leaving(1);
    bspz_stdio_flush_output();
    print_abort(format, arguments);
    bspz_has_spoken();
    bspz_cut_short();
    if (life == BSPZ_LIFE_SPMD)
        bspz_announce(BSPZ_RANK_ABORTED, 1);
    exit(1);
}

void bsp_vabort(const char *format, __builtin_va_list arguments)
{
    bsp_abort_va(format, arguments);
}

void bsp_abort(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    bsp_abort_va(format, arguments);
}

int bsp_nprocs(void)
{
    if (bspz_rt.nprocs > 0)
        return bspz_rt.nprocs;
    return decide(0);
}

int bsp_pid(void)
{
    return bspz_rt.pid;
}

static bool has_begun(void)
{
    return bspz_rt.begin_ns != 0;
}

double bsp_time(void)
{
    return has_begun() ? (double)(bspz_now_ns() - bspz_rt.begin_ns) * 1e-9 : 0.0;
}

double bsp_dtime(void)
{
    uint64_t now = bspz_now_ns();
    double elapsed = has_begun() ? (double)(now - bspz_rt.dtime_ns) * 1e-9 : 0.0;

    bspz_rt.dtime_ns = now;
    return elapsed;
}

double bsp_cputime(void)
{
    return has_begun() ? (double)(bspz_cpu_ns() - bspz_rt.begin_cpu_ns) * 1e-9 : 0.0;
}

void bsp_sync_end(void)
{
}

void bsp_begin_end(void)
{
}
