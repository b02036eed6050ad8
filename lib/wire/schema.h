/* schema.h - the message table as data: what encoder and decoder walk through.  Internal. */
#ifndef WIRE_SCHEMA_H
#define WIRE_SCHEMA_H

#include "lib/wire/wire.h"

#define WIRE_ENUM_RECORD_TYPE(name, fields) WIRE_TYPE_##name,

enum wire_type {
    WIRE_TYPE_u32,
    WIRE_TYPE_u64,
    WIRE_TYPE_i32,
    WIRE_TYPE_flag,
    WIRE_TYPE_f64,
    WIRE_TYPE_text,
    WIRE_TYPE_bytes,
    WIRE_TYPE_digest,
    WIRE_TYPE_texts,
    WIRE_TYPE_numbers,
    WIRE_TYPE_RECORDS, /* the record types follow */
    WIRE_TYPE_BEFORE_RECORDS = WIRE_TYPE_RECORDS - 1,
    WIRE_RECORDS(WIRE_ENUM_RECORD_TYPE) WIRE_TYPE_COUNT
};

struct wire_field {
    const char *name;
    enum wire_type type;
    size_t offset; /* within the message's or record's struct */
    uint64_t limit;
    const struct wire_schema *record; /* of a list of a document's own records; else NULL */
};

/* The fields of tables as elements of a list of them, for the struct that `owner` is a name of. */
#define WIRE_FIELD_AT(type, name, member, limit)                                                   \
    {#name, WIRE_TYPE_##type, offsetof(owner, member), (uint64_t)(limit), NULL},
#define WIRE_FIELD(type, name, limit) WIRE_FIELD_AT(type, name, name, limit)
#define WIRE_PART(part, type, name)   part(WIRE_FIELD_AT, name)

struct wire_schema {
    const char *name;
    const struct wire_field *fields;
    uint32_t count;
    size_t size; /* of the struct */
};

/* The layout of every list: wire_texts, wire_numbers and the lists of records. */
struct wire_list {
    const void *items;
    uint32_t count;
};

/* Elements of a frame's outermost array before the fields: version, kind, job, term, superstep. */
#define WIRE_ENVELOPE_COUNT 5u

/* NULL outside of the table. */
const struct wire_schema *wire_schema(uint32_t kind);
/* type must be that of a record. */
const struct wire_schema *wire_record_schema(enum wire_type type);

/* The schema of the records of a list; NULL for other lists. */
static inline const struct wire_schema *wire_field_record(const struct wire_field *field)
{
    return field->record ? field->record : wire_record_schema(field->type);
}

/* The fields of a message, which begin at the start of the union. */
void *wire_fields(struct wire_message *message);
const void *wire_const_fields(const struct wire_message *message);

/* Walks the body as msgpack: one array with everything inside the given bytes, nested no deeper
 * than a message is, only types that messages use, a bounded number of elements.  msgpack-c trusts
 * the counts it reads and allocates accordingly, so it must not read what fails here. */
int wire_check(const void *body, size_t size, char *error, size_t error_size);

#endif
