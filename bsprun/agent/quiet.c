/* quiet.c - see quiet.h. */
#include "bsprun/agent/quiet.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/to_zero.h"
#include "bsprun/dataspace/service.h"

/* How long the processes have to wait before Processor Zero is told, and how often it is told
 * again: twice as long each time. */
#define FIRST_MS  100u
#define LAST_MS   6400u
#define TAG_MOST  40u   /* bytes of a tag that are shown */
#define TEXT_MOST 3500u /* of the lines of a host */

struct agent_quiet {
    const struct dataspace *space;
    uint32_t next_ms;
    uv_timer_t timer;
};

/* Of the processes of this host: as in WIRE_FIELDS_QUIET. */
struct barriers {
    uint64_t arrived, held;
};

/* The number of barriers that the process has reached. */
static uint64_t reached(const struct bspz_rank *rank)
{
    uint64_t even = atomic_load(&rank->line[0].stamp), odd = atomic_load(&rank->line[1].stamp);

    return even > odd ? even : odd;
}

/* Whether the process is at a barrier that somebody has not reached yet, as far as this host knows.
 * One that all have reached may not have woken up. */
static bool is_held_up(const struct agent *agent, int pid, struct barriers *barriers)
{
    const struct bspz_rank *rank = bspz_rank_of(agent->board, pid);
    uint64_t superstep = atomic_load(&rank->superstep);
    bool held = false;

    if (!atomic_load(&rank->in_barrier))
        return false;
    for (int other = 0; other < agent->nprocs && !held; other++)
        held = reached(bspz_rank_of(agent->board, other)) <= superstep;
    if (held && superstep < barriers->held)
        barriers->held = superstep;
    return held;
}

static void show_tag(FILE *text, const struct dataspace_request *request)
{
    const unsigned char *tag = request->tag;

    fputc('"', text);
    for (uint32_t i = 0; i < request->tag_size && i < TAG_MOST; i++)
        if (isprint(tag[i]) && tag[i] != '"' && tag[i] != '\\')
            fputc(tag[i], text);
        else
            fprintf(text, "\\x%02x", tag[i]);
    fprintf(text, "%s\"", request->tag_size > TAG_MOST ? "..." : "");
}

/* Adds the line of a process that waits; false: it does not. */
static bool show_wait(const struct agent *agent, const struct dataspace *space, int pid,
                      struct barriers *barriers, FILE *text)
{
    const struct dataspace_request *request =
        space ? dataspace_waits_for(space, (uint32_t)pid) : NULL;

    if (!request && !is_held_up(agent, pid, barriers))
        return false;
    if ((size_t)ftell(text) > TEXT_MOST)
        return true;
    fprintf(text, "\n  pid %d: ", pid);
    if (request) {
        fprintf(text, "volpex_%s of ", request->kind == DATASPACE_GET ? "get" : "read");
        show_tag(text, request);
    } else {
        fprintf(text, "a barrier");
    }
    return true;
}

/* Whether all processes of this host wait; their lines go to `text`. */
static bool all_wait(const struct agent *agent, const struct dataspace *space,
                     struct barriers *barriers, FILE *text)
{
    if (agent->job != JOB_RUNNING || agent->here == 0)
        return false;
    for (int pid = 0; pid < agent->nprocs; pid++) {
        uint64_t arrived = reached(bspz_rank_of(agent->board, pid));

        if (!agent_is_here(agent, pid))
            continue;
        if (!show_wait(agent, space, pid, barriers, text))
            return false;
        if (arrived < barriers->arrived)
            barriers->arrived = arrived;
    }
    return true;
}

/* Returns whether all wait; if not, only a question is answered. */
static bool tell(struct agent *agent, const struct dataspace *space, uint64_t round)
{
    struct wire_message message = {.kind = WIRE_QUIET};
    struct dataspace_traffic traffic = {0, 0};
    char *waits = NULL;
    size_t size;
    FILE *text = open_memstream(&waits, &size);
    struct barriers barriers = {WIRE_NEVER, WIRE_NEVER};
    bool quiet;

    pthread_mutex_lock(&agent->dataspace_lock);
    quiet = text && all_wait(agent, space, &barriers, text);
    if (space)
        traffic = dataspace_traffic(space);
    pthread_mutex_unlock(&agent->dataspace_lock);
    if (text)
        fclose(text);
    message.quiet.round = round;
    message.quiet.quiet = quiet;
    message.quiet.sent = traffic.sent;
    message.quiet.received = traffic.received;
    message.quiet.arrived = barriers.arrived;
    message.quiet.held = barriers.held;
    message.quiet.waits = quiet && waits ? waits : "";
    if (quiet || round > 0)
        agent_tell_zero(agent, &message);
    free(waits);
    return quiet;
}

/* ---- Time ------------------------------------------------------------------------------------ */

static void look_later(struct agent_quiet *quiet);

static void on_look(uv_timer_t *timer)
{
    struct agent *agent = timer->data;
    struct agent_quiet *quiet = agent->quiet;

    if (tell(agent, quiet->space, 0))
        quiet->next_ms = quiet->next_ms < LAST_MS ? 2 * quiet->next_ms : LAST_MS;
    else
        quiet->next_ms = FIRST_MS;
    /* Processor Zero may have ended the term. */
    if (agent->quiet == quiet)
        look_later(quiet);
}

static void look_later(struct agent_quiet *quiet)
{
    uv_timer_start(&quiet->timer, on_look, quiet->next_ms, 0);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void stop_watching(struct agent *agent)
{
    struct agent_quiet *quiet = agent->quiet;

    agent->quiet = NULL;
    if (!quiet)
        return;
    quiet->timer.data = quiet;
    uv_close((uv_handle_t *)&quiet->timer, on_closed);
}

bool agent_quiet_watch(struct agent *agent, const struct dataspace *space)
{
    struct agent_quiet *quiet;

    stop_watching(agent);
    quiet = space ? calloc(1, sizeof *quiet) : NULL;
    if (!quiet)
        return !space;
    quiet->space = space;
    quiet->next_ms = FIRST_MS;
    uv_timer_init(&agent->loop, &quiet->timer);
    quiet->timer.data = agent;
    agent->quiet = quiet;
    look_later(quiet);
    return true;
}

void agent_quiet_answer(struct agent *agent, uint64_t round)
{
    tell(agent, agent->quiet ? agent->quiet->space : NULL, round);
}
