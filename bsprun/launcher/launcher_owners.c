/* launcher_owners.c - the owners of hosts: --owner-policy.
 *
 * Happy path of `leave`: OWNER of an agent -> its host is drained, as by bspctl -> the next term
 * has its processes elsewhere -> OWNER: it is quiet there -> the host is used again.
 *
 * What can fail: there is nowhere to go (the processes are stopped instead, until there is); the
 * user drains the host, too (then only the user has it used again); the host is lost (it stays
 * drained until an agent there says that its owner is quiet).
 */

#include "bsprun/launcher/launcher_inside.h"

static enum owners_state state_of(const struct launcher *launcher, uint32_t host)
{
    return launcher->owners.hosts[host].state;
}

/* Whether there are no processes yet, and hosts may still come for them: it is RUNNING that tells
 * where they can be. */
static bool is_early(const struct launcher *launcher)
{
    for (uint32_t i = 0; launcher->processes == 0 && i < launcher->agents.count; i++)
        if (job_machine_awaits(launcher->machine, i))
            return true;
    return false;
}

/* Why processes can go nowhere, now or ever; NULL: they can, or that is not known yet. */
static const char *stay_why(const struct launcher *launcher, uint32_t host)
{
    if (!launcher_has_snapshots(launcher))
        return "the job takes no snapshots";
    if (!agents_has_hosts(&launcher->agents))
        return "the job has only one host";
    if (job_machine_closed(launcher->machine))
        return "the job ends";
    return is_early(launcher) || job_machine_can_drain(launcher->machine, host)
               ? NULL
               : "no other host may have processes";
}

static void stop_instead(struct launcher *launcher, struct launcher_agent *agent, const char *why)
{
    struct owners *owners = &launcher->owners;

    owners->hosts[agent->host].act = WIRE_ACT_STOP;
    owners_move(owners, agent->host, OWNERS_GIVING_WAY);
    owners_order(agent, WIRE_ACT_STOP);
    if (!owners->told_instead || launcher->common.options->verbosity > 0)
        notices_say(&launcher->common.notices,
                    "host %s: its owner is active: its processes are stopped, as they cannot "
                    "leave: %s",
                    agent->name, why);
    owners->told_instead = true;
    owners_let_go(owners, agent);
}

static void leave(struct launcher *launcher, struct launcher_agent *agent)
{
    if (state_of(launcher, agent->host) == OWNERS_GIVING_WAY)
        owners_order(agent, WIRE_ACT_GO_ON);
    owners_move(&launcher->owners, agent->host, OWNERS_LEFT);
    if (launcher->owners.hosts[agent->host].drained)
        return; /* it was lost meanwhile, and is back */
    launcher->owners.hosts[agent->host].drained = true;
    if (launcher->common.options->verbosity > 0)
        notices_say(&launcher->common.notices,
                    "host %s: its owner is active: its processes leave at the next barrier",
                    agent->name);
    launcher_await_next_term(launcher);
    launcher_event(launcher, (struct job_event){
                                 .kind = JOB_EVENT_USE, .host = agent->host, .use = JOB_USE_LEFT});
}

/* The owner is active and the policy is to leave: does so, once there are processes.  A host that
 * was left gets them back when there is no other. */
static void leave_if_possible(struct launcher *launcher, struct launcher_agent *agent)
{
    enum owners_state state = state_of(launcher, agent->host);
    const char *why = stay_why(launcher, agent->host);
    bool by_user = job_machine_drained(launcher->machine, agent->host) &&
                   !launcher->owners.hosts[agent->host].drained;

    if (state == OWNERS_QUIET || by_user ||
        (state == OWNERS_LEFT && job_machine_can_drain(launcher->machine, agent->host)))
        return;
    if (why && (state == OWNERS_WAITING || state == OWNERS_LEFT))
        stop_instead(launcher, agent, why);
    else if (!why && launcher->processes > 0 && job_machine_member(launcher->machine, agent->host))
        leave(launcher, agent);
}

static void leave_where_possible(struct launcher *launcher)
{
    if (launcher->common.options->hosts.owner.policy != WIRE_POLICY_LEAVE ||
        life_is_over(&launcher->common.life) || launcher->common.life.signals > 0)
        return;
    for (uint32_t i = 0; i < launcher->agents.count; i++)
        leave_if_possible(launcher, &launcher->agents.items[i]);
}

/* ---- What agents say ---- */

static void tell_active(struct launcher *launcher, const struct launcher_agent *agent,
                        const struct wire_owner *owner)
{
    static const char *const texts[WIRE_ACT_COUNT] = {
        [WIRE_ACT_SLOW] = ": its processes are slowed",
        [WIRE_ACT_STOP] = ": its processes are stopped",
    };
    const char *text = texts[owner->act];

    if (launcher->common.options->verbosity > 0)
        notices_say(&launcher->common.notices, "host %s: its owner is active (%s)%s", agent->name,
                    owner->text, text ? text : "");
}

static void become_active(struct launcher *launcher, struct launcher_agent *agent,
                          const struct wire_owner *owner)
{
    bool leaves = owner->act == WIRE_ACT_LEAVE;

    if (state_of(launcher, agent->host) != OWNERS_QUIET)
        return;
    tell_active(launcher, agent, owner);
    launcher->owners.hosts[agent->host].act = (enum wire_act)owner->act;
    owners_move(&launcher->owners, agent->host, leaves ? OWNERS_WAITING : OWNERS_GIVING_WAY);
    owners_let_go(&launcher->owners, agent);
}

static void use_again(struct launcher *launcher, const struct launcher_agent *agent)
{
    launcher->owners.hosts[agent->host].drained = false;
    launcher_await_next_term(launcher);
    launcher_event(launcher, (struct job_event){
                                 .kind = JOB_EVENT_USE, .host = agent->host, .use = JOB_USE_OPEN});
}

static void become_quiet(struct launcher *launcher, const struct launcher_agent *agent)
{
    enum owners_state before = state_of(launcher, agent->host);
    bool drained = launcher->owners.hosts[agent->host].drained;

    if (before == OWNERS_QUIET && !drained)
        return;
    if (before != OWNERS_QUIET)
        owners_move(&launcher->owners, agent->host, OWNERS_QUIET);
    if (launcher->common.options->verbosity > 0)
        notices_say(&launcher->common.notices, "host %s: its owner is quiet%s", agent->name,
                    drained                    ? ": it is used again from the next barrier"
                    : before == OWNERS_WAITING ? ""
                                               : ": its processes continue");
    if (drained)
        use_again(launcher, agent);
}

void launcher_take_owner(struct launcher *launcher, struct launcher_agent *agent,
                         const struct wire_owner *owner)
{
    if (life_is_over(&launcher->common.life))
        return;
    if (owner->active)
        become_active(launcher, agent, owner);
    else
        become_quiet(launcher, agent);
    leave_where_possible(launcher);
}

/* ---- What else happens ---- */

void launcher_owners_running(struct launcher *launcher)
{
    owners_running(&launcher->owners, &launcher->agents);
    leave_where_possible(launcher);
}

void launcher_owner_lost(struct launcher *launcher, const struct launcher_agent *agent)
{
    if (state_of(launcher, agent->host) != OWNERS_QUIET)
        owners_move(&launcher->owners, agent->host, OWNERS_QUIET);
}
