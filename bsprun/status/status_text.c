/* status_text.c - the status of a running job as text; see status_text.h. */
#include "bsprun/status/status_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/json.h"
#include "lib/base/units.h"

#define IDS_IN_LINE 6

/* ---- Processes and their replicas ---- */

static int by_pid(const void *a, const void *b)
{
    const struct status_rank *left = a, *right = b;

    if (left->pid != right->pid)
        return left->pid < right->pid ? -1 : 1;
    if (left->superstep != right->superstep)
        return left->superstep > right->superstep ? -1 : 1;
    return (left->host > right->host) - (left->host < right->host);
}

void status_compare(struct status_rank *ranks, uint32_t count)
{
    const struct status_rank *leads = ranks;

    if (count > 1)
        qsort(ranks, count, sizeof *ranks, by_pid);
    for (uint32_t i = 0; i < count; i++) {
        ranks[i].trails = i > 0 && ranks[i].pid == leads->pid;
        if (!ranks[i].trails)
            leads = &ranks[i];
        ranks[i].behind = leads->superstep - ranks[i].superstep;
    }
}

static uint32_t count_processes(const struct status_facts *facts)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < facts->rank_count; i++)
        count += !facts->ranks[i].trails;
    return count;
}

uint64_t status_superstep(const struct status_rank *ranks, uint32_t count)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < count; i++)
        if (!ranks[i].trails && ranks[i].superstep < least)
            least = ranks[i].superstep;
    return count > 0 ? least : 0;
}

uint32_t status_processes_on(const struct status_facts *facts, uint32_t host)
{
    uint32_t here = 0;

    for (uint32_t i = 0; i < facts->rank_count; i++)
        here += facts->ranks[i].host == host;
    return here;
}

/* ---- For people ---- */

/* `otherwise` if the number is not that of a host. */
static const char *host_name(const struct status_facts *facts, uint32_t host, const char *otherwise)
{
    return host < facts->host_count ? facts->hosts[host].name : otherwise;
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void print_head(FILE *file, const struct status_facts *facts)
{
    fprintf(file, "job %d: %s\n  in %s", facts->os_pid, facts->program, facts->directory);
    if (facts->job[0])
        fprintf(file, ", %s", facts->job);
    fputc('\n', file);
    if (facts->processes == 0) {
        fprintf(file, "  not yet in bsp_begin\n");
        return;
    }
    fprintf(file, "  %u process%s on %u host%s for %.1f s, superstep %llu", facts->processes,
            facts->processes == 1 ? "" : "es", facts->host_count, plural(facts->host_count),
            facts->seconds, (unsigned long long)status_superstep(facts->ranks, facts->rank_count));
    if (facts->rate >= 0)
        fprintf(file, ", %.4g per second", facts->rate);
    fputc('\n', file);
}

static void print_snapshots(FILE *file, const struct status_facts *facts)
{
    if (!facts->snapshots)
        return;
    if (!facts->has_snapshot) {
        fprintf(file, "  no snapshot yet");
    } else {
        fprintf(file, "  last snapshot: superstep %llu",
                (unsigned long long)facts->snapshot_superstep);
        if (facts->snapshot_age >= 0)
            fprintf(file, ", %.1f s ago", facts->snapshot_age);
        fprintf(file, " (%llu taken)", (unsigned long long)facts->snapshot_count);
    }
    fprintf(file, "; %u restart%s", facts->restarts, plural(facts->restarts));
    if (facts->restarted_alone > 0)
        fprintf(file, ", %u process%s restarted alone", facts->restarted_alone,
                facts->restarted_alone == 1 ? "" : "es");
    fprintf(file, "; term %u\n", facts->term);
}

/* Replicas that are lost, of consecutive processes together. */
static void print_lost(FILE *file, const struct status_facts *facts)
{
    for (uint32_t host = 0; host < facts->host_count; host++) {
        uint32_t shown = 0;

        for (uint32_t i = 0; i < facts->lost_count; i++)
            if (facts->lost[i].host == host)
                fprintf(file, "%s%u", shown++ > 0 ? "," : "; lost: pid ", facts->lost[i].pid);
        if (shown > 0)
            fprintf(file, " on %s", facts->hosts[host].name);
    }
}

static void print_replicas(FILE *file, const struct status_facts *facts)
{
    if (!facts->replicas)
        return;
    fprintf(file, "  replicas: %s, %u of them missing", facts->replicas, facts->missing);
    print_lost(file, facts);
    if (facts->replicas_lost > 0)
        fprintf(file, " (%llu lost so far, %llu made anew)",
                (unsigned long long)facts->replicas_lost, (unsigned long long)facts->replicas_made);
    fputc('\n', file);
}

static unsigned longest_name(const struct status_facts *facts)
{
    size_t longest = strlen("host");

    for (uint32_t i = 0; i < facts->host_count; i++)
        if (strlen(facts->hosts[i].name) > longest)
            longest = strlen(facts->hosts[i].name);
    return (unsigned)longest;
}

static void print_hosts(FILE *file, const struct status_facts *facts, int width)
{
    fprintf(file, "  %-*s  %5s  %11s  %9s  state\n", width, "host", "slots", "memory left",
            "processes");
    for (uint32_t i = 0; i < facts->host_count; i++) {
        const struct status_host *host = &facts->hosts[i];
        char slots[16] = "-", left[BSPZ_BYTES_TEXT] = "-";

        if (host->slots > 0)
            snprintf(slots, sizeof slots, "%u", host->slots);
        if (host->available != UINT64_MAX)
            bspz_bytes_text(host->available, left, sizeof left);
        fprintf(file, "  %-*s  %5s  %11s  %9u  %s%s\n", width, host->name, slots, left,
                status_processes_on(facts, i), host->state,
                strcmp(host->name, facts->zero) == 0 ? ", Processor Zero" : "");
    }
}

static bool come_together(const struct status_coming *a, const struct status_coming *b)
{
    return a->host == b->host && strcmp(a->state, b->state) == 0 && a->superstep == b->superstep;
}

/* Processes that come to a host share a line. */
static void print_coming(FILE *file, const struct status_facts *facts)
{
    for (uint32_t i = 0; i < facts->coming_count;) {
        const struct status_coming *first = &facts->coming[i];
        uint32_t end = i;
        uint64_t memory = 0;
        char text[BSPZ_BYTES_TEXT];

        while (end < facts->coming_count && come_together(first, &facts->coming[end]))
            memory += facts->coming[end++].memory;
        fprintf(file, "  %s to host %s: process%s", first->state,
                host_name(facts, first->host, "?"), end - i == 1 ? "" : "es");
        for (uint32_t shown = 0; i < end; i++) {
            uint32_t from = facts->coming[i].pid;

            while (i + 1 < end && facts->coming[i + 1].pid == facts->coming[i].pid + 1)
                i++;
            fprintf(file, "%s %u", shown++ > 0 ? "," : "", from);
            if (facts->coming[i].pid > from)
                fprintf(file, "-%u", facts->coming[i].pid);
        }
        if (first->superstep != UINT64_MAX)
            fprintf(file, ", as of superstep %llu", (unsigned long long)first->superstep);
        if (memory > 0) {
            bspz_bytes_text(memory, text, sizeof text);
            fprintf(file, ", %s there", text);
        }
        fputc('\n', file);
    }
}

static bool alike(const struct status_rank *a, const struct status_rank *b)
{
    return a->pid + 1 == b->pid && a->host == b->host && strcmp(a->state, b->state) == 0 &&
           a->superstep == b->superstep && a->line == b->line && a->trails == b->trails &&
           a->behind == b->behind && strcmp(a->function, b->function) == 0 &&
           strcmp(a->file, b->file) == 0;
}

/* Whether the replica leads, or by how many supersteps it trails the one that does. */
static void print_place(FILE *file, const struct status_facts *facts,
                        const struct status_rank *rank)
{
    if (facts->replicas && rank->trails)
        fprintf(file, "%7llu  ", (unsigned long long)rank->behind);
    else if (facts->replicas)
        fprintf(file, "%7s  ", "leads");
}

/* Consecutive processes at the same place share a line, with the memory of the greatest and the
 * mean of their times.  Returns the last of them. */
static uint32_t print_alike(FILE *file, const struct status_facts *facts, uint32_t first, int width)
{
    const struct status_rank *rank = &facts->ranks[first];
    char pids[32], memory[BSPZ_BYTES_TEXT] = "-";
    double computing = rank->computing, communicating = rank->communicating;
    double waiting = rank->waiting;
    uint64_t most = rank->memory;
    uint32_t last = first;

    while (last + 1 < facts->rank_count && alike(&facts->ranks[last], &facts->ranks[last + 1])) {
        const struct status_rank *other = &facts->ranks[++last];

        most = other->memory > most ? other->memory : most;
        computing += other->computing;
        communicating += other->communicating;
        waiting += other->waiting;
    }
    uint32_t count = last - first + 1;

    if (most > 0)
        bspz_bytes_text(most, memory, sizeof memory);
    if (count == 1)
        snprintf(pids, sizeof pids, "%u", rank->pid);
    else
        snprintf(pids, sizeof pids, "%u-%u", rank->pid, facts->ranks[last].pid);
    fprintf(file, "  %-11s  %-*s  %10llu  ", pids, width, host_name(facts, rank->host, "?"),
            (unsigned long long)rank->superstep);
    print_place(file, facts, rank);
    fprintf(file, "%8s  %8.1f  %8.1f  %8.1f  %-13s  ", memory, computing / count,
            communicating / count, waiting / count, rank->state);
    if (rank->function[0] && rank->file[0])
        fprintf(file, "%s at %s:%u\n", rank->function, rank->file, rank->line);
    else
        fprintf(file, "%s\n", rank->function[0] ? rank->function : "-");
    return last;
}

/* Times in seconds. */
static void print_ranks(FILE *file, const struct status_facts *facts, int width)
{
    uint32_t heard = count_processes(facts);

    fprintf(file, "  %-11s  %-*s  %10s  %s%8s  %8s  %8s  %8s  %-13s  last call\n", "pid", width,
            "host", "superstep", facts->replicas ? " behind  " : "", "memory", "comp. s", "comm. s",
            "wait s", "state");
    for (uint32_t i = 0; i < facts->rank_count; i++)
        i = print_alike(file, facts, i, width);
    if (heard < facts->processes && heard > 0)
        fprintf(file, "  %u process%s not heard from\n", facts->processes - heard,
                facts->processes - heard == 1 ? "" : "es");
}

/* The process ids, for use with top, debuggers and kill. */
static void print_os_pids(FILE *file, const struct status_facts *facts)
{
    for (uint32_t host = 0; host < facts->host_count; host++) {
        unsigned count = 0;

        for (uint32_t i = 0; i < facts->rank_count; i++) {
            const struct status_rank *rank = &facts->ranks[i];

            if (rank->host != host || rank->os_pid == 0)
                continue;
            if (count == 0)
                fprintf(file, "  process ids on %s (pid=process id):", facts->hosts[host].name);
            fprintf(file, "%s%u=%u", count++ % IDS_IN_LINE ? " " : "\n    ", rank->pid,
                    rank->os_pid);
        }
        if (count > 0)
            fputc('\n', file);
    }
}

char *status_hosts_text(const struct status_facts *facts)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    if (!file)
        return NULL;
    print_hosts(file, facts, (int)longest_name(facts));
    print_coming(file, facts);
    if (fclose(file) == 0)
        return text;
    free(text);
    return NULL;
}

char *status_text(const struct status_facts *facts)
{
    int width = (int)longest_name(facts);
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    if (!file)
        return NULL;
    print_head(file, facts);
    print_snapshots(file, facts);
    print_replicas(file, facts);
    if (facts->learned && facts->processes > 0)
        learned_print(file, facts->learned, "  ");
    if (facts->host_count > 1)
        print_hosts(file, facts, width);
    print_coming(file, facts);
    if (facts->rank_count > 0)
        print_ranks(file, facts, width);
    print_os_pids(file, facts);
    return fclose(file) == 0 ? text : NULL;
}

/* ---- JSON ---- */

/* null: the number is the one that stands for an unknown one. */
static void write_known(struct bspz_json *json, const char *name, uint64_t number, uint64_t unknown)
{
    if (number != unknown)
        bspz_json_number(json, name, number);
    else
        bspz_json_null(json, name);
}

static void write_lists(struct bspz_json *json, const struct status_facts *facts)
{
    bspz_json_array(json, "hosts");
    for (uint32_t i = 0; i < facts->host_count; i++) {
        bspz_json_object(json, NULL);
        bspz_json_number(json, "slots", facts->hosts[i].slots);
        write_known(json, "memory_left", facts->hosts[i].available, UINT64_MAX);
        bspz_json_text(json, "name", facts->hosts[i].name);
        bspz_json_text(json, "state", facts->hosts[i].state);
        if (facts->hosts[i].share_seconds > 0) {
            bspz_json_format(json, "share", "%.4f", facts->hosts[i].share);
            bspz_json_format(json, "share_seconds", "%.3f", facts->hosts[i].share_seconds);
        }
        bspz_json_end(json);
    }
    bspz_json_end(json);
    bspz_json_array(json, "ranks");
    for (uint32_t i = 0; i < facts->rank_count; i++) {
        const struct status_rank *rank = &facts->ranks[i];

        bspz_json_object(json, NULL);
        bspz_json_number(json, "pid", rank->pid);
        bspz_json_number(json, "os_pid", rank->os_pid);
        bspz_json_number(json, "superstep", rank->superstep);
        if (facts->replicas) {
            bspz_json_flag(json, "leads", !rank->trails);
            bspz_json_number(json, "behind", rank->behind);
        }
        bspz_json_number(json, "line", rank->line);
        write_known(json, "memory", rank->memory, 0);
        bspz_json_format(json, "computing", "%.6f", rank->computing);
        bspz_json_format(json, "communicating", "%.6f", rank->communicating);
        bspz_json_format(json, "waiting", "%.6f", rank->waiting);
        bspz_json_text(json, "host", host_name(facts, rank->host, ""));
        bspz_json_text(json, "state", rank->state);
        bspz_json_text(json, "function", rank->function);
        bspz_json_text(json, "file", rank->file);
        bspz_json_end(json);
    }
    bspz_json_end(json);
}

static void write_replicas(struct bspz_json *json, const struct status_facts *facts)
{
    if (!facts->replicas) {
        bspz_json_null(json, "replicas");
        return;
    }
    bspz_json_object(json, "replicas");
    bspz_json_text(json, "of_each", facts->replicas);
    bspz_json_number(json, "missing", facts->missing);
    bspz_json_number(json, "lost", facts->replicas_lost);
    bspz_json_number(json, "made_anew", facts->replicas_made);
    bspz_json_array(json, "lost_now");
    for (uint32_t i = 0; i < facts->lost_count; i++) {
        const struct status_lost *lost = &facts->lost[i];

        bspz_json_object(json, NULL);
        bspz_json_number(json, "pid", lost->pid);
        bspz_json_text(json, "host", host_name(facts, lost->host, ""));
        bspz_json_end(json);
    }
    bspz_json_end(json);
    bspz_json_end(json);
}

static void write_coming(struct bspz_json *json, const struct status_facts *facts)
{
    bspz_json_array(json, "coming");
    for (uint32_t i = 0; i < facts->coming_count; i++) {
        const struct status_coming *coming = &facts->coming[i];

        bspz_json_object(json, NULL);
        bspz_json_number(json, "pid", coming->pid);
        bspz_json_text(json, "host", host_name(facts, coming->host, ""));
        bspz_json_text(json, "state", coming->state);
        write_known(json, "superstep", coming->superstep, UINT64_MAX);
        bspz_json_number(json, "memory", coming->memory);
        bspz_json_end(json);
    }
    bspz_json_end(json);
}

static void write_snapshot(struct bspz_json *json, const struct status_facts *facts)
{
    if (!facts->has_snapshot) {
        bspz_json_null(json, "snapshot");
        return;
    }
    bspz_json_object(json, "snapshot");
    bspz_json_number(json, "superstep", facts->snapshot_superstep);
    bspz_json_number(json, "taken", facts->snapshot_count);
    bspz_json_format(json, "age", facts->snapshot_age >= 0 ? "%.3f" : "null", facts->snapshot_age);
    bspz_json_end(json);
}

char *status_json(const struct status_facts *facts)
{
    char *text = NULL;
    size_t size;
    struct bspz_json json = {.file = open_memstream(&text, &size)};

    if (!json.file)
        return NULL;
    bspz_json_object(&json, NULL);
    bspz_json_signed(&json, "pid", facts->os_pid);
    bspz_json_text(&json, "program", facts->program);
    bspz_json_text(&json, "directory", facts->directory);
    bspz_json_text(&json, "job", facts->job);
    bspz_json_text(&json, "zero", facts->zero);
    bspz_json_number(&json, "processes", facts->processes);
    bspz_json_format(&json, "seconds", "%.3f", facts->seconds);
    bspz_json_number(&json, "superstep", status_superstep(facts->ranks, facts->rank_count));
    bspz_json_number(&json, "term", facts->term);
    bspz_json_number(&json, "restarts", facts->restarts);
    bspz_json_number(&json, "restarted_alone", facts->restarted_alone);
    bspz_json_format(&json, "rate", facts->rate >= 0 ? "%.6g" : "null", facts->rate);
    write_snapshot(&json, facts);
    if (facts->learned)
        learned_json(&json, "failures", facts->learned);
    else
        bspz_json_null(&json, "failures");
    write_replicas(&json, facts);
    write_lists(&json, facts);
    write_coming(&json, facts);
    bspz_json_end(&json);
    return fclose(json.file) == 0 ? text : NULL;
}
