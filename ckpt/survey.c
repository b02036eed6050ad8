/* survey.c - what is wrong with a job's folder besides damaged images: records, manifests and
 * images that are missing; see store.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "ckpt/inside.h"

/* ---- Looks ----------------------------------------------------------------------------------- */

static bool is_there(int folder, const char *name)
{
    return faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool is_image(const char *name)
{
    char again[IMAGE_NAME];
    unsigned pid;

    if (sscanf(name, "%u", &pid) != 1)
        return false;
    store_image_name(again, pid);
    return strcmp(name, again) == 0;
}

size_t store_images_in(int folder)
{
    char **names;
    size_t count, images = 0;

    if (store_names(folder, &names, &count) < 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        images += is_image(names[i]);
    store_names_free(names, count);
    return images;
}

static bool is_snapshot(int job, const char *name)
{
    uint64_t superstep;
    uint32_t term;

    if (!store_parse_snapshot(name, &superstep, &term))
        return false;
    int folder = openat(job, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return false;
    bool is_one = is_there(folder, MANIFEST_NAME) || is_there(folder, MANIFEST_COPY) ||
                  store_images_in(folder) > 0;
    close(folder);
    return is_one;
}

bool store_is_job(int folder)
{
    char **names;
    size_t count;
    bool is_one = is_there(folder, TERM_NAME) || is_there(folder, TERM_COPY);

    if (is_one || store_names(folder, &names, &count) < 0)
        return is_one;
    for (size_t i = 0; i < count && !is_one; i++)
        is_one = is_snapshot(folder, names[i]);
    store_names_free(names, count);
    return is_one;
}

bool store_has_count(int folder)
{
    return is_there(folder, COUNTS_NAME);
}

int store_manifest_copy(const struct store *store, int folder, uint64_t superstep, uint32_t term,
                        struct manifest *manifest)
{
    void *bytes;
    size_t size;

    int status = store_io_load(&store->io, folder, MANIFEST_COPY, SEALED_FILE_MAX, &bytes, &size);
    if (status < 0)
        return status;
    status = manifest_decode(bytes, size, manifest, NULL);
    free(bytes);
    if (status == 0 && (manifest->superstep != superstep || manifest->term != term)) {
        manifest_free(manifest);
        status = -EBADMSG;
    }
    return status;
}

bool store_in_use(const struct store *store)
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

/* Finished images without a manifest; one with a copy is listed as damaged. */
static void look_for_orphans(struct survey *survey, const char *name)
{
    const struct store *store = survey->store;
    char text[MANIFEST_ERROR_SIZE];
    uint64_t superstep;
    uint32_t term;

    if (!store_parse_snapshot(name, &superstep, &term))
        return;
    int folder = store_open_folder(store, store->job, name);
    if (folder < 0)
        return; /* which is told of where it is listed */
    size_t images = is_there(folder, MANIFEST_NAME) || is_there(folder, MANIFEST_COPY)
                        ? 0
                        : store_images_in(folder);
    store->io.close(store->io.context, folder);
    if (images == 0)
        return;
    snprintf(text, sizeof(text),
             "%zu image%s without a manifest: it was removed, or the snapshot was never finished; "
             "the next restart removes what is left of it",
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
    if (store_in_use(store) || store_names(store->job, &names, &count) < 0)
        return survey.found; /* it may be taking a snapshot */
    for (size_t i = 0; i < count; i++)
        look_for_orphans(&survey, names[i]);
    store_names_free(names, count);
    return survey.found;
}
