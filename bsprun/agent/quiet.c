/* quiet.c - see quiet.h. */
#include "bsprun/agent/quiet.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/to_zero.h"
#include "bsprun/dataspace/service.h"
#include "bsprun/link/link.h"
#include "lib/shm/board.h"
#include "lib/shm/mail.h"

/* How long the processes have to wait before Processor Zero is told, and how often it is told
 * again: twice as long each time. */
#define FIRST_MS  100u
#define LAST_MS   6400u
#define TAG_MOST  40u   /* bytes of a tag that are shown */
#define TEXT_MOST 3500u /* of the lines of a host */

/* What processes may wait for; each may be NULL. */
struct watched_parts {
    const struct dataspace *space;
    pthread_mutex_t *lock; /* of the space */
    const struct bspz_post *post;
    const struct agent_quiet_reports *reports; /* with post */
};

struct agent_quiet {
    struct watched_parts parts;
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
    const struct bspz_rank *rank = bspz_rank_of(agent_board(agent), pid);
    uint64_t superstep = atomic_load(&rank->superstep);
    bool held = false;

    if (!atomic_load(&rank->in_barrier))
        return false;
    for (int other = 0; other < agent_nprocs(agent) && !held; other++)
        held = reached(bspz_rank_of(agent_board(agent), other)) <= superstep;
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

/* Whether the process is to stop at a safe point, and has only to wake up for that. */
static bool is_wanted(const struct agent *agent, const struct bspz_rank *rank)
{
    return agent_board(agent)->flags & BSPZ_BOARD_CALLS &&
           atomic_load(&agent_board(agent)->consult_from) <= atomic_load(&rank->superstep);
}

/* The mailbox of a process that sleeps until it gets news, and has not got any; NULL: it does not,
 * or the agent has still to pass something on. */
static const struct bspz_mail *waits_for_mail(const struct agent *agent,
                                              const struct bspz_post *post, int pid)
{
    const struct bspz_mail *mail = post ? bspz_mail_of(post, pid) : NULL;

    if (!mail || atomic_load(&mail->waits) == BSPZ_MAIL_AWAKE ||
        is_wanted(agent, bspz_rank_of(agent_board(agent), pid)))
        return NULL;
    for (int word = 0; word * 64 < post->nprocs; word++)
        if (atomic_load(&mail->in[word]) || atomic_load(&mail->out[word]))
            return NULL;
    return atomic_load(&bspz_rank_of(agent_board(agent), pid)->dozing) ? mail : NULL;
}

static void show_mail(FILE *text, const struct bspz_mail *mail)
{
    uint32_t waits = atomic_load(&mail->waits);

    fputs(bspz_call_name(mail->call), text);
    if (waits == BSPZ_MAIL_TO) {
        fprintf(text, ", to process %d with tag %d", mail->peer, mail->tag);
    } else if (waits == BSPZ_MAIL_FROM) {
        fputs(mail->peer < 0 ? ", from any process" : ", from process ", text);
        if (mail->peer >= 0)
            fprintf(text, "%d", mail->peer);
        fputs(mail->tag < 0 ? " with any tag" : " with tag ", text);
        if (mail->tag >= 0)
            fprintf(text, "%d", mail->tag);
    }
}

/* Adds the line of a process that waits; false: it does not. */
static bool show_wait(const struct agent *agent, const struct watched_parts *parts, int pid,
                      struct barriers *barriers, FILE *text)
{
    const struct dataspace_request *request =
        parts->space ? dataspace_waits_for(parts->space, (uint32_t)pid) : NULL;
    const struct bspz_mail *mail = waits_for_mail(agent, parts->post, pid);

    if (!request && !mail && !is_held_up(agent, pid, barriers))
        return false;
    if ((size_t)ftell(text) > TEXT_MOST)
        return true;
    fprintf(text, "\n  pid %d: ", pid);
    if (request) {
        fprintf(text, "volpex_%s of ", request->kind == DATASPACE_GET ? "get" : "read");
        show_tag(text, request);
    } else if (mail) {
        show_mail(text, mail);
    } else {
        fprintf(text, "a barrier");
    }
    return true;
}

/* Whether all processes of this host wait; their lines go to `text`. */
static bool all_wait(const struct agent *agent, const struct watched_parts *parts,
                     struct barriers *barriers, FILE *text)
{
    if (agent_job(agent) != JOB_RUNNING || agent_here(agent) == 0)
        return false;
    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        uint64_t arrived = reached(bspz_rank_of(agent_board(agent), pid));

        if (!agent_is_here(agent, pid))
            continue;
        if (!show_wait(agent, parts, pid, barriers, text))
            return false;
        if (arrived < barriers->arrived)
            barriers->arrived = arrived;
    }
    return true;
}

/* Records in the ring that have not been read. */
static uint64_t unread_in(const struct bspz_ring *ring, uint64_t size)
{
    uint64_t at = atomic_load(&ring->head), end = atomic_load(&ring->tail), count = 0;

    while (at < end && end - at <= size) {
        struct bspz_record record;

        bspz_ring_bytes_out(ring, size, at, &record, sizeof record);
        at += bspz_record_bytes(bspz_record_content(&record));
        count++;
    }
    return count;
}

/* Records for that process, which reads none while it waits otherwise than for mail. */
static uint64_t unread_by(const struct agent *agent, const struct bspz_post *post, int pid)
{
    uint64_t count = 0;

    for (int from = 0; from < agent_nprocs(agent); from++)
        count += unread_in(bspz_ring_of(post, from, pid),
                           bspz_ring_size(post, agent_is_here(agent, from)));
    return count;
}

/* Whether the process waits at a barrier or for an object. */
static bool reads_no_mail(const struct agent *agent, const struct watched_parts *parts, int pid)
{
    return atomic_load(&bspz_rank_of(agent_board(agent), pid)->in_barrier) ||
           (parts->space && dataspace_waits_for(parts->space, (uint32_t)pid));
}

static struct dataspace_traffic traffic_of(const struct agent *agent,
                                           const struct watched_parts *parts)
{
    struct dataspace_traffic traffic = {0, 0};

    if (parts->space)
        traffic = dataspace_traffic(parts->space);
    if (!parts->post)
        return traffic;
    traffic.sent += parts->reports->sent;
    traffic.received += parts->reports->received;
    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        const struct bspz_mail *mail = bspz_mail_of(parts->post, pid);

        if (!agent_is_here(agent, pid))
            continue;
        traffic.sent += atomic_load(&mail->sent);
        traffic.received += atomic_load(&mail->received);
        if (reads_no_mail(agent, parts, pid))
            traffic.received += unread_by(agent, parts->post, pid);
    }
    return traffic;
}

/* Returns whether all wait; if not, only a question is answered. */
static bool tell(struct agent *agent, const struct watched_parts *parts, uint64_t round)
{
    struct wire_message message = {.kind = WIRE_QUIET};
    struct dataspace_traffic traffic;
    char *waits = NULL;
    size_t size;
    FILE *text = open_memstream(&waits, &size);
    struct barriers barriers = {WIRE_NEVER, WIRE_NEVER};
    bool quiet;

    if (parts->lock)
        pthread_mutex_lock(parts->lock);
    link_bell_lock(agent_link_bell(agent));
    quiet = text && all_wait(agent, parts, &barriers, text);
    traffic = traffic_of(agent, parts);
    link_bell_unlock(agent_link_bell(agent));
    if (parts->lock)
        pthread_mutex_unlock(parts->lock);
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

    if (tell(agent, &quiet->parts, 0))
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

static struct watched_parts parts_of(const struct agent *agent)
{
    return agent->quiet ? agent->quiet->parts : (struct watched_parts){0};
}

static bool watch(struct agent *agent, const struct watched_parts *parts)
{
    struct agent_quiet *quiet;

    stop_watching(agent);
    quiet = parts->space || parts->post ? calloc(1, sizeof *quiet) : NULL;
    if (!quiet)
        return !parts->space && !parts->post;
    quiet->parts = *parts;
    quiet->next_ms = FIRST_MS;
    uv_timer_init(agent_loop(agent), &quiet->timer);
    quiet->timer.data = agent;
    agent->quiet = quiet;
    look_later(quiet);
    return true;
}

bool agent_quiet_watch(struct agent *agent, const struct dataspace *space, pthread_mutex_t *lock)
{
    struct watched_parts parts = parts_of(agent);

    parts.space = space;
    parts.lock = lock;
    return watch(agent, &parts);
}

bool agent_quiet_watch_mail(struct agent *agent, const struct bspz_post *post,
                            const struct agent_quiet_reports *reports)
{
    struct watched_parts parts = parts_of(agent);

    parts.post = post;
    parts.reports = reports;
    return watch(agent, &parts);
}

void agent_quiet_answer(struct agent *agent, uint64_t round)
{
    struct watched_parts parts = parts_of(agent);

    tell(agent, &parts, round);
}
