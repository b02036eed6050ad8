/* trace.c - -prof, -cgprof and -stat: the costs of each superstep, collected and written by pid 0.
 *
 * At the end of the bsp_sync of superstep s, every process publishes a record of it on the board.
 * Pid 0 reads the records of s when all have reached the barrier of s + 1, and they are not
 * overwritten before pid 0 has reached the barrier of s + 2: no additional barrier is needed.
 *
 * While profiled, each call makes a record of its own in the outbox, so that calls can be counted,
 * and nothing is copied directly between processes, so that communication happens in bsp_sync.
 */
#include "lib/rt/trace.h"

#include <unistd.h>

#include "lib/rt/outbox.h"
#include "lib/rt/times.h"

static struct {
    pid_t writer;     /* ospid of pid 0 while there are files to finish; else 0 */
    bool in_progress; /* a signal interrupted pid 0 here: nothing may be added */
    uint64_t next;    /* the superstep whose records come next */
    uint64_t end_ns;  /* of the previous one, since bsp_begin */
    struct bspz_trace own;
    struct bspz_trace_mark mark; /* what happened in the superstep whose records come next */
} trace;

static const char *why_restored(uint32_t flags)
{
    return flags & BSPZ_BOARD_RESTARTED ? "restarted"
           : flags & BSPZ_BOARD_MOVED   ? "moved"
                                        : "failed";
}

/* The restored process continues the files of the saved one. */
void bspz_trace_put_back(uint64_t passed_ns)
{
    /* What was noted of this superstep is by the clock that was put back. */
    trace.own.began_ns += passed_ns;
    trace.own.entered_ns += passed_ns;
    if (!trace.writer)
        return;
    trace.writer = getpid();
    trace.mark = (struct bspz_trace_mark){.what = why_restored(bspz_rt.board->flags),
                                          .lasted_ns = passed_ns};
}

void bspz_trace_paused(uint64_t begun_ns)
{
    uint64_t now = bspz_now_ns();

    if (!trace.writer)
        return;
    /* The clock of a restored process was put back: what began before is no time of it. */
    if (!trace.mark.what)
        trace.mark = (struct bspz_trace_mark){.what = "saved", .lasted_ns = now - begun_ns};
    trace.mark.at_ns = now - bspz_rt.begin_ns;
}

/* ---- What a process publishes -------------------------------------------------------------- */

/* The data of a put or a message go from its caller, those of a get to it. */
static void count_with(int other, struct bspz_trace *own)
{
    static const enum bspz_kind forward[] = {BSPZ_PUTS, BSPZ_MESSAGES};
    const struct bspz_chunk *in;

    for (size_t i = 0; i < sizeof forward / sizeof forward[0]; i++) {
        const struct bspz_cursor *out = &bspz_cursors[forward[i]][other];

        own->calls_out += out->count;
        own->bytes_out += out->bytes;
        in = bspz_incoming(other, bspz_rt.superstep, forward[i]);
        own->calls_in += in ? in->count : 0;
        own->bytes_in += in ? in->bytes : 0;
    }
    own->calls_in += bspz_cursors[BSPZ_REQUESTS][other].count;
    in = bspz_incoming(other, bspz_rt.superstep, BSPZ_REPLIES);
    own->bytes_in += in ? in->bytes : 0;
    in = bspz_incoming(other, bspz_rt.superstep, BSPZ_REQUESTS);
    own->calls_out += in ? in->count : 0;
    own->bytes_out += bspz_cursors[BSPZ_REPLIES][other].bytes;
}

void bspz_trace_publish(void)
{
    struct bspz_trace *shown = bspz_trace_of(bspz_rt.pid, bspz_rt.superstep - 1);

    shown->began_ns = trace.own.began_ns;
    shown->entered_ns = trace.own.entered_ns;
    shown->left_ns = bspz_rt.left_sync_ns;
    shown->calls_out = trace.own.calls_out;
    shown->calls_in = trace.own.calls_in;
    shown->bytes_out = trace.own.bytes_out;
    shown->bytes_in = trace.own.bytes_in;
    atomic_store_explicit(&shown->stamp, bspz_rt.superstep, memory_order_release);
    trace.own = (struct bspz_trace){.began_ns = bspz_rt.left_sync_ns};
}

/* ---- What pid 0 makes of it ---------------------------------------------------------------- */

static void spread_value(struct bspz_spread *spread, uint64_t value, bool first)
{
    spread->most = first || value > spread->most ? value : spread->most;
    spread->least = first || value < spread->least ? value : spread->least;
    spread->sum += value;
}

static uint64_t max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t words(uint64_t bytes)
{
    return bytes / 4 + (bytes % 4 != 0);
}

static struct bspz_trace_step summarise(uint64_t superstep)
{
    struct bspz_trace_step step = {0};
    uint64_t met = 0, left = 0;

    for (int pid = 0; pid < bspz_rt.nprocs; pid++) {
        met = max(met, bspz_trace_of(pid, superstep)->entered_ns);
        left = max(left, bspz_trace_of(pid, superstep)->left_ns);
    }
    for (int pid = 0; pid < bspz_rt.nprocs; pid++) {
        const struct bspz_trace *one = bspz_trace_of(pid, superstep);

        spread_value(&step.compute_ns, one->entered_ns - one->began_ns, pid == 0);
        spread_value(&step.wait_ns, met - one->entered_ns, pid == 0);
        /* Clocks of other hosts are known to some microseconds only. */
        spread_value(&step.communicate_ns, one->left_ns > met ? one->left_ns - met : 0, pid == 0);
        spread_value(&step.h, words(max(one->bytes_in, one->bytes_out)), pid == 0);
        step.words_in = max(step.words_in, words(one->bytes_in));
        step.words_out = max(step.words_out, words(one->bytes_out));
    }
    /* Restored processes put back their clocks one by one, so one of them may be ahead. */
    step.start_ns = met > bspz_rt.begin_ns ? met - bspz_rt.begin_ns : 0;
    step.start_ns = max(step.start_ns, trace.end_ns);
    step.end_ns = left > bspz_rt.begin_ns ? left - bspz_rt.begin_ns : 0;
    step.end_ns = max(step.end_ns, step.start_ns);
    return step;
}

/* Processes the next superstep, if all have published it. */
static void gather(void)
{
    struct bspz_trace_step step;

    for (int pid = 0; pid < bspz_rt.nprocs; pid++)
        if (atomic_load_explicit(&bspz_trace_of(pid, trace.next)->stamp, memory_order_acquire) !=
            trace.next + 1)
            return;
    step = summarise(trace.next);
    if (bspz_rt.prof)
        bspz_prof_superstep(trace.next, &step, &trace.mark);
    trace.mark.what = NULL;
    if (bspz_rt.stat)
        bspz_stat_superstep(trace.next, &step);
    trace.end_ns = step.end_ns;
    trace.next++;
}

void bspz_trace_superstep(uint64_t entered_ns, int line, const char *file)
{
    trace.own.entered_ns = entered_ns;
    for (int pid = 0; pid < bspz_rt.nprocs; pid++)
        if (pid != bspz_rt.pid)
            count_with(pid, &trace.own);
    if (bspz_rt.pid != 0)
        return;
    trace.in_progress = true;
    atomic_signal_fence(memory_order_seq_cst);
    if (bspz_rt.superstep > 0)
        gather();
    if (bspz_rt.prof)
        bspz_prof_note(bspz_here(file, line));
    atomic_signal_fence(memory_order_seq_cst);
    trace.in_progress = false;
}

static void finish(bool early)
{
    uint64_t total_ns;

    /* A process forked by the program shares the descriptors, but is not part of the job. */
    if (trace.writer == 0 || trace.writer != getpid() || trace.in_progress)
        return;
    trace.writer = 0;
    if (trace.next + 1 == bspz_rt.superstep)
        gather();
    /* Others may have left the last barrier after pid 0 got here, or by a clock that is ahead. */
    total_ns = max(bspz_now_ns() - bspz_rt.begin_ns, trace.end_ns);
    if (bspz_rt.prof)
        bspz_prof_end(total_ns);
    if (bspz_rt.stat)
        bspz_stat_end(total_ns, early);
}

static void finish_early(void)
{
    finish(true);
}

void bspz_trace_begin(void)
{
    bspz_rt.tracing = true;
    bspz_times_always(bspz_rt.self);
    bspz_rt.direct = false;
    trace.own.began_ns = bspz_rt.left_sync_ns;
    if (bspz_rt.pid != 0)
        return;
    if (bspz_rt.prof)
        bspz_prof_begin(bspz_options()->cgprof);
    if (bspz_rt.stat)
        bspz_stat_begin();
    trace.writer = getpid();
    bspz_rt.before_leaving = finish_early;
}

void bspz_trace_end(void)
{
    finish(false);
}
