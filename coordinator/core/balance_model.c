/* balance_model.c - how long a superstep would take if ranks were on other hosts. */
#include "coordinator/core/balance_model.h"

#include <math.h>
#include <string.h>

#define STEPS        48    /* of the integral over the slowest host's time */
#define LEAST        0.01  /* availability: no host is taken to stand still */
#define HALF_UNIFORM 1.732 /* half the width of a uniform distribution by its deviation */
#define MOST         1e15  /* no measurement of any kind is greater ... */
#define TINY         1e-15 /* ... or less, if not 0 */
#define CHANCE       2.0   /* standard deviations that chance may explain */

double model_clean(double number)
{
    return number >= TINY ? fmin(number, MOST) : 0; /* NaN, too */
}

/* ---- Availability -------------------------------------------------------------------------- */

/* What to expect of a host by its own measurements, and the variance by which chance alone moves
 * that.  The mean of recent and long-term availability, where they differ by more than chance
 * explains; the history, which has more samples, where they do not, and in between where that is
 * uncertain.  False: nothing is known of the host. */
static bool estimate_of(const struct balance_host *host, double *mean, double *noise)
{
    double samples = model_clean(host->samples), few = model_clean(host->recent_samples);
    double history = fmin(model_clean(host->history), 1);
    double recent = fmin(model_clean(host->recent), 1);
    double variance = fmin(model_clean(host->spread), 1), weight = 0;

    if (samples <= 0)
        return false;
    variance *= variance;
    if (few > 0 && recent != history) {
        double chance = CHANCE * CHANCE * variance / few;
        weight = fmax(1 - chance / ((recent - history) * (recent - history)), 0) / 2;
    }
    *mean = history + weight * (recent - history);
    *noise = variance / samples;
    return true;
}

/* The share of a difference between hosts that is believed.  With many hosts some look better than
 * they are by chance: the estimator of James and Stein (1961), in its empirical Bayes form,
 * believes in the share of the variance between them that chance does not explain; in none of it
 * while that variance may well be due to chance. */
static double believed(double between, double noise, uint32_t hosts)
{
    double surprising = noise * (1 + CHANCE * sqrt(2.0 / (hosts - 1)));

    return between > surprising ? 1 - noise / between : 0;
}

static void expect(struct model_host *host, double mean, double spread)
{
    host->mean = fmin(fmax(mean, LEAST), 1);
    double half = fmin(HALF_UNIFORM * spread, fmin(host->mean - LEAST, 1 - host->mean));
    host->low = host->mean - fmax(half, 0);
    host->high = host->mean + fmax(half, 0);
}

static void expect_availability(struct model *model)
{
    const struct balance_facts *facts = model->facts;
    double sum = 0, squares = 0, spreads = 0, noises = 0, mean, noise;
    uint32_t known = 0;

    for (uint32_t i = 0; i < facts->host_count; i++)
        if (estimate_of(&facts->hosts[i], &mean, &noise)) {
            sum += mean;
            noises += noise;
            spreads += fmin(model_clean(facts->hosts[i].spread), 1);
            known++;
        }
    double all = known > 0 ? sum / known : 1, kept = 1;
    for (uint32_t i = 0; i < facts->host_count; i++)
        if (estimate_of(&facts->hosts[i], &mean, &noise))
            squares += (mean - all) * (mean - all);
    if (known > 1 && noises > 0)
        kept = believed(squares / (known - 1), noises / known, known);
    for (uint32_t i = 0; i < facts->host_count; i++)
        if (estimate_of(&facts->hosts[i], &mean, &noise))
            expect(&model->hosts[i], all + kept * (mean - all),
                   fmin(model_clean(facts->hosts[i].spread), 1));
        else
            expect(&model->hosts[i], all, known > 0 ? spreads / known : 0);
}

/* ---- Links --------------------------------------------------------------------------------- */

static struct balance_link link_between(const struct balance_facts *facts, uint32_t from,
                                        uint32_t to)
{
    struct balance_link link;

    if (facts->links != NULL) {
        link = facts->links[(size_t)from * facts->host_count + to];
    } else {
        link = facts->hosts[from].link;
        double other = model_clean(facts->hosts[to].link.bandwidth);
        if (model_clean(link.bandwidth) <= 0 || (other > 0 && other < link.bandwidth))
            link.bandwidth = other;
        link.latency = model_clean(link.latency) + model_clean(facts->hosts[to].link.latency);
    }
    return (struct balance_link){model_clean(link.bandwidth), model_clean(link.latency)};
}

static double seconds_over(struct balance_link link, double bytes)
{
    return link.latency + (link.bandwidth > 0 ? model_clean(bytes) / link.bandwidth : 0);
}

double model_transfer(const struct model *model, uint32_t rank, uint32_t from, uint32_t to)
{
    return seconds_over(link_between(model->facts, from, to), model->facts->ranks[rank].image);
}

/* ---- Placement ----------------------------------------------------------------------------- */

static void link_in(struct model *model, uint32_t rank, uint32_t to)
{
    struct model_rank *moved = &model->ranks[rank];
    struct model_host *host = &model->hosts[to];

    moved->home = to;
    moved->previous = MODEL_NONE;
    moved->next = host->first;
    if (host->first != MODEL_NONE)
        model->ranks[host->first].previous = rank;
    host->first = rank;
    host->count++;
    host->work += moved->work;
    host->heaviest = fmax(host->heaviest, moved->work);
}

static void link_out(struct model *model, uint32_t rank)
{
    struct model_rank *moved = &model->ranks[rank];
    struct model_host *host = &model->hosts[moved->home];

    if (moved->previous != MODEL_NONE)
        model->ranks[moved->previous].next = moved->next;
    else
        host->first = moved->next;
    if (moved->next != MODEL_NONE)
        model->ranks[moved->next].previous = moved->previous;
    host->count--;
    host->work = host->heaviest = 0; /* anew, so that no rounding remains */
    for (uint32_t other = host->first; other != MODEL_NONE; other = model->ranks[other].next) {
        host->work += model->ranks[other].work;
        host->heaviest = fmax(host->heaviest, model->ranks[other].work);
    }
}

/* Adds the time of an entry of traffic to both hosts, or takes it away (sign -1). */
static void count_entry(struct model *model, uint32_t entry, double sign)
{
    const struct balance_traffic *traffic = &model->facts->traffic[entry];
    uint32_t from = model->ranks[traffic->from].home, to = model->ranks[traffic->to].home;

    if (from == to)
        return;
    double seconds = seconds_over(link_between(model->facts, from, to), traffic->bytes);
    model->hosts[from].out += sign * seconds;
    model->hosts[to].in += sign * seconds;
}

static void count_entries(struct model *model, uint32_t rank, double sign)
{
    for (uint32_t i = model->offsets[rank]; i < model->offsets[rank + 1]; i++)
        count_entry(model, model->edges[i], sign);
}

void model_put(struct model *model, uint32_t rank, uint32_t to)
{
    count_entries(model, rank, -1);
    link_out(model, rank);
    link_in(model, rank, to);
    count_entries(model, rank, 1);
}

/* The entries of each rank, by counting; those of a rank with itself are left out. */
static void sort_entries(struct model *model)
{
    const struct balance_facts *facts = model->facts;

    memset(model->offsets, 0, (facts->rank_count + 1) * sizeof(*model->offsets));
    for (size_t i = 0; i < facts->traffic_count; i++)
        if (facts->traffic[i].from != facts->traffic[i].to) {
            model->offsets[facts->traffic[i].from]++;
            model->offsets[facts->traffic[i].to]++;
        }
    for (uint32_t rank = 0; rank < facts->rank_count; rank++)
        model->offsets[rank + 1] += model->offsets[rank];
    /* Each offset is the end of its rank's entries now, and becomes their beginning. */
    for (size_t i = facts->traffic_count; i-- > 0;)
        if (facts->traffic[i].from != facts->traffic[i].to) {
            model->edges[--model->offsets[facts->traffic[i].from]] = (uint32_t)i;
            model->edges[--model->offsets[facts->traffic[i].to]] = (uint32_t)i;
        }
}

void model_fill(struct model *model, const struct balance_facts *facts)
{
    model->facts = facts;
    model->evaluated = facts->host_count;
    for (uint32_t i = 0; i < facts->host_count; i++) {
        const struct balance_host *host = &facts->hosts[i];
        double speed = model_clean(host->speed), cores = model_clean(host->cores);
        model->hosts[i] = (struct model_host){
            .speed = speed, .cores = cores > 0 ? cores : 1, .first = MODEL_NONE};
        model->hosts[i].usable = speed > 0 && !host->leaving;
    }
    expect_availability(model);
    for (uint32_t rank = facts->rank_count; rank-- > 0;) {
        uint32_t home = facts->ranks[rank].home;
        double speed = model->hosts[home].speed;
        model->ranks[rank].work = model_clean(facts->ranks[rank].compute) * (speed > 0 ? speed : 1);
        link_in(model, rank, home);
    }
    sort_entries(model);
    for (size_t i = 0; i < facts->traffic_count; i++)
        if (facts->traffic[i].from != facts->traffic[i].to)
            count_entry(model, (uint32_t)i, 1);
}

/* ---- Times --------------------------------------------------------------------------------- */

static double comp_of(const struct model_host *host, double work, double heaviest,
                      double availability)
{
    double capacity = availability * host->cores;

    if (host->speed <= 0)
        return work > 0 ? work : 0;
    return fmax(heaviest / fmin(1, capacity), work / capacity) / host->speed;
}

static double comm_of(const struct model_host *host)
{
    return fmax(fmax(host->out, host->in), 0);
}

static double time_of(const struct model_host *host, double availability)
{
    return comp_of(host, host->work, host->heaviest, availability) + comm_of(host);
}

struct model_times model_times_at(const struct model *model, uint32_t rank, uint32_t at)
{
    const struct model_host *host = &model->hosts[at];
    const struct model_rank *moved = &model->ranks[rank];
    bool there = moved->home == at;
    struct model_times times = {.comp = comp_of(host, host->work + (there ? 0 : moved->work),
                                                fmax(host->heaviest, moved->work), host->mean)};
    double out = 0, in = 0;

    for (uint32_t i = model->offsets[rank]; i < model->offsets[rank + 1]; i++) {
        const struct balance_traffic *traffic = &model->facts->traffic[model->edges[i]];
        uint32_t other = model->ranks[traffic->from == rank ? traffic->to : traffic->from].home;
        if (other == at)
            continue;
        if (traffic->from == rank)
            out += seconds_over(link_between(model->facts, at, other), traffic->bytes);
        else
            in += seconds_over(link_between(model->facts, other, at), traffic->bytes);
    }
    times.comm = fmax(out, in);
    return times;
}

double model_slow(const struct model *model, uint32_t at)
{
    return time_of(&model->hosts[at], model->hosts[at].low);
}

double model_slow_with(const struct model *model, uint32_t at, uint32_t more)
{
    const struct model_host *host = &model->hosts[at];
    double added = model->ranks[more].work;

    return comp_of(host, host->work + added, fmax(host->heaviest, added), host->low);
}

/* The probability that the host is ready at that time. */
static double ready_by(const struct model_host *host, double time)
{
    double left = (time - comm_of(host)) * (host->speed > 0 ? host->speed : 1);

    if (left <= 0 || host->heaviest > left)
        return 0;
    double needed = host->work / (left * host->cores);
    if (host->high <= host->low)
        return needed <= host->high ? 1 : 0;
    return fmin(fmax((host->high - needed) / (host->high - host->low), 0), 1);
}

double model_superstep(struct model *model)
{
    uint32_t hosts = model->facts->host_count;
    double from = 0, to = 0, product[STEPS], sum = 0;

    for (uint32_t i = 0; i < hosts; i++)
        if (model->hosts[i].count > 0) {
            from = fmax(from, time_of(&model->hosts[i], model->hosts[i].high));
            to = fmax(to, time_of(&model->hosts[i], model->hosts[i].low));
            model->evaluated++;
        }
    if (to <= from * (1 + 1e-12))
        return to;
    double step = (to - from) / STEPS;
    for (int k = 0; k < STEPS; k++)
        product[k] = 1;
    for (uint32_t i = 0; i < hosts; i++) {
        if (model->hosts[i].count == 0 || time_of(&model->hosts[i], model->hosts[i].low) <= from)
            continue;
        model->evaluated += STEPS;
        for (int k = 0; k < STEPS; k++)
            product[k] *= ready_by(&model->hosts[i], from + (k + 0.5) * step);
    }
    for (int k = 0; k < STEPS; k++)
        sum += 1 - product[k];
    return from + sum * step;
}

double model_imbalance(const struct model *model)
{
    double greatest = 0, sum = 0;

    for (uint32_t i = 0; i < model->facts->host_count; i++)
        if (model->hosts[i].count > 0) {
            double time = time_of(&model->hosts[i], model->hosts[i].mean);
            greatest = fmax(greatest, time);
            sum += time * model->hosts[i].count;
        }
    return sum > 0 ? greatest * model->facts->rank_count / sum - 1 : 0;
}
