/* job_machine_looks.c - what others may see of the job machine. */
#include "bsprun/launcher/job_machine_inside.h"

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

uint32_t job_machine_avoid(const struct job_machine *machine, const struct coord_name **names)
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
