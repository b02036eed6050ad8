/* job_machine_end.c - how a job ends: by itself, by the user's request, or by the last fault; see
 * job_machine_inside.h. */
#include "bsprun/launcher/job_machine_inside.h"

#include <stdio.h>

#define STATUS_SIGNAL 128

void machine_leave(struct job_machine *machine, struct job_effects *effects)
{
    machine_move(machine, JOB_MACHINE_OVER);
    machine_add(machine, effects, JOB_EFFECT_EXIT)->status = machine->outcome.status;
}

static bool something_saved(const struct job_machine *machine)
{
    return machine->committed.term > 0 || machine->config.restore;
}

void machine_give_up(struct job_machine *machine, struct job_effects *effects)
{
    if (machine->save_asked && something_saved(machine))
        machine->outcome = (struct coord_outcome){
            .status = JOB_STATUS_SAVED, .cause = WIRE_CAUSE_SAVED, .pid = COORD_NOBODY};
    else if (machine->stop_asked || machine->save_asked)
        machine->outcome =
            (struct coord_outcome){.status = STATUS_SIGNAL + (int32_t)machine->signal,
                                   .cause = WIRE_CAUSE_STOPPED,
                                   .pid = COORD_NOBODY,
                                   .signal = machine->signal};
    else
        machine->outcome = machine->fault.outcome;
    machine->outcome.again = something_saved(machine);
    machine_leave(machine, effects);
}

void machine_take_ended(struct job_machine *machine, const struct job_event *event,
                        struct job_effects *effects)
{
    machine->outcome = event->outcome;
    machine->outcome.text = "";
    machine->outcome.again = something_saved(machine);
    if (machine->state == JOB_MACHINE_GATHERING) {
        machine_leave(machine, effects); /* nothing to record has begun */
    } else if (event->outcome.cause == WIRE_CAUSE_NOTHING_SAVED && machine->fault.repeats > 0) {
        machine_give_up(machine, effects); /* the fault is the cause to report */
    } else if (event->outcome.cause == WIRE_CAUSE_STOPPED && machine->save_asked &&
               something_saved(machine)) {
        machine_give_up(machine, effects); /* Processor Zero did not know the snapshots yet */
    } else if (event->outcome.cause == WIRE_CAUSE_NONE && machine->config.snapshots) {
        machine->outcome.again = false;
        machine_move(machine, JOB_MACHINE_FINISHING);
        machine_add(machine, effects, JOB_EFFECT_RECORD_FINISH)->status = event->outcome.status;
    } else {
        machine_leave(machine, effects);
    }
}

/* Before the first term the program runs by itself, and its agent ends it. */
static bool runs_alone(const struct job_machine *machine)
{
    const struct machine_host *host = machine_find(machine, machine->program);
    return machine->state == JOB_MACHINE_GATHERING && !machine->restores && machine->term == 0 &&
           host && host->state == HOST_UP;
}

/* Requests of the user are passed to Processor Zero, if there is one. */
void machine_take_request(struct job_machine *machine, const struct job_event *event,
                          struct job_effects *effects)
{
    bool stop = event->kind == JOB_EVENT_STOP, ends = stop || event->stop;
    if (ends && machine->signal == 0)
        machine->signal = event->signal;
    machine->stop_asked = machine->stop_asked || stop;
    machine->save_asked = machine->save_asked || (ends && !stop);
    if (runs_alone(machine)) {
        struct job_effect *effect = ends ? machine_add(machine, effects, JOB_EFFECT_STOP) : NULL;
        if (effect) {
            effect->how = stop ? event->how : WIRE_STOP_SIGNAL; /* nothing can be saved */
            effect->signal = event->signal;
        }
    } else if (machine->state == JOB_MACHINE_GATHERING) {
        if (ends)
            machine_give_up(machine, effects);
        else
            machine_note_asked(machine, event, false);
    } else if (machine->state == JOB_MACHINE_RUNNING) {
        struct job_effect *effect =
            machine_add(machine, effects, stop ? JOB_EFFECT_STOP : JOB_EFFECT_SAVE);
        effect->how = event->how;
        effect->stop = event->stop;
        effect->signal = event->signal;
        effect->milliseconds = event->grace_ms;
        machine_note_asked(machine, event, false);
    }
}

/* ---- In words ---- */

static void cause_in_words(const struct coord_outcome *outcome, char text[JOB_REASON_MAX])
{
    const char *cause = wire_cause_text(outcome->cause);
    switch (outcome->cause) {
    case WIRE_CAUSE_NONE:
        snprintf(text, JOB_REASON_MAX, "process 0 ended with status %d", outcome->status);
        break;
    case WIRE_CAUSE_RANK_SIGNALLED:
    case WIRE_CAUSE_KILLED_AFTER_END:
        snprintf(text, JOB_REASON_MAX, "process %d was killed by signal %u%s", outcome->pid,
                 outcome->signal,
                 outcome->cause == WIRE_CAUSE_KILLED_AFTER_END ? " after bsp_end" : "");
        break;
    case WIRE_CAUSE_STOPPED:
        snprintf(text, JOB_REASON_MAX, "the job was stopped by signal %u", outcome->signal);
        break;
    default:
        if (outcome->pid == COORD_NOBODY)
            snprintf(text, JOB_REASON_MAX, "%s", cause);
        else
            snprintf(text, JOB_REASON_MAX, "process %d: %s", outcome->pid, cause);
    }
}

const char *job_machine_reason(const struct job_machine *machine, char text[JOB_REASON_MAX])
{
    const struct job_fault *fault = &machine->fault;
    char cause[JOB_REASON_MAX];
    bool of_fault = machine->outcome.cause == fault->outcome.cause;
    cause_in_words(&machine->outcome, cause);
    if (of_fault && fault->repeats > 0 && fault->restarts > machine->config.max_restarts)
        snprintf(text, JOB_REASON_MAX, "%.120s; no restarts are left (of %u)", cause,
                 machine->config.max_restarts);
    else
        snprintf(text, JOB_REASON_MAX, "%s", cause);
    return text;
}
