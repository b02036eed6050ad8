/* takeover.c - Processor Zero in the place of another one of the same term, whose host was lost
 * while the processes ran in replicas, or were made of snapshot 0 on all hosts; or can be restarted
 * alone (former.c).
 *
 * Happy path: bsprun has named this one -> ACCOUNT of every living host -> TAKEN_OVER, which says
 * the newest decision that any of them knew -> RUNNING; or PLACING, until the processes of all are
 * ready; or CAPTURING, until those have captured that were told to, and RESUME; or ENDING; or
 * ENDED, if one of them has heard that.
 *
 * What can fail: further hosts are lost, which are not waited for; a process has no living host, or
 * the processes were being ended: the term is over as by any fault.  Once the end is decided, those
 * that are left finish.
 *
 * Why nothing is decided twice: a host gives its account when it has ceased to obey the former one,
 * so what no account says no living host has acted on.  What one of them says stands.  See
 * doc/decisions/taking-over.md.
 */
#include "coordinator/core/state.h"

/* ---- Beginning ---------------------------------------------------------------------------- */

static uint32_t index_of(const struct coord *state, uint64_t id)
{
    uint32_t index = 0;

    while (index < state->host_count && state->hosts[index].id != id)
        index++;
    return index;
}

static bool take_homes(struct coord *state, struct wire_numbers homes)
{
    for (uint32_t pid = 0; pid < homes.count; pid++) {
        uint32_t index = index_of(state, homes.items[pid]);

        if (index == state->host_count)
            return false;
        struct coord_host *lead = &state->hosts[index];
        state->home[pid] = lead->lead = (uint16_t)index;
        if (lead->count++ == 0)
            lead->first = pid;
    }
    state->processes = homes.count;
    return true;
}

static bool take_leads(struct coord *state, struct wire_numbers leads)
{
    if (leads.count % 2 != 0)
        return false;
    for (uint32_t i = 0; i < leads.count; i += 2) {
        uint32_t index = index_of(state, leads.items[i]);
        uint32_t lead = index_of(state, leads.items[i + 1]);

        if (index == state->host_count || lead == state->host_count)
            return false;
        struct coord_host *host = &state->hosts[index];
        host->lead = state->hosts[lead].lead = (uint16_t)lead;
        host->count = state->hosts[lead].count;
        host->first = state->hosts[lead].first;
    }
    return true;
}

bool coord_begin_takeover(struct coord *state, const struct coord_predecessor *predecessor)
{
    bool replicas = coord_has_replicas(state);

    if ((!replicas && !state->config.survives) ||
        predecessor->homes.count > state->config.processes_max)
        return false;
    for (uint32_t i = 0; i < state->host_count; i++) {
        struct coord_host *host = &state->hosts[i];
        host->lead = replicas ? COORD_NO_CELL : (uint16_t)i;
        host->ready = host->captured = true;
    }
    state->phase = COORD_TAKING_OVER;
    state->takeover.any = true;
    state->committed = state->takeover.committed = predecessor->committed;
    state->takeover.consult = COORD_NEVER;
    state->takeover.all_run = true;
    return take_homes(state, predecessor->homes) && take_leads(state, predecessor->leads);
}

/* ---- Going on ----------------------------------------------------------------------------- */

/* The snapshot at whose barrier some host waits to go on; 0: none does. */
static uint64_t find_captured(const struct coord *state)
{
    uint64_t newest = 0;

    for (uint32_t i = 0; i < state->host_count; i++)
        if (!state->hosts[i].lost && state->hosts[i].captures_at > newest)
            newest = state->hosts[i].captures_at;
    return newest > state->takeover.decided ? newest : 0;
}

/* Where the job stands, as far as any host knows.  After a committed snapshot those that were
 * captured have gone on, whoever has heard of that. */
static void note_superstep(struct coord *state, uint64_t captured)
{
    struct coord_takeover *takeover = &state->takeover;

    if (captured == 0 && takeover->decided < takeover->committed.superstep) {
        takeover->decided = takeover->committed.superstep;
        if (takeover->consult < takeover->decided)
            takeover->consult = COORD_NEVER;
    }
    state->superstep = takeover->ended ? takeover->decided - 1 : takeover->decided;
}

/* The next barrier to be decided is the one that hosts know of, if any does. */
static void plan(struct coord *state)
{
    struct coord_takeover *takeover = &state->takeover;

    if (takeover->consult == COORD_NEVER && !takeover->ended) {
        coord_plan(state);
        takeover->consult = state->consult;
    }
    state->consult = takeover->consult;
    /* A snapshot of that barrier may have been begun by hosts that are lost, under its name. */
    takeover->spared = state->consult;
}

/* They wait at the barrier of a snapshot that is not completed. */
static void wait_for_captured(struct coord *state, uint64_t snapshot)
{
    state->superstep = snapshot - 1;
    state->consult = COORD_NEVER;
    state->takeover.spared = COORD_NEVER;
    state->takeover.resumes = true;
    state->ticket.begun_ns = state->now_ns;
    for (uint32_t i = 0; i < state->host_count; i++)
        state->hosts[i].captured = state->hosts[i].lost || state->hosts[i].captures_at != snapshot;
}

static void say(struct coord *state, struct coord_effects *effects)
{
    const struct coord_takeover *takeover = &state->takeover;

    if (!takeover->all_run) {
        struct wire_run *run = &coord_say(state, effects, WIRE_RUN)->run;
        run->processes = state->processes;
        run->consult = takeover->consult;
    }
    struct wire_taken_over *taken = &coord_say(state, effects, WIRE_TAKEN_OVER)->taken_over;
    taken->decided = takeover->decided;
    taken->ended = takeover->ended;
    taken->consult = takeover->consult;
    taken->committed = takeover->committed;
    coord_halt_taken_over(state, effects);
    if (!takeover->resumes)
        return;
    /* Those that are captured need the rest of the superstep of all others. */
    struct wire_release *release = &coord_say(state, effects, WIRE_RELEASE)->release;
    release->decision = WIRE_DECISION_SNAPSHOT;
    release->consult = COORD_NEVER;
}

/* Whether some host still makes its processes. */
static bool some_are_made(const struct coord *state)
{
    for (uint32_t i = 0; i < state->host_count; i++)
        if (!state->hosts[i].lost && !state->hosts[i].ranks_ready)
            return true;
    return false;
}

/* They say again that they are ready. */
static void go_on_placing(struct coord *state, struct coord_effects *effects)
{
    struct wire_taken_over *taken;

    coord_move(state, COORD_PLACING);
    taken = &coord_say(state, effects, WIRE_TAKEN_OVER)->taken_over;
    taken->consult = COORD_NEVER;
    taken->committed = state->takeover.committed;
    coord_announce_again(state, state->committed, effects);
}

static void go_on(struct coord *state, struct coord_effects *effects)
{
    struct coord_takeover *takeover = &state->takeover;
    struct bspz_snapshot_name told = state->committed;
    uint64_t captured = takeover->ended ? 0 : find_captured(state);

    takeover->heard = takeover->ended ? 0 : takeover->decided;
    note_superstep(state, captured);
    coord_learn_running(state, false);
    state->facts.begun_ns = state->now_ns;
    state->facts.taken =
        takeover->committed.term == state->config.term && takeover->committed.superstep > 0;
    coord_note_going_on(state);
    plan(state);
    if (captured > 0)
        wait_for_captured(state, captured);
    coord_move(state, takeover->ended ? COORD_ENDING
                      : captured > 0  ? COORD_CAPTURING
                                      : COORD_RUNNING);
    say(state, effects);
    coord_announce_again(state, told, effects);
    if (captured > 0)
        coord_begin_captures(state, effects);
    if (takeover->ended)
        coord_lost_after_end(state, effects);
}

static bool all_shared(const struct coord *state)
{
    for (uint32_t i = 0; i < state->host_count; i++)
        if (!state->hosts[i].lost && !state->hosts[i].shared)
            return false;
    return true;
}

static void fail(struct coord *state, const char *text, struct coord_effects *effects)
{
    coord_blame(state, WIRE_CAUSE_HOST_LOST, COORD_NOBODY, 1, 0, text);
    coord_fail(state, effects);
}

void coord_take_over(struct coord *state, struct coord_effects *effects)
{
    for (uint32_t i = 0; i < state->host_count; i++)
        if (!state->hosts[i].accounted && !state->hosts[i].lost)
            return;
    if (all_shared(state))
        state->config.copies = 1;
    if (state->takeover.over) {
        coord_end_as(state, state->takeover.status, state->takeover.cause, effects);
        return;
    }
    if (!coord_has_replicas(state)) {
        coord_outlive_former(state, effects);
        return;
    }
    if (!state->takeover.stopped && !state->takeover.ended && !coord_is_covered(state, NULL)) {
        fail(state, "the last host with a process was lost", effects);
        return;
    }
    bool made = some_are_made(state);
    if (!state->takeover.stopped && made && !state->takeover.any_runs) {
        go_on_placing(state, effects);
        return;
    }
    if (!state->takeover.stopped && !made) {
        go_on(state, effects);
        return;
    }
    fail(state,
         made ? "the host of Processor Zero was lost when it had given up another one"
              : "the host of Processor Zero was lost while the processes were being ended",
         effects);
}

int coord_take_account(struct coord *state, struct coord_host *host,
                       const struct wire_message *message, struct coord_effects *effects)
{
    const struct wire_account *account = &message->account;
    struct coord_takeover *takeover = &state->takeover;

    if (host->accounted)
        return coord_broken(effects, "host %u gives a second account", host->id);
    if (account->ended && account->decided == 0)
        return coord_broken(effects, "host %u has ended without a decision", host->id);
    if (account->consult < account->decided || account->committed.term > state->config.term ||
        account->right.term > state->config.term)
        return coord_broken(effects, "host %u knows what cannot be", host->id);
    if (account->captures > 0 && account->captures < account->decided)
        return coord_broken(effects, "host %u captures what it has passed", host->id);
    if (!coord_halt_account(state, account))
        return coord_broken(effects, "host %u has processes that are not there", host->id);
    coord_note_account(state, host, account);
    host->accounted = true;
    host->shared = account->shared;
    host->ranks_ready = account->ready || account->runs;
    host->captures_at = account->captures;
    takeover->all_run = takeover->all_run && account->runs;
    takeover->any_runs = takeover->any_runs || account->runs;
    takeover->stopped = takeover->stopped || account->stopped;
    if (account->over) {
        takeover->over = true;
        takeover->status = account->status;
        takeover->cause = (enum wire_cause)account->cause;
    }
    if (account->decided > takeover->decided ||
        (account->decided == takeover->decided && takeover->consult == COORD_NEVER)) {
        takeover->decided = account->decided;
        takeover->consult = account->consult;
        takeover->ended = account->ended;
    }
    if (account->committed.term > 0 && bspz_snapshot_newer(account->committed, takeover->committed))
        takeover->committed = account->committed;
    if (account->right.term > 0 && bspz_snapshot_newer(account->right, state->right))
        state->right = account->right;
    coord_take_over(state, effects);
    return 0;
}
