/* launcher_allocation.c - the job follows its Slurm allocation.
 *
 * Happy path: the agent of a host is lost -> is the host still a node of the allocation?  It is:
 * another agent is started there.  It is not: the job continues without it, and it is not tried
 * again.  A node that was gained is used as if it had been added by bspctl.  If another job needs
 * the nodes, the job is saved and stops.
 *
 * What can fail: the nodes are not known (agents are started, and srun says what is wrong); a node
 * is no longer one while the agent lives, as it was started by ssh (its processes move); the job
 * cannot take hosts now (a later answer is awaited).
 */
#include <signal.h>
#include <stdio.h>

#include "bsprun/launcher/launcher_inside.h"

/* One more agent of a host is where the host is, and that of bsprun is a node whatever it is called
 * there. */
static bool is_node(const struct hosts *nodes, const struct launcher_agent *agent)
{
    const struct host *given = agent->given;

    return given->here || hosts_named(nodes, given->reached ? given->reached : agent->name);
}

/* ---- Agents that wait to be started ---- */

static void start_held(struct launcher *launcher, struct launcher_agent *agent, bool is_gone)
{
    char why[WIRE_NAME_MAX + 96];

    launcher->allocation.held[agent->host] = false;
    if (!job_machine_awaits(launcher->machine, agent->host))
        return;
    if (!is_gone) {
        if (!agents_start(agent))
            agents_give_up(agent, AGENT_NOT_STARTED, "no agent can be started there");
        return;
    }
    bool joins = job_machine_joins(launcher->machine, agent->host);

    snprintf(why, sizeof why, "host %s is not a node of Slurm job %.32s", agent->name,
             allocation_name(&launcher->allocation));
    if (!joins)
        notices_say(&launcher->common.notices, "%s any more; the job continues without it", why);
    launcher_event(launcher, (struct job_event){
                                 .kind = JOB_EVENT_AGENT_LOST, .host = agent->host, .away = true});
    if (joins)
        launcher_tell_not_joined(launcher, agent, why);
}

/* ---- Nodes that come and go ---- */

static bool can_use_hosts(const struct launcher *launcher)
{
    return launcher_has_snapshots(launcher) && launcher->common.life.signals == 0 &&
           job_machine_term(launcher->machine) > 0 && !job_machine_closed(launcher->machine) &&
           agents_has_hosts(&launcher->agents) && launcher->agents.start;
}

static void open_host(struct launcher *launcher, const struct launcher_agent *agent)
{
    notices_say(&launcher->common.notices,
                "host %s has become a node of Slurm job %.32s: it is used once its agent runs",
                agent->name, allocation_name(&launcher->allocation));
    launcher_event(launcher, (struct job_event){
                                 .kind = JOB_EVENT_USE, .host = agent->host, .use = JOB_USE_OPEN});
}

static void leave_host(struct launcher *launcher, struct launcher_agent *agent)
{
    char why[96];

    snprintf(why, sizeof why, "it is not a node of Slurm job %.32s any more",
             allocation_name(&launcher->allocation));
    if (job_machine_can_drain(launcher->machine, agent->host))
        launcher_leave_host(launcher, agent, why);
}

static void follow(struct launcher *launcher, struct launcher_agent *agent, bool inside)
{
    bool *outside = &launcher->allocation.outside[agent->host];
    bool was_outside = *outside;
    bool takes_part = job_machine_member(launcher->machine, agent->host) ||
                      job_machine_joins(launcher->machine, agent->host);

    if (inside && was_outside && !can_use_hosts(launcher))
        return;
    *outside = !inside;
    if (inside && was_outside && !takes_part && !job_machine_spare(launcher->machine, agent->host))
        open_host(launcher, agent);
    else if (!inside && takes_part && !job_machine_removed(launcher->machine, agent->host))
        leave_host(launcher, agent);
}

static void take_new(struct launcher *launcher, const struct hosts *nodes)
{
    uint32_t slots = allocation_slots(&launcher->allocation);

    for (uint32_t i = 0; i < nodes->count; i++) {
        struct hosts one = {NULL, 0};
        char error[HOSTS_ERROR];

        if (launcher_find_host(launcher, nodes->items[i].name))
            continue;
        struct launcher_agent *agent = hosts_mention(&one, NULL, nodes->items[i].name, slots, error)
                                           ? agents_admit(&launcher->agents, &one)
                                           : NULL;
        hosts_free(&one);
        if (agent)
            open_host(launcher, agent);
    }
}

/* ---- All of it ---- */

static void make_room(struct launcher *launcher)
{
    if (launcher->allocation.makes_room || launcher->common.life.signals > 0 ||
        !launcher_has_snapshots(launcher))
        return;
    launcher->allocation.makes_room = true;
    notices_say(&launcher->common.notices,
                "Slurm's job %.32s has to make room for another job: this job is saved and stopped",
                allocation_name(&launcher->allocation));
    launcher_save_and_stop(launcher, SIGTERM);
}

void launcher_take_allocation(void *context, const struct hosts *nodes, bool preempted)
{
    struct launcher *launcher = context;

    if (preempted && !life_is_over(&launcher->common.life))
        make_room(launcher);
    for (uint32_t i = 0; i < launcher->agents.count; i++) {
        struct launcher_agent *agent = &launcher->agents.items[i];
        bool inside = !nodes || is_node(nodes, agent);

        if (life_is_over(&launcher->common.life))
            return;
        if (launcher->allocation.held[i]) {
            launcher->allocation.outside[i] = !inside;
            start_held(launcher, agent, !inside);
        } else if (nodes && !agent->local) {
            follow(launcher, agent, inside);
        }
    }
    if (nodes && launcher->allocation.all && can_use_hosts(launcher))
        take_new(launcher, nodes);
}
