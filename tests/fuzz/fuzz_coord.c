/* fuzz_coord.c - any sequence of messages and timers: Processor Zero keeps its promises.
 *
 * The input is a configuration of 8 bytes and events of 6 bytes:
 *   hosts, limit, largest number of processes, consult_every, abort_at, snapshots (bits),
 *   by_node (bit), balance (bit), in the place of another one (bit)
 *   kind, term, host, and three numbers whose meaning depends on the kind */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/core/state.h"

#define HOSTS       4u
#define RANKS       12u
#define CONFIG_SIZE 8u
#define EVENT_SIZE  6u
#define TERM        2u

/* By the first byte of an event.  Of WIRE_KIND_COUNT there is no message. */
#define TIMER       WIRE_JOIN /* which Processor Zero is never told */
static const enum wire_kind kinds[] = {
    WIRE_HOST_READY,   WIRE_REGISTERED,    WIRE_RANKS_READY,   WIRE_ARRIVE,    WIRE_RANK_EXITED,
    WIRE_ABORT,        WIRE_STOP,          WIRE_RANKS_STOPPED, WIRE_LINK_LOST, TIMER,
    WIRE_HELD,         WIRE_TERM_RECORDED, WIRE_STAGED,        WIRE_CAPTURED,  WIRE_IMAGE_DURABLE,
    WIRE_IMAGE_FAILED, WIRE_PERSISTED,     WIRE_KNOWN,         WIRE_SAVE,      WIRE_CLOSED,
    WIRE_AHEAD_READY,  WIRE_KIND_COUNT,
};

/* What is known of the job from outside. */
struct watch {
    struct coord *coord;
    uint32_t host_count;
    bool arrived[HOSTS];
    unsigned finished;
    uint64_t now_ns;
    bool stopping;
    bool takes_over; /* then the program has begun, and hosts give their ACCOUNT */
};

/* Moves may take any time. */
static const struct balance_rule eager = {
    .budget = 1e9, .alpha_least = 1, .alpha_most = 2, .moves = RANKS};

/* Two or three of the hosts have the same process, 3 has another one. */
static void succeed(struct coord_config *config, const uint8_t *bytes)
{
    static const uint64_t homes[] = {0, 3}, leads[] = {1, 0, 2, 0};

    config->host_count = HOSTS;
    config->processes_max = RANKS;
    config->replicas = 2;
    config->predecessor.homes = (struct wire_numbers){homes, 1 + bytes[0] % 2};
    config->predecessor.leads = (struct wire_numbers){leads, 2 + bytes[1] % 2 * 2};
    config->predecessor.committed = (struct bspz_snapshot_name){bytes[2] % 4, bytes[3] % 3};
}

static struct coord *configure(const uint8_t *bytes, uint32_t *host_count)
{
    static const struct wire_host hosts[HOSTS] = {{0, 1, ""}, {1, 2, ""}, {2, 0, ""}, {3, 3, ""}};
    struct coord_config config = {.term = TERM,
                                  .host_count = 1 + bytes[0] % HOSTS,
                                  .hosts = hosts,
                                  .process_limit = bytes[1] % (RANKS + 2),
                                  .processes_max = 1 + bytes[2] % RANKS,
                                  .by_node = bytes[6] & 1,
                                  .balance = bytes[7] & 1,
                                  .balance_rule = &eager,
                                  .look_ns = 1,
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
    if (bytes[7] & 2)
        succeed(&config, bytes);
    *host_count = config.host_count;
    return coord_new(&config);
}

/* What a message says of snapshots; `text` and lists are constants. */
static void fill_snapshot_message(struct wire_message *message, const uint8_t *bytes)
{
    static const uint64_t pids[] = {0, 1, 2, 3, 11, 12};
    static const struct wire_move moves[] = {{1, 2}, {3, 1}, {90000, 99}};
    static const uint64_t needs[14] = {3, 0, 1, 9, 2, WIRE_NEVER, 4, 1, 1, 1, 7, 5, 5, 2};
    switch (message->kind) {
    case WIRE_HELD:
        message->held.name.superstep = bytes[3] % 4;
        message->held.name.term = bytes[4] % 4;
        message->held.processes = bytes[5] % 14;
        message->held.manifest = bytes[5] & 16;
        message->held.all = bytes[5] & 32;
        message->held.images = (struct wire_numbers){pids, bytes[3] / 64};
        message->held.copies = (struct wire_numbers){pids, bytes[4] / 50};
        message->held.needs = (struct wire_numbers){needs, bytes[3] & 8 ? bytes[5] % 14 : 0};
        return;
    case WIRE_STAGED:
        message->staged.count = bytes[3] % RANKS;
        return;
    case WIRE_SAVE:
        message->save.stop = bytes[3] & 1;
        message->save.move = bytes[3] & 2;
        message->save.expected = (struct wire_move_list){moves, bytes[5] % 4};
        message->save.signal = bytes[4];
        return;
    case WIRE_AHEAD_READY:
        message->ahead_ready.name = (struct bspz_snapshot_name){bytes[3], TERM - (bytes[5] & 1)};
        message->ahead_ready.count = bytes[4] % 4;
        return;
    case WIRE_CAPTURED:
        message->captured.pause_ns = bytes[4];
        message->captured.output = (struct wire_numbers){pids, bytes[5] % 3};
        break;
    case WIRE_IMAGE_DURABLE:
        message->image_durable.pid = bytes[4] % (RANKS + 1);
        message->image_durable.facts.digest[0] = bytes[5] % 34;
        break;
    case WIRE_IMAGE_FAILED:
        message->image_failed.pid = bytes[4] % (RANKS + 1);
        message->image_failed.cause = bytes[5] % WIRE_CAUSE_COUNT;
        break;
    case WIRE_PERSISTED:
        message->persisted.error = bytes[4] % 3;
        break;
    default: /* KNOWN */
        break;
    }
    message->envelope.superstep = bytes[3];
}

/* Of so many processes from one on, up to a superstep. */
static struct wire_measure_list make_measures(uint32_t count, uint32_t first, uint64_t superstep)
{
    static struct wire_measure measures[RANKS];
    uint64_t work_ns = (superstep + 1) * 1000000000u;

    count %= RANKS + 1;
    for (uint32_t i = 0; i < count; i++)
        measures[i] = (struct wire_measure){.pid = first + i,
                                            .compute_ns = work_ns,
                                            .work_ns = i % 2 ? work_ns : work_ns * 7,
                                            .ran_ns = work_ns,
                                            .waited_ns = first % 3 * work_ns,
                                            .bytes = 1 << 20,
                                            .bound = i == 5};
    return (struct wire_measure_list){measures, count};
}

/* Of as many processes as most jobs here have, or another number. */
static struct wire_numbers make_requests(uint8_t count)
{
    static const uint64_t requests[RANKS] = {7, 0, WIRE_NEVER, 3};

    return (struct wire_numbers){requests, count % (RANKS + 1)};
}

static struct wire_message make_message(enum wire_kind kind, const uint8_t *bytes)
{
    struct wire_message message = {.kind = kind,
                                   .envelope.term = bytes[1] < 250 ? TERM : bytes[1] % 4};
    uint32_t host = bytes[2] % (HOSTS + 1);
    if (wire_way(kind) == WIRE_WAY_TO_ZERO)
        *wire_sender(&message) = host;
    switch (kind) {
    case WIRE_HOST_READY:
        message.host_ready.slots = bytes[3];
        message.host_ready.available = bytes[4] < 128 ? WIRE_NEVER : bytes[4] % 16;
        break;
    case WIRE_ACCOUNT:
        message.account.decided = bytes[3] % 16;
        message.account.consult = bytes[3] >= 128 ? COORD_NEVER : bytes[4] % 32;
        message.account.captures = bytes[5] % 8 ? 0 : bytes[4] % 16;
        message.account.committed = (struct bspz_snapshot_name){bytes[5] % 16, bytes[4] % 4};
        message.account.ended = bytes[3] >= 224;
        message.account.runs = bytes[4] < 240;
        message.account.stopped = bytes[5] >= 250;
        message.account.over = bytes[5] == 249;
        message.account.halt_superstep = bytes[4] % 16;
        message.account.halt_round = bytes[5] % 8;
        message.account.halt_requests = make_requests(bytes[4]);
        break;
    case WIRE_OBJECTS:
        message.objects.calls = bytes[3] % 2;
        break;
    case WIRE_HALTED:
        message.halted.round = bytes[3] % 8;
        message.halted.requests = make_requests(bytes[4]);
        break;
    case WIRE_REGISTERED:
        message.registered.wanted = bytes[3] % (RANKS + 2);
        break;
    case WIRE_RANKS_READY:
        message.ranks_ready.count = bytes[3] % RANKS;
        break;
    case WIRE_ARRIVE:
        message.envelope.superstep = bytes[3] < 255 ? bytes[3] : COORD_NEVER;
        message.arrive.barrier = bytes[4] % 3;
        message.arrive.measures = make_measures(bytes[5], bytes[4] / 3u % RANKS, bytes[3]);
        message.arrive.busy_ns = message.arrive.busy_steps = bytes[3];
        break;
    case WIRE_RANK_EXITED:
        message.rank_exited.pid = bytes[3] % (RANKS + 1);
        message.rank_exited.status = bytes[4];
        message.rank_exited.signal = bytes[5] % 3 ? 0 : bytes[5];
        break;
    case WIRE_ABORT:
        message.abort.pid = (int8_t)bytes[3];
        message.abort.cause = bytes[4] % (WIRE_CAUSE_COUNT + 1);
        message.abort.status = bytes[5];
        message.abort.text = bytes[5] % 2 ? "text" : NULL;
        break;
    case WIRE_STOP:
        message.stop.how = bytes[3] % (WIRE_STOP_COUNT + 1);
        message.stop.signal = bytes[4];
        break;
    case WIRE_LINK_LOST:
        message.link_lost.peer = host;
        break;
    case WIRE_RANKS_STOPPED:
    case WIRE_TERM_RECORDED:
    case WIRE_CLOSED:
    case WIRE_KIND_COUNT:
        break;
    default:
        fill_snapshot_message(&message, bytes);
        break;
    }
    return message;
}

static void check_release(struct watch *watch, const struct wire_message *message)
{
    for (uint32_t i = 0; i < watch->host_count; i++) {
        if (watch->coord->hosts[i].count > 0 && !watch->takes_over)
            FUZZ_CHECK(watch->arrived[i]);
        watch->arrived[i] = false;
    }
    FUZZ_CHECK(message->release.consult > message->envelope.superstep);
}

static void check_message(struct watch *watch, const struct wire_message *message)
{
    struct bspz_buffer buffer = {0};
    FUZZ_CHECK(wire_encode(message, &buffer, NULL, 0) == 0);
    bspz_buffer_free(&buffer);
    if (watch->stopping)
        FUZZ_CHECK(message->kind == WIRE_END);
    if (message->kind == WIRE_PLACE)
        for (uint32_t pid = 0; pid < message->place.processes; pid++)
            FUZZ_CHECK(message->place.host_of.items[pid] < watch->host_count);
    if (message->kind == WIRE_RELEASE)
        check_release(watch, message);
    watch->stopping = watch->stopping || message->kind == WIRE_STOP_RANKS;
}

static void check_effects(struct watch *watch, const struct coord_effects *effects)
{
    FUZZ_CHECK(effects->count <= COORD_EFFECTS_MAX);
    for (uint32_t i = 0; i < effects->count; i++) {
        const struct coord_effect *effect = &effects->items[i];
        char text[256];
        coord_effect_text(effect, text, sizeof(text));
        FUZZ_CHECK(effect->message.envelope.term == TERM);
        /* Only a host that is ready too late is still told something. */
        FUZZ_CHECK(watch->finished == 0 ||
                   (effect->kind == COORD_EFFECT_SEND && effect->message.kind == WIRE_END));
        if (effect->kind <= COORD_EFFECT_SEND)
            check_message(watch, &effect->message);
        if (i > 0 && effect->kind <= COORD_EFFECT_SEND)
            FUZZ_CHECK(effect[-1].kind <= COORD_EFFECT_SEND &&
                       effect->message.kind != WIRE_PERSIST && effect->message.kind != WIRE_CHOSEN);
        if (i > 0 && effect->kind > COORD_EFFECT_SEND)
            FUZZ_CHECK(effect[-1].kind <= effect->kind);
        watch->finished += effect->kind == COORD_EFFECT_FINISH;
    }
}

static int take(struct watch *watch, enum wire_kind kind, const uint8_t *bytes,
                struct coord_effects *effects)
{
    struct wire_message message =
        make_message(watch->takes_over && kind == WIRE_REGISTERED ? WIRE_ACCOUNT : kind, bytes);
    kind = message.kind;
    watch->now_ns += 1000000;
    uint32_t from = COORD_BSPRUN;
    char text[256];
    if (kind == TIMER) {
        coord_timer_text(TERM, bytes[3] % (COORD_TIMER_COUNT + 1), text, sizeof(text));
        coord_expire(watch->coord, watch->now_ns, bytes[3] % (COORD_TIMER_COUNT + 1), effects);
        return 0;
    }
    if (wire_way(kind) == WIRE_WAY_TO_ZERO)
        from = wire_sender_of(&message);
    coord_message_text(from, &message, text, sizeof(text));
    if (kind == WIRE_ARRIVE && from < watch->host_count)
        watch->arrived[from] = true;
    return coord_step(watch->coord, watch->now_ns, from, &message, effects);
}

static void step(struct watch *watch, enum wire_kind kind, const uint8_t *bytes)
{
    struct coord_effects effects;
    enum coord_phase before = coord_phase(watch->coord);
    uint32_t processes = watch->coord->processes;
    int result = take(watch, kind, bytes, &effects);
    if (result < 0) {
        FUZZ_CHECK(result == -EPROTO && effects.count == 0 && effects.complaint[0]);
        FUZZ_CHECK(coord_phase(watch->coord) == before);
        FUZZ_CHECK(watch->coord->processes == processes);
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
    watch.takes_over = bytes[7] & 2;
    for (size_t at = CONFIG_SIZE; at + EVENT_SIZE <= size; at += EVENT_SIZE)
        step(&watch, kinds[bytes[at] % (sizeof(kinds) / sizeof(*kinds))], bytes + at);
    /* Whatever came before: asked to stop, with bsprun's consent, and the timer run out, it ends.
     */
    step(&watch, WIRE_STOP, (const uint8_t[EVENT_SIZE]){0});
    step(&watch, WIRE_CLOSED, (const uint8_t[EVENT_SIZE]){0});
    step(&watch, TIMER, (const uint8_t[EVENT_SIZE]){0});
    FUZZ_CHECK(watch.finished == 1);
    coord_free(watch.coord);
    return 0;
}

/* Places in `kinds`. */
enum {
    SEED_HOST_READY = 0,
    SEED_REGISTERED = 1,
    SEED_RANKS_READY = 2,
    SEED_ARRIVED = 3,
    SEED_RANK_EXITED = 4,
    SEED_ABORT = 5,
    SEED_RANKS_STOPPED = 7,
    SEED_HOST_LOST = 8,
    SEED_TIMER = 9,
};

/* Jobs that go well, on one host and on two, and jobs that do not: a line for the configuration,
 * and one for each event. */
/* clang-format off */
static const uint8_t seeds[][CONFIG_SIZE + 12 * EVENT_SIZE] = {
    /* one host, two processes, bsp_end, exits */
    {0, 0, 11, 0, 9, 0, 0, 0,
     SEED_HOST_READY, 2, 0, 2, 0, 0,
     SEED_REGISTERED, 2, 0, 2, 0, 0,
     SEED_RANKS_READY, 2, 0, 2, 0, 0,
     SEED_ARRIVED, 2, 0, 5, WIRE_BARRIER_END, 0,
     SEED_RANK_EXITED, 2, 0, 1, 0, 1,
     SEED_RANK_EXITED, 2, 0, 0, 7, 1},
    /* two hosts, a barrier each, bsp_end */
    {1, 0, 11, 0, 9, 0, 0, 0,
     SEED_HOST_READY, 2, 0, 2, 0, 0,
     SEED_HOST_READY, 2, 1, 2, 0, 0,
     SEED_REGISTERED, 2, 0, 2, 0, 0,
     SEED_RANKS_READY, 2, 0, 1, 0, 0,
     SEED_RANKS_READY, 2, 1, 1, 0, 0,
     SEED_ARRIVED, 2, 0, 0, WIRE_BARRIER_SYNC, 0,
     SEED_ARRIVED, 2, 1, 0, WIRE_BARRIER_SYNC, 0,
     SEED_ARRIVED, 2, 0, 1, WIRE_BARRIER_END, 0,
     SEED_ARRIVED, 2, 1, 1, WIRE_BARRIER_END, 0,
     SEED_RANK_EXITED, 2, 1, 1, 0, 1,
     SEED_RANK_EXITED, 2, 0, 0, 0, 1},
    /* told to abort at superstep 3 */
    {0, 0, 11, 0, 3, 0, 0, 0,
     SEED_HOST_READY, 2, 0, 2, 0, 0,
     SEED_REGISTERED, 2, 0, 2, 0, 0,
     SEED_RANKS_READY, 2, 0, 2, 0, 0,
     SEED_ARRIVED, 2, 0, 3, WIRE_BARRIER_SYNC, 0,
     SEED_RANKS_STOPPED, 2, 0, 0, 0, 0},
    /* one exits where that is allowed, another waits */
    {1, 0, 11, 0, 9, 1, 0, 0,
     SEED_HOST_READY, 2, 0, 2, 0, 0,
     SEED_HOST_READY, 2, 1, 2, 0, 0,
     SEED_REGISTERED, 2, 0, 2, 0, 0,
     SEED_RANKS_READY, 2, 0, 1, 0, 0,
     SEED_RANKS_READY, 2, 1, 1, 0, 0,
     SEED_RANK_EXITED, 2, 1, 1, 0, 1,
     SEED_ARRIVED, 2, 0, 0, WIRE_BARRIER_SYNC, 0,
     SEED_RANKS_STOPPED, 2, 0, 0, 0, 0,
     SEED_HOST_LOST, 2, 1, 0, 0, 0},
    /* another one is lost, this one takes over: accounts, a barrier, bsp_end */
    {1, 1, 0, 1, 9, 1, 0, 2,
     SEED_HOST_LOST, 2, 2, 0, 0, 0,
     SEED_REGISTERED, 2, 0, 3, 5, 1,
     SEED_REGISTERED, 2, 3, 4, 5, 1,
     SEED_REGISTERED, 2, 1, 2, 5, 1,
     SEED_ARRIVED, 2, 1, 5, WIRE_BARRIER_SYNC, 0,
     SEED_ARRIVED, 2, 3, 5, WIRE_BARRIER_SYNC, 0,
     SEED_ARRIVED, 2, 0, 6, WIRE_BARRIER_END, 0,
     SEED_ARRIVED, 2, 3, 6, WIRE_BARRIER_END, 0},
    /* a host is lost, a process calls bsp_abort */
    {2, 3, 11, 2, 9, 0, 0, 0,
     SEED_HOST_READY, 2, 0, 2, 0, 0,
     SEED_HOST_READY, 2, 2, 2, 0, 0,
     SEED_HOST_READY, 2, 1, 2, 0, 0,
     SEED_REGISTERED, 2, 2, 0, 0, 0,
     SEED_ABORT, 2, 1, 0, WIRE_CAUSE_ABORT_CALLED, 1,
     SEED_HOST_LOST, 2, 1, 0, 0, 0,
     SEED_RANKS_STOPPED, 2, 0, 0, 0, 0,
     SEED_TIMER, 2, 0, 0, 0, 0},
};
/* clang-format on */

size_t fuzz_seed(unsigned number, uint8_t *bytes)
{
    if (number >= sizeof(seeds) / sizeof(seeds[0]))
        return 0;
    memcpy(bytes, seeds[number], sizeof(seeds[number]));
    return sizeof(seeds[number]);
}
