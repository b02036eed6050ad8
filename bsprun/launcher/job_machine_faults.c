/* job_machine_faults.c - lost hosts and their replacement; faults that end a term.
 *
 * Happy path: nothing is lost.
 *
 * What can fail: an agent is lost -> START_AGENT there, or on a spare -> the next term; too many
 * faults, or the user's request: EXIT.
 */
#include "bsprun/launcher/job_machine_inside.h"

/* ---- Hosts -------------------------------------------------------------------------------- */

/* Replaces a lost agent by a new one on the same host or on a spare; false: there is none. */
static bool replace(struct job_machine *machine, struct machine_host *host, bool usable,
                    struct job_effects *effects)
{
    if (usable && host->starts < STARTS_MAX) {
        machine_start_agent(machine, host, HOST_STARTING, effects);
        return true;
    }
    host->state = HOST_GONE;
    for (uint32_t i = 0; i < machine->config.host_count; i++)
        if (machine->hosts[i].state == HOST_UNUSED) {
            if (machine->program == host->id && !machine->elected)
                machine->program = machine->zero = machine->hosts[i].id;
            machine_start_agent(machine, &machine->hosts[i], HOST_STARTING, effects);
            return true;
        }
    return false;
}

/* ---- Faults ------------------------------------------------------------------------------- */

static bool same_fault(const struct coord_outcome *a, const struct coord_outcome *b)
{
    return a->cause == b->cause && a->pid == b->pid && a->signal == b->signal &&
           a->superstep == b->superstep;
}

/* Records the fault as the cause of the end, should the job end now. */
static void remember_fault(struct job_machine *machine, const struct coord_outcome *outcome)
{
    struct job_fault *fault = &machine->fault;
    bool again = fault->repeats > 0 && same_fault(&fault->outcome, outcome);
    fault->repeats = again ? fault->repeats + 1 : 1;
    fault->outcome = *outcome;
    fault->outcome.text = "";
}

/* Records a fault that ends a term. */
static void note_fault(struct job_machine *machine, const struct coord_outcome *outcome)
{
    remember_fault(machine, outcome);
    machine->fault.restarts++;
}

void machine_replace_late(struct job_machine *machine, struct job_effects *effects)
{
    for (uint32_t i = 0; i < machine->config.host_count; i++) {
        struct machine_host *host = &machine->hosts[i];
        if (!host->unreplaced || effects->count >= JOB_EFFECTS_MAX / 2)
            continue;
        host->unreplaced = false;
        replace(machine, host, host->usable, effects);
    }
}

/* The term does not go on: they are replaced as if it had ended at once. */
static void settle_asked(struct job_machine *machine)
{
    for (uint32_t i = 0; i < machine->config.host_count; i++) {
        struct machine_host *host = &machine->hosts[i];
        host->unreplaced = host->unreplaced || host->asked;
        host->asked = false;
    }
}

void machine_recover(struct job_machine *machine, const struct coord_outcome *outcome,
                     struct job_effects *effects)
{
    bool moved = outcome->cause == WIRE_CAUSE_MOVED;
    /* The former Processor Zero may have let processes leave bsp_end. */
    bool may_have_ended = machine->closed && machine->succeeded_term == machine->term;
    if (!moved)
        note_fault(machine, outcome);
    /* A term that is rolled back has let no process leave bsp_end. */
    machine->closed = machine->cut_short = false;
    if (machine->stop_asked || machine->save_asked || may_have_ended ||
        (!moved && machine->fault.restarts > machine->config.max_restarts)) {
        machine_give_up(machine, effects);
        return;
    }
    if (outcome->bad.term > 0 && machine->avoid_count < COORD_AVOID_MAX)
        machine->avoid[machine->avoid_count++] = outcome->bad;
    /* As if the next term had begun from it, which is recorded when that has begun. */
    if (outcome->right.term > 0)
        coord_lineage_add(&machine->config.lineage, machine->term + 1, outcome->right);
    machine->restores = true;
    machine_move(machine, JOB_MACHINE_GATHERING);
    settle_asked(machine);
    machine_replace_late(machine, effects);
    machine_let_join(machine);
    machine_remove_drained(machine, effects);
}

struct coord_outcome machine_host_lost(void)
{
    return (struct coord_outcome){
        .status = 1, .cause = WIRE_CAUSE_HOST_LOST, .pid = COORD_NOBODY, .text = ""};
}

void machine_end_of_loss(struct job_machine *machine, struct job_effects *effects)
{
    struct coord_outcome lost = machine_host_lost();
    note_fault(machine, &lost);
    machine_give_up(machine, effects);
}

void machine_dismiss(struct job_machine *machine, uint32_t id, struct job_effects *effects)
{
    struct machine_host *host = machine_find(machine, id);
    replace(machine, host, false, effects);
    host->state = HOST_LEAVING;
    host->excluded = true;
    machine_add(machine, effects, JOB_EFFECT_DISMISS)->host = id;
}

/* Before the first term: nothing has run yet on a host whose agent never came up, so a spare can
 * replace it.  A new job does not begin with fewer hosts than requested. */
static void lost_early(struct job_machine *machine, struct machine_host *host,
                       const struct job_event *event, struct job_effects *effects)
{
    if (host->state == HOST_STARTING && replace(machine, host, event->usable, effects))
        return;
    machine_end_of_loss(machine, effects);
}

void machine_take_agent_lost(struct job_machine *machine, const struct job_event *event,
                             struct job_effects *effects)
{
    struct machine_host *host = machine_find(machine, event->host);
    struct coord_outcome lost = machine_host_lost();
    if (!host || host->state == HOST_UNUSED || host->state == HOST_GONE) {
        effects->dropped = true;
        return;
    }
    host->excluded = host->excluded || event->away;
    if (host->state == HOST_COMING || host->state == HOST_WAITING) {
        machine_lose_outsider(machine, host, event, effects);
        return;
    }
    if (event->unheard && event->now_ms + machine->config.fence_ms > machine->fence_until_ms) {
        machine->fence_until_ms = event->now_ms + machine->config.fence_ms;
        machine->fenced = false;
    }
    if (host->state == HOST_LEAVING) {
        machine_lose_outsider(machine, host, event, effects);
        return;
    }
    if (machine->state == JOB_MACHINE_RUNNING) {
        bool of_zero = host->id == machine->zero;
        host->state = HOST_GONE;
        if (of_zero && machine_can_succeed(machine)) {
            host->usable = event->usable;
            machine_succeed(machine, effects);
            machine_call_spare(machine, effects);
        } else if (of_zero && machine_can_outlive_zero(machine)) {
            host->asked = true;
            host->usable = event->usable;
            machine_succeed(machine, effects);
        } else if (machine->config.replicas && !of_zero) {
            /* Processor Zero decides; a new agent comes as for a host that was lost before. */
            host->unreplaced = machine->closed;
            host->usable = event->usable;
            machine_add(machine, effects, JOB_EFFECT_LOST_TO_ZERO)->host = host->id;
            machine_call_spare(machine, effects);
        } else if (host->bears && !of_zero && !machine->closed) {
            host->asked = true;
            host->usable = event->usable;
            machine_add(machine, effects, JOB_EFFECT_LOST_TO_ZERO)->host = host->id;
        } else if (machine->config.snapshots && !machine->closed) {
            machine_recover(machine, &lost, effects);
        } else if (of_zero) {
            machine_end_of_loss(machine, effects);
        } else { /* Processor Zero decides */
            host->unreplaced = true;
            host->usable = event->usable;
        }
    } else if (machine->state == JOB_MACHINE_GATHERING && !machine->elected && !machine->restores) {
        lost_early(machine, host, event, effects);
        return;
    }
    if (machine->state != JOB_MACHINE_GATHERING)
        return;
    replace(machine, host, event->usable, effects);
    /* There is no term for it to end. */
    if (machine->term > 0 && machine->fault.repeats == 0)
        remember_fault(machine, &lost);
}
