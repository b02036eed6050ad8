/* verify.c - bspckpt verify. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/bspckpt/command.h"
#include "ckpt/bspckpt/json.h"

struct verifying {
    bool json;
    const char *job;
    const char *hosts; /* of a job on several, which may have what is missing here; NULL */
    unsigned long snapshots, faults;
};

static void tell(void *context, const struct store_fault *fault)
{
    struct verifying *verifying = context;
    char file[96], range[64] = "";

    verifying->faults++;
    if (fault->pid >= 0)
        snprintf(file, sizeof(file), "%" PRIu64 ".%" PRIu32 "/%" PRId64 ".img", fault->superstep,
                 fault->term, fault->pid);
    else
        snprintf(file, sizeof(file), "%" PRIu64 ".%" PRIu32 "/manifest", fault->superstep,
                 fault->term);
    if (verifying->json) {
        json_object(NULL);
        json_text("job", verifying->job);
        json_text("file", file);
        if (fault->fault.end > fault->fault.first) {
            json_number("first", fault->fault.first);
            json_number("last", fault->fault.end - 1);
        }
        json_text("text", fault->fault.text);
        json_end();
        return;
    }
    if (fault->fault.end > fault->fault.first)
        snprintf(range, sizeof(range), "bytes %" PRIu64 " to %" PRIu64 ": ", fault->fault.first,
                 fault->fault.end - 1);
    printf("%s/%s: %s%s", verifying->job, file, range, fault->fault.text);
    if (fault->status == -ENOENT && verifying->hosts)
        printf(" here; the job has run on %s", verifying->hosts);
    putchar('\n');
}

/* Of what belongs to the job as a whole, or is gone. */
static void tell_loss(void *context, const char *file, const char *text)
{
    struct verifying *verifying = context;

    verifying->faults++;
    if (!verifying->json) {
        printf("%s/%s: %s\n", verifying->job, file, text);
        return;
    }
    json_object(NULL);
    json_text("job", verifying->job);
    json_text("file", file);
    json_text("text", text);
    json_end();
}

static void verify_entry(struct verifying *verifying, struct store *store,
                         const struct store_entry *entry)
{
    char error[MANIFEST_ERROR_SIZE];
    struct manifest manifest;
    struct store_fault fault = {.superstep = entry->superstep, .term = entry->term, .pid = -1};

    verifying->snapshots++;
    if (entry->state == STORE_DAMAGED) {
        snprintf(fault.fault.text, sizeof(fault.fault.text), "%.250s", entry->why);
        tell(verifying, &fault);
    } else if (store_manifest(store, entry->superstep, entry->term, &manifest, error) < 0) {
        snprintf(fault.fault.text, sizeof(fault.fault.text), "%.250s", error);
        tell(verifying, &fault);
    } else {
        unsigned long before = verifying->faults;
        int status = store_check(store, &manifest, true, tell, verifying);
        if (status < 0 && verifying->faults == before) {
            snprintf(fault.fault.text, sizeof(fault.fault.text), "cannot be checked: %s",
                     strerror(-status));
            tell(verifying, &fault);
        }
        manifest_free(&manifest);
    }
}

static int verify_job(struct verifying *verifying, const struct target *target, const char *job)
{
    char error[MANIFEST_ERROR_SIZE];
    struct store_entry *entries;
    size_t count, meant = 0;

    verifying->job = job;
    if (store_job_open(target->store, job, error) < 0 ||
        store_list_all(target->store, &entries, &count, error) < 0)
        return complain("%s", error);
    char *hosts = target_hosts(target->store);
    verifying->hosts = hosts;
    if (target->superstep == WIRE_NEVER)
        store_survey(target->store, tell_loss, verifying);
    for (size_t i = 0; i < count; i++) {
        if (entries[i].state == STORE_UNFINISHED ||
            (target->superstep != WIRE_NEVER && entries[i].superstep != target->superstep) ||
            (target->term != 0 && entries[i].term != target->term))
            continue;
        meant++;
        verify_entry(verifying, target->store, &entries[i]);
    }
    free(entries);
    free(hosts);
    if (target->superstep != WIRE_NEVER && meant == 0)
        return complain("job %s has no snapshot of superstep %" PRIu64, job, target->superstep);
    return STATUS_OK;
}

int command_verify(const struct request *request)
{
    struct verifying verifying = {.json = request->json};
    struct store_job *jobs;
    struct target target;
    size_t count;

    int status =
        target_open(&target, request->words[0], STORE_READ, !strchr(request->words[0], '@'));
    if (status != STATUS_OK)
        return status;
    /* One superstep is that of one job. */
    target.has_job = target.has_job || target.superstep != WIRE_NEVER;
    status = target_jobs(&target, &jobs, &count);
    if (status == STATUS_OK) {
        if (request->json) {
            json_object(NULL);
            json_array("faults");
        }
        for (size_t i = 0; i < count; i++)
            if (verify_job(&verifying, &target, jobs[i].name) != STATUS_OK)
                status = STATUS_BAD;
        if (request->json) {
            json_end();
            json_number("snapshots", verifying.snapshots);
            json_end();
        } else {
            printf("%lu snapshot%s, %lu damaged file%s\n", verifying.snapshots,
                   verifying.snapshots == 1 ? "" : "s", verifying.faults,
                   verifying.faults == 1 ? "" : "s");
        }
        free(jobs);
    }
    target_close(&target);
    return verifying.faults > 0 ? STATUS_BAD : status;
}
