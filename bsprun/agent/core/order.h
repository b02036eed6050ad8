/* order.h - what this agent is to do: the contents of START, or the defaults of a bare run. */
#ifndef BSPRUN_AGENT_ORDER_H
#define BSPRUN_AGENT_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/wire/replica_counts.h"
#include "lib/wire/wire.h"

struct agent;
struct faults; /* bsprun/fault.h */

struct agent_order {
    char *program; /* NULL before START */
    int process_limit;
    int cores, slots; /* of this host; of all hosts */
    uint32_t bind;    /* enum wire_bind */
    uint32_t map;     /* enum wire_map */
    uint32_t stdio;   /* enum wire_stdio */
    int stdin_pid;    /* the process that reads bsprun's stdin */
    bool report, core_dumps;
    bool report_bindings;
    uint32_t attach;      /* enum wire_attach */
    bool end_on_bad_exit; /* a failure after bsp_end ends the job */
    bool balance;         /* Processor Zero may move processes */
    bool at_once;         /* without snapshots before the one at which they move */
    uint32_t verbosity;
    uint64_t timeout_ns;
    uint32_t stacks_ms; /* the limit is bsprun's, and comes here so much later; 0: it is not */
    uint64_t consult_every, abort_at;
    uint64_t dataspace_memory;    /* bytes of objects in memory; 0: half of what is available */
    uint32_t copies;              /* hosts that are to hold what is kept more than once */
    bool restarts_alone;          /* --recover one: processes without replicas */
    uint32_t replicas;            /* of each process, or the most of one; 0: one */
    struct replica_counts counts; /* of each, in the newest term */
    bool any_replica_files;       /* --replica-files allow */
    uint32_t on_mismatch;         /* enum wire_mismatch */
    uint64_t replica_log;         /* bytes in memory of what is kept for replicas that are behind */
};

/* Nothing has been ordered. */
void agent_order_open(struct agent *agent);
void agent_order_free(struct agent *agent);
/* START. */
void agent_order_take(struct agent *agent, const struct wire_start *start);
/* That of a bare run, with faults to be made for tests. */
void agent_order_bare(struct agent *agent, int cores, const struct faults *faults);
/* Processes cannot be bound. */
void agent_order_unbind(struct agent *agent);
/* ELECT: bsprun may have been asked for more or fewer replicas. */
void agent_order_replicas(struct agent *agent, const struct wire_elect *elect);

/* What hosts must agree on in a term, though some were started when bsprun had been asked for
 * another number of replicas.  The hosts that are to hold each part of the dataspace, at least 1:
 * if the processes of a host that is lost go on, in replicas or restarted alone on others. */
uint32_t agent_order_copies(const struct agent *agent);
/* Whether a process that is lost may be restarted alone. */
bool agent_order_alone(const struct agent *agent);

const struct agent_order *agent_order(const struct agent *agent);

#endif
