/* ranks.c - adopting, watching and counting the processes of this host.
 *
 * Happy path: a slot says FORKED -> pidfd taken, core given, HELD -> READY, all of them: told to
 * Processor Zero -> RUNNING -> ENDED, all of them: the barrier of bsp_end is reported -> the pidfd
 * fires -> RANK_EXITED.
 *
 * What can fail: the process is gone before its pidfd is taken; it marks itself EXITED, ABORTED or
 * FAILED; its pidfd fires while it runs.  Each ends the job through agent_abort, unless the job is
 * being stopped already.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bsprun/agent/agent.h"
#include "bsprun/agent/fetch.h"
#include "bsprun/agent/peers.h"

#define DESCRIPTORS_SPARE 128u /* for everything but the ranks */

static void process_ended(struct watched *process)
{
    struct agent *agent = process->agent;

    process->gone = true;
    process->death = process_death(process->pidfd);
    agent_scan(agent); /* its last marks come before its death */
    if (!process->ended)
        agent_check_over(agent);
    else if (process->watching && process->gone) /* not another one by now */
        process->ended(process);
}

static void on_pidfd(uv_poll_t *handle, int status, int events)
{
    struct watched *process = handle->data;

    (void)status;
    (void)events;
    uv_poll_stop(handle);
    process_ended(process);
}

int agent_watch(struct agent *agent, struct watched *process, int pid, pid_t ospid)
{
    int error;
    int pidfd = process_pidfd(ospid);

    if (pidfd < 0)
        return pidfd;
    process->agent = agent;
    process->pid = pid;
    process->ospid = ospid;
    process->pidfd = pidfd;
    process->gone = false;
    process->death = (struct death){0};
    process->poll = malloc(sizeof *process->poll);
    error = process->poll ? uv_poll_init(&agent->loop, process->poll, pidfd) : -ENOMEM;
    if (error) {
        free(process->poll);
        close(pidfd);
        process->pidfd = -1;
        return error;
    }
    process->watching = true;
    process->poll->data = process;
    return uv_poll_start(process->poll, UV_READABLE, on_pidfd);
}

static void free_poll(uv_handle_t *handle)
{
    free(handle);
}

void agent_unwatch(struct watched *process)
{
    if (!process->watching)
        return;
    uv_close((uv_handle_t *)process->poll, free_poll);
    close(process->pidfd);
    process->pidfd = -1;
    process->poll = NULL;
    process->watching = false;
}

void agent_move_watched(struct watched *from, struct watched *to)
{
    *to = *from;
    to->poll->data = to;
    *from = (struct watched){.pidfd = -1};
}

/* As `| head -1` ends any command: whoever reads no more wants no report of it either. */
static bool died_unread(const struct agent *agent, int pid)
{
    return agent->bare && atomic_load(&bspz_rank_of(agent->board, pid)->unread);
}

/* The death or last mark of a rank, judged. */
static void judge_rank(struct agent *agent, int pid)
{
    const struct member *member = &agent->members[pid];
    struct whereabouts where;
    struct verdict verdict;

    if (pid > 0 && atomic_load(&agent->board->clone_error))
        return; /* not all could be made: process 0 knows, and will say so */
    whereabouts_read(agent->board, agent->nprocs, pid, &where);
    verdict_of_rank(&where, &member->process.death, &verdict);
    if (died_unread(agent, pid))
        agent_blame(agent, "", false);
    if (!agent_snapshots_fault(agent, pid, &verdict))
        agent_abort(agent, pid, &verdict);
}

static void cannot_watch(struct agent *agent, int pid, int error)
{
    struct verdict verdict = {.cause = WIRE_CAUSE_PLACEMENT, .status = 1};

    snprintf(verdict.text, sizeof verdict.text, "%d processes are too many to watch: %s%s",
             agent->nprocs, strerror(-error), verdict_limit_hint(-error));
    agent_abort(agent, pid, &verdict);
}

bool agent_is_here(const struct agent *agent, int pid)
{
    return agent->home[pid] == agent->host;
}

int agent_core_of(const struct agent *agent, int pid)
{
    int index = 0;

    if (agent->cores.count == 0 || agent->order.bind == WIRE_BIND_NONE)
        return -1;
    for (int other = agent->first_here; other < pid; other++)
        index += agent_is_here(agent, other);
    return agent->cores.cpus[index];
}

static void adopt(struct agent *agent, int pid)
{
    struct bspz_rank *rank = bspz_rank_of(agent->board, pid);
    struct member *member = &agent->members[pid];
    pid_t ospid = atomic_load(&rank->ospid); /* 0: it was never made, process 0 says why */
    int error;

    error = ospid > 0 ? agent_watch(agent, &member->process, pid, ospid) : -ESRCH;
    if (error) {
        member->missed = true;
        if (error == -ESRCH)
            judge_rank(agent, pid);
        else
            cannot_watch(agent, pid, error);
        return;
    }
    member->adopted = true;
    agent->adopted++;
    atomic_store(&rank->core, agent_core_of(agent, pid));
    if (atomic_load(&rank->state) == BSPZ_RANK_FORKED)
        bspz_word_set(&rank->state, BSPZ_RANK_HELD);
    /* A stop that began before this one was known reaches it all the same. */
    if (agent->job == JOB_KILLING)
        process_signal(member->process.pidfd, SIGKILL);
}

/* What ranks of other hosts publish can be brought here from now on: theirs run as soon as the last
 * host is ready. */
static bool join_boards(struct agent *agent)
{
    struct verdict verdict = {.cause = WIRE_CAUSE_INTERNAL, .status = 1};
    int error = agent_peers_mirror(agent);

    if (!error)
        return true;
    snprintf(verdict.text, sizeof verdict.text, "no memory for what comes from other hosts: %s",
             strerror(-error));
    agent_abort(agent, COORD_NOBODY, &verdict);
    return false;
}

void agent_all_ready(struct agent *agent)
{
    struct wire_message message = {.kind = WIRE_RANKS_READY};

    if (!join_boards(agent))
        return;
    message.ranks_ready.count = (uint32_t)agent->here;
    agent_tell_zero(agent, &message);
}

static void all_ended(struct agent *agent)
{
    agent->end_ns = agent_now_ns();
    if (agent->job != JOB_RUNNING)
        return;
    job_move(&agent->job, JOB_ENDING);
    if (!agent->end_reported)
        agent_arrived(agent, atomic_load(&bspz_rank_of(agent->board, agent->first_here)->superstep),
                      WIRE_BARRIER_END);
}

/* Acts on one step of a rank's life; the counts make each "all" fire once. */
static void scan_rank(struct agent *agent, int pid)
{
    struct member *member = &agent->members[pid];
    enum bspz_rank_state state =
        (enum bspz_rank_state)atomic_load(&bspz_rank_of(agent->board, pid)->state);
    enum bspz_rank_state seen = member->seen;

    if (state != BSPZ_RANK_EMPTY && !member->adopted && !member->missed)
        adopt(agent, pid);
    if (state <= seen)
        return;
    member->seen = state;
    if (seen < BSPZ_RANK_READY && state >= BSPZ_RANK_READY && ++agent->ready == agent->here)
        agent_all_ready(agent);
    if (state == BSPZ_RANK_ENDED && ++agent->ended == agent->here)
        all_ended(agent);
    if (state > BSPZ_RANK_ENDED && !job_is_stopping(agent->job))
        judge_rank(agent, pid);
}

static void registered(struct agent *agent)
{
    struct wire_message message = {.kind = WIRE_REGISTER};

    job_move(&agent->job, JOB_REGISTERED);
    agent_relay_begin(agent);
    agent->root.death.known = false;
    message.registration.wanted = (uint32_t)atomic_load(&agent->board->wanted);
    message.registration.os_pid = (uint32_t)agent->root.ospid;
    agent_send(agent, &message);
}

static void scan_consultation(struct agent *agent)
{
    uint64_t consulted = atomic_load(&agent->board->consulted);
    const struct bspz_line *line;

    if (consulted <= agent->consulted)
        return;
    agent->consulted = consulted;
    line = &bspz_rank_of(agent->board, agent->first_here)->line[(consulted - 1) & 1];
    agent->end_reported = line->flags & BSPZ_HAS_END;
    agent_arrived(agent, consulted - 1, agent->end_reported ? WIRE_BARRIER_END : WIRE_BARRIER_SYNC);
}

void agent_scan(struct agent *agent)
{
    if (!agent->board || agent->finished || agent->job == JOB_REWINDING)
        return;
    if (agent->job == JOB_SEQUENTIAL && !agent->bare &&
        atomic_load(&agent->board->phase) == BSPZ_PHASE_BEGIN)
        registered(agent);
    for (int pid = 0; pid < agent->nprocs; pid++)
        if (agent_is_here(agent, pid))
            scan_rank(agent, pid);
    agent_snapshots_scan(agent);
    if (agent->nprocs > 0)
        scan_consultation(agent);
    if (agent->asked_passed > 0)
        agent_answer_passed(agent);
}

/* Binding and spinning are for jobs that have their cores to themselves.  With other hosts there is
 * work for the agent, too, while ranks wait. */
static void plan_cores(struct agent *agent)
{
    int wanted = agent->here, agents = agent->peers ? 1 : 0;
    bool waits = agent->nprocs > 1 && wanted > 0;

    cores_release(&agent->cores);
    atomic_store(&agent->board->spin_ns, 0);
    if (waits && wanted + agents <= agent->order.cores &&
        cores_claim(wanted, &agent->cores) == wanted)
        atomic_store(&agent->board->spin_ns, AGENT_SPIN_NS);
    else if (waits && agent->order.bind == WIRE_BIND_CORE)
        agent_notice(agent,
                     "--bind core: %d processes, but fewer than that many free cores of %d; "
                     "nothing is bound",
                     wanted, agent->order.cores);
}

/* A pidfd for every rank, its copies and its writer, whatever the shell's limit is. */
static void allow_descriptors(const struct agent *agent)
{
    rlim_t each = agent->snapshots ? 4 : 1;
    rlim_t needed = each * (rlim_t)agent->here + DESCRIPTORS_SPARE;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* On the board, for ranks and for who mirrors those of other hosts. */
void agent_write_homes(struct agent *agent)
{
    struct bspz_board *board = agent->board;

    board->host = (int32_t)agent->host;
    board->first_here = agent->first_here;
    board->here = agent->here;
    if (agent->here < agent->nprocs)
        board->flags |= BSPZ_BOARD_HOSTS;
    else
        board->flags &= ~BSPZ_BOARD_HOSTS;
    for (int pid = 0; pid < agent->nprocs; pid++)
        atomic_store(&bspz_rank_of(board, pid)->host, agent->home[pid]);
}

void agent_settle(struct agent *agent, const struct wire_numbers *host_of)
{
    bool moved = agent->here == 0;

    for (int pid = 0; pid < agent->nprocs; pid++) {
        uint32_t home = host_of ? (uint32_t)host_of->items[pid] : agent->host;

        moved = moved || agent->home[pid] != home;
        agent->home[pid] = home;
    }
    agent->here = 0;
    for (int pid = agent->nprocs - 1; pid >= 0; pid--)
        if (agent_is_here(agent, pid)) {
            agent->first_here = pid;
            agent->here++;
        }
    agent_write_homes(agent);
    if (!moved)
        return;
    allow_descriptors(agent);
    plan_cores(agent);
}

int agent_place(struct agent *agent, int nprocs, const struct wire_numbers *host_of)
{
    struct member *members = calloc((size_t)nprocs, sizeof *members);
    uint32_t *home = calloc((size_t)nprocs, sizeof *home);
    struct bspz_board *board = members && home ? bspz_board_map_agent(agent->board_fd, nprocs)
                                               : NULL;
    int error;

    if (!board) {
        error = members && home ? -errno : -ENOMEM;
        free(members);
        free(home);
        return error;
    }
    for (int pid = 0; pid < nprocs; pid++)
        members[pid].process.pidfd = -1;
    agent->members = members;
    agent->home = home;
    agent->board = board;
    agent->nprocs = nprocs;
    agent_settle(agent, host_of);
    atomic_store(&board->nprocs, nprocs);
    error = agent_snapshots_place(agent, nprocs);
    if (!error)
        agent_fetch_placed(agent);
    return error;
}

/* ---- Is it over? ---- */

bool agent_everything_gone(const struct agent *agent)
{
    if (agent->root.watching && !agent->root.gone)
        return false;
    for (int pid = 0; pid < agent->nprocs; pid++)
        if (agent->members[pid].adopted && !agent->members[pid].process.gone)
            return false;
    return true;
}

/* Process 0 may be wrapped (sh, timeout, strace): the status that counts is the outermost one. */
static bool rank_has_left(const struct agent *agent, int pid, struct death *death)
{
    const struct watched *process = &agent->members[pid].process;

    *death = process->death;
    if (!process->gone)
        return false;
    if (pid > 0 || agent->bare || agent->root.ospid == 0)
        return true;
    *death = agent->root.death;
    return agent->root.gone;
}

static void report_leavers(struct agent *agent)
{
    for (int pid = 0; pid < agent->nprocs; pid++) {
        struct member *member = &agent->members[pid];
        struct verdict verdict = {.text = ""};
        struct death death;

        if (member->exit_reported || !rank_has_left(agent, pid, &death))
            continue;
        member->exit_reported = true;
        if (death.known && death.signal) {
            struct whereabouts where;

            whereabouts_read(agent->board, agent->nprocs, pid, &where);
            verdict_of_rank(&where, &death, &verdict);
            if (!agent->blame)
                agent->blame = strdup(died_unread(agent, pid) ? "" : verdict.text);
        }
        agent_rank_exited(agent, pid, &death, verdict.text);
    }
}

/* It was let out of bsp_end and killed before it could say that it is: it has ended, and how. */
static void count_out(struct agent *agent, int pid)
{
    agent->members[pid].seen = BSPZ_RANK_ENDED;
    if (++agent->ended == agent->here)
        all_ended(agent);
}

/* The first rank that is gone although it had more to do. */
static int lost_rank(const struct agent *agent)
{
    for (int pid = 0; pid < agent->nprocs; pid++)
        if (agent->members[pid].process.gone && agent->members[pid].seen < BSPZ_RANK_ENDED)
            return pid;
    return -1;
}

/* Nothing ran in parallel, and nobody who did not ask for notes need know. */
static void note_no_begin(struct agent *agent)
{
    struct wire_message note = {.kind = WIRE_NOTICE};
    char text[WIRE_NAME_MAX + 80];

    if (agent->order.verbosity < 1)
        return;
    snprintf(text, sizeof text, "%.200s ended before bsp_begin, with status 0",
             agent->order.program);
    note.notice.text = text;
    agent_send(agent, &note);
}

static void program_ended(struct agent *agent)
{
    bool has_libbsp =
        atomic_load(&agent->board->attached) || agent->board->flags & BSPZ_BOARD_REFUSED;
    struct verdict verdict;

    verdict_of_program(agent->order.program, has_libbsp, &agent->root.death, &verdict);
    if (verdict.cause == WIRE_CAUSE_NONE && verdict.status == 0)
        note_no_begin(agent);
    if (agent_zero_decides(agent) && verdict.cause == WIRE_CAUSE_NONE) {
        verdict.cause = WIRE_CAUSE_RANK_ERROR; /* it gave up inside bsp_begin, and said why */
        verdict.status = verdict.status ? verdict.status : 1;
    }
    agent_abort(agent, COORD_NOBODY, &verdict);
}

void agent_check_over(struct agent *agent)
{
    int lost;

    if (agent->finished)
        return;
    if (agent->job == JOB_REWINDING) {
        agent_check_rewound(agent);
        return;
    }
    if (job_is_stopping(agent->job)) {
        if (agent_everything_gone(agent))
            agent_sweep(agent);
        return;
    }
    while (agent->let_out && agent->job == JOB_RUNNING && (lost = lost_rank(agent)) >= 0)
        count_out(agent, lost);
    if (agent->job == JOB_ENDING) {
        report_leavers(agent);
        return;
    }
    lost = lost_rank(agent);
    if (lost >= 0)
        judge_rank(agent, lost);
    else if (agent->root.gone && !(agent->nprocs > 0 && agent->members[0].adopted))
        program_ended(agent);
}
