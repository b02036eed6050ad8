/* decode.c - frames to messages.  Checks the shape first (check.c), then lets msgpack-c read the
 * body, then takes the values field by field by the schema, and copies texts and lists. */
#include "lib/base/error_text.h"
#include "lib/wire/document.h"
#include "lib/wire/schema.h"

#include <errno.h>
#include <math.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

/* The memory behind a decoded message: a chain of blocks, freed together. */
struct block {
    struct block *next;
    size_t used;
    size_t size;
    max_align_t data[];
};

struct decoder {
    struct block *blocks;
    size_t block_size; /* of the next ordinary block */
    const char *kind;
    char *error;
    size_t error_size;
};

static void free_blocks(struct block *block)
{
    while (block) {
        struct block *next = block->next;
        free(block);
        block = next;
    }
}

static void *take_memory(struct decoder *decoder, size_t size)
{
    size_t rounded = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    struct block *block = decoder->blocks;
    if (!block || block->size - block->used < rounded) {
        size_t room = rounded > decoder->block_size ? rounded : decoder->block_size;
        block = malloc(sizeof(*block) + room);
        if (!block)
            return NULL;
        *block = (struct block){.next = decoder->blocks, .size = room};
        decoder->blocks = block;
    }
    void *memory = (char *)block->data + block->used;
    block->used += rounded;
    return memory;
}

static int refuse(struct decoder *decoder, const struct wire_field *field, const char *text)
{
    return bspz_error_text(decoder->error, decoder->error_size, -EPROTO, "%s: %s %s", decoder->kind,
                           field->name, text);
}

static int no_memory(struct decoder *decoder)
{
    return bspz_error_text(decoder->error, decoder->error_size, -ENOMEM, "out of memory");
}

/* A string or byte string of bounded length, copied and followed by a NUL. */
static int take_bytes(struct decoder *decoder, const struct wire_field *field, const char *from,
                      uint32_t size, uint64_t limit, char **to)
{
    if (size > limit)
        return refuse(decoder, field, "is too long");
    char *copy = take_memory(decoder, (size_t)size + 1);
    if (!copy)
        return no_memory(decoder);
    if (size > 0)
        memcpy(copy, from, size);
    copy[size] = '\0';
    *to = copy;
    return 0;
}

static int take_text(struct decoder *decoder, const struct wire_field *field,
                     const msgpack_object *object, uint64_t limit, const char **to)
{
    if (object->type != MSGPACK_OBJECT_STR)
        return refuse(decoder, field, "is not a text");
    if (object->via.str.size > 0 && memchr(object->via.str.ptr, '\0', object->via.str.size))
        return refuse(decoder, field, "has a NUL in it");
    char *copy;
    int result =
        take_bytes(decoder, field, object->via.str.ptr, object->via.str.size, limit, &copy);
    if (result == 0)
        *to = copy;
    return result;
}

static int take_digest(struct decoder *decoder, const struct wire_field *field,
                       const msgpack_object *object, uint8_t *to)
{
    if (object->type != MSGPACK_OBJECT_BIN ||
        (object->via.bin.size != 0 && object->via.bin.size != BSPZ_IMAGE_DIGEST_SIZE))
        return refuse(decoder, field, "is not a digest");
    if (object->via.bin.size > 0)
        memcpy(to, object->via.bin.ptr, BSPZ_IMAGE_DIGEST_SIZE);
    return 0;
}

static int take_unsigned(struct decoder *decoder, const struct wire_field *field,
                         const msgpack_object *object, uint64_t *number)
{
    if (object->type != MSGPACK_OBJECT_POSITIVE_INTEGER)
        return refuse(decoder, field, "is not an unsigned number");
    if (object->via.u64 > field->limit)
        return refuse(decoder, field, "is too large");
    *number = object->via.u64;
    return 0;
}

static int take_signed(struct decoder *decoder, const struct wire_field *field,
                       const msgpack_object *object, int32_t *number)
{
    if (object->type == MSGPACK_OBJECT_POSITIVE_INTEGER && object->via.u64 <= field->limit)
        *number = (int32_t)object->via.u64;
    else if (object->type == MSGPACK_OBJECT_NEGATIVE_INTEGER &&
             object->via.i64 >= -(int64_t)field->limit)
        *number = (int32_t)object->via.i64;
    else
        return refuse(decoder, field, "is not a number in range");
    return 0;
}

static int take_fields(struct decoder *decoder, const struct wire_schema *schema,
                       const msgpack_object *objects, void *fields);

/* The list's element number i from its object. */
static int take_item(struct decoder *decoder, const struct wire_field *field,
                     const msgpack_object *object, void *items, uint32_t i)
{
    if (field->type == WIRE_TYPE_texts)
        return take_text(decoder, field, object, WIRE_ITEM_MAX, (const char **)items + i);
    if (field->type == WIRE_TYPE_numbers) {
        if (object->type != MSGPACK_OBJECT_POSITIVE_INTEGER)
            return refuse(decoder, field, "has an element that is not an unsigned number");
        ((uint64_t *)items)[i] = object->via.u64;
        return 0;
    }
    const struct wire_schema *record = wire_field_record(field);
    if (object->type != MSGPACK_OBJECT_ARRAY || object->via.array.size != record->count)
        return refuse(decoder, field, "has an element of another shape");
    return take_fields(decoder, record, object->via.array.ptr, (char *)items + i * record->size);
}

static size_t item_size(const struct wire_field *field)
{
    if (field->type == WIRE_TYPE_texts)
        return sizeof(const char *);
    if (field->type == WIRE_TYPE_numbers)
        return sizeof(uint64_t);
    return wire_field_record(field)->size;
}

static int take_list(struct decoder *decoder, const struct wire_field *field,
                     const msgpack_object *object, struct wire_list *list)
{
    if (object->type != MSGPACK_OBJECT_ARRAY)
        return refuse(decoder, field, "is not a list");
    uint32_t count = object->via.array.size;
    if (count > field->limit)
        return refuse(decoder, field, "has too many elements");
    if (count == 0)
        return 0;
    void *items = take_memory(decoder, count * item_size(field));
    if (!items)
        return no_memory(decoder);
    for (uint32_t i = 0; i < count; i++) {
        int result = take_item(decoder, field, &object->via.array.ptr[i], items, i);
        if (result < 0)
            return result;
    }
    list->items = items;
    list->count = count;
    return 0;
}

static int take_field(struct decoder *decoder, const struct wire_field *field,
                      const msgpack_object *object, void *value)
{
    uint64_t number = 0;
    int result = 0;
    switch (field->type) {
    case WIRE_TYPE_u32:
        result = take_unsigned(decoder, field, object, &number);
        if (result == 0)
            *(uint32_t *)value = (uint32_t)number;
        return result;
    case WIRE_TYPE_u64:
        return take_unsigned(decoder, field, object, value);
    case WIRE_TYPE_i32:
        return take_signed(decoder, field, object, value);
    case WIRE_TYPE_flag:
        if (object->type != MSGPACK_OBJECT_BOOLEAN)
            return refuse(decoder, field, "is not a flag");
        *(bool *)value = object->via.boolean;
        return 0;
    case WIRE_TYPE_f64:
        if (object->type != MSGPACK_OBJECT_FLOAT64 || !isfinite(object->via.f64))
            return refuse(decoder, field, "is not a finite number");
        *(double *)value = object->via.f64;
        return 0;
    case WIRE_TYPE_text:
        return take_text(decoder, field, object, field->limit, value);
    case WIRE_TYPE_bytes: {
        if (object->type != MSGPACK_OBJECT_BIN)
            return refuse(decoder, field, "is not bytes");
        char *copy;
        result = take_bytes(decoder, field, object->via.bin.ptr, object->via.bin.size, field->limit,
                            &copy);
        if (result == 0)
            *(struct wire_bytes *)value = (struct wire_bytes){copy, object->via.bin.size};
        return result;
    }
    case WIRE_TYPE_digest:
        return take_digest(decoder, field, object, value);
    default:
        return take_list(decoder, field, object, value);
    }
}

static int take_fields(struct decoder *decoder, const struct wire_schema *schema,
                       const msgpack_object *objects, void *fields)
{
    memset(fields, 0, schema->size);
    for (uint32_t i = 0; i < schema->count; i++) {
        const struct wire_field *field = &schema->fields[i];
        int result = take_field(decoder, field, &objects[i], (char *)fields + field->offset);
        if (result < 0)
            return result;
    }
    return 0;
}

static bool is_number(const msgpack_object *object, uint64_t max)
{
    return object->type == MSGPACK_OBJECT_POSITIVE_INTEGER && object->via.u64 <= max;
}

static int take_message(struct decoder *decoder, const msgpack_object *body,
                        struct wire_message *message)
{
    const msgpack_object *objects = body->via.array.ptr;
    uint32_t count = body->via.array.size;
    char *error = decoder->error;
    size_t error_size = decoder->error_size;

    if (count < 1 || !is_number(&objects[0], UINT32_MAX) || objects[0].via.u64 != WIRE_VERSION)
        return bspz_error_text(error, error_size, -EPROTO, "not version %u of the protocol",
                               WIRE_VERSION);
    if (count < WIRE_ENVELOPE_COUNT || !is_number(&objects[1], UINT32_MAX))
        return bspz_error_text(error, error_size, -EPROTO, "an incomplete envelope");
    const struct wire_schema *schema = wire_schema((uint32_t)objects[1].via.u64);
    if (!schema)
        return bspz_error_text(error, error_size, -EPROTO, "there is no message of kind %llu",
                               (unsigned long long)objects[1].via.u64);
    decoder->kind = schema->name;
    if (objects[2].type != MSGPACK_OBJECT_BIN || objects[2].via.bin.size != WIRE_JOB_SIZE ||
        !is_number(&objects[3], UINT32_MAX) || !is_number(&objects[4], UINT64_MAX))
        return bspz_error_text(error, error_size, -EPROTO, "%s: a damaged envelope", schema->name);
    if (count != WIRE_ENVELOPE_COUNT + schema->count)
        return bspz_error_text(error, error_size, -EPROTO, "%s: %u fields instead of %u",
                               schema->name, count - WIRE_ENVELOPE_COUNT, schema->count);

    message->kind = (enum wire_kind)objects[1].via.u64;
    memcpy(message->envelope.job, objects[2].via.bin.ptr, WIRE_JOB_SIZE);
    message->envelope.term = (uint32_t)objects[3].via.u64;
    message->envelope.superstep = objects[4].via.u64;
    return take_fields(decoder, schema, objects + WIRE_ENVELOPE_COUNT, wire_fields(message));
}

/* Lets msgpack-c read a body that has passed wire_check. */
static int unpack(const void *body, size_t size, msgpack_unpacked *unpacked, char *error,
                  size_t error_size)
{
    size_t offset = 0;

    msgpack_unpacked_init(unpacked);
    switch (msgpack_unpack_next(unpacked, body, size, &offset)) {
    case MSGPACK_UNPACK_SUCCESS:
        return 0;
    case MSGPACK_UNPACK_NOMEM_ERROR:
        msgpack_unpacked_destroy(unpacked);
        return bspz_error_text(error, error_size, -ENOMEM, "out of memory");
    default:
        msgpack_unpacked_destroy(unpacked);
        return bspz_error_text(error, error_size, -EPROTO, "not msgpack");
    }
}

int wire_document_decode(const struct wire_schema *schema, const void *body, size_t size,
                         void *fields, void **memory, char *error, size_t error_size)
{
    struct decoder decoder = {.block_size = size < 4096 ? 1024 : 65536,
                              .kind = schema->name,
                              .error = error,
                              .error_size = error_size};
    msgpack_unpacked unpacked;

    if (size > WIRE_FRAME_MAX)
        return bspz_error_text(error, error_size, -EMSGSIZE, "%s: longer than %u bytes",
                               schema->name, WIRE_FRAME_MAX);
    int result = wire_check(body, size, error, error_size);
    if (result == 0)
        result = unpack(body, size, &unpacked, error, error_size);
    if (result < 0)
        return result;
    const msgpack_object_array *array = &unpacked.data.via.array;
    if (array->size == schema->count)
        result = take_fields(&decoder, schema, array->ptr, fields);
    else
        result = bspz_error_text(error, error_size, -EPROTO, "%s: %u fields instead of %u",
                                 schema->name, array->size, schema->count);
    msgpack_unpacked_destroy(&unpacked);
    if (result < 0)
        free_blocks(decoder.blocks);
    else
        *memory = decoder.blocks;
    return result;
}

void wire_document_free(void *memory)
{
    free_blocks(memory);
}

int wire_decode(const void *body, size_t size, struct wire_message *message, char *error,
                size_t error_size)
{
    if (size > WIRE_FRAME_MAX)
        return bspz_error_text(error, error_size, -EMSGSIZE,
                               "longer than a message may be (%u bytes)", WIRE_FRAME_MAX);
    int result = wire_check(body, size, error, error_size);
    if (result < 0)
        return result;

    msgpack_unpacked unpacked;
    result = unpack(body, size, &unpacked, error, error_size);
    if (result < 0)
        return result;

    struct decoder decoder = {.block_size = size < 4096 ? 1024 : 65536,
                              .kind = "message",
                              .error = error,
                              .error_size = error_size};
    struct wire_message decoded = {0};
    result = take_message(&decoder, &unpacked.data, &decoded);
    msgpack_unpacked_destroy(&unpacked);
    if (result < 0) {
        free_blocks(decoder.blocks);
        return result;
    }
    decoded.memory = decoder.blocks;
    *message = decoded;
    return 0;
}

void wire_message_free(struct wire_message *message)
{
    if (!message)
        return;
    free_blocks(message->memory);
    message->memory = NULL;
}

int wire_copy(const struct wire_message *message, struct wire_message *copy, char *error,
              size_t error_size)
{
    struct bspz_buffer buffer = {0};
    int result = wire_encode(message, &buffer, error, error_size);
    if (result == 0)
        result = wire_decode(buffer.data + WIRE_HEADER, buffer.size - WIRE_HEADER, copy, error,
                             error_size);
    bspz_buffer_free(&buffer);
    return result;
}
