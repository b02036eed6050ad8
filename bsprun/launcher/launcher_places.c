/* launcher_places.c - requests of the user, and of Processor Zero, about hosts and places.
 *
 * Happy path: a request is checked -> the job machine has the term end at a snapshot -> the next
 * one begins with other places (ELECT) and runs -> "done".
 *
 * What can fail: a refusal, also because there is too little memory; a fault comes first, and the
 * next term has the new places all the same; memory gets short meanwhile, and some stay where they
 * are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bsprun/hosts/adapter.h"
#include "bsprun/hosts/remote_start.h"
#include "bsprun/launcher/launcher_inside.h"
#include "bsprun/launcher/map.h"

void launcher_await_next_term(struct launcher *launcher)
{
    launcher->move_asked_in = job_machine_term(launcher->machine);
    if (launcher->move_asked_in == 0)
        launcher->move_asked_in = 1; /* which begins with what the hosts are now */
}

/* A host that was to be used, which may have been lost as soon as it took part. */
static void tell_opened(struct launcher *launcher, const struct launcher_agent *agent)
{
    char lost[WIRE_NAME_MAX + 64];
    bool member = job_machine_member(launcher->machine, agent->host);

    snprintf(lost, sizeof lost, "host %s was lost; the job continues without it", agent->name);
    status_socket_tell(launcher->status_socket, 1u << STATUS_OPEN, agent->name,
                       member ? "done" : lost);
}

/* ---- Processes that are not where they were to be ---- */

static const char *name_of(const struct launcher *launcher, uint32_t host)
{
    return host < launcher->agents.count ? launcher->agents.items[host].name : "?";
}

static void describe_missed(const struct launcher *launcher, uint32_t i, char *text, size_t size)
{
    const struct wire_move *move = &launcher->missed[i];

    snprintf(text, size, "process %u continues on host %s, because there is too little memory%s%s",
             move->pid, name_of(launcher, move->host), i == 0 ? ": " : " elsewhere",
             i == 0 ? launcher->why_missed : "");
}

void launcher_take_missed(struct launcher *launcher, const struct wire_chosen *chosen)
{
    uint32_t count = chosen->missed.count;
    char text[PLACEMENT_TEXT_MAX + WIRE_NAME_MAX + 96], others[64] = "";

    replica_view_explain(&launcher->replicas, chosen->text);
    free(launcher->missed);
    launcher->missed = count > 0 ? calloc(count, sizeof *launcher->missed) : NULL;
    launcher->missed_count = launcher->missed ? count : 0;
    if (launcher->missed_count == 0)
        return;
    memcpy(launcher->missed, chosen->missed.items, count * sizeof *launcher->missed);
    snprintf(launcher->why_missed, sizeof launcher->why_missed, "%s", chosen->text);
    describe_missed(launcher, 0, text, sizeof text);
    if (count > 1)
        snprintf(others, sizeof others, "; %u more %s not on the intended host", count - 1,
                 count == 2 ? "is" : "are");
    notices_say(&launcher->common.notices, "%s%s", text, others);
}

static void tell_missed(struct launcher *launcher, uint32_t i)
{
    const struct wire_move *move = &launcher->missed[i];
    char text[PLACEMENT_TEXT_MAX + WIRE_NAME_MAX + 96];

    describe_missed(launcher, i, text, sizeof text);
    /* A host that was to be removed is drained then. */
    status_socket_tell(launcher->status_socket, 1u << STATUS_DRAIN | 1u << STATUS_REMOVE,
                       name_of(launcher, move->host), text);
    status_socket_tell_move(launcher->status_socket, move->pid, NULL, text);
    status_socket_tell_all(launcher->status_socket, 1u << STATUS_PLACE, text);
}

/* Hosts that were drained because memory seemed to be short are removed when they have no processes
 * now.  Whether there are such hosts. */
static bool remove_after_all(struct launcher *launcher)
{
    bool any = false;

    for (uint32_t i = 0; i < launcher->agents.count; i++) {
        bool misses = false;

        if (!launcher->to_remove[i])
            continue;
        launcher->to_remove[i] = false;
        for (uint32_t j = 0; j < launcher->missed_count; j++)
            misses = misses || launcher->missed[j].host == i;
        if (misses || !job_machine_member(launcher->machine, i))
            continue;
        launcher_await_next_term(launcher);
        launcher_event(
            launcher, (struct job_event){.kind = JOB_EVENT_USE, .host = i, .use = JOB_USE_REMOVED});
        any = true;
    }
    return any;
}

void launcher_tell_moved(struct launcher *launcher, uint32_t processes)
{
    launcher->processes = processes;
    if (launcher->move_asked_in > 0 &&
        job_machine_term(launcher->machine) <= launcher->move_asked_in)
        return;
    launcher->move_asked_in = 0;
    for (uint32_t i = 0; i < launcher->missed_count; i++)
        tell_missed(launcher, i);
    launcher_replicas_tell(launcher);
    status_socket_done(launcher->status_socket,
                       (remove_after_all(launcher) ? 0 : 1u << STATUS_REMOVE) | 1u << STATUS_DRAIN |
                           1u << STATUS_PLACE | 1u << STATUS_MOVE);
    for (uint32_t i = 0; i < launcher->agents.count; i++)
        if (!job_machine_joins(launcher->machine, i))
            tell_opened(launcher, &launcher->agents.items[i]);
}

void launcher_tell_map(struct launcher *launcher)
{
    const struct replica_view *view = &launcher->replicas;

    for (uint32_t i = 0; i < launcher->agents.count; i++) {
        char *pids = map_pids(view->homes, view->processes, view->lead[i]);

        if (pids && *pids)
            notices_say(&launcher->common.notices, "map: host %s: %s", name_of(launcher, i), pids);
        free(pids);
    }
}

void launcher_take_moves(struct launcher *launcher, const struct wire_term_over *over)
{
    uint32_t term = job_machine_term(launcher->machine);
    bool anew = job_machine_places_anew(launcher->machine);
    uint32_t count = anew ? 0 : wanted_moves_decided(&launcher->wanted_moves, term, over->moves);
    const struct wire_move *first = over->moves.items;
    const struct launcher_agent *to = count > 0 ? agents_of(&launcher->agents, first->host) : NULL;

    launcher->moving_seconds = over->moving_seconds;
    launcher->passed_seconds = over->passed_seconds;

    if (to && launcher->common.options->verbosity > 0)
        notices_say(&launcher->common.notices,
                    "balance: %u process%s to other hosts, among them process %u to host %s", count,
                    count == 1 ? " moves" : "es move", first->pid, to->name);
}

/* ---- bspctl ---- */

struct launcher_agent *launcher_find_host(const struct launcher *launcher, const char *name)
{
    bool own = hosts_is_own(name, launcher->common.options->hosts.own);

    for (uint32_t i = 0; i < launcher->agents.count; i++)
        if ((own && launcher->agents.items[i].local) ||
            strcasecmp(launcher->agents.items[i].name, name) == 0)
            return &launcher->agents.items[i];
    return NULL;
}

static const char *refuse_host(struct launcher *launcher, const struct status_order *order,
                               const struct launcher_agent *agent)
{
    char *text = launcher->refusal;
    size_t size = sizeof launcher->refusal;
    const struct job_machine *machine = launcher->machine;
    bool drained = agent && job_machine_drained(machine, agent->host);
    bool member = agent && job_machine_member(machine, agent->host);
    bool by_user = drained && !launcher->owners.hosts[agent->host].drained;

    if (!agent)
        snprintf(text, size, "it has no host %.255s; bspctl JOB hosts lists its hosts",
                 order->host);
    else if (!member && order->what != STATUS_OPEN)
        snprintf(text, size, "host %.255s does not take part in it at present", order->host);
    else if (member && order->what == STATUS_OPEN && !drained)
        snprintf(text, size, "host %.255s already takes part in it", order->host);
    else if (order->what == STATUS_OPEN && owners_refuse(&launcher->owners, agent->host))
        snprintf(text, size, "the owner of host %.255s is active", order->host);
    else if (order->what == STATUS_DRAIN && by_user)
        snprintf(text, size, "host %.255s is already drained", order->host);
    else if (order->what == STATUS_MOVE && drained)
        snprintf(text, size, "host %.255s is drained and gets no processes", order->host);
    else if ((order->what == STATUS_DRAIN || order->what == STATUS_REMOVE) &&
             !job_machine_can_drain(machine, agent->host))
        snprintf(text, size, "host %.255s is the last host that may have processes", order->host);
    else if (order->what == STATUS_REMOVE && launcher->common.options->hosts.copies < 2)
        snprintf(text, size, "host %.255s may be the only one with some images (--copies 1)",
                 order->host);
    else
        return NULL;
    return text;
}

const char *launcher_refuse_room(struct launcher *launcher, const struct status_order *order,
                                 uint32_t host)
{
    struct room_host *hosts = calloc(launcher->agents.count, sizeof *hosts);
    struct room_process *processes = calloc((size_t)launcher->processes + 1, sizeof *processes);
    struct room room = {.hosts = hosts,
                        .without_copies = launcher->holds_over,
                        .host_count = launcher->agents.count,
                        .processes = processes,
                        .process_count = launcher->processes,
                        .by_node = launcher->common.options->hosts.by_node,
                        .anew = order->what == STATUS_PLACE,
                        .leaves = ROOM_NOBODY,
                        .moves = ROOM_NOBODY,
                        .to = host};
    char text[PLACEMENT_TEXT_MAX];
    bool enough = true;

    if (hosts && processes && launcher->places) {
        launcher_describe_hosts(launcher, hosts);
        if (order->what == STATUS_DRAIN || order->what == STATUS_REMOVE) {
            room.leaves = host;
            hosts[host].drained = true;
            hosts[host].takes_part = order->what == STATUS_DRAIN;
        }
        launcher_describe_processes(launcher, hosts, processes);
        if (order->what == STATUS_MOVE)
            room.moves = order->pid;
        enough = room_suffices(&room, text);
    }
    free(hosts);
    free(processes);
    if (enough)
        return NULL;
    snprintf(launcher->refusal, sizeof launcher->refusal, "there is too little memory: %s", text);
    return launcher->refusal;
}

static const char *refuse_job(const struct launcher *launcher)
{
    if (job_machine_closed(launcher->machine) || launcher->common.life.signals > 0)
        return "it is ending";
    if (!agents_has_hosts(&launcher->agents) || !launcher->agents.start)
        return "it has only one host; start it with several hosts, or with spares";
    return NULL;
}

/* Before the first term nothing can be ended to begin the next one. */
static const char *refuse_early(const struct launcher *launcher)
{
    return job_machine_term(launcher->machine) == 0 ? "its processes are not running yet" : NULL;
}

/* The next term is the one in which the process would be elsewhere. */
static const char *refuse_process(struct launcher *launcher, uint32_t pid)
{
    uint32_t processes = launcher->processes;

    if (replica_counts_most(&launcher->replicas.wanted, WIRE_RANKS_MAX) > 1)
        return "it has replicas, which are not moved: bspctl JOB drain HOST vacates a host";
    if (pid < processes)
        return NULL;
    snprintf(launcher->refusal, sizeof launcher->refusal,
             processes > 0 ? "it has no process %u: its processes are 0 to %u"
                           : "its processes are not running yet",
             pid, processes - 1);
    return launcher->refusal;
}

static const char *refuse(struct launcher *launcher, const struct status_order *order,
                          const struct launcher_agent *agent)
{
    const char *refusal = refuse_job(launcher);

    if (refusal)
        return refusal;
    if (order->what == STATUS_PLACE || order->what == STATUS_OPEN)
        refusal = refuse_early(launcher);
    if (refusal)
        return refusal;
    if (order->what == STATUS_PLACE)
        return launcher_refuse_room(launcher, order, ROOM_NOBODY);
    if (order->what == STATUS_MOVE)
        refusal = refuse_process(launcher, order->pid);
    if (!refusal)
        refusal = refuse_host(launcher, order, agent);
    if (!refusal && order->what != STATUS_OPEN)
        refusal = launcher_refuse_room(launcher, order, agent->host);
    return refusal;
}

/* The host of an order, from HOST or, to be added, USER@HOST:SLOTS; a new one enters the table.
 * Returns the reason of a refusal, or NULL. */
static const char *find_or_admit(struct launcher *launcher, struct status_order *order,
                                 struct launcher_agent **agent)
{
    struct hosts named = {0};
    char error[HOSTS_ERROR];

    *agent = launcher_find_host(launcher, order->host);
    if (*agent || order->what != STATUS_OPEN)
        return refuse(launcher, order, *agent);
    if (!hosts_from_list(&named, order->host, "", error)) {
        snprintf(launcher->refusal, sizeof launcher->refusal, "%s", error);
        return launcher->refusal;
    }
    char **addresses = adapter_own();
    hosts_find_own(&named, (const char *const *)addresses);
    adapter_free(addresses);
    order->host = named.items[0].name;
    *agent = launcher_find_host(launcher, order->host);
    const char *refusal = named.count > 1 ? "add one host at a time"
                          : *agent        ? refuse(launcher, order, *agent)
                                          : refuse_job(launcher);
    if (!refusal && !*agent)
        refusal = refuse_early(launcher);
    if (!refusal && *agent && named.items[0].slots > 0)
        (*agent)->slots = named.items[0].slots;
    if (!refusal && !*agent)
        *agent = agents_admit(&launcher->agents, &named);
    hosts_free(&named);
    return refusal || *agent ? refusal : "it has no room for more hosts";
}

/* Whether the process is there, as far as its agent has just said, and not about to leave. */
static bool is_there(const struct launcher *launcher, uint32_t pid, uint32_t host)
{
    const struct host_places *places = launcher->places ? &launcher->places[host] : NULL;

    if (!places || !places->answered ||
        wanted_moves_elsewhere(&launcher->wanted_moves, (struct wire_move){pid, host}) ||
        launcher->move_asked_in > 0)
        return false;
    for (uint32_t i = 0; i < places->count; i++)
        if (places->items[i].pid == pid)
            return true;
    return false;
}

/* Whoever still waits for the opposite does so in vain. */
static void tell_overtaken(struct launcher *launcher, const struct status_order *order)
{
    char text[WIRE_NAME_MAX + 96];

    if (order->what == STATUS_PLACE)
        status_socket_tell_all(launcher->status_socket, 1u << STATUS_MOVE,
                               "all processes are placed anew, by another bspctl");
    else if (order->what == STATUS_MOVE) {
        snprintf(text, sizeof text, "process %u is to move to host %s now, by another bspctl",
                 order->pid, order->host);
        status_socket_tell_move(launcher->status_socket, order->pid, order->host, text);
    } else if (order->what == STATUS_OPEN) {
        snprintf(text, sizeof text, "host %s may have processes again, by another bspctl",
                 order->host);
        status_socket_tell(launcher->status_socket, 1u << STATUS_DRAIN | 1u << STATUS_REMOVE,
                           order->host, text);
    }
}

const char *launcher_change_places(struct launcher *launcher, struct status_order *order)
{
    static const enum job_use uses[STATUS_REQUEST_COUNT] = {[STATUS_DRAIN] = JOB_USE_DRAINED,
                                                            [STATUS_REMOVE] = JOB_USE_REMOVED,
                                                            [STATUS_OPEN] = JOB_USE_OPEN};
    struct launcher_agent *agent;
    const char *refusal = find_or_admit(launcher, order, &agent);

    order->host = agent ? agent->name : "";
    if (refusal)
        return refusal;
    struct job_event event = {
        .kind = JOB_EVENT_USE, .host = agent ? agent->host : JOB_NO_HOST, .use = uses[order->what]};
    if (order->what == STATUS_PLACE) {
        event = (struct job_event){.kind = JOB_EVENT_PLACE};
        wanted_moves_place_anew(&launcher->wanted_moves, job_machine_term(launcher->machine));
    }
    if (order->what == STATUS_MOVE && is_there(launcher, order->pid, agent->host)) {
        snprintf(launcher->refusal, sizeof launcher->refusal,
                 "process %u is on host %.255s already", order->pid, agent->name);
        order->already = launcher->refusal;
        return NULL;
    }
    if (order->what == STATUS_MOVE) {
        event = (struct job_event){.kind = JOB_EVENT_MOVE};
        if (!wanted_moves_add(&launcher->wanted_moves, job_machine_term(launcher->machine),
                              (struct wire_move){order->pid, agent->host}))
            return "out of memory";
    }
    /* What is drained for its owner is now by request: it is used again by request, too. */
    if (event.kind == JOB_EVENT_USE)
        owners_taken(&launcher->owners, agent->host);
    tell_overtaken(launcher, order);
    launcher_await_next_term(launcher);
    launcher_event(launcher, event);
    return NULL;
}

/* ---- Hosts that are to be left ---- */

void launcher_leave_host(struct launcher *launcher, struct launcher_agent *agent, const char *why)
{
    const struct status_order order = {.what = STATUS_REMOVE};
    const char *short_of = launcher_refuse_room(launcher, &order, agent->host);
    /* Where there is but one copy of each image the host may have some that are needed; and of a
     * drained host what fits nowhere else can stay as long as it is there. */
    bool remove = launcher->common.options->hosts.copies > 1 && !short_of;

    if (job_machine_joins(launcher->machine, agent->host)) {
        /* What starts the agent would fail later, and end another start that there is by then. */
        if (agent->state == AGENT_STARTING)
            remote_start_stop(launcher->agents.start, agent->host);
        agents_give_up(agent, AGENT_NOT_STARTED, why);
        return;
    }
    if (!job_machine_member(launcher->machine, agent->host))
        return;
    notices_say(&launcher->common.notices,
                "host %s is to be vacated, because %s: its processes move at the next barrier%s%s",
                agent->name, why, short_of ? ", if they can: " : "", short_of ? short_of : "");
    launcher_await_next_term(launcher);
    launcher_event(launcher, (struct job_event){.kind = JOB_EVENT_USE,
                                                .host = agent->host,
                                                .use = remove ? JOB_USE_REMOVED : JOB_USE_DRAINED});
}
