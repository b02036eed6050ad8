/* saved.c - the job's directory of snapshots; see saved.h. */
#include "bsprun/launcher/saved.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "bsprun/hosts/launch_command.h"
#include "bsprun/launcher/input_same.h"
#include "bsprun/launcher/program.h"
#include "bsprun/launcher/shown.h"
#include "lib/base/clock.h"
#include "lib/base/error_text.h"
#include "lib/base/temporary.h"

#define STATUS_FAILED 1
#define STATUS_USAGE  2
#define READER        "stdin=" /* among the options of a job */
/* The time in which the processes of a job end after its bsprun was killed. */
#define LOCK_WAIT_MS  3000
#define LOCK_AGAIN_MS 20

/* The directory may still be locked by remaining processes of a job that was just killed. */
static int open_locked(struct saved *saved, enum store_mode mode, char error[SAVED_TEXT])
{
    const struct timespec pause = {0, LOCK_AGAIN_MS * 1000000};
    int waited = 0, status;

    while ((status = store_open(&saved->store, saved->directory, mode, NULL, error)) == -EBUSY &&
           waited < LOCK_WAIT_MS) {
        nanosleep(&pause, NULL);
        waited += LOCK_AGAIN_MS;
    }
    return status;
}

void saved_hold_signals(struct saved *saved)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    sigset_t set;

    if (saved->holds_signals)
        return;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        sigaddset(&set, ends[i]);
    sigprocmask(SIG_BLOCK, &set, &saved->signals);
    saved->holds_signals = true;
}

void saved_let_signals_go(struct saved *saved)
{
    if (saved->holds_signals)
        sigprocmask(SIG_SETMASK, &saved->signals, NULL);
    saved->holds_signals = false;
}

/* Absolute, since agents may be elsewhere. */
static int find_job_directory(struct saved *saved, char error[SAVED_TEXT])
{
    char base[PATH_MAX];
    int failed;

    if (!realpath(store_path(saved->store), base))
        return bspz_error_text(error, SAVED_TEXT, STATUS_FAILED, "%.300s: %s",
                               store_path(saved->store), strerror(errno));
    snprintf(saved->job_directory, sizeof saved->job_directory, "%s/%s", base,
             store_job_name(saved->store));
    if (strlen(saved->job_directory) > WIRE_PATH_MAX)
        return bspz_error_text(error, SAVED_TEXT, STATUS_FAILED, "%.300s: the path is too long",
                               base);
    if ((failed = saved_make_home(saved)) != 0)
        return bspz_error_text(error, SAVED_TEXT, STATUS_FAILED, "%.300s: %s", saved->job_directory,
                               strerror(failed));
    return 0;
}

static int open_new(struct saved *saved, char error[SAVED_TEXT])
{
    if (open_locked(saved, STORE_CREATE, error) < 0)
        return STATUS_FAILED;
    saved_hold_signals(saved);
    if (store_job_create(saved->store, saved->job, bspz_wall_ns(), error) < 0)
        return STATUS_FAILED;
    return find_job_directory(saved, error);
}

/* ---- Going on with an old job ---- */

static int read_terms(struct saved *saved, char error[SAVED_TEXT])
{
    struct manifest_terms terms;

    if (store_terms(saved->store, &terms, error) < 0)
        return STATUS_FAILED;
    for (uint32_t i = 0; i < terms.terms.count; i++) {
        const struct manifest_term *term = &terms.terms.items[i];

        saved->last_term = term->term;
        if (term->from.term > 0)
            coord_lineage_add(&saved->lineage, term->term, term->from);
    }
    memcpy(saved->job, terms.job.data, WIRE_JOB_SIZE);
    manifest_terms_free(&terms);
    return 0;
}

/* Compares the input as far as possible without consuming it. */
static int check_input(const struct saved *saved, const struct options *options,
                       char error[SAVED_TEXT])
{
    const struct manifest *manifest = &saved->manifest;
    struct input_claim claim = {manifest->name.superstep, 0, manifest->input_digest};
    char text[INPUT_TEXT];

    for (uint32_t i = 0; i < manifest->streams.count; i++)
        if (manifest->streams.items[i].number == 0)
            claim.position = manifest->streams.items[i].position;
    enum input_sameness found = input_compare(&claim, STDIN_FILENO);
    if (options->input_differs || found == INPUT_SAME)
        return 0;
    input_complaint(&claim, found, text);
    return bspz_error_text(error, SAVED_TEXT, STATUS_FAILED, "%s", text);
}

/* Reads the record of the end: a finished job is not restarted. */
static int read_end(struct saved *saved, char error[SAVED_TEXT])
{
    struct manifest_finish finish;
    int status;

    status = store_finished(saved->store, &finish, error);
    if (status < 0)
        return status == -ENOENT ? 0 : STATUS_FAILED;
    saved->finished = true;
    saved->finished_status = finish.status;
    manifest_finish_free(&finish);
    return 0;
}

/* That of --stdin none is process 0. */
uint32_t saved_reader(const struct saved *saved)
{
    const struct wire_texts *options = &saved->manifest.options;
    unsigned long pid = 0;

    for (uint32_t i = 0; i < options->count; i++)
        if (strncmp(options->items[i], READER, sizeof READER - 1) == 0)
            pid = strtoul(options->items[i] + sizeof READER - 1, NULL, 10);
    return (uint32_t)pid;
}

static bool same_program(const struct saved *saved, const struct options *options)
{
    char path[PATH_MAX], full[PATH_MAX];

    return program_find(options->command[0], options->lookup("PATH"), path, sizeof path) &&
           realpath(path, full) && strcmp(full, saved->manifest.program) == 0;
}

static bool same_arguments(const struct saved *saved, const struct options *options)
{
    const struct wire_texts *arguments = &saved->manifest.arguments;

    if (options->command_length == 1)
        return true; /* not given */
    if ((uint32_t)options->command_length != arguments->count)
        return false;
    for (uint32_t i = 1; i < arguments->count; i++)
        if (strcmp(options->command[i], arguments->items[i]) != 0)
            return false;
    return true;
}

static int check_against(const struct saved *saved, const struct options *options,
                         char error[SAVED_TEXT])
{
    const struct manifest *manifest = &saved->manifest;

    if (options->processes > 0 && (uint32_t)options->processes != manifest->nprocs)
        return bspz_error_text(
            error, SAVED_TEXT, STATUS_FAILED,
            "-np %d: the job has %" PRIu32 " process%s, and continues with the same number",
            options->processes, manifest->nprocs, manifest->nprocs == 1 ? "" : "es");
    if (options->command_length > 0 && !same_program(saved, options))
        return bspz_error_text(error, SAVED_TEXT, STATUS_FAILED,
                               "the snapshots in %.150s are of %.200s, not of %.100s",
                               saved->directory, manifest->program, options->command[0]);
    if (options->command_length > 0 && !same_arguments(saved, options))
        return bspz_error_text(
            error, SAVED_TEXT, STATUS_FAILED,
            "the job in %.150s had other arguments: leave them out to continue it",
            saved->directory);
    return 0;
}

/* Whether the job can be continued; chooses it. */
static bool can_go_on(struct store *store, const char *job)
{
    char note[SAVED_TEXT], error[SAVED_TEXT];
    struct manifest_finish finish;
    struct manifest manifest;

    if (store_job_open(store, job, error) < 0)
        return false;
    if (store_finished(store, &finish, error) == 0) {
        manifest_finish_free(&finish);
        return false;
    }
    if (store_newest(store, WIRE_NEVER, WIRE_NEVER, &manifest, note, error) < 0)
        return false;
    manifest_free(&manifest);
    return true;
}

/* The newest job that can be continued; false: there is none, or the user has named one. */
static bool find_another(struct store *store, uint64_t superstep, char name[STORE_NAME_MAX + 1])
{
    char error[SAVED_TEXT];
    struct store_job *jobs;
    size_t count;
    bool found = false;

    if (superstep != WIRE_NEVER || store_names_job(store) ||
        store_jobs(store, &jobs, &count, error) < 0)
        return false;
    for (size_t i = count; i-- > 0 && !found;) {
        snprintf(name, STORE_NAME_MAX + 1, "%s", jobs[i].name);
        found = can_go_on(store, name);
    }
    free(jobs);
    return found;
}

/* Adds to the text how to continue another job; false: there is none. */
static bool tell_another(struct saved *saved, uint64_t superstep, char text[SAVED_TEXT])
{
    size_t length = strlen(text);
    char name[STORE_NAME_MAX + 1], place[PATH_MAX + sizeof name + 1], *quoted;

    if (!find_another(saved->store, superstep, name))
        return false;
    snprintf(place, sizeof place, "%s/%s", saved->directory, name);
    quoted = launch_quoted(place);
    snprintf(text + length, SAVED_TEXT - length,
             "; an earlier one can be continued: bsprun --restart %s", quoted ? quoted : "DIR/JOB");
    free(quoted);
    return true;
}

/* Adds to the error what to do instead.  The job may have been killed before its first snapshot, or
 * may have all of them on other hosts. */
static void tell_what_else(struct saved *saved, uint64_t superstep, char error[SAVED_TEXT])
{
    size_t length = strlen(error);
    char *quoted;

    if (tell_another(saved, superstep, error))
        return;
    if (superstep == WIRE_NEVER) {
        snprintf(error + length, SAVED_TEXT - length,
                 "; if no other host has one, start the program again with --ckpt");
        return;
    }
    quoted = launch_quoted(saved->directory);
    snprintf(error + length, SAVED_TEXT - length, "; bspckpt ls %s shows those there are",
             quoted ? quoted : "DIR");
    free(quoted);
}

static int open_old(struct saved *saved, struct options *options, char error[SAVED_TEXT])
{
    int status;

    if (open_locked(saved, STORE_WRITE, error) < 0 || store_job_open(saved->store, NULL, error) < 0)
        return STATUS_FAILED;
    if ((status = read_terms(saved, error)) != 0 || (status = read_end(saved, error)) != 0)
        return status;
    if (saved->finished) {
        snprintf(saved->note, sizeof saved->note, "job %s has ended already, with status %d",
                 store_job_name(saved->store), (int)saved->finished_status);
        tell_another(saved, options->snapshots.restart_at, saved->note);
        return 0;
    }
    if (store_newest(saved->store, options->snapshots.restart_at, WIRE_NEVER, &saved->manifest,
                     saved->note, error) < 0) {
        if (!saved->note[0])
            tell_what_else(saved, options->snapshots.restart_at, error);
        return STATUS_FAILED;
    }
    saved->has_manifest = true;
    if ((status = check_against(saved, options, error)) != 0 ||
        (status = check_input(saved, options, error)) != 0)
        return status;
    if (!options_recall(options, saved->manifest.options.items, saved->manifest.options.count))
        return bspz_error_text(error, SAVED_TEXT, STATUS_USAGE, "%s", options->error);
    if (store_sweep(saved->store, NULL, error) < 0)
        return STATUS_FAILED;
    return find_job_directory(saved, error);
}

int saved_open(struct saved *saved, struct options *options, char error[SAVED_TEXT])
{
    memset(saved, 0, sizeof *saved);
    if (getrandom(saved->job, sizeof saved->job, 0) != (ssize_t)sizeof saved->job)
        return bspz_error_text(error, SAVED_TEXT, STATUS_FAILED, "no random numbers: %s",
                               strerror(errno));
    saved->restart = options->snapshots.restart != NULL;
    saved->directory = saved->restart ? options->snapshots.restart : options->snapshots.directory;
    if (!saved->directory)
        return 0;
    return saved->restart ? open_old(saved, options, error) : open_new(saved, error);
}

int saved_open_private(struct saved *saved, char error[SAVED_TEXT])
{
    saved_hold_signals(saved);
    saved->private_directory = saved_make_private(error);
    saved->directory = saved->private_directory;
    return saved->directory ? open_new(saved, error) : STATUS_FAILED;
}

/* ---- While it runs ---- */

void saved_look(struct saved *saved)
{
    char note[SAVED_TEXT], error[SAVED_TEXT];
    struct manifest manifest;

    if (store_newest(saved->store, WIRE_NEVER, WIRE_NEVER, &manifest, note, error) < 0)
        return;
    if (saved->has_manifest)
        manifest_free(&saved->manifest);
    saved->manifest = manifest;
    saved->has_manifest = true;
}

uint32_t saved_term(struct saved *saved, uint32_t term, struct bspz_snapshot_name from,
                    char error[SAVED_TEXT])
{
    return (uint32_t)-store_term_begin(saved->store, term, from, bspz_wall_ns(), error);
}

uint32_t saved_finish(struct saved *saved, int32_t status, uint32_t term, uint64_t superstep,
                      char error[SAVED_TEXT])
{
    const struct manifest_finish finish = {
        .job = {saved->job, sizeof saved->job},
        .superstep = superstep,
        .term = term,
        .created = bspz_wall_ns(),
        .status = status,
        .text = "",
    };

    return (uint32_t)-store_finish(saved->store, &finish, error);
}

int saved_spill(const struct saved *saved)
{
    int file = open(saved->job_directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    return file < 0 ? bspz_temporary_file() : file;
}

void saved_close(struct saved *saved, bool worth_keeping)
{
    saved_remove_home(saved);
    if (saved->store && saved->job_directory[0]) {
        shown_sweep(saved->job_directory);
        if (saved->restart || worth_keeping)
            store_sweep(saved->store, NULL, NULL);
        else
            store_job_discard(saved->store, NULL);
    }
    if (saved->has_manifest)
        manifest_free(&saved->manifest);
    saved->has_manifest = false;
    store_close(saved->store);
    saved->store = NULL;
    if (saved->private_directory)
        saved_remove_private(saved->private_directory);
    free(saved->private_directory);
    saved->private_directory = NULL;
    saved_let_signals_go(saved);
}
