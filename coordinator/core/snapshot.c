/* snapshot.c - a snapshot from the barrier to where all know of it: what moves the ticket on.
 *
 * Happy path: the policy says so at a barrier -> RELEASE(snapshot) -> CAPTURED from every host,
 * RESUME -> IMAGE_DURABLE of every process -> PERSIST -> PERSISTED: from here on it is the snapshot
 * that the job goes back to -> COMMITTED -> KNOWN from every host -> RETIRE what is older.
 *
 * What can fail: an image, or the manifest.  The snapshot is abandoned, or the job ended, as
 * configured; the committed one before it is not touched.  A fault ends the term, whatever the
 * ticket's state.
 */
#include "coordinator/core/state.h"

#include <stdio.h>
#include <string.h>

#define NO_NEW "stopped without a new snapshot"

/* ---- Ending it ---------------------------------------------------------------------------- */

/* There is no ticket any more: whoever waited for that goes on. */
static void ticket_is_over(struct coord *state, struct coord_effects *effects)
{
    coord_move_ticket(state, COORD_TICKET_NONE);
    if (state->phase == COORD_HELD_BACK)
        coord_decide_barrier(state, effects);
    else if (state->phase == COORD_SAVING)
        coord_stop_saved(state, state->failure, effects);
    else
        coord_plan_next(state, effects);
}

/* Processes of other hosts are made of snapshot 0. */
static bool is_indispensable(const struct coord *state)
{
    return state->phase == COORD_PLACING &&
           state->hosts[state->registered_host].count < state->processes;
}

/* A job of which snapshots can be taken need not end when once one cannot. */
static bool failure_stops(const struct coord *state)
{
    bool late = state->committed.term > 0 && state->committed.superstep > 0;
    return late ? state->config.stop_on_late_failure : state->config.stop_on_failure;
}

/* That a writer was killed says nothing of the next snapshot: it never ends the job. */
static void fail_ticket(struct coord *state, enum wire_cause cause, int32_t pid, const char *text,
                        struct coord_effects *effects)
{
    bool killed = cause == WIRE_CAUSE_RANK_SIGNALLED;
    coord_add_effect(state, effects, COORD_EFFECT_ABANDON);
    if (is_indispensable(state) || (failure_stops(state) && !killed && !state->save_and_stop &&
                                    state->phase != COORD_ENDING)) {
        coord_blame(state, cause, pid, 1, 0, text);
        coord_begin_abort(state, effects);
        return;
    }
    snprintf(state->failure, sizeof(state->failure), NO_NEW ": %s", text ? text : "");
    if (!killed)
        state->facts.retry_ns = state->now_ns + policy_retry_ns(++state->failures);
    ticket_is_over(state, effects);
}

/* ---- Two phases --------------------------------------------------------------------------- */

void coord_advance_ticket(struct coord *state, struct coord_effects *effects)
{
    struct coord_ticket *ticket = &state->ticket;
    if (ticket->state != COORD_TICKET_OPEN || ticket->missing > 0 ||
        state->phase == COORD_CAPTURING)
        return;
    coord_move_ticket(state, COORD_TICKET_PERSISTING);
    coord_add_effect(state, effects, COORD_EFFECT_PERSIST);
}

static void commit(struct coord *state, struct coord_effects *effects)
{
    struct policy_costs *costs = &state->facts.costs;
    coord_move_ticket(state, COORD_TICKET_ANNOUNCED);
    state->committed = state->ticket.name;
    costs->commit_ns = state->now_ns - state->ticket.begun_ns;
    costs->changed_bytes = state->ticket.changed;
    coord_learn_commit(state);
    if (state->ticket.base)
        state->base_size = state->ticket.images[0].image.size;
    state->failures = 0;
    state->facts.retry_ns = 0;
    coord_add_effect(state, effects, COORD_EFFECT_COMMITTED);
    if (state->phase == COORD_SAVING)
        coord_stop_saved(state, NULL, effects);
}

static void spend(struct coord *state, uint64_t ns)
{
    uint64_t *spent = &state->facts.spent_ns;
    *spent = ns < UINT64_MAX - *spent ? *spent + ns : UINT64_MAX;
}

/* Whether an event is about the ticket; of an earlier one it comes too late.  -EPROTO: of none. */
static int about_ticket(const struct coord *state, const struct coord_host *host,
                        uint64_t superstep, struct coord_effects *effects)
{
    bool any = state->config.snapshots && state->ticket.name.term > 0;
    if (!any || superstep > state->ticket.name.superstep)
        return coord_broken(effects, "host %u speaks of a snapshot of superstep %llu", host->id,
                            (unsigned long long)superstep);
    if (superstep == state->ticket.name.superstep && state->ticket.state != COORD_TICKET_NONE)
        return 1;
    effects->dropped = true;
    return 0;
}

int coord_take_captured(struct coord *state, struct coord_host *host,
                        const struct coord_event *event, struct coord_effects *effects)
{
    if (host->captured || event->captured.superstep != state->superstep)
        return coord_broken(effects, "host %u has captured superstep %llu", host->id,
                            (unsigned long long)event->captured.superstep);
    host->captured = true;
    memcpy(host->position, event->captured.output, sizeof(host->position));
    if (host == &state->hosts[state->home[0]]) {
        state->ticket.input = event->captured.input;
        state->ticket.input_digest = event->captured.input_digest;
    }
    if (event->captured.pause_ns > state->facts.costs.pause_ns)
        state->facts.costs.pause_ns = event->captured.pause_ns;
    for (uint32_t i = 0; i < state->host_count; i++)
        if (!state->hosts[i].captured)
            return 0;

    uint64_t superstep = state->superstep;
    bool failed = state->ticket.state == COORD_TICKET_NONE;
    /* What hosts and messages between them took counts, too. */
    if (state->now_ns - state->ticket.begun_ns > state->facts.costs.pause_ns)
        state->facts.costs.pause_ns = state->now_ns - state->ticket.begun_ns;
    spend(state, state->facts.costs.pause_ns);
    state->superstep = superstep + 1;
    coord_note_going_on(state);
    coord_move(state, state->save_and_stop ? COORD_SAVING : COORD_RUNNING);
    coord_advance_ticket(state, effects);
    if (state->save_and_stop) {
        if (failed)
            coord_stop_saved(state, state->failure, effects);
        return 0;
    }
    coord_plan(state);
    coord_add_effect(state, effects, COORD_EFFECT_RESUME)->superstep = superstep;
    coord_plan_timer(state, effects);
    return 0;
}

static void keep_digest(struct coord_digest *digest, struct wire_bytes bytes)
{
    digest->size = bytes.size;
    if (bytes.size > 0)
        memcpy(digest->bytes, bytes.data, bytes.size);
}

static void keep_image(struct coord_image *image, const struct wire_image *from)
{
    image->size = from->size;
    image->generation = from->generation;
    image->base = (struct coord_name){from->base_superstep, from->base_term};
    image->base_pid = from->base_pid;
    keep_digest(&image->digest, from->digest);
    keep_digest(&image->base_digest, from->base_digest);
}

static bool same_image(const struct coord_image *image, const struct wire_image *other)
{
    return image->size == other->size && image->digest.size == other->digest.size &&
           memcmp(image->digest.bytes, other->digest.data, image->digest.size) == 0;
}

int coord_take_image_durable(struct coord *state, struct coord_host *host,
                             const struct coord_event *event, struct coord_effects *effects)
{
    struct coord_ticket *ticket = &state->ticket;
    uint32_t pid = event->image_durable.image.pid, index = (uint32_t)(host - state->hosts) + 1;
    int result = about_ticket(state, host, event->image_durable.superstep, effects);
    if (result <= 0)
        return result;
    if (pid >= (ticket->base ? 1 : state->processes) ||
        (state->config.copies == 1 && !coord_lives_on(state, pid, host)) ||
        event->image_durable.image.digest.size > WIRE_DIGEST_MAX ||
        event->image_durable.image.base_digest.size > WIRE_DIGEST_MAX)
        return coord_broken(effects, "host %u has an image of process %u", host->id, pid);
    struct coord_writing *writing = &ticket->images[pid];
    uint32_t have = 0;
    while (have < state->config.copies && writing->holders[have] > 0)
        if (writing->holders[have++] == index)
            return coord_broken(effects, "host %u has the image of process %u twice", host->id,
                                pid);
    if (have > 0 && !same_image(&writing->image, &event->image_durable.image))
        return coord_broken(effects, "host %u has another image of process %u", host->id, pid);
    if (have == state->config.copies || ticket->state != COORD_TICKET_OPEN)
        return 0; /* more than are needed */
    if (have == 0) {
        keep_image(&writing->image, &event->image_durable.image);
        ticket->changed += event->image_durable.changed;
    }
    writing->holders[have] = (uint16_t)index;
    uint32_t needed =
        state->config.copies < state->host_count ? state->config.copies : state->host_count;
    if (have + 1 == needed)
        ticket->missing--;
    coord_advance_ticket(state, effects);
    return 0;
}

/* The image of a process was not written, or could not be restored. */
int coord_take_image_failed(struct coord *state, struct coord_host *host,
                            const struct coord_event *event, struct coord_effects *effects)
{
    uint32_t pid = event->image_failed.pid;
    enum wire_cause cause = event->image_failed.cause;
    if (pid >= state->processes ||
        (state->config.copies == 1 && !coord_lives_on(state, pid, host)))
        return coord_broken(effects, "host %u has no image of process %u", host->id, pid);
    if (state->phase == COORD_RESTORING || state->phase == COORD_PASSING) {
        coord_blame(state, WIRE_CAUSE_NOT_RESTORED, (int32_t)pid, 1, 0, event->image_failed.text);
        state->outcome.bad = state->committed;
        coord_fail(state, effects);
        return 0;
    }
    if (cause != WIRE_CAUSE_REFUSED && cause != WIRE_CAUSE_NOT_WRITTEN &&
        cause != WIRE_CAUSE_RANK_SIGNALLED)
        return coord_broken(effects, "host %u has failed for no known cause", host->id);
    int result = about_ticket(state, host, event->image_failed.superstep, effects);
    if (result <= 0)
        return result;
    if (state->ticket.state != COORD_TICKET_OPEN)
        return coord_broken(effects, "host %u takes back an image", host->id);
    fail_ticket(state, cause, (int32_t)pid, event->image_failed.text, effects);
    return 0;
}

int coord_take_persisted(struct coord *state, struct coord_host *host,
                         const struct coord_event *event, struct coord_effects *effects)
{
    int result = about_ticket(state, host, event->persisted.superstep, effects);
    if (result <= 0)
        return result;
    if (state->ticket.state == COORD_TICKET_OPEN || host->durable ||
        !coord_host_persists(state, host->id))
        return coord_broken(effects, "host %u has a manifest it was not given", host->id);
    if (event->persisted.error > 0) {
        if (state->ticket.state != COORD_TICKET_PERSISTING)
            return 0; /* others had been enough */
        char text[80];
        snprintf(text, sizeof(text), "the manifest could not be written: error %u",
                 event->persisted.error);
        fail_ticket(state, WIRE_CAUSE_NOT_WRITTEN, COORD_NOBODY, text, effects);
        return 0;
    }
    host->durable = true;
    uint32_t durable = 0, persisting = 0;
    for (uint32_t i = 0; i < state->host_count; i++) {
        if (!coord_host_persists(state, state->hosts[i].id))
            continue; /* behind bsp_end one may be lost and the term go on */
        durable += state->hosts[i].durable;
        persisting++;
    }
    /* Whoever is left must know of what it has images of. */
    if (state->ticket.state == COORD_TICKET_PERSISTING && durable == persisting)
        commit(state, effects);
    return 0;
}

/* The pages were copied since the snapshot before: when there was one. */
static void note_costs(struct coord *state)
{
    struct policy_costs *costs = &state->facts.costs;
    costs->busy_ns = state->ticket.busy_ns;
    costs->copied_ns = state->ticket.copied_ns;
    coord_learn_cost(state);
    state->facts.counted += !state->ticket.base;
    spend(state, costs->busy_ns);
    if (state->ticket.follows)
        spend(state, costs->copied_ns);
}

int coord_take_known(struct coord *state, struct coord_host *host, const struct coord_event *event,
                     struct coord_effects *effects)
{
    int result = about_ticket(state, host, event->known.superstep, effects);
    if (result <= 0)
        return result;
    if (state->ticket.state != COORD_TICKET_ANNOUNCED || host->known)
        return coord_broken(effects, "host %u knows of no commit", host->id);
    host->known = true;
    if (event->known.busy_ns > state->ticket.busy_ns)
        state->ticket.busy_ns = event->known.busy_ns;
    if (event->known.copied_ns > state->ticket.copied_ns)
        state->ticket.copied_ns = event->known.copied_ns;
    coord_learn_known(state, host, event->known.busy_ns, event->known.copied_ns);
    coord_learn_read(state, host, event->known.read_bytes, event->known.read_ns);
    for (uint32_t i = 0; i < state->host_count; i++)
        if (!state->hosts[i].known && !state->hosts[i].lost)
            return 0;
    note_costs(state);
    coord_add_effect(state, effects, COORD_EFFECT_RETIRE);
    ticket_is_over(state, effects);
    return 0;
}

/* ---- Requests ----------------------------------------------------------------------------- */

static void save_and_stop(struct coord *state, const struct coord_event *event,
                          struct coord_effects *effects)
{
    if (state->save_and_stop) {
        effects->dropped = true;
        return;
    }
    state->save_signal = event->save.signal;
    bool running = state->phase == COORD_RUNNING, at_end = state->phase == COORD_ENDING;
    bool at_barrier = state->phase == COORD_HELD_BACK || state->phase == COORD_CAPTURING ||
                      state->phase == COORD_CLOSING;
    bool to_choose = state->phase == COORD_WAITING && state->config.restore;
    if (!state->config.snapshots || (!running && !at_end && !at_barrier && !to_choose)) {
        coord_stop_saved(state, NO_NEW, effects); /* nothing newer than what there is */
        return;
    }
    state->save_and_stop = true;
    if (running) {
        state->asked = true;
        coord_add_effect(state, effects, COORD_EFFECT_CONSULT);
    }
    struct coord_effect *effect = coord_add_effect(state, effects, COORD_EFFECT_SET_TIMER);
    effect->timer = COORD_TIMER_GRACE;
    effect->milliseconds = event->save.grace_ms;
}

int coord_take_save(struct coord *state, struct coord_host *host, const struct coord_event *event,
                    struct coord_effects *effects)
{
    (void)host;
    if (event->save.signal > 127)
        return coord_broken(effects, "a request to save by signal %u", event->save.signal);
    if (event->save.stop) {
        save_and_stop(state, event, effects);
    } else if (!state->config.snapshots || state->phase == COORD_CLOSING ||
               state->phase == COORD_ENDING || state->phase == COORD_CAPTURING) {
        effects->dropped = true; /* impossible, or being done */
    } else {
        state->save = true;
        if (state->phase == COORD_RUNNING) {
            state->asked = true;
            coord_add_effect(state, effects, COORD_EFFECT_CONSULT);
        }
    }
    return 0;
}
