/* policy.c - when to take a snapshot. */
#include "coordinator/core/policy.h"

#include <math.h>

#define PAGE_SIZE    4096.0
#define PAGE_COPY_NS 2500.0 /* a page that is written while a copy of the process shares it */

static uint64_t whole(double ns)
{
    return ns < 0 ? 0 : ns >= 9e18 ? POLICY_NEVER : (uint64_t)ns;
}

uint64_t policy_cost_ns(const struct policy_costs *costs)
{
    double copied = 0;
    if (costs->commit_ns > costs->pause_ns && costs->changed_bytes > 0) {
        double background = (double)(costs->commit_ns - costs->pause_ns);
        double over = (double)costs->changed_over_ns;
        double share = over > background ? background / over : 1;
        copied = (double)costs->changed_bytes * share / PAGE_SIZE * PAGE_COPY_NS;
    }
    return whole((double)costs->pause_ns + copied);
}

uint64_t policy_interval_ns(const struct policy_rule *rule, const struct policy_costs *costs)
{
    if (rule->kind == POLICY_TIME)
        return rule->every;
    if (rule->kind != POLICY_AUTO)
        return POLICY_NEVER;
    double cost = (double)policy_cost_ns(costs);
    double interval = rule->overhead > 0 ? cost * (1 - rule->overhead) / rule->overhead : 9e18;
    if (rule->overhead >= 1 || cost == 0)
        return 0;
    if (costs->between_failures_ns > 0) {
        double optimum = sqrt(2 * cost * (double)costs->between_failures_ns);
        if (optimum < interval)
            interval = optimum > cost ? optimum : cost;
    }
    return whole(interval);
}

uint64_t policy_next(const struct policy_rule *rule, uint64_t next)
{
    if (rule->kind != POLICY_SUPERSTEPS || rule->every == 0)
        return POLICY_NEVER;
    uint64_t past = next % rule->every;
    uint64_t ahead = past > 0 ? rule->every - past : 0;
    return ahead < POLICY_NEVER - next ? next + ahead : POLICY_NEVER;
}

uint64_t policy_due_ns(const struct policy_rule *rule, const struct policy_facts *facts)
{
    if (rule->kind == POLICY_AUTO && !facts->taken)
        return 0;
    uint64_t interval = policy_interval_ns(rule, &facts->costs);
    if (interval == POLICY_NEVER)
        return POLICY_NEVER;
    uint64_t past = facts->now_ns > facts->last_ns ? facts->now_ns - facts->last_ns : 0;
    return past < interval ? interval - past : 0;
}

enum policy_answer policy_decide(const struct policy_rule *rule, const struct policy_facts *facts)
{
    bool due =
        policy_next(rule, facts->superstep) == facts->superstep || policy_due_ns(rule, facts) == 0;
    if (!due && !facts->requested)
        return POLICY_GO;
    if (!facts->writing)
        return POLICY_SNAPSHOT;
    return rule->kind == POLICY_AUTO && !facts->requested ? POLICY_GO : POLICY_WAIT;
}
