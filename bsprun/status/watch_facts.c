/* watch_facts.c - see watch_facts.h. */
#include "bsprun/status/watch_facts.h"

#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Values: those of another type, or missing, are as if they were not known ---- */

static struct json_object *member(struct json_object *object, const char *name, enum json_type type)
{
    struct json_object *value;

    return json_object_is_type(object, json_type_object) &&
                   json_object_object_get_ex(object, name, &value) &&
                   json_object_is_type(value, type)
               ? value
               : NULL;
}

static const char *text_of(struct json_object *object, const char *name)
{
    struct json_object *value = member(object, name, json_type_string);

    return value ? json_object_get_string(value) : "";
}

static uint64_t number_of(struct json_object *object, const char *name)
{
    struct json_object *value = member(object, name, json_type_int);

    return value ? json_object_get_uint64(value) : 0; /* a negative number becomes 0 */
}

static uint32_t small_of(struct json_object *object, const char *name)
{
    uint64_t value = number_of(object, name);

    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static double real_of(struct json_object *object, const char *name)
{
    struct json_object *value;

    if (!json_object_is_type(object, json_type_object) ||
        !json_object_object_get_ex(object, name, &value) ||
        !(json_object_is_type(value, json_type_double) ||
          json_object_is_type(value, json_type_int)))
        return -1;
    double number = json_object_get_double(value);
    return isfinite(number) ? number : -1;
}

/* ---- Lists ---- */

static bool read_hosts(struct watch_facts *facts, struct json_object *list)
{
    size_t count = list ? json_object_array_length(list) : 0;

    facts->hosts = calloc(count + 1, sizeof *facts->hosts);
    if (!facts->hosts)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct json_object *host = json_object_array_get_idx(list, i);

        facts->hosts[i] = (struct watch_host){text_of(host, "name"), text_of(host, "state")};
    }
    facts->host_count = count;
    return true;
}

static double seconds_of(struct json_object *rank, const char *name)
{
    double seconds = real_of(rank, name);

    return seconds > 0 ? seconds : 0;
}

static int by_pid(const void *a, const void *b)
{
    const struct watch_rank *left = a, *right = b;

    return (left->pid > right->pid) - (left->pid < right->pid);
}

static bool read_ranks(struct watch_facts *facts, struct json_object *list)
{
    size_t count = list ? json_object_array_length(list) : 0;

    facts->ranks = calloc(count + 1, sizeof *facts->ranks);
    if (!facts->ranks)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct json_object *rank = json_object_array_get_idx(list, i);

        facts->ranks[i] = (struct watch_rank){.pid = small_of(rank, "pid"),
                                              .os_pid = small_of(rank, "os_pid"),
                                              .superstep = number_of(rank, "superstep"),
                                              .memory = number_of(rank, "memory"),
                                              .seconds = {seconds_of(rank, "computing"),
                                                          seconds_of(rank, "communicating"),
                                                          seconds_of(rank, "waiting")},
                                              .host = text_of(rank, "host"),
                                              .state = text_of(rank, "state")};
    }
    facts->rank_count = count;
    qsort(facts->ranks, count, sizeof *facts->ranks, by_pid);
    return true;
}

/* ---- The status ---- */

static void read_snapshots(struct watch_facts *facts, struct json_object *root)
{
    struct json_object *snapshot = member(root, "snapshot", json_type_object);
    struct json_object *learned = member(root, "failures", json_type_object);
    struct json_object *cost = member(learned, "snapshot", json_type_object);
    struct json_object *known = member(learned, "known", json_type_boolean);
    struct json_object *model = member(learned, "model", json_type_object);

    facts->has_snapshot = snapshot;
    facts->snapshot_superstep = number_of(snapshot, "superstep");
    facts->snapshot_count = number_of(snapshot, "taken");
    facts->snapshot_age = real_of(snapshot, "age");
    facts->snapshot_cost = real_of(cost, "seconds");
    facts->failure_rate = known && json_object_get_boolean(known) ? real_of(model, "rate") : -1;
    facts->interval = real_of(learned, "interval");
    facts->why = text_of(learned, "why");
}

static bool read_all(struct watch_facts *facts, struct json_object *root)
{
    facts->pid = (int)(small_of(root, "pid") & INT32_MAX);
    facts->program = text_of(root, "program");
    facts->processes = small_of(root, "processes");
    facts->restarts = small_of(root, "restarts");
    facts->restarted_alone = small_of(root, "restarted_alone");
    facts->seconds = real_of(root, "seconds");
    facts->rate = real_of(root, "rate");
    facts->superstep = number_of(root, "superstep");
    read_snapshots(facts, root);
    return facts->pid > 0 && read_hosts(facts, member(root, "hosts", json_type_array)) &&
           read_ranks(facts, member(root, "ranks", json_type_array));
}

struct watch_facts *watch_facts_read(const char *text)
{
    struct json_object *root = json_tokener_parse(text);
    struct watch_facts *facts = calloc(1, sizeof *facts);

    if (facts)
        facts->owner = root;
    else
        json_object_put(root);
    if (facts && read_all(facts, root))
        return facts;
    watch_facts_free(facts);
    return NULL;
}

void watch_facts_free(struct watch_facts *facts)
{
    if (!facts)
        return;
    json_object_put(facts->owner);
    free(facts->hosts);
    free(facts->ranks);
    free(facts);
}

/* ---- Shares ---- */

static void share_out(struct watch_rank *rank, const double seconds[WATCH_ACTIVITIES])
{
    double sum = 0;

    for (unsigned i = 0; i < WATCH_ACTIVITIES; i++)
        sum += seconds[i];
    for (unsigned i = 0; i < WATCH_ACTIVITIES; i++)
        rank->shares[i] = sum > 0 ? seconds[i] / sum : 0;
}

static void compare(struct watch_rank *rank, const struct watch_rank *before)
{
    double passed[WATCH_ACTIVITIES];
    bool grows = false;

    for (unsigned i = 0; i < WATCH_ACTIVITIES; i++) {
        passed[i] = rank->seconds[i] - (before ? before->seconds[i] : 0);
        grows = grows || passed[i] > 0;
    }
    for (unsigned i = 0; i < WATCH_ACTIVITIES; i++)
        grows = grows && passed[i] >= 0;
    share_out(rank, grows ? passed : rank->seconds);
}

/* From there on; replicas of a process are told by their hosts. */
static const struct watch_rank *find_same(const struct watch_facts *before, size_t at,
                                          const struct watch_rank *rank)
{
    const struct watch_rank *first = NULL;

    for (; before && at < before->rank_count && before->ranks[at].pid == rank->pid; at++) {
        if (strcmp(before->ranks[at].host, rank->host) == 0)
            return &before->ranks[at];
        first = first ? first : &before->ranks[at]; /* it may have moved */
    }
    return first;
}

void watch_facts_compare(struct watch_facts *facts, const struct watch_facts *before)
{
    size_t at = 0, count = before ? before->rank_count : 0;

    for (size_t i = 0; i < facts->rank_count; i++) {
        struct watch_rank *rank = &facts->ranks[i];

        while (at < count && before->ranks[at].pid < rank->pid)
            at++;
        compare(rank, find_same(before, at, rank));
    }
}
