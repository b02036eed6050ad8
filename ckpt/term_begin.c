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

int store_term_begin(struct store *store, uint32_t term, struct bspz_snapshot_name from,
                     uint64_t now, char *error)
{
    struct manifest_terms terms, more;

    int status = store_terms(store, &terms, error);
    if (status < 0)
        return status;
    uint32_t count = terms.terms.count;
    struct manifest_term *list = calloc(count + 1, sizeof(*list));
    if (list) {
        if (count > 0)
            memcpy(list, terms.terms.items, count * sizeof(*list));
        list[count] =
            (struct manifest_term){.term = term, .from = from, .created = store_later(store, now)};
        more = (struct manifest_terms){.job = terms.job, .terms = {list, count + 1}};
        status = count > 0 && term <= list[count - 1].term ? 0 : retire(store, &more, error);
        if (status == 0)
            status = store_save_terms(store, &more, error);
    } else {
        status = store_fail_system(store, -ENOMEM, error, "cannot note the term");
    }
    free(list);
    manifest_terms_free(&terms);
    return status;
}
