/* snapshot.c - a snapshot from the barrier until all hosts know of it: the messages that advance
 * the ticket.
 *
 * Happy path: the policy says so at a barrier -> RELEASE(snapshot) -> CAPTURED from every host,
 * RESUME -> IMAGE_DURABLE of every process -> PERSIST -> PERSISTED: committed: from now on the job
 * rolls back to this snapshot -> COMMITTED -> KNOWN from every host -> RETIRE what is older.
 *
 * What can fail: an image, or the manifest.  The snapshot is abandoned, or the job ended, as
 * configured; the committed one before it is not touched.  A fault ends the term, whatever the
 * ticket's state.
 */
#include "coordinator/core/state.h"

#include <stdio.h>
#include <string.h>

#define NO_NEW "stopped without a new snapshot"

/* ---- What is said of it ------------------------------------------------------------------- */

static struct wire_message *say_of_ticket(struct coord *state, struct coord_effects *effects,
                                          enum wire_kind kind)
{
    struct wire_message *message = coord_say(state, effects, kind);
    message->envelope.superstep = state->ticket.name.superstep;
    return message;
}

static void say_persist(struct coord *state, struct coord_effects *effects)
{
    const struct coord_ticket *ticket = &state->ticket;
    struct wire_persist *persist = &say_of_ticket(state, effects, WIRE_PERSIST)->persist;
    for (uint32_t pid = 1; ticket->base && pid < state->processes; pid++) {
        ticket->images[pid] = ticket->images[0];
        ticket->images[pid].pid = pid;
    }
    for (uint32_t i = 0; i < 2 * state->host_count; i++)
        state->numbers[i] = state->hosts[i / 2].position[i % 2];
    persist->processes = state->processes;
    persist->images = (struct wire_image_list){ticket->images, state->processes};
    persist->output = (struct wire_numbers){state->numbers, 2 * state->host_count};
    persist->writer = coord_manifest_writer(state)->id;
    persist->input = ticket->input;
    persist->input_digest = ticket->input_digest;
}

/* Tells bsprun of the commit, and (known) that all hosts know of it. */
static void say_saved(struct coord *state, bool known, struct coord_effects *effects)
{
    struct wire_saved *saved = &say_of_ticket(state, effects, WIRE_SAVED)->saved;
    saved->superstep = state->ticket.name.superstep;
    saved->known = known;
    saved->replicas = coord_leads(state).count > 0;
    if (coord_has_replicas(state))
        saved->right = state->right;
    saved->pause_ns = state->facts.costs.pause_ns;
    saved->commit_ns = state->facts.costs.commit_ns;
    for (uint32_t pid = 0; pid < (state->ticket.base ? 1 : state->processes); pid++)
        saved->size += state->ticket.images[pid].facts.size;
    saved->learned.interval_ns = WIRE_NEVER;
    if (state->config.recover)
        saved->learned = coord_learned(state, state->now_ns, state->learned);
}

/* ---- Ending it ---------------------------------------------------------------------------- */

/* All processes wait at the barrier where they were captured. */
static void say_resume(struct coord *state, struct coord_effects *effects)
{
    coord_plan(state);
    struct wire_message *message = coord_say(state, effects, WIRE_RESUME);
    message->envelope.superstep = state->superstep - 1;
    message->resume.consult = state->consult;
    message->resume.measure = coord_balancing_asks(state);
    coord_plan_timer(state, effects);
}

/* There is no snapshot at which the term could end.  To move processes another one is tried. */
static void end_in_vain(struct coord *state, struct coord_effects *effects)
{
    if (state->wish == COORD_WISH_STOP) {
        coord_stop_saved(state, state->failure, effects);
        return;
    }
    coord_move(state, COORD_RUNNING);
    say_resume(state, effects);
}

/* Closes the ticket and continues what waited for its end. */
static void ticket_is_over(struct coord *state, struct coord_effects *effects)
{
    coord_move_ticket(state, COORD_TICKET_NONE);
    coord_ahead_say(state, effects);
    if (state->phase == COORD_HELD_BACK)
        coord_decide_barrier(state, effects);
    else if (state->phase == COORD_SAVING)
        end_in_vain(state, effects);
    else
        coord_plan_next(state, effects);
}

/* Processes on other hosts are created from snapshot 0. */
static bool is_indispensable(const struct coord *state)
{
    return state->phase == COORD_PLACING &&
           (state->hosts[state->registered_host].count < state->processes ||
            coord_has_replicas(state));
}

/* A job that has had snapshots need not end when one fails. */
static bool failure_stops(const struct coord *state)
{
    bool late = state->committed.term > 0 && state->committed.superstep > 0;
    return late ? state->config.stop_on_late_failure : state->config.stop_on_failure;
}

/* Tells bsprun, which may have asked for it, that there will be none, and why. */
static void say_unsaved(struct coord *state, const char *text, struct coord_effects *effects)
{
    struct wire_unsaved *unsaved = &say_of_ticket(state, effects, WIRE_UNSAVED)->unsaved;
    uint64_t going_ns = state->ticket.begun_ns + state->facts.costs.pause_ns;

    if (state->phase != COORD_CAPTURING && state->now_ns > going_ns)
        unsaved->age_ns = state->now_ns - going_ns;
    unsaved->text = text;
}

/* A killed writer does not predict the next failure: it never ends the job. */
static void fail_ticket(struct coord *state, enum wire_cause cause, int32_t pid, const char *text,
                        struct coord_effects *effects)
{
    bool killed = cause == WIRE_CAUSE_RANK_SIGNALLED;
    say_of_ticket(state, effects, WIRE_ABANDON);
    if (is_indispensable(state) ||
        (failure_stops(state) && !killed && state->wish != COORD_WISH_STOP &&
         state->phase != COORD_ENDING)) {
        coord_blame(state, cause, pid, 1, 0, text);
        coord_begin_abort(state, effects);
        return;
    }
    snprintf(state->failure, sizeof(state->failure), NO_NEW ": %s", text ? text : "");
    say_unsaved(state, state->failure + sizeof(NO_NEW ": ") - 1, effects);
    if (!killed)
        state->facts.retry_ns = state->now_ns + policy_retry_ns(++state->failures);
    ticket_is_over(state, effects);
}

/* ---- Two phases --------------------------------------------------------------------------- */

/* Advances the ticket if what it waits for is complete. */
static void advance_ticket(struct coord *state, struct coord_effects *effects)
{
    struct coord_ticket *ticket = &state->ticket;
    if (ticket->state != COORD_TICKET_OPEN || ticket->missing > 0 ||
        state->phase == COORD_CAPTURING)
        return;
    coord_move_ticket(state, COORD_TICKET_PERSISTING);
    say_persist(state, effects);
}

static void say_committed(struct coord *state, struct coord_effects *effects)
{
    struct wire_committed *committed = &say_of_ticket(state, effects, WIRE_COMMITTED)->committed;
    committed->from = state->ticket.name.term;
    committed->right = state->right;
}

static void commit(struct coord *state, struct coord_effects *effects)
{
    struct policy_costs *costs = &state->facts.costs;
    coord_move_ticket(state, COORD_TICKET_ANNOUNCED);
    state->committed = state->ticket.name;
    if (state->ticket.compared == (state->ticket.base ? 1 : state->processes))
        state->right = state->committed;
    coord_note_round(state, costs->commit_ns);
    costs->commit_ns = state->now_ns - state->ticket.begun_ns;
    coord_learn_commit(state);
    if (state->ticket.base)
        state->base_size = state->ticket.images[0].facts.size;
    state->failures = 0;
    state->facts.retry_ns = 0;
    say_saved(state, false, effects);
    say_committed(state, effects);
    if (state->phase != COORD_SAVING)
        return;
    if (state->wish == COORD_WISH_STOP)
        coord_stop_saved(state, NULL, effects);
    else
        coord_end_to_move(state, effects);
}

void coord_announce(struct coord *state, struct bspz_snapshot_name name, bool told,
                    struct coord_effects *effects)
{
    struct coord_ticket *ticket = &state->ticket;
    ticket->name = name;
    ticket->base = name.superstep == 0;
    ticket->begun_ns = state->now_ns;
    for (uint32_t i = 0; i < state->host_count; i++)
        state->hosts[i].known = false;
    coord_move_ticket(state, COORD_TICKET_OPEN);
    coord_move_ticket(state, COORD_TICKET_PERSISTING);
    coord_move_ticket(state, COORD_TICKET_ANNOUNCED);
    if (!told)
        say_saved(state, false, effects);
    say_committed(state, effects);
}

static void spend(struct coord *state, uint64_t ns)
{
    uint64_t *spent = &state->facts.spent_ns;
    *spent = ns < UINT64_MAX - *spent ? *spent + ns : UINT64_MAX;
}

/* Whether it is of a snapshot that a former Processor Zero has begun, which was abandoned. */
static bool is_of_former(const struct coord *state, uint64_t superstep)
{
    return state->takeover.any &&
           (state->ticket.name.term == 0 || superstep > state->ticket.name.superstep);
}

/* Whether a message concerns the ticket; one of an earlier ticket comes too late.  -EPROTO: of
 * none. */
static int about_ticket(const struct coord *state, const struct coord_host *host,
                        uint64_t superstep, struct coord_effects *effects)
{
    bool any = state->config.snapshots && state->ticket.name.term > 0;
    if (is_of_former(state, superstep)) {
        effects->dropped = true;
        return 0;
    }
    if (!any || superstep > state->ticket.name.superstep)
        return coord_broken(effects, "host %u speaks of a snapshot of superstep %llu", host->id,
                            (unsigned long long)superstep);
    if (superstep == state->ticket.name.superstep && state->ticket.state != COORD_TICKET_NONE)
        return 1;
    effects->dropped = true;
    return 0;
}

/* The same; what concerns a snapshot that a former Processor Zero has committed is too late, too.
 */
static int about_own_ticket(const struct coord *state, const struct coord_host *host,
                            uint64_t superstep, struct coord_effects *effects)
{
    int result = about_ticket(state, host, superstep, effects);

    if (result > 0 && state->takeover.any &&
        bspz_snapshot_same(state->ticket.name, state->takeover.committed)) {
        effects->dropped = true;
        return 0;
    }
    return result;
}

/* A host that has not captured its processes yet; NULL: there is none. */
static const struct coord_host *find_late(const struct coord *state)
{
    for (uint32_t i = 0; i < state->host_count; i++)
        if (!state->hosts[i].captured)
            return &state->hosts[i];
    return NULL;
}

/* All are captured that are waited for.  Where the term was to end with the snapshot, but the
 * processes are to go on, it does with the next one. */
static void go_on_from_capture(struct coord *state, bool goes_on, struct coord_effects *effects)
{
    bool failed = state->ticket.state == COORD_TICKET_NONE;
    /* Includes the time of hosts and of messages between them. */
    if (state->now_ns - state->ticket.begun_ns > state->facts.costs.pause_ns)
        state->facts.costs.pause_ns = state->now_ns - state->ticket.begun_ns;
    spend(state, state->facts.costs.pause_ns);
    state->superstep++;
    coord_note_going_on(state);
    bool ends = state->wish >= COORD_WISH_MOVE_NOW && !goes_on && !state->takeover.resumes;
    state->takeover.resumes = false;
    coord_move(state, ends ? COORD_SAVING : COORD_RUNNING);
    advance_ticket(state, effects);
    if (!ends)
        say_resume(state, effects);
    else if (failed)
        end_in_vain(state, effects);
}

static void captured_when_complete(struct coord *state, struct coord_effects *effects)
{
    if (find_late(state))
        return;
    coord_patience_over(state, true);
    go_on_from_capture(state, false, effects);
}

int coord_take_captured(struct coord *state, struct coord_host *host,
                        const struct wire_message *message, struct coord_effects *effects)
{
    if (coord_has_replicas(state) && message->envelope.superstep < state->superstep) {
        effects->dropped = true; /* it was not waited for */
        return 0;
    }
    if (state->phase != COORD_CAPTURING)
        return coord_broken(effects, "host %u sends something that does not belong into state %s",
                            host->id, coord_phase_name(state->phase));
    if (host->captured || message->envelope.superstep != state->superstep)
        return coord_broken(effects, "host %u has captured superstep %llu", host->id,
                            (unsigned long long)message->envelope.superstep);
    host->captured = true;
    coord_patience_note(state);
    uint32_t reader = state->config.stdin_pid < state->processes ? state->config.stdin_pid : 0;
    for (uint32_t i = 0; i < message->captured.output.count && i < 2; i++)
        host->position[i] = message->captured.output.items[i];
    if (coord_lives_on(state, reader, host)) {
        state->ticket.input = message->captured.input;
        state->ticket.input_digest = message->captured.input_digest;
    }
    if (message->captured.pause_ns > state->facts.costs.pause_ns)
        state->facts.costs.pause_ns = message->captured.pause_ns;
    captured_when_complete(state, effects);
    if (state->phase == COORD_CAPTURING)
        coord_await_captures(state, effects);
    return 0;
}

int coord_take_image_durable(struct coord *state, struct coord_host *host,
                             const struct wire_message *message, struct coord_effects *effects)
{
    struct coord_ticket *ticket = &state->ticket;
    const struct wire_image_durable *image = &message->image_durable;
    uint32_t pid = image->pid, index = (uint32_t)(host - state->hosts) + 1;
    int result = about_ticket(state, host, message->envelope.superstep, effects);
    if (result <= 0)
        return result;
    if (pid >= (ticket->base ? 1 : state->processes) ||
        (state->config.copies == 1 && !coord_lives_on(state, pid, host)))
        return coord_broken(effects, "host %u has an image of process %u", host->id, pid);
    uint16_t *holders = ticket->holders[pid];
    uint32_t have = 0;
    while (have < state->config.copies && holders[have] > 0)
        if (holders[have++] == index)
            return coord_broken(effects, "host %u has the image of process %u twice", host->id,
                                pid);
    if (have > 0 && !bspz_image_same(&ticket->images[pid].facts, &image->facts))
        return coord_broken(effects, "host %u has another image of process %u", host->id, pid);
    if (have == state->config.copies || ticket->state != COORD_TICKET_OPEN)
        return 0; /* not needed */
    if (have == 0)
        ticket->images[pid] = (struct wire_image){pid, image->facts};
    holders[have] = (uint16_t)index;
    ticket->compared += image->compared;
    uint32_t needed = coord_copies(state);
    if (have + 1 == needed)
        ticket->missing--;
    advance_ticket(state, effects);
    return 0;
}

/* The image of a process was not written, or could not be restored. */
int coord_take_image_failed(struct coord *state, struct coord_host *host,
                            const struct wire_message *message, struct coord_effects *effects)
{
    uint32_t pid = message->image_failed.pid;
    enum wire_cause cause = (enum wire_cause)message->image_failed.cause;
    if (pid >= state->processes || (state->config.copies == 1 && !coord_lives_on(state, pid, host)))
        return coord_broken(effects, "host %u has no image of process %u", host->id, pid);
    if (state->phase == COORD_RESTORING || state->phase == COORD_PASSING) {
        coord_blame(state, WIRE_CAUSE_NOT_RESTORED, (int32_t)pid, 1, 0, message->image_failed.text);
        state->outcome.bad = state->committed;
        coord_fail(state, effects);
        return 0;
    }
    if (cause != WIRE_CAUSE_REFUSED && cause != WIRE_CAUSE_NOT_WRITTEN &&
        cause != WIRE_CAUSE_RANK_SIGNALLED)
        return coord_broken(effects, "host %u has failed for no known cause", host->id);
    int result = about_own_ticket(state, host, message->envelope.superstep, effects);
    if (result <= 0)
        return result;
    if (state->ticket.state != COORD_TICKET_OPEN)
        return coord_broken(effects, "host %u takes back an image", host->id);
    fail_ticket(state, cause, (int32_t)pid, message->image_failed.text, effects);
    return 0;
}

int coord_take_persisted(struct coord *state, struct coord_host *host,
                         const struct wire_message *message, struct coord_effects *effects)
{
    int result = about_own_ticket(state, host, message->envelope.superstep, effects);
    if (result <= 0)
        return result;
    if (state->ticket.state == COORD_TICKET_OPEN || host->durable ||
        !coord_keeps_manifest(state, host))
        return coord_broken(effects, "host %u has a manifest it was not given", host->id);
    if (message->persisted.error > 0) {
        if (state->ticket.state != COORD_TICKET_PERSISTING)
            return 0; /* enough others were durable */
        char text[80];
        snprintf(text, sizeof(text), "the manifest could not be written: error %u",
                 message->persisted.error);
        fail_ticket(state, WIRE_CAUSE_NOT_WRITTEN, COORD_NOBODY, text, effects);
        return 0;
    }
    host->durable = true;
    uint32_t durable = 0, persisting = 0;
    for (uint32_t i = 0; i < state->host_count; i++) {
        if (!coord_keeps_manifest(state, &state->hosts[i]))
            continue; /* after bsp_end a host may be lost without ending the term */
        durable += state->hosts[i].durable;
        persisting++;
    }
    /* Every survivor needs the manifest of its images. */
    if (state->ticket.state == COORD_TICKET_PERSISTING && durable == persisting)
        commit(state, effects);
    return 0;
}

/* The pages were copied since the previous snapshot, if there was one. */
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

static void known_when_complete(struct coord *state, struct coord_effects *effects)
{
    for (uint32_t i = 0; i < state->host_count; i++)
        if (!state->hosts[i].known && !state->hosts[i].lost)
            return;
    note_costs(state);
    say_saved(state, true, effects);
    say_of_ticket(state, effects, WIRE_RETIRE)->retire.from = state->ticket.name.term;
    ticket_is_over(state, effects);
}

int coord_take_known(struct coord *state, struct coord_host *host,
                     const struct wire_message *message, struct coord_effects *effects)
{
    int result = about_ticket(state, host, message->envelope.superstep, effects);
    if (result <= 0)
        return result;
    if (state->ticket.state != COORD_TICKET_ANNOUNCED || host->known)
        return coord_broken(effects, "host %u knows of no commit", host->id);
    host->known = true;
    if (message->known.busy_ns > state->ticket.busy_ns)
        state->ticket.busy_ns = message->known.busy_ns;
    if (message->known.copied_ns > state->ticket.copied_ns)
        state->ticket.copied_ns = message->known.copied_ns;
    coord_learn_known(state, host, message->known.busy_ns, message->known.copied_ns);
    coord_learn_read(state, host, message->known.read_bytes, message->known.read_ns);
    known_when_complete(state, effects);
    return 0;
}

/* ---- Without a host ----------------------------------------------------------------------- */

/* Whether the snapshot that is being taken needs it: an image of it, its objects until they are
 * kept, or a copy there, of which there are as many as hosts were left when it began. */
static bool is_needed(const struct coord *state, const struct coord_host *host)
{
    enum coord_ticket_state ticket = state->ticket.state;
    bool copies = state->config.copies > 1 || !coord_has_replicas(state);
    bool objects = state->has_objects && state->phase == COORD_CAPTURING;

    return ticket == COORD_TICKET_PERSISTING ||
           (ticket == COORD_TICKET_OPEN && (host->captures || copies || objects));
}

void coord_go_on_without(struct coord *state, struct coord_host *host,
                         struct coord_effects *effects)
{
    enum coord_ticket_state ticket = state->ticket.state;

    /* Before the end of the ticket, which decides a barrier that is held back. */
    if (state->phase == COORD_HELD_BACK && !coord_all_arrived(state))
        coord_move(state, COORD_RUNNING); /* until a replica of what was lost arrives */
    if (is_needed(state, host)) {
        char text[COORD_NAME_TEXT + 16];
        coord_name_host(host, text);
        strcat(text, " was lost");
        fail_ticket(state, WIRE_CAUSE_RANK_SIGNALLED, COORD_NOBODY, text, effects);
    } else if (ticket == COORD_TICKET_ANNOUNCED) {
        known_when_complete(state, effects);
    }
    host->captured = true;
    if (state->phase == COORD_PLACING)
        coord_run_when_ready(state, effects);
    else if (state->phase == COORD_CAPTURING)
        captured_when_complete(state, effects);
    else if (state->phase == COORD_RUNNING && coord_all_arrived(state))
        coord_take_barrier(state, effects);
}

/* ---- Without waiting for a host that lives ------------------------------------------------- */

static bool are_late_covered(const struct coord *state)
{
    for (uint32_t i = 0; i < state->host_count; i++)
        if (!state->hosts[i].captured && !coord_is_covered(state, &state->hosts[i]))
            return false;
    return true;
}

void coord_give_up_captures(struct coord *state, struct coord_effects *effects)
{
    char text[COORD_NAME_TEXT + 80];

    if (state->phase != COORD_CAPTURING) {
        effects->dropped = true;
        return;
    }
    if (!are_late_covered(state)) {
        coord_await_captures(state, effects);
        return;
    }
    coord_name_host(find_late(state), text);
    snprintf(text + strlen(text), sizeof(text) - strlen(text),
             " has not captured its processes for %.1f s, and the job goes on in others",
             (double)(state->now_ns - state->patience.since_ns) / 1e9);
    coord_patience_over(state, false);
    if (state->ticket.state == COORD_TICKET_OPEN)
        fail_ticket(state, WIRE_CAUSE_RANK_SIGNALLED, COORD_NOBODY, text, effects);
    for (uint32_t i = 0; i < state->host_count; i++)
        state->hosts[i].captured = true;
    state->ticket.begun_ns = state->now_ns; /* the time until now is not what snapshots cost */
    go_on_from_capture(state, true, effects);
}

/* ---- Requests ----------------------------------------------------------------------------- */

/* The snapshot is taken at the next barrier. */
static void wish(struct coord *state, enum coord_wish what, struct coord_effects *effects)
{
    if (what > state->wish)
        state->wish = what;
    bool waits = coord_ahead_say(state, effects) && what == COORD_WISH_MOVE;
    if (state->phase == COORD_RUNNING && !waits)
        coord_consult(state, effects);
}

void coord_want_snapshot(struct coord *state, struct coord_effects *effects)
{
    if (IN(state->phase) & (IN(COORD_RUNNING) | IN(COORD_HELD_BACK)))
        wish(state, COORD_WISH_SAVE, effects);
}

static void save_and_stop(struct coord *state, const struct wire_message *message,
                          struct coord_effects *effects)
{
    /* Whoever asked before may have had more time. */
    if (state->wish == COORD_WISH_STOP && message->save.grace_ms != WIRE_NEVER) {
        state->save_signal = message->save.signal;
        coord_set_timer(state, effects, COORD_TIMER_GRACE, message->save.grace_ms);
        return;
    }
    if (state->wish == COORD_WISH_STOP) {
        effects->dropped = true;
        return;
    }
    state->save_signal = message->save.signal;
    bool running = state->phase == COORD_RUNNING, at_end = state->phase == COORD_ENDING;
    bool at_barrier = state->phase == COORD_HELD_BACK || state->phase == COORD_CAPTURING ||
                      state->phase == COORD_SAVING || state->phase == COORD_CLOSING ||
                      state->phase == COORD_TAKING_OVER;
    bool to_choose = state->phase == COORD_WAITING && state->config.restore;
    if (!state->config.snapshots || (!running && !at_end && !at_barrier && !to_choose)) {
        coord_stop_saved(state, NO_NEW, effects); /* nothing newer than the last snapshot */
        return;
    }
    wish(state, COORD_WISH_STOP, effects);
    coord_set_timer(state, effects, COORD_TIMER_GRACE, message->save.grace_ms);
}

static void note_wish(struct coord *state, const struct wire_save *save,
                      struct coord_effects *effects)
{
    if (save->move)
        coord_ahead_expect(state, save->expected);
    wish(state, save->move ? COORD_WISH_MOVE : COORD_WISH_SAVE, effects);
}

int coord_take_save(struct coord *state, struct coord_host *host,
                    const struct wire_message *message, struct coord_effects *effects)
{
    (void)host;
    bool move = message->save.move;
    if (message->save.signal > 127)
        return coord_broken(effects, "a request to save by signal %u", message->save.signal);
    if (message->save.stop)
        save_and_stop(state, message, effects);
    else if (!state->config.snapshots || (move && !state->config.recover) ||
             state->phase == COORD_CLOSING || state->phase == COORD_ENDING ||
             (!move && state->phase == COORD_CAPTURING))
        effects->dropped = true; /* impossible, or in progress */
    else
        note_wish(state, &message->save, effects);
    return 0;
}
