/* order.c - see order.h. */
#include "bsprun/agent/core/order.h"

#include <stdlib.h>
#include <string.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/fault.h"
#include "lib/shm/board.h"

void agent_order_open(struct agent *agent)
{
    agent->order = (struct agent_order){.abort_at = COORD_NEVER};
}

void agent_order_free(struct agent *agent)
{
    free(agent->order.program);
}

void agent_order_take(struct agent *agent, const struct wire_start *start)
{
    struct agent_order *order = &agent->order;

    order->program = strdup(start->program);
    order->process_limit = (int)start->process_limit;
    order->cores = start->cores ? (int)start->cores : bspz_usable_cores();
    order->slots = start->slots == 0               ? order->cores
                   : start->slots < BSPZ_MAX_PROCS ? (int)start->slots
                                                   : BSPZ_MAX_PROCS;
    order->bind = start->bind;
    order->map = start->map;
    order->report_bindings = start->report_bindings;
    order->stdio = start->stdio;
    order->report = start->report;
    order->balance = start->balance;
    order->at_once = start->at_once;
    order->attach = start->attach;
    order->core_dumps = start->core_dumps;
    order->stdin_pid = (int)start->stdin_pid;
    order->end_on_bad_exit = start->end_on_bad_exit;
    order->verbosity = start->verbosity;
    order->timeout_ns = start->timeout_ns;
    order->stacks_ms = start->stacks_ms;
    order->consult_every = start->consult_every;
    order->abort_at = start->abort_at;
    order->dataspace_memory = start->dataspace_memory;
    order->copies = start->copies;
    order->restarts_alone = start->recover && start->alone;
    order->replicas = start->replicas;
    order->replica_log = start->replica_log;
    order->on_mismatch = start->on_mismatch;
    order->any_replica_files = start->any_replica_files;
}

void agent_order_bare(struct agent *agent, int cores, const struct faults *faults)
{
    agent->order.program = strdup("the program");
    agent->order.cores = agent->order.slots = cores;
    agent->order.consult_every = faults->consult_every;
    agent->order.abort_at = faults->abort_at;
}

void agent_order_unbind(struct agent *agent)
{
    agent->order.bind = WIRE_BIND_NONE;
}

void agent_order_replicas(struct agent *agent, const struct wire_elect *elect)
{
    struct agent_order *order = &agent->order;

    if (!replica_counts_take(&order->counts, &elect->replicas))
        order->counts = (struct replica_counts){0};
    order->replicas = replica_counts_most(&order->counts, WIRE_RANKS_MAX);
}

uint32_t agent_order_copies(const struct agent *agent)
{
    const struct agent_order *order = &agent->order;

    return order->replicas > 1 || order->restarts_alone ? order->copies : 1;
}

bool agent_order_alone(const struct agent *agent)
{
    return agent->order.restarts_alone && agent->order.replicas <= 1;
}

const struct agent_order *agent_order(const struct agent *agent)
{
    return &agent->order;
}
