/* test_coord.c - Processor Zero: golden traces of jobs, the rules a peer may break, and the
 * arithmetic of placing and consulting. */
#include <check.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/core/state.h"

static struct coord *coord;
static struct coord_effects effects;
static char trace[16384];
static size_t trace_used;

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    trace_used +=
        (size_t)vsnprintf(trace + trace_used, sizeof(trace) - trace_used, format, arguments);
    va_end(arguments);
    ck_assert_uint_lt(trace_used, sizeof(trace));
}

static void moved(void *context, enum coord_phase from, enum coord_phase to)
{
    ck_assert_ptr_eq(context, &coord);
    add("  %s -> %s\n", coord_phase_name(from), coord_phase_name(to));
}

static int take(struct coord_event event)
{
    char text[256];
    coord_event_text(&event, text, sizeof(text));
    add("%s\n", text);
    int result = coord_step(coord, &event, &effects);
    if (result < 0)
        add("  broken: %s\n", effects.complaint);
    if (effects.dropped)
        add("  dropped\n");
    for (uint32_t i = 0; i < effects.count; i++) {
        coord_effect_text(&effects.items[i], text, sizeof(text));
        add("  %s\n", text);
    }
    return result;
}

#define EVENT(name, ...)                                                                           \
    take((struct coord_event){.kind = COORD_EVENT_##name, .term = 3, __VA_ARGS__})

static void host_ready(uint32_t host, uint32_t slots)
{
    EVENT(HOST_READY, .host = host, .host_ready.slots = slots);
}

static void registered(uint32_t host, uint32_t wanted)
{
    EVENT(REGISTERED, .host = host, .registered.wanted = wanted);
}

static int ranks_ready(uint32_t host, uint32_t count)
{
    return EVENT(RANKS_READY, .host = host, .ranks_ready.count = count);
}

static int arrived(uint32_t host, uint64_t superstep, enum wire_barrier barrier)
{
    return EVENT(ARRIVED, .host = host, .arrived = {.superstep = superstep, .barrier = barrier});
}

static int exited(uint32_t host, uint32_t pid, uint32_t status)
{
    return EVENT(RANK_EXITED, .host = host, .rank_exited = {.pid = pid, .status = status});
}

static int killed(uint32_t host, uint32_t pid, uint32_t signal)
{
    return EVENT(RANK_EXITED, .host = host, .rank_exited = {.pid = pid, .signal = signal});
}

static int stopped(uint32_t host)
{
    return EVENT(RANKS_STOPPED, .host = host);
}

static int lost(uint32_t host)
{
    return EVENT(HOST_LOST, .host = host);
}

static int stop(enum wire_stop_how how, uint32_t signal)
{
    return EVENT(STOP, .stop = {.how = how, .signal = signal, .text = "why"});
}

static int abort_job(uint32_t host, int32_t pid, enum wire_cause cause, int32_t status)
{
    return EVENT(ABORT, .host = host,
                 .abort = {.pid = pid, .cause = cause, .status = status, .text = "a text"});
}

static const struct wire_host hosts[] = {{0, 2, "a"}, {7, 2, "b"}, {3, 4, "c"}};

static void start(uint32_t host_count, struct coord_config config)
{
    config.term = 3;
    config.host_count = host_count;
    config.hosts = hosts;
    config.moved = moved;
    config.context = &coord;
    coord = coord_new(&config);
    ck_assert_ptr_nonnull(coord);
    trace_used = 0;
    trace[0] = '\0';
}

static void tear_down(void)
{
    coord_free(coord);
    coord = NULL;
}

#define CONFIG(...) ((struct coord_config){.abort_at = COORD_NEVER, __VA_ARGS__})

/* One host with so many processes, in bsp_begin's other side. */
static void start_running(uint32_t processes, struct coord_config config)
{
    start(1, config);
    host_ready(0, 2);
    registered(0, processes);
    ranks_ready(0, processes);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    trace_used = 0;
}

static void expect_trace(const char *golden)
{
    ck_assert_msg(strcmp(trace, golden) == 0, "the trace is\n%sinstead of\n%s", trace, golden);
}

static void expect_outcome(int32_t status, enum wire_cause cause, int32_t pid)
{
    struct coord_outcome outcome = coord_outcome(coord);
    ck_assert_int_eq(outcome.cause, cause);
    ck_assert_int_eq(outcome.status, status);
    ck_assert_int_eq(outcome.pid, pid);
}

/* The state must be as before: the same trace goes on. */
static void expect_broken(int result)
{
    ck_assert_int_eq(result, -EPROTO);
    ck_assert_str_ne(effects.complaint, "");
    ck_assert_uint_eq(effects.count, 0);
}

static bool has_effect(enum coord_effect_kind kind)
{
    for (uint32_t i = 0; i < effects.count; i++)
        if (effects.items[i].kind == kind)
            return true;
    return false;
}

/* ---- Golden traces ------------------------------------------------------------------------ */

START_TEST(a_job_on_one_host)
{
    start(1, CONFIG());
    host_ready(0, 2);
    registered(0, 2);
    ranks_ready(0, 2);
    arrived(0, 1000, WIRE_BARRIER_END);
    exited(0, 1, 0);
    exited(0, 0, 7);
    exited(0, 0, 7);
    expect_trace("event HOST_READY term 3 host 0 slots 2\n"
                 "event REGISTERED term 3 host 0 wanted 2\n"
                 "  WAITING -> PLACING\n"
                 "  effect PLACE term 3 processes 2\n"
                 "event RANKS_READY term 3 host 0 count 2\n"
                 "  PLACING -> RUNNING\n"
                 "  effect RUN term 3 processes 2 consult never\n"
                 "event ARRIVED term 3 host 0 superstep 1000 bsp_end\n"
                 "  RUNNING -> ENDING\n"
                 "  effect RELEASE term 3 superstep 1000 decision end consult never\n"
                 "event RANK_EXITED term 3 host 0 pid 1 status 0\n"
                 "event RANK_EXITED term 3 host 0 pid 0 status 7\n"
                 "  ENDING -> ENDED\n"
                 "  effect END term 3\n"
                 "  effect FINISH term 3\n"
                 "event RANK_EXITED term 3 host 0 pid 0 status 7\n"
                 "  dropped\n");
    expect_outcome(7, WIRE_CAUSE_NONE, COORD_NOBODY);
    ck_assert_uint_eq(coord_outcome(coord).superstep, 1000);
}
END_TEST

START_TEST(abort_at_superstep_3)
{
    struct coord_config config = {.abort_at = 3, .stop_grace_ms = 500};
    start_running(2, config);
    arrived(0, 3, WIRE_BARRIER_SYNC);
    killed(0, 1, 9);
    stopped(0);
    expect_trace("event ARRIVED term 3 host 0 superstep 3 bsp_sync\n"
                 "  RUNNING -> ABORTING\n"
                 "  effect RELEASE term 3 superstep 3 decision abort consult never\n"
                 "  effect STOP_RANKS term 3\n"
                 "  effect SET_TIMER term 3 500 ms\n"
                 "event RANK_EXITED term 3 host 0 pid 1 signal 9\n"
                 "  dropped\n"
                 "event RANKS_STOPPED term 3 host 0\n"
                 "  ABORTING -> ABORTED\n"
                 "  effect END term 3\n"
                 "  effect CANCEL_TIMER term 3\n"
                 "  effect FINISH term 3\n");
    expect_outcome(1, WIRE_CAUSE_DECIDED, COORD_NOBODY);
    ck_assert_str_eq(coord_outcome(coord).text, "told to abort at the end of superstep 3");
}
END_TEST

START_TEST(barriers_of_two_hosts)
{
    static const uint64_t from_0[] = {0, 100}, from_7[] = {50, 5};
    start(2, CONFIG());
    host_ready(7, 1);
    registered(7, 0);
    host_ready(0, 1);
    ranks_ready(7, 2);
    ranks_ready(0, 2);
    EVENT(ARRIVED, .host = 0, .arrived = {.superstep = 0, .bytes_to = from_0});
    EVENT(ARRIVED, .host = 7, .arrived = {.superstep = 0, .bytes_to = from_7});
    ck_assert_uint_eq(coord_expected(coord, 0, 7), 100);
    ck_assert_uint_eq(coord_expected(coord, 7, 0), 50);
    ck_assert_uint_eq(coord_expected(coord, 7, 7), 5);
    arrived(7, 1, WIRE_BARRIER_END);
    arrived(0, 1, WIRE_BARRIER_END);
    expect_trace("event HOST_READY term 3 host 7 slots 1\n"
                 "event REGISTERED term 3 host 7 wanted 0\n"
                 "event HOST_READY term 3 host 0 slots 1\n"
                 "  WAITING -> PLACING\n"
                 "  effect PLACE term 3 processes 4\n"
                 "event RANKS_READY term 3 host 7 count 2\n"
                 "event RANKS_READY term 3 host 0 count 2\n"
                 "  PLACING -> RUNNING\n"
                 "  effect RUN term 3 processes 4 consult 0\n"
                 "event ARRIVED term 3 host 0 superstep 0 bsp_sync\n"
                 "event ARRIVED term 3 host 7 superstep 0 bsp_sync\n"
                 "  effect RELEASE term 3 superstep 0 decision go consult 1\n"
                 "event ARRIVED term 3 host 7 superstep 1 bsp_end\n"
                 "event ARRIVED term 3 host 0 superstep 1 bsp_end\n"
                 "  RUNNING -> ENDING\n"
                 "  effect RELEASE term 3 superstep 1 decision end consult never\n");
    /* Process 0 is where the registration came from. */
    ck_assert_uint_eq(coord_host_of(coord, 0), 7);
    ck_assert_uint_eq(coord_host_of(coord, 3), 0);
}
END_TEST

START_TEST(sync_here_and_end_there)
{
    start(2, CONFIG());
    host_ready(0, 0);
    host_ready(7, 0);
    registered(0, 4);
    ranks_ready(0, 2);
    ranks_ready(7, 2);
    arrived(0, 0, WIRE_BARRIER_SYNC);
    trace_used = 0;
    arrived(7, 0, WIRE_BARRIER_END);
    expect_trace("event ARRIVED term 3 host 7 superstep 0 bsp_end\n"
                 "  RUNNING -> ABORTING\n"
                 "  effect RELEASE term 3 superstep 0 decision abort consult never\n"
                 "  effect STOP_RANKS term 3\n"
                 "  effect SET_TIMER term 3 10000 ms\n");
    expect_outcome(1, WIRE_CAUSE_MISMATCH, COORD_NOBODY);
}
END_TEST

START_TEST(a_lost_host_ends_the_job)
{
    start(3, CONFIG());
    host_ready(0, 0);
    host_ready(7, 0);
    host_ready(3, 0);
    registered(0, 8);
    ranks_ready(0, 2);
    ranks_ready(7, 2);
    ranks_ready(3, 4);
    trace_used = 0;
    lost(7);
    ck_assert(!coord_host_alive(coord, 7));
    ck_assert(coord_host_alive(coord, 3));
    stopped(0);
    stopped(7);
    lost(3);
    expect_trace("event HOST_LOST term 3 host 7\n"
                 "  RUNNING -> ABORTING\n"
                 "  effect STOP_RANKS term 3\n"
                 "  effect SET_TIMER term 3 10000 ms\n"
                 "event RANKS_STOPPED term 3 host 0\n"
                 "event RANKS_STOPPED term 3 host 7\n"
                 "  dropped\n"
                 "event HOST_LOST term 3 host 3\n"
                 "  ABORTING -> ABORTED\n"
                 "  effect END term 3\n"
                 "  effect CANCEL_TIMER term 3\n"
                 "  effect FINISH term 3\n");
    expect_outcome(1, WIRE_CAUSE_HOST_LOST, COORD_NOBODY);
    ck_assert_str_eq(coord_outcome(coord).text, "host 7 was lost");
}
END_TEST

/* ---- How jobs end ------------------------------------------------------------------------- */

START_TEST(early_ends_of_processes)
{
    start_running(4, CONFIG());
    killed(0, 2, 11);
    ck_assert(has_effect(COORD_EFFECT_STOP_RANKS));
    expect_outcome(139, WIRE_CAUSE_RANK_SIGNALLED, 2);
    ck_assert_uint_eq(coord_outcome(coord).signal, 11);
    exited(0, 1, 1); /* the first one is blamed */
    expect_outcome(139, WIRE_CAUSE_RANK_SIGNALLED, 2);
    tear_down();

    start_running(4, CONFIG());
    exited(0, 3, 5);
    expect_outcome(5, WIRE_CAUSE_RANK_EXITED, 3);
    tear_down();

    start_running(4, CONFIG());
    exited(0, 0, 0); /* leaving early is never a success */
    expect_outcome(1, WIRE_CAUSE_RANK_EXITED, 0);
}
END_TEST

START_TEST(requests_to_end)
{
    start_running(2, CONFIG());
    abort_job(0, 1, WIRE_CAUSE_ABORT_CALLED, 1);
    expect_outcome(1, WIRE_CAUSE_ABORT_CALLED, 1);
    ck_assert_str_eq(coord_outcome(coord).text, "a text");
    abort_job(0, 0, WIRE_CAUSE_RANK_ERROR, 9);
    ck_assert(effects.dropped);
    tear_down();

    start_running(2, CONFIG());
    abort_job(0, COORD_NOBODY, WIRE_CAUSE_RANKS_STUCK, 256);
    expect_outcome(1, WIRE_CAUSE_RANKS_STUCK, COORD_NOBODY);
    tear_down();

    start_running(2, CONFIG());
    stop(WIRE_STOP_SIGNAL, 2);
    expect_outcome(130, WIRE_CAUSE_STOPPED, COORD_NOBODY);
    ck_assert_uint_eq(coord_outcome(coord).signal, 2);
    stop(WIRE_STOP_KILL, 2);
    ck_assert(effects.dropped);
    tear_down();

    start_running(2, CONFIG());
    stop(WIRE_STOP_TIMEOUT, 0);
    expect_outcome(124, WIRE_CAUSE_TIMEOUT, COORD_NOBODY);
    tear_down();

    start_running(2, CONFIG());
    stop(WIRE_STOP_KILL, 0);
    expect_outcome(137, WIRE_CAUSE_STOPPED, COORD_NOBODY);
}
END_TEST

/* Whatever state it is in, a request to stop leads to FINISH. */
START_TEST(stop_works_in_every_state)
{
    for (int steps = 0; steps < 5; steps++) {
        start(1, CONFIG());
        if (steps > 0)
            host_ready(0, 1);
        if (steps > 1)
            registered(0, 2);
        if (steps > 2)
            ranks_ready(0, 2);
        if (steps > 3)
            arrived(0, 0, WIRE_BARRIER_END);
        stop(WIRE_STOP_SIGNAL, 15);
        if (steps > 0) {
            ck_assert_int_eq(coord_phase(coord), COORD_ABORTING);
            stopped(0);
        }
        ck_assert_int_eq(coord_phase(coord), COORD_ABORTED);
        ck_assert(has_effect(COORD_EFFECT_FINISH));
        expect_outcome(143, WIRE_CAUSE_STOPPED, COORD_NOBODY);
        tear_down();
    }
}
END_TEST

START_TEST(timer_gives_up)
{
    start(2, CONFIG());
    host_ready(0, 0);
    host_ready(7, 0);
    EVENT(TIMER);
    ck_assert(effects.dropped);
    stop(WIRE_STOP_SIGNAL, 15);
    stopped(0);
    ck_assert_uint_eq(effects.count, 0);
    EVENT(TIMER);
    ck_assert(has_effect(COORD_EFFECT_FINISH));
    ck_assert(!coord_host_alive(coord, 7));
    ck_assert(coord_host_alive(coord, 0));
    expect_outcome(143, WIRE_CAUSE_STOPPED, COORD_NOBODY);
}
END_TEST

static void start_ending(uint32_t processes)
{
    start_running(processes, CONFIG());
    arrived(0, 4, WIRE_BARRIER_END);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDING);
}

START_TEST(after_bsp_end)
{
    start_ending(3);
    exited(0, 2, 9); /* of no consequence */
    exited(0, 0, 0);
    exited(0, 1, 0);
    expect_outcome(0, WIRE_CAUSE_NONE, COORD_NOBODY);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDED);
    tear_down();

    start_ending(3);
    killed(0, 2, 6);
    exited(0, 1, 0);
    exited(0, 0, 0);
    expect_outcome(134, WIRE_CAUSE_KILLED_AFTER_END, 2);
    tear_down();

    start_ending(3);
    killed(0, 2, 6);
    killed(0, 1, 11); /* the first one is blamed */
    abort_job(0, 0, WIRE_CAUSE_ABORT_CALLED, 1);
    expect_outcome(134, WIRE_CAUSE_KILLED_AFTER_END, 2);
    tear_down();

    for (int order = 0; order < 2; order++) {
        start_ending(2);
        if (order)
            exited(0, 0, 5);
        killed(0, 1, 6);
        if (!order)
            exited(0, 0, 5);
        expect_outcome(5, WIRE_CAUSE_KILLED_AFTER_END, 1);
        tear_down();
    }

    start_ending(1);
    killed(0, 0, 11);
    expect_outcome(139, WIRE_CAUSE_KILLED_AFTER_END, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDED);
    tear_down();

    start_ending(2);
    exited(0, 1, 0);
    lost(0);
    expect_outcome(1, WIRE_CAUSE_HOST_LOST, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDED);
    tear_down();

    start_ending(2);
    abort_job(0, 0, WIRE_CAUSE_ABORT_CALLED, 1);
    ck_assert_int_eq(coord_phase(coord), COORD_ABORTING);
    expect_outcome(1, WIRE_CAUSE_ABORT_CALLED, 0);
}
END_TEST

/* Two hosts with a process each. */
static void start_on_two(struct coord_config config)
{
    start(2, config);
    host_ready(0, 0);
    host_ready(7, 0);
    coord->hosts[0].slots = 1;
    registered(0, 2);
    ranks_ready(0, 1);
    ranks_ready(7, 1);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
}

START_TEST(exit_instead_of_bsp_end_where_allowed)
{
    start_running(3, CONFIG(.allow_exit = true));
    exited(0, 2, 0);
    exited(0, 0, 4);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    exited(0, 1, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDED);
    expect_outcome(4, WIRE_CAUSE_NONE, COORD_NOBODY);
    tear_down();

    start_running(3, CONFIG(.allow_exit = true));
    exited(0, 2, 0);
    killed(0, 1, 9);
    expect_outcome(137, WIRE_CAUSE_RANK_SIGNALLED, 1);
    tear_down();

    /* One that has exited counts as one in bsp_end ... */
    for (int order = 0; order < 2; order++) {
        start_on_two(CONFIG(.allow_exit = true));
        if (order)
            arrived(0, 0, WIRE_BARRIER_END);
        exited(7, 1, 0);
        ck_assert_int_eq(coord_phase(coord), order ? COORD_ENDING : COORD_RUNNING);
        if (!order) {
            expect_broken(arrived(7, 0, WIRE_BARRIER_END));
            arrived(0, 0, WIRE_BARRIER_END);
        }
        exited(0, 0, 3);
        ck_assert_int_eq(coord_phase(coord), COORD_ENDED);
        expect_outcome(3, WIRE_CAUSE_NONE, COORD_NOBODY);
        tear_down();
    }

    /* ... and is waited for in vain in bsp_sync. */
    for (int order = 0; order < 2; order++) {
        start_on_two(CONFIG(.allow_exit = true));
        if (order)
            arrived(0, 0, WIRE_BARRIER_SYNC);
        exited(7, 1, 0);
        if (!order)
            arrived(0, 0, WIRE_BARRIER_SYNC);
        expect_outcome(1, WIRE_CAUSE_RANKS_STUCK, 1);
        tear_down();
    }
    start(1, CONFIG());
}
END_TEST

/* ---- Rules that peers break --------------------------------------------------------------- */

START_TEST(broken_rules_change_nothing)
{
    start(2, CONFIG());
    expect_broken(EVENT(REGISTERED, .host = 0)); /* before it is ready */
    host_ready(0, 0);
    expect_broken(EVENT(HOST_READY, .host = 0));
    expect_broken(EVENT(HOST_READY, .host = 1)); /* not of this job */
    expect_broken(ranks_ready(0, 0));
    expect_broken(arrived(0, 0, WIRE_BARRIER_SYNC));
    expect_broken(stopped(0));
    expect_broken(exited(0, 0, 0)); /* nobody is registered */
    registered(0, 3);
    expect_broken(EVENT(REGISTERED, .host = 0));
    host_ready(7, 0);
    ck_assert_uint_eq(coord_processes(coord), 3);

    expect_broken(ranks_ready(0, 3));
    ranks_ready(0, 2);
    expect_broken(ranks_ready(0, 2));
    expect_broken(exited(0, 2, 0)); /* lives on host 7 */
    ranks_ready(7, 1);

    expect_broken(arrived(0, 1, WIRE_BARRIER_SYNC));
    expect_broken(arrived(0, COORD_NEVER, WIRE_BARRIER_END));
    expect_broken(arrived(0, 0, (enum wire_barrier)9));
    arrived(0, 0, WIRE_BARRIER_SYNC);
    expect_broken(arrived(0, 0, WIRE_BARRIER_SYNC));
    arrived(7, 0, WIRE_BARRIER_SYNC);
    expect_broken(arrived(7, 0, WIRE_BARRIER_SYNC));
    expect_broken(abort_job(0, 3, WIRE_CAUSE_ABORT_CALLED, 1));
    expect_broken(abort_job(0, -2, WIRE_CAUSE_ABORT_CALLED, 1));
    expect_broken(abort_job(0, 0, WIRE_CAUSE_NONE, 1));
    expect_broken(abort_job(0, 0, WIRE_CAUSE_COUNT, 1));
    expect_broken(stop((enum wire_stop_how)9, 1));
    expect_broken(take((struct coord_event){.kind = COORD_EVENT_KIND_COUNT, .term = 3}));

    arrived(0, 1, WIRE_BARRIER_END);
    arrived(7, 1, WIRE_BARRIER_END);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDING);
    expect_broken(arrived(0, 2, WIRE_BARRIER_SYNC));
    exited(0, 1, 0);
    expect_broken(exited(0, 1, 0));
    expect_broken(exited(7, 0, 0));
    expect_broken(exited(7, 70000, 0));
    exited(0, 0, 0);
    exited(7, 2, 0);
    expect_outcome(0, WIRE_CAUSE_NONE, COORD_NOBODY);
}
END_TEST

START_TEST(old_terms_are_dropped_newer_ones_refused)
{
    start_running(2, CONFIG());
    for (int kind = 0; kind < COORD_EVENT_KIND_COUNT; kind++) {
        for (uint32_t term = 0; term < 3; term++) {
            struct coord_event event = {.kind = (enum coord_event_kind)kind, .term = term};
            ck_assert_int_eq(take(event), 0);
            ck_assert(effects.dropped);
            ck_assert_uint_eq(effects.count, 0);
        }
        expect_broken(take((struct coord_event){.kind = (enum coord_event_kind)kind, .term = 4}));
        ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    }
}
END_TEST

START_TEST(everything_is_dropped_after_the_end)
{
    start(1, CONFIG());
    stop(WIRE_STOP_SIGNAL, 2);
    ck_assert_int_eq(coord_phase(coord), COORD_ABORTED);
    for (int kind = 0; kind < COORD_EVENT_KIND_COUNT; kind++) {
        ck_assert_int_eq(take((struct coord_event){.kind = (enum coord_event_kind)kind, .term = 3}),
                         0);
        ck_assert(effects.dropped);
        ck_assert_uint_eq(effects.count, 0);
    }
}
END_TEST

/* Runs the job to one of its states. */
static void start_in(enum coord_phase phase)
{
    start(1, CONFIG());
    if (phase == COORD_WAITING)
        return;
    host_ready(0, 2);
    registered(0, 2);
    if (phase == COORD_PLACING)
        return;
    ranks_ready(0, 2);
    if (phase == COORD_RUNNING)
        return;
    if (phase == COORD_ABORTING || phase == COORD_ABORTED) {
        stop(WIRE_STOP_KILL, 9);
        if (phase == COORD_ABORTED)
            stopped(0);
        return;
    }
    arrived(0, 0, WIRE_BARRIER_END);
    if (phase == COORD_ENDING)
        return;
    exited(0, 0, 0);
    exited(0, 1, 0);
}

/* 'x' it is taken, '-' it comes too late and is dropped, '!' it is a broken rule. */
static const char *const table[COORD_PHASE_COUNT] = {
    /* In the order of the events: HOST_READY, REGISTERED, RANKS_READY, ARRIVED, RANK_EXITED,
       ABORT, STOP, RANKS_STOPPED, HOST_LOST, TIMER. */
    [COORD_WAITING] = "x!!!!xx!x-", /* REGISTERED needs HOST_READY first */
    [COORD_PLACING] = "!!x!xxx!x-", [COORD_RUNNING] = "!!!xxxx!x-",  [COORD_ENDING] = "!!!!xxx!x-",
    [COORD_ENDED] = "----------",   [COORD_ABORTING] = "-------xxx", [COORD_ABORTED] = "----------",
};

START_TEST(every_event_in_every_state)
{
    for (int kind = 0; kind < COORD_EVENT_KIND_COUNT; kind++) {
        start_in((enum coord_phase)_i);
        ck_assert_int_eq(coord_phase(coord), _i);
        struct coord_event event = {.kind = (enum coord_event_kind)kind, .term = 3};
        switch (event.kind) {
        case COORD_EVENT_RANKS_READY:
            event.ranks_ready.count = 2;
            break;
        case COORD_EVENT_ARRIVED:
            event.arrived.barrier = WIRE_BARRIER_END;
            break;
        case COORD_EVENT_ABORT:
            event.abort.pid = COORD_NOBODY;
            event.abort.cause = WIRE_CAUSE_RANK_ERROR;
            break;
        default:
            break;
        }
        int result = take(event);
        char what = result < 0 ? '!' : effects.dropped ? '-' : 'x';
        ck_assert_msg(what == table[_i][kind], "event %d in state %s: %c", kind,
                      coord_phase_name((enum coord_phase)_i), what);
        tear_down();
    }
}
END_TEST

/* ---- Arithmetic --------------------------------------------------------------------------- */

START_TEST(number_of_processes)
{
    ck_assert_uint_eq(coord_decide_processes(0, 0, 6), 6);
    ck_assert_uint_eq(coord_decide_processes(0, 3, 6), 3);
    ck_assert_uint_eq(coord_decide_processes(0, 9, 6), 9);
    ck_assert_uint_eq(coord_decide_processes(4, 0, 2), 4);
    ck_assert_uint_eq(coord_decide_processes(100, 3, 2), 3);
    ck_assert_uint_eq(coord_decide_processes(2, 3, 8), 2);
    ck_assert_uint_eq(coord_decide_processes(UINT32_MAX, 0, 2), UINT32_MAX);
}
END_TEST

START_TEST(too_many_processes)
{
    start(1, CONFIG(.processes_max = 8));
    host_ready(0, 2);
    registered(0, 9);
    expect_outcome(1, WIRE_CAUSE_PLACEMENT, COORD_NOBODY);
    ck_assert_str_eq(coord_outcome(coord).text, "9 processes are wanted, at most 8 are possible");
    ck_assert(has_effect(COORD_EFFECT_STOP_RANKS));
    tear_down();
    start(1, CONFIG(.processes_max = 8));
    host_ready(0, 2);
    registered(0, 8);
    ck_assert(has_effect(COORD_EFFECT_PLACE));
}
END_TEST

/* p processes on slots 2, 2 and 4, process 0 on the middle host. */
static const struct {
    uint32_t processes;
    uint32_t counts[3]; /* of hosts 7, 0, 3: the order of placement */
} placements[] = {
    {1, {1, 0, 0}},  {2, {2, 0, 0}},  {3, {2, 1, 0}},  {4, {2, 2, 0}},
    {5, {2, 2, 1}},  {8, {2, 2, 4}},  {9, {3, 2, 4}},  {10, {3, 2, 5}},
    {11, {3, 3, 5}}, {12, {3, 3, 6}}, {16, {4, 4, 8}}, {24, {6, 6, 12}},
};

START_TEST(placement)
{
    static const uint32_t order[] = {7, 0, 3};
    start(3, CONFIG());
    host_ready(0, 0);
    host_ready(7, 0);
    host_ready(3, 0);
    registered(7, placements[_i].processes);
    uint32_t next = 0;
    for (unsigned k = 0; k < 3; k++) {
        uint32_t first, count = coord_pids_of(coord, order[k], &first);
        ck_assert_uint_eq(count, placements[_i].counts[k]);
        ck_assert_uint_eq(first, next);
        for (uint32_t i = 0; i < count; i++)
            ck_assert_uint_eq(coord_host_of(coord, first + i), order[k]);
        next += count;
    }
    ck_assert_uint_eq(next, placements[_i].processes);
    ck_assert_uint_eq(coord_processes(coord), placements[_i].processes);
}
END_TEST

/* A host without a process takes no part, except in stopping. */
START_TEST(idle_hosts)
{
    start(3, CONFIG());
    host_ready(0, 0);
    host_ready(7, 0);
    host_ready(3, 0);
    registered(0, 1);
    ranks_ready(0, 1);
    ranks_ready(7, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_PLACING);
    ranks_ready(3, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    expect_broken(arrived(7, 0, WIRE_BARRIER_SYNC));
    arrived(0, 0, WIRE_BARRIER_SYNC);
    ck_assert(has_effect(COORD_EFFECT_RELEASE));
    stop(WIRE_STOP_SIGNAL, 2);
    stopped(0);
    stopped(7);
    ck_assert_int_eq(coord_phase(coord), COORD_ABORTING);
    stopped(3);
    ck_assert_int_eq(coord_phase(coord), COORD_ABORTED);
}
END_TEST

START_TEST(next_consultation)
{
    const uint64_t never = COORD_NEVER;
    ck_assert_uint_eq(coord_next_consult(0, 0, never), never);
    ck_assert_uint_eq(coord_next_consult(0, 1, never), 0);
    ck_assert_uint_eq(coord_next_consult(5, 1, never), 5);
    ck_assert_uint_eq(coord_next_consult(0, 10, never), 9);
    ck_assert_uint_eq(coord_next_consult(9, 10, never), 9);
    ck_assert_uint_eq(coord_next_consult(10, 10, never), 19);
    ck_assert_uint_eq(coord_next_consult(0, 10, 3), 3);
    ck_assert_uint_eq(coord_next_consult(4, 10, 3), 9);
    ck_assert_uint_eq(coord_next_consult(3, 0, 3), 3);
    ck_assert_uint_eq(coord_next_consult(never - 1, 10, never), never);
    ck_assert_uint_eq(coord_next_consult(never, 1, never), never);
    ck_assert_uint_eq(coord_next_consult(1, never, never), never - 1);
}
END_TEST

START_TEST(consulted_every_third_barrier)
{
    start_running(2, CONFIG(.consult_every = 3));
    expect_broken(arrived(0, 1, WIRE_BARRIER_SYNC));
    arrived(0, 2, WIRE_BARRIER_SYNC);
    ck_assert_uint_eq(effects.items[0].consult, 5);
    ck_assert_int_eq(effects.items[0].decision, WIRE_DECISION_GO);
    expect_broken(arrived(0, 2, WIRE_BARRIER_END)); /* gone by */
    expect_broken(arrived(0, 6, WIRE_BARRIER_END)); /* 5 was to be asked first */
    arrived(0, 4, WIRE_BARRIER_END);
    ck_assert_int_eq(effects.items[0].decision, WIRE_DECISION_END);
}
END_TEST

START_TEST(senseless_configurations)
{
    struct coord_config config = CONFIG(.term = 1, .host_count = 1, .hosts = hosts);
    struct coord *state = coord_new(&config);
    ck_assert_ptr_nonnull(state);
    ck_assert_uint_eq(coord_term(state), 1);
    coord_free(state);
    coord_free(NULL);
    config.term = 0;
    ck_assert_ptr_null(coord_new(&config));
    config.term = 1;
    config.host_count = 0;
    ck_assert_ptr_null(coord_new(&config));
    config.host_count = COORD_HOSTS_MAX + 1;
    ck_assert_ptr_null(coord_new(&config));
    config.host_count = 1;
    config.processes_max = WIRE_RANKS_MAX + 1;
    ck_assert_ptr_null(coord_new(&config));
    config.processes_max = 0;
    const struct wire_host twice[] = {{1, 1, "a"}, {1, 1, "b"}}, wide = {1, WIRE_SLOTS_MAX + 1, ""};
    config.hosts = twice;
    config.host_count = 2;
    ck_assert_ptr_null(coord_new(&config));
    config.hosts = &wide;
    config.host_count = 1;
    ck_assert_ptr_null(coord_new(&config));
}
END_TEST

START_TEST(texts_are_bounded)
{
    struct coord_event event = {.kind = COORD_EVENT_KIND_COUNT};
    struct coord_effect effect = {.kind = COORD_EFFECT_KIND_COUNT};
    for (size_t size = 0; size < 40; size++) {
        char text[40];
        memset(text, 'x', sizeof(text));
        coord_event_text(&event, text, size);
        ck_assert(size == 0 ? text[0] == 'x' : memchr(text, '\0', size) != NULL);
        memset(text, 'x', sizeof(text));
        coord_effect_text(&effect, text, size);
        ck_assert(size == 0 ? text[0] == 'x' : memchr(text, '\0', size) != NULL);
    }
    ck_assert_str_eq(coord_phase_name(COORD_PHASE_COUNT), "unknown");

    start_running(2, CONFIG());
    char *text = malloc(3 * COORD_TEXT_MAX);
    memset(text, 't', 3 * COORD_TEXT_MAX - 1);
    text[3 * COORD_TEXT_MAX - 1] = '\0';
    EVENT(ABORT, .abort = {.pid = 0, .cause = WIRE_CAUSE_RANK_ERROR, .text = text});
    free(text);
    ck_assert_uint_eq(strlen(coord_outcome(coord).text), COORD_TEXT_MAX - 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("coord");
    TCase *jobs = tcase_create("jobs");
    tcase_add_checked_fixture(jobs, NULL, tear_down);
    tcase_add_test(jobs, a_job_on_one_host);
    tcase_add_test(jobs, abort_at_superstep_3);
    tcase_add_test(jobs, barriers_of_two_hosts);
    tcase_add_test(jobs, sync_here_and_end_there);
    tcase_add_test(jobs, a_lost_host_ends_the_job);
    tcase_add_test(jobs, early_ends_of_processes);
    tcase_add_test(jobs, requests_to_end);
    tcase_add_test(jobs, stop_works_in_every_state);
    tcase_add_test(jobs, timer_gives_up);
    tcase_add_test(jobs, after_bsp_end);
    tcase_add_test(jobs, exit_instead_of_bsp_end_where_allowed);
    tcase_add_test(jobs, broken_rules_change_nothing);
    tcase_add_test(jobs, old_terms_are_dropped_newer_ones_refused);
    tcase_add_test(jobs, everything_is_dropped_after_the_end);
    tcase_add_loop_test(jobs, every_event_in_every_state, 0, COORD_PHASE_COUNT);
    tcase_add_test(jobs, number_of_processes);
    tcase_add_test(jobs, too_many_processes);
    tcase_add_loop_test(jobs, placement, 0, sizeof(placements) / sizeof(placements[0]));
    tcase_add_test(jobs, idle_hosts);
    tcase_add_test(jobs, next_consultation);
    tcase_add_test(jobs, consulted_every_third_barrier);
    tcase_add_test(jobs, senseless_configurations);
    tcase_add_test(jobs, texts_are_bounded);
    suite_add_tcase(suite, jobs);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
