/* survey.c - what is wrong with a job's directory besides damaged images: records, manifests and
 * images that are missing; see store.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "ckpt/inside.h"

/* Whether somebody has the directory locked: a job is running there. */
static bool is_in_use(const struct store *store)
{
    int file = openat(store->base, LOCK_NAME, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (file < 0)
        return false;
    bool used = flock(file, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    close(file); /* and with it the lock */
    return used;
}

/* ---- What is missing ------------------------------------------------------------------------- */

struct survey {
    struct store *store;
    store_loss_function *tell;
    void *context;
    int found;
};

static void lost(struct survey *survey, const char *file, const char *text)
{
    survey->found++;
    survey->tell(survey->context, file, text);
}

static void look_at_record(struct survey *survey, const char *name)
{
    const struct store *store = survey->store;
    struct manifest_terms terms;
    char text[MANIFEST_ERROR_SIZE];

    int status = store_load_record(store, store->job, name, &terms, text);
    if (status == 0)
        manifest_terms_free(&terms);
    else if (status == -ENOENT)
        lost(survey, name, "missing: which terms began is kept twice");
    else
        lost(survey, name, text);
}

static void look_at_end(struct survey *survey)
{
    struct manifest_finish finish;
    char text[MANIFEST_ERROR_SIZE] = "";

    int status = store_load_finish(survey->store, &finish, text);
    if (status == 0)
        manifest_finish_free(&finish);
    else if (status != -ENOENT)
        lost(survey, FINISH_NAME, text);
}

/* Reports finished images without a manifest; a snapshot with a copy of the manifest is listed as
 * damaged. */
static void look_for_orphans(struct survey *survey, const char *name)
{
    const struct store *store = survey->store;
    char text[MANIFEST_ERROR_SIZE];
    struct bspz_snapshot_name snapshot;

    if (!store_parse_snapshot(name, &snapshot))
        return;
    int directory = store_open_directory(store, store->job, name);
    if (directory < 0)
        return; /* store_list reports that */
    size_t images =
        store_has_file(directory, MANIFEST_NAME) || store_has_file(directory, MANIFEST_COPY)
            ? 0
            : store_images_in(directory);
    store->io.close(store->io.context, directory);
    if (images == 0)
        return;
    snprintf(
        text, sizeof(text),
        "%zu image%s without a manifest: it was removed, or the snapshot was never finished; "
        "the next restart, or bspckpt prune on the host that has it, removes what is left of it",
        images, images == 1 ? "" : "s");
    lost(survey, name, text);
}

int store_survey(struct store *store, store_loss_function *tell, void *context)
{
    struct survey survey = {store, tell, context, 0};
    char **names;
    size_t count;

    look_at_record(&survey, TERM_NAME);
    look_at_record(&survey, TERM_COPY);
    look_at_end(&survey);
    if (is_in_use(store) || store_names(store->job, &names, &count) < 0)
        return survey.found; /* it may be taking a snapshot */
    for (size_t i = 0; i < count; i++)
        look_for_orphans(&survey, names[i]);
    store_names_free(names, count);
    return survey.found;
}
