/* traffic.c - which processes send how much to which; see traffic.h. */
#include "coordinator/core/traffic.h"

#include <errno.h>
#include <stdlib.h>

int traffic_begin(struct traffic *traffic, size_t most)
{
    *traffic = (struct traffic){.pairs = calloc(most, sizeof(*traffic->pairs)),
                                .seen = calloc(most, sizeof(*traffic->seen)),
                                .merged = calloc(most, sizeof(*traffic->merged)),
                                .most = most};
    if (traffic->pairs && traffic->seen && traffic->merged)
        return 0;
    traffic_end(traffic);
    return -ENOMEM;
}

void traffic_end(struct traffic *traffic)
{
    free(traffic->pairs);
    free(traffic->seen);
    free(traffic->merged);
    *traffic = (struct traffic){.count = 0};
}

void traffic_see(struct traffic *traffic, uint32_t from, uint32_t to, double bytes)
{
    if (traffic->seen_count < traffic->most && from != to)
        traffic->seen[traffic->seen_count++] = (struct balance_traffic){from, to, bytes};
}

void traffic_drop(struct traffic *traffic)
{
    traffic->seen_count = 0;
}

static int compare(const void *one, const void *other)
{
    const struct balance_traffic *a = one, *b = other;

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

/* Adds up what was seen of the same pair. */
static void sort_seen(struct traffic *traffic)
{
    size_t kept = 0;

    qsort(traffic->seen, traffic->seen_count, sizeof(*traffic->seen), compare);
    for (size_t i = 0; i < traffic->seen_count; i++) {
        if (kept > 0 && compare(&traffic->seen[kept - 1], &traffic->seen[i]) == 0)
            traffic->seen[kept - 1].bytes += traffic->seen[i].bytes;
        else
            traffic->seen[kept++] = traffic->seen[i];
    }
    traffic->seen_count = kept;
}

void traffic_look(struct traffic *traffic)
{
    struct balance_traffic *old = traffic->pairs;
    size_t i = 0, k = 0, count = 0;

    sort_seen(traffic);
    if (traffic->looks < TRAFFIC_LOOKS)
        traffic->looks++;
    while ((i < traffic->count || k < traffic->seen_count) && count < traffic->most) {
        int order = i == traffic->count        ? 1
                    : k == traffic->seen_count ? -1
                                               : compare(&old[i], &traffic->seen[k]);
        struct balance_traffic pair = order <= 0 ? old[i] : traffic->seen[k];
        double before = order <= 0 ? old[i].bytes : 0;
        double now = order >= 0 ? traffic->seen[k].bytes : 0;

        i += order <= 0;
        k += order >= 0;
        pair.bytes = before + (now - before) / traffic->looks;
        if (pair.bytes >= 1)
            traffic->merged[count++] = pair;
    }
    traffic->pairs = traffic->merged;
    traffic->merged = old;
    traffic->count = count;
    traffic->seen_count = 0;
}
