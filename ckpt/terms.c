/* terms.c - the record of a job's terms; see store.h.
 *
 * It is kept in two files, since without it no snapshot can be used: which of them a later term has
 * retired is recorded nowhere else.  Both are durable before a term begins, so if they differ, the
 * last term of the longer one has not begun yet, and either is valid.
 *
 * In case both are lost, a snapshot's directory holds an empty file `counts` as long as no term has
 * begun from an older snapshot: a repair never restarts from a snapshot without it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/inside.h"
#include "lib/base/error_text.h"

/* ---- Reading --------------------------------------------------------------------------------- */

int store_load_record(const struct store *store, int job, const char *name,
                      struct manifest_terms *terms, char *error)
{
    void *bytes;
    size_t size;

    int status = store_io_load(&store->io, job, name, SEALED_FILE_MAX, &bytes, &size);
    if (status < 0)
        return bspz_error_text(error, MANIFEST_ERROR_SIZE, status, "%s: %s", name,
                               store_error_text(status));
    status = manifest_terms_decode(bytes, size, terms, error);
    free(bytes);
    return status;
}

int store_load_terms(const struct store *store, int job, struct manifest_terms *terms, char *error)
{
    struct manifest_terms first, second;

    int status = store_load_record(store, job, TERM_NAME, &first, error);
    int other = store_load_record(store, job, TERM_COPY, &second, NULL);
    if (status < 0 && other < 0)
        return status;
    bool longer = status == 0 && other == 0 && second.terms.count > first.terms.count;
    *terms = status < 0 || longer ? second : first;
    if (status == 0 && other == 0)
        manifest_terms_free(longer ? &first : &second);
    return 0;
}

int store_terms(struct store *store, struct manifest_terms *terms, char *error)
{
    char text[MANIFEST_ERROR_SIZE];

    int status = store_load_terms(store, store->job, terms, text);
    return status < 0 ? store_fail(store, status, error,
                                   "job %s: %.200s; %s cannot be used either: bspckpt repair "
                                   "restores what it can",
                                   store->job_name, text, TERM_COPY)
                      : 0;
}

/* The last term began from a snapshot of an earlier term, that one from a snapshot of a still
 * earlier one, and so on: the snapshots on this path count. */
bool store_counts(const struct manifest_terms *terms, struct bspz_snapshot_name snapshot)
{
    uint64_t limit = UINT64_MAX;
    uint32_t expected = 0;

    for (uint32_t i = terms->terms.count; i-- > 0;) {
        const struct manifest_term *began = &terms->terms.items[i];
        if (expected != 0 && began->term != expected)
            continue;
        if (began->term == snapshot.term)
            return snapshot.superstep <= limit;
        if (began->from.superstep < limit)
            limit = began->from.superstep;
        expected = began->from.term;
        if (expected == 0)
            return false;
    }
    return false;
}

/* ---- Writing --------------------------------------------------------------------------------- */

int store_save_terms(struct store *store, const struct manifest_terms *terms, char *error)
{
    struct bspz_buffer buffer = {0};

    int status = manifest_terms_encode(terms, &buffer, error);
    if (status < 0)
        return status;
    status = store_io_replace(&store->io, store->job, TERM_NAME, buffer.data, buffer.size);
    if (status == 0)
        status = store_io_replace(&store->io, store->job, TERM_COPY, buffer.data, buffer.size);
    bspz_buffer_free(&buffer);
    return status < 0 ? store_fail_system(store, status, error, "cannot note the term") : 0;
}
