/* replica_turn.c - which of the homes of a process sends a large content to a host, where they make
 * it at about the same time; see replica_set.h.
 *
 * Each host begins with another one of the homes, so that all of them send about the same.  A home
 * that is lost has no turn, nor has one that has not made the content of the superstep before: it
 * trails, and nobody waits for it. */
#include "bsprun/link/replica_inside.h"

#define PAUSE_MOST 63u

/* The slot of the home whose turn it is to send that content; our own, at last. */
static unsigned whose_turn(const struct replica_set *set, const struct replica_turn *turn,
                           const struct replica_copy *copy)
{
    const struct replica_pid *pid = &set->pids[copy->pid];
    unsigned slot = turn->place % pid->count;

    while (pid->homes[slot] != set->own && (set->others[pid->homes[slot]].lost ||
                                            pid->ledger.come[slot] + REPLICA_STAGES < copy->key))
        slot = (slot + 1) % pid->count;
    return slot;
}

/* Of the contents of the same key, which are next to each other. */
static uint64_t bytes_from(const struct replica_copy *copy)
{
    uint64_t key = copy->key, bytes = 0;

    for (; copy && copy->key == key; copy = copy->next)
        bytes += copy->kept.size;
    return bytes;
}

bool replica_turn_waits(struct replica_set *set, uint32_t home, const struct replica_copy *copy,
                        struct replica_wait *wait)
{
    const struct replica_pid *pid = &set->pids[copy->pid];
    struct replica_turn *turn = &set->others[home].turn;
    unsigned slot;

    if (!copy->large || copy->differs || copy->key <= turn->released)
        return false;
    slot = whose_turn(set, turn, copy);
    if (pid->homes[slot] == set->own)
        return false;
    turn->held = copy->key;
    *wait = (struct replica_wait){
        .key = copy->key, .bytes = bytes_from(copy), .made = pid->ledger.come[slot] >= copy->key};
    return true;
}

void replica_turn_spared(struct replica_turn *turn, uint64_t key)
{
    if (key == turn->held)
        turn->pause = 0;
}

void replica_set_release(struct replica_set *set, uint32_t home)
{
    struct replica_turn *turn = &set->others[home].turn;

    turn->released = turn->held + (uint64_t)turn->pause * REPLICA_STAGES;
    turn->pause = turn->pause < PAUSE_MOST ? 2 * turn->pause + 1 : PAUSE_MOST;
}
