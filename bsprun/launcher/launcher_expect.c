/* launcher_expect.c - where processes are expected to be after a move that is asked for, so that
 * Processor Zero has them restored there ahead.
 *
 * Happy path: a move is asked for -> SAVE with what is known -> hosts that have not said in this
 * term which processes they have are asked -> all have answered: SAVE again, with all of it.
 *
 * What can fail: hosts do not answer before the term is over, or Processor Zero places processes
 * otherwise.  Then something is restored in vain, or nothing ahead.
 */
#include <stdlib.h>

#include "bsprun/launcher/launcher_inside.h"

void launcher_describe_hosts(const struct launcher *launcher, struct room_host *hosts)
{
    for (uint32_t i = 0; i < launcher->agents.count; i++) {
        const struct launcher_agent *agent = &launcher->agents.items[i];
        const struct host_places *places = &launcher->places[i];
        bool loads = launcher->common.options->hosts.load;

        hosts[i] = (struct room_host){.name = agent->name,
                                      .slots = agent->slots > 0 ? agent->slots : agent->cores,
                                      .takes_part = job_machine_member(launcher->machine, i) &&
                                                    !job_machine_removed(launcher->machine, i),
                                      .drained = job_machine_drained(launcher->machine, i),
                                      .busy = loads ? agent->load.busy : 0,
                                      .speed = loads ? agent->load.speed : 0,
                                      .available =
                                          places->answered ? places->available : PLACEMENT_UNKNOWN};
    }
}

void launcher_describe_processes(const struct launcher *launcher, const struct room_host *hosts,
                                 struct room_process *processes)
{
    for (uint32_t pid = 0; pid < launcher->processes; pid++)
        processes[pid].host = ROOM_NOBODY;
    for (uint32_t i = 0; i < launcher->agents.count; i++) {
        const struct host_places *places = &launcher->places[i];

        for (uint32_t j = 0; places->answered && j < places->count; j++)
            if (places->items[j].pid < launcher->processes)
                room_found(hosts, &processes[places->items[j].pid],
                           (struct room_process){i, places->items[j].memory});
    }
}

/* Whether all have said which processes they have in this term. */
static bool knows_places(const struct launcher *launcher)
{
    uint32_t term = job_machine_term(launcher->machine), found = 0;

    for (uint32_t i = 0; launcher->places && i < launcher->agents.count; i++)
        if (job_machine_member(launcher->machine, i) && launcher->places[i].answered &&
            launcher->places[i].term == term)
            found += launcher->places[i].count;
    return found > 0 && found == launcher->processes;
}

/* Hosts that take part from the next term on have processes of which nothing is known. */
static bool any_joins(const struct launcher *launcher)
{
    for (uint32_t i = 0; i < launcher->agents.count; i++)
        if (job_machine_joins(launcher->machine, i))
            return true;
    return false;
}

/* The moves that the placement makes of it, or else those that were asked for. */
static struct wire_move_list expect(const struct launcher *launcher)
{
    struct wire_move_list wanted = wanted_moves_list(&launcher->wanted_moves);
    uint32_t processes = launcher->processes, hosts = launcher->agents.count;
    struct room_host *room_hosts = calloc(hosts, sizeof *room_hosts);
    struct room_process *room_processes = calloc((size_t)processes + 1, sizeof *room_processes);
    uint32_t *to = calloc((size_t)processes + 1, sizeof *to);
    struct wire_move *moves = calloc((size_t)processes + wanted.count + 1, sizeof *moves);
    struct room room = {.hosts = room_hosts,
                        .host_count = hosts,
                        .processes = room_processes,
                        .process_count = processes,
                        .by_node = launcher->common.options->hosts.by_node,
                        .anew = job_machine_places_anew(launcher->machine),
                        .leaves = ROOM_NOBODY,
                        .moves = ROOM_NOBODY,
                        .to = ROOM_NOBODY,
                        .wanted = wanted};
    uint32_t count = 0;

    /* Processes with replicas are all made from images, whichever hosts get them. */
    if (replica_counts_most(&launcher->replicas.wanted, WIRE_RANKS_MAX) > 1)
        wanted.count = 0;
    else if (room_hosts && room_processes && to && moves) {
        bool known = knows_places(launcher) && !any_joins(launcher);
        if (known) {
            launcher_describe_hosts(launcher, room_hosts);
            launcher_describe_processes(launcher, room_hosts, room_processes);
        }
        if (known && room_expect(&room, to)) {
            for (uint32_t pid = 0; pid < processes; pid++)
                if (to[pid] != room_processes[pid].host)
                    moves[count++] = (struct wire_move){pid, to[pid]};
        } else {
            for (uint32_t i = 0; i < wanted.count; i++)
                moves[count++] = wanted.items[i];
        }
    }
    free(room_hosts);
    free(room_processes);
    free(to);
    return (struct wire_move_list){moves, count};
}

bool launcher_ask_to_move(struct launcher *launcher, uint32_t zero, struct wire_message *save)
{
    struct wire_move_list expected = expect(launcher);
    bool known = knows_places(launcher);

    save->save.expected = expected;
    agents_send(&launcher->agents.items[zero], save);
    save->save.expected = (struct wire_move_list){NULL, 0};
    free((void *)expected.items);
    launcher->expects_in = known ? 0 : job_machine_term(launcher->machine);
    return known;
}

void launcher_expect_again(struct launcher *launcher)
{
    uint32_t term = launcher->expects_in, zero = job_machine_zero(launcher->machine);
    struct wire_message message = {.kind = WIRE_SAVE, .save.move = true};

    launcher->expects_in = 0;
    if (term > 0 && term == job_machine_term(launcher->machine) && knows_places(launcher) &&
        zero < launcher->agents.count && agents_is_up(&launcher->agents.items[zero]))
        launcher_ask_to_move(launcher, zero, &message);
}
