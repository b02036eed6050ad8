/* binding.c - see binding.h.
 *
 * Happy path: enough processors are free -> they are claimed -> ranks spin, and each is bound when
 * its process is known.  What can fail: there are not enough, or the kernel refuses: no rank of
 * this host is bound then, and the user is told if binding was asked for. */
#include "bsprun/agent/core/binding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/cores.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "lib/shm/board.h"

struct agent_binding {
    struct cores_claim cores;
    bool has_bound; /* a rank, now or for earlier places */
    bool told;      /* that a rank could not be bound */
};

int agent_binding_open(struct agent *agent)
{
    agent->binding = calloc(1, sizeof *agent->binding);
    return agent->binding ? 0 : -ENOMEM;
}

void agent_binding_free(struct agent *agent)
{
    cores_free(&agent->binding->cores);
    free(agent->binding);
    agent->binding = NULL;
}

static bool is_here(const struct agent *agent, int pid)
{
    return agent_home(agent, pid) == agent_host(agent);
}

/* Whether the user wants processes to be bound, and to what. */
static bool is_asked(const struct agent *agent)
{
    return agent_order(agent)->bind != WIRE_BIND_DEFAULT &&
           agent_order(agent)->bind != WIRE_BIND_NONE;
}

/* Whether the ranks of this host are bound. */
static bool binds(const struct agent *agent)
{
    return agent->binding->cores.count > 0 && agent_order(agent)->bind != WIRE_BIND_NONE;
}

static void report(struct agent *agent)
{
    char text[800];
    int rank = 0;

    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        if (!is_here(agent, pid))
            continue;
        if (binds(agent)) {
            cores_describe(&agent->binding->cores, rank++, text, sizeof text);
            agent_notice(agent, "host %s: pid %d is bound to %s", agent_host_name(agent), pid,
                         text);
        } else {
            cores_allowed(text, sizeof text);
            agent_notice(agent, "host %s: pid %d is not bound, processors %s",
                         agent_host_name(agent), pid, text);
        }
    }
}

/* Where the kernel refuses, it will do so for every rank. */
static void try_binding(struct agent *agent, bool asked)
{
    int error = binds(agent) ? cores_try(&agent->binding->cores) : 0;

    if (error && asked)
        agent_notice(agent,
                     "host %s: --bind-to %s: binding is not possible (sched_setaffinity: %s); "
                     "nothing is bound",
                     agent_host_name(agent), wire_bind_text(agent_order(agent)->bind),
                     strerror(-error));
    if (error)
        agent_order_unbind(agent);
}

static void too_few(struct agent *agent)
{
    agent_notice(agent,
                 "host %s: --bind-to %s: %d process%s, but fewer than that many free processors of "
                 "%d; nothing is bound",
                 agent_host_name(agent), wire_bind_text(agent_order(agent)->bind),
                 agent_here(agent), agent_here(agent) == 1 ? "" : "es", agent_order(agent)->cores);
}

/* Claims the processors; whether there are enough. */
static bool claim(struct agent *agent)
{
    return cores_claim(agent_here(agent), (enum wire_bind)agent_order(agent)->bind,
                       (enum wire_map)agent_order(agent)->map,
                       &agent->binding->cores) == agent_here(agent);
}

/* Binding and spinning require that the job has its cores to itself.  With other hosts the agent
 * works, too, while ranks wait: ranks do not spin then when there is no core for it, and are bound
 * only if the user wants it. */
void agent_binding_plan(struct agent *agent)
{
    int wanted = agent_here(agent), agents = agent_has_peers(agent) ? 1 : 0;
    bool spins =
        agent_nprocs(agent) > 1 && wanted > 0 && wanted + agents <= agent_order(agent)->cores;
    bool asked = is_asked(agent) && wanted > 0;
    bool may = spins || (asked && wanted <= agent_order(agent)->cores);

    cores_release(&agent->binding->cores);
    agent->binding->told = false;
    atomic_store(&agent_board(agent)->spin_ns, 0);
    if (may && claim(agent)) {
        if (spins)
            atomic_store(&agent_board(agent)->spin_ns, AGENT_SPIN_NS);
        if (asked || agent_order(agent)->report_bindings)
            try_binding(agent, asked);
    } else if (asked) {
        too_few(agent);
    }
    if (agent_order(agent)->report_bindings)
        report(agent);
}

void agent_binding_apply(struct agent *agent, int pid)
{
    struct agent_binding *binding = agent->binding;
    pid_t os_pid = agent_process(agent, pid)->ospid;
    int rank = 0, error, core = -1;

    for (int other = 0; other < pid; other++)
        rank += is_here(agent, other);
    /* For one that has come from a host that is lost none is claimed. */
    if (binds(agent) && rank < binding->cores.count && os_pid > 0) {
        error = cores_bind(&binding->cores, rank, os_pid);
        if (!error)
            core = cores_first(&binding->cores, rank);
        else if (is_asked(agent) && error != -ESRCH && !binding->told) {
            binding->told = true;
            agent_notice(agent, "host %s: pid %d cannot be bound (sched_setaffinity: %s)",
                         agent_host_name(agent), pid, strerror(-error));
        }
        binding->has_bound = true;
    } else if (binding->has_bound && os_pid > 0) {
        cores_unbind(os_pid); /* a frozen copy may have been bound */
    }
    atomic_store(&bspz_rank_of(agent_board(agent), pid)->core, core);
}

void agent_binding_renew(struct agent *agent)
{
    agent_binding_plan(agent);
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (is_here(agent, pid) && agent_member(agent, pid)->process.state == WATCH_LIVES)
            agent_binding_apply(agent, pid);
}
