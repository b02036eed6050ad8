/* test_wire.c - the control protocol: every message there and back, and bytes that are no message
 * at all. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/suite.h"
#include "tests/unit/wire_sample.h"

static char error[WIRE_ERROR_SIZE];

static int decode(const struct bspz_buffer *frame, struct wire_message *message)
{
    return wire_decode(frame->data + WIRE_HEADER, frame->size - WIRE_HEADER, message, error,
                       sizeof(error));
}

/* ---- There and back ----------------------------------------------------------------------- */

START_TEST(every_message_survives)
{
    for (unsigned variant = 0; variant < 40; variant++) {
        struct wire_message before, after = {0};
        struct bspz_buffer frame = {0};
        const char *field;
        wire_sample((enum wire_kind)_i, variant, &before);
        ck_assert_msg(wire_encode(&before, &frame, error, sizeof(error)) == 0, "%s", error);
        ck_assert_uint_eq(wire_frame_length(frame.data), frame.size - WIRE_HEADER);
        ck_assert_msg(decode(&frame, &after) == 0, "%s", error);
        ck_assert_msg(wire_same(&before, &after, &field), "%s: %s differs",
                      wire_kind_name((uint32_t)_i), field);
        wire_message_free(&after);
        wire_message_free(&after);
        bspz_buffer_free(&frame);
    }
}
END_TEST

START_TEST(names_are_known)
{
    ck_assert_str_eq(wire_kind_name(WIRE_START), "START");
    ck_assert_str_eq(wire_kind_name(WIRE_KIND_COUNT), "unknown");
    ck_assert_str_eq(wire_cause_text(WIRE_CAUSE_TIMEOUT), "the time limit passed");
    ck_assert_str_eq(wire_cause_text(WIRE_CAUSE_COUNT), "unknown");
    ck_assert_str_eq(wire_rank_state_text(WIRE_RANK_WAITING), "waiting");
    ck_assert_str_eq(wire_decision_text(WIRE_DECISION_ABORT), "abort");
    ck_assert_str_eq(wire_barrier_text(WIRE_BARRIER_END), "bsp_end");
    ck_assert_str_eq(wire_stop_text(77), "unknown");
}
END_TEST

START_TEST(ways_are_known)
{
    static const struct {
        enum wire_kind kind;
        enum wire_way way;
    } ways[] = {{WIRE_JOIN, WIRE_WAY_TO_AGENT},     {WIRE_HELLO, WIRE_WAY_TO_BSPRUN},
                {WIRE_STOP, WIRE_WAY_BOTH_WAYS},    {WIRE_HOST_READY, WIRE_WAY_TO_ZERO},
                {WIRE_KNOWN, WIRE_WAY_TO_ZERO},     {WIRE_PLACE, WIRE_WAY_FROM_ZERO},
                {WIRE_CONSULT, WIRE_WAY_FROM_ZERO}, {WIRE_FETCH, WIRE_WAY_AMONG_AGENTS},
                {WIRE_KEEP, WIRE_WAY_AMONG_AGENTS}, {WIRE_KIND_COUNT, WIRE_WAY_NONE}};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        ck_assert_int_eq(wire_way(ways[i].kind), ways[i].way);
    struct wire_message message = {.kind = WIRE_STAGED, .staged = {.host = 7, .count = 3}};
    ck_assert_uint_eq(wire_sender_of(&message), 7);
    *wire_sender(&message) = 9;
    ck_assert_uint_eq(message.staged.host, 9);
}
END_TEST

START_TEST(frames_append)
{
    struct wire_message first, second, read;
    struct bspz_buffer frames = {0};
    wire_sample(WIRE_HELLO, 3, &first);
    ck_assert_int_eq(wire_encode(&first, &frames, NULL, 0), 0);
    size_t length = frames.size;
    wire_sample(WIRE_EXIT, 4, &second);
    ck_assert_int_eq(wire_encode(&second, &frames, NULL, 0), 0);
    ck_assert_int_eq(wire_decode(frames.data + length + WIRE_HEADER,
                                 frames.size - length - WIRE_HEADER, &read, NULL, 0),
                     0);
    ck_assert_int_eq(read.kind, WIRE_EXIT);
    wire_message_free(&read);
    /* A refused message leaves the buffer as it was. */
    length = frames.size;
    first.hello.host = WIRE_HOSTS_MAX;
    ck_assert_int_eq(wire_encode(&first, &frames, error, sizeof(error)), -EINVAL);
    ck_assert_str_eq(error, "HELLO: host is too large");
    ck_assert_uint_eq(frames.size, length);
    first.kind = WIRE_KIND_COUNT;
    ck_assert_int_eq(wire_encode(&first, &frames, NULL, 0), -EINVAL);
    bspz_buffer_free(&frames);
}
END_TEST

/* ---- Not a message ------------------------------------------------------------------------ */

START_TEST(every_cut_is_refused)
{
    struct wire_message message, read;
    struct bspz_buffer frame = {0};
    wire_sample((enum wire_kind)_i, 11, &message);
    ck_assert_int_eq(wire_encode(&message, &frame, NULL, 0), 0);
    /* An exact copy of the cut bytes, so that a sanitizer sees a read behind them. */
    for (size_t size = 0; size < frame.size - WIRE_HEADER; size++) {
        unsigned char *cut = malloc(size + 1);
        memcpy(cut + 1, frame.data + WIRE_HEADER, size);
        ck_assert_int_eq(wire_decode(cut + 1, size, &read, error, sizeof(error)), -EPROTO);
        free(cut);
    }
    unsigned char *longer = calloc(1, frame.size + 1);
    memcpy(longer, frame.data + WIRE_HEADER, frame.size - WIRE_HEADER);
    ck_assert_int_eq(wire_decode(longer, frame.size - WIRE_HEADER + 1, &read, error, sizeof(error)),
                     -EPROTO);
    free(longer);
    bspz_buffer_free(&frame);
}
END_TEST

static const struct {
    const char *what;
    const char *bytes;
    size_t size;
} garbage[] = {
    {"nothing", "", 0},
    {"no array", "\x01", 1},
    {"empty array", "\x90", 1},
    {"array of 4 billion", "\xdd\xff\xff\xff\xff", 5},
    {"array of 4 billion in a message", "\x92\x01\xdd\xff\xff\xff\xff", 7},
    {"string of 4 billion", "\x91\xdb\xff\xff\xff\xff", 6},
    {"bytes of 4 billion", "\x91\xc6\xff\xff\xff\xff", 6},
    {"map", "\x91\x81\x01\x01", 4},
    {"map of 4 billion", "\x91\xdf\xff\xff\xff\xff", 6},
    {"extension", "\x91\xd4\x01\x01", 4},
    {"extension of 4 billion", "\x91\xc9\xff\xff\xff\xff\x01", 7},
    {"nil", "\x91\xc0", 2},
    {"float of 4 bytes", "\x91\xca\x00\x00\x00\x00", 6},
    {"the unused type", "\x91\xc1", 2},
    {"too deep", "\x91\x91\x91\x91\x01", 5},
    {"two values", "\x90\x90", 2},
    {"version 0", "\x95\x00\x00\xc4\x00\x00\x00", 7},
    {"only a version", "\x91\x01", 2},
    {"negative kind", "\x95\x01\xff\x00\x00\x00", 6},
    {"kind outside of the table", "\x95\x01\xcc\xc8\x00\x00\x00", 7},
    {"a job id of one byte", "\x95\x01\x04\xc4\x01x\x00\x00", 8},
};

START_TEST(garbage_is_refused)
{
    struct wire_message message;
    char *copy = malloc(garbage[_i].size + 1);
    memcpy(copy + 1, garbage[_i].bytes, garbage[_i].size);
    error[0] = '\0';
    ck_assert_msg(wire_decode(copy + 1, garbage[_i].size, &message, error, sizeof(error)) ==
                      -EPROTO,
                  "%s passes", garbage[_i].what);
    ck_assert_str_ne(error, "");
    free(copy);
}
END_TEST

START_TEST(depth_is_bounded)
{
    ck_assert_int_eq(wire_check("\x91\x91\x91\x01", 4, error, sizeof(error)), 0);
    ck_assert_int_eq(wire_check("\x91\x91\x91\x90", 4, error, sizeof(error)), -EPROTO);
    ck_assert_str_eq(error, "arrays nested too deep");
}
END_TEST

START_TEST(too_long_is_refused)
{
    struct wire_message message;
    char *body = calloc(1, WIRE_FRAME_MAX + 1u);
    ck_assert_int_eq(wire_decode(body, WIRE_FRAME_MAX + 1u, &message, NULL, 0), -EMSGSIZE);
    /* As many values as fit: stopped long before msgpack-c takes memory for them. */
    memcpy(body, "\xdd\x00\xff\xff\xfb", 5);
    ck_assert_int_eq(wire_decode(body, WIRE_FRAME_MAX, &message, error, sizeof(error)), -EPROTO);
    ck_assert_str_eq(error, "more than 1048576 values");
    free(body);
}
END_TEST

/* Damages real messages; whatever still decodes must encode again. */
START_TEST(damage_is_survived)
{
    uint64_t random = 88172645463325252u + (uint64_t)_i;
    for (unsigned round = 0; round < 800; round++) {
        struct wire_message message, read;
        struct bspz_buffer frame = {0}, again = {0};
        wire_sample((enum wire_kind)_i, round % 23, &message);
        ck_assert_int_eq(wire_encode(&message, &frame, NULL, 0), 0);
        size_t size = frame.size - WIRE_HEADER;
        for (unsigned k = 0; k <= round % 4; k++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            frame.data[WIRE_HEADER + random % size] = (unsigned char)(random >> 32);
        }
        if (decode(&frame, &read) == 0) {
            ck_assert_msg(wire_encode(&read, &again, error, sizeof(error)) == 0, "%s", error);
            wire_message_free(&read);
        }
        bspz_buffer_free(&frame);
        bspz_buffer_free(&again);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wire");
    TCase *messages = tcase_create("messages");
    tcase_set_timeout(messages, 120);
    tcase_add_loop_test(messages, every_message_survives, 0, WIRE_KIND_COUNT);
    tcase_add_loop_test(messages, every_cut_is_refused, 0, WIRE_KIND_COUNT);
    tcase_add_loop_test(messages, damage_is_survived, 0, WIRE_KIND_COUNT);
    tcase_add_test(messages, names_are_known);
    tcase_add_test(messages, ways_are_known);
    tcase_add_test(messages, frames_append);
    tcase_add_loop_test(messages, garbage_is_refused, 0, sizeof(garbage) / sizeof(garbage[0]));
    tcase_add_test(messages, depth_is_bounded);
    tcase_add_test(messages, too_long_is_refused);
    suite_add_tcase(suite, messages);
    return suite_run(suite);
}
