/* replicas.c - what replicas of a process have in common, and which hosts have them; see inside.h.
 *
 * Each replica has a seat of its process: the place of its host among those of the cell.
 */
#include "bsprun/dataspace/inside.h"

#include <stdlib.h>
#include <string.h>

#include "ckpt/format/codec.h"
#include "lib/base/digest.h"

/* ---- Seats ----------------------------------------------------------------------------------- */

/* The hosts with replicas of the same processes have places in ascending order. */
static void find_places(struct dataspace *space, const uint32_t *leads)
{
    for (uint32_t host = 0; host < space->hosts; host++) {
        space->leads[host] = leads[host];
        for (uint32_t before = 0; before < host; before++)
            space->places[host] += leads[before] == leads[host];
        if (space->most <= space->places[host])
            space->most = space->places[host] + 1;
    }
}

static bool open_seats(struct dataspace *space, const uint32_t *homes)
{
    uint32_t seats = space->nprocs * space->most;

    space->processes = calloc(seats, sizeof *space->processes);
    space->replicas = calloc(seats, sizeof *space->replicas);
    space->limits = calloc(space->nprocs, sizeof *space->limits);
    if (!space->processes || !space->replicas || !space->limits)
        return false;
    for (uint32_t seat = 0; seat < seats; seat++) {
        space->processes[seat].home = NOWHERE;
        space->processes[seat].from = space->processes[seat].source = NOWHERE;
        space->replicas[seat].calls = BSPZ_DIGEST_NOTHING;
    }
    for (uint32_t pid = 0; pid < space->nprocs; pid++)
        for (uint32_t host = 0; host < space->hosts; host++)
            if (space->leads[host] == homes[pid]) {
                service_guest(space, pid, host)->home = host;
                if (space->places[host] == 0)
                    space->replicas[service_seat(space, pid, host)].turn = TURN_SENDS;
            }
    return true;
}

bool replicas_open(struct dataspace *space, const struct dataspace_setup *setup)
{
    space->most = 1;
    if (setup->leads) {
        space->leads = calloc(space->hosts, sizeof *space->leads);
        space->places = calloc(space->hosts, sizeof *space->places);
        if (!space->leads || !space->places)
            return false;
        find_places(space, setup->leads);
        return open_seats(space, setup->homes) && passing_open(space);
    }
    space->processes = calloc(space->nprocs, sizeof *space->processes);
    for (uint32_t pid = 0; space->processes && pid < space->nprocs; pid++)
        space->processes[pid].home = setup->homes[pid];
    return space->processes != NULL;
}

static struct replica *own(const struct dataspace *space, uint32_t pid)
{
    return &space->replicas[service_seat(space, pid, space->host)];
}

/* ---- What they ask for ----------------------------------------------------------------------- */

void replicas_begin(struct dataspace *space, uint32_t pid)
{
    const struct dataspace_request *request = &service_own(space, pid)->request;
    struct replica *replica = own(space, pid);
    unsigned char kind = (unsigned char)request->kind;

    if (request->number == 0)
        return;
    if (request->number != replica->number) /* else it was withdrawn, and is made again */
        replica->before = replica->calls;
    replica->number = request->number;
    replica->calls = bspz_digest(bspz_digest(replica->before, &kind, sizeof kind), request->tag,
                                 request->tag_size);
    replica->content = bspz_hash64(&request->size, sizeof request->size, 0);
    behind_reached(space, pid, space->host, request->number);
}

void replicas_add(struct dataspace *space, uint32_t pid, const void *bytes, uint32_t length)
{
    struct replica *replica = own(space, pid);

    replica->content = bspz_hash64(bytes, length, replica->content);
}

uint64_t replicas_what(const struct dataspace *space, uint32_t pid, uint32_t host)
{
    const struct replica *replica;
    uint64_t calls;

    if (!space->replicas)
        return 0;
    replica = &space->replicas[service_seat(space, pid, host)];
    if (host != space->host)
        return replica->what;
    calls = bspz_hash64(&replica->calls, sizeof replica->calls, 0);
    return (calls & WHAT_CALLS) | (replica->content & WHAT_CONTENT) | space->places[host];
}

void replicas_announce(struct dataspace *space, uint32_t pid)
{
    struct wire_message message = {.kind = WIRE_DATA_CALL};

    if (!space->replicas)
        return;
    message.data_call.pid = pid;
    message.data_call.what = replicas_what(space, pid, space->host);
    service_send(space, service_own(space, pid)->asked, &message);
}

void replicas_announced(struct dataspace *space, uint32_t host, const struct wire_data_call *call)
{
    if (!space->replicas)
        service_broken(space, host, "a request of a replica, of which there are none");
    else if ((call->what & WHAT_PLACE) != space->places[host])
        service_broken(space, host, "a request of a replica of another host");
    else
        space->replicas[service_seat(space, call->pid, host)].what = call->what;
}

/* ---- Replicas that differ -------------------------------------------------------------------- */

uint32_t replicas_asker(const struct dataspace *space, uint32_t pid, uint64_t what)
{
    uint64_t place = what & WHAT_PLACE;

    return place < space->most ? space->processes[pid * space->most + place].home : NOWHERE;
}

void replicas_differ(struct dataspace *space, const struct copies_mismatch *of)
{
    const struct asker *asker = of->asker;
    struct dataspace_mismatch mismatch = {.pid = asker->pid,
                                          .number = asker->number,
                                          .hosts = {asker->host, asker->host},
                                          .tag = of->tag,
                                          .tag_size = of->tag_size,
                                          .answered = of->answered};

    if (of->was != 0)
        mismatch.hosts[1] = replicas_asker(space, asker->pid, of->was);
    if (mismatch.hosts[1] == NOWHERE)
        mismatch.hosts[1] = asker->host;
    for (uint32_t i = 0; i < space->most && mismatch.hosts[1] == asker->host; i++)
        if (space->processes[asker->pid * space->most + i].home != NOWHERE)
            mismatch.hosts[1] = space->processes[asker->pid * space->most + i].home;
    space->calls->mismatch(space->context, &mismatch);
}
