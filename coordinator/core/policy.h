/* policy.h - when to take a snapshot: a pure function of the facts at a barrier.
 *
 * AUTO takes the first one early: at the first barrier of a job.  Then, as long as the rate of
 * failures is unknown (facts.known is false), it takes as many as the overhead allows.  Once it is
 * known, a snapshot is taken when the useful run time since the last resume has reached
 * interval_best(facts.model), at the nearer of the two barriers around that time; an overhead set
 * by the user is an upper bound then, the default one is ignored.
 *
 * Limiting cases: one snapshot is written at a time, so an interval is never shorter than the time
 * to commit; with supersteps longer than the interval a snapshot is taken at every barrier (unless
 * the previous one is still being written); a known rate of 0 means none after the first; a cost of
 * 0, one at every barrier.  A time beyond 64 bits of nanoseconds means never.
 *
 * Times are in nanoseconds of any monotonic clock; the model uses seconds.
 */
#ifndef COORD_POLICY_H
#define COORD_POLICY_H

#include "coordinator/core/interval.h"

#include <stdbool.h>
#include <stdint.h>

#define POLICY_NEVER UINT64_MAX

enum policy_kind {
    POLICY_OFF,        /* only on request */
    POLICY_SUPERSTEPS, /* --every N: after every N supersteps, exactly */
    POLICY_TIME,       /* --every 30s: at the first barrier after that long, and after its commit */
    POLICY_AUTO,       /* by failures and costs; see above */
};

struct policy_rule {
    enum policy_kind kind;
    uint64_t every;  /* supersteps or nanoseconds; at least 1 */
    double overhead; /* AUTO: the share of the time that snapshots may take, between 0 and 1 ... */
    bool bounded; /* ... always, as set by the user; false: while the rate of failures is unknown */
    bool skips;   /* never waits for the snapshot before, not even if requested */
};

/* The measured costs of the last snapshot, and other measurements; 0: not known yet. */
struct policy_costs {
    uint64_t pause_ns;            /* pause of the processes */
    uint64_t busy_ns;             /* time that writers ran on their cores */
    uint64_t copied_ns;           /* copy-on-write faults of the processes */
    uint64_t commit_ns;           /* from the barrier to the commit */
    uint64_t restore_ns;          /* from the start of a term until its processes run */
    uint64_t between_failures_ns; /* estimated mean time; counts where facts.known is false */
};

struct policy_facts {
    uint64_t superstep; /* completed, including this one */
    uint64_t now_ns;
    uint64_t begun_ns; /* when the processes began to run */
    uint64_t spent_ns; /* costs of all snapshots since then */
    uint64_t retry_ns; /* after a failed one: not before, unless requested */
    bool taken;        /* a snapshot at a barrier has been taken or attempted */
    uint32_t counted;  /* number of snapshots at barriers with known costs */
    uint64_t last_ns;  /* when the processes resumed after the last one, or began */
    bool requested;    /* by the user: at the next barrier */
    bool writing;      /* an earlier snapshot is not yet committed */
    struct policy_costs costs;
    /* The term began from a snapshot of a barrier: no early one is needed. */
    bool restored;
    uint64_t superstep_ns;       /* recent mean duration of supersteps; 0: unknown, or short */
    bool known;                  /* the result of estimate_model ... */
    struct interval_model model; /* ... and its model of the present job */
};

enum policy_answer {
    POLICY_GO,
    POLICY_SNAPSHOT,
    POLICY_WAIT, /* a snapshot is due, but the one before must be committed first */
};

/* The decision at this barrier.  AUTO and TIME, and with `skips` any rule, skip a snapshot because
 * the previous one is still being written: processes that waited for that would compute less the
 * shorter the interval is.  With `skips` requests wait for a later barrier, too. */
enum policy_answer policy_decide(const struct policy_rule *rule, const struct policy_facts *facts);

/* The interval between two snapshots: POLICY_NEVER, 0, or that of the rule.  AUTO: interval_best,
 * with a bound at least the interval that keeps snapshots within the overhead; while the rate of
 * failures is unknown, the latter. */
uint64_t policy_interval_ns(const struct policy_rule *rule, const struct policy_facts *facts);

/* Whether the rate of failures is known, by facts.known or the time between failures in the costs;
 * and the model that AUTO uses. */
bool policy_knows(const struct policy_facts *facts);
struct interval_model policy_model(const struct policy_facts *facts);

/* The total cost of a snapshot to the processes. */
uint64_t policy_cost_ns(const struct policy_costs *costs);

/* The first number of completed supersteps, from `next` on, at whose barrier a decision is wanted
 * by SUPERSTEPS; POLICY_NEVER for rules by time. */
uint64_t policy_next(const struct policy_rule *rule, uint64_t next);

/* How long to wait after so many consecutive failed snapshots, at least 1: doubles each time, up to
 * a minute. */
uint64_t policy_retry_ns(uint32_t failures);

/* The time until a snapshot is due: 0 now, POLICY_NEVER for rules not by time, and for those that
 * skip while one is being written.  A timer of this length, with a decision at the first barrier
 * after it, gives the nearer of the two barriers around the interval: AUTO is due half a superstep
 * (superstep_ns) before it.  With a bound set by the user, AUTO also considers the costs so far:
 * after the first snapshot of a term none is due that would exceed the overhead since the beginning
 * of the term.  The default overhead need not be earned beforehand: the first failure may come
 * soon. */
uint64_t policy_due_ns(const struct policy_rule *rule, const struct policy_facts *facts);

#endif
