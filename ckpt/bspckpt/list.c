/* list.c - bspckpt ls and prune. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/bspckpt/command.h"
#include "ckpt/bspckpt/json.h"

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

static void print_entry(const char *job, const struct store_entry *entry, uint64_t now)
{
    char name[48], age[24], size[24], images[24] = "";

    snprintf(name, sizeof(name), "%" PRIu64 ".%" PRIu32, entry->superstep, entry->term);
    if (entry->nprocs > 0)
        snprintf(images, sizeof(images), entry->generation ? "+%" PRIu32 : "full",
                 entry->generation);
    printf("%-14s %12s %9s %6" PRIu32 " %11s %-5s %s%s%s\n", job, name,
           age_text(entry->created, now, age), entry->nprocs, size_text(entry->bytes, size), images,
           state_text(entry->state), entry->why[0] ? ": " : "",
           entry->state == STORE_UNFINISHED ? "" : entry->why);
}

static void json_entry(const struct store_entry *entry)
{
    json_object(NULL);
    json_number("superstep", entry->superstep);
    json_number("term", entry->term);
    json_text("state", state_text(entry->state));
    json_number("processes", entry->nprocs);
    json_number("generation", entry->generation);
    json_number("created", entry->created);
    json_number("bytes", entry->bytes);
    if (entry->why[0] && entry->state != STORE_UNFINISHED)
        json_text("why", entry->why);
    json_end();
}

static void list_end(struct store *store, const char *job, bool json)
{
    struct manifest_finish finish;

    if (store_finished(store, &finish, NULL) < 0)
        return;
    if (json)
        json_signed("finished", finish.status);
    else
        printf("%-14s finished with status %" PRId32 "\n", job, finish.status);
    manifest_finish_free(&finish);
}

static int list_job(const struct request *request, struct store *store, const char *job)
{
    char error[MANIFEST_ERROR_SIZE];
    struct store_entry *entries;
    size_t count;

    if (store_job_open(store, job, error) < 0 || store_list_all(store, &entries, &count, error) < 0)
        return complain("%s", error);
    if (request->json) {
        json_object(NULL);
        json_text("job", job);
        json_array("snapshots");
    }
    for (size_t i = 0; i < count; i++)
        if (request->json)
            json_entry(&entries[i]);
        else
            print_entry(job, &entries[i], request->now);
    if (request->json)
        json_end();
    list_end(store, job, request->json);
    if (request->json)
        json_end();
    free(entries);
    return STATUS_OK;
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
            json_array(NULL);
        else
            printf("%-14s %12s %9s %6s %11s %-5s %s\n", "JOB", "SNAPSHOT", "AGE", "PROCS", "SIZE",
                   "KIND", "STATE");
        for (size_t i = 0; i < count; i++)
            if (list_job(request, target.store, jobs[i].name) != STATUS_OK)
                status = STATUS_BAD;
        if (request->json)
            json_end();
        free(jobs);
    }
    target_close(&target);
    return status;
}

/* ---- prune ----------------------------------------------------------------------------------- */

int command_prune(const struct request *request)
{
    char error[MANIFEST_ERROR_SIZE];
    struct target target;
    size_t removed;

    if (request->keep == 0) {
        complain("prune: --keep N says how many snapshots stay");
        return STATUS_WRONG;
    }
    int status = target_open(&target, request->words[0], STORE_WRITE, false);
    if (status != STATUS_OK)
        return status;
    if (target.superstep != WIRE_NEVER) {
        target_close(&target);
        complain("prune: a directory is meant, not one snapshot");
        return STATUS_WRONG;
    }
    if (store_prune(target.store, request->keep, &removed, error) < 0) {
        status = complain("%s", error);
    } else if (request->json) {
        json_object(NULL);
        json_text("job", store_job_name(target.store));
        json_number("removed", removed);
        json_end();
    } else {
        printf("job %s: %zu snapshot%s removed\n", store_job_name(target.store), removed,
               removed == 1 ? "" : "s");
    }
    target_close(&target);
    return status;
}
