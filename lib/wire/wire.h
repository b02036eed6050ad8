/* wire.h - the control protocol between bsprun, node agents and Processor Zero.
 *
 * A message is a struct wire_message: an envelope that every message has, and the fields of its
 * kind in the union (see wire_table.h for the kinds, their fields and limits).  On a connection it
 * is a frame: the body's length as a 32-bit little-endian number, then the body.  Nothing here
 * does I/O or keeps state.
 *
 * Functions return 0 or a negative errno value; then `error` (when not NULL) holds one line that
 * says what is wrong, without a newline.  Output parameters are written only on success.
 */
#ifndef WIRE_H
#define WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buffer.h"
#include "lib/base/snapshot.h"
#include "lib/wire/wire_table.h"

#define WIRE_VERSION                     2u         /* in every frame; another number is refused */
#define WIRE_HEADER                      4u         /* bytes before the body */
#define WIRE_FRAME_MAX                   16777216u  /* bytes of a body */
#define WIRE_JOB_SIZE                    16u        /* bytes of a job id */
#define WIRE_ERROR_SIZE                  256u       /* enough room for any error text */
#define WIRE_NEVER                       UINT64_MAX /* a superstep that no job reaches */

/* ---- Enumerations ------------------------------------------------------------------------- */

#define WIRE_ENUM_CAUSE(name, text)      WIRE_CAUSE_##name,
#define WIRE_ENUM_RANK_STATE(name, text) WIRE_RANK_##name,
#define WIRE_ENUM_BARRIER(name, text)    WIRE_BARRIER_##name,
#define WIRE_ENUM_COMING(name, text)     WIRE_COMING_##name,
#define WIRE_ENUM_DECISION(name, text)   WIRE_DECISION_##name,
#define WIRE_ENUM_STOP(name, text)       WIRE_STOP_##name,
#define WIRE_ENUM_BIND(name, text)       WIRE_BIND_##name,
#define WIRE_ENUM_MAP(name, text)        WIRE_MAP_##name,
#define WIRE_ENUM_STDIO(name, text)      WIRE_STDIO_##name,
#define WIRE_ENUM_RULE(name, text)       WIRE_RULE_##name,
#define WIRE_ENUM_ASYNC(name, text)      WIRE_ASYNC_##name,
#define WIRE_ENUM_WHY(name, text)        WIRE_WHY_##name,
#define WIRE_ENUM_THING(name, text)      WIRE_THING_##name,
#define WIRE_ENUM_POLICY(name, text)     WIRE_POLICY_##name,
#define WIRE_ENUM_ACT(name, text)        WIRE_ACT_##name,
#define WIRE_ENUM_MISMATCH(name, text)   WIRE_MISMATCH_##name,
#define WIRE_ENUM_ATTACH(name, text)     WIRE_ATTACH_##name,

/* Why a job ended. */
enum wire_cause {
    WIRE_CAUSES(WIRE_ENUM_CAUSE) WIRE_CAUSE_COUNT,
    WIRE_CAUSE_LAST = WIRE_CAUSE_COUNT - 1
};
/* What a process is doing. */
enum wire_rank_state {
    WIRE_RANK_STATES(WIRE_ENUM_RANK_STATE) WIRE_RANK_STATE_COUNT,
    WIRE_RANK_STATE_LAST = WIRE_RANK_STATE_COUNT - 1
};
/* What happens with a process that comes to a host. */
enum wire_coming_state {
    WIRE_COMINGS(WIRE_ENUM_COMING) WIRE_COMING_COUNT,
    WIRE_COMING_LAST = WIRE_COMING_COUNT - 1
};
/* At which barrier a host has arrived. */
enum wire_barrier {
    WIRE_BARRIERS(WIRE_ENUM_BARRIER) WIRE_BARRIER_COUNT,
    WIRE_BARRIER_LAST = WIRE_BARRIER_COUNT - 1
};
/* What happens at a barrier. */
enum wire_decision {
    WIRE_DECISIONS(WIRE_ENUM_DECISION) WIRE_DECISION_COUNT,
    WIRE_DECISION_LAST = WIRE_DECISION_COUNT - 1
};
/* How bsprun wants the job stopped. */
enum wire_stop_how {
    WIRE_STOPS(WIRE_ENUM_STOP) WIRE_STOP_COUNT,
    WIRE_STOP_LAST = WIRE_STOP_COUNT - 1
};
enum wire_bind { WIRE_BINDS(WIRE_ENUM_BIND) WIRE_BIND_COUNT, WIRE_BIND_LAST = WIRE_BIND_COUNT - 1 };
enum wire_map { WIRE_MAPS(WIRE_ENUM_MAP) WIRE_MAP_COUNT, WIRE_MAP_LAST = WIRE_MAP_COUNT - 1 };
/* Whether processes inherit bsprun's stdout and stderr, or it is relayed (how it is shown).  PLAIN:
 * shown as if they had inherited it, and process 0 gets its stdin by INPUT. */
enum wire_stdio {
    WIRE_STDIOS(WIRE_ENUM_STDIO) WIRE_STDIO_COUNT,
    WIRE_STDIO_LAST = WIRE_STDIO_COUNT - 1
};

enum wire_rule { WIRE_RULES(WIRE_ENUM_RULE) WIRE_RULE_COUNT, WIRE_RULE_LAST = WIRE_RULE_COUNT - 1 };
enum wire_async {
    WIRE_ASYNCS(WIRE_ENUM_ASYNC) WIRE_ASYNC_COUNT,
    WIRE_ASYNC_LAST = WIRE_ASYNC_COUNT - 1
};
/* The reason for the interval between snapshots. */
enum wire_why { WIRE_WHYS(WIRE_ENUM_WHY) WIRE_WHY_COUNT, WIRE_WHY_LAST = WIRE_WHY_COUNT - 1 };
enum wire_thing {
    WIRE_THINGS(WIRE_ENUM_THING) WIRE_THING_COUNT,
    WIRE_THING_LAST = WIRE_THING_COUNT - 1
};
/* What is done on a host whose owner is active. */
enum wire_policy {
    WIRE_OWNER_POLICIES(WIRE_ENUM_POLICY) WIRE_POLICY_COUNT,
    WIRE_POLICY_LAST = WIRE_POLICY_COUNT - 1
};
enum wire_act { WIRE_OWNER_ACTS(WIRE_ENUM_ACT) WIRE_ACT_COUNT, WIRE_ACT_LAST = WIRE_ACT_COUNT - 1 };

/* What is done when replicas of a process communicate different things. */
enum wire_mismatch {
    WIRE_MISMATCHES(WIRE_ENUM_MISMATCH) WIRE_MISMATCH_COUNT,
    WIRE_MISMATCH_LAST = WIRE_MISMATCH_COUNT - 1
};
/* What is done with a process before it ends of an error. */
enum wire_attach {
    WIRE_ATTACHES(WIRE_ENUM_ATTACH) WIRE_ATTACH_COUNT,
    WIRE_ATTACH_LAST = WIRE_ATTACH_COUNT - 1
};

/* The texts of the tables; "unknown" for a number outside of them. */
const char *wire_cause_text(uint32_t cause);
const char *wire_rank_state_text(uint32_t state);
const char *wire_barrier_text(uint32_t barrier);
const char *wire_coming_text(uint32_t state);
const char *wire_decision_text(uint32_t decision);
const char *wire_stop_text(uint32_t how);
const char *wire_bind_text(uint32_t bind);
const char *wire_map_text(uint32_t map);
const char *wire_why_text(uint32_t why);

/* ---- Messages ----------------------------------------------------------------------------- */

struct wire_bytes {
    const void *data;
    uint32_t size;
};
struct wire_texts {
    const char *const *items;
    uint32_t count;
};
struct wire_numbers {
    const uint64_t *items;
    uint32_t count;
};

/* The C type of each field type. */
typedef uint32_t wire_t_u32;
typedef uint64_t wire_t_u64;
typedef int32_t wire_t_i32;
typedef bool wire_t_flag;
typedef double wire_t_f64;
typedef const char *wire_t_text;
typedef struct wire_bytes wire_t_bytes;
typedef struct wire_texts wire_t_texts;
typedef struct wire_numbers wire_t_numbers;

/* For every record: struct wire_host {...} and the list of them, struct wire_host_list. */
#define WIRE_DECLARE_FIELD(type, name, limit) wire_t_##type name;
#define WIRE_DECLARE_PART(part, type, name)   type name;
#define WIRE_DECLARE_RECORD(name, fields)                                                          \
    struct wire_##name {                                                                           \
        fields(WIRE_DECLARE_FIELD, WIRE_DECLARE_PART)                                              \
    };                                                                                             \
    struct wire_##name##_list {                                                                    \
        const struct wire_##name *items;                                                           \
        uint32_t count;                                                                            \
    };                                                                                             \
    typedef struct wire_##name##_list wire_t_##name;

WIRE_RECORDS(WIRE_DECLARE_RECORD)

#define WIRE_DECLARE_MEMBER_OF(type, name, member, limit) wire_t_##type name;

struct wire_learned {
    WIRE_PART_LEARNED(WIRE_DECLARE_MEMBER_OF, )
};

#define WIRE_DECLARE_KIND(KIND, member, fields, way) WIRE_##KIND,

enum wire_kind { WIRE_MESSAGES(WIRE_DECLARE_KIND) WIRE_KIND_COUNT };

struct wire_envelope {
    unsigned char job[WIRE_JOB_SIZE]; /* the same in every message of a job */
    uint32_t term;                    /* the term of the sender; 0 before the first election */
    uint64_t superstep;               /* the subject of the message; 0 if it has none */
};

#define WIRE_DECLARE_STRUCT(KIND, member, fields, way)                                             \
    struct wire_##member {                                                                         \
        fields(WIRE_DECLARE_FIELD, WIRE_DECLARE_PART)                                              \
    };
#define WIRE_DECLARE_MEMBER(KIND, member, fields, way) struct wire_##member member;

WIRE_MESSAGES(WIRE_DECLARE_STRUCT)

/* Pointers in a message that was built by hand belong to whoever built it and must last until
 * wire_encode returns (a NULL text counts as "").  Those in a decoded message point into `memory`
 * and last until wire_message_free; texts there are never NULL and end with a NUL, lists without
 * elements have a NULL `items`. */
struct wire_message {
    enum wire_kind kind;
    struct wire_envelope envelope;
    void *memory; /* set by wire_decode only */
    union {
        WIRE_MESSAGES(WIRE_DECLARE_MEMBER)
    };
};

/* "START", ...; "unknown" outside of the table. */
const char *wire_kind_name(uint32_t kind);

/* Sender and receiver of a message; see the table. */
enum wire_way {
    WIRE_WAY_TO_AGENT,
    WIRE_WAY_TO_BSPRUN,
    WIRE_WAY_BOTH_WAYS,
    WIRE_WAY_TO_ZERO,
    WIRE_WAY_FROM_ZERO,
    WIRE_WAY_AMONG_AGENTS,
    WIRE_WAY_NONE /* there is no message of that kind */
};
enum wire_way wire_way(uint32_t kind);

/* The field of a message TO_ZERO that names the sending host.  The kind must be one of these. */
uint32_t *wire_sender(struct wire_message *message);
uint32_t wire_sender_of(const struct wire_message *message);

/* Appends the message's frame (length and body) to the buffer, which is left as it was on failure.
 * -EINVAL: a field breaks its limit; -EMSGSIZE: longer than WIRE_FRAME_MAX; -ENOMEM. */
int wire_encode(const struct wire_message *message, struct bspz_buffer *buffer, char *error,
                size_t error_size);

/* Reads a body (a frame without its length).  Whatever the bytes are, this neither crashes nor
 * takes memory beyond a fixed multiple of WIRE_FRAME_MAX.  On success the caller owns the message
 * and frees it with wire_message_free; `body` is no longer referred to.  -EPROTO: not a message of
 * this protocol; -EMSGSIZE: longer than WIRE_FRAME_MAX; -ENOMEM. */
int wire_decode(const void *body, size_t size, struct wire_message *message, char *error,
                size_t error_size);

/* A copy that owns what it points to, until wire_message_free.  Fails as wire_encode does. */
int wire_copy(const struct wire_message *message, struct wire_message *copy, char *error,
              size_t error_size);

/* Frees what wire_decode allocated; harmless for NULL, for an all-zero message and twice. */
void wire_message_free(struct wire_message *message);

/* The body length that a frame's first WIRE_HEADER bytes announce. */
uint32_t wire_frame_length(const unsigned char *header);

#endif
