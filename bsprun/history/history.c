/* history.c - the lines of the history, and their statistics; see history.h.  Pure. */
#include "bsprun/history/history.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/base/units.h"

#define HEAD        "bspzero-history"
#define CHECK_SIZE  9u /* " xxxxxxxx" */
#define SECONDS_MAX 1e12
#define EVENTS_MAX  1e9

static const char *const kinds[HISTORY_KIND_COUNT] = {[HISTORY_LIFE] = "life",
                                                      [HISTORY_SEEN] = "seen",
                                                      [HISTORY_COST] = "cost",
                                                      [HISTORY_JOB] = "job",
                                                      [HISTORY_SHARE] = "share"};
static const char *const faults[HISTORY_FAULT_COUNT] = {[HISTORY_HOST] = "host",
                                                        [HISTORY_PROCESS] = "process",
                                                        [HISTORY_PREEMPTION] = "preemption",
                                                        [HISTORY_SPLIT] = "split"};
static const char *const whats[HISTORY_WHAT_COUNT] = {
    [HISTORY_SNAPSHOT] = "snapshot", [HISTORY_COMMIT] = "commit", [HISTORY_RESTORE] = "restore"};
#define ALIVE "alive"

const char *history_fault_name(enum history_fault fault)
{
    return (unsigned)fault < HISTORY_FAULT_COUNT ? faults[fault] : "unknown";
}

/* ---- One line ----------------------------------------------------------------------------- */

/* FNV-1a: detects accidental damage. */
static uint32_t check_of(const char *text, size_t length)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

static double bounded(double value, double most)
{
    return !(value > 0) ? 0 : value < most ? value : most;
}

static size_t seal(char line[HISTORY_LINE_MAX], int length)
{
    size_t used = (size_t)length < HISTORY_LINE_MAX - CHECK_SIZE - 2
                      ? (size_t)length
                      : HISTORY_LINE_MAX - CHECK_SIZE - 2;

    return used + (size_t)snprintf(line + used, HISTORY_LINE_MAX - used, " %08" PRIx32 "\n",
                                   check_of(line, used));
}

size_t history_print(const struct history_record *record, char line[HISTORY_LINE_MAX])
{
    char site[HISTORY_NAME_MAX + 1], name[HISTORY_NAME_MAX + 1];
    double seconds = bounded(record->seconds, SECONDS_MAX);
    double events = bounded(record->events, EVENTS_MAX);
    int used;

    history_name(site, record->site);
    history_name(name, record->name);
    used = snprintf(line, HISTORY_LINE_MAX, "%s %" PRId64 " %s ", kinds[record->kind], record->time,
                    site);
    size_t room = HISTORY_LINE_MAX - (size_t)used;
    switch (record->kind) {
    case HISTORY_LIFE:
        used += snprintf(line + used, room, "%s %.3f %s", name, seconds,
                         record->ended ? faults[record->fault] : ALIVE);
        break;
    case HISTORY_SEEN:
        used += snprintf(line + used, room, "%s %.3f %.3f %" PRIu64, faults[record->fault], events,
                         seconds, record->count);
        break;
    case HISTORY_COST:
        used += snprintf(line + used, room, "%s %s %.6f %" PRIu64 " %" PRIu64, whats[record->what],
                         faults[record->fault], seconds, record->count, record->bytes);
        break;
    case HISTORY_SHARE:
        used += snprintf(line + used, room, "%s %.4f %.4f %.3f", name, bounded(record->share, 1),
                         bounded(record->spread, 1), seconds);
        break;
    default:
        used += snprintf(line + used, room, "%.0f %" PRIu64, events, record->count);
        break;
    }
    return seal(line, used);
}

size_t history_head(char line[HISTORY_LINE_MAX])
{
    return (size_t)snprintf(line, HISTORY_LINE_MAX, HEAD " %d\n", HISTORY_VERSION);
}

/* Splits a line into terminated words. */
#define WORDS_MAX 8u
struct words {
    char text[HISTORY_LINE_MAX];
    char *items[WORDS_MAX];
    size_t count;
};

static bool split_words(const char *line, size_t length, struct words *words)
{
    memcpy(words->text, line, length);
    words->text[length] = '\0';
    words->count = 0;
    for (char *rest = words->text, *word; (word = strsep(&rest, " ")) != NULL;) {
        if (!*word || words->count == WORDS_MAX)
            return false;
        words->items[words->count++] = word;
    }
    return true;
}

static bool find_word(const char *const *names, size_t count, const char *word, unsigned *index)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], word) == 0) {
            *index = (unsigned)i;
            return true;
        }
    return false;
}

static bool take_number(const char *word, double most, double *value)
{
    char *end;

    if (!isdigit((unsigned char)word[0]))
        return false;
    *value = strtod(word, &end);
    return *end == '\0' && isfinite(*value) && *value <= most;
}

static bool take_count(const char *word, uint64_t *value)
{
    return bspz_whole(word, 0, UINT64_MAX, value);
}

static bool take_name(const char *word, char name[HISTORY_NAME_MAX + 1])
{
    if (strlen(word) > HISTORY_NAME_MAX)
        return false;
    for (const char *at = word; *at; at++)
        if (*at <= ' ' || *at >= 0x7f)
            return false; /* not written by bspzero, and unsafe to print on a terminal */
    strcpy(name, word);
    return true;
}

static bool take_fault(const char *word, enum history_fault *fault)
{
    unsigned index;

    if (!find_word(faults, HISTORY_FAULT_COUNT, word, &index))
        return false;
    *fault = (enum history_fault)index;
    return true;
}

/* Parses what follows the site. */
static bool take_rest(struct history_record *record, char *const *words, size_t count)
{
    unsigned index;

    switch (record->kind) {
    case HISTORY_LIFE:
        if (count != 3 || !take_name(words[0], record->name) ||
            !take_number(words[1], SECONDS_MAX, &record->seconds))
            return false;
        record->ended = strcmp(words[2], ALIVE) != 0;
        return !record->ended || take_fault(words[2], &record->fault);
    case HISTORY_SEEN:
        return count == 4 && take_fault(words[0], &record->fault) &&
               take_number(words[1], EVENTS_MAX, &record->events) &&
               take_number(words[2], SECONDS_MAX, &record->seconds) &&
               take_count(words[3], &record->count);
    case HISTORY_COST:
        if (count != 5 || !find_word(whats, HISTORY_WHAT_COUNT, words[0], &index))
            return false;
        record->what = (enum history_what)index;
        return take_fault(words[1], &record->fault) &&
               take_number(words[2], SECONDS_MAX, &record->seconds) &&
               take_count(words[3], &record->count) && record->count > 0 &&
               take_count(words[4], &record->bytes);
    case HISTORY_SHARE:
        return count == 4 && take_name(words[0], record->name) &&
               take_number(words[1], 1, &record->share) &&
               take_number(words[2], 1, &record->spread) &&
               take_number(words[3], SECONDS_MAX, &record->seconds);
    default:
        return count == 2 && take_number(words[0], EVENTS_MAX, &record->events) &&
               take_count(words[1], &record->count);
    }
}

bool history_parse(const char *line, size_t length, struct history_record *record)
{
    struct history_record found = {0};
    struct words words;
    char check[CHECK_SIZE];
    uint64_t time;
    unsigned kind;

    if (length < CHECK_SIZE || length >= HISTORY_LINE_MAX || memchr(line, '\0', length))
        return false;
    length -= CHECK_SIZE;
    snprintf(check, sizeof check, "%08" PRIx32, check_of(line, length));
    if (line[length] != ' ' || memcmp(line + length + 1, check, CHECK_SIZE - 1) != 0 ||
        !split_words(line, length, &words) || words.count < 4 ||
        !find_word(kinds, HISTORY_KIND_COUNT, words.items[0], &kind) ||
        !take_count(words.items[1][0] == '-' ? words.items[1] + 1 : words.items[1], &time) ||
        time > INT64_MAX || !take_name(words.items[2], found.site))
        return false;
    found.kind = (enum history_kind)kind;
    found.time = words.items[1][0] == '-' ? -(int64_t)time : (int64_t)time;
    if (!take_rest(&found, words.items + 3, words.count - 3))
        return false;
    *record = found;
    return true;
}

/* ---- A file ------------------------------------------------------------------------------- */

static int head_state(const char *text, size_t length)
{
    char head[HISTORY_LINE_MAX];
    size_t size = history_head(head);

    if (length + 1 == size && memcmp(text, head, length) == 0)
        return HISTORY_GOOD;
    size = strlen(HEAD " ");
    return length > size && memcmp(text, HEAD " ", size) == 0 ? HISTORY_OTHER_VERSION
                                                              : HISTORY_STRANGE;
}

/* The first line may occur twice, if two jobs created the file at once. */
int history_read(const char *text, size_t size, struct history *history)
{
    const char *end = memchr(text, '\n', size), *next;
    int state;

    *history = (struct history){0};
    if (size == 0)
        return HISTORY_EMPTY;
    state = end ? head_state(text, (size_t)(end - text)) : HISTORY_STRANGE;
    for (const char *at = end; state == HISTORY_GOOD && end && ++at < text + size; at = next) {
        struct history_record record;

        end = memchr(at, '\n', size - (size_t)(at - text));
        next = end ? end : text + size;
        if (end && history_parse(at, (size_t)(next - at), &record)) {
            if (!BSPZ_GROW(history->records, history->count)) {
                history_free(history);
                return -ENOMEM;
            }
            history->records[history->count++] = record;
        } else if (next > at && head_state(at, (size_t)(next - at)) != HISTORY_GOOD) {
            history->bad++;
        }
    }
    return state;
}

void history_free(struct history *history)
{
    free(history->records);
    *history = (struct history){0};
}

/* ---- What it says ------------------------------------------------------------------------- */

static double halved(double newer)
{
    return exp2(-newer / HISTORY_HALF);
}

/* Events within one record are of one age. */
static void add_rate(struct history_rate *rate, double events, double seconds, uint64_t lives)
{
    double weight = halved(rate->all_events);

    rate->events += weight * events;
    rate->seconds += weight * seconds;
    rate->all_events += events;
    rate->all_seconds += seconds;
    rate->lives += lives;
}

static void add_cost(struct history_cost *cost, const struct history_record *record)
{
    double count = record->count < HISTORY_HALF ? (double)record->count : HISTORY_HALF;
    double weight = halved((double)cost->count) * count;

    if (cost->count == 0)
        cost->bytes = record->bytes; /* the newest */
    cost->seconds =
        cost->weight + weight > 0
            ? (cost->seconds * cost->weight + record->seconds * weight) / (cost->weight + weight)
            : record->seconds;
    cost->weight += weight;
    cost->count += record->count;
}

/* From the newest to the oldest. */
static void add_to_site(struct history_site *site, const struct history_record *record)
{
    if (site->last == 0 || record->time > site->last)
        site->last = record->time;
    if (site->first == 0 || record->time < site->first)
        site->first = record->time;
    switch (record->kind) {
    case HISTORY_LIFE:
        /* The end of a piece marked alive, and its count, are in another line. */
        add_rate(&site->rates[HISTORY_HOST], record->ended && record->fault == HISTORY_HOST,
                 record->seconds, record->ended);
        break;
    case HISTORY_SEEN:
        add_rate(&site->rates[record->fault], record->events, record->seconds, record->count);
        break;
    case HISTORY_COST:
        add_cost(record->what == HISTORY_SNAPSHOT ? &site->snapshot
                 : record->what == HISTORY_COMMIT ? &site->commit
                                                  : &site->restore[record->fault],
                 record);
        break;
    case HISTORY_SHARE: /* of one host: history_shares */
        break;
    default:
        site->jobs += record->count;
        if ((double)site->hosts < record->events)
            site->hosts = (uint64_t)record->events;
        break;
    }
}

void history_look(const struct history *history, const char *site, struct history_site *found)
{
    char name[HISTORY_NAME_MAX + 1];

    history_name(name, site);
    *found = (struct history_site){0};
    memcpy(found->name, name, sizeof name);
    for (size_t i = history->count; i-- > 0;)
        if (strcmp(history->records[i].site, name) == 0)
            add_to_site(found, &history->records[i]);
}

size_t history_sites(const struct history *history, const char **names, size_t most)
{
    size_t count = 0;

    for (size_t i = history->count; i-- > 0 && count < most;) {
        const char *site = history->records[i].site;
        size_t j = 0;

        while (j < count && strcmp(names[j], site) != 0)
            j++;
        if (j == count)
            names[count++] = site;
    }
    return count;
}

/* ---- Making it smaller -------------------------------------------------------------------- */

struct text {
    char *data;
    size_t size, room;
};

static bool put(struct text *text, const char *line, size_t length)
{
    if (length > text->room - text->size)
        return false;
    memcpy(text->data + text->size, line, length);
    text->size += length;
    return true;
}

static bool put_record(struct text *text, const struct history_record *record)
{
    char line[HISTORY_LINE_MAX];

    return put(text, line, history_print(record, line));
}

static bool put_cost(struct text *text, struct history_record record, enum history_what what,
                     enum history_fault fault, const struct history_cost *cost)
{
    if (cost->count == 0)
        return true;
    record.kind = HISTORY_COST;
    record.what = what;
    record.fault = fault;
    record.seconds = cost->seconds;
    record.count = cost->count;
    record.bytes = cost->bytes;
    return put_record(text, &record);
}

/* The hosts of a site, with the weights that their observations have left. */
static bool put_shares(struct text *text, const struct history *older, const char *name,
                       int64_t time)
{
    size_t count = 0;
    struct history_share *shares = history_shares(older, name, &count);
    bool good = true;

    for (size_t i = count < HISTORY_HOSTS_MAX ? count : HISTORY_HOSTS_MAX; i-- > 0 && good;) {
        const struct history_share *host = &shares[i];
        struct history_record record = {
            .kind = HISTORY_SHARE, .time = time, .seconds = host->seconds};

        record.share = host->sum / host->seconds;
        record.spread = sqrt(fmax(host->squares / host->seconds - record.share * record.share, 0));
        snprintf(record.site, sizeof record.site, "%s", name);
        snprintf(record.name, sizeof record.name, "%s", host->name);
        good = put_record(text, &record);
    }
    free(shares);
    return good;
}

/* Sums up the records before `end` for a site.  Old ones keep their relative weights, so that
 * observations of long ago do not regain weight.  False: there is no room for all. */
static bool put_sum(struct text *text, const struct history *history, size_t end, const char *name)
{
    struct history older = {.records = history->records, .count = end};
    struct history_record record = {.kind = HISTORY_SEEN};
    struct history_site site;
    bool good = true;

    history_look(&older, name, &site);
    if (site.first == 0 && site.last == 0)
        return true;
    snprintf(record.site, sizeof record.site, "%s", name);
    record.time = site.last;
    for (int fault = 0; fault < HISTORY_FAULT_COUNT && good; fault++) {
        const struct history_rate *rate = &site.rates[fault];

        record.kind = HISTORY_SEEN;
        record.fault = (enum history_fault)fault;
        record.events = rate->events;
        record.seconds = rate->seconds;
        record.count = rate->lives;
        if (rate->events > 0 || rate->seconds > 0)
            good = put_record(text, &record);
        good = good && put_cost(text, record, HISTORY_RESTORE, (enum history_fault)fault,
                                &site.restore[fault]);
    }
    record.kind = HISTORY_JOB;
    record.count = site.jobs;
    record.events = (double)site.hosts;
    return good && (site.jobs == 0 || put_record(text, &record)) &&
           put_cost(text, record, HISTORY_SNAPSHOT, HISTORY_HOST, &site.snapshot) &&
           put_cost(text, record, HISTORY_COMMIT, HISTORY_HOST, &site.commit) &&
           put_shares(text, &older, name, site.last);
}

/* The number of sites whose sums fit, most recent first. */
static size_t count_fitting_sums(const struct history *history, size_t end,
                                 const char *const *names, size_t count, size_t room)
{
    struct text text = {.data = malloc(room), .room = room};
    size_t fit = 0;

    while (text.data && fit < count && put_sum(&text, history, end, names[fit]))
        fit++;
    free(text.data);
    return fit;
}

char *history_compact(const struct history *history, size_t room, size_t *size)
{
    const char *names[HISTORY_SITES_MAX];
    struct text text = {.data = malloc(room), .room = room};
    char line[HISTORY_LINE_MAX];
    size_t first = history->count, bytes = HISTORY_LINE_MAX, count;

    if (!text.data)
        return NULL;
    put(&text, line, history_head(line));
    /* The newest half of the room is kept unchanged. */
    while (first > 0) {
        bytes += history_print(&history->records[first - 1], line);
        if (bytes > room / 2)
            break;
        first--;
    }
    count = history_sites(history, names, HISTORY_SITES_MAX);
    for (size_t i = count_fitting_sums(history, first, names, count, room / 2); i-- > 0;)
        put_sum(&text, history, first, names[i]);
    for (size_t i = first; i < history->count; i++)
        put_record(&text, &history->records[i]);
    *size = text.size;
    return text.data;
}
