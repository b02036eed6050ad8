/* diff.c - bspckpt diff: what changed in memory between two snapshots, by region.
 *
 * Only the tables are read: each image's table of blocks has the hash of everything that is saved,
 * whether its bytes lie in this image or in a base. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ckpt/bspckpt/command.h"
#include "ckpt/bspckpt/json.h"

/* A region of either side, and what is different in its blocks. */
struct change {
    const struct bspz_image_region *region;
    const char *what; /* "new", "gone", "changed", "same" */
    uint64_t blocks, changed;
};

static uint64_t address_of(const struct bspz_image *image, uint64_t i)
{
    return i < image->end.blocks ? image->blocks[i].where / BSPZ_IMAGE_BLOCK * BSPZ_IMAGE_BLOCK
                                 : UINT64_MAX;
}

static bool same_block(const struct bspz_image_block *a, const struct bspz_image_block *b)
{
    return a->where == b->where && memcmp(a->hash, b->hash, sizeof(a->hash)) == 0;
}

/* Counts the blocks of the region in both images, and those that differ. */
static void compare_blocks(const struct bspz_image *from, const struct bspz_image *to,
                           struct change *change)
{
    uint64_t start = change->region->address / BSPZ_IMAGE_BLOCK * BSPZ_IMAGE_BLOCK;
    uint64_t end = change->region->address + change->region->length, i = 0, k = 0;

    while (address_of(from, i) < start)
        i++;
    while (address_of(to, k) < start)
        k++;
    for (;;) {
        uint64_t a = address_of(from, i), b = address_of(to, k);
        if (a >= end && b >= end)
            return;
        change->blocks++;
        change->changed += a != b || !same_block(&from->blocks[i], &to->blocks[k]);
        i += a <= b;
        k += b <= a;
    }
}

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
        json_object(NULL);
        json_text("what", change->what);
        json_number("address", region->address);
        json_number("length", region->length);
        json_text("kind", region_kind_text(region->kind));
        json_text("path", bspz_image_region_path(region));
        json_number("blocks", change->blocks);
        json_number("changed", change->changed);
        json_end();
    } else if (strcmp(change->what, "same") != 0) {
        printf("  %-8s %012" PRIx64 " %10s %s %-11s %6" PRIu64 " of %" PRIu64 " blocks (%s)  %s\n",
               change->what, region->address, size_text(region->length, length),
               protection_text(region, protection), region_kind_text(region->kind), change->changed,
               change->blocks, size_text(change->changed * BSPZ_IMAGE_BLOCK, changed),
               bspz_image_region_path(region));
    }
}

/* Regions with the same address are taken for the same one. */
static void compare(const struct request *request, const struct bspz_image *from,
                    const struct bspz_image *to)
{
    uint64_t i = 0, k = 0;

    while (i < from->end.regions || k < to->end.regions) {
        uint64_t a = i < from->end.regions ? from->regions[i]->address : UINT64_MAX;
        uint64_t b = k < to->end.regions ? to->regions[k]->address : UINT64_MAX;
        struct change change = {.region = b <= a ? to->regions[k] : from->regions[i],
                                .what = a < b ? "gone" : "new"};
        compare_blocks(from, to, &change);
        if (a == b)
            change.what = change.changed > 0 || !same_mapping(from->regions[i], to->regions[k])
                              ? "changed"
                              : "same";
        report(request, &change);
        i += a <= b;
        k += b <= a;
    }
}

static int diff_process(const struct request *request, struct store *store,
                        const struct manifest manifests[2], uint32_t pid)
{
    struct bspz_image_fault fault;
    struct loaded sides[2];

    for (int i = 0; i < 2; i++) {
        const struct manifest *manifest = &manifests[i];
        if (loaded_open(&sides[i], store, manifest->superstep, manifest->term,
                        manifest->images.items[pid].image_pid, &fault) < 0) {
            if (i > 0)
                loaded_close(&sides[0]);
            return complain("the image of process %" PRIu32 " in %" PRIu64 ".%" PRIu32 ": %s", pid,
                            manifest->superstep, manifest->term, fault.text);
        }
    }
    if (request->json) {
        json_object(NULL);
        json_number("pid", pid);
        json_array("regions");
    } else {
        printf("process %" PRIu32 "\n", pid);
    }
    compare(request, &sides[0].image, &sides[1].image);
    if (request->json) {
        json_end();
        json_end();
    }
    loaded_close(&sides[0]);
    loaded_close(&sides[1]);
    return STATUS_OK;
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
        json_array(NULL);
    for (uint32_t pid = 0; pid < manifests[0].nprocs; pid++)
        if ((request->pid < 0 || request->pid == pid) &&
            diff_process(request, store, manifests, pid) != STATUS_OK)
            status = STATUS_BAD;
    if (request->json)
        json_end();
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
        if (parse_snapshot(request->words[1 + i], &target.superstep, &target.term)) {
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
