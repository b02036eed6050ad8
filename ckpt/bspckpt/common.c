/* common.c - what bspckpt's commands share; see command.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ckpt/bspckpt/command.h"

void request_json(struct request *request)
{
    request->writer = (struct bspz_json){.file = stdout, .indented = true};
    request->json = &request->writer;
}

int complain(const char *format, ...)
{
    va_list arguments;

    fflush(stdout);
    fputs("bspckpt: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return STATUS_BAD;
}

/* ---- Targets --------------------------------------------------------------------------------- */

bool parse_snapshot(const char *text, struct bspz_snapshot_name *name)
{
    char *end;

    name->term = 0;
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    name->superstep = strtoull(text, &end, 10);
    if (errno != 0 || name->superstep == WIRE_NEVER)
        return false;
    if (*end == '\0')
        return true;
    if (end[0] != '.' || end[1] < '1' || end[1] > '9')
        return false;
    unsigned long number = strtoul(end + 1, &end, 10);
    name->term = (uint32_t)number;
    return errno == 0 && *end == '\0' && number <= UINT32_MAX;
}

int target_open(struct target *target, const char *text, enum store_mode mode, bool all_jobs)
{
    char path[4096], error[MANIFEST_ERROR_SIZE];
    struct stat about;

    *target = (struct target){.wanted.superstep = WIRE_NEVER};
    if (snprintf(path, sizeof(path), "%s", text) >= (int)sizeof(path))
        return complain("%.80s...: the path is too long", text);
    char *at = strrchr(path, '@');
    /* A directory's own name may contain an @, too. */
    if (at && lstat(path, &about) < 0) {
        if (!parse_snapshot(at + 1, &target->wanted)) {
            complain("%s: @ must be followed by SUPERSTEP or SUPERSTEP.TERM", text);
            return STATUS_WRONG;
        }
        *at = '\0';
    }
    if (store_open(&target->store, path, mode, NULL, error) < 0)
        return complain("%s", error);
    target->has_job = store_names_job(target->store);
    if (all_jobs && !target->has_job)
        return STATUS_OK;
    if (store_job_open(target->store, NULL, error) < 0) {
        target_close(target);
        return complain("%s", error);
    }
    return STATUS_OK;
}

void target_close(struct target *target)
{
    store_close(target->store);
    target->store = NULL;
}

/* The term of the named superstep's newest snapshot, whatever its state; 0 when there is none. */
static uint32_t find_term(struct target *target, char *error)
{
    struct store_entry *entries;
    size_t count;
    uint32_t term = 0;

    if (store_list(target->store, &entries, &count, error) < 0)
        return 0;
    snprintf(error, MANIFEST_ERROR_SIZE, "job %s has no snapshot of superstep %" PRIu64,
             store_job_name(target->store), target->wanted.superstep);
    for (size_t i = 0; i < count; i++)
        if (entries[i].name.superstep == target->wanted.superstep)
            term = entries[i].name.term;
    free(entries);
    return term;
}

int target_manifest(struct target *target, struct manifest *manifest)
{
    char error[MANIFEST_ERROR_SIZE], note[MANIFEST_ERROR_SIZE];

    if (target->wanted.superstep == WIRE_NEVER) {
        if (store_newest(target->store, WIRE_NEVER, WIRE_NEVER, manifest, note, error) < 0)
            return complain("%s", error);
        if (note[0])
            complain("%s", note);
        return STATUS_OK;
    }
    struct bspz_snapshot_name name = target->wanted;
    if (name.term == 0)
        name.term = find_term(target, error);
    if (name.term == 0 || store_manifest(target->store, name, manifest, error) < 0)
        return complain("%s", error);
    return STATUS_OK;
}

static char *join_hosts(const struct manifest *manifest)
{
    char *text = NULL;
    size_t size = 1;

    for (uint32_t i = 0; i < manifest->hosts.count; i++)
        size += strlen(manifest->hosts.items[i]) + 2;
    text = manifest->hosts.count > 1 ? calloc(1, size) : NULL;
    for (uint32_t i = 0; text && i < manifest->hosts.count; i++)
        snprintf(text + strlen(text), size - strlen(text), "%s%s", i > 0 ? ", " : "",
                 manifest->hosts.items[i]);
    return text;
}

char *target_hosts(struct store *store)
{
    struct store_entry *entries;
    struct manifest manifest;
    char *text = NULL;
    size_t count;
    bool found = false;

    if (store_list_all(store, &entries, &count, NULL) < 0)
        return NULL;
    for (size_t i = count; i-- > 0 && !found;) {
        found = store_manifest(store, entries[i].name, &manifest, NULL) == 0;
        if (found) {
            text = join_hosts(&manifest);
            manifest_free(&manifest);
        }
    }
    free(entries);
    return text;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

const char *size_text(uint64_t bytes, char text[24])
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double size = (double)bytes;
    int unit = -1;

    while (size >= 1024 && unit < 5) {
        size /= 1024;
        unit++;
    }
    if (unit < 0)
        snprintf(text, 24, "%" PRIu64 " B", bytes);
    else
        snprintf(text, 24, "%.1f %s", size, units[unit]);
    return text;
}

const char *age_text(uint64_t from, uint64_t now, char text[24])
{
    uint64_t seconds = now > from ? (now - from) / 1000000000u : 0;

    if (from == 0)
        snprintf(text, 24, "-");
    else if (seconds < 120)
        snprintf(text, 24, "%" PRIu64 " s", seconds);
    else if (seconds < 7200)
        snprintf(text, 24, "%" PRIu64 " min", seconds / 60);
    else if (seconds < 172800)
        snprintf(text, 24, "%" PRIu64 " h", seconds / 3600);
    else
        snprintf(text, 24, "%" PRIu64 " d", seconds / 86400);
    return text;
}

const char *region_kind_text(uint32_t kind)
{
    static const char *const texts[] = {"?",    "anon",   "file",        "heap",  "stack",
                                        "vdso", "shared", "shared file", "common"};
    return kind < sizeof(texts) / sizeof(texts[0]) ? texts[kind] : texts[0];
}

const char *descriptor_kind_text(uint32_t kind)
{
    static const char *const texts[] = {"?",   "file",     "directory", "device",
                                        "job", "excluded", "lost"};
    return kind < sizeof(texts) / sizeof(texts[0]) ? texts[kind] : texts[0];
}

const char *protection_text(const struct bspz_image_region *region, char text[5])
{
    snprintf(text, 5, "%c%c%c%c", region->protection & 1 ? 'r' : '-',
             region->protection & 2 ? 'w' : '-', region->protection & 4 ? 'x' : '-',
             region->flags & BSPZ_REGION_IS_SHARED ? 's' : 'p');
    return text;
}

/* ---- Images ---------------------------------------------------------------------------------- */

static int read_image(void *context, uint64_t offset, void *bytes, size_t size)
{
    struct loaded *loaded = context;

    return store_io_read(&store_io_system, loaded->file, offset, bytes, size);
}

int loaded_open(struct loaded *loaded, struct store *store, struct bspz_snapshot_name name,
                uint32_t pid, struct bspz_image_fault *fault)
{
    struct bspz_image_source source = {.read = read_image, .context = loaded};
    char error[MANIFEST_ERROR_SIZE];

    *loaded = (struct loaded){.file = -1};
    *fault = (struct bspz_image_fault){0};
    loaded->file = store_image_open(store, name, pid, &source.size, error);
    if (loaded->file < 0) {
        snprintf(fault->text, sizeof(fault->text), "%.250s", error);
        return loaded->file;
    }
    loaded->scratch = aligned_alloc(64, BSPZ_IMAGE_READER_SCRATCH);
    int status = loaded->scratch ? bspz_image_open(&loaded->image, &source, loaded->scratch, fault)
                                 : -ENOMEM;
    if (status == 0) {
        loaded->memory = malloc(bspz_image_memory(&loaded->image));
        status = loaded->memory ? bspz_image_load(&loaded->image, loaded->memory, fault) : -ENOMEM;
    }
    if (status == -ENOMEM)
        snprintf(fault->text, sizeof(fault->text), "out of memory");
    if (status < 0)
        loaded_close(loaded);
    return status;
}

void loaded_close(struct loaded *loaded)
{
    if (loaded->file >= 0)
        store_io_system.close(NULL, loaded->file);
    free(loaded->scratch);
    free(loaded->memory);
    loaded->file = -1;
    loaded->scratch = loaded->memory = NULL;
}
