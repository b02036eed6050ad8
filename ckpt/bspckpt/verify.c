/* verify.c - bspckpt verify.
 *
 * Findings of this and the other hosts are collected first: an image that is missing on one host
 * may be intact on another one. */
#include "ckpt/bspckpt/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/bspckpt/elsewhere.h"
#include "lib/base/json.h"

#define FILE_SIZE 256 /* JOB/S.T/PID.img */

struct finding {
    enum { FOUND_SNAPSHOT, FOUND_WHOLE, FOUND_FAULT } kind;
    bool missing;        /* of a fault: an image is not there, which another host may have */
    uint64_t first, end; /* of a fault: the damaged bytes; 0, 0: not known */
    const char *host;    /* NULL: this one */
    char *file;          /* JOB/FILE; of a snapshot JOB/S.T */
    char *text;          /* of a fault */
};

struct verifying {
    const struct store_job *jobs;
    size_t job_count;
    char **hosts;    /* of each job, see target_hosts */
    const char *job; /* that is looked at */
    struct finding *items;
    size_t count;
    const struct finding **order; /* by file and kind, see put_in_order */
    bool short_of_memory;
};

/* ---- Findings -------------------------------------------------------------------------------- */

static void add(struct verifying *verifying, const struct finding *found)
{
    struct finding *more =
        reallocarray(verifying->items, verifying->count + 1, sizeof(*verifying->items));

    if (!more) {
        verifying->short_of_memory = true;
        return;
    }
    verifying->items = more;
    more[verifying->count] = *found;
    more[verifying->count].file = strdup(found->file);
    more[verifying->count].text = strdup(found->text ? found->text : "");
    if (!more[verifying->count].file || !more[verifying->count].text)
        verifying->short_of_memory = true;
    verifying->count++;
}

/* Forgets the findings from that index on. */
static void forget(struct verifying *verifying, size_t from)
{
    while (verifying->count > from) {
        verifying->count--;
        free(verifying->items[verifying->count].file);
        free(verifying->items[verifying->count].text);
    }
}

static void free_all(struct verifying *verifying)
{
    forget(verifying, 0);
    for (size_t i = 0; i < verifying->job_count; i++)
        free(verifying->hosts[i]);
    free(verifying->hosts);
    free(verifying->items);
    free(verifying->order);
}

/* Within one file and kind, damage sorts before absence, then by time of discovery. */
static int compare(const void *one, const void *other)
{
    const struct finding *const *a = one, *const *b = other;
    int order = strcmp((*a)->file, (*b)->file);

    if (order == 0)
        order = ((*a)->kind > (*b)->kind) - ((*a)->kind < (*b)->kind);
    if (order == 0)
        order = (*a)->missing - (*b)->missing;
    return order ? order : (*a > *b) - (*a < *b);
}

static void put_in_order(struct verifying *verifying)
{
    verifying->order = calloc(verifying->count + 1, sizeof(const struct finding *));
    if (!verifying->order) {
        verifying->short_of_memory = true;
        return;
    }
    for (size_t i = 0; i < verifying->count; i++)
        verifying->order[i] = &verifying->items[i];
    qsort(verifying->order, verifying->count, sizeof(const struct finding *), compare);
}

/* Where the findings of that file and kind begin, in their order; NULL: there is none. */
static const struct finding **find(const struct verifying *verifying, int kind, const char *file)
{
    size_t low = 0, high = verifying->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct finding *found = verifying->order[middle];
        int order = strcmp(found->file, file);

        if (order < 0 || (order == 0 && (int)found->kind < kind))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == verifying->count || (int)verifying->order[low]->kind != kind ||
        strcmp(verifying->order[low]->file, file) != 0)
        return NULL;
    return &verifying->order[low];
}

static void tell(void *context, const struct store_fault *fault)
{
    struct verifying *verifying = context;
    char file[FILE_SIZE];
    struct finding found = {.kind = FOUND_FAULT,
                            .missing = fault->status == -ENOENT && fault->pid >= 0,
                            .first = fault->fault.first,
                            .end = fault->fault.end,
                            .file = file,
                            .text = (char *)fault->fault.text};

    if (fault->pid >= 0)
        snprintf(file, sizeof(file), "%s/%" PRIu64 ".%" PRIu32 "/%" PRId64 ".img", verifying->job,
                 fault->name.superstep, fault->name.term, fault->pid);
    else
        snprintf(file, sizeof(file), "%s/%" PRIu64 ".%" PRIu32 "/manifest", verifying->job,
                 fault->name.superstep, fault->name.term);
    add(verifying, &found);
}

/* Reports a fault of the job's own records, or a file that is missing. */
static void report_loss(void *context, const char *file, const char *text)
{
    struct verifying *verifying = context;
    char path[FILE_SIZE];
    struct finding found = {.kind = FOUND_FAULT, .file = path, .text = (char *)text};

    snprintf(path, sizeof(path), "%s/%s", verifying->job, file);
    add(verifying, &found);
}

/* ---- Here ------------------------------------------------------------------------------------ */

static bool is_faulty(const struct verifying *verifying, size_t from, size_t to, const char *file)
{
    for (size_t i = from; i < to; i++)
        if (strcmp(verifying->items[i].file, file) == 0)
            return true;
    return false;
}

/* Notes the images without a fault among the findings from index `from` on.  Snapshot 0 is one
 * image from which all processes start. */
static void note_whole(struct verifying *verifying, const struct manifest *manifest, size_t from)
{
    size_t to = verifying->count;
    char file[FILE_SIZE];
    struct finding found = {.kind = FOUND_WHOLE, .file = file};

    for (uint32_t pid = 0; pid < manifest->images.count; pid++) {
        const struct manifest_image *image = &manifest->images.items[pid];

        if (pid > 0 && image->image_pid == manifest->images.items[pid - 1].image_pid)
            continue;
        snprintf(file, sizeof(file), "%s/%" PRIu64 ".%" PRIu32 "/%" PRIu32 ".img", verifying->job,
                 manifest->name.superstep, manifest->name.term, image->image_pid);
        if (!is_faulty(verifying, from, to, file))
            add(verifying, &found);
    }
}

static void verify_entry(struct verifying *verifying, struct store *store,
                         const struct store_entry *entry)
{
    char error[MANIFEST_ERROR_SIZE];
    struct manifest manifest;
    struct store_fault fault = {.name = entry->name, .pid = -1};
    size_t before = verifying->count;

    if (entry->state == STORE_DAMAGED) {
        snprintf(fault.fault.text, sizeof(fault.fault.text), "%.250s", entry->why);
        tell(verifying, &fault);
        return;
    }
    if (store_manifest(store, entry->name, &manifest, error) < 0) {
        snprintf(fault.fault.text, sizeof(fault.fault.text), "%.250s", error);
        tell(verifying, &fault);
        return;
    }
    int status = store_check(store, &manifest, true, tell, verifying);
    if (status < 0 && verifying->count == before) {
        snprintf(fault.fault.text, sizeof(fault.fault.text), "cannot be checked: %s",
                 strerror(-status));
        tell(verifying, &fault);
    } else {
        note_whole(verifying, &manifest, before);
    }
    manifest_free(&manifest);
}

/* wanted: as in struct target. */
static int verify_job(struct verifying *verifying, struct store *store, const char *job,
                      struct bspz_snapshot_name wanted)
{
    char error[MANIFEST_ERROR_SIZE], name[FILE_SIZE];
    struct finding found = {.kind = FOUND_SNAPSHOT, .file = name};
    struct store_entry *entries;
    size_t count;

    verifying->job = job;
    if (store_job_open(store, job, error) < 0 || store_list_all(store, &entries, &count, error) < 0)
        return complain("%s", error);
    if (wanted.superstep == WIRE_NEVER)
        store_survey(store, report_loss, verifying);
    for (size_t i = 0; i < count; i++) {
        if (entries[i].state == STORE_UNFINISHED ||
            (wanted.superstep != WIRE_NEVER && entries[i].name.superstep != wanted.superstep) ||
            (wanted.term != 0 && entries[i].name.term != wanted.term))
            continue;
        snprintf(name, sizeof(name), "%s/%" PRIu64 ".%" PRIu32, job, entries[i].name.superstep,
                 entries[i].name.term);
        size_t before = verifying->count;
        add(verifying, &found);
        verify_entry(verifying, store, &entries[i]);
        if (entries[i].state != STORE_DAMAGED && store_is_removed(store, entries[i].name))
            forget(verifying, before);
    }
    free(entries);
    return STATUS_OK;
}

/* ---- For another host, and what that reads --------------------------------------------------- */

int verify_for_another(struct store *store, const char *job, const char *at)
{
    struct verifying verifying = {0};
    struct bspz_snapshot_name wanted = {WIRE_NEVER, 0};

    if (at && !parse_snapshot(at, &wanted))
        return complain("verify: %.80s is no SUPERSTEP or SUPERSTEP.TERM", at);
    int status = verify_job(&verifying, store, job, wanted);
    for (size_t i = 0; i < verifying.count; i++) {
        const struct finding *found = &verifying.items[i];

        if (found->kind == FOUND_SNAPSHOT)
            printf("snapshot %s\n", found->file);
        else if (found->kind == FOUND_WHOLE)
            printf("whole %s\n", found->file);
        else
            printf("fault %d %" PRIu64 " %" PRIu64 " %s: %s\n", found->missing, found->first,
                   found->end, found->file, found->text);
    }
    if (verifying.short_of_memory)
        status = complain("out of memory");
    free_all(&verifying);
    return status;
}

/* Parses a line, destructively.  A line of unknown form is printed as a message. */
static void take_line(struct verifying *verifying, const char *host, char *line)
{
    struct finding found = {.host = host};
    int missing, behind = 0;

    if (strncmp(line, "snapshot ", 9) == 0) {
        found.kind = FOUND_SNAPSHOT;
        found.file = line + 9;
    } else if (strncmp(line, "whole ", 6) == 0) {
        found.kind = FOUND_WHOLE;
        found.file = line + 6;
    } else if (sscanf(line, "fault %d %" SCNu64 " %" SCNu64 " %n", &missing, &found.first,
                      &found.end, &behind) == 3 &&
               behind > 0 && (found.text = strstr(line + behind, ": "))) {
        found.kind = FOUND_FAULT;
        found.missing = missing != 0;
        found.file = line + behind;
        *found.text = '\0';
        found.text += 2;
    } else {
        complain("host %s: %s", host, line);
        return;
    }
    add(verifying, &found);
}

static void take_answers(struct verifying *verifying, const struct elsewhere *elsewhere)
{
    for (uint32_t i = 0; i < elsewhere->hosts.count; i++) {
        char *lines = elsewhere->wanted[i] ? elsewhere->answers[i].output : NULL, *line;

        while (lines && (line = strsep(&lines, "\n")))
            if (*line)
                take_line(verifying, elsewhere->hosts.items[i].name, line);
    }
}

/* ---- What is said ---------------------------------------------------------------------------- */

static bool is_same(const struct finding *one, const struct finding *other)
{
    return one->host == other->host && one->first == other->first && one->end == other->end &&
           strcmp(one->text, other->text) == 0;
}

/* An image missing on one host is no fault if another host has it (if that one is damaged, that is
 * the fault); an image missing everywhere is one fault.  A damaged one is found again with every
 * snapshot that is based on it. */
static bool counts(const struct verifying *verifying, const struct finding *found)
{
    if (found->kind == FOUND_WHOLE)
        return false;
    const struct finding **first = find(verifying, found->kind, found->file);
    if (found->kind == FOUND_FAULT && !found->missing) {
        while (!is_same(*first, found))
            first++;
        return *first == found;
    }
    return *first == found && !find(verifying, FOUND_WHOLE, found->file);
}

static void say_json(struct bspz_json *json, const struct finding *found)
{
    const char *file = strchr(found->file, '/');
    char job[FILE_SIZE];

    snprintf(job, sizeof(job), "%.*s", (int)(file - found->file), found->file);
    bspz_json_object(json, NULL);
    bspz_json_text(json, "job", job);
    bspz_json_text(json, "file", file + 1);
    if (found->host)
        bspz_json_text(json, "host", found->host);
    if (found->end > found->first) {
        bspz_json_number(json, "first", found->first);
        bspz_json_number(json, "last", found->end - 1);
    }
    bspz_json_text(json, "text", found->text);
    bspz_json_end(json);
}

static void say(const struct finding *found, bool local, const char *hosts)
{
    char range[64] = "";

    if (found->end > found->first)
        snprintf(range, sizeof(range), "bytes %" PRIu64 " to %" PRIu64 ": ", found->first,
                 found->end - 1);
    printf("%s: %s%s", found->file, range, found->text);
    if (found->missing && hosts)
        printf(" here%s; the job has run on %s", local ? "" : ", and on no host that answered",
               hosts);
    else if (found->host)
        printf(" (on host %s)", found->host);
    putchar('\n');
}

/* The hosts of the job that the file is of. */
static const char *hosts_of(const struct verifying *verifying, const char *file)
{
    size_t length = strcspn(file, "/");

    for (size_t i = 0; i < verifying->job_count; i++)
        if (strlen(verifying->jobs[i].name) == length &&
            strncmp(verifying->jobs[i].name, file, length) == 0)
            return verifying->hosts[i];
    return NULL;
}

/* Prints all findings; returns the number of faults. */
static unsigned long print_findings(const struct verifying *verifying,
                                    const struct request *request)
{
    unsigned long faults = 0, snapshots = 0;

    if (request->json) {
        bspz_json_object(request->json, NULL);
        bspz_json_array(request->json, "faults");
    }
    for (size_t i = 0; i < verifying->count; i++) {
        const struct finding *found = &verifying->items[i];

        if (!counts(verifying, found))
            continue;
        if (found->kind == FOUND_SNAPSHOT)
            snapshots++;
        else if (faults++, request->json)
            say_json(request->json, found);
        else
            say(found, request->local, hosts_of(verifying, found->file));
    }
    if (request->json) {
        bspz_json_end(request->json);
        bspz_json_number(request->json, "snapshots", snapshots);
        bspz_json_end(request->json);
    } else {
        printf("%lu snapshot%s, %lu damaged file%s\n", snapshots, snapshots == 1 ? "" : "s", faults,
               faults == 1 ? "" : "s");
    }
    return faults;
}

static int ask_others(struct verifying *verifying, struct elsewhere *elsewhere,
                      const struct target *target)
{
    char command[64] = "verify";

    if (target->wanted.superstep != WIRE_NEVER && target->wanted.term)
        snprintf(command, sizeof(command), "verify@%" PRIu64 ".%" PRIu32, target->wanted.superstep,
                 target->wanted.term);
    else if (target->wanted.superstep != WIRE_NEVER)
        snprintf(command, sizeof(command), "verify@%" PRIu64, target->wanted.superstep);
    int status = elsewhere_ask(elsewhere, command);
    take_answers(verifying, elsewhere);
    return status;
}

static int verify(const struct request *request, struct target *target,
                  const struct store_job *jobs, size_t count)
{
    struct verifying verifying = {
        .jobs = jobs, .job_count = count, .hosts = calloc(count + 1, sizeof(char *))};
    struct elsewhere elsewhere;

    if (!verifying.hosts)
        return complain("out of memory");
    int status = elsewhere_open(&elsewhere, request, target, jobs, count);
    for (size_t i = 0; i < count; i++)
        if (verify_job(&verifying, target->store, jobs[i].name, target->wanted) != STATUS_OK)
            status = STATUS_BAD;
        else
            verifying.hosts[i] = target_hosts(target->store);
    if (elsewhere.hosts.count > 0 && ask_others(&verifying, &elsewhere, target) != STATUS_OK)
        status = STATUS_BAD;
    if (target->wanted.superstep != WIRE_NEVER && verifying.count == 0)
        status = complain("job %s has no snapshot of superstep %" PRIu64, jobs[0].name,
                          target->wanted.superstep);
    put_in_order(&verifying);
    if (verifying.short_of_memory)
        status = complain("out of memory");
    else if (print_findings(&verifying, request) > 0)
        status = STATUS_BAD;
    free_all(&verifying);
    elsewhere_close(&elsewhere);
    return status;
}

int command_verify(const struct request *request)
{
    struct store_job *jobs;
    struct target target;
    size_t count;

    int status =
        target_open(&target, request->words[0], STORE_READ, !strchr(request->words[0], '@'));
    if (status != STATUS_OK)
        return status;
    /* A superstep is given: it is that of one job. */
    target.has_job = target.has_job || target.wanted.superstep != WIRE_NEVER;
    status = target_jobs(&target, &jobs, &count);
    if (status == STATUS_OK) {
        status = verify(request, &target, jobs, count);
        free(jobs);
    }
    target_close(&target);
    return status;
}
