/* fuzz_fetch.c - what other agents send while files are fetched from them, and ask for.
 *
 * An input is a list of steps of STEP bytes: what is wanted, or a message with numbers out of a
 * table of those that are at the edge of something. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ckpt/store_sample.h"
#include "tests/unit/fetch_play.h"

#define STEP 6u
/* Each step is a file or two. More of them reach no other code, and cost what other inputs could. */
#define STEPS_MAX 24u

static const struct fetch_bytes *file_of(uint8_t which)
{
    return which % 3 < FETCH_PROCS ? &fetch_image[which % 3] : &fetch_manifest;
}

static uint64_t number(uint8_t which, uint64_t size)
{
    const uint64_t numbers[] = {0,
                                1,
                                20,
                                40,
                                size / 2,
                                size - 1,
                                size,
                                size + 1,
                                WIRE_FRAME_MAX,
                                UINT32_MAX,
                                UINT64_MAX - 20,
                                UINT64_MAX};

    return numbers[which % (sizeof numbers / sizeof *numbers)];
}

static void piece(const uint8_t *step)
{
    const struct fetch_bytes *file = file_of(step[2]);
    uint64_t offset = number(step[3], file->size), count = number(step[4], file->size);
    uint64_t from = offset < file->size ? offset : 0;

    if (count > file->size - from)
        count = file->size - from;
    if (fetch_last_said(WIRE_FETCH))
        fetch_play_piece(1 + step[1] % 2, offset, file->bytes + from, count,
                         number(step[5], file->size));
}

static void message(const uint8_t *step)
{
    static const char *const paths[] = {"", "/", "/etc/passwd", "/proc/self/exe", "../.."};
    struct wire_message message = {.kind = step[2] % 3 == 0   ? WIRE_FETCH
                                           : step[2] % 3 == 1 ? WIRE_KEEP
                                                              : WIRE_PIECE};
    uint32_t pid = (uint32_t)number(step[3], FETCH_PROCS) % WIRE_RANKS_MAX;

    message.envelope.superstep = number(step[5], fetch_name.superstep);
    if (message.kind == WIRE_FETCH) {
        message.fetch.request = step[3];
        message.fetch.thing = step[4] % (WIRE_THING_LAST + 1);
        message.fetch.from = (uint32_t)number(step[5], fetch_name.term);
        message.fetch.pid = pid;
        message.fetch.path = paths[step[5] % 5];
        message.fetch.build_id = (struct wire_bytes){"..", step[4] % 3};
    } else if (message.kind == WIRE_KEEP) {
        message.keep.from = (uint32_t)number(step[5], fetch_name.term);
        message.keep.pid = pid;
        message.keep.facts.size = number(step[4], 1000);
        message.keep.facts.digest[5] = step[4] % 33; /* 0: there is none */
    } else {
        message.piece.request = step[3];
        message.piece.error = step[4];
        message.piece.size = number(step[5], 1000);
    }
    fetch_play_take(1 + step[1] % 2, &message);
}

static void want(const uint8_t *step)
{
    if (done_count % 64 < 60)
        fetch_play_want(step[1] % 2 ? WIRE_THING_IMAGE : WIRE_THING_MANIFEST,
                        step[2] % FETCH_PROCS);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static bool ready;

    if (!ready) {
        store_sample_scratch();
        fetch_set_up();
        ready = true;
    }
    agent.coming = fetch_name;
    for (size_t at = 0; at + STEP <= size && at < STEPS_MAX * STEP; at += STEP) {
        unsigned before = done_count;

        switch (bytes[at] % 8) {
        case 0:
            want(bytes + at);
            break;
        case 1:
        case 2:
        case 3:
        case 4:
            piece(bytes + at);
            break;
        case 5:
        case 6:
            message(bytes + at);
            break;
        default:
            agent_fetch_forget(&agent);
            break;
        }
        /* What is complete is what it should be. */
        if (done_count > before && done_error == 0 && bytes[at] % 8 < 5 &&
            bytes[at + 2] % 3 == FETCH_PROCS)
            FUZZ_CHECK(fetch_play_has_manifest() || fetch_last_said(WIRE_IMAGE_DURABLE));
    }
    agent_fetch_forget(&agent);
    uv_run(&agent.loop, UV_RUN_DEFAULT);
    FUZZ_CHECK(!agent.fetches);
    fetch_play_unsay();
    return 0;
}

size_t fuzz_seed(unsigned which, uint8_t *bytes)
{
    static const uint8_t seeds[][4 * STEP] = {
        {0, 0, 0, 0, 0, 0, /* a manifest in one piece */ 1, 0, 2, 0, 6, 6, 5, 0, 0, 1, 0, 1},
        {0, 1, 1, 0, 0, 0, /* an image in two */ 1, 0, 1, 0, 4, 6, 1, 0, 1, 4, 6, 6},
        {0, 0, 0, 0, 0, 0, /* its size changes */ 1, 0, 2, 0, 2, 6, 1, 0, 2, 2, 4, 11},
        {5, 25, 1, 1, 49, 148, /* to be kept, and nothing comes */ 148, 148, 108, 107, 107, 250, 62,
         235, 200, 1, 0, 0},
        {5, 1, 1, 1, 0, 1, /* kept, and asked for */ 1, 0, 1, 0, 6, 6, 5, 0, 0, 1, 0, 1, 7},
    };

    if (which >= sizeof seeds / sizeof *seeds)
        return 0;
    memcpy(bytes, seeds[which], sizeof seeds[which]);
    return sizeof seeds[which];
}
