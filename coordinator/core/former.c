/* former.c - Processor Zero in the place of another one, without replicas: the processes of the
 * former one's host are restarted alone elsewhere (survive.c), as that host was lost while they
 * ran.
 *
 * Happy path: bsprun has named this one (takeover.c) -> ACCOUNT of every living host -> TAKEN_OVER,
 * SURVIVED -> RUNNING.
 *
 * What can fail: hosts do not know the same, or have ended their processes; further hosts are lost;
 * nobody can take the processes: the term is over.
 */
#include "coordinator/core/state.h"

void coord_announce_again(struct coord *state, struct bspz_snapshot_name told,
                          struct coord_effects *effects)
{
    state->committed = state->takeover.committed;
    if (state->config.snapshots && state->committed.term == state->config.term)
        coord_announce(state, state->committed, bspz_snapshot_same(told, state->committed),
                       effects);
}

/* What was said before may be known to some hosts only, which the others would have to hear of. The
 * barrier to come is not decided as long as one host has not arrived, which is to take the
 * processes.
 */
void coord_note_account(struct coord *state, struct coord_host *host,
                        const struct wire_account *account)
{
    struct coord_takeover *takeover = &state->takeover;
    bool differs = account->decided != takeover->decided || account->consult != takeover->consult ||
                   account->survived != takeover->survived;

    if (coord_has_replicas(state))
        return;
    host->waits = account->arrived;
    takeover->differ = takeover->differ || account->captures > 0 || account->ended ||
                       (takeover->accounts > 0 && differs);
    takeover->accounts++;
    takeover->survived = account->survived;
    takeover->asked = takeover->asked || account->asked;
}

/* The one whose processes nobody has taken; NULL: there are several. */
static struct coord_host *find_former(struct coord *state)
{
    struct coord_host *former = NULL;

    for (uint32_t i = 0; i < state->host_count; i++) {
        struct coord_host *host = &state->hosts[i];

        if (!host->lost || host->count == 0)
            continue;
        if (former)
            return NULL;
        former = host;
    }
    return former;
}

/* As after RUN, but hosts know the next barrier to be decided, and may have been asked for one. */
static void go_on(struct coord *state, struct coord_effects *effects)
{
    const struct coord_takeover *takeover = &state->takeover;

    state->saved_at_calls = true;
    state->superstep = takeover->decided > takeover->committed.superstep
                           ? takeover->decided
                           : takeover->committed.superstep;
    state->consult = takeover->consult;
    state->survived = takeover->survived;
    state->facts.begun_ns = state->now_ns;
    state->facts.taken =
        takeover->committed.term == state->config.term && takeover->committed.superstep > 0;
    coord_learn_running(state, false);
    coord_note_going_on(state);
    coord_move(state, COORD_RUNNING);
    struct wire_taken_over *taken = &coord_say(state, effects, WIRE_TAKEN_OVER)->taken_over;
    taken->decided = takeover->decided;
    taken->consult = takeover->consult;
    taken->committed = takeover->committed;
}

void coord_outlive_former(struct coord *state, struct coord_effects *effects)
{
    const struct coord_takeover *takeover = &state->takeover;
    struct bspz_snapshot_name told = state->committed;
    struct coord_host *former = find_former(state);

    if (!former || takeover->differ || takeover->stopped || !takeover->all_run ||
        takeover->committed.term == 0 || !coord_can_settle(state, former)) {
        coord_blame(state, WIRE_CAUSE_HOST_LOST, COORD_NOBODY, 1, 0,
                    "the host of Processor Zero was lost while something was being decided");
        coord_fail(state, effects);
        return;
    }
    go_on(state, effects);
    coord_announce_again(state, told, effects);
    coord_survive(state, former, effects);
    for (uint32_t i = 0; i < state->host_count; i++)
        state->hosts[i].waits = false; /* they say so again */
    if (takeover->asked || state->wish != COORD_WISH_NONE)
        coord_consult(state, effects);
    else
        coord_plan_anew(state, effects);
}
