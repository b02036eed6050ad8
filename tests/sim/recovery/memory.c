/* memory.c - memory of the made-up world: in some worlds hosts have room for so many processes, and
 * no more may be restored there than fit.
 *
 * A host has room for further processes beside the frozen copies that it keeps, whose originals
 * come with them. */
#include "tests/sim/recovery/made_up.h"

#include <string.h>

#define LARGEST 5u

bool memory_is_limited(const struct world *world)
{
    uint64_t seed = world->time.job.seed, kind = seed % 9;
    return (!cells_any(world) || seed % 2 == 1) &&
           (kind == 3 || kind == 8); /* none of the fixed seeds */
}

uint64_t memory_need(const struct world *world, uint32_t pid)
{
    if (!memory_is_limited(world))
        return 0;
    return 1 + (world->time.job.seed / 9 + 7 * pid) % LARGEST;
}

uint64_t memory_left(const struct world *world, uint32_t host)
{
    const struct agent *agent = &world->agents[host];
    uint64_t seed = world->time.job.seed / 9 + 31 * host;
    uint64_t left = 2 + seed * 2654435761u / 4096 % (seed % 3 == 0 ? 4 * RANKS : 12);

    if (!memory_is_limited(world) || seed % 7 == 0)
        return WIRE_NEVER; /* unknown */
    for (uint32_t pid = 0; pid < world->processes; pid++)
        for (unsigned slot = 0; slot < 2; slot++)
            if (agent->ranks[pid].copy[slot].term > 0) {
                uint64_t need = memory_need(world, pid);
                left -= need < left ? need : left;
            }
    return left;
}

void memory_missed(struct zero *zero, const struct wire_chosen *chosen)
{
    struct world *world = zero->world;
    bool fewer = cells_any(world) && chosen->text && chosen->text[0]; /* replicas */

    if (fewer && !memory_is_limited(world))
        fail(world, "there are fewer replicas, but enough memory: %s", chosen->text);
    world->fewer += fewer;
    if (chosen->missed.count > 0 && !memory_is_limited(world))
        fail(world, "process %u is not moved for lack of memory, but there is enough",
             chosen->missed.items[0].pid);
    if (chosen->missed.count > 0 && !strstr(chosen->text, "memory"))
        fail(world, "nobody is told why process %u is not moved", chosen->missed.items[0].pid);
    for (uint32_t i = 0; i < chosen->missed.count; i++)
        zero->missed |= (uint64_t)1 << chosen->missed.items[i].pid;
    world->missed += chosen->missed.count;
}

void memory_check_places(struct world *world, const struct zero *zero,
                         const struct wire_restore *restore)
{
    for (uint32_t i = 0; i < world->host_count && memory_is_limited(world); i++) {
        uint64_t copies = 0, need = 0;
        for (uint32_t k = 0; k < restore->copy.count; k++)
            copies |= (uint64_t)1 << restore->copy.items[k];
        for (uint32_t pid = 0; pid < world->processes; pid++)
            if (restore->host_of.items[pid] == cells_lead(restore->leads, world->agents[i].id) &&
                !(copies & (uint64_t)1 << pid))
                need += memory_need(world, pid);
        if (zero->left[i] != WIRE_NEVER && need > zero->left[i])
            fail(world, "host %u gets processes that need %u, and has %u left", world->agents[i].id,
                 (unsigned)need, (unsigned)zero->left[i]);
    }
}

void memory_check_refusal(struct world *world, const struct zero *zero)
{
    uint64_t all = 0;

    for (uint32_t pid = 0; pid < RANKS; pid++)
        all += memory_need(world, pid);
    for (uint32_t i = 0; i < world->host_count; i++)
        if (!memory_is_limited(world) ||
            ((zero->member_bits & (uint64_t)1 << i) &&
             !(cells_any(world) && (zero->drained & (uint64_t)1 << i)) &&
             (zero->left[i] == WIRE_NEVER || zero->left[i] >= all)))
            fail(world, "nothing fits, but host %u has room for all", world->agents[i].id);
    world->no_memory = true;
}
