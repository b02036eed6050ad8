/* job_machine_zero.c - another Processor Zero in the same term, where processes have replicas or
 * can be restarted alone.
 *
 * Happy path: its host is lost once all hosts have snapshot 0 -> TAKE_OVER; what the former one was
 * asked for is asked again.
 *
 * What can fail: no other host is left, or the processes of not all hosts are being made yet: the
 * term is over as by any fault.  Whether each process has a living replica the new one finds out.
 */
#include "bsprun/launcher/job_machine_inside.h"

static struct machine_host *pick(const struct job_machine *machine)
{
    struct machine_host *first = NULL;
    for (uint32_t i = 0; i < machine->config.host_count; i++) {
        struct machine_host *host = &machine->hosts[i];
        if (host->state == HOST_UP && !host->given_up && host->id != machine->zero &&
            (!first || host->since < first->since))
            first = host;
    }
    return first;
}

bool machine_can_succeed(const struct job_machine *machine)
{
    return machine->config.replicas && machine->state == JOB_MACHINE_RUNNING &&
           !machine->cut_short && machine->replicated_term == machine->term && pick(machine);
}

bool machine_can_outlive_zero(const struct job_machine *machine)
{
    return machine_find(machine, machine->zero)->bears && !machine->closed &&
           !machine_has_asked(machine) && machine->state == JOB_MACHINE_RUNNING && pick(machine);
}

static void ask_again(struct job_machine *machine, struct job_effects *effects)
{
    const struct job_event *end = &machine->asked_to_end;
    if (machine->owes_snapshot && end->term == 0)
        machine_add(machine, effects, JOB_EFFECT_SAVE);
    if (machine->asked_moves && end->term == 0)
        machine_add(machine, effects, JOB_EFFECT_SAVE)->move = true;
    if (end->term == 0)
        return;
    struct job_effect *effect = machine_add(
        machine, effects, end->kind == JOB_EVENT_STOP ? JOB_EFFECT_STOP : JOB_EFFECT_SAVE);
    effect->how = end->how;
    effect->stop = end->stop;
    effect->signal = end->signal;
    effect->milliseconds = end->grace_ms;
}

void machine_succeed(struct job_machine *machine, struct job_effects *effects)
{
    uint32_t former = machine->zero;
    machine->zero = pick(machine)->id;
    if (machine->config.replicas)
        machine->succeeded_term = machine->term;
    for (uint32_t i = 0; i < machine->config.host_count; i++)
        machine->hosts[i].bears = false; /* it says so anew */
    machine_add(machine, effects, JOB_EFFECT_TAKE_OVER)->peer = former;
    ask_again(machine, effects);
}

void machine_depose(struct job_machine *machine, struct job_effects *effects)
{
    struct machine_host *host = machine_find(machine, machine->zero);
    host->state = HOST_GONE;
    host->excluded = true;
    host->usable = false;
    machine_add(machine, effects, JOB_EFFECT_DISMISS);
    machine_succeed(machine, effects);
}

void machine_note_asked(struct job_machine *machine, const struct job_event *event, bool moves)
{
    bool ends = event && (event->kind == JOB_EVENT_STOP || event->stop);
    if (ends) {
        machine->asked_to_end = *event;
        machine->asked_to_end.term = machine->term;
    }
    if (event && !ends) {
        machine->owes_snapshot = true;
        machine->owed_since_ms = event->now_ms;
    }
    machine->asked_moves = machine->asked_moves || moves;
}

void machine_renew_asked(struct job_machine *machine, struct job_effects *effects)
{
    machine->asked_moves = false;
    machine->asked_to_end.term = 0;
    if (machine->owes_snapshot)
        machine_add(machine, effects, JOB_EFFECT_SAVE);
}

void machine_note_snapshot(struct job_machine *machine, const struct job_event *event)
{
    if (event->now_ms - event->age_ms >= machine->owed_since_ms)
        machine->owes_snapshot = false;
}
