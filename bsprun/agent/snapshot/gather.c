/* gather.c - fetches the files from which processes are made: manifests, images, programs,
 * libraries.
 *
 * Checks which files exist, requests missing ones (and images that are damaged here) from other
 * hosts, and checks again when they have arrived, as a manifest names images, and an image its base
 * and the files it maps.
 *
 * What can fail: no host has a file, or it cannot be written here: the caller is told.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/fetch.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/saved.h"
#include "bsprun/agent/snapshot/inside.h"

#define VARIABLES 2

struct gathering {
    struct bspz_snapshot_name name;
    uint32_t term;
    bool ahead; /* the processes are on other hosts still */
    bool (*wants)(const struct agent *agent, int pid);
    void (*done)(struct agent *agent, int error, const char *why);
    int outstanding;
    int error;
    char why[AGENT_WHY];

    /* How the processes are started. */
    char *program;
    char *variables[VARIABLES];
};

static void look(struct agent *agent);

static void forget_start(struct gathering *gathering)
{
    free(gathering->program);
    gathering->program = NULL;
    for (int i = 0; i < VARIABLES; i++) {
        free(gathering->variables[i]);
        gathering->variables[i] = NULL;
    }
}

static void came(struct agent *agent, const struct fetch_want *want, int error, const char *why)
{
    struct gathering *gathering = snapshots_of(agent)->gathering;

    (void)want;
    if (!gathering || gathering->term != agent_term(agent))
        return;
    if (error && !gathering->error) {
        gathering->error = error;
        snprintf(gathering->why, sizeof gathering->why, "%s", why);
    }
    if (--gathering->outstanding == 0)
        look(agent);
}

static void fail(struct gathering *gathering, int error, const char *why)
{
    if (gathering->error)
        return;
    gathering->error = error;
    snprintf(gathering->why, sizeof gathering->why, "%s", why);
}

static void want(struct agent *agent, struct fetch_want wanted)
{
    struct gathering *gathering = snapshots_of(agent)->gathering;

    wanted.otherwise = agent_home(agent, 0);
    if (!gathering->ahead || wanted.thing != WIRE_THING_IMAGE)
        wanted.from = agent_job(agent) == JOB_FORMING
                          ? snapshot_source(agent_homes(agent), (uint32_t)agent_nprocs(agent),
                                            agent_host(agent))
                          : agent_home(agent, 0);
    wanted.done = came;
    if (agent_fetch(agent, &wanted) == 0)
        gathering->outstanding++;
    else
        fail(gathering, -ENOMEM, "out of memory");
}

/* Images requested in this check, as many processes may start from one. */
struct asked {
    struct fetch_want items[64];
    int count;
};

static void want_once(struct agent *agent, struct asked *asked, struct fetch_want wanted)
{
    for (int i = 0; i < asked->count; i++)
        if (asked->items[i].thing == wanted.thing && asked->items[i].pid == wanted.pid &&
            bspz_snapshot_same(asked->items[i].name, wanted.name))
            return;
    if (asked->count == (int)(sizeof asked->items / sizeof *asked->items))
        return; /* the next check will */
    asked->items[asked->count++] = wanted;
    want(agent, wanted);
}

/* ---- Programs and libraries ------------------------------------------------------------------ */

static char *variable(const char *name, const char *value)
{
    char *text;

    return asprintf(&text, "%s=%s", name, value) < 0 ? NULL : text;
}

/* The program is identified by its build id: its path is that of a copy if the process was made on
 * a host without it. */
static void use_program(struct gathering *gathering, const struct binaries *needed,
                        const char *directory_path, const char *program)
{
    const struct binaries_file *file = needed->program;
    char *path;

    for (size_t i = 0; i < needed->count && !file; i++)
        if (strcmp(needed->files[i].path, program) == 0)
            file = &needed->files[i];
    if (!file || binaries_is_at(file, program))
        return;
    if (file->here)
        gathering->program = strdup(file->path);
    else if (asprintf(&path, "%s/%s", directory_path, file->name) > 0)
        gathering->program = path;
}

/* All files are at their paths or copied: sets program and variables for the start of processes. */
static void use_copies(struct agent *agent, const struct binaries *needed, const char *program)
{
    struct gathering *gathering = snapshots_of(agent)->gathering;
    char links[PATH_MAX], why[AGENT_WHY];
    const char *directory_path;
    int directory = agent_fetch_directory(agent, &directory_path, why);

    forget_start(gathering);
    if (directory < 0 || binaries_link(directory, directory_path, needed, links, why) != 0) {
        fail(gathering, -EIO, why);
        return;
    }
    use_program(gathering, needed, directory_path, program);
    gathering->variables[0] = variable(BSPZ_ENV_BINARIES, directory_path);
    if (links[0])
        gathering->variables[1] = variable("LD_LIBRARY_PATH", links);
}

/* Checks the files of one image; all images of a job are of the same program. */
static void look_at_binaries(struct agent *agent, const struct manifest *manifest, uint32_t pid)
{
    struct gathering *gathering = snapshots_of(agent)->gathering;
    struct binaries needed = {0};
    char why[AGENT_WHY];
    const char *path;
    bool missing = false, elsewhere = false;
    uint64_t size;
    int directory, image = store_image_open(agent_store(agent), gathering->name, pid, &size, why);

    if (image < 0 || binaries_of_image(image, &needed, why) != 0) {
        if (image >= 0)
            close(image); /* it is damaged, which the restore will report */
        binaries_free(&needed);
        return;
    }
    close(image);
    elsewhere = needed.program && !binaries_is_at(needed.program, manifest->program);
    for (size_t i = 0; i < needed.count; i++)
        elsewhere = elsewhere || !needed.files[i].here;
    directory = elsewhere ? agent_fetch_directory(agent, &path, why) : -1;
    if (elsewhere && directory < 0)
        fail(gathering, directory, why);
    for (size_t i = 0; i < needed.count && directory >= 0; i++) {
        if (needed.files[i].here || binaries_kept(directory, &needed.files[i]))
            continue;
        missing = true;
        want(agent, (struct fetch_want){.thing = WIRE_THING_BINARY, .file = &needed.files[i]});
    }
    if (elsewhere && !missing && !gathering->error)
        use_copies(agent, &needed, manifest->program);
    binaries_free(&needed);
}

/* ---- Images ---------------------------------------------------------------------------------- */

static void want_image(struct agent *agent, struct asked *asked, struct bspz_snapshot_name name,
                       const struct manifest_image *image, uint32_t pid)
{
    struct fetch_want wanted = {.thing = WIRE_THING_IMAGE, .name = name, .pid = image->image_pid};

    wanted.from = agent_home(agent, pid);

    memcpy(wanted.digest, image->facts.digest, sizeof wanted.digest);
    want_once(agent, asked, wanted);
}

/* Looks for the image: 0; -ENOENT: another host may have it; else why it cannot be opened.  Where
 * images are on several hosts a damaged one is as good as none, and what comes replaces it.  In a
 * directory that all hosts share nobody has another: the restore says what is wrong with it. */
static int look_at_image(struct agent *agent, struct store *store, struct bspz_snapshot_name name,
                         const struct manifest_image *image)
{
    struct bspz_image_name wanted = {
        .superstep = name.superstep, .term = name.term, .pid = image->image_pid};
    char why[AGENT_WHY];
    uint64_t size;
    int file;

    memcpy(wanted.digest, image->facts.digest, sizeof wanted.digest);
    if (snapshots_of(agent)->copies > 1)
        return store_image_look(store, &wanted) == 0 ? 0 : -ENOENT;
    file = store_image_open(store, name, image->image_pid, &size, why);
    if (file < 0)
        return file;
    close(file);
    return 0;
}

/* Follows the chain of a process's image.  True: all of it is here. */
static bool look_at_chain(struct agent *agent, struct sources *sources, struct asked *asked,
                          uint32_t pid)
{
    struct gathering *gathering = snapshots_of(agent)->gathering;
    struct bspz_snapshot_name name = gathering->name;
    const struct manifest_image *image;
    uint32_t rank = pid; /* all from one may have the same image */
    char why[AGENT_WHY];
    int error;

    do {
        const struct manifest *manifest = agent_manifest_of(sources, name, &error, why);

        if (error == -ENOENT)
            want_once(agent, asked,
                      (struct fetch_want){.thing = WIRE_THING_MANIFEST, .name = name});
        if (!manifest || pid >= manifest->nprocs)
            return false; /* damaged ones are found when they are used */
        image = &manifest->images.items[pid];
        error = look_at_image(agent, sources->store, name, image);
        if (error == -ENOENT)
            want_image(agent, asked, name, image, rank);
        if (error)
            return false;
        name = bspz_image_snapshot(&image->facts.base);
        pid = image->facts.base.pid;
    } while (image->facts.generation > 0);
    return true;
}

static void finish(struct agent *agent)
{
    struct gathering *gathering = snapshots_of(agent)->gathering;
    int error = gathering->error;
    char why[AGENT_WHY];

    snprintf(why, sizeof why, "%s", gathering->why);
    gathering->error = 0;
    gathering->done(agent, error, why);
}

static void look(struct agent *agent)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    struct gathering *gathering = snapshots->gathering;
    struct sources sources = {.store = agent_store(agent)};
    struct asked *asked = calloc(1, sizeof *asked);
    char why[AGENT_WHY];
    int first = -1, error = 0;

    gathering->outstanding = 1; /* so that immediate failures do not complete it here */
    if (!asked)
        fail(gathering, -ENOMEM, "out of memory");
    /* Also where no process goes on, as on a host that has just joined. */
    else if (!gathering->error && !agent_manifest_of(&sources, gathering->name, &error, why) &&
             error == -ENOENT)
        want_once(agent, asked,
                  (struct fetch_want){.thing = WIRE_THING_MANIFEST, .name = gathering->name});
    for (int pid = 0; asked && !gathering->error && pid < agent_nprocs(agent); pid++) {
        if (!gathering->wants(agent, pid))
            continue;
        if (look_at_chain(agent, &sources, asked, (uint32_t)pid) && first < 0)
            first = pid;
    }
    if (first >= 0 && gathering->outstanding == 1 && !gathering->error)
        look_at_binaries(agent, &sources.manifests[0],
                         sources.manifests[0].images.items[first].image_pid);
    agent_free_sources(&sources);
    free(asked);
    if (--gathering->outstanding == 0)
        finish(agent);
}

void agent_gather(struct agent *agent, struct bspz_snapshot_name name, bool ahead,
                  bool (*wants)(const struct agent *agent, int pid),
                  void (*done)(struct agent *agent, int error, const char *why))
{
    struct agent_snapshots *snapshots = snapshots_of(agent);

    if (!agent_has_peers(agent)) {
        done(agent, 0, "");
        return;
    }
    if (!snapshots->gathering)
        snapshots->gathering = calloc(1, sizeof *snapshots->gathering);
    if (!snapshots->gathering) {
        done(agent, -ENOMEM, "out of memory");
        return;
    }
    forget_start(snapshots->gathering);
    *snapshots->gathering = (struct gathering){
        .name = name, .term = agent_term(agent), .ahead = ahead, .wants = wants, .done = done};
    look(agent);
}

bool agent_is_gathering(const struct agent *agent)
{
    const struct gathering *gathering = snapshots_of(agent)->gathering;

    return gathering && gathering->outstanding > 0 && gathering->term == agent_term(agent);
}

const char *agent_gathered_program(const struct agent *agent)
{
    return snapshots_of(agent)->gathering ? snapshots_of(agent)->gathering->program : NULL;
}

const char *agent_gathered_variable(const struct agent *agent, int index)
{
    return snapshots_of(agent)->gathering ? snapshots_of(agent)->gathering->variables[index] : NULL;
}

void agent_gather_free(struct agent *agent)
{
    if (snapshots_of(agent)->gathering)
        forget_start(snapshots_of(agent)->gathering);
    free(snapshots_of(agent)->gathering);
    snapshots_of(agent)->gathering = NULL;
}
