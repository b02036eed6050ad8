/* encode.c - messages to frames.  Walks the schema of the message's kind. */
#include "lib/base/error_text.h"
#include "lib/wire/document.h"
#include "lib/wire/schema.h"

#include <errno.h>
#include <math.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

struct encoder {
    struct bspz_buffer *buffer;
    size_t body; /* offset of the body */
    int failed;  /* the first error of append, as msgpack-c passes on only that it failed */
    const char *kind;
    char *error;
    size_t error_size;
};

/* The output function of msgpack-c, called for every few bytes. */
static int append(void *context, const char *data, size_t size)
{
    struct encoder *encoder = context;
    struct bspz_buffer *buffer = encoder->buffer;
    if (encoder->failed)
        return -1;
    if (buffer->size - encoder->body + size > WIRE_FRAME_MAX)
        encoder->failed = -EMSGSIZE;
    else if (!bspz_buffer_add(buffer, data, size))
        encoder->failed = -ENOMEM;
    return encoder->failed ? -1 : 0;
}

static int refuse(struct encoder *encoder, const struct wire_field *field, const char *text)
{
    return bspz_error_text(encoder->error, encoder->error_size, -EINVAL, "%s: %s %s", encoder->kind,
                           field->name, text);
}

static int pack_text(struct encoder *encoder, msgpack_packer *packer,
                     const struct wire_field *field, const char *text, uint64_t limit)
{
    size_t length = text ? strlen(text) : 0;
    if (length > limit)
        return bspz_error_text(encoder->error, encoder->error_size, -EINVAL,
                               "%s: %s has %zu bytes, %llu are allowed", encoder->kind, field->name,
                               length, (unsigned long long)limit);
    msgpack_pack_str(packer, length);
    msgpack_pack_str_body(packer, text, length);
    return 0;
}

static int pack_fields(struct encoder *encoder, msgpack_packer *packer,
                       const struct wire_schema *schema, const void *fields);

static int pack_list(struct encoder *encoder, msgpack_packer *packer,
                     const struct wire_field *field, const struct wire_list *list)
{
    if (list->count > field->limit)
        return bspz_error_text(encoder->error, encoder->error_size, -EINVAL,
                               "%s: %s has %u elements, %llu are allowed", encoder->kind,
                               field->name, list->count, (unsigned long long)field->limit);
    msgpack_pack_array(packer, list->count);
    const struct wire_schema *record = wire_field_record(field);
    for (uint32_t i = 0; i < list->count; i++) {
        int result = 0;
        if (field->type == WIRE_TYPE_texts) {
            const char *const *texts = list->items;
            result = pack_text(encoder, packer, field, texts[i], WIRE_ITEM_MAX);
        } else if (field->type == WIRE_TYPE_numbers) {
            const uint64_t *numbers = list->items;
            msgpack_pack_uint64(packer, numbers[i]);
        } else {
            msgpack_pack_array(packer, record->count);
            const char *item = (const char *)list->items + i * record->size;
            result = pack_fields(encoder, packer, record, item);
        }
        if (result < 0)
            return result;
        if (encoder->failed)
            return encoder->failed;
    }
    return 0;
}

static int pack_field(struct encoder *encoder, msgpack_packer *packer,
                      const struct wire_field *field, const void *value)
{
    switch (field->type) {
    case WIRE_TYPE_u32: {
        uint32_t number = *(const uint32_t *)value;
        if (number > field->limit)
            return refuse(encoder, field, "is too large");
        msgpack_pack_uint32(packer, number);
        return 0;
    }
    case WIRE_TYPE_u64: {
        uint64_t number = *(const uint64_t *)value;
        if (number > field->limit)
            return refuse(encoder, field, "is too large");
        msgpack_pack_uint64(packer, number);
        return 0;
    }
    case WIRE_TYPE_i32: {
        int64_t number = *(const int32_t *)value;
        if (number > (int64_t)field->limit || -number > (int64_t)field->limit)
            return refuse(encoder, field, "is out of range");
        msgpack_pack_int32(packer, (int32_t)number);
        return 0;
    }
    case WIRE_TYPE_flag:
        if (*(const bool *)value)
            msgpack_pack_true(packer);
        else
            msgpack_pack_false(packer);
        return 0;
    case WIRE_TYPE_f64:
        if (!isfinite(*(const double *)value))
            return refuse(encoder, field, "is not finite");
        msgpack_pack_double(packer, *(const double *)value);
        return 0;
    case WIRE_TYPE_text:
        return pack_text(encoder, packer, field, *(const char *const *)value, field->limit);
    case WIRE_TYPE_bytes: {
        const struct wire_bytes *bytes = value;
        if (bytes->size > field->limit)
            return refuse(encoder, field, "is too long");
        msgpack_pack_bin(packer, bytes->size);
        msgpack_pack_bin_body(packer, bytes->data, bytes->size);
        return 0;
    }
    case WIRE_TYPE_digest: {
        uint32_t size = bspz_image_has_digest(value) ? BSPZ_IMAGE_DIGEST_SIZE : 0;
        msgpack_pack_bin(packer, size);
        msgpack_pack_bin_body(packer, value, size);
        return 0;
    }
    default:
        return pack_list(encoder, packer, field, value);
    }
}

static int pack_fields(struct encoder *encoder, msgpack_packer *packer,
                       const struct wire_schema *schema, const void *fields)
{
    for (uint32_t i = 0; i < schema->count; i++) {
        const struct wire_field *field = &schema->fields[i];
        int result = pack_field(encoder, packer, field, (const char *)fields + field->offset);
        if (result < 0)
            return result;
    }
    return 0;
}

static int pack_body(struct encoder *encoder, const struct wire_schema *schema,
                     const struct wire_message *message)
{
    msgpack_packer packer;
    msgpack_packer_init(&packer, encoder, append);
    msgpack_pack_array(&packer, WIRE_ENVELOPE_COUNT + schema->count);
    msgpack_pack_uint32(&packer, WIRE_VERSION);
    msgpack_pack_uint32(&packer, message->kind);
    msgpack_pack_bin(&packer, WIRE_JOB_SIZE);
    msgpack_pack_bin_body(&packer, message->envelope.job, WIRE_JOB_SIZE);
    msgpack_pack_uint32(&packer, message->envelope.term);
    msgpack_pack_uint64(&packer, message->envelope.superstep);
    int result = pack_fields(encoder, &packer, schema, wire_const_fields(message));
    if (encoder->failed == -EMSGSIZE)
        return bspz_error_text(encoder->error, encoder->error_size, -EMSGSIZE,
                               "%s: longer than a message may be (%u bytes)", encoder->kind,
                               WIRE_FRAME_MAX);
    if (encoder->failed)
        return bspz_error_text(encoder->error, encoder->error_size, encoder->failed,
                               "out of memory");
    return result;
}

int wire_document_encode(const struct wire_schema *schema, const void *fields,
                         struct bspz_buffer *buffer, char *error, size_t error_size)
{
    struct encoder encoder = {.buffer = buffer,
                              .body = buffer->size,
                              .kind = schema->name,
                              .error = error,
                              .error_size = error_size};
    size_t before = buffer->size;
    msgpack_packer packer;

    msgpack_packer_init(&packer, &encoder, append);
    msgpack_pack_array(&packer, schema->count);
    int result = pack_fields(&encoder, &packer, schema, fields);
    if (encoder.failed == -EMSGSIZE)
        result = bspz_error_text(error, error_size, -EMSGSIZE, "%s: longer than %u bytes",
                                 schema->name, WIRE_FRAME_MAX);
    else if (encoder.failed)
        result = bspz_error_text(error, error_size, encoder.failed, "out of memory");
    if (result < 0)
        buffer->size = before;
    return result;
}

int wire_encode(const struct wire_message *message, struct bspz_buffer *buffer, char *error,
                size_t error_size)
{
    const struct wire_schema *schema = wire_schema(message->kind);
    if (!schema)
        return bspz_error_text(error, error_size, -EINVAL, "there is no message of kind %u",
                               (unsigned)message->kind);
    size_t before = buffer->size;
    if (!bspz_buffer_reserve(buffer, WIRE_HEADER))
        return bspz_error_text(error, error_size, -ENOMEM, "out of memory");
    buffer->size += WIRE_HEADER;

    struct encoder encoder = {.buffer = buffer,
                              .body = buffer->size,
                              .kind = schema->name,
                              .error = error,
                              .error_size = error_size};
    int result = pack_body(&encoder, schema, message);
    if (result < 0) {
        buffer->size = before;
        return result;
    }
    size_t length = buffer->size - encoder.body;
    for (unsigned i = 0; i < WIRE_HEADER; i++)
        buffer->data[before + i] = (unsigned char)(length >> (8 * i));
    return 0;
}

uint32_t wire_frame_length(const unsigned char *header)
{
    return (uint32_t)header[0] | (uint32_t)header[1] << 8 | (uint32_t)header[2] << 16 |
           (uint32_t)header[3] << 24;
}
