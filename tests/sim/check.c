/* check.c - what must hold, looked at after every step of the made-up world. */
#include "tests/sim/sim.h"

/* Which states may be reached from which, in any number of moves of one step. */
static const unsigned reachable[COORD_PHASE_COUNT] = {
    [COORD_WAITING] =
        1u << COORD_WAITING | 1u << COORD_PLACING | 1u << COORD_ABORTING | 1u << COORD_ABORTED,
    [COORD_PLACING] =
        1u << COORD_PLACING | 1u << COORD_RUNNING | 1u << COORD_ABORTING | 1u << COORD_ABORTED,
    [COORD_RUNNING] = 1u << COORD_RUNNING | 1u << COORD_ENDING | 1u << COORD_ENDED |
                      1u << COORD_ABORTING | 1u << COORD_ABORTED,
    [COORD_ENDING] =
        1u << COORD_ENDING | 1u << COORD_ENDED | 1u << COORD_ABORTING | 1u << COORD_ABORTED,
    [COORD_ENDED] = 1u << COORD_ENDED,
    [COORD_ABORTING] = 1u << COORD_ABORTING | 1u << COORD_ABORTED,
    [COORD_ABORTED] = 1u << COORD_ABORTED,
};

/* What is learned is sensible, and time that was watched does not shrink nor outrun the clock. */
static void check_learned(struct world *world, struct zero *zero)
{
    const struct coord *state = coord_shell_state(zero->shell);
    struct estimate again, estimate = coord_estimate(state, world->time.now * 1000000u);
    double numbers[ESTIMATE_NUMBERS], watched = estimate.rates[ESTIMATE_HOST].watched;
    estimate_to_numbers(&estimate, numbers);
    if (estimate_from_numbers(&again, numbers, ESTIMATE_NUMBERS) != 0)
        sim_fail(world, "an estimate that makes no sense");
    if (watched < zero->watched - 1e-6 ||
        watched > world->host_count * (double)world->time.now / 1e3 + 1e-6)
        sim_fail(world, "hosts were watched for %g s, then %g", zero->watched, watched);
    zero->watched = watched;
}

/* After every step: only legal moves, and FINISH exactly in the last states. */
void sim_check_step(struct world *world, struct zero *zero, enum coord_phase before)
{
    const struct coord *state = coord_shell_state(zero->shell);
    enum coord_phase after = coord_phase(state);
    if (!(reachable[before] & 1u << after))
        sim_fail(world, "Processor Zero went from %s to %s", coord_phase_name(before),
                 coord_phase_name(after));
    bool last = after == COORD_ENDED || after == COORD_ABORTED;
    if (last != zero->finished)
        sim_fail(world, "state %s %s FINISH", coord_phase_name(after),
                 zero->finished ? "after" : "without");
    if (coord_term(state) != zero->term)
        sim_fail(world, "the term has changed");
    check_learned(world, zero);
}

/* No process leaves the end of superstep s before every process has arrived there. */
void sim_check_leave(struct world *world, uint32_t host, uint64_t superstep)
{
    for (uint32_t i = 0; i < world->host_count; i++) {
        const struct agent *agent = &world->agents[i];
        if (agent->bad)
            return; /* it may have told lies about its processes */
        if (agent->term != world->agents[host].term)
            continue; /* a host that was cut off and one of the next term have no barrier together
                       */
        for (uint32_t k = 0; k < agent->count; k++) {
            const struct rank *rank = &world->ranks[agent->first + k];
            bool there = rank->superstep == superstep && (rank->at_barrier || rank->past_end);
            if (!there && rank->superstep <= superstep)
                sim_fail(world,
                         "host %u leaves superstep %llu while process %u is in superstep %llu",
                         world->agents[host].id, (unsigned long long)superstep, agent->first + k,
                         (unsigned long long)rank->superstep);
        }
    }
}

static uint64_t expected_processes(const struct world *world)
{
    uint64_t slots = 0;
    for (uint32_t i = 0; i < world->host_count; i++)
        slots += world->agents[i].slots;
    if (world->wanted == 0)
        return world->limit ? world->limit : slots;
    return world->limit && world->limit < world->wanted ? world->limit : world->wanted;
}

/* Every process has one host, process 0 the one it was started on, and no host is given more than
 * its share while another has a free slot. */
void sim_check_place(struct world *world, struct zero *zero, const struct wire_place *place)
{
    uint32_t counts[HOSTS] = {0};
    bool free_slot = false, crowded = false;
    if (place->host_of.count != place->processes || place->processes == 0)
        sim_fail(world, "%u hosts for %u processes", place->host_of.count, place->processes);
    for (uint32_t pid = 0; pid < place->processes; pid++) {
        uint32_t host = sim_host_index(world, (uint32_t)place->host_of.items[pid]);
        if (host == world->host_count)
            sim_fail(world, "process %u is put nowhere", pid);
        counts[host]++;
    }
    for (uint32_t i = 0; i < world->host_count; i++) {
        free_slot = free_slot || counts[i] < world->agents[i].slots;
        crowded = crowded || counts[i] > world->agents[i].slots;
    }
    if (world->faults[FAULT_BAD_AGENT] > 0)
        return; /* a lie may have said how many are wanted, and where */
    if (free_slot && crowded)
        sim_fail(world, "one host has too many processes, another too few");
    if (place->processes != expected_processes(world))
        sim_fail(world, "%u processes instead of %llu", place->processes,
                 (unsigned long long)expected_processes(world));
    if (place->host_of.items[0] != world->agents[world->registrar].id)
        sim_fail(world, "process 0 is moved");
    if (zero->term != 1)
        sim_fail(world, "processes are placed twice");
}

/* What the outcome says must have happened, and nothing bad may pass for success. */
static void check_outcome(struct world *world, const struct coord_outcome *outcome)
{
    if (outcome->cause != WIRE_CAUSE_NONE && outcome->status == 0)
        sim_fail(world, "status 0 although %s", wire_cause_text(outcome->cause));
    if (world->faults[FAULT_BAD_AGENT] > 0)
        return;
    unsigned possible = world->possible;
    if (world->abort_at != COORD_NEVER)
        possible |= 1u << WIRE_CAUSE_DECIDED;
    if (world->early != NOBODY)
        possible |= 1u << WIRE_CAUSE_MISMATCH;
    if (expected_processes(world) > RANKS_MAX)
        possible |= 1u << WIRE_CAUSE_PLACEMENT;
    if (outcome->cause != WIRE_CAUSE_NONE && !(possible & 1u << outcome->cause))
        sim_fail(world, "the job is said to have ended because %s",
                 wire_cause_text(outcome->cause));
    if (outcome->cause == WIRE_CAUSE_NONE && outcome->status != (int32_t)world->status)
        sim_fail(world, "status %d instead of %u", outcome->status, world->status);
    if (outcome->cause == WIRE_CAUSE_NONE)
        for (uint32_t pid = 0; pid < world->processes; pid++)
            if (!world->ranks[pid].past_end)
                sim_fail(world, "the job has ended well, but process %u never ended", pid);
}

/* When nothing more can happen: the job is over, and nothing of it is left. */
void sim_check_end(struct world *world)
{
    struct zero *zero = &world->zeros[world->term];
    if (!world->job_over)
        sim_fail(world, "the job does not end: Processor Zero is in state %s",
                 coord_phase_name(coord_phase(coord_shell_state(zero->shell))));
    for (uint32_t pid = 0; pid < RANKS_MAX; pid++)
        if (world->ranks[pid].alive)
            sim_fail(world, "process %u is left behind", pid);
    if (zero->finished)
        check_outcome(world, &zero->outcome);
    else if (!zero->gone)
        sim_fail(world, "Processor Zero never finishes");
}
