/* repair.c - repairs a job's directory after files of it were lost; see store.h.
 *
 * The record of terms is made again from its copy.  When both are lost: a snapshot whose directory
 * has the file `counts` has not been retired by any term (terms.c), so the job may be restarted
 * from these, and no others.  The numbers of terms that left no trace are unknown: a gap is left
 * for them.
 *
 * A manifest is made again from its copy, which is written after it: so the snapshot was committed.
 * Nothing is removed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ckpt/inside.h"

#define UNSEEN_TERMS 1000u /* an upper bound on terms after the last that left a trace */

struct repair {
    struct store *store;
    store_loss_function *tell; /* reports each repair */
    void *context;
    char *error;
    bool told; /* `error` already holds the message */
};

static void tell(const struct repair *repair, const char *file, const char *text)
{
    if (repair->tell)
        repair->tell(repair->context, file, text);
}

/* ---- Terms ----------------------------------------------------------------------------------- */

/* What remains of the record of terms. */
struct traces {
    struct trace {
        struct bspz_snapshot_name name;
        uint64_t created;
    } * counting; /* snapshots that count, ascending */
    size_t count;
    size_t uncertain; /* snapshots that cannot be shown to count */
    uint32_t last;    /* the greatest term that left a trace */
    uint8_t job[WIRE_JOB_SIZE];
};

static int by_superstep(const void *a, const void *b)
{
    const struct trace *left = a, *right = b;

    return bspz_snapshot_order(left->name, right->name);
}

static int add_trace(struct traces *traces, const struct trace *trace)
{
    struct trace *more = reallocarray(traces->counting, traces->count + 1, sizeof(*more));

    if (!more)
        return -ENOMEM;
    traces->counting = more;
    more[traces->count++] = *trace;
    return 0;
}

static int trace_snapshot(const struct store *store, const struct store_visited *at, void *context)
{
    struct traces *traces = context;
    struct manifest manifest;

    if (at->snapshot.term > traces->last)
        traces->last = at->snapshot.term;
    if (at->directory < 0)
        return 0;
    int status =
        store_load_manifest(store, at->directory, MANIFEST_NAME, at->snapshot, &manifest, NULL);
    if (status == -ENOENT || status == -EBADMSG)
        status =
            store_load_manifest(store, at->directory, MANIFEST_COPY, at->snapshot, &manifest, NULL);
    if (status != 0)
        return 0;
    if (store_has_file(at->directory, COUNTS_NAME)) {
        status = add_trace(traces, &(struct trace){at->snapshot, manifest.created});
        memcpy(traces->job, manifest.job.data, WIRE_JOB_SIZE);
    } else {
        traces->uncertain++;
    }
    manifest_free(&manifest);
    return status;
}

static int find_traces(const struct store *store, struct traces *traces)
{
    int status = store_walk(store, trace_snapshot, traces);

    if (status < 0)
        return status;
    if (traces->count > 0)
        qsort(traces->counting, traces->count, sizeof(*traces->counting), by_superstep);
    return 0;
}

/* Among snapshots that count, terms ascend with supersteps: one that is newer than a snapshot of a
 * later term was committed too late to count. */
static void keep_consistent(struct traces *traces)
{
    uint32_t term = 0;
    size_t kept = 0;

    for (size_t i = 0; i < traces->count; i++) {
        if (traces->counting[i].name.term < term)
            continue;
        term = traces->counting[i].name.term;
        traces->counting[kept++] = traces->counting[i];
    }
    traces->uncertain += traces->count - kept;
    traces->count = kept;
}

/* Each term is made to begin from the newest remaining snapshot of the one before; the last one,
 * which may have left nothing, from the newest of all. */
static int write_terms(struct repair *repair, const struct traces *traces)
{
    struct manifest_term *list = calloc(traces->count + 1, sizeof(*list));
    const struct trace *newest = &traces->counting[traces->count - 1];
    uint32_t count = 0;

    if (!list)
        return store_fail_system(repair->store, -ENOMEM, repair->error, "cannot note the terms");
    for (size_t i = 0; i < traces->count; i++) {
        const struct trace *one = &traces->counting[i];
        if (i > 0 && one->name.term == one[-1].name.term)
            continue;
        list[count++] = (struct manifest_term){.term = one->name.term, .created = one->created};
        if (i > 0)
            list[count - 1].from = one[-1].name;
    }
    list[count++] = (struct manifest_term){
        .term = traces->last + UNSEEN_TERMS, .from = newest->name, .created = newest->created};
    const struct manifest_terms terms = {.job = {traces->job, WIRE_JOB_SIZE},
                                         .terms = {list, count}};
    int status = store_save_terms(repair->store, &terms, repair->error);
    free(list);
    return status;
}

static int rebuild_terms(struct repair *repair)
{
    struct traces traces = {0};
    char text[MANIFEST_ERROR_SIZE];

    int status = find_traces(repair->store, &traces);
    if (status < 0) {
        free(traces.counting);
        return store_fail_system(repair->store, status, repair->error, "job %s",
                                 repair->store->job_name);
    }
    keep_consistent(&traces);
    if (traces.count == 0)
        status = store_fail(repair->store, -ENOENT, repair->error,
                            "job %s: both records of terms are lost, and for no snapshot is it "
                            "certain that no later term began from an older one",
                            repair->store->job_name);
    else
        status = write_terms(repair, &traces);
    if (status == 0) {
        snprintf(text, sizeof(text),
                 "made again, and so is %s, from the manifests of %zu snapshot%s that no later "
                 "term has retired%s",
                 TERM_COPY, traces.count, traces.count == 1 ? "" : "s",
                 traces.uncertain > 0 ? "; the others will not be used" : "");
        tell(repair, TERM_NAME, text);
    }
    free(traces.counting);
    return status;
}

static int repair_terms(struct repair *repair)
{
    struct store *store = repair->store;
    struct manifest_terms first, second, terms;

    int one = store_load_record(store, store->job, TERM_NAME, &first, repair->error);
    int two = store_load_record(store, store->job, TERM_COPY, &second, NULL);
    bool differ = one == 0 && two == 0 && first.terms.count != second.terms.count;
    if (one == 0)
        manifest_terms_free(&first);
    if (two == 0)
        manifest_terms_free(&second);
    if (one == 0 && two == 0 && !differ)
        return 0;
    if (one == -EPROTO || two == -EPROTO) /* of another version: left alone */
        return store_fail(store, -EPROTO, repair->error, "job %s: %s is of another version",
                          store->job_name, one == -EPROTO ? TERM_NAME : TERM_COPY);
    if (one < 0 && two < 0)
        return rebuild_terms(repair);
    int status = store_terms(store, &terms, repair->error);
    if (status < 0)
        return status;
    status = store_save_terms(store, &terms, repair->error);
    manifest_terms_free(&terms);
    if (status == 0)
        tell(repair, one < 0 ? TERM_NAME : TERM_COPY,
             one < 0 ? "made again from " TERM_COPY : "made again from " TERM_NAME);
    return status;
}

/* ---- Manifests ------------------------------------------------------------------------------- */

/* Whether the images that the manifest names exist; those of other hosts are in their
 * directories. */
static bool images_are_there(int directory, const struct manifest *manifest)
{
    for (uint32_t i = 0; i < manifest->images.count; i++) {
        const struct manifest_image *image = &manifest->images.items[i];
        char name[IMAGE_NAME];
        struct stat about;

        store_image_name(name, image->image_pid);
        bool there = fstatat(directory, name, &about, AT_SYMLINK_NOFOLLOW) == 0;
        if (there ? (uint64_t)about.st_size != image->facts.size : manifest->hosts.count < 2)
            return false;
    }
    return true;
}

static int copy_file(const struct repair *repair, int directory, const char *from, const char *to)
{
    const struct store_io *io = &repair->store->io;
    void *bytes;
    size_t size;

    int status = store_io_load(io, directory, from, SEALED_FILE_MAX, &bytes, &size);
    if (status < 0)
        return status;
    status = store_io_replace(io, directory, to, bytes, size);
    free(bytes);
    return status;
}

static int repair_manifest(const struct store *store, const struct store_visited *at, void *context)
{
    struct repair *repair = context;
    int directory = at->directory;
    char file[SNAPSHOT_NAME + sizeof("/" MANIFEST_COPY)];
    struct manifest manifest, copy;
    int status = 0;

    if (directory < 0)
        return 0; /* not the caller's: reported by store_list */
    int one = store_load_manifest(store, directory, MANIFEST_NAME, at->snapshot, &manifest, NULL);
    int two = store_load_manifest(store, directory, MANIFEST_COPY, at->snapshot, &copy, NULL);
    bool put_back =
        (one == -ENOENT || one == -EBADMSG) && two == 0 && images_are_there(directory, &copy);
    if (put_back)
        status = copy_file(repair, directory, MANIFEST_COPY, MANIFEST_NAME);
    else if (one == 0 && two < 0 && two != -EPROTO)
        status = copy_file(repair, directory, MANIFEST_NAME, MANIFEST_COPY);
    if (one == 0)
        manifest_free(&manifest);
    if (two == 0)
        manifest_free(&copy);
    if (put_back && status == 0) {
        snprintf(file, sizeof(file), "%s/%s", at->name, MANIFEST_NAME);
        tell(repair, file, "made again from " MANIFEST_COPY);
    }
    if (status == 0)
        return 0;
    repair->told = true;
    return store_fail_system(store, status, repair->error, "snapshot %s: the manifest", at->name);
}

static int repair_manifests(struct repair *repair)
{
    int status = store_walk(repair->store, repair_manifest, repair);

    if (status < 0 && !repair->told)
        store_fail_system(repair->store, status, repair->error, "job %s", repair->store->job_name);
    return status;
}

int store_repair(struct store *store, store_loss_function *tell, void *context, char *error)
{
    struct repair repair = {store, tell, context, error, false};
    int status = repair_manifests(&repair);

    return status < 0 ? status : repair_terms(&repair);
}
