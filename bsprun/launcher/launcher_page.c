/* launcher_page.c - the page of --report=html FILE: the final report, with a picture of the job's
 * time.  report.js draws it from the JSON that is written here. */
#include <stdio.h>
#include <stdlib.h>

#include "bsprun/launcher/launcher_inside.h"
#include "bsprun/launcher/report_script.h"
#include "lib/base/json.h"
#include "lib/page/page.h"

/* What is told of the whole job, or of this bsprun where nothing is known of another. */
struct timeline_sums {
    uint64_t ms[TIMELINE_DOWN + 1]; /* of each use */
    uint64_t faults, snapshots, snapshot_bytes, pause_ns;
};

static void count_events(const struct timeline *timeline, struct timeline_sums *sums)
{
    for (size_t i = 0; i < timeline->count; i++) {
        const struct timeline_event *event = &timeline->events[i];

        sums->faults += event->kind == TIMELINE_FAULT;
        if (event->kind != TIMELINE_SAVED)
            continue;
        sums->snapshots++;
        sums->snapshot_bytes += event->bytes;
        sums->pause_ns += event->pause_ns;
    }
}

static void write_events(struct bspz_json *json, const struct timeline *timeline, uint64_t begin_ms)
{
    static const char *const kinds[] = {
        [TIMELINE_RUNNING] = "running",    [TIMELINE_STOPPED] = "stopped",
        [TIMELINE_SAVED] = "saved",        [TIMELINE_BACK] = "back",
        [TIMELINE_FAULT] = "fault",        [TIMELINE_MOVED] = "moved",
        [TIMELINE_RESTARTED] = "restarted"};

    bspz_json_number(json, "dropped", timeline->dropped);
    bspz_json_array(json, "events");
    for (size_t i = 0; i < timeline->count; i++) {
        const struct timeline_event *event = &timeline->events[i];

        bspz_json_object(json, NULL);
        bspz_json_text(json, "what", kinds[event->kind]);
        bspz_json_number(json, "at", event->at_ms > begin_ms ? event->at_ms - begin_ms : 0);
        bspz_json_number(json, "superstep", event->superstep);
        if (event->kind == TIMELINE_SAVED) {
            bspz_json_number(json, "bytes", event->bytes);
            bspz_json_number(json, "pause", event->pause_ns);
            bspz_json_number(json, "commit", event->commit_ns);
        }
        if (event->text)
            bspz_json_text(json, "text", event->text);
        bspz_json_end(json);
    }
    bspz_json_end(json);
}

/* Returns the time of each use. */
static struct timeline_sums write_spans(struct bspz_json *json, const struct timeline *timeline,
                                        uint64_t begin_ms, uint64_t end_ms)
{
    struct timeline_sums sums = {0};
    static const char *const uses[] = {[TIMELINE_START] = "start",
                                       [TIMELINE_USEFUL] = "useful",
                                       [TIMELINE_LOST] = "lost",
                                       [TIMELINE_DOWN] = "down"};
    struct timeline_span *spans;
    size_t count = timeline_spans(timeline, begin_ms, end_ms, &spans);

    bspz_json_array(json, "spans");
    for (size_t i = 0; i < count; i++) {
        bspz_json_object(json, NULL);
        bspz_json_text(json, "use", uses[spans[i].use]);
        bspz_json_number(json, "from", spans[i].from_ms - begin_ms);
        bspz_json_number(json, "to", spans[i].to_ms - begin_ms);
        bspz_json_end(json);
        sums.ms[spans[i].use] += spans[i].to_ms - spans[i].from_ms;
    }
    bspz_json_end(json);
    free(spans);
    return sums;
}

static void write_processes(struct bspz_json *json, const struct launcher *launcher)
{
    bspz_json_array(json, "processes");
    for (uint32_t i = 0; i < launcher->usage_count; i++) {
        const struct wire_usage *usage = &launcher->usages[i];

        bspz_json_object(json, NULL);
        bspz_json_number(json, "pid", usage->pid);
        bspz_json_number(json, "supersteps", usage->supersteps);
        bspz_json_number(json, "computing", usage->compute_ns);
        bspz_json_number(json, "waiting", usage->wait_ns);
        bspz_json_number(json, "communicating", usage->communicate_ns);
        bspz_json_number(json, "cpu", usage->cpu_ns);
        bspz_json_number(json, "out", usage->bytes_out);
        bspz_json_number(json, "in", usage->bytes_in);
        bspz_json_number(json, "h", usage->h_max);
        bspz_json_number(json, "memory", usage->peak_memory);
        bspz_json_number(json, "faults",
                         usage->pid < launcher->process_count ? launcher->process_faults[usage->pid]
                                                              : 0);
        bspz_json_end(json);
    }
    bspz_json_end(json);
}

static void write_hosts(struct bspz_json *json, const struct launcher *launcher)
{
    bspz_json_array(json, "hosts");
    for (uint32_t i = 0; i < launcher->agents.count; i++) {
        bspz_json_object(json, NULL);
        bspz_json_text(json, "name", launcher->agents.items[i].name);
        bspz_json_flag(json, "member", job_machine_member(launcher->machine, i));
        bspz_json_end(json);
    }
    bspz_json_end(json);
}

static void write_sums(struct bspz_json *json, const struct timeline_sums *sums)
{
    bspz_json_number(json, "useful", sums->ms[TIMELINE_USEFUL]);
    bspz_json_number(json, "lost", sums->ms[TIMELINE_LOST]);
    bspz_json_number(json, "down", sums->ms[TIMELINE_DOWN]);
    bspz_json_number(json, "faults", sums->faults);
    bspz_json_number(json, "snapshots", sums->snapshots);
    bspz_json_number(json, "snapshot_bytes", sums->snapshot_bytes);
    bspz_json_number(json, "pauses", sums->pause_ns);
}

static void write_whole_job(struct bspz_json *json, const struct launcher *launcher, uint64_t now)
{
    const struct past *past = &launcher->past;
    struct timeline all = past_and(past, &launcher->timeline);
    uint64_t end = past->since_ms + (now - past->begun_ms);
    struct timeline_sums sums;

    bspz_json_number(json, "time", end);
    sums = write_spans(json, &all, 0, end);
    count_events(&all, &sums);
    write_sums(json, &sums);
    write_events(json, &all, 0);
    timeline_free(&all);
}

static void write_time(struct bspz_json *json, const struct launcher *launcher, uint64_t now)
{
    const struct account *account = &launcher->account;
    uint64_t begin = launcher->begun_ms;
    struct timeline_sums sums = {
        .ms = {[TIMELINE_USEFUL] = account->useful_ms,
               [TIMELINE_LOST] = account->lost_ms,
               [TIMELINE_DOWN] = account->down_ms},
        .faults = launcher->faults,
        .snapshots = launcher->snapshots,
        .snapshot_bytes = launcher->snapshot_bytes,
        .pause_ns = launcher->pause_ns,
    };

    bspz_json_number(json, "earlier", launcher->past.earlier.count);
    if (launcher->past.earlier.count > 0) {
        write_whole_job(json, launcher, now);
        return;
    }
    bspz_json_number(json, "time", now - begin);
    write_sums(json, &sums);
    write_spans(json, &launcher->timeline, begin, now);
    write_events(json, &launcher->timeline, begin);
}

static void write_data(FILE *file, const struct launcher *launcher, uint64_t now)
{
    struct learned_facts facts = learning_facts(&launcher->learning);
    struct bspz_json json = {.file = file};

    bspz_json_object(&json, NULL);
    bspz_json_text(&json, "command", launcher->command_line ? launcher->command_line : "");
    bspz_json_text(&json, "job",
                   launcher_has_snapshots(launcher) ? store_job_name(launcher->common.saved.store)
                                                    : NULL);
    bspz_json_flag(&json, "restarted", launcher->common.saved.restart);
    bspz_json_signed(&json, "status", launcher->status);
    write_hosts(&json, launcher);
    write_processes(&json, launcher);
    write_time(&json, launcher, now);
    learned_json(&json, "failures", &facts);
    bspz_json_end(&json);
}

void launcher_write_page(struct launcher *launcher)
{
    const char *path = launcher->common.options->report_page;
    uint64_t now = launcher_now_ms();
    char *data = NULL, title[512];
    size_t size = 0;
    FILE *file = path ? fopen(path, "we") : NULL;
    FILE *memory = file ? open_memstream(&data, &size) : NULL;

    if (path && !memory)
        notices_say(&launcher->common.notices, "--report=html %s: %m", path);
    if (!memory) {
        if (file)
            fclose(file);
        return;
    }
    account_stopped(&launcher->account, now);
    if (launcher->begun_ms == 0)
        launcher->begun_ms = now;
    snprintf(title, sizeof title, "%.480s",
             launcher->command_line ? launcher->command_line : "a job");
    write_data(memory, launcher, now);
    fclose(memory);
    page_write(file, title, data, size, report_script);
    free(data);
    bool bad = fflush(file) != 0 || ferror(file);
    if (bad)
        notices_say(&launcher->common.notices, "--report=html %s: %m", path);
    if (fclose(file) != 0 && !bad)
        notices_say(&launcher->common.notices, "--report=html %s: %m", path);
}
