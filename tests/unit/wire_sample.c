/* wire_sample.c - fills messages for tests by walking the schema, and compares them. */
#include "tests/unit/wire_sample.h"

#include <string.h>

#define LIST_MAX 5u

static const char *const texts[] = {"",           "a",          "two words",   "\xff\x80 not UTF-8",
                                    "line\nline", "NAME=value", "\"quoted\\\""};
static const unsigned char bytes[] = {0, 1, 2, 0xff, 0, 0x80};

/* Lists of records need room for whole structs; a round of the table never needs more. */
static _Alignas(max_align_t) char pool[65536];
static size_t pool_used;

static void *take(size_t size)
{
    void *memory = pool + pool_used;
    pool_used += (size + 15) / 16 * 16;
    return pool_used <= sizeof(pool) ? memory : NULL;
}

static uint64_t number(unsigned seed, uint64_t limit)
{
    uint64_t value = (uint64_t)seed * 0x9e3779b97f4a7c15u;
    if (seed % 3 == 0)
        value >>= 60; /* small numbers have encodings of their own */
    return limit == UINT64_MAX ? value : value % (limit + 1);
}

static void fill(const struct wire_schema *schema, unsigned seed, void *fields);

static void fill_list(const struct wire_field *field, unsigned seed, struct wire_list *list)
{
    uint32_t count = seed % (LIST_MAX + 1);
    if (count > field->limit)
        count = (uint32_t)field->limit;
    if (count == 0)
        return;
    if (field->type == WIRE_TYPE_texts) {
        const char **items = take(count * sizeof(*items));
        for (uint32_t i = 0; i < count; i++)
            items[i] = texts[(seed + i) % (sizeof(texts) / sizeof(texts[0]))];
        *list = (struct wire_list){items, count};
    } else if (field->type == WIRE_TYPE_numbers) {
        uint64_t *items = take(count * sizeof(*items));
        for (uint32_t i = 0; i < count; i++)
            items[i] = number(seed + i, UINT64_MAX);
        *list = (struct wire_list){items, count};
    } else {
        const struct wire_schema *record = wire_record_schema(field->type);
        char *items = take(count * record->size);
        for (uint32_t i = 0; i < count; i++)
            fill(record, seed + i, items + i * record->size);
        *list = (struct wire_list){items, count};
    }
}

static void fill_field(const struct wire_field *field, unsigned seed, void *value)
{
    switch (field->type) {
    case WIRE_TYPE_u32:
        *(uint32_t *)value = (uint32_t)number(seed, field->limit);
        break;
    case WIRE_TYPE_u64:
        *(uint64_t *)value = number(seed, field->limit);
        break;
    case WIRE_TYPE_i32:
        *(int32_t *)value = (int32_t)number(seed, field->limit) * (seed % 2 ? -1 : 1);
        break;
    case WIRE_TYPE_flag:
        *(bool *)value = seed % 2;
        break;
    case WIRE_TYPE_f64:
        *(double *)value = (double)seed / 7 - 1;
        break;
    case WIRE_TYPE_text:
        *(const char **)value = texts[seed % (sizeof(texts) / sizeof(texts[0]))];
        break;
    case WIRE_TYPE_bytes:
        *(struct wire_bytes *)value = (struct wire_bytes){bytes, seed % (sizeof(bytes) + 1)};
        break;
    case WIRE_TYPE_digest:
        memset(value, seed % 3 ? (int)seed : 0, BSPZ_IMAGE_DIGEST_SIZE);
        break;
    default:
        fill_list(field, seed, value);
    }
}

static void fill(const struct wire_schema *schema, unsigned seed, void *fields)
{
    memset(fields, 0, schema->size);
    for (uint32_t i = 0; i < schema->count; i++)
        fill_field(&schema->fields[i], seed * 31 + i, (char *)fields + schema->fields[i].offset);
}

void wire_sample(enum wire_kind kind, unsigned variant, struct wire_message *message)
{
    pool_used = 0;
    *message = (struct wire_message){.kind = kind};
    if (variant == 0)
        return;
    for (unsigned i = 0; i < WIRE_JOB_SIZE; i++)
        message->envelope.job[i] = (unsigned char)(variant * 17 + i);
    message->envelope.term = (uint32_t)number(variant, UINT32_MAX);
    message->envelope.superstep = number(variant + 1, UINT64_MAX);
    fill(wire_schema(kind), variant, wire_fields(message));
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool same(const struct wire_schema *schema, const void *a, const void *b,
                 const char **field);

static bool same_list(const struct wire_field *field, const struct wire_list *a,
                      const struct wire_list *b)
{
    if (a->count != b->count)
        return false;
    const struct wire_schema *record = wire_record_schema(field->type);
    const char *inner;
    for (uint32_t i = 0; i < a->count; i++) {
        bool equal;
        if (field->type == WIRE_TYPE_texts)
            equal =
                same_text(((const char *const *)a->items)[i], ((const char *const *)b->items)[i]);
        else if (field->type == WIRE_TYPE_numbers)
            equal = ((const uint64_t *)a->items)[i] == ((const uint64_t *)b->items)[i];
        else
            equal = same(record, (const char *)a->items + i * record->size,
                         (const char *)b->items + i * record->size, &inner);
        if (!equal)
            return false;
    }
    return true;
}

static bool same_field(const struct wire_field *field, const void *a, const void *b)
{
    switch (field->type) {
    case WIRE_TYPE_u32:
        return *(const uint32_t *)a == *(const uint32_t *)b;
    case WIRE_TYPE_u64:
        return *(const uint64_t *)a == *(const uint64_t *)b;
    case WIRE_TYPE_i32:
        return *(const int32_t *)a == *(const int32_t *)b;
    case WIRE_TYPE_flag:
        return *(const bool *)a == *(const bool *)b;
    case WIRE_TYPE_f64:
        return memcmp(a, b, sizeof(double)) == 0;
    case WIRE_TYPE_text:
        return same_text(*(const char *const *)a, *(const char *const *)b);
    case WIRE_TYPE_bytes: {
        const struct wire_bytes *x = a, *y = b;
        return x->size == y->size && (x->size == 0 || memcmp(x->data, y->data, x->size) == 0);
    }
    case WIRE_TYPE_digest:
        return memcmp(a, b, BSPZ_IMAGE_DIGEST_SIZE) == 0;
    default:
        return same_list(field, a, b);
    }
}

static bool same(const struct wire_schema *schema, const void *a, const void *b, const char **field)
{
    for (uint32_t i = 0; i < schema->count; i++) {
        const struct wire_field *f = &schema->fields[i];
        *field = f->name;
        if (!same_field(f, (const char *)a + f->offset, (const char *)b + f->offset))
            return false;
    }
    return true;
}

bool wire_same(const struct wire_message *a, const struct wire_message *b, const char **field)
{
    *field = "kind";
    if (a->kind != b->kind)
        return false;
    *field = "envelope";
    if (memcmp(a->envelope.job, b->envelope.job, WIRE_JOB_SIZE) != 0 ||
        a->envelope.term != b->envelope.term || a->envelope.superstep != b->envelope.superstep)
        return false;
    return same(wire_schema(a->kind), wire_const_fields(a), wire_const_fields(b), field);
}
