/* observed.c - what Processor Zero of a simulated job observes; see observed.h. */
#include "tools/bspsim/observed.h"

#include <math.h>

#define NS 1e9

void observed_begin(struct observed *observed, const struct observed_prior *prior)
{
    *observed = (struct observed){0};
    if (prior->mean_life > 0)
        estimate_prior(&observed->estimate, ESTIMATE_HOST, prior->mean_life, prior->lives);
}

/* Counts the time of hosts, which includes restores. */
static void watch(struct observed *observed, uint64_t now_ns)
{
    if (now_ns > observed->watched_ns)
        estimate_watch(&observed->estimate, observed->units,
                       (double)(now_ns - observed->watched_ns) / NS);
    observed->watched_ns = now_ns;
}

void observed_hosts(struct observed *observed, uint32_t hosts, uint64_t now_ns)
{
    watch(observed, now_ns);
    observed->units = (struct estimate_units){.hosts = hosts, .processes = hosts};
}

void observed_failure(struct observed *observed, uint64_t now_ns)
{
    watch(observed, now_ns);
    estimate_failed(&observed->estimate, ESTIMATE_HOST);
}

void observed_restore(struct observed *observed, uint64_t took_ns)
{
    estimate_take(&observed->estimate.restores[ESTIMATE_HOST], (double)took_ns / NS);
    observed->costs.restore_ns = took_ns;
}

void observed_term(struct observed *observed)
{
    observed->counted = 0;
    observed->spent_ns = 0;
}

void observed_pause(struct observed *observed, uint64_t pause_ns)
{
    observed->costs.pause_ns = pause_ns;
    observed->spent_ns += pause_ns;
}

void observed_commit(struct observed *observed, uint64_t delay_ns)
{
    observed->counted++;
    observed->costs.commit_ns = observed->costs.pause_ns + delay_ns;
    estimate_take(&observed->estimate.snapshot, (double)observed->costs.pause_ns / NS);
    estimate_take(&observed->estimate.delay, (double)delay_ns / NS);
}

void observed_facts(struct observed *observed, struct policy_facts *facts)
{
    watch(observed, facts->now_ns);
    facts->counted = observed->counted;
    facts->spent_ns = observed->spent_ns;
    facts->costs = observed->costs;
    facts->known = estimate_model(&observed->estimate, observed->units, &facts->model);
}

void observed_compare(struct observed *observed, const struct policy_facts *facts, double rate)
{
    if (!facts->known || !(facts->model.rate > 0) || !(rate > 0))
        return;
    double ratio = log(facts->model.rate / rate);
    observed->error.sum += ratio;
    observed->error.squares += ratio * ratio;
    observed->error.count++;
}

void observed_error_add(struct observed_error *sum, const struct observed_error *error)
{
    sum->sum += error->sum;
    sum->squares += error->squares;
    sum->count += error->count;
}

void observed_error_tell(const struct observed_error *error, double *mean, double *spread)
{
    double count = error->count > 0 ? (double)error->count : 1;
    double middle = error->sum / count, square = error->squares / count - middle * middle;
    *mean = exp(middle);
    *spread = exp(sqrt(square > 0 ? square : 0));
}
