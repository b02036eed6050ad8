/* diff.c - bspckpt diff: what changed in memory between two snapshots, by region.
 *
 * Only the tables are read: together the images of a chain hold the hash of every saved page.
 * Images of version 1 hold hashes of blocks: all pages of a block count as changed when one has
 * changed. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/bspckpt/command.h"
#include "lib/base/json.h"

/* A region of either side, and how many of its pages differ. */
struct change {
    const struct bspz_image_region *region;
    const char *what; /* "new", "gone", "changed", "same" */
    uint64_t pages, changed;
};

/* One process in one snapshot: its images from the newest to the full one, and its pages. */
struct side {
    struct loaded chain[BSPZ_IMAGE_CHAIN_MAX];
    uint32_t count;
    struct bspz_image_table *table;
    uint64_t *first; /* of each block: number of its first hash */
};

/* ---- The pages of a process ------------------------------------------------------------------ */

static void side_close(struct side *side)
{
    for (uint32_t i = 0; i < side->count; i++)
        loaded_close(&side->chain[i]);
    free(side->table);
    free(side->first);
    *side = (struct side){0};
}

static void fill_by_blocks(struct bspz_image_table *table, const struct bspz_image *image)
{
    struct bspz_image_hash *hash = bspz_image_table_hashes(table);

    for (uint64_t i = 0; i < image->end.blocks; i++) {
        table->blocks[i] = image->blocks[i];
        for (uint32_t left = bspz_block_mask(&image->blocks[i]); left > 0; left &= left - 1)
            memcpy(hash++, image->blocks_1[i].hash, sizeof(*hash));
    }
    table->count = image->end.blocks;
}

static int fill_table(struct side *side, struct bspz_image_fault *fault)
{
    const struct bspz_image *image = &side->chain[0].image;
    struct bspz_image *chain[BSPZ_IMAGE_CHAIN_MAX];
    uint64_t hash = 0;

    side->table = calloc(1, bspz_image_table_size(image->end.blocks));
    side->first = calloc(image->end.blocks + 1, sizeof(*side->first));
    if (!side->table || !side->first) {
        snprintf(fault->text, sizeof(fault->text), "out of memory");
        return -ENOMEM;
    }
    side->table->capacity = image->end.blocks;
    for (uint32_t i = 0; i < side->count; i++)
        chain[i] = &side->chain[i].image;
    int status = 0;
    if (image->blocks_1)
        fill_by_blocks(side->table, image);
    else
        status = bspz_image_table_from(side->table, chain, side->count, fault);
    for (uint64_t i = 0; i < side->table->count; i++) {
        side->first[i] = hash;
        hash += bspz_units_in(bspz_block_mask(&side->table->blocks[i]));
    }
    return status;
}

/* Opens the image and, if hashes are in its bases, those too. */
static int side_open(struct side *side, struct store *store, const struct manifest *manifest,
                     uint32_t pid, struct bspz_image_fault *fault)
{
    struct bspz_image_name name = {.superstep = manifest->name.superstep,
                                   .term = manifest->name.term,
                                   .pid = manifest->images.items[pid].image_pid};

    for (;;) {
        struct loaded *loaded = &side->chain[side->count];
        int status = loaded_open(loaded, store, bspz_image_snapshot(&name), name.pid, fault);
        if (status < 0)
            return status;
        side->count++;
        name = loaded->image.header.base;
        if (loaded->image.header.generation == 0 || loaded->image.blocks_1)
            return fill_table(side, fault);
        if (side->count == BSPZ_IMAGE_CHAIN_MAX) {
            snprintf(fault->text, sizeof(fault->text), "its chain of bases has no end");
            return -ESTALE;
        }
    }
}

static uint64_t address_of(const struct side *side, uint64_t i)
{
    return i < side->table->count ? bspz_block_address(&side->table->blocks[i]) : UINT64_MAX;
}

/* The first block at or after the one that contains the address. */
static uint64_t find_block(const struct side *side, uint64_t address)
{
    uint64_t low = 0, high = side->table->count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (address_of(side, middle) + BSPZ_IMAGE_BLOCK <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The hash of a page of that block; NULL: the page is not saved. */
static const struct bspz_image_hash *hash_of(const struct side *side, uint64_t block, uint32_t unit)
{
    uint32_t mask = bspz_block_mask(&side->table->blocks[block]);

    return mask >> unit & 1 ? bspz_image_table_hashes_of(side->table) + side->first[block] +
                                  bspz_units_in(mask & ((1u << unit) - 1))
                            : NULL;
}

/* Counts the pages of the region that either side has, and those that differ. */
static void compare_pages(const struct side *from, const struct side *to, struct change *change)
{
    uint64_t start = change->region->address, end = start + change->region->length;
    uint64_t i = find_block(from, start), k = find_block(to, start);

    for (;;) {
        uint64_t a = address_of(from, i), b = address_of(to, k), block = a < b ? a : b;
        if (block >= end)
            return;
        for (uint32_t unit = 0; unit < BSPZ_IMAGE_BLOCK_UNITS; unit++) {
            uint64_t page = block + (uint64_t)unit * BSPZ_IMAGE_UNIT;
            const struct bspz_image_hash *before = a == block ? hash_of(from, i, unit) : NULL;
            const struct bspz_image_hash *after = b == block ? hash_of(to, k, unit) : NULL;
            if (page < start || page >= end || (!before && !after))
                continue;
            change->pages++;
            change->changed += !before || !after || memcmp(before, after, sizeof(*before)) != 0;
        }
        i += a == block;
        k += b == block;
    }
}

/* ---- Regions --------------------------------------------------------------------------------- */

static bool same_mapping(const struct bspz_image_region *a, const struct bspz_image_region *b)
{
    return a->length == b->length && a->protection == b->protection && a->kind == b->kind &&
           a->offset == b->offset &&
           strcmp(bspz_image_region_path(a), bspz_image_region_path(b)) == 0;
}

static void report(const struct request *request, const struct change *change)
{
    const struct bspz_image_region *region = change->region;
    char length[24], changed[24], protection[5];

    if (request->json) {
        bspz_json_object(request->json, NULL);
        bspz_json_text(request->json, "what", change->what);
        bspz_json_number(request->json, "address", region->address);
        bspz_json_number(request->json, "length", region->length);
        bspz_json_text(request->json, "kind", region_kind_text(region->kind));
        bspz_json_text(request->json, "path", bspz_image_region_path(region));
        bspz_json_number(request->json, "pages", change->pages);
        bspz_json_number(request->json, "changed", change->changed);
        bspz_json_end(request->json);
    } else if (strcmp(change->what, "same") != 0) {
        printf("  %-8s %012" PRIx64 " %10s %s %-11s %6" PRIu64 " of %" PRIu64 " pages (%s)  %s\n",
               change->what, region->address, size_text(region->length, length),
               protection_text(region, protection), region_kind_text(region->kind), change->changed,
               change->pages, size_text(change->changed * BSPZ_IMAGE_UNIT, changed),
               bspz_image_region_path(region));
    }
}

/* Regions with the same address are taken for the same one. */
static void compare(const struct request *request, const struct side sides[2])
{
    const struct bspz_image *from = &sides[0].chain[0].image, *to = &sides[1].chain[0].image;
    uint64_t i = 0, k = 0;

    while (i < from->end.regions || k < to->end.regions) {
        uint64_t a = i < from->end.regions ? from->regions[i]->address : UINT64_MAX;
        uint64_t b = k < to->end.regions ? to->regions[k]->address : UINT64_MAX;
        struct change change = {.region = b <= a ? to->regions[k] : from->regions[i],
                                .what = a < b ? "gone" : "new"};
        compare_pages(&sides[0], &sides[1], &change);
        if (a == b)
            change.what = change.changed > 0 || !same_mapping(from->regions[i], to->regions[k])
                              ? "changed"
                              : "same";
        report(request, &change);
        i += a <= b;
        k += b <= a;
    }
}

/* Opens both sides; complains on failure. */
static int open_sides(struct store *store, const struct manifest manifests[2], uint32_t pid,
                      struct side sides[2])
{
    struct bspz_image_fault fault;

    for (int i = 0; i < 2; i++) {
        const struct manifest *manifest = &manifests[i];
        if (side_open(&sides[i], store, manifest, pid, &fault) < 0)
            return complain("the image of process %" PRIu32 " in %" PRIu64 ".%" PRIu32 ": %s", pid,
                            manifest->name.superstep, manifest->name.term, fault.text);
    }
    uint32_t before = sides[0].chain[0].image.header.version;
    uint32_t after = sides[1].chain[0].image.header.version;
    return before == after ? STATUS_OK
                           : complain("process %" PRIu32 ": an image of version %" PRIu32
                                      " cannot be compared with one of version %" PRIu32,
                                      pid, before, after);
}

static int diff_process(const struct request *request, struct store *store,
                        const struct manifest manifests[2], uint32_t pid)
{
    struct side *sides = calloc(2, sizeof(*sides));

    if (!sides)
        return complain("out of memory");
    int status = open_sides(store, manifests, pid, sides);
    if (status == STATUS_OK && request->json) {
        bspz_json_object(request->json, NULL);
        bspz_json_number(request->json, "pid", pid);
        bspz_json_array(request->json, "regions");
    } else if (status == STATUS_OK) {
        printf("process %" PRIu32 "\n", pid);
    }
    if (status == STATUS_OK)
        compare(request, sides);
    if (status == STATUS_OK && request->json) {
        bspz_json_end(request->json);
        bspz_json_end(request->json);
    }
    side_close(&sides[0]);
    side_close(&sides[1]);
    free(sides);
    return status;
}

static int diff(const struct request *request, struct store *store,
                const struct manifest manifests[2])
{
    int status = STATUS_OK;

    if (manifests[0].nprocs != manifests[1].nprocs)
        return complain("the snapshots have different numbers of processes");
    if (request->pid >= (int64_t)manifests[0].nprocs)
        return complain("there is no process %" PRId64 ": the job has %" PRIu32, request->pid,
                        manifests[0].nprocs);
    if (request->json)
        bspz_json_array(request->json, NULL);
    for (uint32_t pid = 0; pid < manifests[0].nprocs; pid++)
        if ((request->pid < 0 || request->pid == pid) &&
            diff_process(request, store, manifests, pid) != STATUS_OK)
            status = STATUS_BAD;
    if (request->json)
        bspz_json_end(request->json);
    return status;
}

int command_diff(const struct request *request)
{
    struct manifest manifests[2] = {0};
    struct target target;
    int status = target_open(&target, request->words[0], STORE_READ, false);

    if (status != STATUS_OK)
        return status;
    for (int i = 0; i < 2 && status == STATUS_OK; i++) {
        if (parse_snapshot(request->words[1 + i], &target.wanted)) {
            status = target_manifest(&target, &manifests[i]);
        } else {
            complain("diff: %.80s is no SUPERSTEP or SUPERSTEP.TERM", request->words[1 + i]);
            status = STATUS_WRONG;
        }
    }
    if (status == STATUS_OK)
        status = diff(request, target.store, manifests);
    manifest_free(&manifests[0]);
    manifest_free(&manifests[1]);
    target_close(&target);
    return status;
}
