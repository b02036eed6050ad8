/* job_machine_invariants.c - what is true of the job machine before and after every step.
 *
 * A violation is a defect of this program: bsprun ends with a message, as by any assertion, and its
 * agents end the job as when bsprun is lost.  The simulators (tests/sim) run with these checks.
 */
#include "bsprun/launcher/job_machine_inside.h"

#include <assert.h>

#define IN(n) (1u << (n))

static void check_host(const struct job_machine *machine, const struct machine_host *host)
{
    unsigned state = IN(host->state), job = IN(machine->state);

    assert(host->starts <= STARTS_MAX);
    assert(host->starts == 0 || !(state & (IN(HOST_UNUSED) | IN(HOST_UP))));
    assert(host->starts > 0 || !(state & (IN(HOST_STARTING) | IN(HOST_COMING))));
    assert(host->retry_at_ms == 0 || state & IN(HOST_GONE));
    assert(host->since < machine->came || !(state & IN(HOST_UP)));
    assert(host->took_part || !(state & IN(HOST_UP)));
    assert(!host->unreplaced || state & IN(HOST_GONE));
    assert(!host->usable || state & IN(HOST_GONE));
    assert(!host->asked || !(job & IN(JOB_MACHINE_GATHERING)));
    assert(!host->took_part || !(state & IN(HOST_UNUSED)));
    /* Members of a term were up when it began. */
    assert(!(job & IN(JOB_MACHINE_RUNNING)) || !(state & (IN(HOST_STARTING) | IN(HOST_LEAVING))));
    assert(!(job & IN(JOB_MACHINE_GATHERING)) || !(state & IN(HOST_WAITING)));
}

static void check_links(const struct job_machine *machine, const struct machine_links *links)
{
    assert(links->count <= LINKS_MAX);
    for (uint32_t i = 0; i < links->count; i++) {
        assert(links->items[i].host != links->items[i].peer);
        assert(machine_find(machine, links->items[i].host));
        assert(machine_find(machine, links->items[i].peer));
    }
}

static void check_roll(const struct job_machine *machine)
{
    const struct machine_roll *roll = &machine->roll;

    check_links(machine, &roll->lost);
    check_links(machine, &machine->lost_before);
    assert(machine->lost_before_term <= machine->term);
    assert(roll->deaf == JOB_NO_HOST || machine_find(machine, roll->deaf));
    assert(roll->decide_at_ms == 0 || machine->config.replicas);
}

static void check_terms(const struct job_machine *machine)
{
    assert(machine->elected == (machine->term > machine->config.last_term));
    assert(machine->term >= machine->config.last_term);
    assert(machine->elected || machine->state != JOB_MACHINE_RUNNING);
    assert(machine->elected || !machine->closed);
    assert(machine->succeeded_term <= machine->term);
    assert(machine->asked_to_end.term == 0 || machine->asked_to_end.term == machine->term);
    assert(machine->avoid_count <= COORD_AVOID_MAX);
    for (uint32_t i = 0; i < machine->avoid_count; i++)
        assert(machine->avoid[i].term > 0);
}

static void check_end(const struct job_machine *machine, const struct job_effects *effects)
{
    assert(!machine->cut_short || machine->closed);
    assert(!machine->closed || machine->state != JOB_MACHINE_GATHERING);
    assert(machine->fault.repeats > 0 || machine->fault.restarts == 0);
    assert(machine->state != JOB_MACHINE_GATHERING ||
           machine->fault.restarts <= machine->config.max_restarts);
    assert(machine->state != JOB_MACHINE_FINISHING || machine->outcome.cause == WIRE_CAUSE_NONE);
    assert(effects->count <= JOB_EFFECTS_MAX);
    for (uint32_t i = 0; i < effects->count; i++) /* there are no effects for a job that is over */
        assert((effects->items[i].kind == JOB_EFFECT_EXIT) ==
               (machine->state == JOB_MACHINE_OVER && i + 1 == effects->count));
}

void machine_check(const struct job_machine *machine, const struct job_effects *effects)
{
    uint32_t up = 0;

    for (uint32_t i = 0; i < machine->config.host_count; i++) {
        check_host(machine, &machine->hosts[i]);
        up += machine->hosts[i].state == HOST_UP;
    }
    assert(up <= machine->came);
    assert(machine_find(machine, machine->zero) && machine_find(machine, machine->program));
    assert(machine->state != JOB_MACHINE_RUNNING ||
           machine_find(machine, machine->zero)->state == HOST_UP);
    assert(machine->state != JOB_MACHINE_RUNNING || !machine->fenced);
    check_roll(machine);
    check_terms(machine);
    check_end(machine, effects);
}
