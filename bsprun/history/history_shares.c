/* history_shares.c - what others left of hosts to earlier jobs; see history.h.  Pure. */
#include "bsprun/history/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"

static struct history_share *find(struct history_share *shares, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(shares[i].name, name) == 0)
            return &shares[i];
    return NULL;
}

/* From the newest to the oldest.  Seconds within one record are of one age. */
static void add(struct history_share *share, const struct history_record *record)
{
    double weight = exp2(-share->all_seconds / HISTORY_SHARE_HALF);
    double seconds = weight * fmin(record->seconds, HISTORY_SHARE_HALF);

    share->seconds += seconds;
    share->sum += seconds * record->share;
    share->squares += seconds * (record->share * record->share + record->spread * record->spread);
    share->all_seconds += record->seconds;
}

struct history_share *history_shares(const struct history *history, const char *site, size_t *count)
{
    struct history_share *shares = NULL;
    size_t found = 0;

    for (size_t i = history->count; i-- > 0;) {
        const struct history_record *record = &history->records[i];
        if (record->kind != HISTORY_SHARE || record->seconds <= 0 ||
            strcmp(record->site, site) != 0)
            continue;
        struct history_share *share = find(shares, found, record->name);
        if (!share) {
            if (!BSPZ_GROW(shares, found)) {
                free(shares);
                return NULL;
            }
            share = &shares[found++];
            *share = (struct history_share){0};
            memcpy(share->name, record->name, sizeof share->name);
        }
        add(share, record);
    }
    *count = found;
    return shares;
}

const struct history_share *history_share_of(const struct history_share *shares, size_t count,
                                             const char *host)
{
    char name[HISTORY_NAME_MAX + 1];

    history_name(name, host);
    for (size_t i = 0; i < count; i++)
        if (strcmp(shares[i].name, name) == 0)
            return &shares[i];
    return NULL;
}
