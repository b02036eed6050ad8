/* test_wire.c - the control protocol: every message there and back, every limit at and one past
 * it, and bytes that are no message at all. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/wire_sample.h"

static char error[WIRE_ERROR_SIZE];

static int decode(const struct wire_buffer *frame, struct wire_message *message)
{
    return wire_decode(frame->data + WIRE_HEADER, frame->size - WIRE_HEADER, message, error,
                       sizeof(error));
}

/* ---- There and back ----------------------------------------------------------------------- */

START_TEST(every_message_survives)
{
    for (unsigned variant = 0; variant < 40; variant++) {
        struct wire_message before, after = {0};
        struct wire_buffer frame = {0};
        const char *field;
        wire_sample((enum wire_kind)_i, variant, &before);
        ck_assert_msg(wire_encode(&before, &frame, error, sizeof(error)) == 0, "%s", error);
        ck_assert_uint_eq(wire_frame_length(frame.data), frame.size - WIRE_HEADER);
        ck_assert_msg(decode(&frame, &after) == 0, "%s", error);
        ck_assert_msg(wire_same(&before, &after, &field), "%s: %s differs",
                      wire_kind_name((uint32_t)_i), field);
        wire_message_free(&after);
        wire_message_free(&after);
        wire_buffer_free(&frame);
    }
}
END_TEST

START_TEST(dump_shows_every_field)
{
    struct wire_message message;
    char text[16384];
    wire_sample((enum wire_kind)_i, 5, &message);
    wire_dump(&message, text, sizeof(text));
    ck_assert_ptr_nonnull(strstr(text, wire_kind_name((uint32_t)_i)));
    ck_assert_ptr_null(strchr(text, '\n'));
    const struct wire_schema *schema = wire_schema((uint32_t)_i);
    for (uint32_t i = 0; i < schema->count; i++) {
        char name[64];
        snprintf(name, sizeof(name), " %s=", schema->fields[i].name);
        ck_assert_msg(strstr(text, name) != NULL, "no%s in %s", name, text);
    }
    /* Cut anywhere, it stays a string. */
    for (size_t size = 0; size < 200; size++) {
        char cut[200];
        memset(cut, 'x', sizeof(cut));
        wire_dump(&message, cut, size);
        ck_assert(size == 0 ? cut[0] == 'x' : memchr(cut, '\0', size) != NULL);
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

START_TEST(frames_append)
{
    struct wire_message first, second, read;
    struct wire_buffer frames = {0};
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
    wire_buffer_free(&frames);
}
END_TEST

/* ---- Bodies made by hand ------------------------------------------------------------------ */

/* What to put in place of a field's proper value. */
enum wrong {
    RIGHT,    /* something proper */
    AT_LIMIT, /* the most that is allowed */
    PAST,     /* one more */
    LESS,     /* the same below zero */
    NIL,
    OTHER_TYPE,
    LONG_ITEM, /* a list of one text that is too long */
    WITH_NUL,
    SHORT_RECORD, /* a list of one record that lacks its last field */
    LONG_RECORD   /* ... or has one more */
};

static void pack_text(msgpack_packer *packer, size_t length)
{
    char *text = malloc(length + 1);
    memset(text, 'x', length + 1);
    msgpack_pack_str(packer, length);
    msgpack_pack_str_body(packer, text, length);
    free(text);
}

static void pack_right(msgpack_packer *packer, enum wire_type type)
{
    switch (type) {
    case WIRE_TYPE_flag:
        msgpack_pack_true(packer);
        break;
    case WIRE_TYPE_f64:
        msgpack_pack_double(packer, 1.5);
        break;
    case WIRE_TYPE_text:
        pack_text(packer, 1);
        break;
    case WIRE_TYPE_bytes:
        msgpack_pack_bin(packer, 0);
        break;
    case WIRE_TYPE_u32:
    case WIRE_TYPE_u64:
    case WIRE_TYPE_i32:
        msgpack_pack_uint32(packer, 1);
        break;
    default:
        msgpack_pack_array(packer, 0);
    }
}

static void pack_list(msgpack_packer *packer, const struct wire_field *field, size_t count)
{
    msgpack_pack_array(packer, count);
    for (size_t i = 0; i < count; i++) {
        if (field->type == WIRE_TYPE_texts) {
            msgpack_pack_str(packer, 0);
        } else if (field->type == WIRE_TYPE_numbers) {
            msgpack_pack_uint64(packer, 1);
        } else {
            const struct wire_schema *record = wire_record_schema(field->type);
            msgpack_pack_array(packer, record->count);
            for (uint32_t k = 0; k < record->count; k++)
                pack_right(packer, record->fields[k].type);
        }
    }
}

static void pack_sized(msgpack_packer *packer, const struct wire_field *field, uint64_t size,
                       bool negative)
{
    char *bytes;
    switch (field->type) {
    case WIRE_TYPE_u32:
    case WIRE_TYPE_u64:
    case WIRE_TYPE_i32:
        if (negative)
            msgpack_pack_int64(packer, -(int64_t)size);
        else
            msgpack_pack_uint64(packer, size);
        break;
    case WIRE_TYPE_text:
        pack_text(packer, size);
        break;
    case WIRE_TYPE_bytes:
        bytes = calloc(1, size);
        msgpack_pack_bin(packer, size);
        msgpack_pack_bin_body(packer, bytes, size);
        free(bytes);
        break;
    case WIRE_TYPE_f64:
        msgpack_pack_double(packer, size > field->limit ? INFINITY : 1e308);
        break;
    case WIRE_TYPE_flag:
        if (size > field->limit)
            msgpack_pack_uint32(packer, 2);
        else
            msgpack_pack_true(packer);
        break;
    default:
        pack_list(packer, field, size);
    }
}

static void pack_misshapen(msgpack_packer *packer, const struct wire_schema *record, bool longer)
{
    uint32_t count = longer ? record->count + 1 : record->count - 1;
    msgpack_pack_array(packer, 1);
    msgpack_pack_array(packer, count);
    for (uint32_t k = 0; k < count; k++)
        pack_right(packer, k < record->count ? record->fields[k].type : WIRE_TYPE_u32);
}

static void pack_wrong(msgpack_packer *packer, const struct wire_field *field, enum wrong wrong)
{
    switch (wrong) {
    case RIGHT:
        pack_right(packer, field->type);
        break;
    case AT_LIMIT:
        pack_sized(packer, field, field->limit, false);
        break;
    case PAST:
        pack_sized(packer, field, field->limit + 1, false);
        break;
    case LESS:
        pack_sized(packer, field, field->type == WIRE_TYPE_i32 ? field->limit + 1 : 1, true);
        break;
    case NIL:
        msgpack_pack_nil(packer);
        break;
    case OTHER_TYPE:
        pack_right(packer, field->type == WIRE_TYPE_text ? WIRE_TYPE_bytes : WIRE_TYPE_text);
        break;
    case LONG_ITEM:
        msgpack_pack_array(packer, 1);
        pack_text(packer, WIRE_ITEM_MAX + 1);
        break;
    case WITH_NUL:
        msgpack_pack_str(packer, 3);
        msgpack_pack_str_body(packer, "a\0b", 3);
        break;
    case SHORT_RECORD:
    case LONG_RECORD:
        pack_misshapen(packer, wire_record_schema(field->type), wrong == LONG_RECORD);
        break;
    }
}

/* A body of that kind with that many fields in which one is as said. */
static int decode_made(uint32_t version, uint32_t kind, uint32_t count, uint32_t position,
                       enum wrong wrong)
{
    const struct wire_schema *schema = wire_schema(kind);
    msgpack_sbuffer body;
    msgpack_packer packer;
    msgpack_sbuffer_init(&body);
    msgpack_packer_init(&packer, &body, msgpack_sbuffer_write);
    msgpack_pack_array(&packer, WIRE_ENVELOPE_COUNT + count);
    msgpack_pack_uint32(&packer, version);
    msgpack_pack_uint32(&packer, kind);
    msgpack_pack_bin(&packer, WIRE_JOB_SIZE);
    msgpack_pack_bin_body(&packer, "0123456789abcdef", WIRE_JOB_SIZE);
    msgpack_pack_uint32(&packer, 1);
    msgpack_pack_uint64(&packer, 7);
    for (uint32_t i = 0; i < count; i++) {
        if (i < schema->count)
            pack_wrong(&packer, &schema->fields[i], i == position ? wrong : RIGHT);
        else
            msgpack_pack_uint32(&packer, 1);
    }
    struct wire_message message;
    int result = wire_decode(body.data, body.size, &message, error, sizeof(error));
    if (result == 0)
        wire_message_free(&message);
    msgpack_sbuffer_destroy(&body);
    return result;
}

static int decode_with(uint32_t kind, uint32_t position, enum wrong wrong)
{
    return decode_made(WIRE_VERSION, kind, wire_schema(kind)->count, position, wrong);
}

START_TEST(shapes_hold)
{
    const struct wire_schema *schema = wire_schema((uint32_t)_i);
    uint32_t kind = (uint32_t)_i, count = schema->count;
    ck_assert_msg(decode_made(WIRE_VERSION, kind, count, 0, RIGHT) == 0, "%s", error);
    ck_assert_int_eq(decode_made(WIRE_VERSION + 1, kind, count, 0, RIGHT), -EPROTO);
    ck_assert_str_eq(error, "not version 1 of the protocol");
    ck_assert_int_eq(decode_made(WIRE_VERSION - 1, kind, count, 0, RIGHT), -EPROTO);
    ck_assert_int_eq(decode_made(WIRE_VERSION, kind, count + 1, 0, RIGHT), -EPROTO);
    if (count > 0)
        ck_assert_int_eq(decode_made(WIRE_VERSION, kind, count - 1, 0, RIGHT), -EPROTO);
    for (uint32_t k = 0; k < count; k++) {
        if (!wire_record_schema(schema->fields[k].type))
            continue;
        ck_assert_int_eq(decode_with(kind, k, SHORT_RECORD), -EPROTO);
        ck_assert_int_eq(decode_with(kind, k, LONG_RECORD), -EPROTO);
    }
}
END_TEST

START_TEST(limits_hold)
{
    const struct wire_schema *schema = wire_schema((uint32_t)_i);
    for (uint32_t k = 0; k < schema->count; k++) {
        const struct wire_field *field = &schema->fields[k];
        ck_assert_msg(decode_with((uint32_t)_i, k, AT_LIMIT) == 0, "%s at its limit: %s",
                      field->name, error);
        if (field->limit != UINT64_MAX)
            ck_assert_msg(decode_with((uint32_t)_i, k, PAST) == -EPROTO, "%s past its limit passes",
                          field->name);
        if (field->type <= WIRE_TYPE_i32)
            ck_assert_msg(decode_with((uint32_t)_i, k, LESS) == -EPROTO,
                          "%s below its limit passes", field->name);
        ck_assert_int_eq(decode_with((uint32_t)_i, k, NIL), -EPROTO);
        ck_assert_int_eq(decode_with((uint32_t)_i, k, OTHER_TYPE), -EPROTO);
        ck_assert_ptr_nonnull(strstr(error, field->name));
        if (field->type == WIRE_TYPE_texts)
            ck_assert_int_eq(decode_with((uint32_t)_i, k, LONG_ITEM), -EPROTO);
        if (field->type == WIRE_TYPE_text)
            ck_assert_int_eq(decode_with((uint32_t)_i, k, WITH_NUL), -EPROTO);
    }
}
END_TEST

/* ---- The encoder's limits ----------------------------------------------------------------- */

START_TEST(encoder_keeps_the_limits)
{
    struct wire_buffer frame = {0};
    struct wire_message message = {.kind = WIRE_START};
    char *item = malloc(WIRE_ITEM_MAX + 2);
    memset(item, 'y', WIRE_ITEM_MAX + 2);
    item[WIRE_ITEM_MAX] = '\0';
    const char *one[] = {item};
    message.start.arguments = (struct wire_texts){one, 1};
    ck_assert_int_eq(wire_encode(&message, &frame, error, sizeof(error)), 0);
    item[WIRE_ITEM_MAX] = 'y';
    item[WIRE_ITEM_MAX + 1] = '\0';
    ck_assert_int_eq(wire_encode(&message, &frame, error, sizeof(error)), -EINVAL);
    ck_assert_str_eq(error, "START: arguments has 131073 bytes, 131072 are allowed");

    /* The fullest START the limits allow passes the decoder, too. */
    const char **many = calloc(WIRE_ITEMS_MAX + 1, sizeof(*many));
    message.start.arguments = message.start.environment = message.start.unset =
        (struct wire_texts){many, WIRE_ITEMS_MAX};
    frame.size = 0;
    ck_assert_int_eq(wire_encode(&message, &frame, error, sizeof(error)), 0);
    struct wire_message read;
    ck_assert_msg(decode(&frame, &read) == 0, "%s", error);
    ck_assert_uint_eq(read.start.unset.count, WIRE_ITEMS_MAX);
    wire_message_free(&read);
    message.start.unset.count++;
    ck_assert_int_eq(wire_encode(&message, &frame, error, sizeof(error)), -EINVAL);

    /* Each item is short enough, all together are not. */
    item[WIRE_ITEM_MAX] = '\0';
    for (unsigned i = 0; i < WIRE_ITEMS_MAX; i++)
        many[i] = item;
    message.start.unset.count = 0;
    size_t size = frame.size;
    ck_assert_int_eq(wire_encode(&message, &frame, error, sizeof(error)), -EMSGSIZE);
    ck_assert_uint_eq(frame.size, size);
    free(many);
    free(item);

    struct wire_message report = {.kind = WIRE_STATUS};
    report.status.seconds = NAN;
    ck_assert_int_eq(wire_encode(&report, &frame, error, sizeof(error)), -EINVAL);
    struct wire_message ended = {.kind = WIRE_ENDED};
    ended.ended.status = -WIRE_STATUS_MAX;
    ck_assert_int_eq(wire_encode(&ended, &frame, NULL, 0), 0);
    ended.ended.status = -WIRE_STATUS_MAX - 1;
    ck_assert_int_eq(wire_encode(&ended, &frame, NULL, 0), -EINVAL);
    ended.ended.status = INT32_MIN;
    ck_assert_int_eq(wire_encode(&ended, &frame, NULL, 0), -EINVAL);
    wire_buffer_free(&frame);
}
END_TEST

START_TEST(longest_lists_of_records_pass)
{
    struct wire_buffer frame = {0};
    struct wire_message report = {.kind = WIRE_REPORT}, read;
    struct wire_usage *usages = calloc(WIRE_RANKS_MAX, sizeof(*usages));
    for (uint32_t i = 0; i < WIRE_RANKS_MAX; i++)
        usages[i] = (struct wire_usage){.pid = i, .wall_ns = UINT64_MAX};
    report.report.ranks = (struct wire_usage_list){usages, WIRE_RANKS_MAX};
    ck_assert_msg(wire_encode(&report, &frame, error, sizeof(error)) == 0, "%s", error);
    ck_assert_msg(decode(&frame, &read) == 0, "%s", error);
    ck_assert_uint_eq(read.report.ranks.items[WIRE_RANKS_MAX - 1].pid, WIRE_RANKS_MAX - 1);
    wire_message_free(&read);
    wire_buffer_free(&frame);
    free(usages);
}
END_TEST

/* ---- Not a message ------------------------------------------------------------------------ */

START_TEST(every_cut_is_refused)
{
    struct wire_message message, read;
    struct wire_buffer frame = {0};
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
    wire_buffer_free(&frame);
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
        struct wire_buffer frame = {0}, again = {0};
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
        wire_buffer_free(&frame);
        wire_buffer_free(&again);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wire");
    TCase *messages = tcase_create("messages");
    tcase_set_timeout(messages, 120);
    tcase_add_loop_test(messages, every_message_survives, 0, WIRE_KIND_COUNT);
    tcase_add_loop_test(messages, dump_shows_every_field, 0, WIRE_KIND_COUNT);
    tcase_add_loop_test(messages, shapes_hold, 0, WIRE_KIND_COUNT);
    tcase_add_loop_test(messages, limits_hold, 0, WIRE_KIND_COUNT);
    tcase_add_loop_test(messages, every_cut_is_refused, 0, WIRE_KIND_COUNT);
    tcase_add_loop_test(messages, damage_is_survived, 0, WIRE_KIND_COUNT);
    tcase_add_test(messages, names_are_known);
    tcase_add_test(messages, frames_append);
    tcase_add_test(messages, encoder_keeps_the_limits);
    tcase_add_test(messages, longest_lists_of_records_pass);
    tcase_add_loop_test(messages, garbage_is_refused, 0, sizeof(garbage) / sizeof(garbage[0]));
    tcase_add_test(messages, depth_is_bounded);
    tcase_add_test(messages, too_long_is_refused);
    suite_add_tcase(suite, messages);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
