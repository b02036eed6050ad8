/* saved.c - a snapshot in the made-up world, and all processes go back to it.
 *
 * At some call of each process there is a barrier.  When for each cell all processes of some host
 * have come to it, Processor Zero names the first such hosts, which keep the objects of all, and
 * lets all go on when they have.  Hosts that are lost before that make it a failure.  Later all
 * hosts and processes begin again there, one process puts the objects back, and what was done since
 * is forgotten.  A barrier that is not reached for long is called off, as processes may wait for
 * what others would do behind it.  See zero.c for snapshots at calls.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/dataspace/keeper.h"
#include "lib/base/kept.h"
#include "tests/sim/dataspace/cells/world.h"

#define SNAPSHOT   3u    /* its number */
#define CALL_OFF   4000u /* after so long */
#define BACK_AFTER 1500u /* a snapshot, at most */

static struct {
    uint64_t taken, failed, called_off, objects, of_others, trailing, back;
} summary;

/* ---- Processor Zero -------------------------------------------------------------------------- */

static void say_to_all(struct world *world, enum action_kind kind)
{
    for (uint32_t i = 0; i < world->host_count; i++) {
        struct action *action = losses_plan(world, kind, &world->hosts[i].last_asked);

        action->to = i;
    }
}

/* Of the hosts of that lead the first one that has arrived; HOSTS: none has. */
static uint32_t first_of(const struct world *world, uint32_t lead)
{
    const uint32_t *arrived = world->saved.arrived;
    uint32_t first = HOSTS;

    for (uint32_t i = 0; i < world->host_count; i++)
        if (world->leads[i] == lead && arrived[i] > 0 && !world->saved.known_lost[i] &&
            (first == HOSTS || arrived[i] < arrived[first]))
            first = i;
    return first;
}

static bool is_lead_of_any(const struct world *world, uint32_t lead)
{
    for (uint32_t pid = 0; pid < world->process_count; pid++)
        if (world->processes[pid].lead == lead)
            return true;
    return false;
}

/* For each process some host has. */
static bool all_arrived(const struct world *world)
{
    for (uint32_t lead = 0; lead < world->host_count; lead++)
        if (is_lead_of_any(world, lead) && first_of(world, lead) == HOSTS)
            return false;
    return true;
}

static void decide_when_complete(struct world *world)
{
    struct saved *saved = &world->saved;

    if (saved->state != SAVED_WANTED || !all_arrived(world))
        return;
    saved->keeper_count = 0;
    for (uint32_t lead = 0; lead < world->host_count; lead++)
        if (is_lead_of_any(world, lead))
            saved->keepers[saved->keeper_count++] = first_of(world, lead);
    saved->state = SAVED_CAPTURING;
    note(world, "a snapshot of %u hosts", saved->keeper_count);
    say_to_all(world, DO_RELEASE);
}

static void resume(struct world *world)
{
    world->saved.state = SAVED_OVER;
    say_to_all(world, DO_RESUME);
}

void saved_back(struct world *world)
{
    world->saved.goes_back = true;
    ((struct action *)timeline_plan(&world->time, 0))->kind = DO_GO_BACK;
}

/* All go back to the snapshot that is taken, or not. */
static void may_go_back(struct world *world)
{
    struct saved *saved = &world->saved;
    struct action *action;

    summary.taken++;
    saved->back_count = saved->kept_count;
    memcpy(saved->back, saved->kept, sizeof saved->back);
    if (saved->goes_back || timeline_apart(&world->time, 4) == 0)
        return;
    saved->goes_back = true;
    action = timeline_plan(&world->time, timeline_apart(&world->time, BACK_AFTER));
    action->kind = DO_GO_BACK;
}

void saved_committed(struct world *world, uint64_t snapshot)
{
    struct saved *saved = &world->saved;

    if (snapshot <= saved->committed)
        return; /* another Processor Zero says it again */
    if (snapshot != saved->snapshot)
        fail(world, "snapshot %llu is committed, and not taken", (unsigned long long)snapshot);
    note(world, "snapshot %llu is committed", (unsigned long long)snapshot);
    saved->committed = snapshot;
    for (uint32_t pid = 0; pid < world->process_count; pid++)
        world->processes[pid].barrier = (uint32_t)saved->kept_after[pid];
    may_go_back(world);
}

static void resume_when_captured(struct world *world)
{
    struct saved *saved = &world->saved;

    if (saved->state != SAVED_CAPTURING)
        return;
    for (uint32_t i = 0; i < saved->keeper_count; i++)
        if (!saved->captured[saved->keepers[i]] && !saved->known_lost[saved->keepers[i]])
            return;
    note(world, "the snapshot %s", saved->failed ? "has failed" : "is taken");
    summary.failed += saved->failed;
    resume(world);
    if (!saved->failed)
        may_go_back(world);
}

void saved_lost(struct world *world, uint32_t host)
{
    world->saved.known_lost[host] = true;
    world->saved.failed |= world->saved.state == SAVED_CAPTURING;
    resume_when_captured(world);
    decide_when_complete(world);
}

/* ---- Hosts ----------------------------------------------------------------------------------- */

bool saved_holds(const struct world *world, uint32_t pid, uint32_t host)
{
    const struct process *process = &world->processes[pid];

    if (world->halts.on)
        return barriers_hold(world, pid, host);
    return world->saved.state != SAVED_NONE && !world->saved.stops[host].resumed &&
           process->replicas[host].at == process->barrier;
}

void saved_arrive(struct world *world, uint32_t pid, uint32_t host)
{
    struct action *action;

    if (world->halts.on) {
        barriers_arrive(world, pid, host);
        return;
    }
    for (uint32_t other = 0; other < world->process_count; other++) {
        const struct replica *replica = &world->processes[other].replicas[host];

        if (replica->is && (!saved_holds(world, other, host) || replica->transfer.busy))
            return;
    }
    if (world->saved.stops[host].says_arrived)
        return;
    world->saved.stops[host].says_arrived = true;
    action = losses_plan(world, DO_ARRIVE, &world->hosts[host].last_quiet);
    action->from = host;
}

static void arrive(struct world *world, uint32_t host)
{
    world->saved.arrived[host] = ++world->saved.arrivals;
    summary.trailing += world->saved.state != SAVED_WANTED;
    decide_when_complete(world);
}

/* Reads all objects, piece by piece. */
void saved_keep(struct world *world, struct host *host, bool counts)
{
    struct keeper *keeper = dataspace_keep(host->space);
    struct saved *saved = &world->saved;
    unsigned char bytes[2 * TAGS * (sizeof(struct bspz_kept_object) + SIZE_MOST + 32)];
    uint64_t size = keeper ? keeper_size(keeper) : 0, at = 0;

    if (!keeper || size > sizeof bytes)
        fail(world, "host %u has too much to keep", host->number);
    while (keeper_done(keeper) < size)
        at += keeper_read(keeper, bytes + at, 1 + (uint32_t)timeline_apart(&world->time, 20));
    keeper_end(keeper);
    summary.of_others += size > 0 && dataspace_totals(host->space).objects == 0;
    for (at = 0; at < size && counts;) {
        struct bspz_kept_object object;
        struct kept *kept = &saved->kept[saved->kept_count++];

        if (saved->kept_count > TAGS)
            fail(world, "more objects are kept than there are tags");
        memcpy(&object, bytes + at, sizeof object);
        at += sizeof object;
        *kept = (struct kept){.tag_size = object.tag_size, .size = object.size};
        memcpy(kept->tag, bytes + at, object.tag_size);
        memcpy(kept->data, bytes + at + object.tag_size, object.size);
        at += object.tag_size + object.size;
        note(world, "host %u keeps \"%.*s\"", host->number, (int)kept->tag_size, kept->tag);
    }
    summary.objects += saved->kept_count;
}

void saved_look(struct world *world, struct host *host)
{
    struct action *action;

    if (world->halts.on) {
        halts_look(world, host);
        return;
    }
    if (host->lost || !world->saved.stops[host->number].captures ||
        !dataspace_gathered(host->space))
        return;
    world->saved.stops[host->number].captures = false;
    saved_keep(world, host, !world->saved.failed); /* else some may be there twice */
    action = losses_plan(world, DO_CAPTURED, &host->last_quiet);
    action->from = host->number;
}

static void release(struct world *world, struct host *host)
{
    const struct saved *saved = &world->saved;
    struct stop *stop = &world->saved.stops[host->number];

    if (host->lost)
        return;
    for (uint32_t i = 0; i < saved->keeper_count; i++)
        stop->captures |= saved->keepers[i] == host->number;
    dataspace_gather(host->space, SNAPSHOT, saved->keepers, saved->keeper_count);
    hosts_go_on(world, host);
    saved_look(world, host);
}

static void go_on(struct world *world, struct host *host)
{
    if (host->lost)
        return;
    for (uint32_t pid = 0; pid < world->process_count; pid++)
        if (world->processes[pid].replicas[host->number].is &&
            saved_holds(world, pid, host->number) &&
            !world->processes[pid].replicas[host->number].transfer.busy)
            acts_plan(world, pid, host->number, 1 + timeline_apart(&world->time, 20));
    world->saved.stops[host->number].resumed = true;
}

/* ---- Going back ------------------------------------------------------------------------------ */

/* Only the operations before the barriers have been. */
static void forget_operations(struct world *world)
{
    static struct history before[TAGS];

    memcpy(before, world->histories, sizeof before);
    for (uint32_t tag = 0; tag < TAGS; tag++)
        world->histories[tag].count = 0;
    for (uint32_t pid = 0; pid < world->process_count; pid++) {
        struct process *process = &world->processes[pid];

        process->made = process->barrier;
        for (uint32_t at = 0; at < process->barrier; at++) {
            struct call *call = &process->calls[at];
            struct history *history = &world->histories[call->tag];

            history->operations[history->count] = before[call->tag].operations[call->operation];
            call->operation = history->count++;
        }
    }
}

static void put_next(struct world *world)
{
    struct saved *saved = &world->saved;
    uint32_t host = world->processes[0].lead;
    struct replica *replica = &world->processes[0].replicas[host];
    const struct kept *kept = &saved->back[saved->back_at];

    if (saved->back_at == saved->back_count) {
        saved->puts_back = false;
        for (uint32_t pid = 0; pid < world->process_count; pid++)
            for (uint32_t i = 0; i < world->host_count; i++)
                if (world->processes[pid].replicas[i].is)
                    acts_plan(world, pid, i, timeline_apart(&world->time, 50));
        return;
    }
    replica->transfer.request = (struct dataspace_request){.kind = DATASPACE_PUT,
                                                           .tag = kept->tag,
                                                           .tag_size = kept->tag_size,
                                                           .piece = replica->transfer.window,
                                                           .size = kept->size};
    replica->transfer.request.length =
        (uint32_t)(kept->size - saved->back_done < WINDOW ? kept->size - saved->back_done : WINDOW);
    memcpy(replica->transfer.window, kept->data + saved->back_done,
           replica->transfer.request.length);
    dataspace_posted(world->hosts[host].space, 0, &replica->transfer.request);
    hosts_go_on(world, &world->hosts[host]);
}

bool saved_answered(struct world *world, uint32_t length)
{
    struct saved *saved = &world->saved;
    struct action *action;

    if (!saved->puts_back)
        return false;
    saved->back_done += length;
    if (saved->back_done == saved->back[saved->back_at].size) {
        saved->back_at++;
        saved->back_done = 0;
    }
    action = timeline_plan(&world->time, 1);
    action->kind = DO_PUT_BACK;
    return true;
}

static void go_back(struct world *world)
{
    if (world->stuck || world->over)
        return;
    note(world, "all go back");
    summary.back++;
    world_drop_plan(world);
    losses_end(world);
    forget_operations(world);
    for (uint32_t pid = 0; pid < world->process_count; pid++)
        for (uint32_t i = 0; i < world->host_count; i++) {
            struct replica *replica = &world->processes[pid].replicas[i];

            *replica = (struct replica){
                .is = replica->is, .slow = replica->slow, .at = world->processes[pid].barrier};
        }
    for (uint32_t i = 0; i < world->host_count; i++)
        world_close_host(world, i);
    world->halts.on = false;
    for (uint32_t i = 0; i < world->host_count; i++)
        world_open_host(world, i);
    world->lost = world->decided = 0;
    world->looks = 0;
    world->saved.state = SAVED_NONE;
    memset(world->saved.stops, 0, sizeof world->saved.stops);
    world->saved.puts_back = true;
    losses_look(world);
    put_next(world);
}

/* ---- The world ------------------------------------------------------------------------------- */

void saved_carry_out(struct world *world, const struct action *action)
{
    switch (action->kind) {
    case DO_ARRIVE:
        arrive(world, action->from);
        break;
    case DO_CAPTURED:
        world->saved.captured[action->from] = true;
        resume_when_captured(world);
        break;
    case DO_RELEASE:
        release(world, &world->hosts[action->to]);
        break;
    case DO_RESUME:
        go_on(world, &world->hosts[action->to]);
        break;
    case DO_CALL_OFF:
        summary.called_off += world->saved.state == SAVED_WANTED;
        if (world->saved.state == SAVED_WANTED)
            resume(world);
        break;
    case DO_PUT_BACK:
        put_next(world);
        break;
    default:
        go_back(world);
        break;
    }
}

void saved_begin(struct world *world)
{
    struct action *action;

    if (world->halts.on)
        zero_plan(world);
    if (world->halts.on || world->fault.planned || timeline_apart(&world->time, 2) == 0)
        return;
    world->saved.state = SAVED_WANTED;
    for (uint32_t pid = 0; pid < world->process_count; pid++)
        world->processes[pid].barrier =
            (uint32_t)timeline_apart(&world->time, world->processes[pid].count / 2 + 1);
    action = timeline_plan(&world->time, CALL_OFF);
    action->kind = DO_CALL_OFF;
}

int saved_report(void)
{
    printf("%llu snapshots, %llu failed, %llu called off; %llu objects kept, %llu times only those "
           "of others; %llu hosts came later; all went back to %llu\n",
           (unsigned long long)summary.taken, (unsigned long long)summary.failed,
           (unsigned long long)summary.called_off, (unsigned long long)summary.objects,
           (unsigned long long)summary.of_others, (unsigned long long)summary.trailing,
           (unsigned long long)summary.back);
    return seeds_missing(&summary, sizeof summary);
}
