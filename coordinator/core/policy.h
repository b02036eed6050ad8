/* policy.h - when to take a snapshot: a pure function of what is known at a barrier.
 *
 * AUTO takes the first one early: at the first barrier of a job.  Then, as long as nothing is known
 * of failures (facts.known is false), it takes as many as the overhead allows.  Once something is
 * known, it takes one when the useful run time since the last one's resume has reached
 * interval_best(facts.model), at the nearer of the two barriers around that; an overhead that the
 * user gave is an upper bound then, one that is assumed means nothing.
 *
 * The edges: one snapshot is written at a time, so an interval is never shorter than a snapshot
 * takes to commit; with supersteps longer than the interval every barrier is taken (unless the one
 * before is still being written); a rate of 0 that is known means never, after the first; a cost of
 * 0 means at every barrier.  A time that does not fit 64 bits of nanoseconds means never.
 *
 * Times in nanoseconds of any clock that does not go back; the model has seconds.
 */
#ifndef COORD_POLICY_H
#define COORD_POLICY_H

#include "coordinator/core/interval.h"

#include <stdbool.h>
#include <stdint.h>

#define POLICY_NEVER UINT64_MAX

enum policy_kind {
    POLICY_OFF,        /* only when asked for */
    POLICY_SUPERSTEPS, /* --every N: after every N supersteps, exactly */
    POLICY_TIME,       /* --every 30s: at the first barrier after that long */
    POLICY_AUTO,       /* as failures and costs ask for; see above */
};

struct policy_rule {
    enum policy_kind kind;
    uint64_t every;  /* supersteps or nanoseconds; at least 1 */
    double overhead; /* AUTO: the share of the time that snapshots may take, between 0 and 1 ... */
    bool bounded; /* ... always, as the user gave it; false: while nothing is known of failures */
};

/* What the last snapshot has been measured to cost, and other measurements; 0: not known yet. */
struct policy_costs {
    uint64_t pause_ns;            /* the processes stood still */
    uint64_t busy_ns;             /* other processes had their cores on its account */
    uint64_t copied_ns;           /* they wrote to pages that copies share, and got new ones */
    uint64_t commit_ns;           /* from the barrier to the commit */
    uint64_t restore_ns;          /* from the start of a term to its processes running again */
    uint64_t changed_bytes;       /* that differed from the snapshot before */
    uint64_t changed_over_ns;     /* ... which was so long ago */
    uint64_t between_failures_ns; /* estimated mean time; counts where facts.known is false */
};

struct policy_facts {
    uint64_t superstep; /* completed, this one included */
    uint64_t now_ns;
    uint64_t begun_ns; /* when the processes began to run */
    uint64_t spent_ns; /* what all snapshots since then have cost them */
    uint64_t retry_ns; /* after one that failed: not before, unless requested */
    bool taken;        /* there has been a snapshot, or an attempt at one, at a barrier */
    uint32_t counted;  /* of those at barriers, how many it is known what they have cost */
    uint64_t last_ns;  /* when the processes went on after it, or began */
    bool requested;    /* by the user: at the next barrier */
    bool writing;      /* an earlier snapshot is not yet committed */
    struct policy_costs costs;
    /* The term goes on from a snapshot of a barrier: none is needed early. */
    bool restored;
    uint64_t superstep_ns;       /* mean duration of supersteps lately; 0: not known, or short */
    bool known;                  /* failures: what estimate_model returned ... */
    struct interval_model model; /* ... and made, of the job as it is now */
};

enum policy_answer {
    POLICY_GO,
    POLICY_SNAPSHOT,
    POLICY_WAIT, /* a snapshot is due, but the one before must be committed first */
};

/* What to do at this barrier.  Only AUTO lets a snapshot go by because the one before is still
 * being written. */
enum policy_answer policy_decide(const struct policy_rule *rule, const struct policy_facts *facts);

/* How long the processes should run between two snapshots: POLICY_NEVER, 0, or what the rule says.
 * AUTO: interval_best, and with a bound at least as long as snapshots need to stay within the
 * overhead; while nothing is known of failures, just that long. */
uint64_t policy_interval_ns(const struct policy_rule *rule, const struct policy_facts *facts);

/* Whether anything is known of failures: facts.known, or an estimated time between them in the
 * costs; and the model that AUTO decides by: facts.model, or what the costs make of it. */
bool policy_knows(const struct policy_facts *facts);
struct interval_model policy_model(const struct policy_facts *facts);

/* What a snapshot costs the processes, all in all. */
uint64_t policy_cost_ns(const struct policy_costs *costs);

/* The first number of completed supersteps, from `next` on, at whose barrier a decision is wanted:
 * known for SUPERSTEPS; POLICY_NEVER for rules that go by time. */
uint64_t policy_next(const struct policy_rule *rule, uint64_t next);

/* How long to wait after so many that have failed one after the other, at least 1: twice as long
 * each time, up to a minute. */
uint64_t policy_retry_ns(uint32_t failures);

/* How long until a snapshot is due by time: 0 now, POLICY_NEVER for rules that do not go by it, and
 * for AUTO while one is being written.  Whoever sets a timer by it, and asks at the first barrier
 * after, gets the nearer of the two barriers around the interval: AUTO is due half a superstep
 * (superstep_ns) before it.  With a bound
 * that was given AUTO counts what has been spent, too: after the first snapshot of a term none is
 * due that would exceed the overhead of the time since its beginning, whatever snapshots turn out
 * to cost.  The overhead that is assumed is not earned beforehand: the first failure may come soon.
 */
uint64_t policy_due_ns(const struct policy_rule *rule, const struct policy_facts *facts);

#endif
