/* sync.c - the end of a superstep.
 *
 * Happy path: publish the outbox, arrive, wait for all; if any rank issued gets, serve them and
 * wait again; write gets, then puts, swap the queue, apply registrations and tag sizes, and publish
 * `applied`.  No barrier at the end: see outbox.h.
 * What can fail: a rank in bsp_end while others sync, registrations that do not match, an access
 * beyond an area (found by its owner), the coordinator's decision to end the job here.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "include/bsp.h"
#include "lib/rt/get_order.h"
#include "lib/rt/outbox.h"
#include "lib/rt/registration.h"
#include "lib/rt/rt.h"
#include "lib/rt/safe_point.h"
#include "lib/rt/save.h"
#include "lib/rt/times.h"
#include "lib/rt/warn.h"

/* A summary of the lines of all ranks at this barrier.  What differs has a bit set for each bit in
 * which some rank's word is not rank 0's: differences that are only collected cost no branch. */
struct summary {
    uint32_t flags; /* of all ranks */
    uint32_t flags_differ;
    uint32_t positions_differ;
    uint32_t numbers_differ;
    uint64_t digests_differ;
};

/* Not all are in the same collective operation or in none, or not all at a safe point. */
#define MIXED_CALLS (BSPZ_COLLECTIVE_MASK | BSPZ_HAS_CALL)
#define MIXED_END   BSPZ_HAS_END /* some end, some synchronise */

static struct bspz_line *line_of(int pid)
{
    return &bspz_rank_of(bspz_rt.board, pid)->line[bspz_rt.superstep & 1];
}

static void wait_or_leave(enum bspz_wait result)
{
    if (bspz_unlikely(result != BSPZ_WAIT_DONE))
        bspz_leave();
}

static BSPZ_INLINED void pass(enum bspz_stage stage)
{
    bspz_barrier_arrive(bspz_rt.board, bspz_rt.nprocs, bspz_rt.pid, bspz_rt.superstep, stage);
    wait_or_leave(
        bspz_barrier_wait(bspz_rt.board, bspz_rt.nprocs, bspz_rt.pid, bspz_rt.superstep, stage));
}

static BSPZ_INLINED void publish(uint32_t flags, int number, bspz_position position)
{
    struct bspz_line *own = line_of(bspz_rt.pid);

    own->flags = flags;
    own->position = position;
    own->digest = bspz_sequence.digest;
    own->sync_number = (uint32_t)number;
    /* Read once, by the first rank: the agent may set the word at any time, so different ranks
     * could see different values. */
    if (bspz_rt.pid == 0)
        own->decision =
            atomic_load_explicit(&bspz_rt.board->consult_from, memory_order_relaxed) <=
                        bspz_rt.superstep ||
                    (flags & BSPZ_HAS_END && bspz_rt.board->flags & BSPZ_BOARD_SNAPSHOTS)
                ? BSPZ_DECIDE_CONSULT
                : BSPZ_DECIDE_GO;
}

static BSPZ_INLINED struct summary summarise(void)
{
    const struct bspz_line *first = line_of(0);
    struct summary all = {.flags = first->flags};

    for (int pid = 1; pid < bspz_rt.nprocs; pid++) {
        const struct bspz_line *line = line_of(pid);

        all.flags |= line->flags;
        all.flags_differ |= line->flags ^ first->flags;
        all.positions_differ |= line->position ^ first->position;
        all.numbers_differ |= line->sync_number ^ first->sync_number;
        all.digests_differ |= line->digest ^ first->digest;
    }
    return all;
}

/* ---- Failures of the whole barrier; pid 0 speaks ------------------------------------------- */

static const char *call_at(int pid)
{
    const struct bspz_line *line = line_of(pid);

    if (line->flags & BSPZ_HAS_EXIT)
        return "exit without bsp_end";
    if (line->flags & BSPZ_HAS_END)
        return "bsp_end";
    return bspz_call_name(bspz_collective_of(pid) ? bspz_collective_of(pid) : BSPZ_CALL_SYNC);
}

/* Appends a line for each rank, and the number of omitted ones when the text is full. */
static void append_positions(char *text, size_t room, bool numbers)
{
    size_t used = strlen(text);

    for (int pid = 0; pid < bspz_rt.nprocs; pid++) {
        const struct bspz_line *line = line_of(pid);
        char place[BSPZ_NAME_BYTES + 16];

        if (room - used < sizeof place + 64) {
            snprintf(text + used, room - used, "\n  ... and %d more", bspz_rt.nprocs - pid);
            return;
        }

        bspz_place(pid, line->position, place, sizeof place);
        if (numbers)
            used += (size_t)snprintf(text + used, room - used, "\n  pid %d: number %d at %s", pid,
                                     (int)line->sync_number, place);
        else
            used += (size_t)snprintf(text + used, room - used, "\n  pid %d: %s%s%s", pid,
                                     call_at(pid), line->flags & BSPZ_HAS_EXIT ? "" : " at ",
                                     line->flags & BSPZ_HAS_EXIT ? "" : place);
    }
}

/* At least one process is in a collective operation: the first of them is named. */
static BSPZ_COLD BSPZ_NORETURN void fail_collective(void)
{
    char text[3584] = "not all processes are in this collective operation:";
    int pid = 0;

    if (bspz_rt.pid != 0)
        bspz_leave_when_stopped();
    while (!bspz_collective_of(pid))
        pid++;
    append_positions(text, sizeof text, false);
    bspz_fail_for(bspz_call_name(bspz_collective_of(pid)), pid, line_of(pid)->position, "%s", text);
}

static BSPZ_COLD BSPZ_NORETURN void fail_barrier(const char *what, bool numbers, int line,
                                                 const char *file)
{
    const char *function = "bsp_sync";
    char text[3584];

    if (bspz_rt.pid != 0)
        bspz_leave_when_stopped();
    snprintf(text, sizeof text, "%s", what);
    append_positions(text, sizeof text, numbers);
    if (numbers)
        function = "bspsync_number";
    else if (line_of(0)->flags & BSPZ_HAS_END)
        function = "bsp_end";
    bspz_fail(function, line, file, "%s", text);
}

static bool same_place(int pid)
{
    char first[512], other[512];

    bspz_place(0, line_of(0)->position, first, sizeof first);
    bspz_place(pid, line_of(pid)->position, other, sizeof other);
    return strcmp(first, other) == 0;
}

/* Name indices are private to a rank, so different numbers may refer to the same place. */
static void check_positions(int line, const char *file)
{
    for (int pid = 1; pid < bspz_rt.nprocs; pid++)
        if (!same_place(pid))
            fail_barrier("the processes synchronise at different lines (an error under "
                         "-fcheck-syncs):",
                         false, line, file);
}

static BSPZ_COLD void check_differences(const struct summary *all, int line, const char *file)
{
    /* Whoever is not at a safe point then is at the end, and arrives there again. */
    if (all->flags & BSPZ_HAS_CALL && all->flags_differ & MIXED_CALLS)
        return;
    if (all->flags_differ & MIXED_CALLS)
        fail_collective();
    if (all->flags_differ & MIXED_END)
        fail_barrier("some processes are in bsp_sync while others are in bsp_end:", false, line,
                     file);
    if (all->numbers_differ)
        fail_barrier("the processes synchronise with different numbers:", true, line, file);
    if (bspz_rt.check_syncs && all->positions_differ && !(all->flags & BSPZ_HAS_CALL))
        check_positions(line, file);
}

/* ---- The barrier --------------------------------------------------------------------------- */

static bool snapshot_is_due; /* at the end of this superstep */

/* The coordinator decides this barrier: consults it once all have arrived. */
static BSPZ_COLD void consult(void)
{
    uint32_t answer;

    struct bspz_board *board = bspz_rt.board;

    if (bspz_rt.pid == board->first_here) {
        atomic_store(&board->consulted, bspz_rt.superstep + 1);
        bspz_board_ring(board);
    }
    wait_or_leave(bspz_answer_wait(board, bspz_rt.superstep));
    answer = atomic_load(&board->answer);
    snapshot_is_due = answer == BSPZ_DECIDE_SNAPSHOT;
    if (answer != BSPZ_DECIDE_GO && !snapshot_is_due)
        bspz_leave_when_stopped();
}

/* What some jobs need before a process arrives. */
static void prepare_to_arrive(uint32_t flags, int line, const char *file)
{
    if (bspz_rt.board->flags & BSPZ_BOARD_LABELS)
        bspz_stdio_hand_over();
    if (bspz_unlikely(bspz_rt.safe_calls) && flags == 0 && bspz_has_safe_points())
        bspz_fail("bsp_sync", line, file,
                  "a job that recovers from failures (--ckpt) saves this program at its calls, and "
                  "not at the end of supersteps: begin it with bsp_begin");
}

/* Publishes, waits for all, checks; returns the summary of all ranks.  flags: 0: bsp_sync. */
static BSPZ_INLINED struct summary meet(uint32_t end_flags, int number, int line, const char *file)
{
    bspz_position position = bspz_here(file, line);
    enum bspz_call inside = bspz_rt.inside.call;
    uint32_t flags = end_flags, special = bspz_rt.board->flags;
    struct summary all;

    if (bspz_likely(end_flags == 0))
        bspz_note(inside ? inside : BSPZ_CALL_SYNC, position);
    else if (!(end_flags & BSPZ_HAS_CALL)) /* else the plane has noted its call */
        bspz_note(bspz_call_of_end(), position);
    if (bspz_rt.checks)
        bspz_stdio_flush_output();
    if (bspz_unlikely(special & (BSPZ_BOARD_LABELS | BSPZ_BOARD_CALLS)))
        prepare_to_arrive(end_flags, line, file);
    if (bspz_sequence.count > 0)
        flags |= bspz_sequence_seal(bspz_rt.superstep, line, file);
    flags |= bspz_outbox_seal(bspz_rt.superstep);
    if (bspz_unlikely(special & BSPZ_BOARD_REPLICAS))
        bspz_outbox_blank(bspz_rt.superstep, false);
    publish(flags | (uint32_t)inside << BSPZ_COLLECTIVE_SHIFT |
                bspz_warnings_publish(line_of(bspz_rt.pid)),
            number, position);
    pass(BSPZ_STAGE_ARRIVED);
    all = summarise();
    if (bspz_unlikely((all.flags_differ & (MIXED_CALLS | MIXED_END)) | all.numbers_differ ||
                      (bspz_rt.check_syncs && all.positions_differ)))
        check_differences(&all, line, file);
    if (bspz_unlikely(all.flags & BSPZ_HAS_WARNING))
        bspz_warnings_settle(end_flags != 0);
    if (bspz_unlikely(line_of(0)->decision == BSPZ_DECIDE_CONSULT))
        consult();
    return all;
}

static BSPZ_INLINED void communicate(const struct summary *all, int line, const char *file)
{
    if (all->flags & BSPZ_HAS_SEQUENCE && (all->digests_differ || all->flags & BSPZ_HAS_NULL_POP)) {
        bspz_sequence_match(bspz_rt.superstep, line, file);
        /* No rank may push to its table while others still read it. */
        pass(BSPZ_STAGE_MATCHED);
    }
    if (all->flags & BSPZ_HAS_GET) {
        bspz_serve_gets();
        if (bspz_unlikely(bspz_rt.board->flags & BSPZ_BOARD_REPLICAS))
            bspz_outbox_blank(bspz_rt.superstep, true);
        pass(BSPZ_STAGE_REPLIED);
        bspz_collect_gets();
    }
    if (all->flags & BSPZ_HAS_PUT)
        bspz_apply_puts();
    bspz_queue_swap(all->flags & BSPZ_HAS_MESSAGE);
    if (all->flags & BSPZ_HAS_SEQUENCE)
        bspz_registration_apply();
    bspz_tag_shift();
}

#define MEMORY_EVERY_NS 100000000u /* a system call, too expensive for every superstep */
static uint64_t memory_ns;         /* when the peak memory was last recorded */

static BSPZ_INLINED void count_superstep(const struct summary *all)
{
    struct bspz_counters *counters = &bspz_rt.self->counters;
    uint64_t out;

    counters->supersteps++;
    if (!(all->flags & (BSPZ_HAS_PUT | BSPZ_HAS_GET | BSPZ_HAS_MESSAGE)))
        return;
    out = bspz_outbox_bytes_out();
    bspz_outbox_count(counters);
    counters->bytes_received += bspz_rt.received_bytes;
    if (out > counters->h_max)
        counters->h_max = out;
    if (bspz_rt.received_bytes > counters->h_max)
        counters->h_max = bspz_rt.received_bytes;
    bspz_rt.received_bytes = 0;
}

static uint64_t thread_ns(void)
{
    return bspz_processor_time_is_read(&bspz_rt.processor_time)
               ? bspz_clock_ns(CLOCK_THREAD_CPUTIME_ID)
               : 0;
}

static void begin_work(uint64_t met_ns)
{
    bspz_processor_time_begin(&bspz_rt.processor_time, met_ns, thread_ns());
}

/* All have met: the rest of the superstep. */
static BSPZ_INLINED void complete(const struct summary *all, uint64_t entered, int line,
                                  const char *file)
{
    struct bspz_rank *self = bspz_rt.self;
    uint64_t met = 0, paused;

    if (bspz_unlikely(self->timed_ns)) {
        met = bspz_times_communicate(self, entered);
        if (bspz_rt.measuring)
            begin_work(met);
    }
    communicate(all, line, file);
    count_superstep(all);
    if (bspz_unlikely(bspz_rt.tracing))
        bspz_trace_superstep(entered, line, file);
    bspz_rt.superstep++;
    if (bspz_get_order.owner >= 0)
        bspz_get_order_reset();
    bspz_outbox_flip(bspz_rt.superstep);
    atomic_store_explicit(&bspz_rt.self->superstep, bspz_rt.superstep, memory_order_relaxed);
    if (bspz_unlikely(snapshot_is_due)) {
        snapshot_is_due = false;
        if (bspz_rt.self->timed_ns)
            bspz_times_pause(bspz_rt.self, met);
        paused = bspz_now_ns();
        bspz_save_superstep();
        if (bspz_rt.tracing)
            bspz_trace_paused(paused);
        /* The pause is not communication, nor is the time between the snapshot and a restore. */
        met = bspz_now_ns();
        if (bspz_rt.measuring)
            begin_work(met);
    }
    self = bspz_rt.self; /* a restore sets it anew */
    /* Last of all: from here on peers may copy directly to this rank. */
    atomic_store_explicit(&self->applied, bspz_rt.superstep, memory_order_release);
    if (bspz_unlikely(self->timed_ns)) {
        bspz_times_compute(self, met);
        if (bspz_rt.left_sync_ns - memory_ns > MEMORY_EVERY_NS)
            bspz_count_memory();
        if (bspz_rt.tracing)
            bspz_trace_publish();
    }
}

/* Its name marks the beginning of libbsp in profiles: bsp_sync_cpp leaves no frame. */
static void bspz_synchronise(uint32_t flags, int number, int line, const char *file)
{
    struct bspz_rank *self = bspz_rt.self;
    uint64_t entered = 0;
    struct summary all;
    int errno_before = errno; /* changed by waiting, and by a restore */

    if (bspz_unlikely(bspz_rt.life != BSPZ_LIFE_SPMD))
        bspz_fail_outside("bsp_sync", line, file);
    if (bspz_unlikely(self->timed_ns)) {
        entered = bspz_times_wait(self);
        if (bspz_rt.measuring)
            self->counters.work_ns +=
                bspz_processor_time_end(&bspz_rt.processor_time, entered, thread_ns());
    }
    if (bspz_unlikely(bspz_rt.warn))
        bspz_warn_unread("bsp_sync", line, file);
    all = meet(flags, number, line, file);
    complete(&all, entered, line, file);
    if (bspz_unlikely(bspz_rt.board->flags & BSPZ_BOARD_REPLICAS))
        bspz_clear_stack();
    errno = errno_before;
}

void bspz_count_memory(void)
{
    struct bspz_counters *counters = &bspz_rt.self->counters;
    struct rusage usage;

    memory_ns = bspz_now_ns();
    /* The value from before a restore may be higher. */
    if (getrusage(RUSAGE_SELF, &usage) == 0 &&
        (uint64_t)usage.ru_maxrss * 1024 > counters->peak_memory_bytes)
        counters->peak_memory_bytes = (uint64_t)usage.ru_maxrss * 1024;
}

void bsp_sync_cpp(int line, const char *file)
{
    bspz_synchronise(0, 0, line, file);
}

void bspz_sync_numbered(int number, int line, const char *file)
{
    bspz_synchronise(0, number, line, file);
}

void bspz_safe_point(int line, const char *file)
{
    bspz_synchronise(BSPZ_HAS_CALL, 0, line, file);
    bspz_rt.self->counters.supersteps--; /* it is none of the program's */
}

/* While others stop at safe points the processes at the end take part in these. */
static void end_barrier(uint32_t flags, int line, const char *file)
{
    uint64_t entered = bspz_rt.self->timed_ns ? bspz_times_wait(bspz_rt.self) : 0;
    struct summary all;

    if (bspz_unlikely(bspz_rt.warn))
        bspz_warn_unread("bsp_end", line, file);
    bspz_queue_clear();
    while ((all = meet(flags, 0, line, file)).flags & BSPZ_HAS_CALL) {
        complete(&all, entered, line, file);
        bspz_rt.self->counters.supersteps--;
        entered = bspz_rt.self->timed_ns ? bspz_times_wait(bspz_rt.self) : 0;
    }
    if (bspz_rt.self->timed_ns)
        bspz_times_communicate(bspz_rt.self, entered);
}

void bspz_sync_end_barrier(int line, const char *file)
{
    end_barrier(BSPZ_HAS_END, line, file);
}

void bspz_sync_exit_barrier(void)
{
    end_barrier(BSPZ_HAS_END | BSPZ_HAS_EXIT, 0, "unprofiled");
}
