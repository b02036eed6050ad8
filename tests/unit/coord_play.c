/* coord_play.c - hands events to a machine and writes down what comes of it. */
#include "tests/unit/coord_play.h"

#include <check.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct coord *coord;
struct coord_effects effects;
static char trace[16384];
size_t trace_used;
uint64_t play_now_ns;

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

int take(struct coord_event event)
{
    char text[256];
    event.now_ns = play_now_ns;
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

void host_ready(uint32_t host, uint32_t slots)
{
    EVENT(HOST_READY, .host = host, .host_ready.slots = slots);
}

void registered(uint32_t host, uint32_t wanted)
{
    EVENT(REGISTERED, .host = host, .registered.wanted = wanted);
}

int ranks_ready(uint32_t host, uint32_t count)
{
    return EVENT(RANKS_READY, .host = host, .ranks_ready.count = count);
}

int arrived(uint32_t host, uint64_t superstep, enum wire_barrier barrier)
{
    return EVENT(ARRIVED, .host = host, .arrived = {.superstep = superstep, .barrier = barrier});
}

int exited(uint32_t host, uint32_t pid, uint32_t status)
{
    return EVENT(RANK_EXITED, .host = host, .rank_exited = {.pid = pid, .status = status});
}

int killed(uint32_t host, uint32_t pid, uint32_t signal)
{
    return EVENT(RANK_EXITED, .host = host, .rank_exited = {.pid = pid, .signal = signal});
}

int stopped(uint32_t host)
{
    return EVENT(RANKS_STOPPED, .host = host);
}

int lost(uint32_t host)
{
    return EVENT(HOST_LOST, .host = host);
}

int stop(enum wire_stop_how how, uint32_t signal)
{
    return EVENT(STOP, .stop = {.how = how, .signal = signal, .text = "why"});
}

int abort_job(uint32_t host, int32_t pid, enum wire_cause cause, int32_t status)
{
    return EVENT(ABORT, .host = host,
                 .abort = {.pid = pid, .cause = cause, .status = status, .text = "a text"});
}

static const struct wire_host hosts[] = {{0, 2, "a"}, {7, 2, "b"}, {3, 4, "c"}};

void start(uint32_t host_count, struct coord_config config)
{
    config.term = 3;
    config.host_count = host_count;
    config.hosts = hosts;
    config.recover = true;
    config.moved = moved;
    config.context = &coord;
    coord = coord_new(&config);
    ck_assert_ptr_nonnull(coord);
    play_now_ns = 0;
    trace_used = 0;
    trace[0] = '\0';
}

void tear_down(void)
{
    coord_free(coord);
    coord = NULL;
}

/* To where bsp_begin has returned; the trace begins after that. */
void start_running(uint32_t processes, struct coord_config config)
{
    start(1, config);
    host_ready(0, 2);
    registered(0, processes);
    ranks_ready(0, processes);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    trace_used = 0;
}

int durable(uint32_t host, uint64_t superstep, uint32_t pid)
{
    return EVENT(
        IMAGE_DURABLE, .host = host,
        .image_durable = {.superstep = superstep,
                          .image = {.pid = pid, .size = 100 + pid, .digest = {"digest", 6}}});
}

int captured(uint32_t host, uint64_t superstep)
{
    return EVENT(CAPTURED, .host = host, .captured = {.superstep = superstep, .pause_ns = 5});
}

int persisted(uint32_t host, uint64_t superstep, uint32_t error)
{
    return EVENT(PERSISTED, .host = host, .persisted = {.superstep = superstep, .error = error});
}

int known(uint32_t host, uint64_t superstep)
{
    return known_with_costs(host, superstep, 0, 0);
}

int known_with_costs(uint32_t host, uint64_t superstep, uint64_t busy_ns, uint64_t copied_ns)
{
    return EVENT(KNOWN, .host = host,
                 .known = {.superstep = superstep, .busy_ns = busy_ns, .copied_ns = copied_ns});
}

int image_failed(uint32_t host, uint64_t superstep, uint32_t pid, enum wire_cause cause)
{
    return EVENT(
        IMAGE_FAILED, .host = host,
        .image_failed = {.superstep = superstep, .pid = pid, .cause = cause, .text = "no room"});
}

int held(uint32_t host, uint64_t superstep, uint32_t term, struct wire_numbers copies)
{
    return EVENT(HELD, .host = host,
                 .held = {.name = {superstep, term},
                          .processes = 4,
                          .manifest = true,
                          .all = true,
                          .copies = copies});
}

int save_now(bool stop)
{
    return EVENT(SAVE, .save = {.stop = stop, .signal = 15, .grace_ms = 30000});
}

int timer(enum coord_timer which)
{
    return EVENT(TIMER, .timer.timer = which);
}

void expect_trace(const char *golden)
{
    ck_assert_msg(strcmp(trace, golden) == 0, "the trace is\n%sinstead of\n%s", trace, golden);
}

void expect_outcome(int32_t status, enum wire_cause cause, int32_t pid)
{
    struct coord_outcome outcome = coord_outcome(coord);
    ck_assert_int_eq(outcome.cause, cause);
    ck_assert_int_eq(outcome.status, status);
    ck_assert_int_eq(outcome.pid, pid);
}

/* That the state is as before shows in the trace that goes on. */
void expect_broken(int result)
{
    ck_assert_int_eq(result, -EPROTO);
    ck_assert_str_ne(effects.complaint, "");
    ck_assert_uint_eq(effects.count, 0);
}

bool has_effect(enum coord_effect_kind kind)
{
    for (uint32_t i = 0; i < effects.count; i++)
        if (effects.items[i].kind == kind)
            return true;
    return false;
}

void start_with_snapshot_0(struct coord_config config)
{
    start(1, config);
    host_ready(0, 2);
    registered(0, 2);
    durable(0, 0, 0);
    persisted(0, 0, 0);
    known(0, 0);
    ranks_ready(0, 2);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ck_assert_uint_eq(coord_committed(coord).term, 3);
    trace_used = 0;
}

void take_snapshot(uint64_t superstep)
{
    arrived(0, superstep - 1, WIRE_BARRIER_SYNC);
    captured(0, superstep - 1);
    durable(0, superstep, 0);
    durable(0, superstep, 1);
}
