/* test_wire_limits.c - the control protocol: the shape of every message, and every limit at and one
 * past it, in the decoder and in the encoder. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#include "lib/wire/schema.h"
#include "tests/unit/suite.h"

static char error[WIRE_ERROR_SIZE];

static int decode(const struct bspz_buffer *frame, struct wire_message *message)
{
    return wire_decode(frame->data + WIRE_HEADER, frame->size - WIRE_HEADER, message, error,
                       sizeof(error));
}

/* ---- Bodies made by hand ------------------------------------------------------------------ */

/* What to put in place of a field's proper value. */
enum wrong {
    RIGHT,    /* something proper */
    AT_LIMIT, /* the most that is allowed */
    PAST,     /* one more */
    LESS,     /* the same below zero */
    NIL,
    OTHER_TYPE,
    CUT,       /* one less than the most */
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
    case WIRE_TYPE_digest:
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
    case WIRE_TYPE_digest:
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
    case CUT:
        pack_sized(packer, field, field->limit - 1, false);
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
    ck_assert_str_eq(error, "not version 2 of the protocol");
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
        if (field->type == WIRE_TYPE_digest)
            ck_assert_int_eq(decode_with((uint32_t)_i, k, CUT), -EPROTO);
    }
}
END_TEST

/* ---- The encoder's limits ----------------------------------------------------------------- */

START_TEST(encoder_keeps_the_limits)
{
    struct bspz_buffer frame = {0};
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
    bspz_buffer_free(&frame);
}
END_TEST

START_TEST(longest_lists_of_records_pass)
{
    struct bspz_buffer frame = {0};
    struct wire_message report = {.kind = WIRE_REPORT}, read;
    struct wire_usage *usages = calloc(WIRE_RANKS_MAX, sizeof(*usages));
    for (uint32_t i = 0; i < WIRE_RANKS_MAX; i++)
        usages[i] = (struct wire_usage){.pid = i, .wall_ns = UINT64_MAX};
    report.report.ranks = (struct wire_usage_list){usages, WIRE_RANKS_MAX};
    ck_assert_msg(wire_encode(&report, &frame, error, sizeof(error)) == 0, "%s", error);
    ck_assert_msg(decode(&frame, &read) == 0, "%s", error);
    ck_assert_uint_eq(read.report.ranks.items[WIRE_RANKS_MAX - 1].pid, WIRE_RANKS_MAX - 1);
    wire_message_free(&read);
    bspz_buffer_free(&frame);
    free(usages);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wire limits");
    TCase *limits = tcase_create("limits");
    tcase_set_timeout(limits, 120);
    tcase_add_loop_test(limits, shapes_hold, 0, WIRE_KIND_COUNT);
    tcase_add_loop_test(limits, limits_hold, 0, WIRE_KIND_COUNT);
    tcase_add_test(limits, encoder_keeps_the_limits);
    tcase_add_test(limits, longest_lists_of_records_pass);
    suite_add_tcase(suite, limits);
    return suite_run(suite);
}
