/* launcher_report.c - the final report of --report and --report=FILE. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bsprun/launcher/launcher_inside.h"
#include "bsprun/usage.h"
#include "lib/base/json.h"
#include "lib/base/units.h"

static int by_pid(const void *a, const void *b)
{
    const struct wire_usage *first = a, *second = b;

    return first->pid < second->pid ? -1 : first->pid > second->pid;
}

void launcher_take_report(struct launcher *launcher, const struct wire_report *report)
{
    uint32_t count = launcher->usage_count + report->ranks.count;
    struct wire_usage *all = realloc(launcher->usages, (count + 1) * sizeof *all);

    if (!all)
        return;
    for (uint32_t i = 0; i < report->ranks.count; i++)
        all[launcher->usage_count + i] = report->ranks.items[i];
    qsort(all, count, sizeof *all, by_pid);
    launcher->usages = all;
    launcher->usage_count = count;
}

/* In a job that has, or had, replicas. */
static void tell_replicas(struct launcher *launcher)
{
    const struct replica_view *view = &launcher->replicas;
    char text[REPLICA_TEXT];

    if (!view->any)
        return;
    notices_say(&launcher->common.notices,
                "replicas: %.200s; %u rollback%s; %llu replica%s lost, %llu made anew",
                replica_counts_text(&view->present, text), launcher->faults,
                launcher->faults == 1 ? "" : "s", (unsigned long long)view->lost,
                view->lost == 1 ? "" : "s", (unsigned long long)view->made);
}

void launcher_tell_report(struct launcher *launcher)
{
    char size[16], alone[64] = "";
    char *table =
        launcher->usage_count > 0 ? usage_table(launcher->usages, launcher->usage_count) : NULL;

    if (!table)
        return;
    notices_say(&launcher->common.notices, "%s", table);
    free(table);
    tell_replicas(launcher);
    if (!launcher_has_snapshots(launcher))
        return;
    account_stopped(&launcher->account, launcher_now_ms());
    table = usage_faults_table(
        launcher->usages, launcher->usage_count,
        &(struct usage_faults){
            launcher->snapshots, (double)launcher->pause_ns / 1e9,
            (double)launcher->account.lost_ms / 1e3, (double)launcher->account.down_ms / 1e3,
            launcher->faults + launcher->restarted_alone, launcher->process_faults,
            launcher->process_count, launcher->common.saved.restart});
    if (table)
        notices_say(&launcher->common.notices, "%s", table);
    free(table);
    bspz_bytes_text(launcher->snapshot_bytes, size, sizeof size);
    if (launcher->restarted_alone > 0)
        snprintf(alone, sizeof alone, "; %u process%s restarted alone", launcher->restarted_alone,
                 launcher->restarted_alone == 1 ? "" : "es");
    notices_say(&launcher->common.notices,
                "%llu snapshot%s, %s, %.3f s of pauses; %u fault%s recovered from%s; %.3f s "
                "lost, %.3f s down",
                (unsigned long long)launcher->snapshots, launcher->snapshots == 1 ? "" : "s", size,
                (double)launcher->pause_ns / 1e9, launcher->faults,
                launcher->faults == 1 ? "" : "s", alone, (double)launcher->account.lost_ms / 1e3,
                (double)launcher->account.down_ms / 1e3);
    table = learning_table(&launcher->learning);
    if (table)
        notices_say(&launcher->common.notices, "%s", table);
    free(table);
}

/* ---- As a file ---- */

/* Makes the file if there is none, and changes nothing of one that is there.  Whoever reads a pipe
 * would take that for its end. */
static bool can_be_written(struct common *common, const char *option, const char *path)
{
    struct stat status;
    int fd;

    if (!path || (stat(path, &status) == 0 && S_ISFIFO(status.st_mode)))
        return true;
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
        notices_say(&common->notices, "--report=%s%s: %m", option, path);
        return false;
    }
    close(fd);
    return true;
}

bool launcher_reports_can_be_written(struct common *common)
{
    return can_be_written(common, "", common->options->report_file) &&
           can_be_written(common, "html ", common->options->report_page);
}

void launcher_write_report(struct launcher *launcher)
{
    const char *path = launcher->common.options->report_file;
    struct learned_facts facts = learning_facts(&launcher->learning);
    uint64_t now = launcher_now_ms(), supersteps = 0;
    FILE *file = path ? fopen(path, "we") : NULL;
    struct bspz_json json = {.file = file};
    char text[REPLICA_TEXT];

    if (path && !file)
        notices_say(&launcher->common.notices, "--report=%s: %m", path);
    if (!file)
        return;
    for (uint32_t i = 0; i < launcher->usage_count; i++)
        if (launcher->usages[i].supersteps > supersteps)
            supersteps = launcher->usages[i].supersteps;
    bspz_json_object(&json, NULL);
    bspz_json_number(&json, "report", 1);
    bspz_json_signed(&json, "status", launcher->status);
    bspz_json_format(&json, "hosts", "%.0f", facts.units.hosts);
    bspz_json_format(&json, "processes", "%.0f", facts.units.processes);
    bspz_json_number(&json, "supersteps", supersteps);
    bspz_json_format(&json, "seconds", "%.3f",
                     launcher->begun_ms > 0 ? (double)(now - launcher->begun_ms) / 1e3 : 0);
    bspz_json_format(&json, "useful", "%.3f", (double)launcher->account.useful_ms / 1e3);
    bspz_json_format(&json, "lost", "%.3f", (double)launcher->account.lost_ms / 1e3);
    bspz_json_format(&json, "down", "%.3f", (double)launcher->account.down_ms / 1e3);
    bspz_json_number(&json, "faults", launcher->faults);
    bspz_json_text(&json, "replicas", replica_counts_text(&launcher->replicas.present, text));
    bspz_json_number(&json, "rollbacks", launcher->faults);
    bspz_json_number(&json, "restarted_alone", launcher->restarted_alone);
    bspz_json_number(&json, "replicas_lost", launcher->replicas.lost);
    bspz_json_number(&json, "replicas_made", launcher->replicas.made);
    bspz_json_number(&json, "snapshots", launcher->snapshots);
    bspz_json_number(&json, "snapshot_bytes", launcher->snapshot_bytes);
    bspz_json_format(&json, "pauses", "%.6f", (double)launcher->pause_ns / 1e9);
    learned_json(&json, "failures", &facts);
    bspz_json_end(&json);
    if (fclose(file) != 0)
        notices_say(&launcher->common.notices, "--report=%s: %m", path);
}
