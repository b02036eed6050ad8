/* dataspace.c - see dataspace.h.
 *
 * What can fail: there is no memory for an object or a window: the job ends with a line that says
 * so; another host breaks a rule: its link is dropped, and the term is over for it.
 */
#include "bsprun/agent/dataspace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/quiet.h"
#include "bsprun/agent/snapshot/memory.h"
#include "bsprun/agent/snapshot/snapshots.h"
#include "bsprun/agent/spill.h"
#include "bsprun/dataspace/service.h"
#include "lib/base/temporary.h"

#define WAITING_BYTES (UINT64_C(4) << 20) /* queued for a link before pieces wait */
#define GO_ON_MS      1u
#define FILE_LEAST    16384u /* bytes of an object that may go to a file */

struct agent_dataspace {
    struct spill spill;
    struct pool *pool;
    struct dataspace *space;
    unsigned char **windows; /* by pid; NULL: not mapped (yet) */
    uint32_t nprocs;
    uv_timer_t timer;
};

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
    struct bspz_request *request = &bspz_rank_of(agent->board, (int)pid)->request;

    request->size = size;
    request->piece = length;
    bspz_word_set(&request->state, BSPZ_REQUEST_ANSWERED);
}

static void on_no_memory(void *context, uint32_t pid, uint64_t bytes)
{
    struct agent *agent = context;
    struct verdict verdict = {.cause = WIRE_CAUSE_INTERNAL, .status = 1};

    snprintf(verdict.text, sizeof verdict.text,
             "no room on host %s for an object of %llu bytes in the dataspace (pid %u), neither in "
             "memory (--dataspace-memory) nor in %s",
             agent->host_name, (unsigned long long)bytes, pid, bspz_temporary_root());
    agent_abort(agent, COORD_NOBODY, &verdict);
}

static void on_broken(void *context, uint32_t host, const char *complaint)
{
    agent_peers_drop(context, host, complaint);
}

static void *on_map(void *context, uint64_t size)
{
    return spill_map(context, size);
}

static void on_unmap(void *context, void *at, uint64_t size)
{
    spill_unmap(context, at, size);
}

static const struct pool_files files = {.map = on_map, .unmap = on_unmap};

static const struct dataspace_calls calls = {.send = on_send,
                                             .has_room = on_has_room,
                                             .answer = on_answer,
                                             .no_memory = on_no_memory,
                                             .broken = on_broken};

/* ---- Life ------------------------------------------------------------------------------------ */

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void close_space(struct agent_dataspace *shell)
{
    dataspace_close(shell->space);
    pool_close(shell->pool);
    spill_close(&shell->spill);
}

/* Bytes of objects that this host may have in memory. */
static uint64_t memory_bound(const struct agent *agent)
{
    uint64_t available = memory_available();

    if (agent->order.dataspace_memory > 0)
        return agent->order.dataspace_memory;
    return available == UINT64_MAX ? available : available / 2;
}

void agent_dataspace_forget(struct agent *agent)
{
    struct agent_dataspace *shell = agent->dataspace;

    if (!shell)
        return;
    agent->dataspace = NULL;
    agent_quiet_watch(agent, NULL);
    close_space(shell);
    for (uint32_t pid = 0; pid < shell->nprocs; pid++)
        if (shell->windows[pid])
            munmap(shell->windows[pid], BSPZ_WINDOW_BYTES);
    free(shell->windows);
    shell->timer.data = shell;
    uv_close((uv_handle_t *)&shell->timer, on_closed);
}

/* NULL: no memory. */
static struct agent_dataspace *begin(struct agent *agent)
{
    struct agent_dataspace *shell = agent->dataspace ? agent->dataspace : calloc(1, sizeof *shell);
    struct dataspace_setup setup = {.host = agent->host,
                                    .nprocs = (uint32_t)agent->nprocs,
                                    .homes = agent->home,
                                    .piece = WIRE_PIECE_MAX};

    if (!shell || agent->dataspace)
        return shell;
    shell->nprocs = setup.nprocs;
    shell->windows = calloc(shell->nprocs, sizeof *shell->windows);
    shell->spill = SPILL_NONE;
    shell->pool = pool_open(memory_bound(agent), FILE_LEAST, &files, &shell->spill);
    setup.pool = shell->pool;
    shell->space = shell->windows && shell->pool ? dataspace_open(&setup, &calls, agent) : NULL;
    if (!shell->space) {
        close_space(shell);
        free(shell->windows);
        free(shell);
        return NULL;
    }
    uv_timer_init(&agent->loop, &shell->timer);
    shell->timer.data = agent;
    agent->dataspace = shell;
    agent_quiet_watch(agent, shell->space);
    return shell;
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void go_on_later(struct agent *agent);

static void on_timer(uv_timer_t *timer)
{
    struct agent *agent = timer->data;

    if (dataspace_go_on(agent->dataspace->space))
        go_on_later(agent);
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
        void *at = mmap(NULL, BSPZ_WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                        agent->board_fd, (off_t)bspz_window_offset(&agent->board->layout, pid));

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

/* What the process has written to the board is bounded here, so that a defect of the program cannot
 * make the agent read or write elsewhere. */
static void handle(struct agent *agent, int pid, struct bspz_request *posted)
{
    static const enum dataspace_kind kinds[] = {[BSPZ_REQUEST_PUT] = DATASPACE_PUT,
                                                [BSPZ_REQUEST_GET] = DATASPACE_GET,
                                                [BSPZ_REQUEST_READ] = DATASPACE_READ};
    struct agent_dataspace *shell = begin(agent);
    unsigned char *window = shell ? window_of(agent, pid) : NULL;
    uint32_t kind = posted->kind <= BSPZ_REQUEST_READ ? posted->kind : BSPZ_REQUEST_READ;
    uint64_t size = posted->size <= DATASPACE_OBJECT_MOST ? posted->size : DATASPACE_OBJECT_MOST;
    uint64_t offset = posted->offset <= size ? posted->offset : size;
    struct dataspace_request request;

    if (!window) {
        on_no_memory(agent, (uint32_t)pid, BSPZ_WINDOW_BYTES);
        return;
    }
    request = (struct dataspace_request){
        .kind = kinds[kind],
        .tag = window,
        .tag_size = least(posted->tag_size, BSPZ_TAG_MOST),
        .piece = window + BSPZ_TAG_MOST,
        .length = kind == BSPZ_REQUEST_PUT
                      ? least(least(posted->piece, BSPZ_PIECE_MOST), size - offset)
                      : BSPZ_PIECE_MOST,
        .size = size,
        .offset = offset};
    dataspace_posted(shell->space, (uint32_t)pid, &request);
    if (dataspace_go_on(shell->space))
        go_on_later(agent);
}

void agent_dataspace_scan(struct agent *agent)
{
    if (agent->job != JOB_RUNNING)
        return;
    for (int pid = 0; pid < agent->nprocs; pid++) {
        struct bspz_request *request = &bspz_rank_of(agent->board, pid)->request;

        if (atomic_load(&request->state) != BSPZ_REQUEST_POSTED || !agent_is_here(agent, pid))
            continue;
        if (agent_recovers(agent))
            bspz_word_set(&request->state, BSPZ_REQUEST_REFUSED);
        else
            handle(agent, pid, request);
    }
}

void agent_dataspace_message(struct agent *agent, uint32_t host, const struct wire_message *message)
{
    struct agent_dataspace *shell = begin(agent);

    if (!shell) {
        on_no_memory(agent, 0, sizeof *shell);
        return;
    }
    dataspace_message(shell->space, host, message);
    /* The service may be over when a link was dropped. */
    if (agent->dataspace && dataspace_go_on(agent->dataspace->space))
        go_on_later(agent);
}
