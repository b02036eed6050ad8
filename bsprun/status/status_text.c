/* status_text.c - what is known of a running job, in words; see status_text.h. */
#include "bsprun/status/status_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDS_IN_LINE 6

uint64_t status_superstep(const struct status_rank *ranks, uint32_t count)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < count; i++)
        if (ranks[i].superstep < least)
            least = ranks[i].superstep;
    return count > 0 ? least : 0;
}

/* ---- For people ---- */

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
    fprintf(file, "; %u restart%s; term %u\n", facts->restarts, plural(facts->restarts),
            facts->term);
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
    fprintf(file, "  %-*s  %5s  %9s  state\n", width, "host", "slots", "processes");
    for (uint32_t i = 0; i < facts->host_count; i++) {
        const struct status_host *host = &facts->hosts[i];
        unsigned here = 0;
        char slots[16] = "-";

        for (uint32_t k = 0; k < facts->rank_count; k++)
            here += facts->ranks[k].host == i;
        if (host->slots > 0)
            snprintf(slots, sizeof slots, "%u", host->slots);
        fprintf(file, "  %-*s  %5s  %9u  %s%s\n", width, host->name, slots, here, host->state,
                strcmp(host->name, facts->zero) == 0 ? ", Processor Zero" : "");
    }
}

static bool alike(const struct status_rank *a, const struct status_rank *b)
{
    return a->pid + 1 == b->pid && a->host == b->host && strcmp(a->state, b->state) == 0 &&
           a->superstep == b->superstep && a->line == b->line &&
           strcmp(a->function, b->function) == 0 && strcmp(a->file, b->file) == 0;
}

/* Neighbours that are at the same place share a line. */
static void print_ranks(FILE *file, const struct status_facts *facts, int width)
{
    fprintf(file, "  %-11s  %-*s  %10s  %-13s  last call\n", "pid", width, "host", "superstep",
            "state");
    for (uint32_t i = 0; i < facts->rank_count; i++) {
        const struct status_rank *rank = &facts->ranks[i];
        char pids[32];

        while (i + 1 < facts->rank_count && alike(&facts->ranks[i], &facts->ranks[i + 1]))
            i++;
        if (facts->ranks[i].pid == rank->pid)
            snprintf(pids, sizeof pids, "%u", rank->pid);
        else
            snprintf(pids, sizeof pids, "%u-%u", rank->pid, facts->ranks[i].pid);
        fprintf(file, "  %-11s  %-*s  %10llu  %-13s  ", pids, width,
                rank->host < facts->host_count ? facts->hosts[rank->host].name : "?",
                (unsigned long long)rank->superstep, rank->state);
        if (rank->function[0] && rank->file[0])
            fprintf(file, "%s at %s:%u\n", rank->function, rank->file, rank->line);
        else
            fprintf(file, "%s\n", rank->function[0] ? rank->function : "-");
    }
    if (facts->rank_count < facts->processes && facts->rank_count > 0)
        fprintf(file, "  %u process%s not heard of\n", facts->processes - facts->rank_count,
                facts->processes - facts->rank_count == 1 ? "" : "es");
}

/* By which top, a debugger or kill know the processes. */
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
    if (facts->learned && facts->processes > 0)
        learned_print(file, facts->learned, "  ");
    if (facts->host_count > 1)
        print_hosts(file, facts, width);
    if (facts->rank_count > 0)
        print_ranks(file, facts, width);
    print_os_pids(file, facts);
    return fclose(file) == 0 ? text : NULL;
}

/* ---- JSON ---- */

/* Bytes that are no UTF-8 are taken as Latin-1, so that whatever comes is JSON. */
static void print_string(FILE *file, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    fputc('"', file);
    while (*at) {
        unsigned more = *at >= 0xf0 && *at < 0xf5 ? 3
                        : *at >= 0xe1 && *at < 0xf0 && *at != 0xed
                            ? 2 /* those two have rules of their own */
                        : *at >= 0xc2 && *at < 0xe0 ? 1
                                                    : 0;
        unsigned good = 0;

        while (good < more && (at[good + 1] & 0xc0) == 0x80)
            good++;
        if (more == 3 && ((*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f)))
            good = 0;
        if (more > 0 && good == more) {
            fwrite(at, 1, more + 1, file);
            at += more + 1;
            continue;
        }
        if (*at == '"' || *at == '\\')
            fprintf(file, "\\%c", *at);
        else if (*at < 0x20 || *at >= 0x7f)
            fprintf(file, "\\u%04x", *at);
        else
            fputc(*at, file);
        at++;
    }
    fputc('"', file);
}

static void print_member(FILE *file, const char *name, const char *text)
{
    fprintf(file, ",\"%s\":", name);
    print_string(file, text);
}

static void print_json_lists(FILE *file, const struct status_facts *facts)
{
    fprintf(file, ",\"hosts\":[");
    for (uint32_t i = 0; i < facts->host_count; i++) {
        fprintf(file, "%s{\"slots\":%u", i > 0 ? "," : "", facts->hosts[i].slots);
        print_member(file, "name", facts->hosts[i].name);
        print_member(file, "state", facts->hosts[i].state);
        fputc('}', file);
    }
    fprintf(file, "],\"ranks\":[");
    for (uint32_t i = 0; i < facts->rank_count; i++) {
        const struct status_rank *rank = &facts->ranks[i];

        fprintf(file, "%s{\"pid\":%u,\"os_pid\":%u,\"superstep\":%llu,\"line\":%u",
                i > 0 ? "," : "", rank->pid, rank->os_pid, (unsigned long long)rank->superstep,
                rank->line);
        print_member(file, "host",
                     rank->host < facts->host_count ? facts->hosts[rank->host].name : "");
        print_member(file, "state", rank->state);
        print_member(file, "function", rank->function);
        print_member(file, "file", rank->file);
        fputc('}', file);
    }
    fputc(']', file);
}

char *status_json(const struct status_facts *facts)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    if (!file)
        return NULL;
    fprintf(file, "{\"pid\":%d", facts->os_pid);
    print_member(file, "program", facts->program);
    print_member(file, "directory", facts->directory);
    print_member(file, "job", facts->job);
    print_member(file, "zero", facts->zero);
    fprintf(file,
            ",\"processes\":%u,\"seconds\":%.3f,\"superstep\":%llu,\"term\":%u,\"restarts\":%u,"
            "\"rate\":",
            facts->processes, facts->seconds,
            (unsigned long long)status_superstep(facts->ranks, facts->rank_count), facts->term,
            facts->restarts);
    if (facts->rate >= 0)
        fprintf(file, "%.6g", facts->rate);
    else
        fprintf(file, "null");
    fprintf(file, ",\"snapshot\":");
    if (facts->has_snapshot && facts->snapshot_age >= 0)
        fprintf(file, "{\"superstep\":%llu,\"taken\":%llu,\"age\":%.3f}",
                (unsigned long long)facts->snapshot_superstep,
                (unsigned long long)facts->snapshot_count, facts->snapshot_age);
    else if (facts->has_snapshot)
        fprintf(file, "{\"superstep\":%llu,\"taken\":%llu,\"age\":null}",
                (unsigned long long)facts->snapshot_superstep,
                (unsigned long long)facts->snapshot_count);
    else
        fprintf(file, "null");
    fprintf(file, ",\"failures\":");
    if (facts->learned)
        learned_print_json(file, facts->learned);
    else
        fprintf(file, "null");
    print_json_lists(file, facts);
    fputs("}\n", file);
    return fclose(file) == 0 ? text : NULL;
}
