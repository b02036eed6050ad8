/* placement.c - see placement.h. */
#include "coordinator/core/placement.h"

#include <stdlib.h>

bool placement_is_open(const struct placement *placement, const struct placement_host *host)
{
    return !host->drained || placement->all_drained;
}

/* ---- At first ---- */

static uint32_t slots_of(const struct placement *placement, const struct placement_host *host)
{
    return placement_is_open(placement, host) ? host->slots : 0;
}

static uint64_t total_slots(const struct placement *placement)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < placement->host_count; i++)
        total += slots_of(placement, &placement->hosts[i]);
    return total;
}

/* The k-th host in placement order: `first`, then the others. */
static struct placement_host *in_order(struct placement *placement, uint32_t first, uint32_t k)
{
    if (k == 0)
        return &placement->hosts[first];
    return &placement->hosts[k <= first ? k - 1 : k];
}

/* Computes how many processes each host gets: hosts are filled in order, or get one more each in
 * turn (by_node); processes beyond the number of slots are spread in proportion to them. */
static void count_out(struct placement *placement, uint32_t first)
{
    uint64_t total = total_slots(placement);
    uint32_t processes = placement->processes;
    uint64_t left = processes;

    for (uint32_t k = 0; k < placement->host_count; k++) {
        struct placement_host *host = in_order(placement, first, k);
        uint32_t slots = slots_of(placement, host);
        if (processes > total)
            host->count = (uint32_t)((uint64_t)processes * slots / total);
        else if (placement->by_node)
            host->count = 0;
        else
            host->count = left < slots ? (uint32_t)left : slots;
        left -= host->count;
    }
    /* One round for each process of the fullest host; the remainder of a division is less than a
     * round. */
    while (left > 0)
        for (uint32_t k = 0; k < placement->host_count && left > 0; k++) {
            struct placement_host *host = in_order(placement, first, k);
            uint32_t slots = slots_of(placement, host);
            if (host->count < slots || (processes > total && slots > 0)) {
                host->count++;
                left--;
            }
        }
}

/* Assigns the processes in order, host by host or in turn. */
static void deal_out(struct placement *placement, uint32_t first)
{
    uint32_t pid = 0;
    for (uint32_t k = 0; k < placement->host_count; k++) {
        placement->hosts[k].quota = placement->hosts[k].count;
        placement->hosts[k].first = 0;
    }
    while (pid < placement->processes)
        for (uint32_t k = 0; k < placement->host_count; k++) {
            struct placement_host *host = in_order(placement, first, k);
            uint32_t share = placement->by_node && host->quota > 0 ? 1 : host->quota;
            if (host->count > 0 && host->quota == host->count)
                host->first = pid;
            host->quota -= share;
            for (; share > 0; share--)
                placement->home[pid++] = (uint16_t)(host - placement->hosts);
        }
}

void placement_begin(struct placement *placement, uint32_t first)
{
    count_out(placement, first);
    deal_out(placement, first);
    placement->nowhere = PLACEMENT_NOBODY;
}

/* ---- From a snapshot: where they are to be ---- */

static bool is_taken_apart(const struct placement *placement)
{
    for (uint32_t pid = 0; pid < placement->processes; pid++)
        if (placement->home[pid] != placement->home[placement->together[pid]])
            return true;
    return false;
}

/* With their copies, or as at first if there are none, or all are placed anew. */
static void note_stays(struct placement *placement)
{
    uint32_t staying = 0;
    for (uint32_t pid = 0; pid < placement->processes; pid++) {
        uint16_t on = placement->copy_on[pid];
        bool stays = on > 0 && placement_is_open(placement, &placement->hosts[on - 1]);
        placement->wanted[pid] = stays ? on : 0;
        staying += stays;
    }
    if (staying > 0 && !placement->anew)
        return;
    placement_begin(placement, 0);
    if (is_taken_apart(placement))
        return;
    for (uint32_t pid = 0; pid < placement->processes; pid++)
        placement->wanted[pid] = (uint16_t)(placement->home[pid] + 1);
}

#define EACH_OF(placement, group, pid)                                                             \
    for (uint32_t pid = (group)->lowest; pid != PLACEMENT_NOBODY; pid = (placement)->next[pid])

/* A group is where the copies of its lowest process with a copy are; the last of the moves counts.
 */
static void agree(struct placement *placement, const struct placement_group *group)
{
    uint16_t to = 0, move = 0;

    EACH_OF(placement, group, pid)
    {
        uint16_t moves_to = placement->moves_to[pid];
        if (moves_to > 0 && placement_is_open(placement, &placement->hosts[moves_to - 1]))
            move = moves_to;
        if (to == 0)
            to = placement->wanted[pid];
    }
    EACH_OF(placement, group, pid)
    placement->wanted[pid] = move > 0 ? move : to;
}

/* The host with the copies of all of the group, plus 1; 0: there is none. */
static uint16_t all_copies_on(const struct placement *placement,
                              const struct placement_group *group)
{
    uint16_t on = placement->copy_on[group->lowest];

    EACH_OF(placement, group, pid)
    if (placement->copy_on[pid] != on)
        return 0;
    return on;
}

static uint32_t lowest_of(const struct placement *placement, uint32_t pid)
{
    while (placement->together[pid] != pid)
        pid = placement->together[pid];
    return pid;
}

/* Lists the groups by their lowest process, and the processes of each. */
static void list_groups(struct placement *placement)
{
    placement->group_count = 0;
    for (uint32_t pid = placement->processes; pid-- > 0;)
        placement->next[pid] = PLACEMENT_NOBODY;
    /* Downwards: each enters behind the lowest, before those above it. */
    for (uint32_t pid = placement->processes; pid-- > 0;) {
        uint32_t lowest = lowest_of(placement, pid);
        if (lowest == pid)
            continue;
        placement->next[pid] = placement->next[lowest];
        placement->next[lowest] = pid;
    }
    for (uint32_t pid = 0; pid < placement->processes; pid++)
        if (placement->together[pid] == pid)
            placement->groups[placement->group_count++] = (struct placement_group){.lowest = pid};
    for (uint32_t i = 0; i < placement->group_count; i++) {
        struct placement_group *group = &placement->groups[i];
        EACH_OF(placement, group, pid)
        group->need += placement->needs[pid];
        group->lost = all_copies_on(placement, group) == 0;
        agree(placement, group);
    }
}

/* ---- From a snapshot: where they fit ---- */

/* What the group needs on the host beyond the copies there. */
static uint64_t need_on(const struct placement *placement, const struct placement_group *group,
                        uint32_t host)
{
    uint64_t need = 0;
    EACH_OF(placement, group, pid)
    if (placement->copy_on[pid] != host + 1)
        need += placement->needs[pid];
    return need;
}

static bool fits(const struct placement *placement, const struct placement_group *group,
                 uint32_t host)
{
    uint64_t need = need_on(placement, group, host);
    return need == 0 || placement->hosts[host].free == PLACEMENT_UNKNOWN ||
           need <= placement->hosts[host].free;
}

static void put(struct placement *placement, struct placement_group *group, uint32_t index)
{
    struct placement_host *host = &placement->hosts[index];
    if (host->free != PLACEMENT_UNKNOWN)
        host->free -= need_on(placement, group, index);
    EACH_OF(placement, group, pid)
    {
        placement->home[pid] = (uint16_t)index;
        host->count++;
    }
    group->placed = true;
}

static bool is_less_loaded(const struct placement_host *host, const struct placement_host *than,
                           uint32_t more)
{
    uint64_t load = UINT64_C(100) * (host->count + more) + host->busy,
             other = UINT64_C(100) * (than->count + more) + than->busy;
    return load * than->slots * than->speed < other * host->slots * host->speed;
}

/* Which of two hosts a group goes to. */
typedef bool is_better(const struct placement_host *host, const struct placement_host *than,
                       uint32_t more);

/* The one with less left over, so that a larger group fits elsewhere. */
static bool is_narrower(const struct placement_host *host, const struct placement_host *than,
                        uint32_t more)
{
    return host->free != than->free ? host->free < than->free : is_less_loaded(host, than, more);
}

/* Puts the group on the best of the open hosts, or of the drained ones.  False: on none of them it
 * fits. */
static bool put_on_best(struct placement *placement, struct placement_group *group, bool open,
                        is_better *better)
{
    uint32_t best = PLACEMENT_NOBODY, more = 0;

    EACH_OF(placement, group, pid)
    more++;
    for (uint32_t i = 0; i < placement->host_count; i++) {
        const struct placement_host *host = &placement->hosts[i];
        if (placement_is_open(placement, host) == open && fits(placement, group, i) &&
            (best == PLACEMENT_NOBODY || better(host, &placement->hosts[best], more)))
            best = i;
    }
    if (best == PLACEMENT_NOBODY)
        return false;
    put(placement, group, best);
    return true;
}

static void forget_places(struct placement *placement)
{
    for (uint32_t i = 0; i < placement->host_count; i++) {
        struct placement_host *host = &placement->hosts[i];
        host->count = host->first = 0;
        host->free = host->left;
    }
    for (uint32_t i = 0; i < placement->group_count; i++)
        placement->groups[i].placed = false;
    placement->nowhere = PLACEMENT_NOBODY;
}

/* Those whose copies are where they are to be. */
static void put_unmoved(struct placement *placement)
{
    for (uint32_t i = 0; i < placement->group_count; i++) {
        struct placement_group *group = &placement->groups[i];
        uint16_t wanted = placement->wanted[group->lowest];
        if (wanted > 0 && all_copies_on(placement, group) == wanted)
            put(placement, group, wanted - 1u);
    }
}

/* Where it is to be, or, if it does not fit there, where its copies are if that host is open.
 * False: neither. */
static bool put_as_wanted(struct placement *placement, struct placement_group *group)
{
    uint16_t wanted = placement->wanted[group->lowest], on = all_copies_on(placement, group);

    if (wanted > 0 && fits(placement, group, wanted - 1u))
        put(placement, group, wanted - 1u);
    else if (wanted > 0 && on > 0 && placement_is_open(placement, &placement->hosts[on - 1]))
        put(placement, group, on - 1u);
    return group->placed;
}

static bool put_back(struct placement *placement, struct placement_group *group)
{
    if (group->lost)
        return false;
    put(placement, group, all_copies_on(placement, group) - 1u);
    return true;
}

/* In the order of processes, each to the least loaded host. */
static bool place_evenly(struct placement *placement)
{
    forget_places(placement);
    put_unmoved(placement);
    for (uint32_t i = 0; i < placement->group_count; i++)
        if (!placement->groups[i].placed)
            put_as_wanted(placement, &placement->groups[i]);
    for (uint32_t i = 0; i < placement->group_count; i++) {
        struct placement_group *group = &placement->groups[i];
        if (!group->placed && !put_on_best(placement, group, true, is_less_loaded) &&
            !put_back(placement, group))
            return false;
    }
    return true;
}

/* Those that cannot stay come first, then the largest. */
static int by_need(const void *left, const void *right)
{
    const struct placement_group *a = left, *b = right;
    if (a->lost != b->lost)
        return b->lost - a->lost;
    if (a->need != b->need)
        return a->need < b->need ? 1 : -1;
    return (a->lowest > b->lowest) - (a->lowest < b->lowest);
}

/* The largest first, each where least is left over. */
static bool place_tightly(struct placement *placement)
{
    forget_places(placement);
    put_unmoved(placement);
    qsort(placement->groups, placement->group_count, sizeof(*placement->groups), by_need);
    for (uint32_t i = 0; i < placement->group_count; i++) {
        struct placement_group *group = &placement->groups[i];
        if (group->placed || put_as_wanted(placement, group) ||
            put_on_best(placement, group, true, is_narrower) || put_back(placement, group) ||
            put_on_best(placement, group, false, is_narrower))
            continue;
        placement->nowhere = group->lowest;
        return false;
    }
    return true;
}

static int by_pid(const void *left, const void *right)
{
    const struct placement_group *a = left, *b = right;
    return (a->lowest > b->lowest) - (a->lowest < b->lowest);
}

bool placement_missed(const struct placement *placement, uint32_t pid)
{
    uint16_t wanted = placement->wanted[pid];

    if (wanted > 0 && (placement->anew || placement->moves_to[pid] > 0))
        return placement->home[pid] + 1u != wanted;
    return !placement_is_open(placement, &placement->hosts[placement->home[pid]]);
}

static uint32_t count_missed(const struct placement *placement)
{
    uint32_t missed = 0;
    for (uint32_t pid = 0; pid < placement->processes; pid++)
        missed += placement_missed(placement, pid);
    return missed;
}

static void note_first(struct placement *placement)
{
    for (uint32_t pid = placement->processes; pid-- > 0;)
        placement->hosts[placement->home[pid]].first = pid;
}

bool placement_again(struct placement *placement)
{
    note_stays(placement);
    list_groups(placement);
    bool even = place_evenly(placement);
    uint32_t missed = even ? count_missed(placement) : 0;

    if (!even || missed > 0) {
        bool tight = place_tightly(placement);
        if (!even && !tight)
            return false;
        if (even && (!tight || count_missed(placement) >= missed)) {
            qsort(placement->groups, placement->group_count, sizeof(*placement->groups), by_pid);
            place_evenly(placement);
        }
    }
    note_first(placement);
    return true;
}
