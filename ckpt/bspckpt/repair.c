/* repair.c - bspckpt repair. */
#include <stdio.h>
#include <stdlib.h>

#include "ckpt/bspckpt/command.h"
#include "lib/base/json.h"

struct repairing {
    struct bspz_json *json; /* NULL: plain text */
    const char *job;
    unsigned long files;
};

static void tell(void *context, const char *file, const char *text)
{
    struct repairing *repairing = context;

    repairing->files++;
    if (!repairing->json) {
        printf("%s/%s: %s\n", repairing->job, file, text);
        return;
    }
    bspz_json_object(repairing->json, NULL);
    bspz_json_text(repairing->json, "job", repairing->job);
    bspz_json_text(repairing->json, "file", file);
    bspz_json_text(repairing->json, "text", text);
    bspz_json_end(repairing->json);
}

static int repair_job(struct repairing *repairing, struct store *store, const char *job)
{
    char error[MANIFEST_ERROR_SIZE];

    repairing->job = job;
    if (store_job_open(store, job, error) < 0 || store_repair(store, tell, repairing, error) < 0)
        return complain("%s", error);
    return STATUS_OK;
}

static int repair_jobs(const struct request *request, struct target *target)
{
    struct repairing repairing = {.json = request->json};
    struct store_job *jobs;
    size_t count;

    int status = target_jobs(target, &jobs, &count);
    if (status != STATUS_OK)
        return status;
    if (request->json) {
        bspz_json_object(request->json, NULL);
        bspz_json_array(request->json, "repaired");
    }
    for (size_t i = 0; i < count; i++)
        if (repair_job(&repairing, target->store, jobs[i].name) != STATUS_OK)
            status = STATUS_BAD;
    if (request->json) {
        bspz_json_end(request->json);
        bspz_json_end(request->json);
    } else {
        printf("%lu file%s made again\n", repairing.files, repairing.files == 1 ? "" : "s");
    }
    free(jobs);
    return status;
}

int command_repair(const struct request *request)
{
    struct target target;

    int status = target_open(&target, request->words[0], STORE_WRITE, true);
    if (status != STATUS_OK)
        return status;
    if (target.wanted.superstep == WIRE_NEVER) {
        status = repair_jobs(request, &target);
    } else {
        complain("repair: give a directory, not a snapshot");
        status = STATUS_WRONG;
    }
    target_close(&target);
    return status;
}
