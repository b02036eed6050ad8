/* replica_set.c - the beginning and end of a set of replicas, and of their hosts; see
 * replica_set.h. */
#include "bsprun/link/replica_set.h"

#include <errno.h>
#include <stdlib.h>

#include "bsprun/link/replica_inside.h"

#define TOLD_LEAST   (UINT64_C(1) << 20)
#define MADE_OF_EACH 64u /* contents of each process here, for as long as replicas trail */

static int settle_in(struct replica_set *set, const struct replica_setup *setup)
{
    for (uint32_t home = 0; home < setup->home_count; home++) {
        for (uint32_t i = 0; i < setup->homes[home].count; i++) {
            uint32_t number = setup->homes[home].pids[i];
            struct replica_pid *pid = number < set->nprocs ? &set->pids[number] : NULL;

            if (!pid || pid->count == REPLICA_MOST || replica_slot(pid, home) < REPLICA_MOST)
                return -EINVAL;
            if (i == 0)
                set->others[home].turn.place = pid->count;
            pid->homes[pid->count++] = home;
            pid->here |= home == set->own;
        }
        if (home == set->own)
            continue;
        set->others[home].have = calloc(set->nprocs, sizeof *set->others[home].have);
        if (!set->others[home].have)
            return -ENOMEM;
    }
    for (uint32_t pid = 0; pid < set->nprocs; pid++)
        if (set->pids[pid].count == 0)
            return -EINVAL;
    return 0;
}

static int begin_rings(struct replica_set *set, const struct replica_setup *setup)
{
    unsigned made = setup->homes[set->own].count * MADE_OF_EACH;
    int error = replica_ring_begin(&set->recent, REPLICA_RECENT, setup->log_bytes / 8);

    if (!error)
        error = replica_ring_begin(&set->made, made > REPLICA_MADE ? made : REPLICA_MADE,
                                   setup->log_bytes / 8);
    if (!error)
        error = replica_ring_begin(&set->aside, REPLICA_ASIDE, setup->log_bytes / 8);
    return error;
}

struct replica_set *replica_set_new(const struct replica_setup *setup,
                                    const struct replica_calls *calls, void *context, int *error)
{
    struct replica_set *set = calloc(1, sizeof *set);

    *error = -ENOMEM;
    if (!set)
        return NULL;
    set->nprocs = setup->nprocs;
    set->home_count = setup->home_count;
    set->own = setup->own;
    set->agree = setup->agree > 0 ? setup->agree : 1;
    set->majority = setup->majority;
    set->turn_bytes = setup->turn_bytes;
    set->calls = *calls;
    set->context = context;
    set->tail = &set->first;
    replica_store_begin(&set->copies, setup->log_bytes / 2, setup->spill_bytes / 2);
    replica_store_begin(&set->log, setup->log_bytes / 2, setup->spill_bytes / 2);
    set->early_most = setup->log_bytes / 2 > TOLD_LEAST ? setup->log_bytes / 2 : TOLD_LEAST;
    set->told_most = setup->log_bytes / 4 > TOLD_LEAST ? setup->log_bytes / 4 : TOLD_LEAST;
    set->pids = calloc(set->nprocs, sizeof *set->pids);
    set->others = calloc(set->home_count, sizeof *set->others);
    set->waits = calloc(set->nprocs, sizeof *set->waits);
    if (set->pids && set->others && set->waits)
        *error = settle_in(set, setup);
    if (!*error)
        *error = begin_rings(set, setup);
    if (!*error)
        *error = replica_said_begin(set);
    if (!*error)
        replica_early_begin(set);
    if (*error) {
        replica_set_free(set);
        return NULL;
    }
    return set;
}

void replica_set_free(struct replica_set *set)
{
    if (!set)
        return;
    if (set->pids)
        replica_in_free(set);
    for (uint32_t home = 0; set->others && home < set->home_count; home++)
        replica_early_drop(set, home);
    if (set->others)
        replica_out_free(set);
    for (uint32_t pid = 0; set->pids && pid < set->nprocs; pid++)
        replica_ledger_free(&set->pids[pid].ledger);
    replica_store_end(&set->copies);
    replica_store_end(&set->log);
    replica_ring_end(&set->recent);
    replica_ring_end(&set->made);
    replica_ring_end(&set->aside);
    free(set->pids);
    free(set->waits);
    free(set->others);
    free(set);
}

static void lose_home(struct replica_set *set, uint32_t home)
{
    if (home == set->own)
        return;
    set->others[home].lost = true;
    replica_said_look(set);
    replica_out_tell_lost(set, home);
    replica_early_drop(set, home);
    replica_out_drop(set, home);
    for (uint32_t pid = 0; pid < set->nprocs; pid++) {
        if (!replica_set_is_home(set, home, pid))
            continue;
        if (!set->pids[pid].here)
            replica_apply_ready(set, pid);
        replica_judge_again(set, pid);
        replica_settle(set, &set->pids[pid]);
    }
    if (set->majority && !set->unsure)
        replica_apply_all(set);
}

void replica_set_lost(struct replica_set *set, uint32_t home)
{
    lose_home(set, home);
    replica_check(set);
}

struct replica_held replica_set_held(const struct replica_set *set)
{
    return (struct replica_held){.copies = set->copies.memory + set->copies.file,
                                 .logged = set->log.memory + set->log.file,
                                 .told = set->told};
}
