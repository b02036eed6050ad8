/* survive.c - a host is lost, and its processes are restarted alone on other hosts, while all
 * others go on: programs that use nothing but the dataspace, of which other hosts keep copies.
 *
 * Happy path: BEARS of each host -> a host is lost while the processes run -> SURVIVED: who goes
 * where -> RUNNING.  A snapshot that is being written is abandoned.
 *
 * What can fail: the host does not bear it, or nobody can take its processes, or all are about to
 * pass a barrier: the term is over, as by any loss.  So it is when a host turns out to have arrived
 * at a barrier by what the lost processes had said there, and these, restarted, say something else.
 */
#include "coordinator/core/state.h"

/* ---- Who takes the processes --------------------------------------------------------------- */

/* Whether it may get some: it has processes, and with them a part of the dataspace and a place at
 * barriers; and it has not come to the one that is to be decided, where it would have to come
 * again. */
static bool may_take(const struct coord *state, const struct coord_host *host,
                     const struct coord_host *lost)
{
    return host != lost && host->ready && !host->lost && host->count > 0 && !host->arrived &&
           !host->waits && (!host->drained || state->all_drained);
}

static int64_t room_of(const struct coord_host *host)
{
    return (int64_t)host->slots - (int64_t)host->count;
}

/* The one with most room; of several the one with most memory when the term began.  NULL: nobody.
 */
static struct coord_host *find_taker(const struct coord *state, const struct coord_host *lost)
{
    struct coord_host *best = NULL;

    for (uint32_t i = 0; i < state->host_count; i++) {
        struct coord_host *host = &state->hosts[i];

        if (may_take(state, host, lost) &&
            (!best || room_of(host) > room_of(best) ||
             (room_of(host) == room_of(best) && host->available > best->available)))
            best = host;
    }
    return best;
}

/* ---- May it be? ---------------------------------------------------------------------------- */

bool coord_bears_loss(const struct coord *state, const struct coord_host *host)
{
    return state->config.survives && !coord_has_replicas(state) && host->bears &&
           state->processes > 0 && host->count > 0;
}

bool coord_can_settle(const struct coord *state, const struct coord_host *host)
{
    return find_taker(state, host) != NULL;
}

bool coord_survives(const struct coord *state, const struct coord_host *host)
{
    return state->phase == COORD_RUNNING && coord_bears_loss(state, host) && !host->lost &&
           host->id != state->config.own && !host->arrived && state->committed.term > 0 &&
           state->ahead.missing == 0 && find_taker(state, host);
}

/* ---- It is --------------------------------------------------------------------------------- */

static void settle(struct coord *state, uint32_t pid, struct coord_host *host)
{
    state->home[pid] = (uint16_t)(host - state->hosts);
    if (host->count++ == 0 || pid < host->first)
        host->first = pid;
    host->gained = state->survived;
}

void coord_survive(struct coord *state, struct coord_host *lost, struct coord_effects *effects)
{
    uint32_t count = 0;

    state->survived++;
    for (uint32_t pid = 0; pid < state->processes; pid++) {
        if (!coord_lives_on(state, pid, lost))
            continue;
        settle(state, pid, find_taker(state, lost));
        state->missed[count++] = (struct wire_move){pid, state->hosts[state->home[pid]].id};
    }
    lost->count = 0;
    struct wire_message *message = coord_say(state, effects, WIRE_SURVIVED);
    message->envelope.superstep = state->superstep;
    message->survived.lost = lost->id;
    message->survived.number = state->survived;
    message->survived.name = state->committed;
    message->survived.moves = (struct wire_move_list){state->missed, count};
}

/* ---- Barriers after that ------------------------------------------------------------------- */

static bool contradicts(const struct coord *state, const struct coord_host *host,
                        const struct wire_arrive *arrive)
{
    bool ends = arrive->barrier == WIRE_BARRIER_END;

    if (arrive->survived < host->gained)
        return true; /* its new processes have not arrived */
    for (uint32_t i = 0; i < state->host_count; i++)
        if (state->hosts[i].arrived && (state->hosts[i].barrier == WIRE_BARRIER_END) != ends)
            return true;
    return false;
}

bool coord_misses_survivors(struct coord *state, const struct coord_host *host,
                            const struct wire_arrive *arrive, struct coord_effects *effects)
{
    if (state->survived == 0 || !contradicts(state, host, arrive))
        return false;
    coord_blame(state, WIRE_CAUSE_HOST_LOST, COORD_NOBODY, 1, 0,
                "a host was lost while the processes were coming to a barrier");
    coord_fail(state, effects);
    return true;
}
