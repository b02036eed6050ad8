/* list.c - bspckpt ls, rm and prune. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/bspckpt/elsewhere.h"
#include "lib/base/json.h"

static const char *state_text(enum store_state state)
{
    static const char *const texts[] = {"committed", "retired", "damaged", "unfinished", "unknown"};
    return texts[state];
}

int target_jobs(struct target *target, struct store_job **jobs, size_t *count)
{
    char error[MANIFEST_ERROR_SIZE];

    if (!target->has_job)
        return store_jobs(target->store, jobs, count, error) < 0 ? complain("%s", error)
                                                                 : STATUS_OK;
    *jobs = calloc(1, sizeof(**jobs));
    if (!*jobs)
        return complain("out of memory");
    snprintf((*jobs)->name, sizeof((*jobs)->name), "%s", store_job_name(target->store));
    *count = 1;
    return STATUS_OK;
}

/* ---- ls -------------------------------------------------------------------------------------- */

/* Why a snapshot is retained, printed after its state; "" when the state says it. */
static const char *role_text(enum store_role role)
{
    static const char *const texts[] = {"", "", ", kept as second chain", ", kept as a base", ""};
    return texts[role];
}

static const char *role_name(enum store_role role)
{
    static const char *const names[] = {"none", "newest", "second", "base", "left"};
    return names[role];
}

static void print_entry(const char *job, const struct store_entry *entry, enum store_role role,
                        uint64_t now)
{
    char name[48], age[24], size[24], images[24] = "";
    const char *why = entry->state == STORE_UNFINISHED ? "" : entry->why;

    snprintf(name, sizeof(name), "%" PRIu64 ".%" PRIu32, entry->name.superstep, entry->name.term);
    if (entry->nprocs > 0)
        snprintf(images, sizeof(images), entry->generation ? "+%" PRIu32 : "full",
                 entry->generation);
    printf("%-14s %12s %9s %6" PRIu32 " %11s %-5s %s%s%s%s\n", job, name,
           age_text(entry->created, now, age), entry->nprocs, size_text(entry->bytes, size), images,
           state_text(entry->state), why[0] ? "" : role_text(role), why[0] ? ": " : "", why);
}

static void json_entry(struct bspz_json *json, const struct store_entry *entry,
                       enum store_role role)
{
    bspz_json_object(json, NULL);
    bspz_json_number(json, "superstep", entry->name.superstep);
    bspz_json_number(json, "term", entry->name.term);
    bspz_json_text(json, "state", state_text(entry->state));
    bspz_json_number(json, "processes", entry->nprocs);
    bspz_json_number(json, "generation", entry->generation);
    bspz_json_number(json, "created", entry->created);
    bspz_json_number(json, "bytes", entry->bytes);
    bspz_json_text(json, "kept_as", role_name(role));
    if (entry->why[0] && entry->state != STORE_UNFINISHED)
        bspz_json_text(json, "why", entry->why);
    bspz_json_end(json);
}

static void list_end(struct store *store, const char *job, size_t count, struct bspz_json *json)
{
    struct manifest_finish finish;

    if (store_finished(store, &finish, NULL) < 0) {
        if (!json && count == 0)
            printf("%-14s no snapshot\n", job);
        return;
    }
    if (json)
        bspz_json_signed(json, "finished", finish.status);
    else
        printf("%-14s finished with status %" PRId32 "\n", job, finish.status);
    manifest_finish_free(&finish);
}

/* The --keep of the bsprun that took the newest snapshot; the default when that cannot be read. */
static uint32_t kept_by_bsprun(struct store *store, const struct store_entry *entries, size_t count)
{
    struct manifest manifest;
    uint32_t keep = STORE_KEEP_DEFAULT;

    while (count > 0 && entries[count - 1].state != STORE_COMMITTED)
        count--;
    if (count == 0 || store_manifest(store, entries[count - 1].name, &manifest, NULL) < 0)
        return keep;
    for (uint32_t i = 0; i < manifest.options.count; i++) {
        const char *option = manifest.options.items[i];
        option += strspn(option, "-");
        if (strncmp(option, "keep=", 5) == 0)
            keep = strcmp(option + 5, "all") == 0 ? UINT32_MAX
                                                  : (uint32_t)strtoul(option + 5, NULL, 10);
    }
    manifest_free(&manifest);
    return keep;
}

/* For free().  NULL, when a manifest has vanished meanwhile: the list is printed without roles. */
static enum store_role *find_roles(struct store *store, const struct store_entry *entries,
                                   size_t count)
{
    enum store_role *roles = calloc(count + 1, sizeof(*roles));
    uint32_t keep = kept_by_bsprun(store, entries, count);

    if (roles && store_roles(store, entries, count, keep, roles, NULL) < 0)
        memset(roles, 0, count * sizeof(*roles));
    return roles;
}

int list_job(const struct request *request, struct store *store, const char *job)
{
    char error[MANIFEST_ERROR_SIZE];
    struct store_entry *entries;
    size_t count;

    if (store_job_open(store, job, error) < 0 || store_list_all(store, &entries, &count, error) < 0)
        return complain("%s", error);
    enum store_role *roles = find_roles(store, entries, count);
    if (!roles) {
        free(entries);
        return complain("out of memory");
    }
    if (request->json) {
        bspz_json_object(request->json, NULL);
        bspz_json_text(request->json, "job", job);
        bspz_json_array(request->json, "snapshots");
    }
    for (size_t i = 0; i < count; i++)
        if (request->json)
            json_entry(request->json, &entries[i], roles[i]);
        else
            print_entry(job, &entries[i], roles[i], request->now);
    if (request->json)
        bspz_json_end(request->json);
    list_end(store, job, count, request->json);
    if (request->json)
        bspz_json_end(request->json);
    free(roles);
    free(entries);
    return STATUS_OK;
}

static void name_hosts(struct store *store, const char *job)
{
    char *hosts = target_hosts(store);

    if (hosts)
        printf("%-14s has run on %s; those that do not share this directory have their own\n", job,
               hosts);
    free(hosts);
}

/* Lists the images on other hosts. */
static int list_elsewhere(struct elsewhere *elsewhere, struct bspz_json *json)
{
    int status = elsewhere_ask(elsewhere, json ? "ls-json" : "ls");

    for (uint32_t i = 0; i < elsewhere->hosts.count; i++) {
        const char *lines = elsewhere->wanted[i] ? elsewhere->answers[i].output : NULL;

        if (!lines)
            continue;
        if (json) {
            bspz_json_object(json, NULL);
            bspz_json_text(json, "host", elsewhere->hosts.items[i].name);
            bspz_json_format(json, "jobs", "%s", lines);
            bspz_json_end(json);
        } else {
            printf("on host %s:\n%s", elsewhere->hosts.items[i].name, lines);
        }
    }
    return status;
}

int command_ls(const struct request *request)
{
    struct store_job *jobs;
    struct target target;
    size_t count;

    int status = target_open(&target, request->words[0], STORE_READ, true);
    if (status != STATUS_OK)
        return status;
    status = target_jobs(&target, &jobs, &count);
    if (status == STATUS_OK) {
        if (request->json)
            bspz_json_array(request->json, NULL);
        else
            printf("%-14s %12s %9s %6s %11s %-5s %s\n", "JOB", "SNAPSHOT", "AGE", "PROCS", "SIZE",
                   "KIND", "STATE");
        for (size_t i = 0; i < count; i++)
            if (list_job(request, target.store, jobs[i].name) != STATUS_OK)
                status = STATUS_BAD;
            else if (request->local && !request->json)
                name_hosts(target.store, jobs[i].name);
        struct elsewhere elsewhere;
        if (elsewhere_open(&elsewhere, request, &target, jobs, count) != STATUS_OK ||
            list_elsewhere(&elsewhere, request->json) != STATUS_OK)
            status = STATUS_BAD;
        elsewhere_close(&elsewhere);
        if (request->json)
            bspz_json_end(request->json);
        free(jobs);
    }
    target_close(&target);
    return status;
}

/* ---- rm -------------------------------------------------------------------------------------- */

/* "on host b, too", and what could not be removed there. */
static void tell_removed(const struct elsewhere *elsewhere, struct bspz_json *json)
{
    for (uint32_t i = 0; i < elsewhere->hosts.count; i++) {
        const char *host = elsewhere->hosts.items[i].name;
        char *lines = elsewhere->wanted[i] ? elsewhere->answers[i].output : NULL, *line;

        while (lines && (line = strsep(&lines, "\n"))) {
            if (strncmp(line, "removed ", 8) != 0) {
                if (*line)
                    complain("host %s: %s", host, line);
            } else if (json) {
                bspz_json_object(json, NULL);
                bspz_json_text(json, "host", host);
                bspz_json_text(json, "directory", line + 8);
                bspz_json_end(json);
            } else {
                printf("on host %s: %s removed\n", host, line + 8);
            }
        }
    }
}

/* The local directory names the hosts, so it is removed last, and not while a host may hold
 * more. */
static int remove_job(const struct request *request, struct target *target)
{
    char error[MANIFEST_ERROR_SIZE];
    struct elsewhere elsewhere;
    struct store_job job = {0};

    snprintf(job.name, sizeof(job.name), "%s", store_job_name(target->store));
    if (request->json)
        bspz_json_object(request->json, NULL);
    int status = elsewhere_open(&elsewhere, request, target, &job, 1);
    if (elsewhere.hosts.count > 0)
        status = elsewhere_ask(&elsewhere, "rm");
    if (request->json)
        bspz_json_array(request->json, "elsewhere");
    tell_removed(&elsewhere, request->json);
    if (request->json)
        bspz_json_end(request->json);
    if (status != STATUS_OK)
        complain(
            "job %s is kept here as long as other hosts have some of it; rm --local removes it",
            job.name);
    else if (store_job_open(target->store, job.name, error) < 0 ||
             store_job_remove(target->store, error) < 0)
        status = complain("%s", error);
    else if (request->json)
        bspz_json_text(request->json, "removed", job.name);
    else
        printf("job %s removed\n", job.name);
    if (request->json)
        bspz_json_end(request->json);
    elsewhere_close(&elsewhere);
    return status;
}

int command_rm(const struct request *request)
{
    struct target target;

    int status = target_open(&target, request->words[0], STORE_WRITE, true);
    if (status != STATUS_OK)
        return status;
    if (target.has_job && target.wanted.superstep == WIRE_NEVER) {
        status = remove_job(request, &target);
    } else {
        complain("rm: give one job as DIR/JOB; ls DIR lists them");
        status = STATUS_WRONG;
    }
    target_close(&target);
    return status;
}

/* ---- prune ----------------------------------------------------------------------------------- */

int command_prune(const struct request *request)
{
    char error[MANIFEST_ERROR_SIZE];
    struct target target;
    size_t removed, swept;

    if (request->keep == 0) {
        complain("prune: give the number of snapshots to retain with --keep N");
        return STATUS_WRONG;
    }
    int status = target_open(&target, request->words[0], STORE_WRITE, false);
    if (status != STATUS_OK)
        return status;
    if (target.wanted.superstep != WIRE_NEVER) {
        target_close(&target);
        complain("prune: give a directory, not a snapshot");
        return STATUS_WRONG;
    }
    /* A job that has ended is not restarted, which would sweep. */
    if (store_prune(target.store, request->keep, &removed, error) < 0 ||
        store_sweep(target.store, &swept, error) < 0) {
        status = complain("%s", error);
    } else if (request->json) {
        bspz_json_object(request->json, NULL);
        bspz_json_text(request->json, "job", store_job_name(target.store));
        bspz_json_number(request->json, "removed", removed);
        bspz_json_end(request->json);
    } else {
        printf("job %s: %zu snapshot%s removed%s\n", store_job_name(target.store), removed,
               removed == 1 ? "" : "s", swept > 0 ? ", and what interrupted ones had left" : "");
    }
    target_close(&target);
    return status;
}
