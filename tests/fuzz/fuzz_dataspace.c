/* fuzz_dataspace.c - what other agents send about the dataspace, whatever the processes of this
 * host wait for.
 *
 * An input is a list of steps of STEP bytes: a request of a process of this host, or the next piece
 * of it, if it may post one; the process is lost, and begins its next life; another host is lost,
 * or a process of one that is goes on elsewhere; time passes; or a message of another host with
 * numbers at the edge of something.  The last byte says how many copies there are of each part, and
 * whether processes have replicas, each on another three hosts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/dataspace/service.h"
#include "tests/fuzz/fuzz.h"

#define STEP      6u
#define STEPS_MAX 200u
#define WINDOW    16u
#define PROCESSES 4u
#define HOSTS     6u /* with replicas; else half as many */

static const uint32_t homes[PROCESSES] = {0, 0, 1, 2};
static const uint32_t leads[HOSTS] = {0, 1, 2, 0, 1, 2};
static const char *const tags[] = {"", "a", "b", "c", "d", "e", "f", "g"};

static struct {
    struct dataspace_request request;
    uint64_t done;
    bool busy, posted;
    uint64_t number; /* of the request; 0: it has none */
    unsigned char window[WINDOW];
} processes[PROCESSES];

/* With replicas every other tag is one that this host owns. */
static char owned[4][8];

static bool full, replicated, lost[HOSTS];
static uint64_t now;
static uint32_t lives_on[PROCESSES]; /* hosts */

static uint32_t hosts(void)
{
    return replicated ? HOSTS : HOSTS / 2;
}

static const char *tag_of(uint8_t which)
{
    return replicated && which % 2 > 0 ? owned[which / 2 % 4] : tags[which % 8];
}

static void on_send(void *context, uint32_t host, const struct wire_message *message)
{
    const struct wire_data_grant *grant = &message->data_grant;

    (void)context;
    FUZZ_CHECK(host > 0 && host < hosts() && !lost[host]);
    if (message->kind == WIRE_DATA_GRANT)
        FUZZ_CHECK(grant->offset + grant->data.size <= grant->size);
}

static bool on_has_room(void *context, uint32_t host)
{
    (void)context, (void)host;
    return !full;
}

static void on_answer(void *context, uint32_t pid, uint64_t size, uint32_t length)
{
    (void)context;
    FUZZ_CHECK(pid < 2 && processes[pid].posted && length <= WINDOW);
    FUZZ_CHECK(processes[pid].done + length <= size && size <= processes[pid].request.size);
    processes[pid].done += length;
    processes[pid].posted = false;
    processes[pid].busy = processes[pid].done < size;
}

static void on_withdrawn(void *context, uint32_t pid)
{
    (void)context;
    FUZZ_CHECK(pid < PROCESSES && processes[pid].busy);
    processes[pid].busy = processes[pid].posted = false;
}

static void on_no_memory(void *context, uint32_t pid, uint64_t bytes)
{
    (void)context, (void)bytes;
    FUZZ_CHECK(pid < PROCESSES);
}

static void on_broken(void *context, uint32_t host, const char *complaint)
{
    (void)context;
    FUZZ_CHECK(host > 0 && *complaint);
}

/* The process is told, and may post another request. */
static void on_differs(void *context, uint32_t pid)
{
    (void)context;
    FUZZ_CHECK(pid < 2);
}

static void on_part_lost(void *context)
{
    (void)context;
    bool any = false;

    (void)context;
    for (uint32_t host = 1; host < hosts(); host++)
        any |= lost[host];
    FUZZ_CHECK(any);
}

static void on_past(void *context, uint32_t pid, uint64_t number)
{
    (void)context, (void)number;
    FUZZ_CHECK(pid < PROCESSES && lives_on[pid] == 0);
}

static void on_mismatch(void *context, const struct dataspace_mismatch *mismatch)
{
    (void)context;
    FUZZ_CHECK(replicated && mismatch->pid < PROCESSES);
    FUZZ_CHECK(mismatch->hosts[0] < HOSTS && mismatch->hosts[1] < HOSTS);
    FUZZ_CHECK(leads[mismatch->hosts[0]] == homes[mismatch->pid]);
}

static void on_too_far_behind(void *context, uint32_t pid, uint32_t host)
{
    (void)context;
    FUZZ_CHECK(replicated && pid < PROCESSES && host < HOSTS && leads[host] == homes[pid]);
}

static uint64_t on_now(void *context)
{
    (void)context;
    return now;
}

static const struct dataspace_calls calls = {.send = on_send,
                                             .has_room = on_has_room,
                                             .answer = on_answer,
                                             .withdrawn = on_withdrawn,
                                             .no_memory = on_no_memory,
                                             .broken = on_broken,
                                             .differs = on_differs,
                                             .part_lost = on_part_lost,
                                             .past = on_past,
                                             .mismatch = on_mismatch,
                                             .too_far_behind = on_too_far_behind,
                                             .now_ms = on_now};

static uint64_t number(uint8_t which)
{
    static const uint64_t numbers[] = {0, 1, 3, 4, 8, 15, 16, 17, 40, WIRE_OBJECT_MAX};

    return numbers[which % (sizeof numbers / sizeof *numbers)];
}

static void post(struct dataspace *space, const uint8_t *step)
{
    uint32_t pid = step[1] % 2;
    struct dataspace_request *request = &processes[pid].request;

    if (processes[pid].posted)
        return;
    if (!processes[pid].busy) {
        bool numbered = replicated || step[5] % 2;

        processes[pid].number += numbered;
        *request = (struct dataspace_request){.kind = step[2] % 3,
                                              .number = numbered ? processes[pid].number : 0,
                                              .tag = tag_of(step[3]),
                                              .tag_size = (uint32_t)strlen(tag_of(step[3])),
                                              .piece = processes[pid].window,
                                              .size = number(step[4]) % 64};
        processes[pid].done = 0;
        processes[pid].busy = true;
    }
    request->length = WINDOW;
    processes[pid].posted = true;
    dataspace_posted(space, pid, request);
}

/* What a replica asks for: copies.h. */
static uint64_t what_of(const uint8_t *step)
{
    return (uint64_t)(step[4] % 4) << 32 | (uint64_t)(step[5] % 4) << 8 | step[1] / 8 % 8;
}

/* Of hosts with replicas.  False: it is none of these. */
static bool fill_replicated(struct wire_message *message, const uint8_t *step, uint32_t pid,
                            uint64_t request, struct wire_bytes tag, struct wire_bytes data)
{
    uint64_t size = number(step[4]) % 64, offset = number(step[5]) % 64;
    uint32_t round = step[2] / 32 % 4;

    switch (message->kind) {
    case WIRE_DATA_CALL:
        message->data_call = (struct wire_data_call){pid, what_of(step)};
        return true;
    case WIRE_DATA_OFFER:
        message->data_offer = (struct wire_data_offer){pid, request, what_of(step), tag};
        return true;
    case WIRE_DATA_TURN:
        message->data_turn = (struct wire_data_turn){pid, step[5] & 1};
        return true;
    case WIRE_DATA_REFER:
        message->data_refer = (struct wire_data_refer){pid, step[5] % (HOSTS + 1)};
        return true;
    case WIRE_DATA_FETCH:
        message->data_fetch = (struct wire_data_fetch){pid, round, request, step[5] & 1};
        return true;
    case WIRE_DATA_PASS:
        message->data_pass = (struct wire_data_pass){pid, round, step[1] & 8, size, offset, data};
        return true;
    case WIRE_DATA_HOW_FAR:
        message->data_how_far = (struct wire_data_how_far){pid, step[5] & 1, request};
        return true;
    default:
        return false;
    }
}

static enum wire_kind kind_of(const uint8_t *step)
{
    static const enum wire_kind kinds[] = {
        WIRE_DATA_PUT,      WIRE_DATA_STORED,    WIRE_DATA_ASK,     WIRE_DATA_GRANT,
        WIRE_DATA_WITHDRAW, WIRE_DATA_WITHDRAWN, WIRE_DATA_DIFFERS, WIRE_DATA_CUT,
        WIRE_DATA_COPIED,   WIRE_DATA_PAST,      WIRE_DATA_PAST_IS, WIRE_DATA_COPY,
        WIRE_DATA_COPY,     WIRE_DATA_AHEAD,     WIRE_DATA_CHAIN,   WIRE_DATA_CHAINED};
    static const enum wire_kind more[] = {WIRE_DATA_CALL,  WIRE_DATA_OFFER,   WIRE_DATA_TURN,
                                          WIRE_DATA_REFER, WIRE_DATA_FETCH,   WIRE_DATA_PASS,
                                          WIRE_DATA_CALL,  WIRE_DATA_HOW_FAR, WIRE_DATA_FETCH};

    if (replicated && step[0] & 128)
        return more[step[2] % (sizeof more / sizeof *more)];
    return kinds[step[2] % (sizeof kinds / sizeof *kinds)];
}

static void message(struct dataspace *space, const uint8_t *step)
{
    static const char bytes[40];
    struct wire_bytes tag = {tag_of(step[3]), (uint32_t)strlen(tag_of(step[3]))};
    struct wire_message message = {.kind = kind_of(step)};
    uint32_t pid = step[3] / 8 % 8;
    uint64_t size = number(step[4]), offset = number(step[5]), request = step[2] / 8 % 4;
    uint32_t life = step[2] / 32 % 4;
    uint64_t then = step[3] % 4;
    struct wire_bytes data = {bytes, (uint32_t)number(step[5] / 16)};

    if (data.size > sizeof bytes)
        data.size = sizeof bytes;
    if (size > 64 && step[4] < 250)
        size = 64; /* an object of 1 GiB takes its time */
    if (fill_replicated(&message, step, pid, request, tag, data)) {
        dataspace_message(space, 1 + step[1] % (hosts() - 1), &message);
        return;
    }
    switch (message.kind) {
    case WIRE_DATA_PUT:
        message.data_put = (struct wire_data_put){pid, life, request, request % 2, request % 3 == 0,
                                                  tag, size, offset,  data};
        break;
    case WIRE_DATA_STORED:
        message.data_stored = (struct wire_data_stored){pid, life};
        break;
    case WIRE_DATA_ASK:
        message.data_ask = (struct wire_data_ask){
            pid, life, request, request % 2, request % 3 == 0, tag, step[5] & 1, size};
        break;
    case WIRE_DATA_WITHDRAW:
        message.data_withdraw = (struct wire_data_withdraw){pid, life, tag};
        break;
    case WIRE_DATA_WITHDRAWN:
        message.data_withdrawn = (struct wire_data_withdrawn){pid, life};
        break;
    case WIRE_DATA_DIFFERS:
        message.data_differs = (struct wire_data_differs){pid, life};
        break;
    case WIRE_DATA_CUT:
        message.data_cut = (struct wire_data_cut){pid, request};
        break;
    case WIRE_DATA_COPIED:
        message.data_copied = (struct wire_data_copied){pid % 4, request};
        break;
    case WIRE_DATA_AHEAD:
        message.data_ahead = (struct wire_data_ahead){pid, size, offset, data};
        break;
    case WIRE_DATA_CHAIN:
        message.data_chain = (struct wire_data_chain){
            life, (uint32_t)request, pid, {&then, step[5] & 1}, step[5] & 2, size, offset, data};
        break;
    case WIRE_DATA_CHAINED:
        message.data_chained = (struct wire_data_chained){(uint32_t)request};
        break;
    case WIRE_DATA_PAST:
        message.data_past = (struct wire_data_past){pid, life, (uint32_t)request};
        break;
    case WIRE_DATA_PAST_IS:
        message.data_past_is = (struct wire_data_past_is){pid, (uint32_t)request, size};
        break;
    case WIRE_DATA_COPY:
        message.data_copy = (struct wire_data_copy){.kind = step[5] % (WIRE_COPY_LAST + 1),
                                                    .part = pid % 4,
                                                    .pid = step[3] / 32 % 8,
                                                    .change = request,
                                                    .number = life,
                                                    .what = replicated ? what_of(step) : 0,
                                                    .removes = step[4] & 1,
                                                    .same = step[4] & 2,
                                                    .has_object = step[4] & 4,
                                                    .tag = tag,
                                                    .size = size,
                                                    .offset = offset % 8,
                                                    .data = data};
        break;
    default:
        message.data_grant = (struct wire_data_grant){pid, life, size, offset, data};
        break;
    }
    dataspace_message(space, 1 + step[1] % (hosts() - 1), &message);
}

/* It makes some of its requests again, or others. */
static void lose(struct dataspace *space, uint32_t pid, uint8_t back)
{
    dataspace_restarted(space, pid);
    processes[pid].busy = processes[pid].posted = false;
    processes[pid].number = back % 8;
}

/* Replicas are never restarted alone; what waits for its turn waits for time. */
static void step_of_life(struct dataspace *space, const uint8_t *step)
{
    if (!replicated) {
        lose(space, step[1] % 2, step[2]);
        return;
    }
    now += step[2];
    dataspace_go_on(space);
}

static void lose_host(struct dataspace *space, uint32_t host)
{
    lost[host] = true;
    dataspace_lost(space, host);
}

/* As Processor Zero does: a process of a host that is lost, to one that is not known to be. */
static void move(struct dataspace *space, uint32_t pid, uint32_t host)
{
    if (!lost[lives_on[pid]] || lost[host])
        return;
    lives_on[pid] = host;
    dataspace_moved(space, pid, host);
}

static void choose_tags(const struct dataspace *space)
{
    unsigned count = 0;

    for (unsigned i = 0; i < 1000 && count < 4; i++) {
        char *tag = owned[count];

        snprintf(tag, sizeof owned[count], "t%u", i);
        count += dataspace_owner(space, tag, strlen(tag)) == 0;
    }
    FUZZ_CHECK(count == 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pool *pool = pool_open(340, 1, 4, NULL, NULL);
    struct dataspace_setup setup = {.host = 0,
                                    .nprocs = PROCESSES,
                                    .homes = homes,
                                    .piece = 7,
                                    .pool = pool,
                                    .log = 400,
                                    .passed = 8};
    struct dataspace *space;

    setup.copies = size > 0 ? 1 + data[size - 1] % 3 : 1;
    replicated = size > 0 && data[size - 1] / 3 % 2;
    now = 0;
    if (replicated) {
        setup.hosts = HOSTS;
        setup.leads = leads;
        setup.large = setup.passed = 8;
        setup.cut_every = 4;
        setup.behind_most = 2;
    }
    space = dataspace_open(&setup, &calls, NULL);
    if (replicated)
        choose_tags(space);
    memset(lost, 0, sizeof lost);
    memcpy(lives_on, homes, sizeof lives_on);
    memset(processes, 0, sizeof processes);
    full = false;
    for (size_t i = 0; i < STEPS_MAX && (i + 1) * STEP <= size; i++) {
        const uint8_t *step = data + i * STEP;

        if (step[0] % 4 == 0)
            post(space, step);
        else if (step[0] % 16 == 1)
            full = !full;
        else if (step[0] % 16 == 2)
            dataspace_go_on(space);
        else if (step[0] % 16 == 3)
            dataspace_withdraw(space, step[1] % 2);
        else if (step[0] % 16 == 5)
            step_of_life(space, step);
        else if (step[0] % 16 == 6)
            dataspace_cut(space, step[1] % 2, step[2] % 8);
        else if (step[0] % 16 == 7 && (replicated || setup.copies > 1))
            lose_host(space, 1 + step[1] % (hosts() - 1));
        else if (step[0] % 16 == 9 && setup.copies > 1 && !replicated)
            move(space, 2 + step[1] % 2, step[2] % 3);
        else
            message(space, step);
    }
    dataspace_close(space);
    pool_close(pool);
    return 0;
}

#define SEED(...)                                                                                  \
    {                                                                                              \
        sizeof((const uint8_t[]){__VA_ARGS__}),                                                    \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

size_t fuzz_seed(unsigned which, uint8_t *bytes)
{
    static const struct {
        size_t size;
        uint8_t bytes[64];
    } seeds[] = {
        /* A put, a read, a get. */
        SEED(0, 0, 0, 1, 8, 0, 0, 1, 2, 1, 8, 0, 0, 1, 1, 1, 8, 0, 0),
        /* A put from another host in pieces. */
        SEED(3, 0, 0, 17, 4, 0x30, 3, 0, 0, 17, 4, 0x33, 0),
        /* A get from another host. */
        SEED(0, 0, 1, 2, 8, 0, 3, 0, 3, 0, 4, 0x30, 3, 1, 3, 0, 4, 0x30, 0),
        /* No room on the way. */
        SEED(1, 0, 0, 0, 0, 0, 0, 0, 0, 4, 8, 0, 2, 0, 0, 0, 0, 0, 0),
        /* With replicas: one host has an object, two replicas of a process say what they ask for
         * and ask, and one passes it to the other. */
        SEED(0, 0, 0, 1, 6, 1, 139, 0, 0, 17, 1, 1, 11, 0, 16, 17, 8, 1, 139, 8, 0, 17, 1, 1, 11, 8,
             16, 17, 8, 1, 139, 8, 13, 17, 1, 1, 139, 0, 7, 17, 1, 1, 3),
        /* The same, and what the second one asks for differs. */
        SEED(0, 0, 0, 1, 6, 1, 139, 0, 0, 17, 1, 1, 11, 0, 16, 17, 8, 1, 139, 8, 0, 17, 2, 1, 11, 8,
             16, 17, 8, 1, 3),
        /* A put is offered by both, and time passes. */
        SEED(139, 0, 0, 17, 1, 1, 139, 0, 19, 17, 1, 1, 139, 8, 0, 17, 1, 1, 139, 8, 19, 17, 1, 1,
             5, 0, 200, 0, 0, 0, 11, 0, 0, 17, 6, 0, 3),
        /* One gets, is referred to another one, and is passed the object. */
        SEED(0, 0, 1, 1, 8, 1, 139, 2, 3, 1, 0, 3, 139, 2, 5, 1, 4, 3, 139, 2, 4, 1, 8, 0, 4),
    };

    if (which >= sizeof seeds / sizeof *seeds)
        return 0;
    memcpy(bytes, seeds[which].bytes, seeds[which].size);
    return seeds[which].size;
}
