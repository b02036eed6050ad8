/* ahead.c - restores processes ahead of their move to this host; see lib/shm/ahead.h.
 *
 * Happy path: AHEAD names processes of other hosts that are expected here -> their images as of the
 * snapshot are fetched -> each is started, or gets the increments since the last AHEAD -> all are
 * staged, AHEAD_READY -> ... -> the last snapshot is committed: its increments, while the next term
 * begins -> that term's RESTORE wants them here: each goes on as the rank, when it is staged.
 *
 * What can fail: anything, at the cost of time only.  A process that cannot be restored ahead, or
 * that cannot follow to the snapshot of RESTORE, is restored by RESTORE from all its images.  Those
 * that RESTORE does not want end then.  One that fails after RESTORE has taken it is a restored
 * process that has ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/saved.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/to_zero.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/agent/snapshot/inside.h"
#include "bsprun/agent/snapshot/memory.h"
#include "bsprun/process.h"
#include "lib/base/states.h"
#include "lib/shm/ahead.h"

#define TO       BSPZ_STATES_TO
#define STANDARD 3 /* descriptors 0, 1 and 2 */

/* The longest time that a move waits for what is restored ahead of it. */
#define MOST_MS  60000u

enum ahead_state {
    AHEAD_NONE,
    AHEAD_STAGING, /* it works on its last order */
    AHEAD_STAGED,
    AHEAD_TAKEN, /* it is a rank now, and has not answered an order of before yet */
    AHEAD_STATES
};

static const struct bspz_states_row rows[AHEAD_STATES] = {
    [AHEAD_NONE] = {"none", TO(AHEAD_STAGING)},
    [AHEAD_STAGING] = {"staging", TO(AHEAD_STAGED) | TO(AHEAD_TAKEN) | TO(AHEAD_NONE)},
    [AHEAD_STAGED] = {"staged", TO(AHEAD_STAGING) | TO(AHEAD_TAKEN) | TO(AHEAD_NONE)},
    [AHEAD_TAKEN] = {"taken", TO(AHEAD_NONE)},
};
static const struct bspz_states states = {"a process restored ahead", AHEAD_STATES, rows};

struct ahead {
    struct agent *agent;
    int pid;
    enum ahead_state state;
    bool wanted; /* by the last AHEAD */
    struct watched process;
    int socket;
    uv_poll_t *poll;
    struct bspz_image_name image; /* the newest that it has, or works on */
};

struct aheads {
    struct bspz_snapshot_name name; /* of the last AHEAD */
    bool asked;                     /* AHEAD_READY is awaited */
    uv_timer_t timer;               /* ends what takes too long */
    struct ahead of[];              /* by process */
};

/* ---- Ending ---- */

static void move(struct ahead *ahead, enum ahead_state to)
{
    ahead->state = (enum ahead_state)bspz_states_move(&states, ahead->state, to);
}

static void free_poll(uv_handle_t *handle)
{
    free(handle);
}

/* The process needs no more orders, or exists no more. */
static void hang_up(struct ahead *ahead)
{
    if (ahead->poll)
        uv_close((uv_handle_t *)ahead->poll, free_poll);
    ahead->poll = NULL;
    if (ahead->socket >= 0)
        close(ahead->socket);
    ahead->socket = -1;
}

/* Whether there is a process that is not a rank yet. */
static bool is_there(const struct ahead *ahead)
{
    return ahead->state == AHEAD_STAGING || ahead->state == AHEAD_STAGED;
}

static void end(struct ahead *ahead)
{
    if (ahead->state == AHEAD_NONE)
        return;
    if (ahead->process.state == WATCH_LIVES)
        process_signal(ahead->process.pidfd, SIGKILL);
    agent_unwatch(&ahead->process);
    hang_up(ahead);
    move(ahead, AHEAD_NONE);
}

void agent_ahead_rewind(struct agent *agent)
{
    struct aheads *aheads = snapshots_of(agent)->aheads;

    if (!aheads)
        return;
    aheads->asked = false;
    uv_timer_stop(&aheads->timer);
}

void agent_ahead_end(struct agent *agent)
{
    struct aheads *aheads = snapshots_of(agent)->aheads;

    if (!aheads)
        return;
    agent_ahead_rewind(agent);
    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        aheads->of[pid].wanted = false;
        if (is_there(&aheads->of[pid]))
            end(&aheads->of[pid]);
    }
}

static void on_closed(uv_handle_t *handle)
{
    free((char *)handle - offsetof(struct aheads, timer));
}

void agent_ahead_close(struct agent *agent)
{
    struct aheads *aheads = snapshots_of(agent)->aheads;

    if (!aheads)
        return;
    agent_ahead_end(agent);
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        end(&aheads->of[pid]); /* those that were taken, too */
    snapshots_of(agent)->aheads = NULL;
    uv_close((uv_handle_t *)&aheads->timer, on_closed);
}

/* ---- What is known of them ---- */

bool agent_is_ahead(const struct agent *agent, pid_t ospid)
{
    const struct aheads *aheads = snapshots_of(agent)->aheads;

    for (int pid = 0; aheads && pid < agent_nprocs(agent); pid++)
        if (is_there(&aheads->of[pid]) && aheads->of[pid].process.ospid == ospid)
            return true;
    return false;
}

uint64_t agent_snapshots_ahead(const struct agent *agent)
{
    const struct aheads *aheads = snapshots_of(agent) ? snapshots_of(agent)->aheads : NULL;
    uint64_t bytes = 0;

    for (int pid = 0; aheads && pid < agent_nprocs(agent); pid++)
        if (is_there(&aheads->of[pid]))
            bytes += memory_of_process(aheads->of[pid].process.ospid);
    return bytes;
}

/* Images are sent as long as they are awaited and nothing was begun with them. */
uint32_t agent_snapshots_coming(const struct agent *agent, struct wire_coming *rows)
{
    static const enum wire_coming_state comings[AHEAD_STATES] = {
        [AHEAD_NONE] = WIRE_COMING_SENT,
        [AHEAD_STAGING] = WIRE_COMING_BEGUN,
        [AHEAD_STAGED] = WIRE_COMING_AHEAD,
        [AHEAD_TAKEN] = WIRE_COMING_RESTORED,
    };
    const struct aheads *aheads = snapshots_of(agent) ? snapshots_of(agent)->aheads : NULL;
    uint32_t count = 0;

    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        const struct ahead *ahead = aheads ? &aheads->of[pid] : NULL;

        if (agent_job(agent) == JOB_RESTORING && agent_is_here(agent, pid))
            rows[count++] =
                (struct wire_coming){(uint32_t)pid, WIRE_COMING_RESTORED, WIRE_NEVER,
                                     memory_of_process(agent_process(agent, pid)->ospid)};
        else if (ahead && ahead->wanted && (aheads->asked || ahead->state != AHEAD_NONE))
            rows[count++] = (struct wire_coming){
                (uint32_t)pid, comings[ahead->state],
                is_there(ahead) ? ahead->image.superstep : aheads->name.superstep,
                is_there(ahead) ? memory_of_process(ahead->process.ospid) : 0};
    }
    return count;
}

static void answer(struct agent *agent)
{
    struct aheads *aheads = snapshots_of(agent)->aheads;
    struct wire_message message = {.kind = WIRE_AHEAD_READY};

    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        message.ahead_ready.count += aheads->of[pid].state == AHEAD_STAGED;
    aheads->asked = false;
    uv_timer_stop(&aheads->timer);
    message.ahead_ready.name = aheads->name;
    agent_tell_zero(agent, &message);
}

/* Answers AHEAD when no process is at work any more. */
static void answer_if_ready(struct agent *agent)
{
    const struct aheads *aheads = snapshots_of(agent)->aheads;

    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (aheads->of[pid].state == AHEAD_STAGING)
            return;
    if (aheads->asked)
        answer(agent);
}

/* What is not staged by now is restored by RESTORE. */
static void on_too_long(uv_timer_t *timer)
{
    struct agent *agent = timer->data;
    struct aheads *aheads = snapshots_of(agent)->aheads;

    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (aheads->of[pid].state == AHEAD_STAGING)
            end(&aheads->of[pid]);
    if (aheads->asked)
        answer(agent);
}

/* ---- Orders and answers ---- */

static void process_ended(struct watched *process)
{
    struct agent *agent = process->agent;

    end(&snapshots_of(agent)->aheads->of[process->pid]);
    answer_if_ready(agent);
}

static void on_answer(uv_poll_t *handle, int status, int events)
{
    struct ahead *ahead = handle->data;
    struct agent *agent = ahead->agent;
    struct bspz_ahead_answer answer;
    ssize_t got = recv(ahead->socket, &answer, sizeof answer, MSG_DONTWAIT);

    (void)status;
    (void)events;
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (ahead->state == AHEAD_TAKEN) { /* what becomes of it is seen of the rank */
        end(ahead);
        return;
    }
    if (got == (ssize_t)sizeof answer && answer.error == 0 && ahead->state == AHEAD_STAGING) {
        move(ahead, AHEAD_STAGED);
    } else {
        if (got == (ssize_t)sizeof answer && agent_order(agent)->verbosity > 0)
            agent_notice(agent, "process %d could not be restored ahead on host %s: %.*s",
                         ahead->pid, agent_host_name(agent), (int)sizeof answer.why - 1,
                         answer.why);
        end(ahead);
    }
    answer_if_ready(agent);
}

/* Sends descriptors along: `standard`, unless NULL, and the chain's first ones. */
static bool send_order(const struct ahead *ahead, const struct bspz_ahead_order *order,
                       const int *standard, const struct chain *chain)
{
    union {
        char bytes[CMSG_SPACE((STANDARD + BSPZ_IMAGE_CHAIN_MAX) * sizeof(int))];
        struct cmsghdr aligned;
    } space = {{0}};
    size_t own = standard ? STANDARD * sizeof(int) : 0, images = order->images * sizeof(int);
    struct iovec bytes = {(void *)order, sizeof *order};
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = space.bytes,
                             .msg_controllen = CMSG_SPACE(own + images)};
    struct cmsghdr *part = CMSG_FIRSTHDR(&message);

    *part = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(own + images)};
    if (own)
        memcpy(CMSG_DATA(part), standard, own);
    memcpy(CMSG_DATA(part) + own, chain->fds, images);
    return sendmsg(ahead->socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof *order;
}

/* How many images of the chain are newer than what the process has; -1: it is not of that chain. */
static int newer_images(const struct ahead *ahead, const struct chain *chain)
{
    for (int i = 0; i < chain->count; i++)
        if (memcmp(&chain->names[i], &ahead->image, sizeof ahead->image) == 0)
            return i;
    return -1;
}

/* ---- AHEAD ---- */

static bool watch(struct agent *agent, struct ahead *ahead, int pid, pid_t ospid)
{
    if (agent_watch(agent, &ahead->process, pid, ospid) != 0)
        return false;
    ahead->process.ended = process_ended;
    ahead->poll = malloc(sizeof *ahead->poll);
    if (!ahead->poll || uv_poll_init(agent_loop(agent), ahead->poll, ahead->socket) != 0) {
        free(ahead->poll);
        ahead->poll = NULL;
        agent_unwatch(&ahead->process);
        return false;
    }
    ahead->poll->data = ahead;
    return uv_poll_start(ahead->poll, UV_READABLE, on_answer) == 0;
}

/* Files and memory that are shared with others are prepared by RESTORE, in the processes that it
 * starts. */
static bool is_alone(const struct chain *chain)
{
    return shares_in_image(chain->fds[0]) == 0;
}

static void start(struct agent *agent, int pid, const struct chain *chain, struct sources *sources)
{
    struct ahead *ahead = &snapshots_of(agent)->aheads->of[pid];
    char why[AGENT_WHY] = "";
    int ends[2];
    pid_t ospid;

    if (!is_alone(chain) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return;
    ospid = agent_start_of_image(agent, pid, chain, sources, ends[1], why);
    close(ends[1]);
    ahead->socket = ends[0];
    ahead->image = chain->names[0];
    if (ospid > 0 && watch(agent, ahead, pid, ospid)) {
        move(ahead, AHEAD_STAGING);
        return;
    }
    if (ospid > 0)
        kill(ospid, SIGKILL);
    hang_up(ahead);
}

/* Has the process take the images that are newer than its own. */
static void follow(struct ahead *ahead, const struct chain *chain, int newer)
{
    struct bspz_ahead_order order = {.images = (uint32_t)newer, .name = chain->names[0]};

    if (newer == 0)
        return; /* it has the newest, or works on it */
    move(ahead, AHEAD_STAGING);
    ahead->image = chain->names[0];
    if (!send_order(ahead, &order, NULL, chain))
        end(ahead);
}

/* Brings the process to the snapshot. */
static void advance(struct agent *agent, int pid, struct sources *sources)
{
    struct aheads *aheads = snapshots_of(agent)->aheads;
    struct ahead *ahead = &aheads->of[pid];
    struct chain chain;
    char why[AGENT_WHY];

    if (agent_chain_open(sources, aheads->name, (uint32_t)pid, &chain, why) == 0) {
        int newer = is_there(ahead) ? newer_images(ahead, &chain) : -1;

        if (newer >= 0 && (newer == 0 || ahead->state == AHEAD_STAGED)) {
            follow(ahead, &chain, newer);
        } else {
            end(ahead);
            start(agent, pid, &chain, sources);
        }
    }
    agent_chain_close(&chain);
}

static bool is_wanted(const struct agent *agent, int pid)
{
    return snapshots_of(agent)->aheads->of[pid].wanted;
}

static void gathered(struct agent *agent, int error, const char *why)
{
    struct aheads *aheads = snapshots_of(agent)->aheads;
    struct sources sources = {.store = agent_store(agent)};
    const struct manifest *manifest;
    char text[AGENT_WHY];

    (void)why;
    if (!aheads || !aheads->asked || agent_job(agent) != JOB_RUNNING)
        return;
    manifest = error ? NULL : agent_manifest_of(&sources, aheads->name, &error, text);
    if (manifest && agent_identify_from(agent, manifest))
        for (int pid = 0; pid < agent_nprocs(agent); pid++)
            if (aheads->of[pid].wanted)
                advance(agent, pid, &sources);
    agent_free_sources(&sources);
    answer_if_ready(agent);
}

/* Notes which processes are expected here; false: none. */
static bool note_wanted(struct agent *agent, const struct wire_move_list *moves)
{
    struct aheads *aheads = snapshots_of(agent)->aheads;
    bool any = false;

    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        aheads->of[pid].wanted = false;
    for (uint32_t i = 0; i < moves->count; i++) {
        const struct wire_move *one = &moves->items[i];

        if (one->host != agent_host(agent) || one->pid >= (uint32_t)agent_nprocs(agent))
            continue;
        aheads->of[one->pid].wanted = !agent_is_here(agent, (int)one->pid);
        any = true;
    }
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (!aheads->of[pid].wanted)
            end(&aheads->of[pid]);
    return any;
}

static struct aheads *make_room(struct agent *agent)
{
    struct aheads *aheads = snapshots_of(agent)->aheads;
    size_t count = (size_t)agent_nprocs(agent);

    if (aheads)
        return aheads;
    aheads = calloc(1, sizeof *aheads + count * sizeof aheads->of[0]);
    if (!aheads)
        return NULL;
    for (size_t pid = 0; pid < count; pid++)
        aheads->of[pid] =
            (struct ahead){.agent = agent, .pid = (int)pid, .socket = -1, .process.pidfd = -1};
    uv_timer_init(agent_loop(agent), &aheads->timer);
    aheads->timer.data = agent;
    snapshots_of(agent)->aheads = aheads;
    return aheads;
}

void agent_ahead(struct agent *agent, const struct wire_message *order)
{
    struct wire_message nothing = {.kind = WIRE_AHEAD_READY};
    struct bspz_snapshot_name name = {order->envelope.superstep, order->ahead.from};
    struct aheads *aheads;
    bool any = false;

    for (uint32_t i = 0; i < order->ahead.moves.count; i++)
        any = any || order->ahead.moves.items[i].host == agent_host(agent);
    if (!any && !snapshots_of(agent)->aheads)
        return;
    aheads = agent_nprocs(agent) > 0 ? make_room(agent) : NULL;
    if (any && (!aheads || agent_job(agent) != JOB_RUNNING)) {
        nothing.ahead_ready.name = name;
        agent_tell_zero(agent, &nothing);
        return;
    }
    if (!note_wanted(agent, &order->ahead.moves))
        return;
    aheads->name = name;
    aheads->asked = true;
    uv_timer_start(&aheads->timer, on_too_long, MOST_MS, 0);
    agent_gather(agent, name, true, is_wanted, gathered);
}

/* ---- The last snapshot ---- */

static bool may_follow(const struct agent *agent, int pid)
{
    const struct ahead *ahead = &snapshots_of(agent)->aheads->of[pid];

    return ahead->wanted && ahead->state == AHEAD_STAGED;
}

static void followed(struct agent *agent, int error, const char *why)
{
    struct aheads *aheads = snapshots_of(agent)->aheads;
    struct sources sources = {.store = agent_store(agent)};
    struct chain chain;
    char text[AGENT_WHY];

    (void)why;
    if (error || !aheads || (agent_job(agent) != JOB_RUNNING && agent_job(agent) != JOB_REWINDING))
        return;
    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        if (!may_follow(agent, pid))
            continue;
        if (agent_chain_open(&sources, agent_committed(agent), (uint32_t)pid, &chain, text) == 0) {
            int newer = newer_images(&aheads->of[pid], &chain);

            if (newer > 0)
                follow(&aheads->of[pid], &chain, newer);
        }
        agent_chain_close(&chain);
    }
    agent_free_sources(&sources);
}

void agent_ahead_follow(struct agent *agent)
{
    const struct aheads *aheads = snapshots_of(agent)->aheads;
    bool any = false;

    for (int pid = 0; aheads && !aheads->asked && pid < agent_nprocs(agent); pid++)
        any = any || may_follow(agent, pid);
    if (any && agent_job(agent) == JOB_RUNNING && !agent_is_gathering(agent))
        agent_gather(agent, agent_committed(agent), true, may_follow, followed);
}

/* ---- RESTORE ---- */

/* It goes on as soon as it has answered what it was told before. */
static void is_taken(struct ahead *ahead)
{
    bool answers = ahead->state == AHEAD_STAGING;

    move(ahead, AHEAD_TAKEN);
    if (!answers)
        end(ahead);
}

bool agent_ahead_take(struct agent *agent, int pid, const struct chain *chain)
{
    struct ahead *ahead =
        snapshots_of(agent)->aheads ? &snapshots_of(agent)->aheads->of[pid] : NULL;
    struct bspz_ahead_order order = {.goes_on = 1};
    struct watched *process = agent_process(agent, pid);
    int newer = ahead && is_there(ahead) ? newer_images(ahead, chain) : -1;
    int standard[STANDARD], null;

    if (newer < 0)
        return false;
    null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    agent_standard(agent, pid, null, standard);
    order.images = (uint32_t)newer;
    order.name = chain->names[0];
    if (null < 0 || standard[0] < 0 || !send_order(ahead, &order, standard, chain)) {
        end(ahead);
    } else {
        agent_move_watched(&ahead->process, process);
        process->ended = NULL;
        is_taken(ahead);
        if (agent_order(agent)->verbosity > 0)
            agent_notice(agent, "process %d was restored ahead on host %s, %d snapshot%s before",
                         pid, agent_host_name(agent), newer, newer == 1 ? "" : "s");
    }
    if (null >= 0)
        close(null);
    return process->state != WATCH_NONE;
}
