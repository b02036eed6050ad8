/* replica_counts.c - see replica_counts.h. */
#include "lib/wire/replica_counts.h"

#include <stdio.h>
#include <string.h>

/* ---- Runs ---------------------------------------------------------------------------------- */

uint32_t replica_counts_of(const struct replica_counts *counts, uint32_t pid)
{
    uint32_t replicas = 1;

    for (uint32_t i = 0; i < counts->count && counts->runs[i].first <= pid; i++)
        replicas = counts->runs[i].replicas;
    return replicas;
}

uint32_t replica_counts_most(const struct replica_counts *counts, uint32_t processes)
{
    uint32_t most = 1;

    for (uint32_t i = 0; i < counts->count && counts->runs[i].first < processes; i++)
        if (counts->runs[i].replicas > most)
            most = counts->runs[i].replicas;
    return most;
}

uint32_t replica_counts_hosts(const struct replica_counts *counts, uint32_t processes)
{
    bool seen[WIRE_REPLICAS_MAX + 1] = {false};
    uint32_t hosts = 0;

    if (counts->count == 0)
        return 1;
    for (uint32_t i = 0; i < counts->count && counts->runs[i].first < processes; i++) {
        uint32_t replicas = counts->runs[i].replicas;

        hosts += seen[replicas] ? 0 : replicas;
        seen[replicas] = true;
    }
    return hosts;
}

bool replica_counts_same(const struct replica_counts *a, const struct replica_counts *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->runs[i].first != b->runs[i].first || a->runs[i].replicas != b->runs[i].replicas)
            return false;
    return true;
}

struct replica_counts replica_counts_all(uint32_t replicas)
{
    struct replica_counts counts = {0};

    if (replicas > 1) {
        counts.count = 1;
        counts.runs[0] = (struct replica_run){0, replicas};
    }
    return counts;
}

/* ---- Text ---------------------------------------------------------------------------------- */

struct range {
    uint32_t first, last, replicas;
    const char *text;
    int length;
};

static bool read_number(const char **at, uint32_t most, uint32_t *value)
{
    const char *begin = *at;

    for (*value = 0; **at >= '0' && **at <= '9' && *value <= most; ++*at)
        *value = *value * 10 + (uint32_t)(**at - '0');
    return *at > begin && *value <= most;
}

/* One of "0=3" and "1-7=2".  False with a message. */
static bool read_range(const char *text, int length, struct range *range, char why[REPLICA_WHY])
{
    const char *at = text;

    range->text = text;
    range->length = length;
    bool good = read_number(&at, WIRE_RANKS_MAX - 1, &range->first);
    range->last = range->first;
    if (good && *at == '-') {
        at++;
        good = read_number(&at, WIRE_RANKS_MAX - 1, &range->last) && range->last >= range->first;
    }
    if (!good || *at != '=') {
        snprintf(why, REPLICA_WHY, "%.*s: give pids and a number of replicas, as 0=3 or 1-7=2",
                 length < 80 ? length : 80, text);
        return false;
    }
    at++;
    if (read_number(&at, WIRE_REPLICAS_MAX, &range->replicas) && range->replicas > 0 &&
        at == text + length)
        return true;
    snprintf(why, REPLICA_WHY, "%.*s: give a number of replicas from 1 to %u",
             length < 80 ? length : 80, text, WIRE_REPLICAS_MAX);
    return false;
}

/* Inserts it in the order of the pids.  False with a message: a pid is named twice. */
static bool insert(struct range *ranges, uint32_t *count, const struct range *range,
                   char why[REPLICA_WHY])
{
    uint32_t at = *count;

    while (at > 0 && ranges[at - 1].first > range->first)
        at--;
    const struct range *before = at > 0 ? &ranges[at - 1] : NULL;
    const struct range *after = at < *count ? &ranges[at] : NULL;
    bool twice = before && before->last >= range->first;

    if (twice || (after && after->first <= range->last)) {
        snprintf(why, REPLICA_WHY, "%.*s: process %u is named twice",
                 range->length < 80 ? range->length : 80, range->text,
                 twice ? range->first : after->first);
        return false;
    }
    memmove(ranges + at + 1, ranges + at, (*count - at) * sizeof *ranges);
    ranges[at] = *range;
    ++*count;
    return true;
}

static void add_run(struct replica_counts *counts, uint32_t first, uint32_t replicas)
{
    uint32_t before = counts->count > 0 ? counts->runs[counts->count - 1].replicas : 0;

    if (before != replicas)
        counts->runs[counts->count++] = (struct replica_run){first, replicas};
}

/* Each range makes at most two runs. */
static void make_runs(struct replica_counts *counts, const struct range *ranges, uint32_t count)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (ranges[i].first > next)
            add_run(counts, next, 1);
        add_run(counts, ranges[i].first, ranges[i].replicas);
        next = ranges[i].last + 1;
    }
    add_run(counts, next, 1);
    counts->named = next;
    if (counts->count == 1 && counts->runs[0].replicas == 1)
        counts->count = 0;
}

#define RANGES_MAX (REPLICA_RUNS_MAX / 2 - 1)

static bool read_list(struct replica_counts *counts, const char *text, char why[REPLICA_WHY])
{
    struct range ranges[RANGES_MAX + 1], range;
    uint32_t count = 0;

    for (;;) {
        size_t length = strcspn(text, ",");

        if (count == RANGES_MAX) {
            snprintf(why, REPLICA_WHY, "%.80s: give at most %u numbers of replicas", text,
                     RANGES_MAX);
            return false;
        }
        if (!read_range(text, (int)length, &range, why) || !insert(ranges, &count, &range, why))
            return false;
        if (text[length] == '\0')
            break;
        text += length + 1;
    }
    make_runs(counts, ranges, count);
    return true;
}

bool replica_counts_parse(struct replica_counts *counts, const char *text, char why[REPLICA_WHY])
{
    const char *at = text;
    uint32_t all;

    *counts = (struct replica_counts){0};
    if (strchr(text, '='))
        return read_list(counts, text, why);
    if (!read_number(&at, WIRE_REPLICAS_MAX, &all) || *at || all == 0) {
        snprintf(why, REPLICA_WHY,
                 "%.80s: give a number from 1 to %u, or one for each process, as 0=3,1-7=2", text,
                 WIRE_REPLICAS_MAX);
        return false;
    }
    *counts = replica_counts_all(all);
    return true;
}

const char *replica_counts_text(const struct replica_counts *counts, char text[REPLICA_TEXT])
{
    size_t used = 0;

    if (counts->count < 2) {
        snprintf(text, REPLICA_TEXT, "%u", counts->count > 0 ? counts->runs[0].replicas : 1);
        return text;
    }
    text[0] = '\0';
    for (uint32_t i = 0; i < counts->count && used < REPLICA_TEXT; i++) {
        const struct replica_run *run = &counts->runs[i];
        uint32_t last = i + 1 < counts->count ? run[1].first - 1 : run->first;

        if (run->replicas == 1)
            continue;
        used += (size_t)snprintf(text + used, REPLICA_TEXT - used, "%s%u", used > 0 ? "," : "",
                                 run->first);
        if (last > run->first && used < REPLICA_TEXT)
            used += (size_t)snprintf(text + used, REPLICA_TEXT - used, "-%u", last);
        if (used < REPLICA_TEXT)
            used += (size_t)snprintf(text + used, REPLICA_TEXT - used, "=%u", run->replicas);
    }
    return text;
}

/* ---- Messages ------------------------------------------------------------------------------ */

struct wire_numbers replica_counts_list(const struct replica_counts *counts,
                                        uint64_t numbers[2 * REPLICA_RUNS_MAX])
{
    for (uint32_t i = 0; i < counts->count; i++) {
        numbers[2 * i] = counts->runs[i].first;
        numbers[2 * i + 1] = counts->runs[i].replicas;
    }
    return (struct wire_numbers){numbers, 2 * counts->count};
}

bool replica_counts_take(struct replica_counts *counts, const struct wire_numbers *list)
{
    *counts = (struct replica_counts){0};
    if (list->count % 2 != 0 || list->count > 2 * REPLICA_RUNS_MAX)
        return false;
    for (uint32_t i = 0; i < list->count; i += 2) {
        uint64_t first = list->items[i], replicas = list->items[i + 1];
        const struct replica_run *before = i > 0 ? &counts->runs[i / 2 - 1] : NULL;

        if (first >= WIRE_RANKS_MAX || replicas == 0 || replicas > WIRE_REPLICAS_MAX ||
            (before ? first <= before->first : first > 0))
            return false;
        counts->runs[i / 2] = (struct replica_run){(uint32_t)first, (uint32_t)replicas};
        counts->count++;
    }
    return true;
}
