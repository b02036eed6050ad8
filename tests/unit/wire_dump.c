/* wire_dump.c - see wire_dump.h. */
#include "tests/unit/wire_dump.h"

#include "lib/wire/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Elements of a list and bytes of a text that are shown. */
#define SHOWN_ITEMS 8u
#define SHOWN_BYTES 200u

/* A line of limited length; the rest is cut. */
struct line {
    char *text;
    size_t size;
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
    if (line->used + 1 >= line->size)
        return;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line->text + line->used, line->size - line->used, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    size_t room = line->size - line->used - 1;
    line->used += (size_t)length < room ? (size_t)length : room;
}

static void add_text(struct line *line, const char *text)
{
    add(line, "\"");
    size_t shown = 0;
    for (; text && text[shown] && shown < SHOWN_BYTES; shown++) {
        unsigned char c = (unsigned char)text[shown];
        if (c == '\n')
            add(line, "\\n");
        else if (c == '"' || c == '\\')
            add(line, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            add(line, "\\x%02x", c);
        else
            add(line, "%c", c);
    }
    add(line, text && text[shown] ? "\"..." : "\"");
}

static void add_u64(struct line *line, uint64_t number)
{
    if (number == WIRE_NEVER)
        add(line, "never");
    else
        add(line, "%llu", (unsigned long long)number);
}

static void add_fields(struct line *line, const struct wire_schema *schema, const void *fields);

static void add_list(struct line *line, const struct wire_field *field,
                     const struct wire_list *list)
{
    const struct wire_schema *record = wire_record_schema(field->type);
    add(line, "[");
    for (uint32_t i = 0; i < list->count && i < SHOWN_ITEMS; i++) {
        if (i > 0)
            add(line, ", ");
        if (field->type == WIRE_TYPE_texts) {
            add_text(line, ((const char *const *)list->items)[i]);
        } else if (field->type == WIRE_TYPE_numbers) {
            add_u64(line, ((const uint64_t *)list->items)[i]);
        } else {
            add(line, "{");
            add_fields(line, record, (const char *)list->items + i * record->size);
            add(line, "}");
        }
    }
    if (list->count > SHOWN_ITEMS)
        add(line, ", ... %u in all", list->count);
    add(line, "]");
}

static void add_field(struct line *line, const struct wire_field *field, const void *value)
{
    switch (field->type) {
    case WIRE_TYPE_u32:
        add(line, "%u", *(const uint32_t *)value);
        break;
    case WIRE_TYPE_u64:
        add_u64(line, *(const uint64_t *)value);
        break;
    case WIRE_TYPE_i32:
        add(line, "%d", *(const int32_t *)value);
        break;
    case WIRE_TYPE_flag:
        add(line, "%s", *(const bool *)value ? "yes" : "no");
        break;
    case WIRE_TYPE_f64:
        add(line, "%g", *(const double *)value);
        break;
    case WIRE_TYPE_text:
        add_text(line, *(const char *const *)value);
        break;
    case WIRE_TYPE_bytes:
        add(line, "<%u bytes>", ((const struct wire_bytes *)value)->size);
        break;
    case WIRE_TYPE_digest:
        add(line, "<%u bytes>", bspz_image_has_digest(value) ? BSPZ_IMAGE_DIGEST_SIZE : 0);
        break;
    default:
        add_list(line, field, value);
    }
}

static void add_fields(struct line *line, const struct wire_schema *schema, const void *fields)
{
    for (uint32_t i = 0; i < schema->count; i++) {
        const struct wire_field *field = &schema->fields[i];
        add(line, "%s%s=", i > 0 ? " " : "", field->name);
        add_field(line, field, (const char *)fields + field->offset);
    }
}

void wire_dump(const struct wire_message *message, char *text, size_t size)
{
    if (size == 0)
        return;
    struct line line = {text, size, 0};
    text[0] = '\0';
    add(&line, "%s term=%u superstep=", wire_kind_name(message->kind), message->envelope.term);
    add_u64(&line, message->envelope.superstep);
    const struct wire_schema *schema = wire_schema(message->kind);
    if (!schema)
        return;
    if (schema->count > 0)
        add(&line, " ");
    add_fields(&line, schema, wire_const_fields(message));
}
