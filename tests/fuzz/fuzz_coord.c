/* fuzz_coord.c - any sequence of events: Processor Zero keeps its promises.
 *
 * The input is a configuration of 8 bytes and events of 6 bytes:
 *   hosts, limit, largest number of processes, consult_every, abort_at, snapshots (bits),
 *   by_node, 1 unused
 *   kind, term, host, and three numbers whose meaning depends on the kind */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/core/coord.h"

#define HOSTS       4u
#define RANKS       12u
#define CONFIG_SIZE 8u
#define EVENT_SIZE  6u
#define TERM        2u

/* What is known of the job from outside. */
struct watch {
    struct coord *coord;
    uint32_t host_count;
    bool arrived[HOSTS];
    unsigned finished;
    bool stopping;
};

static struct coord *configure(const uint8_t *bytes, uint32_t *host_count)
{
    static const struct wire_host hosts[HOSTS] = {{0, 1, ""}, {1, 2, ""}, {2, 0, ""}, {3, 3, ""}};
    struct coord_config config = {.term = TERM,
                                  .host_count = 1 + bytes[0] % HOSTS,
                                  .hosts = hosts,
                                  .process_limit = bytes[1] % (RANKS + 2),
                                  .processes_max = 1 + bytes[2] % RANKS,
                                  .by_node = bytes[6] & 1,
                                  .consult_every = bytes[3] % 5,
                                  .abort_at = bytes[4] < 8 ? bytes[4] : COORD_NEVER,
                                  .snapshots = bytes[5] & 1,
                                  .recover = true,
                                  .restore = (bytes[5] & 3) == 3,
                                  .wanted = COORD_NEVER,
                                  .stop_on_failure = bytes[5] & 4,
                                  .stop_on_late_failure = bytes[5] & 8,
                                  .copies = bytes[5] & 8 ? 2 : 1,
                                  .rule = {(bytes[5] >> 4) % 4, 1 + (bytes[5] >> 6), 0.05}};
    *host_count = config.host_count;
    return coord_new(&config);
}

/* What the events of snapshots say. */
static void fill_snapshot_event(struct coord_event *event, const uint8_t *bytes)
{
    static const uint64_t pids[] = {0, 1, 2, 3, 11, 12};
    switch (event->kind) {
    case COORD_EVENT_TIMER:
        event->timer.timer = bytes[3] % (COORD_TIMER_COUNT + 1);
        break;
    case COORD_EVENT_HELD:
        event->held.name = (struct coord_name){bytes[3] % 4, bytes[4] % 4};
        event->held.processes = bytes[5] % 14;
        event->held.manifest = bytes[5] & 16;
        event->held.all = bytes[5] & 32;
        event->held.images = (struct wire_numbers){pids, bytes[3] / 64};
        event->held.copies = (struct wire_numbers){pids, bytes[4] / 50};
        break;
    case COORD_EVENT_STAGED:
        event->staged.count = bytes[3] % RANKS;
        break;
    case COORD_EVENT_CAPTURED:
        event->captured.superstep = bytes[3];
        event->captured.pause_ns = bytes[4];
        break;
    case COORD_EVENT_IMAGE_DURABLE:
        event->image_durable.superstep = bytes[3];
        event->image_durable.image.pid = bytes[4] % (RANKS + 1);
        event->image_durable.image.digest =
            (struct wire_bytes){pids, bytes[5] % (WIRE_DIGEST_MAX + 2)};
        break;
    case COORD_EVENT_IMAGE_FAILED:
        event->image_failed.superstep = bytes[3];
        event->image_failed.pid = bytes[4] % (RANKS + 1);
        event->image_failed.cause = bytes[5] % WIRE_CAUSE_COUNT;
        break;
    case COORD_EVENT_PERSISTED:
        event->persisted.superstep = bytes[3];
        event->persisted.error = bytes[4] % 3;
        break;
    case COORD_EVENT_KNOWN:
        event->known.superstep = bytes[3];
        break;
    case COORD_EVENT_SAVE:
        event->save.stop = bytes[3] & 1;
        event->save.signal = bytes[4];
        break;
    default:
        break;
    }
}

static struct coord_event make_event(const uint8_t *bytes)
{
    struct coord_event event = {.kind = bytes[0] % (COORD_EVENT_KIND_COUNT + 1),
                                .term = bytes[1] < 250 ? TERM : bytes[1] % 4,
                                .host = bytes[2] % (HOSTS + 1)};
    switch (event.kind) {
    case COORD_EVENT_HOST_READY:
        event.host_ready.slots = bytes[3];
        break;
    case COORD_EVENT_REGISTERED:
        event.registered.wanted = bytes[3] % (RANKS + 2);
        break;
    case COORD_EVENT_RANKS_READY:
        event.ranks_ready.count = bytes[3] % RANKS;
        break;
    case COORD_EVENT_ARRIVED:
        event.arrived.superstep = bytes[3] < 255 ? bytes[3] : COORD_NEVER;
        event.arrived.barrier = bytes[4] % 3;
        break;
    case COORD_EVENT_RANK_EXITED:
        event.rank_exited.pid = bytes[3] % (RANKS + 1);
        event.rank_exited.status = bytes[4];
        event.rank_exited.signal = bytes[5] % 3 ? 0 : bytes[5];
        break;
    case COORD_EVENT_ABORT:
        event.abort.pid = (int8_t)bytes[3];
        event.abort.cause = bytes[4] % (WIRE_CAUSE_COUNT + 1);
        event.abort.status = bytes[5];
        event.abort.text = bytes[5] % 2 ? "text" : NULL;
        break;
    case COORD_EVENT_STOP:
        event.stop.how = bytes[3] % (WIRE_STOP_COUNT + 1);
        event.stop.signal = bytes[4];
        break;
    default:
        fill_snapshot_event(&event, bytes);
        break;
    }
    return event;
}

static void check_release(struct watch *watch, const struct coord_effect *effect)
{
    for (uint32_t i = 0; i < watch->host_count; i++) {
        uint32_t first;
        if (coord_pids_of(watch->coord, i, &first) > 0)
            FUZZ_CHECK(watch->arrived[i]);
        watch->arrived[i] = false;
    }
    FUZZ_CHECK(effect->consult > effect->superstep);
}

static void check_effects(struct watch *watch, const struct coord_effects *effects)
{
    FUZZ_CHECK(effects->count <= COORD_EFFECTS_MAX);
    for (uint32_t i = 0; i < effects->count; i++) {
        const struct coord_effect *effect = &effects->items[i];
        char text[256];
        coord_effect_text(effect, text, sizeof(text));
        FUZZ_CHECK(effect->term == TERM);
        FUZZ_CHECK(watch->finished == 0);
        if (i > 0)
            FUZZ_CHECK(effect[-1].kind <= effect->kind);
        if (watch->stopping)
            FUZZ_CHECK(effect->kind >= COORD_EFFECT_END);
        if (effect->kind == COORD_EFFECT_PLACE)
            for (uint32_t pid = 0; pid < effect->processes; pid++)
                FUZZ_CHECK(coord_host_of(watch->coord, pid) < watch->host_count);
        if (effect->kind == COORD_EFFECT_RELEASE)
            check_release(watch, effect);
        watch->stopping = watch->stopping || effect->kind == COORD_EFFECT_STOP_RANKS;
        watch->finished += effect->kind == COORD_EFFECT_FINISH;
    }
}

static void step(struct watch *watch, const struct coord_event *event)
{
    struct coord_effects effects;
    char text[256];
    enum coord_phase before = coord_phase(watch->coord);
    uint32_t processes = coord_processes(watch->coord);
    coord_event_text(event, text, sizeof(text));
    if (event->kind == COORD_EVENT_ARRIVED && event->host < watch->host_count)
        watch->arrived[event->host] = true;
    int result = coord_step(watch->coord, event, &effects);
    if (result < 0) {
        FUZZ_CHECK(result == -EPROTO && effects.count == 0 && effects.complaint[0]);
        FUZZ_CHECK(coord_phase(watch->coord) == before);
        FUZZ_CHECK(coord_processes(watch->coord) == processes);
    }
    if (result < 0 || effects.dropped) {
        FUZZ_CHECK(effects.count == 0);
        return;
    }
    check_effects(watch, &effects);
    enum coord_phase phase = coord_phase(watch->coord);
    bool over = phase == COORD_ENDED || phase == COORD_ABORTED || phase == COORD_FAILED;
    FUZZ_CHECK(over == (watch->finished == 1));
    struct coord_outcome outcome = coord_outcome(watch->coord);
    if (outcome.cause != WIRE_CAUSE_NONE)
        FUZZ_CHECK(outcome.status != 0);
    if (phase == COORD_ABORTED)
        FUZZ_CHECK(outcome.cause != WIRE_CAUSE_NONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < CONFIG_SIZE)
        return 0;
    struct watch watch = {0};
    watch.coord = configure(bytes, &watch.host_count);
    FUZZ_CHECK(watch.coord);
    for (size_t at = CONFIG_SIZE; at + EVENT_SIZE <= size; at += EVENT_SIZE) {
        struct coord_event event = make_event(bytes + at);
        step(&watch, &event);
    }
    /* Whatever came before: asked to stop, and the timer run out, it ends. */
    struct coord_event stop = {.kind = COORD_EVENT_STOP, .term = TERM};
    struct coord_event timer = {.kind = COORD_EVENT_TIMER, .term = TERM};
    step(&watch, &stop);
    step(&watch, &timer);
    FUZZ_CHECK(watch.finished == 1);
    coord_free(watch.coord);
    return 0;
}

/* Jobs that go well, on one host and on two, and jobs that do not: a line for the configuration,
 * and one for each event. */
/* clang-format off */
static const uint8_t seeds[][CONFIG_SIZE + 12 * EVENT_SIZE] = {
    /* one host, two processes, bsp_end, exits */
    {0, 0, 11, 0, 9, 0, 0, 0,
     COORD_EVENT_HOST_READY, 2, 0, 2, 0, 0,
     COORD_EVENT_REGISTERED, 2, 0, 2, 0, 0,
     COORD_EVENT_RANKS_READY, 2, 0, 2, 0, 0,
     COORD_EVENT_ARRIVED, 2, 0, 5, WIRE_BARRIER_END, 0,
     COORD_EVENT_RANK_EXITED, 2, 0, 1, 0, 1,
     COORD_EVENT_RANK_EXITED, 2, 0, 0, 7, 1},
    /* two hosts, a barrier each, bsp_end */
    {1, 0, 11, 0, 9, 0, 0, 0,
     COORD_EVENT_HOST_READY, 2, 0, 2, 0, 0,
     COORD_EVENT_HOST_READY, 2, 1, 2, 0, 0,
     COORD_EVENT_REGISTERED, 2, 0, 2, 0, 0,
     COORD_EVENT_RANKS_READY, 2, 0, 1, 0, 0,
     COORD_EVENT_RANKS_READY, 2, 1, 1, 0, 0,
     COORD_EVENT_ARRIVED, 2, 0, 0, WIRE_BARRIER_SYNC, 0,
     COORD_EVENT_ARRIVED, 2, 1, 0, WIRE_BARRIER_SYNC, 0,
     COORD_EVENT_ARRIVED, 2, 0, 1, WIRE_BARRIER_END, 0,
     COORD_EVENT_ARRIVED, 2, 1, 1, WIRE_BARRIER_END, 0,
     COORD_EVENT_RANK_EXITED, 2, 1, 1, 0, 1,
     COORD_EVENT_RANK_EXITED, 2, 0, 0, 0, 1},
    /* told to abort at superstep 3 */
    {0, 0, 11, 0, 3, 0, 0, 0,
     COORD_EVENT_HOST_READY, 2, 0, 2, 0, 0,
     COORD_EVENT_REGISTERED, 2, 0, 2, 0, 0,
     COORD_EVENT_RANKS_READY, 2, 0, 2, 0, 0,
     COORD_EVENT_ARRIVED, 2, 0, 3, WIRE_BARRIER_SYNC, 0,
     COORD_EVENT_RANKS_STOPPED, 2, 0, 0, 0, 0},
    /* one exits where that is allowed, another waits */
    {1, 0, 11, 0, 9, 1, 0, 0,
     COORD_EVENT_HOST_READY, 2, 0, 2, 0, 0,
     COORD_EVENT_HOST_READY, 2, 1, 2, 0, 0,
     COORD_EVENT_REGISTERED, 2, 0, 2, 0, 0,
     COORD_EVENT_RANKS_READY, 2, 0, 1, 0, 0,
     COORD_EVENT_RANKS_READY, 2, 1, 1, 0, 0,
     COORD_EVENT_RANK_EXITED, 2, 1, 1, 0, 1,
     COORD_EVENT_ARRIVED, 2, 0, 0, WIRE_BARRIER_SYNC, 0,
     COORD_EVENT_RANKS_STOPPED, 2, 0, 0, 0, 0,
     COORD_EVENT_HOST_LOST, 2, 1, 0, 0, 0},
    /* a host is lost, a process calls bsp_abort */
    {2, 3, 11, 2, 9, 0, 0, 0,
     COORD_EVENT_HOST_READY, 2, 0, 2, 0, 0,
     COORD_EVENT_HOST_READY, 2, 2, 2, 0, 0,
     COORD_EVENT_HOST_READY, 2, 1, 2, 0, 0,
     COORD_EVENT_REGISTERED, 2, 2, 0, 0, 0,
     COORD_EVENT_ABORT, 2, 1, 0, WIRE_CAUSE_ABORT_CALLED, 1,
     COORD_EVENT_HOST_LOST, 2, 1, 0, 0, 0,
     COORD_EVENT_RANKS_STOPPED, 2, 0, 0, 0, 0,
     COORD_EVENT_TIMER, 2, 0, 0, 0, 0},
};
/* clang-format on */

size_t fuzz_seed(unsigned number, uint8_t *bytes)
{
    if (number >= sizeof(seeds) / sizeof(seeds[0]))
        return 0;
    memcpy(bytes, seeds[number], sizeof(seeds[number]));
    return sizeof(seeds[number]);
}
