/* lives.c - processes that are restarted alone, and make again the requests since their last image;
 * see inside.h and log.h.
 *
 * A life has a number: how often the process was restarted because its host was lost, and in the
 * lower half how often since then where it is.  So each life has a larger one than those before,
 * wherever these were counted.
 */
#include "bsprun/dataspace/inside.h"

#define MOVE_SHIFT 16u

static void begin_life(struct dataspace *space, uint32_t pid)
{
    struct process *process = &space->processes[pid];
    enum client_state was = process->client;

    if (process->client == CLIENT_ASKING && process->asked == space->host && !space->part_lost)
        copies_withdraw(space->copies, client_request(space, pid));
    client_move(space, process, CLIENT_IDLE);
    process->life++;
    if (process->behind < process->request.number)
        process->behind = process->request.number;
    put_drop(space, pid, was);
}

void dataspace_restarted(struct dataspace *space, uint32_t pid)
{
    service_check(space);
    begin_life(space, pid);
    service_check(space);
}

static void cut_answers(struct dataspace *space, uint32_t pid, uint64_t number)
{
    struct wire_message message = {.kind = WIRE_DATA_CUT};

    if (space->part_lost || space->replicas)
        return;
    space->processes[pid].cut = number;
    if (space->processes[pid].wanted < number)
        space->processes[pid].wanted = 0;
    copies_cut(space->copies, pid, number);
    message.data_cut.pid = pid;
    message.data_cut.request = number;
    for (uint32_t i = 0; i < space->owner_count; i++)
        if (space->owners[i] != space->host && !space->others[space->owners[i]].lost)
            service_send(space, space->owners[i], &message);
}

void lives_cut(struct dataspace *space, const struct wire_data_cut *of)
{
    space->processes[of->pid].told = false;
    copies_cut(space->copies, of->pid, of->request);
}

void dataspace_cut(struct dataspace *space, uint32_t pid, uint64_t number)
{
    service_check(space);
    cut_answers(space, pid, number);
    service_check(space);
}

uint64_t dataspace_logged(const struct dataspace *space, uint32_t *pid)
{
    *pid = copies_most_logged(space->copies);
    return copies_logged(space->copies, space->nprocs);
}

bool dataspace_burdened(const struct dataspace *space, uint64_t all, uint32_t *pid)
{
    return copies_burdened(space->copies, all, pid);
}

/* ---- Before answers are given up ------------------------------------------------------------- */

struct choice {
    const struct dataspace *space;
    bool (*may)(void *context, uint32_t pid);
    void *context;
};

/* Whose host has been told is saved by that. */
static bool may_be(void *context, uint32_t pid)
{
    const struct choice *choice = context;
    const struct dataspace *space = choice->space;

    if (service_has(space, pid, space->host))
        return choice->may(choice->context, pid);
    return !space->processes[pid].told && !space->others[space->processes[pid].home].lost;
}

static void tell_home(struct dataspace *space, uint32_t pid)
{
    struct wire_message message = {.kind = WIRE_DATA_HOW_FAR};

    space->processes[pid].told = true;
    message.data_how_far.pid = pid;
    message.data_how_far.request = copies_newest(space->copies, pid);
    service_send(space, space->processes[pid].home, &message);
}

void lives_asked(struct dataspace *space, const struct wire_data_how_far *of)
{
    struct process *process = &space->processes[of->pid];

    if (of->request >= process->cut && of->request > process->wanted)
        process->wanted = of->request;
}

uint32_t dataspace_burden(struct dataspace *space, uint64_t all,
                          bool (*may)(void *context, uint32_t pid), void *context)
{
    struct choice choice = {space, may, context};
    uint32_t pid;

    if (space->part_lost || space->replicas)
        return space->nprocs;
    for (pid = 0; pid < space->nprocs; pid++)
        if (space->processes[pid].wanted > 0 && may(context, pid))
            return pid;
    pid = copies_burden(space->copies, all, may_be, &choice);
    if (pid == space->nprocs || service_has(space, pid, space->host))
        return pid;
    tell_home(space, pid);
    return space->nprocs;
}

/* ---- From a host that is lost ---------------------------------------------------------------- */

static void settle(struct dataspace *space, uint32_t pid, uint32_t host, uint32_t life)
{
    struct process *process = &space->processes[pid];

    guest_forget(space, process);
    process->home = host;
    process->life = life;
}

static void move_process(struct dataspace *space, uint32_t pid, uint32_t host)
{
    struct process *process = &space->processes[pid];
    uint32_t life = ++process->moves << MOVE_SHIFT;

    if (life <= process->life)
        return; /* its new host, or that of a later life, has said so */
    settle(space, pid, host, life);
    if (host == space->host && !space->part_lost)
        lives_ask_past(space, pid);
}

void dataspace_moved(struct dataspace *space, uint32_t pid, uint32_t host)
{
    service_check(space);
    move_process(space, pid, host);
    service_check(space);
}

static void know_past(struct dataspace *space, uint32_t pid)
{
    struct process *process = &space->processes[pid];

    space->calls->past(space->context, pid, process->behind);
    if (process->client == CLIENT_HELD)
        client_begin(space, pid);
}

void lives_ask_past(struct dataspace *space, uint32_t pid)
{
    struct process *process = &space->processes[pid];
    struct wire_message message = {.kind = WIRE_DATA_PAST};
    uint64_t newest = copies_newest(space->copies, pid);

    if (process->behind < newest)
        process->behind = newest;
    message.data_past.pid = pid;
    message.data_past.life = process->life;
    message.data_past.round = ++process->round;
    process->missing = 0;
    for (uint32_t i = 0; i < space->owner_count; i++) {
        if (space->owners[i] == space->host || space->others[space->owners[i]].lost)
            continue;
        process->missing++;
        service_send(space, space->owners[i], &message);
    }
    if (process->missing == 0)
        know_past(space, pid);
}

void lives_past(struct dataspace *space, uint32_t host, const struct wire_data_past *past)
{
    const struct process *process = &space->processes[past->pid];
    struct wire_message message = {.kind = WIRE_DATA_PAST_IS};

    if (process->home != host && (process->home == space->host || past->life <= process->life ||
                                  !space->others[process->home].lost)) {
        service_broken(space, host, "a process that lives on another host");
        return;
    }
    if (past->life > process->life)
        settle(space, past->pid, host, past->life);
    message.data_past_is.pid = past->pid;
    message.data_past_is.round = past->round;
    message.data_past_is.newest = copies_newest(space->copies, past->pid);
    service_send(space, host, &message);
}

void lives_past_is(struct dataspace *space, const struct wire_data_past_is *is)
{
    struct process *process = &space->processes[is->pid];

    if (is->round != process->round || process->missing == 0)
        return;
    if (process->behind < is->newest)
        process->behind = is->newest;
    if (--process->missing == 0)
        know_past(space, is->pid);
}
