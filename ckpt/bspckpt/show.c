/* show.c - bspckpt show: what a snapshot holds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/bspckpt/command.h"
#include "ckpt/format/reader.h"
#include "lib/base/json.h"
#include "lib/wire/schema.h"

/* ---- The manifest as JSON: the fields are walked, none can be forgotten ---------------------- */

static void json_fields(struct bspz_json *json, const struct wire_schema *schema,
                        const void *fields);

static void json_list(struct bspz_json *json, const struct wire_field *field,
                      const struct wire_list *list)
{
    const struct wire_schema *record = wire_field_record(field);

    bspz_json_array(json, field->name);
    for (uint32_t i = 0; i < list->count; i++) {
        if (field->type == WIRE_TYPE_texts) {
            bspz_json_text(json, NULL, ((const char *const *)list->items)[i]);
        } else if (field->type == WIRE_TYPE_numbers) {
            bspz_json_number(json, NULL, ((const uint64_t *)list->items)[i]);
        } else {
            bspz_json_object(json, NULL);
            json_fields(json, record, (const char *)list->items + i * record->size);
            bspz_json_end(json);
        }
    }
    bspz_json_end(json);
}

static void json_field(struct bspz_json *json, const struct wire_field *field, const void *value)
{
    const struct wire_bytes *bytes = value;

    switch (field->type) {
    case WIRE_TYPE_u32:
        bspz_json_number(json, field->name, *(const uint32_t *)value);
        break;
    case WIRE_TYPE_u64:
        bspz_json_number(json, field->name, *(const uint64_t *)value);
        break;
    case WIRE_TYPE_i32:
        bspz_json_signed(json, field->name, *(const int32_t *)value);
        break;
    case WIRE_TYPE_flag:
        bspz_json_flag(json, field->name, *(const bool *)value);
        break;
    case WIRE_TYPE_text:
        bspz_json_text(json, field->name, *(const char *const *)value);
        break;
    case WIRE_TYPE_bytes:
        bspz_json_bytes(json, field->name, bytes->data, bytes->size);
        break;
    case WIRE_TYPE_digest:
        bspz_json_bytes(json, field->name, value,
                        bspz_image_has_digest(value) ? BSPZ_IMAGE_DIGEST_SIZE : 0);
        break;
    default:
        json_list(json, field, value);
        break;
    }
}

static void json_fields(struct bspz_json *json, const struct wire_schema *schema,
                        const void *fields)
{
    for (uint32_t i = 0; i < schema->count; i++)
        json_field(json, &schema->fields[i], (const char *)fields + schema->fields[i].offset);
}

/* ---- The manifest as text -------------------------------------------------------------------- */

static void print_words(const char *label, const struct wire_texts *texts)
{
    printf("%-12s", label);
    for (uint32_t i = 0; i < texts->count; i++)
        printf("%s%s", i ? " " : "", texts->items[i][0] ? texts->items[i] : "''");
    putchar('\n');
}

static void print_manifest(const struct store *store, const struct manifest *manifest, uint64_t now)
{
    char age[24];

    printf("%-12s%s\n", "job", store_job_name(store));
    printf("%-12s%" PRIu64 ", term %" PRIu32 ", %s old\n", "superstep", manifest->name.superstep,
           manifest->name.term, age_text(manifest->created, now, age));
    printf("%-12s%s\n", "program", manifest->program);
    print_words("arguments", &manifest->arguments);
    printf("%-12s%s\n", "directory", manifest->directory);
    print_words("options", &manifest->options);
    print_words("hosts", &manifest->hosts);
    printf("%-12s%" PRIu32 "\n", "processes", manifest->nprocs);
    printf("%-12s%" PRIu32 " variables\n", "environment", manifest->environment.count);
}

/* ---- Images ---------------------------------------------------------------------------------- */

/* How many records of an image have which coding. */
struct codings {
    uint64_t records[BSPZ_IMAGE_CODING_COUNT];
    uint64_t raw[BSPZ_IMAGE_CODING_COUNT];
    uint64_t stored[BSPZ_IMAGE_CODING_COUNT];
};

static const char *const coding_names[BSPZ_IMAGE_CODING_COUNT] = {"raw", "lz4", "lz4_sorted"};

static int count_codings(const struct bspz_image *image, struct codings *codings,
                         struct bspz_image_fault *fault)
{
    struct bspz_walk walk;
    int status;

    memset(codings, 0, sizeof(*codings));
    bspz_walk_start(&walk, image);
    while ((status = bspz_walk_next(&walk, fault)) > 0) {
        if (walk.section.kind != BSPZ_IMAGE_DATA)
            continue;
        codings->records[walk.section.coding]++;
        codings->raw[walk.section.coding] += walk.section.raw;
        codings->stored[walk.section.coding] += walk.section.stored;
    }
    return status;
}

static uint64_t block_bytes(const struct bspz_image_block *block, uint64_t from, uint64_t to)
{
    uint64_t address = block->where / BSPZ_IMAGE_BLOCK * BSPZ_IMAGE_BLOCK, bytes = 0;

    for (uint32_t bit = 0; bit < 16; bit++) {
        uint64_t unit = address + bit * BSPZ_IMAGE_UNIT;
        if ((block->where >> bit & 1) && unit >= from && unit < to)
            bytes += BSPZ_IMAGE_UNIT;
    }
    return bytes;
}

/* The bytes of a region that are saved, in this image or its bases. */
static uint64_t saved_bytes(const struct bspz_image *image, const struct bspz_image_region *region)
{
    uint64_t end = region->address + region->length, bytes = 0, low = 0, high = image->end.blocks;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (image->blocks[middle].where / BSPZ_IMAGE_BLOCK < region->address / BSPZ_IMAGE_BLOCK)
            low = middle + 1;
        else
            high = middle;
    }
    for (uint64_t i = low; i < image->end.blocks; i++) {
        if (image->blocks[i].where / BSPZ_IMAGE_BLOCK * BSPZ_IMAGE_BLOCK >= end)
            break;
        bytes += block_bytes(&image->blocks[i], region->address, end);
    }
    return bytes;
}

/* The number of saved pages: in this image alone (here), or with those in its bases. */
static uint64_t count_pages(const struct bspz_image *image, bool here)
{
    uint64_t count = 0;

    for (uint64_t i = 0; i < image->end.blocks; i++)
        count += bspz_units_in(here ? bspz_block_held(&image->blocks[i], image->header.generation)
                                    : bspz_block_mask(&image->blocks[i]));
    return count;
}

static void print_image(const struct bspz_image *image, uint32_t pid, const struct codings *codings)
{
    const struct bspz_image_end *end = &image->end;
    char raw[24], stored[24], protection[5], length[24], saved[24];

    printf("\nprocess %" PRIu32 ": %s in %s, %" PRIu64 " of %" PRIu64 " pages", pid,
           size_text(end->raw_bytes, raw), size_text(end->length, stored), count_pages(image, true),
           count_pages(image, false));
    if (image->header.generation > 0)
        printf(", on the image of process %" PRIu32 " in %" PRIu64 ".%" PRIu32,
               image->header.base.pid, image->header.base.superstep, image->header.base.term);
    putchar('\n');
    for (int i = 0; i < BSPZ_IMAGE_CODING_COUNT; i++)
        if (codings->records[i] > 0)
            printf("  %" PRIu64 " records %s: %s in %s\n", codings->records[i], coding_names[i],
                   size_text(codings->raw[i], raw), size_text(codings->stored[i], stored));
    for (uint64_t i = 0; i < end->regions; i++) {
        const struct bspz_image_region *region = image->regions[i];
        printf("  %012" PRIx64 " %10s %s %-11s %10s saved  %s\n", region->address,
               size_text(region->length, length), protection_text(region, protection),
               region_kind_text(region->kind), size_text(saved_bytes(image, region), saved),
               bspz_image_region_path(region));
    }
    for (uint64_t i = 0; i < end->descriptors; i++) {
        const struct bspz_image_descriptor *descriptor = image->descriptors[i];
        printf("  descriptor %" PRIu32 ": %s %s", descriptor->number,
               descriptor_kind_text(descriptor->kind), bspz_image_descriptor_path(descriptor));
        if (descriptor->kind == BSPZ_DESCRIPTOR_FILE)
            printf(", at %" PRIu64 " of %" PRIu64, descriptor->offset, descriptor->size);
        if (descriptor->same_as != descriptor->number)
            printf(", same as %" PRIu32, descriptor->same_as);
        putchar('\n');
    }
}

static void json_regions(struct bspz_json *json, const struct bspz_image *image)
{
    char protection[5];

    bspz_json_array(json, "regions");
    for (uint64_t i = 0; i < image->end.regions; i++) {
        const struct bspz_image_region *region = image->regions[i];
        bspz_json_object(json, NULL);
        bspz_json_number(json, "address", region->address);
        bspz_json_number(json, "length", region->length);
        bspz_json_text(json, "protection", protection_text(region, protection));
        bspz_json_text(json, "kind", region_kind_text(region->kind));
        bspz_json_number(json, "flags", region->flags);
        bspz_json_number(json, "offset", region->offset);
        bspz_json_text(json, "path", bspz_image_region_path(region));
        bspz_json_number(json, "saved", saved_bytes(image, region));
        bspz_json_end(json);
    }
    bspz_json_end(json);
    bspz_json_array(json, "descriptors");
    for (uint64_t i = 0; i < image->end.descriptors; i++) {
        const struct bspz_image_descriptor *descriptor = image->descriptors[i];
        bspz_json_object(json, NULL);
        bspz_json_number(json, "number", descriptor->number);
        bspz_json_text(json, "kind", descriptor_kind_text(descriptor->kind));
        bspz_json_number(json, "flags", descriptor->flags);
        bspz_json_number(json, "offset", descriptor->offset);
        bspz_json_number(json, "size", descriptor->size);
        bspz_json_number(json, "same_as", descriptor->same_as);
        bspz_json_text(json, "path", bspz_image_descriptor_path(descriptor));
        bspz_json_end(json);
    }
    bspz_json_end(json);
}

static void json_image(struct bspz_json *json, const struct bspz_image *image, uint32_t pid,
                       const struct codings *codings)
{
    bspz_json_object(json, NULL);
    bspz_json_number(json, "pid", pid);
    bspz_json_number(json, "length", image->end.length);
    bspz_json_bytes(json, "digest", image->name.digest, sizeof(image->name.digest));
    bspz_json_number(json, "generation", image->header.generation);
    bspz_json_number(json, "version", image->header.version);
    bspz_json_number(json, "pages", count_pages(image, false));
    bspz_json_number(json, "pages_here", count_pages(image, true));
    bspz_json_array(json, "codings");
    for (int i = 0; i < BSPZ_IMAGE_CODING_COUNT; i++) {
        bspz_json_object(json, NULL);
        bspz_json_text(json, "coding", coding_names[i]);
        bspz_json_number(json, "records", codings->records[i]);
        bspz_json_number(json, "raw", codings->raw[i]);
        bspz_json_number(json, "stored", codings->stored[i]);
        bspz_json_end(json);
    }
    bspz_json_end(json);
    json_regions(json, image);
    bspz_json_end(json);
}

static int show_image(const struct request *request, struct store *store,
                      const struct manifest *manifest, uint32_t pid)
{
    struct bspz_image_fault fault;
    struct codings codings;
    struct loaded loaded;

    int status =
        loaded_open(&loaded, store, manifest->name, manifest->images.items[pid].image_pid, &fault);
    if (status == 0) {
        status = count_codings(&loaded.image, &codings, &fault);
        if (status == 0 && request->json)
            json_image(request->json, &loaded.image, pid, &codings);
        else if (status == 0)
            print_image(&loaded.image, pid, &codings);
        loaded_close(&loaded);
    }
    return status < 0 ? complain("the image of process %" PRIu32 ": %s", pid, fault.text)
                      : STATUS_OK;
}

/* ---- The command ----------------------------------------------------------------------------- */

static int show(const struct request *request, struct store *store, const struct manifest *manifest)
{
    int status = STATUS_OK;

    if (request->pid >= (int64_t)manifest->nprocs)
        return complain("there is no process %" PRId64 ": the job has %" PRIu32, request->pid,
                        manifest->nprocs);
    if (request->json) {
        bspz_json_object(request->json, NULL);
        bspz_json_text(request->json, "name", store_job_name(store));
        bspz_json_object(request->json, "manifest");
        json_fields(request->json, manifest_schema(), manifest);
        bspz_json_end(request->json);
        bspz_json_array(request->json, "processes");
    } else {
        print_manifest(store, manifest, request->now);
    }
    for (uint32_t pid = 0; pid < manifest->nprocs; pid++)
        if ((request->pid < 0 || request->pid == pid) &&
            show_image(request, store, manifest, pid) != STATUS_OK)
            status = STATUS_BAD;
    if (request->json) {
        bspz_json_end(request->json);
        bspz_json_end(request->json);
    }
    return status;
}

int command_show(const struct request *request)
{
    struct manifest manifest;
    struct target target;

    int status = target_open(&target, request->words[0], STORE_READ, false);
    if (status != STATUS_OK)
        return status;
    status = target_manifest(&target, &manifest);
    if (status == STATUS_OK) {
        status = show(request, target.store, &manifest);
        manifest_free(&manifest);
    }
    target_close(&target);
    return status;
}
