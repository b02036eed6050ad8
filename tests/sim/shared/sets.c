/* sets.c - what the sets of the made-up world call, and the contents that they are given. */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/shared/world.h"

/* ---- Contents ------------------------------------------------------------------------------ */

uint64_t content_next(uint64_t key)
{
    uint64_t superstep = key > 0 ? replica_superstep(key) : 0;

    if (key == 0)
        return replica_key(0, 0);
    if (replica_stage(key) == 0 && superstep % 3 > 0)
        return replica_key(superstep, (unsigned)(superstep % 3));
    return replica_key(superstep + 1, 0);
}

uint64_t content_mix(uint64_t pid, uint64_t key, bool flipped)
{
    uint64_t value = (key * 64 + pid) * UINT64_C(0x9e3779b97f4a7c15);

    value ^= value >> 29;
    return (value * UINT64_C(0xbf58476d1ce4e5b9)) ^ (flipped ? 1 : 0);
}

bool content_is_stop(uint64_t key)
{
    return key % 2 > 0 && replica_stage(key) == 0;
}

static uint64_t content_size(uint64_t pid, uint64_t key)
{
    return 8 + content_mix(pid, key, false) % 400;
}

struct replica_digest content_digest(uint64_t pid, uint64_t key, bool flipped)
{
    return (struct replica_digest){
        {content_mix(pid, key, flipped), key << 8 | (content_is_stop(key) ? replica_stop(0) : 0)}};
}

void *content_bytes(uint64_t pid, uint64_t key, bool flipped, uint64_t *size)
{
    uint64_t value = content_mix(pid, key, flipped);
    unsigned char *bytes;

    *size = content_size(pid, key);
    bytes = malloc(*size);
    memset(bytes, (int)(pid + key), *size);
    memcpy(bytes, &value, sizeof value);
    return bytes;
}

/* ---- What the sets call -------------------------------------------------------------------- */

static bool on_ready(void *context, uint32_t pid, uint64_t key)
{
    const struct caller *caller = context;
    const struct host *host = home_of(caller->world, caller->host);

    (void)pid;
    return key <= content_next(host->made);
}

/* Hosts that are left have applied the same, whoever was lost meanwhile.  While nobody is lost the
 * lowest home of two counts. */
static void check_same(struct world *world, uint32_t host, uint64_t value)
{
    struct flip *flip = &world->flip;
    unsigned lower = 0, homes = 0;

    for (uint32_t other = 0; other < world->host_count; other++) {
        const struct host *at = home_of(world, other);

        homes += at->has[flip->pid];
        lower += other < flip->host && at->has[flip->pid];
        if (at->decided && at->value != value && !hosts_is_gone(at))
            timeline_fail(&world->time, "host %u applied another content than host %u", host,
                          other);
    }
    home_of(world, host)->decided = home_of(world, host)->count > 0;
    home_of(world, host)->value = value;
    summary.same_after_loss += world->any_lost;
    if (world->any_lost)
        return;
    summary.tied += homes == 2;
    if (homes > 1 &&
        (value == content_mix(flip->pid, flip->key, false)) != (homes > 2 || lower > 0))
        timeline_fail(&world->time, "host %u applied what does not count", host);
}

static int on_apply(void *context, uint32_t pid, uint64_t key, void *bytes, uint64_t size)
{
    const struct caller *caller = context;
    struct world *world = caller->world;
    struct host *host = home_of(world, caller->host);
    uint64_t value, right = content_mix(pid, key, false);
    bool may_differ = world->flip.made && world->flip.pid == pid && world->flip.key == key;

    memcpy(&value, bytes, sizeof value);
    if (key != content_next(host->applied[pid]))
        timeline_fail(&world->time, "host %u applied %u/%lu behind %lu", caller->host, pid,
                      (unsigned long)key, (unsigned long)host->applied[pid]);
    if (size != content_size(pid, key) ||
        (value != right && !(may_differ && value == content_mix(pid, key, true))))
        timeline_fail(&world->time, "host %u applied another content", caller->host);
    if (may_differ && world->agree == 2 && !world->any_lost) {
        summary.agreed++;
        if (value != right)
            timeline_fail(&world->time, "host %u applied what one of three has made", caller->host);
    }
    if (may_differ && world->majority)
        check_same(world, caller->host, value);
    host->applied[pid] = key;
    return 0;
}

static void on_locate(void *context, const void *first, uint64_t first_size, const void *second,
                      uint64_t second_size, bool made, struct link_place *place)
{
    const struct caller *caller = context;

    if (made && first_size == second_size && memcmp(first, second, first_size) == 0)
        timeline_fail(&caller->world->time, "host %u compares what does not differ", caller->host);
    if (first_size != second_size || memcmp(first, second, first_size) != 0)
        place->what = LINK_PLACE_CHAIN;
}

bool hosts_any_is_far(struct world *world)
{
    const struct flip *flip = &world->flip;

    for (uint32_t number = 0; number < world->host_count; number++) {
        const struct host *host = home_of(world, number);
        unsigned kept = host->count * KEPT_OF_EACH, contents = host->count;

        for (uint64_t key = flip->key; key < host->made; key = content_next(key))
            contents += host->count;
        if (host->has[flip->pid] && contents > (kept > KEPT_LEAST ? kept : KEPT_LEAST))
            return true;
    }
    return false;
}

static void on_mismatch(void *context, const struct replica_mismatch *mismatch)
{
    const struct caller *caller = context;
    struct world *world = caller->world;

    if (!world->flip.made || mismatch->pid != world->flip.pid || mismatch->key != world->flip.key)
        timeline_fail(&world->time, "host %u reports a mismatch that is none", caller->host);
    if (mismatch->seen) {
        home_of(world, caller->host)->compared[mismatch->pid] |= mismatch->homes[0] == caller->host;
        return;
    }
    home_of(world, caller->host)->reported[mismatch->pid] = true;
    if (mismatch->in_vain) {
        summary.in_vain++;
        world->over = true; /* the job goes back */
        return;
    }
    /* Nobody can say which is right: the job goes back. */
    if (world->agree == 2 && !mismatch->open && mismatch->alike[0] == mismatch->alike[1])
        world->over = true;
    else if ((world->agree == 2 || world->majority) && !mismatch->open &&
             mismatch->alike[0] > mismatch->alike[1] && mismatch->homes[1] == caller->host) {
        struct action *action = timeline_plan(&world->time, 1);

        action->kind = LEAVE;
        action->host = caller->host;
    }
}

bool hosts_is_gone(const struct host *host)
{
    return host->lost || host->given_up;
}

static bool is_unique(struct world *world, uint32_t host)
{
    for (uint32_t pid = 0; pid < world->pid_count; pid++) {
        unsigned left = 0;

        for (uint32_t other = 0; other < world->host_count; other++)
            left += other != host && home_of(world, other)->has[pid] &&
                    !hosts_is_gone(home_of(world, other));
        if (home_of(world, host)->has[pid] && left == 0)
            return true;
    }
    return false;
}

void hosts_hear_of(struct world *world, uint32_t host)
{
    for (uint32_t other = 0; other < world->host_count; other++) {
        struct action *action = timeline_plan(&world->time, timeline_random(&world->time, 3000));

        action->kind = HEARS;
        action->host = other;
        action->other = host;
    }
}

bool hosts_is_spare(struct world *world, uint32_t host)
{
    for (uint32_t pid = 0; pid < world->pid_count; pid++) {
        bool left = false;

        for (uint32_t other = 0; other < world->host_count; other++)
            left |= other != host && home_of(world, other)->has[pid] &&
                    !hosts_is_gone(home_of(world, other)) &&
                    home_of(world, other)->frozen_until != NEVER;
        if (!left)
            return false;
    }
    return true;
}

static void on_behind(void *context, uint32_t host, uint64_t key)
{
    const struct caller *caller = context;
    struct world *world = caller->world;

    timeline_note(&world->time, "host %u: host %u is too far behind at %lu", caller->host, host,
                  (unsigned long)key);
    if (hosts_is_gone(home_of(world, host)))
        return;
    /* It may have trailed while another one had the process; now the job goes back. */
    if (is_unique(world, host) && !world->any_lost)
        timeline_fail(&world->time, "a host with a unique process is given up");
    /* Or one that is frozen for ever: the processes stand still until that is noticed. */
    world->over |= is_unique(world, host) || !hosts_is_spare(world, host);
    summary.over += is_unique(world, host);
    *(host == caller->host ? &summary.behind_self : &summary.behind_other) += 1;
    home_of(world, host)->given_up = true;
    world->any_lost = true;
    hosts_hear_of(world, host);
}

static bool on_knows_stop(void *context, uint64_t superstep, unsigned stop)
{
    const struct caller *caller = context;
    bool knows = home_of(caller->world, caller->host)->stops > superstep;

    (void)stop;
    summary.early += !knows;
    return knows;
}

const struct replica_calls sets_calls = {.ready = on_ready,
                                         .apply = on_apply,
                                         .knows_stop = on_knows_stop,
                                         .locate = on_locate,
                                         .mismatch = on_mismatch,
                                         .behind = on_behind};
