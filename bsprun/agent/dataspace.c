/* dataspace.c - see dataspace.h.
 *
 * In a job of one host the thread of the bell serves requests itself, which saves a way through the
 * loop: half of the time of a small request.  agent->dataspace_lock is held wherever the service,
 * the windows or the pool are used; ends of jobs and messages are left to the loop.
 *
 * What can fail: there is no memory for an object or a window: the job ends with a line that says
 * so; another host breaks a rule: its link is dropped, and the term is over for it.
 */
#include "bsprun/agent/dataspace.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/decided.h"
#include "bsprun/agent/core/election.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/timers.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/to_zero.h"
#include "bsprun/agent/dataspace_inside.h"
#include "bsprun/agent/quiet.h"
#include "bsprun/agent/replica_objects.h"
#include "bsprun/agent/snapshot/memory.h"
#include "bsprun/agent/snapshot/snapshots.h"
#include "bsprun/dataspace/copies.h"
#include "bsprun/dataspace/keeper.h"
#include "bsprun/dataspace/service.h"
#include "bsprun/dataspace/stops.h"
#include "bsprun/process.h"
#include "lib/shm/board.h"

/* Bytes that go to another host at a time, and that are queued for a link before they wait: what
 * fits into the caches of a processor, and into buffers that are kept (NET_BUFFER_KEEP). */
#define PIECE_BYTES   65536u
#define WAITING_BYTES (UINT64_C(512) << 10)
#define GO_ON_MS      1u

/* ---- Calls of the service -------------------------------------------------------------------- */

static void on_send(void *context, uint32_t host, const struct wire_message *message)
{
    agent_peers_send(context, host, message);
}

static bool on_has_room(void *context, uint32_t host)
{
    return agent_peers_waiting(context, host) < WAITING_BYTES;
}

static void on_answer(void *context, uint32_t pid, uint64_t size, uint32_t length)
{
    struct agent *agent = context;
    struct bspz_request *request = &bspz_rank_of(agent_board(agent), (int)pid)->request;

    request->size = size;
    request->piece = length;
    bspz_word_set(&request->state, BSPZ_REQUEST_ANSWERED);
}

static void on_withdrawn(void *context, uint32_t pid)
{
    struct agent *agent = context;

    bspz_word_set(&bspz_rank_of(agent_board(agent), (int)pid)->request.state,
                  BSPZ_REQUEST_WITHDRAWN);
}

/* Told when the lock is free again, and to the loop. */
static void on_no_memory(void *context, uint32_t pid, uint64_t bytes)
{
    struct agent *agent = context;

    agent->dataspace->failure = objects_no_room(agent->dataspace->pool, pid, bytes);
}

static void on_broken(void *context, uint32_t host, const char *complaint)
{
    agent_peers_drop(context, host, complaint);
}

static void on_differs(void *context, uint32_t pid)
{
    struct agent *agent = context;

    agent->dataspace->failure = (struct failure){.known = true, .differs = true, .pid = pid};
}

static void on_part_lost(void *context)
{
    struct agent *agent = context;

    agent->dataspace->failure = (struct failure){.known = true, .part_lost = true};
}

static void on_past(void *context, uint32_t pid, uint64_t number)
{
    struct agent *agent = context;

    bspz_rank_of(agent_board(agent), (int)pid)->request.behind = number;
}

/* All go back: it counts as lost. */
static void give_up(struct agent *agent, int pid, const char *text)
{
    static const struct death killed = {.known = true, .signal = SIGKILL};

    if (!agent_is_here(agent, pid) || agent_member(agent, pid)->state != MEMBER_KNOWN ||
        agent_job(agent) != JOB_RUNNING)
        return;
    agent_blame(agent, text, false);
    agent_member_move(agent, pid, MEMBER_REPORTED);
    agent_rank_exited(agent, pid, &killed, false, text);
}

static void give_up_differing(struct agent *agent, int pid)
{
    char text[160];

    snprintf(text, sizeof text,
             "process %d, restarted alone, cannot catch up: it does something else than before, or "
             "there was no memory to keep what it got",
             pid);
    give_up(agent, pid, text);
}

static void give_up_all(struct agent *agent)
{
    if (agent_here(agent) > 0)
        give_up(agent, agent_first_here(agent),
                "objects of the dataspace are lost, with all hosts that had copies of them");
}

/* The news that wait until the lock is free; NULL: there is no memory, and the job ends. */
static struct objects_news *news_of(struct agent *agent, uint32_t pid)
{
    struct agent_dataspace *shell = agent->dataspace;

    if (!shell->news)
        shell->news = calloc(1, sizeof *shell->news);
    if (!shell->news)
        on_no_memory(agent, pid, sizeof *shell->news);
    return shell->news;
}

static void on_mismatch(void *context, const struct dataspace_mismatch *mismatch)
{
    struct objects_news *news = news_of(context, mismatch->pid);

    if (news)
        objects_news_differ(news, mismatch);
}

static void on_too_far_behind(void *context, uint32_t pid, uint32_t host)
{
    struct objects_news *news = news_of(context, pid);

    if (news)
        objects_news_behind(news, pid, host);
}

static const struct dataspace_calls calls = {.send = on_send,
                                             .has_room = on_has_room,
                                             .answer = on_answer,
                                             .withdrawn = on_withdrawn,
                                             .no_memory = on_no_memory,
                                             .broken = on_broken,
                                             .differs = on_differs,
                                             .part_lost = on_part_lost,
                                             .past = on_past,
                                             .mismatch = on_mismatch,
                                             .too_far_behind = on_too_far_behind,
                                             .now_ms = objects_now_ms};

/* ---- Life ------------------------------------------------------------------------------------ */

struct agent_dataspace *objects_shell(const struct agent *agent)
{
    return agent->dataspace;
}

struct dataspace *objects_space(const struct agent *agent)
{
    return agent->dataspace ? agent->dataspace->space : NULL;
}

uint64_t objects_log_most(const struct agent *agent)
{
    return agent->dataspace->log_most;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void close_space(struct agent_dataspace *shell)
{
    keeper_end(shell->keeper);
    stops_close(shell->stops);
    dataspace_close(shell->space);
    objects_room_close(shell);
    free(shell->news);
}

void objects_lock(struct agent *agent)
{
    pthread_mutex_lock(&agent->dataspace_lock);
}

void objects_unlock(struct agent *agent)
{
    struct failure failure = {.known = false};
    struct objects_news *news = NULL;

    if (agent->dataspace) {
        failure = agent->dataspace->failure;
        agent->dataspace->failure.known = false;
        news = agent->dataspace->news;
        agent->dataspace->news = NULL;
    }
    pthread_mutex_unlock(&agent->dataspace_lock);
    if (failure.known && failure.part_lost && agent_has_replicas(agent))
        agent_objects_lost(agent);
    else if (failure.known && failure.part_lost)
        give_up_all(agent);
    else if (failure.known && failure.differs)
        give_up_differing(agent, (int)failure.pid);
    else if (failure.known)
        objects_end_job(agent, &failure);
    else if (news)
        agent_objects_news(agent, news);
    free(news);
}

void agent_dataspace_forget(struct agent *agent)
{
    struct agent_dataspace *shell = agent->dataspace;

    if (!shell)
        return;
    agent_quiet_watch(agent, NULL, NULL);
    uv_timer_stop(agent_timer(agent, AGENT_TIMER_STOPS));
    objects_lock(agent);
    agent->dataspace = NULL;
    objects_unlock(agent);
    close_space(shell);
    for (uint32_t pid = 0; pid < shell->nprocs; pid++)
        if (shell->windows[pid])
            munmap(shell->windows[pid], BSPZ_WINDOW_BYTES);
    free(shell->windows);
    shell->timer.data = shell;
    uv_close((uv_handle_t *)&shell->timer, on_closed);
}

/* A program that is saved at its calls has no supersteps that could be counted: the host of process
 * 0 says so, whichever process makes the first call. */
static void warn_of_rule(struct agent *agent)
{
    struct agent_dataspace *shell = agent->dataspace;

    if (shell->said_rule || !agent_is_here(agent, 0) || !agent_objects_at_calls(agent))
        return;
    shell->said_rule = true;
    if (agent_election(agent)->first_of_run && agent_counts_supersteps(agent))
        agent_notice(agent, "--every: a program that begins with volpex_init has no supersteps to "
                            "count, so no snapshots are taken of it: give a time, or auto");
}

/* Before a request takes effect that is saved at calls. */
static void say_calls(struct agent *agent)
{
    struct agent_dataspace *shell = agent->dataspace;

    if (shell->said_calls || !agent_has_replicas(agent) || !agent_objects_at_calls(agent))
        return;
    shell->said_calls = true;
    agent_objects_begun(agent);
}

/* NULL: no memory. */
static struct dataspace *open_space(struct agent *agent, struct pool *pool)
{
    struct objects_homes homes;
    struct dataspace_setup setup = {.host = agent_host(agent),
                                    .nprocs = (uint32_t)agent_nprocs(agent),
                                    .copies = agent_objects_copies(agent),
                                    .piece = PIECE_BYTES,
                                    .pool = pool};
    struct dataspace *space = NULL;

    setup.log = objects_log_bound(agent) / setup.copies;
    if (agent_objects_homes(agent, &homes)) {
        setup.homes = homes.homes;
        setup.hosts = homes.hosts;
        setup.leads = homes.leads;
        space = dataspace_open(&setup, &calls, agent);
    }
    agent_objects_free(&homes);
    return space;
}

/* NULL: no memory.  By the loop. */
static struct agent_dataspace *begin(struct agent *agent)
{
    struct agent_dataspace *shell = agent->dataspace ? agent->dataspace : calloc(1, sizeof *shell);

    if (!shell || agent->dataspace)
        return shell;
    shell->nprocs = (uint32_t)agent_nprocs(agent);
    shell->windows = calloc(shell->nprocs, sizeof *shell->windows);
    shell->log_most = objects_log_bound(agent);
    if (objects_room_open(agent, shell) && shell->windows)
        shell->space = open_space(agent, shell->pool);
    if (!shell->space) {
        close_space(shell);
        free(shell->windows);
        free(shell);
        return NULL;
    }
    uv_timer_init(agent_loop(agent), &shell->timer);
    shell->timer.data = agent;
    objects_lock(agent);
    agent->dataspace = shell;
    objects_unlock(agent);
    if (agent_quiet_watch(agent, shell->space, &agent->dataspace_lock)) {
        agent_objects_begun(agent);
        return shell;
    }
    agent_dataspace_forget(agent); /* who waits for ever would not be found out */
    return NULL;
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void go_on_later(struct agent *agent);

void objects_leave(struct agent *agent)
{
    bool more = dataspace_go_on(agent->dataspace->space);
    void (*left)(struct agent *) = agent->dataspace->left;

    objects_unlock(agent);
    if (left)
        left(agent);
    if (more && agent->dataspace)
        go_on_later(agent);
}

static void on_timer(uv_timer_t *timer)
{
    struct agent *agent = timer->data;

    objects_lock(agent);
    objects_leave(agent);
}

static void go_on_later(struct agent *agent)
{
    uv_timer_start(&agent->dataspace->timer, on_timer, GO_ON_MS, 0);
}

/* NULL: no memory. */
static unsigned char *window_of(struct agent *agent, int pid)
{
    unsigned char **window = &agent->dataspace->windows[pid];

    if (!*window) {
        void *at =
            mmap(NULL, BSPZ_WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, agent_board_fd(agent),
                 (off_t)bspz_window_offset(&agent_board(agent)->layout, pid));

        if (at == MAP_FAILED)
            return NULL;
        madvise(at, BSPZ_WINDOW_BYTES, MADV_DONTDUMP);
        *window = at;
    }
    return *window;
}

static uint32_t least(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

/* A process that is to stop at a safe point must not wait for an object. */
static void withdraw_if_wanted(struct agent *agent, int pid)
{
    const struct bspz_rank *rank = bspz_rank_of(agent_board(agent), pid);

    if (rank->request.safe && !agent_has_replicas(agent) &&
        (atomic_load(&agent_board(agent)->consult_from) <= atomic_load(&rank->superstep) ||
         atomic_load(&rank->own) == BSPZ_OWN_WANTED))
        dataspace_withdraw(agent->dataspace->space, (uint32_t)pid);
}

/* They are held only as long as somebody takes them: objects that are replaced meanwhile keep their
 * memory. */
static void end_keeper(struct agent_dataspace *shell)
{
    keeper_end(shell->keeper);
    shell->keeper = NULL;
}

/* The next piece of all objects of the host, for a snapshot, when those that other hosts give it
 * have come.  had: bytes so far; UINT64_MAX: the process takes no more. */
static void give_kept(struct agent *agent, int pid, unsigned char *window, uint64_t had)
{
    struct agent_dataspace *shell = agent->dataspace;
    uint64_t size = UINT64_MAX;
    uint32_t length = 0;

    if (had == 0 && !dataspace_gathered(shell->space))
        return;
    if (had == 0) {
        end_keeper(shell);
        shell->keeper = dataspace_keep(shell->space);
    }
    /* Objects in files are more than there is memory for. */
    if (shell->keeper && had < UINT64_MAX &&
        (had > 0 || keeper_size(shell->keeper) <= memory_available())) {
        size = keeper_size(shell->keeper);
        length = keeper_read(shell->keeper, window + BSPZ_TAG_MOST, BSPZ_PIECE_MOST);
    }
    if (size == UINT64_MAX || keeper_done(shell->keeper) == size)
        end_keeper(shell);
    on_answer(agent, (uint32_t)pid, size, length);
}

bool objects_begin(struct agent *agent)
{
    struct failure failure = {.bytes = sizeof *agent->dataspace};

    if (begin(agent))
        return true;
    objects_end_job(agent, &failure);
    return false;
}

/* Whether the process has passed the barrier at which those of other hosts are being captured: it
 * waits, as nothing may take effect until the objects are kept. */
static bool is_beyond(const struct agent *agent, int pid)
{
    return agent_decided_holds(agent,
                               atomic_load(&bspz_rank_of(agent_board(agent), pid)->superstep));
}

/* All replicas are made of the same image: one puts back what is in it. */
static bool is_put_back_elsewhere(const struct agent *agent, const struct bspz_request *posted)
{
    return posted->puts_back != BSPZ_PUTS_NOTHING_BACK && agent_has_replicas(agent) &&
           agent_cells_lead(agent, agent_host(agent)) != agent_host(agent);
}

/* What the process has written to the board is bounded here, so that a defect of the program cannot
 * make the agent read or write elsewhere. */
static void handle(struct agent *agent, int pid, struct bspz_request *posted)
{
    static const enum dataspace_kind kinds[] = {[BSPZ_REQUEST_PUT] = DATASPACE_PUT,
                                                [BSPZ_REQUEST_GET] = DATASPACE_GET,
                                                [BSPZ_REQUEST_READ] = DATASPACE_READ};
    unsigned char *window = window_of(agent, pid);
    uint32_t kind = posted->kind <= BSPZ_REQUEST_READ ? posted->kind : BSPZ_REQUEST_READ;
    uint64_t size = posted->size <= DATASPACE_OBJECT_MOST ? posted->size : DATASPACE_OBJECT_MOST;
    struct dataspace_request request;

    if (!window) {
        on_no_memory(agent, (uint32_t)pid, BSPZ_WINDOW_BYTES);
        return;
    }
    if (is_beyond(agent, pid))
        return;
    if (posted->kind == BSPZ_REQUEST_KEEP) {
        give_kept(agent, pid, window, posted->size);
        return;
    }
    request = (struct dataspace_request){
        .kind = kinds[kind],
        .number = posted->number,
        .plain = !posted->alone && posted->puts_back != BSPZ_PUTS_BACK_ALONE &&
                 !agent_has_replicas(agent),
        .tag = window,
        .tag_size = least(posted->tag_size, BSPZ_TAG_MOST),
        .piece = window + BSPZ_TAG_MOST,
        .length =
            kind == BSPZ_REQUEST_PUT ? least(posted->piece, BSPZ_PIECE_MOST) : BSPZ_PIECE_MOST,
        .size = size};
    if (is_put_back_elsewhere(agent, posted)) {
        on_answer(agent, (uint32_t)pid, size, request.length);
        return;
    }
    if (agent->dataspace->stops)
        stops_passed(agent->dataspace->stops);
    dataspace_posted(agent->dataspace->space, (uint32_t)pid, &request);
    withdraw_if_wanted(agent, pid);
}

static struct bspz_request *posted_by(const struct agent *agent, int pid)
{
    struct bspz_request *request = &bspz_rank_of(agent_board(agent), pid)->request;

    return agent_is_here(agent, pid) && atomic_load(&request->state) == BSPZ_REQUEST_POSTED &&
                   request->kind < BSPZ_REQUEST_MAIL
               ? request
               : NULL;
}

static void handle_all(struct agent *agent)
{
    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        struct bspz_request *request = posted_by(agent, pid);

        if (request)
            handle(agent, pid, request);
    }
}

/* The first process of the host waits until the objects of other hosts have come. */
static void keep_if_gathered(struct agent *agent)
{
    int first = agent_here(agent) > 0 ? agent_first_here(agent) : -1;
    struct bspz_request *request = first >= 0 ? posted_by(agent, first) : NULL;

    if (request && request->kind == BSPZ_REQUEST_KEEP)
        handle(agent, first, request);
}

static bool any_posted(const struct agent *agent)
{
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (posted_by(agent, pid))
            return true;
    return false;
}

void agent_dataspace_scan(struct agent *agent)
{
    /* Processes that are restored put the objects back that they have kept. */
    if ((agent_job(agent) != JOB_RUNNING && agent_job(agent) != JOB_RESTORING) ||
        !any_posted(agent) || !objects_begin(agent))
        return;
    warn_of_rule(agent);
    say_calls(agent);
    objects_lock(agent);
    handle_all(agent);
    objects_leave(agent);
}

bool agent_dataspace_rung(struct agent *agent)
{
    bool served;

    pthread_mutex_lock(&agent->dataspace_lock);
    served = agent->dataspace && !agent_has_peers(agent);
    if (served)
        handle_all(agent);
    served = served && !agent->dataspace->failure.known;
    pthread_mutex_unlock(&agent->dataspace_lock);
    return served;
}

void agent_dataspace_open(struct agent *agent)
{
    pthread_mutex_init(&agent->dataspace_lock, NULL);
}

void agent_dataspace_message(struct agent *agent, uint32_t host, const struct wire_message *message)
{
    if (!objects_begin(agent))
        return;
    warn_of_rule(agent);
    objects_lock(agent);
    dataspace_message(agent->dataspace->space, host, message);
    if (message->kind == WIRE_DATA_COPY)
        keep_if_gathered(agent);
    objects_leave(agent);
}

void agent_dataspace_consult(struct agent *agent)
{
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_is_here(agent, pid))
            bspz_word_add(&bspz_rank_of(agent_board(agent), pid)->nudge);
    if (!agent->dataspace)
        return;
    objects_lock(agent);
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_is_here(agent, pid))
            withdraw_if_wanted(agent, pid);
    objects_unlock(agent);
}

void agent_dataspace_interrupt(struct agent *agent, int pid)
{
    if (!agent->dataspace)
        return;
    objects_lock(agent);
    withdraw_if_wanted(agent, pid);
    objects_unlock(agent);
}

/* ---- Hosts that are lost, and snapshots ------------------------------------------------------ */

void agent_dataspace_host_lost(struct agent *agent, uint32_t host)
{
    if (!objects_begin(agent))
        return;
    objects_lock(agent);
    dataspace_lost(agent->dataspace->space, host);
    keep_if_gathered(agent);
    objects_leave(agent);
}

void agent_dataspace_mark(struct agent *agent)
{
    agent_board(agent)->snap_order.objects =
        agent->dataspace &&
        (agent_has_replicas(agent) || dataspace_totals(agent->dataspace->space).objects > 0);
}

void agent_dataspace_gather(struct agent *agent, uint64_t snapshot,
                            const struct wire_numbers *keepers)
{
    if (!objects_begin(agent))
        return;
    objects_lock(agent);
    dataspace_gather(agent->dataspace->space, snapshot, keepers ? keepers->items : NULL,
                     keepers ? keepers->count : 0);
    keep_if_gathered(agent);
    objects_leave(agent);
}

void agent_dataspace_gather_over(struct agent *agent, uint64_t snapshot)
{
    if (!agent->dataspace)
        return;
    objects_lock(agent);
    dataspace_gather_over(agent->dataspace->space, snapshot);
    keep_if_gathered(agent);
    objects_leave(agent);
}
