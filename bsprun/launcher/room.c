/* room.c - see room.h. */
#include "bsprun/launcher/room.h"

#include <stdlib.h>

/* What placement.h needs memory for. */
struct paper {
    struct placement placement;
    uint16_t *copy_on, *moves_to;
    uint32_t *together;
    uint64_t *needs;
    uint32_t *index; /* of each host of the room among those that take part */
};

static void discard(struct paper *paper)
{
    free(paper->placement.hosts);
    free(paper->placement.home);
    free(paper->placement.wanted);
    free(paper->placement.next);
    free(paper->placement.groups);
    free(paper->copy_on);
    free(paper->moves_to);
    free(paper->together);
    free(paper->needs);
    free(paper->index);
}

static bool take_paper(struct paper *paper, const struct room *room)
{
    struct placement *placement = &paper->placement;
    size_t processes = room->process_count;

    placement->hosts = calloc(room->host_count, sizeof *placement->hosts);
    placement->home = calloc(processes, sizeof *placement->home);
    placement->wanted = calloc(processes, sizeof *placement->wanted);
    placement->next = calloc(processes, sizeof *placement->next);
    placement->groups = calloc(processes, sizeof *placement->groups);
    paper->copy_on = calloc(processes, sizeof *paper->copy_on);
    paper->moves_to = calloc(processes, sizeof *paper->moves_to);
    paper->together = calloc(processes, sizeof *paper->together);
    paper->needs = calloc(processes, sizeof *paper->needs);
    paper->index = calloc(room->host_count, sizeof *paper->index);
    return placement->hosts && placement->home && placement->wanted && placement->next &&
           placement->groups && paper->copy_on && paper->moves_to && paper->together &&
           paper->needs && paper->index;
}

static void write_hosts(struct paper *paper, const struct room *room)
{
    struct placement *placement = &paper->placement;

    bool with_speeds = true;

    placement->all_drained = true;
    for (uint32_t i = 0; i < room->host_count; i++)
        with_speeds = with_speeds && (!room->hosts[i].takes_part || room->hosts[i].speed > 0);
    for (uint32_t i = 0; i < room->host_count; i++) {
        const struct room_host *host = &room->hosts[i];

        paper->index[i] = ROOM_NOBODY;
        if (!host->takes_part)
            continue;
        paper->index[i] = placement->host_count;
        placement->hosts[placement->host_count++] =
            (struct placement_host){.name = host->name,
                                    .id = i,
                                    .slots = host->slots > 0 ? host->slots : 1,
                                    .busy = host->busy,
                                    .speed = with_speeds ? host->speed : 1,
                                    .drained = host->drained,
                                    .left = host->available};
        placement->all_drained = placement->all_drained && host->drained;
    }
}

static void want(struct paper *paper, const struct room *room, uint32_t pid, uint32_t host)
{
    if (pid < room->process_count && host < room->host_count && paper->index[host] != ROOM_NOBODY)
        paper->moves_to[pid] = (uint16_t)(paper->index[host] + 1);
}

/* A process is as if it had its copy on its host, unless that is uncertain. */
static void write_processes(struct paper *paper, const struct room *room)
{
    for (uint32_t pid = 0; pid < room->process_count; pid++) {
        const struct room_process *process = &room->processes[pid];
        bool known = process->host < room->host_count;

        paper->together[pid] = pid;
        paper->needs[pid] = process->memory;
        if (known && !room->without_copies && paper->index[process->host] != ROOM_NOBODY)
            paper->copy_on[pid] = (uint16_t)(paper->index[process->host] + 1);
    }
    for (uint32_t i = 0; i < room->wanted.count; i++)
        want(paper, room, room->wanted.items[i].pid, room->wanted.items[i].host);
    want(paper, room, room->moves, room->to);
}

static bool is_asked_for(const struct room *room, uint32_t pid)
{
    return room->anew || pid == room->moves ||
           (room->leaves != ROOM_NOBODY && room->processes[pid].host == room->leaves);
}

static bool suffices(const struct placement *placement, const struct room *room, bool placed,
                     char *text)
{
    if (!placed) {
        placement_text(placement, placement->nowhere, text);
        return false;
    }
    for (uint32_t pid = 0; pid < room->process_count; pid++)
        if (is_asked_for(room, pid) && placement_missed(placement, pid)) {
            placement_text(placement, pid, text);
            return false;
        }
    return true;
}

/* False: there is nothing to place, or no memory of malloc. */
static bool write_paper(struct paper *paper, const struct room *room)
{
    struct placement *placement = &paper->placement;

    if (room->process_count == 0 || room->host_count == 0 || !take_paper(paper, room))
        return false;
    write_hosts(paper, room);
    write_processes(paper, room);
    placement->processes = room->process_count;
    placement->by_node = room->by_node;
    placement->anew = room->anew;
    placement->copy_on = paper->copy_on;
    placement->moves_to = paper->moves_to;
    placement->together = paper->together;
    placement->needs = paper->needs;
    return placement->host_count > 0;
}

static bool goes_on_having(const struct room_host *hosts, const struct room_process *process)
{
    const struct room_host *host = &hosts[process->host];

    return host->takes_part && !host->drained;
}

void room_found(const struct room_host *hosts, struct room_process *process,
                struct room_process found)
{
    if (process->host == ROOM_NOBODY || !goes_on_having(hosts, process))
        *process = found;
}

bool room_suffices(const struct room *room, char text[PLACEMENT_TEXT_MAX])
{
    struct paper paper = {.copy_on = NULL};
    bool enough = true;

    text[0] = '\0';
    if (write_paper(&paper, room))
        enough = suffices(&paper.placement, room, placement_again(&paper.placement), text);
    discard(&paper);
    return enough;
}

bool room_expect(const struct room *room, uint32_t *to)
{
    struct paper paper = {.copy_on = NULL};
    bool placed = write_paper(&paper, room) && placement_again(&paper.placement);

    for (uint32_t pid = 0; placed && pid < room->process_count; pid++)
        to[pid] = paper.placement.hosts[paper.placement.home[pid]].id;
    discard(&paper);
    return placed;
}
