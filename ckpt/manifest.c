/* manifest.c - manifests, records of terms and of the end; see manifest.h. */
#include "ckpt/manifest.h"

#include <errno.h>

#include "ckpt/format/layout.h"
#include "ckpt/sealed.h"
#include "lib/base/error_text.h"
#include "lib/wire/schema.h"

static const struct sealed_kind manifest_kinds[] = {
    {"BSPZman\n", "manifest", MANIFEST_VERSION},
    {"BSPZman\n", "manifest", 1},
    {"BSPZman\n", "manifest", 2},
};
static const struct sealed_kind terms_kind = {"BSPZtrm\n", "record of terms", 1};
static const struct sealed_kind finish_kind = {"BSPZfin\n", "record of the end", 1};

_Static_assert(WIRE_JOB_SIZE == BSPZ_IMAGE_JOB_SIZE, "one job id");

/* ---- Schemas --------------------------------------------------------------------------------- */

/* The tables of fields do not name their struct: `owner` is redefined for each. */
#define LIST(record, name, limit)                                                                  \
    {#name, WIRE_TYPE_RECORDS, offsetof(owner, name), (uint64_t)(limit), &record##_schema},
#define SCHEMA(name, table)                                                                        \
    static const struct wire_field name##_fields[] = {table(WIRE_FIELD, WIRE_PART, LIST)};         \
    static const struct wire_schema name##_schema = {                                              \
        #name, name##_fields, sizeof(name##_fields) / sizeof(name##_fields[0]), sizeof(owner)};

#define owner struct manifest_image
SCHEMA(image, MANIFEST_FIELDS_IMAGE)
#undef owner
#define owner struct manifest_stream
SCHEMA(stream, MANIFEST_FIELDS_STREAM)
#undef owner
#define owner struct manifest_term
SCHEMA(term, MANIFEST_FIELDS_TERM)
#undef owner
#define owner struct manifest
SCHEMA(snapshot, MANIFEST_FIELDS_MANIFEST)
SCHEMA(snapshot_1, MANIFEST_FIELDS_MANIFEST_1)
SCHEMA(snapshot_2, MANIFEST_FIELDS_MANIFEST_2)
#undef owner
#define owner struct manifest_terms
SCHEMA(terms, MANIFEST_FIELDS_TERMS)
#undef owner
#define owner struct manifest_finish
SCHEMA(finish, MANIFEST_FIELDS_FINISH)
#undef owner

const struct wire_schema *manifest_schema(void)
{
    return &snapshot_schema;
}

/* ---- What must fit together ------------------------------------------------------------------ */

static bool has_base(const struct bspz_image_name *base)
{
    return base->superstep != 0 || base->term != 0 || base->pid != 0 ||
           bspz_image_has_digest(base->digest);
}

static const char *image_complaint(const struct manifest *manifest, uint32_t i)
{
    const struct manifest_image *image = &manifest->images.items[i];
    const struct bspz_image_name *base = &image->facts.base;

    if (image->pid != i)
        return "the images are not in the order of the processes";
    if (image->image_pid >= manifest->nprocs || base->pid >= manifest->nprocs)
        return "an image of a process that does not exist";
    if (!bspz_image_has_digest(image->facts.digest))
        return "an image without a digest";
    if (image->facts.generation >= BSPZ_IMAGE_CHAIN_MAX)
        return "a chain of images that is too long";
    if (image->facts.generation == 0)
        return has_base(base) ? "a full image with a base" : NULL;
    if (!bspz_image_has_digest(base->digest))
        return "an image without its base";
    if (!bspz_snapshot_newer(manifest->name, bspz_image_snapshot(base)) ||
        base->term > manifest->name.term)
        return "an image whose base is not older";
    return NULL;
}

/* Whether every group is named by its lowest process. */
static bool is_grouped(const struct manifest *manifest)
{
    const struct wire_numbers *together = &manifest->together;

    for (uint32_t i = 0; i < together->count; i++)
        if (together->items[i] > i || together->items[together->items[i]] != together->items[i])
            return false;
    return true;
}

static const char *complaint(const struct manifest *manifest, uint32_t groups)
{
    if (manifest->job.size != WIRE_JOB_SIZE)
        return "no job";
    if (manifest->nprocs == 0 || manifest->images.count != manifest->nprocs ||
        manifest->host_of.count != manifest->nprocs)
        return "not as many images and places as processes";
    if (manifest->together.count != groups || !is_grouped(manifest))
        return "processes share files with nobody";
    if (manifest->name.term == 0)
        return "no term";
    for (uint32_t i = 0; i < manifest->nprocs; i++) {
        const char *wrong = image_complaint(manifest, i);
        if (wrong)
            return wrong;
        if (manifest->host_of.items[i] >= manifest->hosts.count)
            return "a process on a host that does not exist";
    }
    for (uint32_t i = 0; i < manifest->streams.count; i++)
        if (manifest->streams.items[i].pid >= manifest->nprocs)
            return "a stream of a process that does not exist";
    return NULL;
}

static const char *terms_complaint(const struct manifest_terms *terms)
{
    if (terms->job.size != WIRE_JOB_SIZE)
        return "no job";
    for (uint32_t i = 0; i < terms->terms.count; i++) {
        const struct manifest_term *term = &terms->terms.items[i];
        if (term->term == 0 || term->from.term >= term->term ||
            (i > 0 && term->term <= term[-1].term))
            return "terms out of order";
    }
    return NULL;
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

static int refuse(char *error, int code, const char *name, const char *text)
{
    return bspz_error_text(error, MANIFEST_ERROR_SIZE, code, "%s: %s", name, text);
}

int manifest_encode(const struct manifest *manifest, struct bspz_buffer *buffer, char *error)
{
    const char *wrong = complaint(manifest, manifest->nprocs);

    if (wrong)
        return refuse(error, -EINVAL, "manifest", wrong);
    return sealed_encode(&manifest_kinds[0], &snapshot_schema, manifest, buffer, error);
}

int manifest_decode(const void *bytes, size_t size, struct manifest *manifest, char *error)
{
    struct manifest decoded = {0};
    static const struct wire_schema *const schemas[] = {&snapshot_schema, &snapshot_1_schema,
                                                        &snapshot_2_schema};
    uint32_t version = sealed_version(bytes, size), old = version < MANIFEST_VERSION ? version : 0;

    int status = sealed_decode(&manifest_kinds[old], schemas[old], bytes, size, &decoded,
                               &decoded.memory, error);
    if (status < 0)
        return status;
    const char *wrong = complaint(&decoded, version == 1 ? 0 : decoded.nprocs);
    if (wrong) {
        manifest_free(&decoded);
        return refuse(error, -EBADMSG, "manifest", wrong);
    }
    *manifest = decoded;
    return 0;
}

uint32_t manifest_together(const struct manifest *manifest, uint32_t pid)
{
    uint32_t first = 0;

    if (manifest->together.count > 0)
        return (uint32_t)manifest->together.items[pid];
    while (manifest->host_of.items[first] != manifest->host_of.items[pid])
        first++;
    return first;
}

int manifest_terms_encode(const struct manifest_terms *terms, struct bspz_buffer *buffer,
                          char *error)
{
    const char *wrong = terms_complaint(terms);

    if (wrong)
        return refuse(error, -EINVAL, terms_kind.name, wrong);
    return sealed_encode(&terms_kind, &terms_schema, terms, buffer, error);
}

int manifest_terms_decode(const void *bytes, size_t size, struct manifest_terms *terms, char *error)
{
    struct manifest_terms decoded = {0};

    int status =
        sealed_decode(&terms_kind, &terms_schema, bytes, size, &decoded, &decoded.memory, error);
    if (status < 0)
        return status;
    const char *wrong = terms_complaint(&decoded);
    if (wrong) {
        manifest_terms_free(&decoded);
        return refuse(error, -EBADMSG, terms_kind.name, wrong);
    }
    *terms = decoded;
    return 0;
}

int manifest_finish_encode(const struct manifest_finish *finish, struct bspz_buffer *buffer,
                           char *error)
{
    if (finish->job.size != WIRE_JOB_SIZE)
        return refuse(error, -EINVAL, finish_kind.name, "no job");
    return sealed_encode(&finish_kind, &finish_schema, finish, buffer, error);
}

int manifest_finish_decode(const void *bytes, size_t size, struct manifest_finish *finish,
                           char *error)
{
    struct manifest_finish decoded = {0};

    int status =
        sealed_decode(&finish_kind, &finish_schema, bytes, size, &decoded, &decoded.memory, error);
    if (status < 0)
        return status;
    if (decoded.job.size != WIRE_JOB_SIZE) {
        manifest_finish_free(&decoded);
        return refuse(error, -EBADMSG, finish_kind.name, "no job");
    }
    *finish = decoded;
    return 0;
}

void manifest_free(struct manifest *manifest)
{
    if (!manifest)
        return;
    wire_document_free(manifest->memory);
    manifest->memory = NULL;
}

void manifest_terms_free(struct manifest_terms *terms)
{
    if (!terms)
        return;
    wire_document_free(terms->memory);
    terms->memory = NULL;
}

void manifest_finish_free(struct manifest_finish *finish)
{
    if (!finish)
        return;
    wire_document_free(finish->memory);
    finish->memory = NULL;
}
