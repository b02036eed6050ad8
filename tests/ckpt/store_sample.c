/* store_sample.c - see store_sample.h. */
#include "tests/ckpt/store_sample.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ckpt/inside.h"

#define BLOCKS 2000u

const uint8_t store_sample_job[WIRE_JOB_SIZE] = {"job of a sample!"};

void store_sample_make(struct store_sample *sample)
{
    memset(sample, 0, sizeof(*sample));
    for (uint32_t i = 0; i < STORE_SAMPLE_PROCS; i++) {
        sample_process_make(&sample->processes[i], 12, 20 + i);
        sample->processes[i].pid = i;
        for (int k = 0; k < 2; k++) {
            sample->tables[i][k] = calloc(1, bspz_image_table_size(BLOCKS));
            sample->tables[i][k]->capacity = BLOCKS;
        }
    }
}

void store_sample_free(struct store_sample *sample)
{
    for (uint32_t i = 0; i < STORE_SAMPLE_PROCS; i++) {
        sample_process_free(&sample->processes[i]);
        for (int k = 0; k < 2; k++)
            free(sample->tables[i][k]);
    }
}

static int write_image(struct store_sample *sample, struct store *store,
                       struct store_snapshot *snapshot, uint32_t pid, bool whole, char *error)
{
    struct sample_options options = {.compress = true};
    struct sample_file file = {0};

    options.next = sample->tables[pid][sample->turn];
    options.base = whole ? NULL : sample->tables[pid][1 - sample->turn];
    int status = sample_image(&sample->processes[pid], &options, &file, &sample->written[pid]);
    if (status < 0)
        return status;
    int descriptor = status = store_image_create(snapshot, pid, error);
    if (descriptor >= 0)
        status = store_io_write(&store->io, descriptor, file.bytes, file.size);
    if (status == 0)
        status = store_image_finish(snapshot, pid, descriptor, error);
    else if (descriptor >= 0) {
        snprintf(error, MANIFEST_ERROR_SIZE, "writing an image: %s", strerror(-status));
        store->io.close(store->io.context, descriptor);
    }
    sample_file_free(&file);
    return status;
}

static int take_manifest(struct store_snapshot *snapshot, const struct manifest *manifest,
                         char *error)
{
    struct bspz_buffer bytes = {0};
    int status = manifest_encode(manifest, &bytes, error);

    if (status == 0)
        status = store_snapshot_take_manifest(snapshot, bytes.data, bytes.size, error);
    if (status == 0)
        store_snapshot_leave(snapshot);
    bspz_buffer_free(&bytes);
    return status;
}

static int commit(struct store_sample *sample, struct store_snapshot *snapshot, uint64_t superstep,
                  uint32_t term, uint32_t whole, char *error)
{
    static const char *const hosts[] = {"here", "there"};
    struct manifest_image images[STORE_SAMPLE_PROCS];
    uint64_t host_of[STORE_SAMPLE_PROCS] = {0}, together[STORE_SAMPLE_PROCS] = {0};
    struct manifest manifest = {
        .job = {store_sample_job, WIRE_JOB_SIZE},
        .name = {superstep, term},
        .nprocs = STORE_SAMPLE_PROCS,
        .created = 1700000000000000000u + superstep,
        .program = "/usr/bin/a program",
        .hosts = {hosts, sample->two_hosts ? 2 : 1},
        .host_of = {host_of, STORE_SAMPLE_PROCS},
        .images = {images, STORE_SAMPLE_PROCS},
        .together = {together, STORE_SAMPLE_PROCS},
    };

    for (uint32_t i = 0; i < STORE_SAMPLE_PROCS; i++) {
        const struct bspz_image_table *base = sample->tables[i][1 - sample->turn];
        images[i] = (struct manifest_image){
            .pid = i, .image_pid = i, .facts.size = sample->written[i].length};
        memcpy(images[i].facts.digest, sample->written[i].name.digest, BSPZ_IMAGE_DIGEST_SIZE);
        if (whole >> i & 1)
            continue;
        images[i].facts.generation = base->generation + 1;
        images[i].facts.base = base->image;
    }
    return sample->elsewhere ? take_manifest(snapshot, &manifest, error)
                             : store_snapshot_commit(snapshot, &manifest, error);
}

int store_sample_snapshot(struct store_sample *sample, struct store *store, uint64_t superstep,
                          uint32_t term, uint32_t whole, bool abandon, char *error)
{
    struct store_snapshot *snapshot;

    int status = store_snapshot_begin(store, NAME(superstep, term), &snapshot, error);
    if (status < 0)
        return status;
    for (uint32_t i = 0; i < STORE_SAMPLE_PROCS && status == 0; i++) {
        sample_process_change(&sample->processes[i], 9, superstep + i);
        sample->processes[i].superstep = superstep;
        sample->processes[i].term = term;
        sample->processes[i].nprocs = STORE_SAMPLE_PROCS;
        status = write_image(sample, store, snapshot, i, whole >> i & 1, error);
    }
    if (status == 0)
        status = commit(sample, snapshot, superstep, term, whole, error);
    if (status == 0)
        sample->turn = 1 - sample->turn;
    else if (abandon)
        store_snapshot_abandon(snapshot);
    else
        free(snapshot); /* its descriptor goes with the process */
    return status;
}

void store_sample_directory(char path[256])
{
    const char *parent = getenv("TMPDIR");

    snprintf(path, 256, "%s/bspzero-store-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(path)) {
        perror(path);
        exit(2);
    }
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about, (void)where;
    return kind == FTW_DP ? rmdir(path) : unlink(path);
}

void store_sample_remove(const char *path)
{
    chmod(path, 0700);
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static char scratch[256];
static pid_t scratch_owner;

static void remove_scratch(void)
{
    if (getpid() == scratch_owner)
        store_sample_remove(scratch);
}

void store_sample_scratch(void)
{
    store_sample_directory(scratch);
    scratch_owner = getpid();
    setenv("TMPDIR", scratch, 1);
    atexit(remove_scratch);
}
