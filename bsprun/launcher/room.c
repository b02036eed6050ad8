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

    placement->all_drained = true;
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
                                    .speed = 1,
                                    .drained = host->drained,
                                    .left = host->available};
        placement->all_drained = placement->all_drained && host->drained;
    }
}

/* A process is as if it had its copy on its host. */
static void write_processes(struct paper *paper, const struct room *room)
{
    for (uint32_t pid = 0; pid < room->process_count; pid++) {
        const struct room_process *process = &room->processes[pid];
        bool known = process->host < room->host_count;

        paper->together[pid] = pid;
        paper->needs[pid] = process->memory;
        if (known && paper->index[process->host] != ROOM_NOBODY)
            paper->copy_on[pid] = (uint16_t)(paper->index[process->host] + 1);
    }
    if (room->moves < room->process_count && room->to < room->host_count &&
        paper->index[room->to] != ROOM_NOBODY)
        paper->moves_to[room->moves] = (uint16_t)(paper->index[room->to] + 1);
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

bool room_suffices(const struct room *room, char text[PLACEMENT_TEXT_MAX])
{
    struct paper paper = {.copy_on = NULL};
    struct placement *placement = &paper.placement;
    bool enough = true;

    text[0] = '\0';
    if (room->process_count == 0 || room->host_count == 0)
        return true;
    if (take_paper(&paper, room)) {
        write_hosts(&paper, room);
        write_processes(&paper, room);
        placement->processes = room->process_count;
        placement->by_node = room->by_node;
        placement->anew = room->anew;
        placement->copy_on = paper.copy_on;
        placement->moves_to = paper.moves_to;
        placement->together = paper.together;
        placement->needs = paper.needs;
        if (placement->host_count > 0)
            enough = suffices(placement, room, placement_again(placement), text);
    }
    discard(&paper);
    return enough;
}
