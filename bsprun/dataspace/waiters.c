/* waiters.c - replicas that wait for the same object; see copies_inside.h.
 *
 * All that wait of a process wait for the same request, as none of them has got past it.  In the
 * tags it is one request, as long as any of them waits.
 */
#include "bsprun/dataspace/copies_inside.h"

#include <stdlib.h>
#include <string.h>

struct waiter {
    struct waiter *next;
    struct part *part;
    struct asker asker;
    uint32_t tag_size;
    unsigned char tag[];
};

bool waiters_open(struct copies *copies)
{
    if (!copies->setup.replicated)
        return true;
    copies->waiters = calloc(copies->setup.nprocs, sizeof *copies->waiters);
    return copies->waiters != NULL;
}

void waiters_close(struct copies *copies)
{
    struct asker asker;

    for (uint32_t pid = 0; copies->waiters && pid < copies->setup.nprocs; pid++)
        while (waiters_take(copies, pid, &asker))
            ;
    free(copies->waiters);
}

bool waiters_add(struct part *part, const struct copies_request *request)
{
    struct waiter **first = &part->copies->waiters[request->asker.pid];
    struct waiter *waiter = malloc(sizeof *waiter + request->tag_size);

    if (!waiter)
        return false;
    *waiter = (struct waiter){
        .next = *first, .part = part, .asker = request->asker, .tag_size = request->tag_size};
    if (request->tag_size > 0)
        memcpy(waiter->tag, request->tag, request->tag_size);
    *first = waiter;
    return true;
}

bool waiters_take(struct copies *copies, uint32_t pid, struct asker *asker)
{
    struct waiter *waiter = copies->waiters[pid];

    if (!waiter)
        return false;
    *asker = waiter->asker;
    copies->waiters[pid] = waiter->next;
    free(waiter);
    return true;
}

const struct asker *waiters_of(const struct copies *copies, uint32_t pid, const struct part **part)
{
    const struct waiter *waiter = copies->waiters[pid];

    if (!waiter)
        return NULL;
    *part = waiter->part;
    return &waiter->asker;
}

bool waiters_withdraw(struct copies *copies, uint32_t pid, uint32_t host)
{
    struct waiter **at = &copies->waiters[pid], *waiter;

    while (*at && (*at)->asker.host != host)
        at = &(*at)->next;
    waiter = *at;
    if (!waiter)
        return false;
    *at = waiter->next;
    if (!copies->waiters[pid])
        tags_withdraw(waiter->part->now.tags, waiter->tag, waiter->tag_size, pid);
    free(waiter);
    return true;
}

void waiters_forget_host(struct copies *copies, uint32_t host)
{
    for (uint32_t pid = 0; pid < copies->setup.nprocs; pid++)
        while (waiters_withdraw(copies, pid, host))
            ;
}
