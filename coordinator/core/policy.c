/* policy.c - when to take a snapshot. */
#include "coordinator/core/policy.h"

#define RETRY_FIRST_NS UINT64_C(250000000)
#define RETRY_MOST_NS  UINT64_C(60000000000)

static uint64_t whole(double ns)
{
    return !(ns > 0) ? 0 : ns >= 9e18 ? POLICY_NEVER : (uint64_t)ns;
}

uint64_t policy_cost_ns(const struct policy_costs *costs)
{
    return whole((double)costs->pause_ns + (double)costs->busy_ns + (double)costs->copied_ns);
}

bool policy_knows(const struct policy_facts *facts)
{
    return facts->known || facts->costs.between_failures_ns > 0;
}

/* Whether the bound on the overhead applies. */
static bool is_bound(const struct policy_rule *rule, const struct policy_facts *facts)
{
    return rule->bounded || !policy_knows(facts);
}

struct interval_model policy_model(const struct policy_facts *facts)
{
    const struct policy_costs *costs = &facts->costs;
    uint64_t delay = costs->commit_ns > costs->pause_ns ? costs->commit_ns - costs->pause_ns : 0;

    if (facts->known)
        return facts->model;
    return (struct interval_model){
        .rate = costs->between_failures_ns > 0 ? 1e9 / (double)costs->between_failures_ns : 0,
        .cost = (double)policy_cost_ns(costs) / 1e9,
        .restore = (double)costs->restore_ns / 1e9,
        .delay = (double)delay / 1e9,
    };
}

/* The least interval that keeps snapshots within the overhead. */
static uint64_t bound_ns(const struct policy_rule *rule, const struct policy_facts *facts)
{
    double cost = (double)policy_cost_ns(&facts->costs);

    if (rule->overhead >= 1 || cost == 0)
        return 0;
    return rule->overhead > 0 ? whole(cost * (1 - rule->overhead) / rule->overhead) : POLICY_NEVER;
}

static uint64_t optimum_ns(const struct policy_facts *facts)
{
    struct interval_model model = policy_model(facts);

    return policy_knows(facts) ? whole(interval_best(&model) * 1e9) : 0;
}

uint64_t policy_interval_ns(const struct policy_rule *rule, const struct policy_facts *facts)
{
    if (rule->kind == POLICY_TIME)
        return rule->every;
    if (rule->kind != POLICY_AUTO)
        return POLICY_NEVER;
    uint64_t bound = is_bound(rule, facts) ? bound_ns(rule, facts) : 0;
    uint64_t optimum = optimum_ns(facts);
    return optimum > bound ? optimum : bound;
}

uint64_t policy_next(const struct policy_rule *rule, uint64_t next)
{
    if (rule->kind != POLICY_SUPERSTEPS || rule->every == 0)
        return POLICY_NEVER;
    uint64_t past = next % rule->every;
    uint64_t ahead = past > 0 ? rule->every - past : 0;
    return ahead < POLICY_NEVER - next ? next + ahead : POLICY_NEVER;
}

static uint64_t left_ns(uint64_t now_ns, uint64_t from_ns, uint64_t interval_ns)
{
    uint64_t past = now_ns > from_ns ? now_ns - from_ns : 0;
    if (interval_ns == POLICY_NEVER)
        return POLICY_NEVER;
    return past < interval_ns ? interval_ns - past : 0;
}

/* The expected cost of the next snapshot.  The first is taken when the program has hardly begun,
 * often with next to nothing to save: the second may cost far more. */
static double expected_ns(const struct policy_facts *facts)
{
    double cost = (double)policy_cost_ns(&facts->costs);
    return facts->counted < 2 ? 2 * cost : cost;
}

/* The time until the overhead permits another snapshot. */
static uint64_t affordable_ns(const struct policy_rule *rule, const struct policy_facts *facts)
{
    double wanted = (double)facts->spent_ns + expected_ns(facts);
    if (rule->overhead >= 1)
        return 0;
    uint64_t needed = rule->overhead > 0 ? whole(wanted / rule->overhead) : POLICY_NEVER;
    return left_ns(facts->now_ns, facts->begun_ns, needed);
}

/* The interval is useful time, without the costs of a snapshot after its resume.  Due half a
 * superstep early, since the next barrier is then the nearer one. */
static uint64_t optimum_left_ns(const struct policy_facts *facts)
{
    struct interval_model model = policy_model(facts);
    uint64_t interval = facts->taken ? optimum_ns(facts) : whole(interval_first(&model) * 1e9);
    uint64_t half = facts->superstep_ns / 2;
    double slowed = (double)facts->costs.busy_ns + (double)facts->costs.copied_ns;

    if (interval == POLICY_NEVER)
        return POLICY_NEVER;
    double length = (double)interval + (facts->counted > 0 ? slowed : 0);
    uint64_t whole_length = whole(length);
    return left_ns(facts->now_ns, facts->last_ns, whole_length > half ? whole_length - half : 0);
}

static uint64_t auto_due_ns(const struct policy_rule *rule, const struct policy_facts *facts)
{
    uint64_t due = policy_knows(facts) ? optimum_left_ns(facts) : 0;

    if (!is_bound(rule, facts))
        return due;
    uint64_t bound = left_ns(facts->now_ns, facts->last_ns, bound_ns(rule, facts));
    uint64_t affordable = rule->bounded ? affordable_ns(rule, facts) : 0;
    due = bound > due ? bound : due;
    return affordable > due ? affordable : due;
}

static bool skips(const struct policy_rule *rule)
{
    return rule->skips || rule->kind != POLICY_SUPERSTEPS;
}

uint64_t policy_due_ns(const struct policy_rule *rule, const struct policy_facts *facts)
{
    uint64_t due = POLICY_NEVER;
    uint64_t retry = facts->retry_ns > facts->now_ns ? facts->retry_ns - facts->now_ns : 0;

    if (skips(rule) && facts->writing)
        return POLICY_NEVER;
    if (rule->kind == POLICY_AUTO && !facts->taken && !facts->restored)
        due = 0;
    else if (rule->kind == POLICY_AUTO)
        due = auto_due_ns(rule, facts);
    else
        due = left_ns(facts->now_ns, facts->last_ns, policy_interval_ns(rule, facts));
    return due > retry ? due : retry;
}

uint64_t policy_retry_ns(uint32_t failures)
{
    uint64_t wait = RETRY_FIRST_NS;
    for (; failures > 1 && wait < RETRY_MOST_NS; failures--)
        wait *= 2;
    return wait < RETRY_MOST_NS ? wait : RETRY_MOST_NS;
}

enum policy_answer policy_decide(const struct policy_rule *rule, const struct policy_facts *facts)
{
    bool due =
        policy_next(rule, facts->superstep) == facts->superstep || policy_due_ns(rule, facts) == 0;
    due = due && facts->retry_ns <= facts->now_ns;
    if (!due && !facts->requested)
        return POLICY_GO;
    if (!facts->writing)
        return POLICY_SNAPSHOT;
    return rule->skips || (skips(rule) && !facts->requested) ? POLICY_GO : POLICY_WAIT;
}
