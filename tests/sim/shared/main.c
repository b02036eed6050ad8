/* main.c - hosts whose processes have replicas, and the sets that decide what they send each other
 * (bsprun/link/replica_set.h), driven by one seed.
 *
 *   shared [OPTIONS of seeds.h]
 *
 * Hosts compute, some ten times slower than others; are frozen, some for ever; are lost, and others
 * hear of that at different times; and single contents differ from those of the other replicas.
 * What must hold:
 *
 *   - each host applies, for each process that lives elsewhere, the same contents in the same
 * order;
 *   - hosts that together have all processes are not held up by any other;
 *   - what is kept stays within its bounds, and no host is given up that alone has some process;
 *   - what one home holds back for another is sent in the end, however slow that is;
 *   - what is made where processes stop counts only on hosts that know of the stop;
 *   - a content that differs is reported by a host that can see it;
 *   - where two of three must agree, only what two have made is applied, and a host whose own
 * content is another one does not go on;
 *   - where most must agree, with two homes both, all hosts that are left apply the same content,
 * that of the lowest home where no majority decides.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/shared/world.h"

#define SLACK     (UINT64_C(1) << 16)
#define TOLD_MOST (UINT64_C(1) << 20) /* the least bound of what is told */

struct summary summary;
static struct caller callers[HOSTS_MOST];

/* ---- Ways ---------------------------------------------------------------------------------- */

static void must(struct world *world, int error)
{
    if (error)
        timeline_fail(&world->time, "a set says %d", error);
}

static void check_bounds(struct world *world, uint32_t host)
{
    struct replica_held held = replica_set_held(home_of(world, host)->set);
    uint64_t most = (world->log_bytes + world->spill_bytes) / 2 + SLACK;

    if (held.copies > most || held.logged > most || held.told > TOLD_MOST + SLACK)
        timeline_fail(&world->time, "host %u keeps %lu, %lu, %lu", host, (unsigned long)held.copies,
                      (unsigned long)held.logged, (unsigned long)held.told);
    summary.spilled += held.logged > world->log_bytes / 2 || held.copies > world->log_bytes / 2;
}

static void load(struct world *world, uint32_t host, struct way *way, struct replica_order *order)
{
    void *read, *bytes;

    if (order->account.bytes) {
        way->account = order->account;
        way->size = order->account.size;
        way->bytes = malloc(way->size);
        memcpy(way->bytes, order->account.bytes, way->size);
        way->account.bytes = way->bytes;
        return;
    }
    if (!order->copy) {
        way->note_count = order->note_count;
        way->notes = malloc(order->note_count * sizeof *way->notes);
        memcpy(way->notes, order->notes, order->note_count * sizeof *way->notes);
        return;
    }
    way->copy = order->copy;
    way->facts = replica_set_facts(home_of(world, host)->set, order->copy);
    bytes = replica_set_see(home_of(world, host)->set, order->copy, &way->size, &read);
    if (!bytes)
        timeline_fail(&world->time, "the bytes of a copy are gone");
    way->bytes = malloc(way->size);
    memcpy(way->bytes, bytes, way->size);
    free(read);
}

/* Holds back for another home, for some time. */
static void wait_for_turn(struct world *world, uint32_t host, uint32_t other, uint64_t key)
{
    struct action *action;

    if (key == home_of(world, host)->waits[other])
        return;
    home_of(world, host)->waits[other] = key;
    if (key == 0)
        return;
    action = timeline_plan(&world->time, 1 + timeline_random(&world->time, world->patience));
    action->kind = RELEASE;
    action->host = host;
    action->other = other;
    action->until = key;
}

/* What is not urgent waits until the host has made more. */
static void send_on(struct world *world, uint32_t host, bool only_urgent)
{
    struct host *from = home_of(world, host);

    for (uint32_t other = 0; other < world->host_count && !from->lost; other++) {
        struct way *way = &from->ways[other];
        struct replica_order order;
        struct action *action;

        if (other == host || way->busy || from->cut[other] ||
            (only_urgent && !world->ended && !replica_set_is_urgent(from->set, other)))
            continue;
        if (!replica_set_next(from->set, other, &order)) {
            wait_for_turn(world, host, other, order.wait.key);
            continue;
        }
        load(world, host, way, &order);
        way->busy = true;
        action =
            timeline_plan(&world->time, 1 + timeline_random(&world->time, 60) + way->size / 16);
        action->kind = ARRIVES;
        action->host = host;
        action->other = other;
    }
}

static void empty(struct way *way)
{
    free(way->notes);
    free(way->bytes);
    *way = (struct way){0};
}

static void go_on(struct world *world, uint32_t host, bool has_made);

/* Whether a home hears of the content that differs: the two may be compared then. */
static bool is_of_flip(const struct world *world, const struct way *way)
{
    const struct flip *flip = &world->flip;

    for (size_t i = 0; i < way->note_count; i++)
        if (way->notes[i].pid == flip->pid && way->notes[i].key == flip->key)
            return true;
    return (way->account.bytes && way->account.key == flip->key) ||
           (way->copy && way->facts.pid == flip->pid && way->facts.key == flip->key);
}

/* Nothing comes out of a way whose ends take each other for lost. */
static void arrives(struct world *world, const struct action *action)
{
    struct host *from = home_of(world, action->host), *to = home_of(world, action->other);
    struct way way = from->ways[action->other];

    if (!way.busy)
        return;
    if (to->frozen_until > world->time.now && !to->lost) {
        struct action *again;

        if (to->frozen_until == NEVER)
            return;
        again = timeline_plan(&world->time, to->frozen_until - world->time.now);
        again->kind = ARRIVES;
        again->host = action->host;
        again->other = action->other;
        return;
    }
    from->ways[action->other] = (struct way){0};
    if (way.copy && !from->lost)
        replica_set_sent(from->set, action->other, way.copy);
    if (!to->lost && !from->lost && !to->cut[action->host]) {
        if (is_of_flip(world, &way) && to->has[world->flip.pid])
            world->flip.far |= hosts_any_is_far(world);
        for (size_t i = 0; i < way.note_count; i++)
            must(world, replica_set_note(to->set, action->host, &way.notes[i]));
        if (way.account.bytes)
            must(world, replica_set_compare(to->set, action->host, &way.account));
        if (way.copy)
            must(world, replica_set_take(to->set, action->host, &way.facts, way.bytes, way.size));
        if (way.copy)
            way.bytes = NULL;
        check_bounds(world, action->other);
        go_on(world, action->other, false);
    }
    empty(&way);
    send_on(world, action->host, true);
}

static void release(struct world *world, const struct action *action)
{
    struct host *host = home_of(world, action->host);

    if (host->lost || host->frozen_until == NEVER || host->waits[action->other] != action->until)
        return;
    summary.released++;
    host->waits[action->other] = 0;
    replica_set_release(host->set, action->other);
    send_on(world, action->host, false);
}

/* ---- Ranks --------------------------------------------------------------------------------- */

static bool is_complete(const struct world *world, const struct host *host)
{
    if (host->made > 0 && !replica_set_may_pass(host->set, host->made))
        return false;
    for (uint32_t pid = 0; pid < world->pid_count; pid++)
        if (!host->has[pid] && host->applied[pid] < host->made)
            return false;
    return true;
}

static void go_on(struct world *world, uint32_t number, bool has_made)
{
    struct host *host = home_of(world, number);
    struct action *action;

    send_on(world, number, !has_made);
    if (hosts_is_gone(host) || host->computes || host->made >= world->last ||
        !is_complete(world, host))
        return;
    host->computes = true;
    action = timeline_plan(&world->time, 1 + timeline_random(&world->time, 2 * host->delay));
    action->kind = PUBLISH;
    action->host = number;
}

/* Homes of a process that differ are lost when one has just made its content: some, or all others.
 * By bits of their own, as what is drawn would change all that follows. */
static void lose_homes(struct world *world, uint32_t liar, uint32_t pid)
{
    uint64_t bits = content_mix(pid, world->time.job.seed, false);

    for (uint32_t host = 0; host < world->host_count && bits % 2 > 0; host++) {
        uint64_t own = content_mix(host, bits, false);
        struct action *action;

        if (!home_of(world, host)->has[pid] || (bits & 2 ? host == liar : own % 2 > 0))
            continue;
        action = timeline_plan(&world->time, own / 2 % 200);
        action->kind = LOSE;
        action->host = host;
    }
}

static void put(struct world *world, uint32_t number, uint32_t pid, uint64_t key)
{
    struct host *host = home_of(world, number);
    struct flip *flip = &world->flip;
    bool flipped = flip->host == number && flip->pid == pid && flip->key == key, needed;
    struct replica_digest digest = content_digest(pid, key, flipped);
    void *bytes = NULL;
    uint64_t size = 0;

    flip->made |= flipped;
    if (flipped)
        lose_homes(world, number, pid);
    bytes = content_bytes(pid, key, flipped, &size);
    replica_set_made(host->set, pid, key, &digest, bytes, size);
    bytes = NULL;
    size = 0;
    must(world, replica_set_put(host->set, pid, key, &digest, &needed));
    if (needed)
        bytes = content_bytes(pid, key, flipped, &size);
    else
        summary.held_back++;
    replica_set_keep(host->set, bytes, size);
}

/* Whether hosts come to barriers at the same time is what the set is told; it may be wrong. */
static void tell_even(struct world *world, uint32_t number)
{
    struct host *host = home_of(world, number);
    uint64_t world_bits = content_mix(0, world->time.job.seed, false);

    for (uint32_t other = 0; other < world->host_count; other++) {
        uint64_t bits =
            content_mix(other * HOSTS_MOST + number, host->made / 64 + world_bits, false);

        if (other != number && world_bits % 4 > 0)
            replica_set_even(host->set, other, world_bits % 4 == 1 || bits % 4 > 0);
    }
}

/* The first host that stops knows where, and others hear it, soon or late. */
static void say_stop(struct world *world, uint32_t first, uint64_t key)
{
    uint64_t superstep = replica_superstep(key);
    uint64_t bits = content_mix(first, world->time.job.seed + key, false);

    if (!content_is_stop(key) || superstep < world->stops)
        return;
    world->stops = superstep + 1;
    for (uint32_t host = 0; host < world->host_count; host++) {
        uint64_t own = content_mix(host, bits, false);
        struct action *action;

        action = timeline_plan(&world->time, host == first ? 0 : own / 4 % (own % 4 ? 100 : 4000));
        action->kind = KNOWS;
        action->host = host;
        action->until = superstep;
    }
    home_of(world, first)->stops = superstep + 1;
}

static void knows(struct world *world, const struct action *action)
{
    struct host *host = home_of(world, action->host);

    if (hosts_is_gone(host) || host->frozen_until == NEVER || action->until < host->stops)
        return;
    if (host->frozen_until > world->time.now) {
        struct action *again = timeline_plan(&world->time, host->frozen_until - world->time.now);

        again->kind = KNOWS;
        again->host = action->host;
        again->until = action->until;
        return;
    }
    host->stops = action->until + 1;
    replica_set_advance(host->set);
    check_bounds(world, action->host);
    go_on(world, action->host, false);
}

static void publish(struct world *world, const struct action *action)
{
    struct host *host = home_of(world, action->host);

    if (hosts_is_gone(host))
        return;
    if (host->frozen_until > world->time.now) {
        struct action *again;

        if (host->frozen_until == NEVER)
            return;
        again = timeline_plan(&world->time, host->frozen_until - world->time.now);
        again->kind = PUBLISH;
        again->host = action->host;
        return;
    }
    host->computes = false;
    tell_even(world, action->host);
    say_stop(world, action->host, content_next(host->made));
    for (uint32_t i = 0; i < host->count; i++)
        put(world, action->host, host->pids[i], content_next(host->made));
    host->made = content_next(host->made);
    replica_set_advance(host->set);
    check_bounds(world, action->host);
    go_on(world, action->host, true);
}

/* ---- Faults -------------------------------------------------------------------------------- */

static void freeze(struct world *world, const struct action *action)
{
    struct host *host = home_of(world, action->host);
    bool for_ever = action->until == NEVER;

    if (hosts_is_gone(host) || host->frozen_until == NEVER ||
        (for_ever && (world->agree > 1 || world->majority || !hosts_is_spare(world, action->host))))
        return;
    summary.frozen++;
    world->any_frozen = true;
    timeline_note(&world->time, "host %u is frozen%s", action->host, for_ever ? " for ever" : "");
    host->frozen_until = for_ever ? NEVER : world->time.now + action->until;
}

static void hears(struct world *world, const struct action *action)
{
    struct host *host = home_of(world, action->host);

    if (action->host == action->other || host->lost || host->cut[action->other])
        return;
    host->cut[action->other] = true;
    if (host->ways[action->other].busy && host->ways[action->other].copy)
        replica_set_sent(host->set, action->other, host->ways[action->other].copy);
    empty(&host->ways[action->other]);
    replica_set_lost(host->set, action->other);
    go_on(world, action->host, false);
}

static void lose(struct world *world, const struct action *action)
{
    struct host *host = home_of(world, action->host);

    if (hosts_is_gone(host) || !hosts_is_spare(world, action->host))
        return;
    summary.lost++;
    timeline_note(&world->time, "host %u is lost", action->host);
    host->lost = world->any_lost = true;
    hosts_hear_of(world, action->host);
}

/* Two others have made something else. */
static void leave(struct world *world, const struct action *action)
{
    struct host *host = home_of(world, action->host);

    if (hosts_is_gone(host))
        return;
    summary.left++;
    timeline_note(&world->time, "host %u leaves", action->host);
    if (world->flip.host != action->host && !world->majority)
        timeline_fail(&world->time, "host %u leaves, but is right", action->host);
    world->over |= !hosts_is_spare(world, action->host);
    host->lost = world->any_left = true;
    hosts_hear_of(world, action->host);
}

static void plan_faults(struct world *world)
{
    unsigned count = (unsigned)timeline_random(&world->time, 8);

    for (unsigned n = 0; n < count; n++) {
        uint64_t when = timeline_random(&world->time, 60000);
        uint32_t host = (uint32_t)timeline_random(&world->time, world->host_count);
        bool loses = timeline_chance(&world->time, 40);
        bool for_ever = timeline_chance(&world->time, 20);
        uint64_t length = 1 + timeline_random(&world->time, 30000);
        struct action *action;

        if (!seeds_keeps_fault(&world->time.job, n))
            continue;
        action = timeline_plan(&world->time, when);
        action->kind = loses ? LOSE : FREEZE;
        action->host = host;
        action->until = for_ever ? NEVER : length;
    }
}

/* ---- The world ----------------------------------------------------------------------------- */

static void add_pid(struct world *world, uint32_t host, uint32_t pid)
{
    home_of(world, host)->has[pid] = true;
}

static void place(struct world *world)
{
    for (uint32_t pid = 0; pid < world->pid_count; pid++) {
        uint64_t copies = world->agree == 2 ? 3 : 1 + timeline_random(&world->time, 4);

        for (uint64_t i = 0; i < copies; i++) {
            uint32_t host = (uint32_t)timeline_random(&world->time, world->host_count);

            while (copies <= world->host_count && home_of(world, host)->has[pid])
                host = (host + 1) % world->host_count;
            add_pid(world, host, pid);
        }
    }
    for (uint32_t host = 0; host < world->host_count; host++)
        for (uint32_t pid = 0; pid < world->pid_count; pid++)
            if (home_of(world, host)->has[pid])
                home_of(world, host)->pids[home_of(world, host)->count++] = pid;
}

/* Of a process that has replicas. */
static void choose_flip(struct world *world)
{
    uint32_t host = (uint32_t)timeline_random(&world->time, world->host_count);
    struct host *at = home_of(world, host);
    uint64_t key = 0, steps = timeline_random(&world->time, 60);
    bool wanted = timeline_chance(&world->time, 50);

    for (uint64_t i = 0; i <= steps; i++)
        key = content_next(key);
    if (wanted && at->count > 0)
        world->flip = (struct flip){.host = host, .pid = at->pids[steps % at->count], .key = key};
}

static void make_hosts(struct world *world)
{
    struct replica_home homes[HOSTS_MOST];
    struct replica_setup setup = {.nprocs = world->pid_count,
                                  .home_count = world->host_count,
                                  .homes = homes,
                                  .log_bytes = world->log_bytes,
                                  .spill_bytes = world->spill_bytes,
                                  .agree = world->agree,
                                  .majority = world->majority,
                                  .turn_bytes = world->turn_bytes};
    uint64_t delay = 1 + timeline_random(&world->time, 200);

    for (uint32_t host = 0; host < world->host_count; host++)
        homes[host] =
            (struct replica_home){home_of(world, host)->pids, home_of(world, host)->count};
    for (uint32_t host = 0; host < world->host_count; host++) {
        int error;

        setup.own = host;
        callers[host] = (struct caller){world, host};
        home_of(world, host)->delay = timeline_chance(&world->time, 25) ? 10 * delay : delay;
        home_of(world, host)->set = replica_set_new(&setup, &sets_calls, &callers[host], &error);
        must(world, error);
    }
}

static void make_world(struct world *world, const struct seeds_job *job)
{
    uint64_t supersteps, hosts;

    timeline_begin(&world->time, sizeof(struct action), job);
    world->agree = timeline_chance(&world->time, 25) ? 2 : 1;
    world->majority = world->agree == 1 && timeline_chance(&world->time, 30);
    hosts = 2 + timeline_random(&world->time, HOSTS_MOST - 1);
    world->host_count = (uint32_t)(hosts < job->hosts ? hosts : job->hosts < 2 ? 2 : job->hosts);
    if (world->agree == 2 && world->host_count < 3)
        world->host_count = 3;
    world->pid_count = 1 + (uint32_t)timeline_random(&world->time, PIDS_MOST);
    supersteps = 20 + timeline_random(&world->time, 150);
    if (supersteps > job->supersteps)
        supersteps = job->supersteps;
    world->last = replica_key(supersteps, 0);
    /* A superstep is 8 kB at most, and a host that is waited for trails by little more than one. */
    world->log_bytes = timeline_chance(&world->time, 50) ? 1u << 20 : 64u << 10;
    world->spill_bytes = timeline_chance(&world->time, 50) ? 1u << 20 : 64u << 10;
    world->turn_bytes = timeline_random(&world->time, 3) * 100;
    world->patience = 1 + timeline_random(&world->time, 2000);
    place(world);
    choose_flip(world);
    make_hosts(world);
    timeline_take_course(&world->time);
}

static void free_world(struct world *world)
{
    for (uint32_t host = 0; host < world->host_count; host++) {
        for (uint32_t other = 0; other < world->host_count; other++)
            empty(&home_of(world, host)->ways[other]);
        replica_set_free(home_of(world, host)->set);
    }
    timeline_end(&world->time);
}

/* ---- What must hold at the end ------------------------------------------------------------- */

/* Where memory is not short, and no home was far ahead when another one heard of it: what it has
 * made is not kept then any more. */
static void count_compared(struct world *world, uint32_t number)
{
    const struct host *host = home_of(world, number);
    uint32_t pid = world->flip.pid;
    bool short_of_memory = world->log_bytes < 1u << 20;

    if (!host->has[pid] || short_of_memory || world->flip.far || world->any_lost ||
        world->any_left || world->any_frozen || (number != world->flip.host && world->agree > 1))
        return;
    summary.compared++;
    if (!host->compared[pid])
        timeline_fail(&world->time, "host %u has not compared what differs", number);
}

static void check_end(struct world *world)
{
    const struct flip *flip = &world->flip;
    unsigned others = 0;

    for (uint32_t number = 0; number < world->host_count; number++) {
        const struct host *host = home_of(world, number);

        if (hosts_is_gone(host) || host->frozen_until == NEVER)
            continue;
        if (host->made < world->last || !is_complete(world, host))
            timeline_fail(&world->time, "host %u has come to %lu of %lu only", number,
                          (unsigned long)host->made, (unsigned long)world->last);
        others += number != flip->host && flip->made && host->has[flip->pid];
    }
    summary.flips += flip->made;
    if (!flip->made || others == 0 || hosts_is_gone(home_of(world, flip->host)) ||
        home_of(world, flip->host)->frozen_until == NEVER)
        return;
    summary.flips_due++;
    for (uint32_t number = 0; number < world->host_count; number++) {
        const struct host *host = home_of(world, number);

        if (host->has[flip->pid] && !hosts_is_gone(host) && host->frozen_until != NEVER &&
            !host->reported[flip->pid])
            timeline_fail(&world->time, "host %u has not reported what differs", number);
        count_compared(world, number);
    }
}

/* What homes have said that differ is remembered until all hosts have come past it. */
static bool may_be_retained(const struct world *world)
{
    const struct flip *flip = &world->flip;

    return world->majority && flip->made &&
           replica_superstep(flip->key) + 2 > replica_superstep(world->last);
}

static void check_left(struct world *world)
{
    for (uint32_t host = 0; host < world->host_count && !world->any_lost && !world->any_left;
         host++) {
        struct replica_held held = replica_set_held(home_of(world, host)->set);
        bool any_frozen = false;

        for (uint32_t other = 0; other < world->host_count; other++)
            any_frozen |= home_of(world, other)->frozen_until == NEVER;
        if (may_be_retained(world))
            held.told = 0;
        if (!any_frozen && held.copies + held.logged + held.told > 0)
            timeline_fail(&world->time, "host %u keeps something at the end: %lu %lu %lu", host,
                          (unsigned long)held.copies, (unsigned long)held.logged,
                          (unsigned long)held.told);
    }
}

/* What was not urgent goes with the next contents, but at the end there are none.  Whether there is
 * an action. */
static bool send_rest(struct world *world, struct action *action)
{
    for (uint32_t host = 0; host < world->host_count && !world->ended; host++)
        send_on(world, host, false);
    world->ended = true;
    return timeline_next(&world->time, action);
}

static void run_one(const struct seeds_job *job)
{
    static struct world world;
    struct action action;

    memset(&world, 0, sizeof world);
    make_world(&world, job);
    plan_faults(&world);
    for (uint32_t host = 0; host < world.host_count; host++)
        go_on(&world, host, true);
    while (!world.over && (timeline_next(&world.time, &action) || send_rest(&world, &action))) {
        static void (*const handlers[])(struct world *, const struct action *) = {
            [PUBLISH] = publish, [ARRIVES] = arrives, [FREEZE] = freeze,   [LOSE] = lose,
            [LEAVE] = leave,     [HEARS] = hears,     [RELEASE] = release, [KNOWS] = knows};

        handlers[action.kind](&world, &action);
    }
    if (!world.over) {
        check_end(&world);
        check_left(&world);
    }
    free_world(&world);
}

static int report(uint64_t count)
{
    const struct {
        const char *what;
        uint64_t times;
        uint64_t least; /* jobs in which it happens at least once; 0: 10,000 */
    } seen[] = {{"hosts frozen", summary.frozen},
                {"hosts lost", summary.lost},
                {"hosts that gave up themselves", summary.behind_self},
                {"hosts that others gave up", summary.behind_other},
                {"jobs without any replica of a process", summary.over, 200000},
                {"contents that differed", summary.flips},
                {"of them such as had to be reported", summary.flips_due},
                {"hosts that had to compare them with another home, and have", summary.compared},
                {"contents that two of three agreed on, with one that differed", summary.agreed},
                {"contents of the lowest of two", summary.tied},
                {"such that hosts have applied after a loss", summary.same_after_loss},
                {"hosts that left, as two others differed", summary.left, 50000},
                {"contents that counted, and were lost with their homes", summary.in_vain, 1000000},
                {"contents that waited in vain for another home's turn", summary.released},
                {"contents that were not copied, as all had them", summary.held_back},
                {"looks at what has come before its stop is known", summary.early},
                {"looks that saw a file in use", summary.spilled}};
    int missing = 0;

    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        printf("%10lu %s\n", (unsigned long)seen[i].times, seen[i].what);
        missing += count >= (seen[i].least ? seen[i].least : 10000) && seen[i].times == 0;
    }
    return seeds_verdict("shared", missing);
}

int main(int argc, char **argv)
{
    static const struct seeds_program program = {
        .name = "shared", .count = 3000, .has_supersteps = true, .run = run_one, .report = report};

    return seeds_main(&program, argc, argv);
}
