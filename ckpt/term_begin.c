/* term_begin.c - a job's next term begins; see store.h, and terms.c for what is recorded of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/inside.h"

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
    struct manifest_term added = {.term = term, .from = from, .created = store_later(store, now)};
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
