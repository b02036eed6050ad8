/* coord_play.c - hands messages to a machine and writes down what comes of it. */
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

static void add_effects(void)
{
    char text[256];
    if (effects.dropped)
        add("  dropped\n");
    for (uint32_t i = 0; i < effects.count; i++) {
        coord_effect_text(&effects.items[i], text, sizeof(text));
        if (text[0])
            add("  %s\n", text);
    }
}

int take(struct wire_message message)
{
    bool of_agent = wire_way(message.kind) == WIRE_WAY_TO_ZERO;
    uint32_t from = of_agent ? wire_sender_of(&message) : COORD_BSPRUN;
    char text[256];
    coord_message_text(from, &message, text, sizeof(text));
    add("%s\n", text);
    int result = coord_step(coord, play_now_ns, from, &message, &effects);
    if (result < 0)
        add("  broken: %s\n", effects.complaint);
    add_effects();
    return result;
}

void timer(enum coord_timer which)
{
    char text[80];
    coord_timer_text(3, which, text, sizeof(text));
    add("%s\n", text);
    coord_expire(coord, play_now_ns, which, &effects);
    add_effects();
}

uint32_t host_of(uint32_t pid)
{
    return coord->hosts[coord->home[pid]].id;
}

void host_ready(uint32_t host, uint32_t slots)
{
    SAY(HOST_READY, .host_ready = {.host = host, .slots = slots, .available = WIRE_NEVER});
}

void registered(uint32_t host, uint32_t wanted)
{
    SAY(REGISTERED, .registered = {.host = host, .wanted = wanted});
}

int ranks_ready(uint32_t host, uint32_t count)
{
    return SAY(RANKS_READY, .ranks_ready = {.host = host, .count = count});
}

int arrived(uint32_t host, uint64_t superstep, enum wire_barrier barrier)
{
    return SAY(ARRIVE, .envelope.superstep = superstep,
               .arrive = {.host = host, .barrier = barrier});
}

int exited(uint32_t host, uint32_t pid, uint32_t status)
{
    return SAY(RANK_EXITED, .rank_exited = {.host = host, .pid = pid, .status = status});
}

int killed(uint32_t host, uint32_t pid, uint32_t signal)
{
    return SAY(RANK_EXITED, .rank_exited = {.host = host, .pid = pid, .signal = signal});
}

int stopped(uint32_t host)
{
    return SAY(RANKS_STOPPED, .ranks_stopped.host = host);
}

int lost(uint32_t host)
{
    return SAY(LINK_LOST, .link_lost.peer = host);
}

int stop(enum wire_stop_how how, uint32_t signal)
{
    return SAY(STOP, .stop = {.how = how, .signal = signal, .text = "why"});
}

int abort_job(uint32_t host, int32_t pid, enum wire_cause cause, int32_t status)
{
    return SAY(
        ABORT,
        .abort = {.host = host, .pid = pid, .cause = cause, .status = status, .text = "a text"});
}

static const struct wire_host hosts[] = {{0, 2, "a"}, {7, 2, "b"}, {3, 4, "c"}, {5, 2, "d"}};

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

static int durable_as(uint32_t host, uint64_t superstep, uint32_t pid, bool compared)
{
    return SAY(IMAGE_DURABLE, .envelope.superstep = superstep,
               .image_durable = {.host = host,
                                 .pid = pid,
                                 .compared = compared,
                                 .facts = {.size = 100 + pid, .digest = "digest"}});
}

int durable(uint32_t host, uint64_t superstep, uint32_t pid)
{
    return durable_as(host, superstep, pid, true);
}

int durable_uncompared(uint32_t host, uint64_t superstep, uint32_t pid)
{
    return durable_as(host, superstep, pid, false);
}

int captured(uint32_t host, uint64_t superstep)
{
    return SAY(CAPTURED, .envelope.superstep = superstep,
               .captured = {.host = host, .pause_ns = 5});
}

int persisted(uint32_t host, uint64_t superstep, uint32_t error)
{
    return SAY(PERSISTED, .envelope.superstep = superstep,
               .persisted = {.host = host, .error = error});
}

int known(uint32_t host, uint64_t superstep)
{
    return known_with_costs(host, superstep, 0, 0);
}

int known_with_costs(uint32_t host, uint64_t superstep, uint64_t busy_ns, uint64_t copied_ns)
{
    return SAY(KNOWN, .envelope.superstep = superstep,
               .known = {.host = host, .busy_ns = busy_ns, .copied_ns = copied_ns});
}

int image_failed(uint32_t host, uint64_t superstep, uint32_t pid, enum wire_cause cause)
{
    return SAY(IMAGE_FAILED, .envelope.superstep = superstep,
               .image_failed = {.host = host, .pid = pid, .cause = cause, .text = "no room"});
}

int held(uint32_t host, uint64_t superstep, uint32_t term, struct wire_numbers copies)
{
    return SAY(HELD, .held = {.host = host,
                              .name = {superstep, term},
                              .processes = 4,
                              .manifest = true,
                              .all = true,
                              .copies = copies});
}

int save_now(bool stop)
{
    return SAY(SAVE, .save = {.stop = stop, .signal = 15, .grace_ms = 30000});
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

bool has_message(enum wire_kind kind)
{
    for (uint32_t i = 0; i < effects.count; i++)
        if (effects.items[i].kind <= COORD_EFFECT_SEND && effects.items[i].message.kind == kind)
            return true;
    return false;
}

const struct wire_message *message_of(enum wire_kind kind)
{
    for (uint32_t i = 0; i < effects.count; i++)
        if (effects.items[i].kind <= COORD_EFFECT_SEND && effects.items[i].message.kind == kind)
            return &effects.items[i].message;
    ck_abort_msg("%s is not said", wire_kind_name(kind));
}

const struct wire_message *said(void)
{
    ck_assert_uint_gt(effects.count, 0);
    return &effects.items[0].message;
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
    ck_assert_uint_eq(coord->committed.term, 3);
    trace_used = 0;
}

void start_cells(struct coord_config config)
{
    static const uint32_t hosts[] = {0, 7, 3, 5};

    start(4, config);
    for (size_t i = 0; i < 4; i++)
        host_ready(hosts[i], 1);
    registered(0, 2);
    ck_assert_uint_eq(coord->processes, 2);
    durable(0, 0, 0);
    persisted(0, 0, 0);
    for (size_t i = 0; i < 4; i++) {
        known(hosts[i], 0);
        ck_assert_int_eq(ranks_ready(hosts[i], 1), 0);
    }
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
}

void take_snapshot(uint64_t superstep)
{
    arrived(0, superstep - 1, WIRE_BARRIER_SYNC);
    captured(0, superstep - 1);
    durable(0, superstep, 0);
    durable(0, superstep, 1);
}
