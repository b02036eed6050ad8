/* invariants.c - what is true of the state of Processor Zero before and after every step.
 *
 * A violation is a defect of this program: the agent ends with a message, as by any assertion, and
 * the job goes on as after the loss of a host.  The simulators (tests/sim) run with these checks.
 */
#include "coordinator/core/state.h"

#include <assert.h>

#define CUT_SHORT (IN(COORD_GIVING_UP) | IN(COORD_ABORTING) | IN(COORD_ABORTED) | IN(COORD_FAILED))
#define ENDS      (IN(COORD_ENDING) | IN(COORD_ENDED))
#define RUNS                                                                                       \
    (IN(COORD_RUNNING) | IN(COORD_HELD_BACK) | IN(COORD_CAPTURING) | IN(COORD_SAVING) |            \
     IN(COORD_CLOSING) | IN(COORD_ENDING))
#define EARLY (IN(COORD_WAITING) | IN(COORD_CHOOSING) | IN(COORD_TAKING_OVER))

static void check_phase(const struct coord *state, unsigned phase)
{
    assert(!(phase & CUT_SHORT) || state->outcome.cause != WIRE_CAUSE_NONE);
    assert(phase & (CUT_SHORT | ENDS) || state->outcome.cause == WIRE_CAUSE_NONE);
    assert(state->outcome.again == (state->phase == COORD_FAILED));
    assert(state->running || !(phase & RUNS));
    assert(!state->running || !(phase & EARLY));
    assert(state->phase != COORD_TAKING_OVER || state->takeover.any);
    assert(state->takeover.any || state->takeover.committed.term == 0);
    assert(!(phase & (IN(COORD_CHOOSING) | IN(COORD_RESTORING))) || state->from);
    assert(!state->from || state->from->name.term > 0);
    assert(phase & (IN(COORD_WAITING) | CUT_SHORT) || state->registered || state->config.restore ||
           state->takeover.any);
    assert(state->consult == COORD_NEVER || state->consult >= state->superstep || !(phase & RUNS));
}

static void check_processes(const struct coord *state, unsigned phase)
{
    assert(state->processes > 0 || phase & (EARLY | CUT_SHORT));
    assert(state->exited_count <= state->processes);
    assert(state->phase != COORD_ENDING || state->exited_count < state->processes);
    assert(state->phase != COORD_ENDED || state->exited_count == state->processes ||
           state->takeover.over);
    assert(state->ahead.move_count <= state->processes);
    assert(state->balancing.move_count <= state->processes);
    assert(state->balancing.measured <= state->processes);
}

static void check_snapshots(const struct coord *state)
{
    const struct coord_ticket *ticket = &state->ticket;

    assert(ticket->state == COORD_TICKET_NONE || state->config.snapshots);
    assert(state->wish == COORD_WISH_NONE || state->config.snapshots);
    assert(ticket->missing <= state->processes);
    assert(ticket->missing == 0 ||
           (ticket->state != COORD_TICKET_PERSISTING && ticket->state != COORD_TICKET_ANNOUNCED));
    assert(ticket->state != COORD_TICKET_OPEN || !ticket->base || ticket->name.superstep == 0);
    assert(ticket->name.term <= state->config.term);
    assert(state->committed.term <= state->config.term);
    /* Another Processor Zero may have committed it, and have been in a later superstep. */
    assert(state->committed.term < state->config.term || state->takeover.any ||
           state->committed.superstep <= state->superstep + 1);
    assert(state->ahead.missing <= state->host_count);
}

static void check_halt(const struct coord *state, unsigned phase)
{
    const struct coord_halt *halt = &state->halt;
    const unsigned decided = IN(COORD_CAPTURING) | IN(COORD_SAVING) | IN(COORD_ENDING);

    assert(halt->missing <= state->host_count);
    assert(!state->halts || (state->has_objects && state->config.snapshots));
    assert(halt->state == COORD_HALT_NONE || (state->halts && halt->round > 0));
    assert(halt->state == COORD_HALT_NONE || !(phase & decided));
}

/* Whether it is alive. */
static bool check_host(const struct coord *state, const struct coord_host *host, unsigned phase)
{
    assert(host->lead < state->host_count || host->lead == COORD_NO_CELL);
    assert(host->first + host->count <= state->processes);
    assert(!host->arrived || (host->count > 0 && phase & (RUNS | CUT_SHORT | IN(COORD_ENDED))));
    assert(!host->ranks_ready || host->ready);
    assert(!host->lost || host->stopped || state->phase != COORD_ABORTED);
    assert(!host->accounted || state->takeover.any);
    assert(host->gained <= state->survived);
    assert(!host->ahead_ready || state->ahead.name.term > 0);
    return !host->lost;
}

void coord_check(const struct coord *state)
{
    const unsigned phase = IN(state->phase);
    uint32_t alive = 0;

    check_phase(state, phase);
    check_processes(state, phase);
    check_snapshots(state);
    check_halt(state, phase);
    for (uint32_t i = 0; i < state->host_count; i++)
        alive += check_host(state, &state->hosts[i], phase);
    assert(alive > 0 || phase & (CUT_SHORT | IN(COORD_ENDED)));
    assert(state->survived <= state->host_count);
    assert(state->survived == 0 || state->config.snapshots);
}
