/* behind.c - how far the replicas of each process are, and what has to be kept for them; see
 * inside.h.
 *
 * A replica that makes a request has the answers to those before.  Its host says so to all now and
 * then, as each of them only sees the requests for its own tags.  What all that live have is cut
 * from the logs.  If there is too much in a log nevertheless, the replicas that are behind are
 * asked how far they are, as they may be further than what was said last; who is far behind is told
 * to the caller, and nothing is cut that it needs until its host is lost.
 */
#include "bsprun/dataspace/inside.h"

#define TOLD_BYTES (UINT64_C(1) << 20) /* of answers, after which it is said */

static struct replica *at(const struct dataspace *space, uint32_t pid, uint32_t host)
{
    return &space->replicas[service_seat(space, pid, host)];
}

/* The host of the n-th seat of the process, if a replica lives there. */
static bool lives(const struct dataspace *space, uint32_t pid, uint32_t n, uint32_t *host)
{
    *host = space->processes[pid * space->most + n].home;
    return *host < space->hosts && !space->others[*host].lost;
}

static uint64_t least_reached(const struct dataspace *space, uint32_t pid)
{
    uint64_t least = UINT64_MAX;
    uint32_t host;

    for (uint32_t n = 0; n < space->most; n++)
        if (lives(space, pid, n, &host))
            least = service_least(least, at(space, pid, host)->reached);
    return least;
}

static void cut(struct dataspace *space, uint32_t pid)
{
    uint64_t least = least_reached(space, pid);

    if (least == UINT64_MAX)
        return;
    copies_cut(space->copies, pid, least);
    passing_cut(space, pid, least);
}

static void say(struct dataspace *space, uint32_t pid, uint32_t host)
{
    struct wire_message message = {.kind = WIRE_DATA_CUT};

    message.data_cut.pid = pid;
    message.data_cut.request = at(space, pid, space->host)->reached;
    service_send(space, host, &message);
}

static void say_to_all(struct dataspace *space, uint32_t pid)
{
    struct replica *own = at(space, pid, space->host);

    own->told = own->reached;
    own->bytes = 0;
    for (uint32_t i = 0; i < space->owner_count; i++)
        if (space->owners[i] != space->host && !space->others[space->owners[i]].lost)
            say(space, pid, space->owners[i]);
    cut(space, pid);
}

void behind_reached(struct dataspace *space, uint32_t pid, uint32_t host, uint64_t number)
{
    struct replica *replica = at(space, pid, host);

    if (number <= replica->reached)
        return;
    replica->reached = number;
    if (host == space->host &&
        (number >= replica->told + space->cut_every || replica->bytes >= TOLD_BYTES))
        say_to_all(space, pid);
}

void behind_given(struct dataspace *space, uint32_t pid, uint64_t bytes)
{
    at(space, pid, space->host)->bytes += bytes;
}

void behind_cut(struct dataspace *space, uint32_t host, const struct wire_data_cut *of)
{
    behind_reached(space, of->pid, host, of->request);
    cut(space, of->pid);
}

void behind_lost(struct dataspace *space)
{
    for (uint32_t pid = 0; pid < space->nprocs; pid++)
        cut(space, pid);
}

/* ---- Who is behind --------------------------------------------------------------------------- */

static void ask(struct dataspace *space, uint32_t pid, uint32_t host)
{
    struct wire_message message = {.kind = WIRE_DATA_HOW_FAR};
    struct replica *replica = at(space, pid, host);

    replica->behind = BEHIND_ASKED;
    replica->asked = replica->reached;
    message.data_how_far.pid = pid;
    service_send(space, host, &message);
}

void behind_asked(struct dataspace *space, uint32_t host, const struct wire_data_how_far *of)
{
    struct wire_message message = {.kind = WIRE_DATA_HOW_FAR};

    if (!space->replicas) {
        service_broken(space, host, "a question about replicas, of which there are none");
        return;
    }
    if (of->answers) {
        behind_reached(space, of->pid, host, of->request);
        if (at(space, of->pid, host)->behind == BEHIND_ASKED)
            at(space, of->pid, host)->behind = BEHIND_ANSWERED;
        cut(space, of->pid);
        return;
    }
    message.data_how_far.pid = of->pid;
    message.data_how_far.answers = true;
    message.data_how_far.request = at(space, of->pid, space->host)->reached;
    service_send(space, host, &message);
}

/* The replica holds up what could be cut. */
static void judge(struct dataspace *space, uint32_t pid, uint32_t host)
{
    struct replica *replica = at(space, pid, host);
    bool moved = replica->reached > replica->asked;

    if (replica->behind == BEHIND_ASKED || replica->behind == BEHIND_GIVEN_UP)
        return;
    if (host == space->host || (replica->behind == BEHIND_ANSWERED && !moved)) {
        replica->behind = BEHIND_GIVEN_UP;
        space->calls->too_far_behind(space->context, pid, host);
    } else {
        ask(space, pid, host);
    }
}

void behind_watch(struct dataspace *space)
{
    uint64_t answers, least;
    uint32_t pid, host;

    if (space->part_lost)
        return;
    pid = copies_logged_beyond(space->copies, space->log, &answers);
    if (pid < space->nprocs) {
        cut(space, pid); /* requests have come since */
        pid = copies_logged_beyond(space->copies, space->log, &answers);
    }
    if (pid == space->nprocs || answers <= space->behind_most)
        return;
    least = least_reached(space, pid);
    for (uint32_t n = 0; n < space->most; n++)
        if (lives(space, pid, n, &host) && at(space, pid, host)->reached == least)
            judge(space, pid, host);
}
