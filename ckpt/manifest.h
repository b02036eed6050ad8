/* manifest.h - what a job keeps in its directory besides images: the manifest of a snapshot, which
 * terms began, how the job ended.
 *
 * Each is a file of its own: a mark, a version, a checksum, and a msgpack array of the fields below
 * in their order (doc/formats.md).  Pointers in a struct that was filled by hand belong to whoever
 * filled it; those in a decoded one last until it is freed.
 *
 * Functions return 0 or a negative errno value; then `error` (unless NULL) holds one line.
 */
#ifndef CKPT_MANIFEST_H
#define CKPT_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/wire/document.h"

#define MANIFEST_VERSION    3u /* versions 1 and 2 are read, too */
#define MANIFEST_ERROR_SIZE 512u

/* ---- Tables: F(type, name, limit), E(part, struct, name) as in lib/wire/wire_table.h;
 * L(record, name, limit): a list  */

/* The image of one process.  image_pid names the file, pid.img in the snapshot's own directory:
 * more than one process may start from the same image (snapshot 0). */
#define MANIFEST_FIELDS_IMAGE(F, E, L)                                                             \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u32, image_pid, WIRE_RANKS_MAX - 1)                                                          \
    E(WIRE_PART_IMAGE, struct bspz_image_facts, facts)

/* How much process pid had written to stream 1 or 2, or read from 0, when the snapshot was taken.
 */
#define MANIFEST_FIELDS_STREAM(F, E, L)                                                            \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u32, number, 2)                                                                              \
    F(u64, position, WIRE_U64_MAX)

/* Open files, programs and libraries are in the images.  host_of[pid] is an index into hosts.
 * created: nanoseconds since 1970.  What version 1 has. */
#define MANIFEST_FIELDS_MANIFEST_1(F, E, L)                                                        \
    F(bytes, job, WIRE_JOB_SIZE)                                                                   \
    E(WIRE_PART_SNAPSHOT, struct bspz_snapshot_name, name)                                         \
    F(u32, nprocs, WIRE_RANKS_MAX)                                                                 \
    F(u64, created, WIRE_U64_MAX)                                                                  \
    F(text, program, WIRE_PATH_MAX)                                                                \
    F(texts, arguments, WIRE_ITEMS_MAX)                                                            \
    F(texts, environment, WIRE_ITEMS_MAX)                                                          \
    F(text, directory, WIRE_PATH_MAX)                                                              \
    F(texts, options, WIRE_ITEMS_MAX)                                                              \
    F(texts, hosts, WIRE_HOSTS_MAX)                                                                \
    F(numbers, host_of, WIRE_RANKS_MAX)                                                            \
    F(text, version, WIRE_NAME_MAX)                                                                \
    L(image, images, WIRE_RANKS_MAX)                                                               \
    L(stream, streams, 3 * WIRE_RANKS_MAX)

/* together[pid]: the lowest process with which it shares the open file descriptions that are marked
 * in its image; see manifest_together. */
#define MANIFEST_FIELDS_MANIFEST_2(F, E, L)                                                        \
    MANIFEST_FIELDS_MANIFEST_1(F, E, L)                                                            \
    F(numbers, together, WIRE_RANKS_MAX)

/* input_digest: of the bytes that process 0 had read from its stdin (lib/base/digest.h), as many as
 * the position of its stream 0 says; 0: unknown. */
#define MANIFEST_FIELDS_MANIFEST(F, E, L)                                                          \
    MANIFEST_FIELDS_MANIFEST_2(F, E, L)                                                            \
    F(u64, input_digest, WIRE_U64_MAX)

/* Term `term` went on from that snapshot; its term 0: from the start. */
#define MANIFEST_FIELDS_TERM(F, E, L)                                                              \
    F(u32, term, WIRE_U32_MAX)                                                                     \
    E(WIRE_PART_SNAPSHOT, struct bspz_snapshot_name, from)                                         \
    F(u64, created, WIRE_U64_MAX)

/* The terms of a job, ascending. */
#define MANIFEST_FIELDS_TERMS(F, E, L)                                                             \
    F(bytes, job, WIRE_JOB_SIZE)                                                                   \
    L(term, terms, 1048576)

/* The job ended: bsprun's exit status and what it had to say. */
#define MANIFEST_FIELDS_FINISH(F, E, L)                                                            \
    F(bytes, job, WIRE_JOB_SIZE)                                                                   \
    F(u64, superstep, WIRE_U64_MAX)                                                                \
    F(u32, term, WIRE_U32_MAX)                                                                     \
    F(u64, created, WIRE_U64_MAX)                                                                  \
    F(i32, status, WIRE_STATUS_MAX)                                                                \
    F(text, text, WIRE_TEXT_MAX)

/* ---- The structs ----------------------------------------------------------------------------- */

#define MANIFEST_LIST(record, name, limit) struct manifest_##record##_list name;
#define MANIFEST_MEMBERS(fields)           fields(WIRE_DECLARE_FIELD, WIRE_DECLARE_PART, MANIFEST_LIST)
#define MANIFEST_RECORD(name, fields)                                                              \
    struct manifest_##name {                                                                       \
        MANIFEST_MEMBERS(fields)                                                                   \
    };                                                                                             \
    struct manifest_##name##_list {                                                                \
        const struct manifest_##name *items;                                                       \
        uint32_t count;                                                                            \
    };

MANIFEST_RECORD(image, MANIFEST_FIELDS_IMAGE)
MANIFEST_RECORD(stream, MANIFEST_FIELDS_STREAM)
MANIFEST_RECORD(term, MANIFEST_FIELDS_TERM)

struct manifest {
    MANIFEST_MEMBERS(MANIFEST_FIELDS_MANIFEST)
    void *memory; /* set by decoding */
};
struct manifest_terms {
    MANIFEST_MEMBERS(MANIFEST_FIELDS_TERMS)
    void *memory;
};
struct manifest_finish {
    MANIFEST_MEMBERS(MANIFEST_FIELDS_FINISH)
    void *memory;
};

/* ---- Bytes ------------------------------------------------------------------------------------
 *
 * Encoding appends to the buffer; -EINVAL when a field breaks its limit or the fields do not fit
 * together.  Decoding refuses with -EBADMSG what is damaged or does not fit together, with -EPROTO
 * another version. */

int manifest_encode(const struct manifest *manifest, struct bspz_buffer *buffer, char *error);
int manifest_decode(const void *bytes, size_t size, struct manifest *manifest, char *error);
int manifest_terms_encode(const struct manifest_terms *terms, struct bspz_buffer *buffer,
                          char *error);
int manifest_terms_decode(const void *bytes, size_t size, struct manifest_terms *terms,
                          char *error);
int manifest_finish_encode(const struct manifest_finish *finish, struct bspz_buffer *buffer,
                           char *error);
int manifest_finish_decode(const void *bytes, size_t size, struct manifest_finish *finish,
                           char *error);

/* The number of the group that shares open file descriptions, of which the process is: its lowest
 * process.  In version 1, which knows none, those of one host are taken to share. */
uint32_t manifest_together(const struct manifest *manifest, uint32_t pid);

/* Harmless for NULL, for an all-zero struct and twice. */
void manifest_free(struct manifest *manifest);
void manifest_terms_free(struct manifest_terms *terms);
void manifest_finish_free(struct manifest_finish *finish);

/* How the fields of a manifest are called and lie: for showing them. */
const struct wire_schema *manifest_schema(void);

#endif
