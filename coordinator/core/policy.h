/* policy.h - when to take a snapshot: a pure function of what is known at a barrier.
 *
 * Everything that decides is in policy_decide and policy_interval_ns; a better rule replaces their
 * bodies and nothing else.  Times in nanoseconds of any clock that does not go back.
 */
#ifndef COORD_POLICY_H
#define COORD_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#define POLICY_NEVER UINT64_MAX

enum policy_kind {
    POLICY_OFF,        /* only when asked for */
    POLICY_SUPERSTEPS, /* --every N: after every N supersteps, exactly */
    POLICY_TIME,       /* --every 30s: at the first barrier after that long */
    POLICY_AUTO,       /* as often as the overhead allows */
};

struct policy_rule {
    enum policy_kind kind;
    uint64_t every;  /* supersteps or nanoseconds; at least 1 */
    double overhead; /* AUTO: the share of the time that snapshots may take, between 0 and 1 */
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
    uint64_t between_failures_ns; /* estimated mean time */
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
    bool requested;   /* by the user: at the next barrier */
    bool writing;     /* an earlier snapshot is not yet committed */
    struct policy_costs costs;
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
 * AUTO: as long as snapshots need to stay within the overhead; less, where failures come so often
 * that the work they cost would be more (the optimum of Young and Daly). */
uint64_t policy_interval_ns(const struct policy_rule *rule, const struct policy_costs *costs);

/* What a snapshot costs the processes, all in all. */
uint64_t policy_cost_ns(const struct policy_costs *costs);

/* The first number of completed supersteps, from `next` on, at whose barrier a decision is wanted:
 * known for SUPERSTEPS; POLICY_NEVER for rules that go by time. */
uint64_t policy_next(const struct policy_rule *rule, uint64_t next);

/* How long to wait after so many that have failed one after the other, at least 1: twice as long
 * each time, up to a minute. */
uint64_t policy_retry_ns(uint32_t failures);

/* How long until a snapshot is due by time: 0 now, POLICY_NEVER for rules that do not go by it, and
 * for AUTO while one is being written.  AUTO counts what has been spent, too: after the first
 * snapshot of a term none is due that would exceed the overhead of the time since its beginning,
 * whatever snapshots turn out to cost. */
uint64_t policy_due_ns(const struct policy_rule *rule, const struct policy_facts *facts);

#endif
