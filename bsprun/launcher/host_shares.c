/* host_shares.c - the availability of hosts, of earlier jobs and of this one; see host_shares.h. */
#include "bsprun/launcher/host_shares.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define TOLD_LEAST 1.0 /* seconds that are worth a line */

int host_shares_open(struct host_shares *shares, uint32_t room)
{
    *shares = (struct host_shares){.room = room,
                                   .hosts = calloc(room, sizeof *shares->hosts),
                                   .list = calloc(room, sizeof *shares->list)};
    return shares->hosts && shares->list ? 0 : -ENOMEM;
}

void host_shares_know(struct host_shares *shares, struct history_share *earlier, size_t count)
{
    shares->earlier = earlier;
    shares->earlier_count = count;
}

void host_shares_free(struct host_shares *shares)
{
    free(shares->earlier);
    free(shares->hosts);
    free(shares->list);
}

struct wire_share_list host_shares_elect(struct host_shares *shares,
                                         const struct wire_host_list *hosts)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < hosts->count && count < shares->room; i++) {
        const struct history_share *earlier =
            history_share_of(shares->earlier, shares->earlier_count, hosts->items[i].name);
        if (earlier)
            shares->list[count++] = (struct wire_share){hosts->items[i].host, earlier->seconds,
                                                        earlier->sum, earlier->squares};
    }
    return (struct wire_share_list){shares->list, count};
}

static void add_up(struct share_sums *sums, const struct share_sums *more)
{
    sums->seconds += more->seconds;
    sums->sum += more->sum;
    sums->squares += more->squares;
}

void host_shares_take(struct host_shares *shares, uint32_t term, const struct wire_share_list *list)
{
    if (term != shares->term)
        for (uint32_t i = 0; i < shares->room; i++) {
            add_up(&shares->hosts[i].done, &shares->hosts[i].now);
            shares->hosts[i].now = (struct share_sums){0};
        }
    shares->term = term;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct wire_share *share = &list->items[i];
        struct share_sums sums = {share->seconds, share->sum, share->squares};

        if (share->host < shares->room && share_is_known(&sums))
            shares->hosts[share->host].now = sums;
    }
}

struct share_sums host_shares_now(const struct host_shares *shares, uint32_t host)
{
    struct share_sums all = {0};

    if (host < shares->room && shares->hosts) {
        all = shares->hosts[host].done;
        add_up(&all, &shares->hosts[host].now);
    }
    return all;
}

bool host_shares_tell(struct host_shares *shares, uint32_t host, struct history_record *record)
{
    struct one_host_shares *own = &shares->hosts[host];
    struct share_sums all = host_shares_now(shares, host);
    double seconds = all.seconds - own->told.seconds;
    if (!(seconds >= TOLD_LEAST))
        return false;
    double mean = (all.sum - own->told.sum) / seconds;
    double variance = (all.squares - own->told.squares) / seconds - mean * mean;
    record->kind = HISTORY_SHARE;
    record->seconds = seconds;
    record->share = mean;
    record->spread = sqrt(fmax(variance, 0));
    own->told = all;
    return true;
}
