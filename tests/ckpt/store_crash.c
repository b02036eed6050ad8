/* store_crash.c - the life of a job in its store, stopped at every point: store_crash ROUNDS SEED.
 *
 * After each step of the disk, with what was not durable kept, lost, or mixed (ROUNDS times), a
 * reader must find the snapshot before or the new one, whole, and be able to go on.  Then each step
 * is made to fail instead. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ckpt/inside.h"
#include "tests/ckpt/disk.h"
#include "tests/ckpt/store_sample.h"

/* What the job does; the newest snapshot afterwards. */
struct deed {
    enum { CREATE, SNAPSHOT, INCREMENT, TAKEN, TERM, PRUNE, SWEEP, FINISH } what;
    struct bspz_snapshot_name name;
    const char *newest; /* "" while there is none */
};

static const struct deed deeds[] = {
    {CREATE, {0, 0}, ""},       {SNAPSHOT, {0, 1}, "0.1"}, {INCREMENT, {1, 1}, "1.1"},
    {SNAPSHOT, {2, 1}, "2.1"},  {PRUNE, {0, 0}, "2.1"},    {INCREMENT, {3, 1}, "3.1"},
    {TERM, {2, 1}, "2.1"},      {SWEEP, {0, 0}, "2.1"},    {SNAPSHOT, {3, 2}, "3.2"},
    {INCREMENT, {4, 2}, "4.2"}, {TAKEN, {5, 2}, "5.2"},    {PRUNE, {0, 0}, "5.2"},
    {FINISH, {5, 2}, "5.2"},
};
#define DEEDS (sizeof(deeds) / sizeof(deeds[0]))

static char error[MANIFEST_ERROR_SIZE];
static unsigned long states, wrong;

static int act(const struct deed *deed, struct store *store, struct store_sample *sample,
               bool abandon)
{
    struct manifest_finish finish = {.job = {store_sample_job, WIRE_JOB_SIZE}, .term = 2};

    switch (deed->what) {
    case CREATE:
        return store_job_create(store, store_sample_job, 1, error);
    case SNAPSHOT:
    case INCREMENT:
    case TAKEN:
        sample->elsewhere = deed->what == TAKEN;
        return store_sample_snapshot(sample, store, deed->name.superstep, deed->name.term,
                                     deed->what == INCREMENT ? 0 : STORE_SAMPLE_ALL, abandon,
                                     error);
    case TERM:
        return store_term_begin(store, 2, deed->name, 2, error);
    case PRUNE:
        return store_prune(store, 1, NULL, error);
    case SWEEP:
        return store_sweep(store, NULL, error);
    default:
        return store_finish(store, &finish, error);
    }
}

static void complain(const char *what, size_t deed, size_t step, int loss, const char *text)
{
    printf("deed %zu, step %zu, loss %d: %s: %s\n", deed, step, loss, what, text);
    wrong++;
}

/* The newest snapshot, deeply checked, as "superstep.term"; "" when there is none; "?" and a
 * complaint when it is not whole. */
static void find_newest(struct store *store, char name[64])
{
    char note[MANIFEST_ERROR_SIZE];
    struct manifest manifest;

    int status = store_job_open(store, NULL, error);
    if (status == 0)
        status = store_newest(store, WIRE_NEVER, WIRE_NEVER, &manifest, note, error);
    strcpy(name, status == -ENOENT ? "" : "?");
    if (status < 0)
        return;
    if (note[0])
        snprintf(error, sizeof(error), "%s", note); /* nothing may look committed and be damaged */
    else if (store_check(store, &manifest, true, NULL, NULL) < 0)
        snprintf(error, sizeof(error), "the newest snapshot is not whole");
    else
        snprintf(name, 64, "%" PRIu64 ".%" PRIu32, manifest.name.superstep, manifest.name.term);
    manifest_free(&manifest);
}

/* Whatever is called committed must be there with all its bases, the older ones, too. */
static void check_all(struct store *store, size_t deed, size_t step, int loss)
{
    struct store_entry *entries;
    struct manifest manifest;
    size_t count;

    if (store_list(store, &entries, &count, error) < 0)
        return;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].state != STORE_COMMITTED && entries[i].state != STORE_RETIRED)
            continue;
        if (store_manifest(store, entries[i].name, &manifest, error) < 0)
            continue;
        if (store_check(store, &manifest, false, NULL, NULL) < 0)
            complain("committed and not whole", deed, step, loss, manifest.program);
        manifest_free(&manifest);
    }
    free(entries);
}

static int no_sync(void *context, int descriptor)
{
    (void)context, (void)descriptor;
    return 0;
}

/* After a stop the next bsprun tidies up and the job goes on. */
static void go_on(struct store *store, const char *newest, size_t deed, size_t step, int loss)
{
    char name[64], expected[64];
    struct manifest_terms terms;
    struct store_sample sample;

    if (store_sweep(store, NULL, error) < 0)
        complain("sweep", deed, step, loss, error);
    find_newest(store, name);
    if (strcmp(name, newest) != 0)
        complain("after the sweep the newest is", deed, step, loss, name);
    if (store_terms(store, &terms, error) < 0) {
        complain("terms", deed, step, loss, error);
        return;
    }
    uint32_t term = terms.terms.items[terms.terms.count - 1].term;
    manifest_terms_free(&terms);
    store_sample_make(&sample);
    if (store_sample_snapshot(&sample, store, 50, term, STORE_SAMPLE_ALL, true, error) < 0)
        complain("the next snapshot", deed, step, loss, error);
    find_newest(store, name);
    snprintf(expected, sizeof(expected), "50.%" PRIu32, term);
    if (strcmp(name, expected) != 0)
        complain("the next snapshot is not the newest but", deed, step, loss, name);
    if (store_prune(store, 1, NULL, error) < 0)
        complain("prune", deed, step, loss, error);
    find_newest(store, name);
    if (strcmp(name, expected) != 0)
        complain("after pruning the newest is", deed, step, loss, name);
    store_sample_free(&sample);
}

/* The machine stopped after so many steps, during the deed (or right after it). */
static void stop(const struct disk *disk, size_t steps, size_t deed, bool done, enum disk_loss loss,
                 uint64_t seed)
{
    char directory[256], name[64];
    struct store_io io = store_io_system;
    struct store *store;

    states++;
    io.sync = no_sync; /* only for speed */
    store_sample_directory(directory);
    disk_remains(disk, steps, loss, seed, directory);
    int status = store_open(&store, directory, STORE_WRITE, &io, error);
    if (status < 0) {
        if (status != -ENOENT || deed > 0 || done) /* else there is no job yet */
            complain("open", deed, steps, loss, error);
        store_sample_remove(directory);
        return;
    }
    error[0] = '\0';
    find_newest(store, name);
    const char *before = deed > 0 ? deeds[deed - 1].newest : "";
    if (strcmp(name, deeds[deed].newest) != 0 && (done || strcmp(name, before) != 0))
        complain(name, deed, steps, loss, error[0] ? error : "the wrong snapshot");
    else if (name[0]) {
        check_all(store, deed, steps, loss);
        go_on(store, name, deed, steps, loss);
    }
    struct manifest_finish finish = {0};
    if (deeds[deed].what == FINISH && done && store_finished(store, &finish, error) < 0)
        complain("finished", deed, steps, loss, error);
    manifest_finish_free(&finish);
    store_close(store);
    store_sample_remove(directory);
}

static void stop_everywhere(unsigned rounds, uint64_t seed)
{
    struct disk disk = {.root = ""};
    struct store_io io = disk_io(&disk);
    struct store_sample sample;
    struct store *store;
    size_t ends[DEEDS], step = 0;

    store_sample_directory(disk.root);
    store_sample_make(&sample);
    if (store_open(&store, disk.root, STORE_CREATE, &io, error) < 0)
        exit(2);
    for (size_t i = 0; i < DEEDS; i++) {
        if (act(&deeds[i], store, &sample, true) < 0) {
            printf("deed %zu: %s\n", i, error);
            exit(1);
        }
        ends[i] = disk.count;
    }
    store_close(store);
    for (size_t i = 0; i < DEEDS; step = ends[i++])
        for (size_t k = step; k <= ends[i]; k++) {
            stop(&disk, k, i, k == ends[i], DISK_KEEPS, 0);
            stop(&disk, k, i, k == ends[i], DISK_LOSES, 0);
            for (unsigned round = 0; round < rounds; round++)
                stop(&disk, k, i, k == ends[i], DISK_MIXES, seed + 1000 * k + round);
        }
    store_sample_free(&sample);
    store_sample_remove(disk.root);
    disk_free(&disk);
}

/* ---- Failures -------------------------------------------------------------------------------- */

/* Only the copy of the manifest could not be written, for which nobody waits. */
static bool only_lacks_a_copy(struct store *store, const struct deed *deed)
{
    char name[SNAPSHOT_NAME];
    struct manifest manifest;

    if (deed->what != SNAPSHOT && deed->what != INCREMENT && deed->what != TAKEN)
        return false;
    store_snapshot_name(name, deed->name);
    int directory = store_open_directory(store, store->job, name);
    if (directory < 0)
        return false;
    int status = store_load_manifest(store, directory, MANIFEST_COPY, deed->name, &manifest, NULL);
    if (status == 0)
        manifest_free(&manifest);
    store->io.close(store->io.context, directory);
    return status < 0;
}

/* Does all deeds; call number fail_at of the one that is chosen fails.  False when it has not so
 * many calls. */
static bool fail_at(size_t chosen, size_t number, int code)
{
    struct disk disk = {.root = ""};
    struct store_io io = disk_io(&disk);
    struct store_sample sample;
    struct store *store;
    char name[64];

    store_sample_directory(disk.root);
    store_sample_make(&sample);
    if (store_open(&store, disk.root, STORE_CREATE, &io, error) < 0)
        exit(2);
    for (size_t i = 0; i < chosen; i++)
        if (act(&deeds[i], store, &sample, true) < 0)
            exit(2);
    disk.calls = 0;
    disk.fail_at = number;
    disk.fail_with = code;
    error[0] = '\0';
    int status = act(&deeds[chosen], store, &sample, true);
    disk.fail_at = 0;
    states++;
    if (disk.failed && status == 0 && !only_lacks_a_copy(store, &deeds[chosen]))
        complain("a failure went unnoticed", chosen, number, code, "");
    if (disk.failed && status < 0 && !strstr(error, strerror(-code)))
        complain("the failure is not told", chosen, number, code, error);
    if (disk.failed && deeds[chosen].what != CREATE) {
        find_newest(store, name);
        if (strcmp(name, deeds[chosen - 1].newest) != 0 && strcmp(name, deeds[chosen].newest) != 0)
            complain(name, chosen, number, code, error);
        else
            go_on(store, name, chosen, number, code);
    }
    store_close(store);
    store_sample_free(&sample);
    store_sample_remove(disk.root);
    disk_free(&disk);
    return disk.failed;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: store_crash ROUNDS SEED\n");
        return 2;
    }
    store_sample_scratch();
    stop_everywhere((unsigned)strtoul(argv[1], NULL, 10), strtoull(argv[2], NULL, 10));
    printf("%lu states after a stop, %lu wrong\n", states, wrong);
    states = 0;
    for (size_t deed = 0; deed < DEEDS; deed++)
        for (size_t number = 1; fail_at(deed, number, number % 2 ? -ENOSPC : -EIO); number++)
            continue;
    printf("%lu failures, %lu wrong in all\n", states, wrong);
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
