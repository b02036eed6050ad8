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

struct retiring {
    const struct manifest_terms *terms;
    char *error;
    bool told;
};

/* Removes the file from a snapshot that no longer counts.  A snapshot that cannot be opened here
 * cannot be restored from either. */
static int remove_counts_file(const struct store *store, const struct store_visited *at,
                              void *context)
{
    const struct store_io *io = &store->io;
    struct retiring *retiring = context;

    if (at->directory < 0 || store_counts(retiring->terms, at->snapshot))
        return 0;
    int status = io->unlink(io->context, at->directory, COUNTS_NAME, 0);
    if (status == 0)
        status = io->sync(io->context, at->directory);
    if (status == 0 || status == -ENOENT)
        return 0;
    retiring->told = true;
    return store_fail_system(store, status, retiring->error, "snapshot %s cannot be retired",
                             at->name);
}

static int retire(const struct store *store, const struct manifest_terms *terms, char *error)
{
    struct retiring retiring = {.terms = terms, .error = error};
    int status = store_walk(store, remove_counts_file, &retiring);

    if (status < 0 && !retiring.told)
        store_fail_system(store, status, error, "job %s", store->job_name);
    return status;
}

static bool has_term(const struct manifest_terms *terms, uint32_t term)
{
    for (uint32_t i = 0; i < terms->terms.count; i++)
        if (terms->terms.items[i].term == term)
            return true;
    return false;
}

/* Adds a term to the list, which has room for two more.  The term that it goes on from is missing
 * if this host was not there when that one began, or could not note it.  It is added as well, since
 * its snapshots count up to that one; as it is not known how it began, older ones of other terms do
 * not. */
static uint32_t add_term(const struct manifest_terms *terms, const struct manifest_term *added,
                         struct manifest_term *list)
{
    uint32_t count = terms->terms.count;

    if (count > 0)
        memcpy(list, terms->terms.items, count * sizeof(*list));
    if (added->from.term != 0 && !has_term(terms, added->from.term)) {
        uint32_t at = count++;
        for (; at > 0 && list[at - 1].term > added->from.term; at--)
            list[at] = list[at - 1];
        list[at] = (struct manifest_term){.term = added->from.term, .created = added->created};
    }
    list[count++] = *added;
    return count;
}

/* 0, 1: it is there already, if perhaps in one of the files only, or -EINVAL: another one is. */
static int check_new(const struct manifest_terms *terms, uint32_t term,
                     struct bspz_snapshot_name from)
{
    uint32_t count = terms->terms.count;
    const struct manifest_term *last = count > 0 ? &terms->terms.items[count - 1] : NULL;

    if (!last || term > last->term)
        return 0;
    return term == last->term && bspz_snapshot_same(from, last->from) ? 1 : -EINVAL;
}

int store_term_begin(struct store *store, uint32_t term, struct bspz_snapshot_name from,
                     uint64_t now, char *error)
{
    struct manifest_term added = {.term = term, .from = from, .created = now};
    struct manifest_terms terms, more;

    int status = store_terms(store, &terms, error);
    if (status < 0)
        return status;
    struct manifest_term *list = calloc(terms.terms.count + 2, sizeof(*list));
    int check = check_new(&terms, term, from);
    more = (struct manifest_terms){.job = terms.job, .terms = terms.terms};
    if (list && check == 0)
        more.terms = (struct manifest_term_list){list, add_term(&terms, &added, list)};
    if (!list)
        status = store_fail_system(store, -ENOMEM, error, "cannot note the term");
    else if (check < 0)
        status =
            store_fail(store, check, error,
                       "cannot note term %u: that term, or a later one, has begun already", term);
    else
        status = retire(store, &more, error);
    if (status == 0)
        status = store_save_terms(store, &more, error);
    free(list);
    manifest_terms_free(&terms);
    return status;
}
