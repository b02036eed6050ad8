/* schema.c - the message table as data, and its names. */
#include "lib/wire/schema.h"

#include <assert.h>

/* The lists are read and written through struct wire_list. */
#define CHECK_LIST_LAYOUT(name, fields)                                                            \
    _Static_assert(sizeof(struct wire_##name##_list) == sizeof(struct wire_list) &&                \
                       offsetof(struct wire_##name##_list, count) ==                               \
                           offsetof(struct wire_list, count),                                      \
                   "a list of records looks like any list");
WIRE_RECORDS(CHECK_LIST_LAYOUT)
_Static_assert(sizeof(struct wire_texts) == sizeof(struct wire_list), "texts look like any list");
_Static_assert(sizeof(struct wire_numbers) == sizeof(struct wire_list), "numbers do, too");

/* A field list does not name its struct, so each schema is made in a function of its own, where
 * `owner` names the struct.  An entry without a name ends each list, so that a message without
 * fields is not an empty array. */
#define DEFINE_SCHEMA(label, member, fields)                                                       \
    static const struct wire_schema *schema_of_##member(void)                                      \
    {                                                                                              \
        typedef struct wire_##member owner;                                                        \
        static const struct wire_field list[] = {                                                  \
            fields(WIRE_FIELD, WIRE_PART){NULL, WIRE_TYPE_u32, sizeof(owner), 0, NULL}};           \
        static const struct wire_schema schema = {label, list, sizeof(list) / sizeof(list[0]) - 1, \
                                                  sizeof(owner)};                                  \
        return &schema;                                                                            \
    }
#define DEFINE_RECORD_SCHEMA(name, fields)               DEFINE_SCHEMA(#name, name, fields)
#define DEFINE_MESSAGE_SCHEMA(KIND, member, fields, way) DEFINE_SCHEMA(#KIND, member, fields)

WIRE_RECORDS(DEFINE_RECORD_SCHEMA)
WIRE_MESSAGES(DEFINE_MESSAGE_SCHEMA)

const struct wire_schema *wire_schema(uint32_t kind)
{
#define MESSAGE_CASE(KIND, member, fields, way)                                                    \
    case WIRE_##KIND:                                                                              \
        return schema_of_##member();
    switch (kind) {
        WIRE_MESSAGES(MESSAGE_CASE)
    default:
        return NULL;
    }
}

enum wire_way wire_way(uint32_t kind)
{
#define WAY_OF(KIND, member, fields, way) [WIRE_##KIND] = WIRE_WAY_##way,
    static const enum wire_way ways[WIRE_KIND_COUNT] = {WIRE_MESSAGES(WAY_OF)};
    return kind < WIRE_KIND_COUNT ? ways[kind] : WIRE_WAY_NONE;
}

/* Messages that name their sender; this also checks that they have the field. */
#define SENDER_TO_AGENT(KIND, member)
#define SENDER_TO_BSPRUN(KIND, member)
#define SENDER_BOTH_WAYS(KIND, member)
#define SENDER_TO_ZERO(KIND, member)                                                               \
    case WIRE_##KIND:                                                                              \
        return &message->member.host;
#define SENDER_FROM_ZERO(KIND, member)
#define SENDER_AMONG_AGENTS(KIND, member)
#define SENDER_CASE(KIND, member, fields, way) SENDER_##way(KIND, member)

static const uint32_t *sender(const struct wire_message *message)
{
    switch ((unsigned)message->kind) {
        WIRE_MESSAGES(SENDER_CASE)
    default:
        assert(!"a message that names its sender");
        return NULL;
    }
}

uint32_t *wire_sender(struct wire_message *message)
{
    return (uint32_t *)sender(message);
}

uint32_t wire_sender_of(const struct wire_message *message)
{
    return *sender(message);
}

const struct wire_schema *wire_record_schema(enum wire_type type)
{
#define RECORD_CASE(name, fields)                                                                  \
    case WIRE_TYPE_##name:                                                                         \
        return schema_of_##name();
    switch (type) {
        WIRE_RECORDS(RECORD_CASE)
    default:
        return NULL;
    }
}

/* Any member will do, as all begin at the start of the union. */
void *wire_fields(struct wire_message *message)
{
    return &message->start;
}

const void *wire_const_fields(const struct wire_message *message)
{
    return &message->start;
}

const char *wire_kind_name(uint32_t kind)
{
    const struct wire_schema *schema = wire_schema(kind);
    return schema ? schema->name : "unknown";
}

static const char *pick(const char *const *texts, size_t count, uint32_t number)
{
    return number < count ? texts[number] : "unknown";
}

#define TEXT_OF(name, text) text,
#define DEFINE_TEXTS(function, list)                                                               \
    const char *function(uint32_t number)                                                          \
    {                                                                                              \
        static const char *const texts[] = {list(TEXT_OF)};                                        \
        return pick(texts, sizeof(texts) / sizeof(texts[0]), number);                              \
    }

DEFINE_TEXTS(wire_cause_text, WIRE_CAUSES)
DEFINE_TEXTS(wire_rank_state_text, WIRE_RANK_STATES)
DEFINE_TEXTS(wire_barrier_text, WIRE_BARRIERS)
DEFINE_TEXTS(wire_coming_text, WIRE_COMINGS)
DEFINE_TEXTS(wire_decision_text, WIRE_DECISIONS)
DEFINE_TEXTS(wire_stop_text, WIRE_STOPS)
DEFINE_TEXTS(wire_bind_text, WIRE_BINDS)
DEFINE_TEXTS(wire_map_text, WIRE_MAPS)
DEFINE_TEXTS(wire_why_text, WIRE_WHYS)
