/* job_machine_state.c - the states of the job machine, its effects, and enquiry functions.
 */
#include "bsprun/launcher/job_machine_inside.h"

#include <assert.h>

#include "lib/base/states.h"

#define TO BSPZ_STATES_TO

static const struct bspz_states_row rows[JOB_MACHINE_STATE_COUNT] = {
    [JOB_MACHINE_GATHERING] = {"GATHERING", TO(JOB_MACHINE_RUNNING) | TO(JOB_MACHINE_OVER)},
    [JOB_MACHINE_RUNNING] = {"RUNNING", TO(JOB_MACHINE_GATHERING) | TO(JOB_MACHINE_FINISHING) |
                                            TO(JOB_MACHINE_OVER)},
    [JOB_MACHINE_FINISHING] = {"FINISHING", TO(JOB_MACHINE_OVER)},
    [JOB_MACHINE_OVER] = {"OVER", 0},
};
static const struct bspz_states states = {"bsprun's job machine", JOB_MACHINE_STATE_COUNT, rows};

void machine_move(struct job_machine *machine, enum job_machine_state to)
{
    machine->state = (enum job_machine_state)bspz_states_move(&states, machine->state, to);
}

struct job_effect *machine_add(struct job_machine *machine, struct job_effects *effects,
                               enum job_effect_kind kind)
{
    assert(effects->count < JOB_EFFECTS_MAX);
    struct job_effect *effect = &effects->items[effects->count++];
    *effect = (struct job_effect){.kind = kind, .term = machine->term, .host = machine->zero};
    return effect;
}

struct machine_host *machine_find(const struct job_machine *machine, uint32_t id)
{
    for (uint32_t i = 0; i < machine->config.host_count; i++)
        if (machine->hosts[i].id == id)
            return &machine->hosts[i];
    return NULL;
}

uint32_t machine_count(const struct job_machine *machine, enum host_state state)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < machine->config.host_count; i++)
        found += machine->hosts[i].state == state;
    return found;
}

bool machine_has_asked(const struct job_machine *machine)
{
    for (uint32_t i = 0; i < machine->config.host_count; i++)
        if (machine->hosts[i].asked)
            return true;
    return false;
}

/* ---- What others may see ------------------------------------------------------------------- */

const char *job_machine_state_name(enum job_machine_state state)
{
    return bspz_states_name(&states, state);
}

bool job_machine_member(const struct job_machine *machine, uint32_t host)
{
    const struct machine_host *found = machine_find(machine, host);
    return found && found->state == HOST_UP;
}

bool job_machine_goes_on(const struct job_machine *machine, uint32_t host)
{
    const struct machine_host *found = machine_find(machine, host);
    return found && found->state == HOST_UP && !found->given_up;
}

bool job_machine_places_anew(const struct job_machine *machine)
{
    return machine->anew == ANEW_WANTED;
}

bool job_machine_joins(const struct job_machine *machine, uint32_t host)
{
    const struct machine_host *found = machine_find(machine, host);
    return found && (found->state == HOST_COMING || found->state == HOST_WAITING);
}

bool job_machine_awaits(const struct job_machine *machine, uint32_t host)
{
    const struct machine_host *found = machine_find(machine, host);
    return found && (found->state == HOST_STARTING || found->state == HOST_COMING);
}

bool job_machine_spare(const struct job_machine *machine, uint32_t host)
{
    const struct machine_host *found = machine_find(machine, host);
    return found && found->state == HOST_UNUSED;
}

bool job_machine_removed(const struct job_machine *machine, uint32_t host)
{
    const struct machine_host *found = machine_find(machine, host);
    return found && found->use == JOB_USE_REMOVED;
}

bool job_machine_drained(const struct job_machine *machine, uint32_t host)
{
    const struct machine_host *found = machine_find(machine, host);
    return found && found->use != JOB_USE_OPEN;
}

bool job_machine_owes_snapshot(const struct job_machine *machine)
{
    return machine->owes_snapshot;
}

bool job_machine_can_drain(const struct job_machine *machine, uint32_t host)
{
    for (uint32_t i = 0; i < machine->config.host_count; i++) {
        const struct machine_host *other = &machine->hosts[i];
        if (other->id != host && other->state == HOST_UP && other->use == JOB_USE_OPEN)
            return true;
    }
    return false;
}

enum job_machine_state job_machine_state(const struct job_machine *machine)
{
    return machine->state;
}

uint32_t job_machine_term(const struct job_machine *machine)
{
    return machine->term;
}

uint32_t job_machine_zero(const struct job_machine *machine)
{
    return machine->zero;
}

uint32_t job_machine_program(const struct job_machine *machine)
{
    return machine->program;
}

bool job_machine_restores(const struct job_machine *machine)
{
    return machine->restores;
}

uint64_t job_machine_wanted(const struct job_machine *machine)
{
    return machine->config.wanted;
}

const struct coord_lineage *job_machine_lineage(const struct job_machine *machine)
{
    return &machine->config.lineage;
}

uint32_t job_machine_avoid(const struct job_machine *machine,
                           const struct bspz_snapshot_name **names)
{
    *names = machine->avoid;
    return machine->avoid_count;
}

struct job_fault job_machine_fault(const struct job_machine *machine)
{
    return machine->fault;
}

bool job_machine_closed(const struct job_machine *machine)
{
    return machine->closed;
}

struct coord_outcome job_machine_outcome(const struct job_machine *machine)
{
    return machine->outcome;
}
