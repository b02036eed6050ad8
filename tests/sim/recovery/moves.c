/* moves.c - faults at the steps of moves of the made-up world.
 *
 * A move is from the request, or the decision of Processor Zero, until the processes of the next
 * term run.  A fault counts in the step in which it comes, once for each move.
 */
#include "coordinator/core/state.h"
#include "tests/sim/recovery/made_up.h"

#define SOON_MS 12u

static enum move_step step_of_term(const struct coord *state, bool after_move)
{
    static const enum move_step begins[COORD_PHASE_COUNT] = {
        [COORD_WAITING] = MOVE_HELD,
        [COORD_CHOOSING] = MOVE_CHOSEN,
        [COORD_RESTORING] = MOVE_RESTORED,
        [COORD_PASSING] = MOVE_PASSED,
    };

    if (after_move && begins[state->phase] > 0)
        return begins[state->phase];
    if (state->wish != COORD_WISH_MOVE && state->wish != COORD_WISH_MOVE_NOW)
        return MOVE_STEPS;
    switch (state->phase) {
    case COORD_SAVING:
        return MOVE_SAVED;
    case COORD_CAPTURING:
        if (coord_ends_with_ticket((struct coord *)(uintptr_t)state))
            return MOVE_CAPTURED;
        return MOVE_ROUND;
    case COORD_RUNNING:
    case COORD_HELD_BACK:
        if (state->ahead.missing > 0)
            return MOVE_AHEAD;
        return state->ticket.state == COORD_TICKET_NONE ? MOVE_ASKED : MOVE_ROUND;
    default:
        return MOVE_STEPS;
    }
}

enum move_step moves_step(const struct world *world)
{
    uint32_t term = world->machine && !world->over ? job_machine_term(world->machine) : 0;

    if (term == 0 || term >= TERMS)
        return MOVE_STEPS;
    const struct zero *zero = &world->zeros[term];
    bool after_move = world->zeros[term - 1].moved;
    if (!zero->shell)
        return MOVE_STEPS;
    if (zero->finished)
        return zero->moved ? MOVE_OVER : MOVE_STEPS;
    return zero->gone ? MOVE_STEPS : step_of_term(coord_shell_state(zero->shell), after_move);
}

void moves_plan(struct world *world)
{
    static const enum fault_kind kinds[] = {FAULT_RANK, FAULT_AGENT,  FAULT_HOST,  FAULT_CUT_OFF,
                                            FAULT_LINK, FAULT_BSPRUN, FAULT_WRITE, FAULT_REFUSED};

    world->move_fault_planned = true;
    /* Few moves are restored ahead. */
    uint64_t step = apart(world, MOVE_STEPS + 5);
    world->move_step = step < MOVE_STEPS ? (enum move_step)step : MOVE_AHEAD;
    /* What cannot be written any more is no fault. */
    unsigned count = sizeof kinds / sizeof *kinds;
    world->move_fault = kinds[apart(world, world->move_step < MOVE_SAVED ? count : count - 2)];
    world->move_count = 1 + (unsigned)apart(world, 2);
    world->move_delay = apart(world, 2) == 0 ? 0 : apart(world, SOON_MS);
}

void moves_watch(struct world *world)
{
    enum move_step before = world->last_move_step, now = moves_step(world);

    world->last_move_step = now;
    if (!world->move_fault_planned || now == before || now != world->move_step ||
        --world->move_count > 0)
        return;
    world->move_fault_planned = false;
    if (world->move_delay == 0)
        fault(world, world->move_fault);
    else
        plan(world, DO_FAULT, world->move_delay)->number = world->move_fault;
}

void moves_count(struct world *world, enum fault_kind kind, enum move_step step, uint32_t term)
{
    bool late = (kind == FAULT_WRITE || kind == FAULT_REFUSED) && step >= MOVE_SAVED;

    if (step == MOVE_STEPS || kind == FAULT_DAMAGE || late ||
        (kind > FAULT_REFUSED && kind != FAULT_POWER && kind != FAULT_STEP) ||
        world->zeros[term].faulted & 1u << step)
        return;
    world->zeros[term].faulted |= 1u << step;
    world->move_steps[step]++;
}
