/* replica_turn.c - which of the homes of a process sends a large content to a host, where they make
 * it at about the same time; see replica_set.h.
 *
 * Each host begins with another one of the homes, so that all of them send about the same.  A home
 * that is lost has no turn, nor has one that has not made the content of the superstep before: it
 * trails, and nobody waits for it.
 *
 * The same with small contents of two homes, as long as both make them at the same time: each host
 * gets every content once, and only a part of what all would send.  That it has it is not said for
 * each content, as that would be as many messages as are saved: who makes a content has got all of
 * the superstep before, and a home that hears it of its twin says it with its own contents. */
#include "bsprun/link/replica_inside.h"

#define PAUSE_MOST 63u

/* A small content is late when another host would have gone on without it: who sends it has to be
 * even with this host, too. */
static bool keeps_up(const struct replica_set *set, const struct replica_pid *pid, unsigned slot,
                     const struct replica_copy *copy)
{
    const struct replica_other *other = &set->others[pid->homes[slot]];

    if (other->lost)
        return false;
    if (copy->large)
        return pid->ledger.come[slot] + REPLICA_STAGES >= copy->key;
    return other->even && pid->ledger.come[slot] + UINT64_C(2) * REPLICA_STAGES >= pid->last;
}

/* The slot of the home whose turn it is to send that content; our own, at last. */
static unsigned whose_turn(const struct replica_set *set, const struct replica_turn *turn,
                           const struct replica_copy *copy)
{
    const struct replica_pid *pid = &set->pids[copy->pid];
    unsigned slot = turn->place % pid->count;

    while (pid->homes[slot] != set->own && !keeps_up(set, pid, slot, copy))
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

bool replica_turn_holds(const struct replica_set *set, uint32_t home,
                        const struct replica_copy *copy)
{
    const struct replica_pid *pid = &set->pids[copy->pid];
    const struct replica_turn *turn = &set->others[home].turn;

    return (copy->large || replica_turns_small(set, pid)) && !copy->differs &&
           copy->key > turn->released && pid->homes[whose_turn(set, turn, copy)] != set->own;
}

bool replica_turn_waits(struct replica_set *set, uint32_t home, const struct replica_copy *copy,
                        struct replica_wait *wait)
{
    const struct replica_pid *pid = &set->pids[copy->pid];
    struct replica_turn *turn = &set->others[home].turn;

    if (!replica_turn_holds(set, home, copy))
        return false;
    turn->held = copy->key;
    *wait =
        (struct replica_wait){.key = copy->key,
                              .bytes = bytes_from(copy),
                              .made = pid->ledger.come[whose_turn(set, turn, copy)] >= copy->key,
                              .small = !copy->large};
    return true;
}

void replica_set_even(struct replica_set *set, uint32_t home, bool even)
{
    set->others[home].even = even;
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
