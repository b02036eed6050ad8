/* lives.c - when hosts are up; see lives.h. */
#include "tools/bspsim/lives.h"

#include <math.h>
#include <stdlib.h>

#define NS 1e9

bool lives_make(const struct lives_law *law, uint32_t count, struct lives *lives)
{
    struct lives_host *hosts = calloc(count, sizeof(*hosts));
    if (!hosts)
        return false;
    *lives = (struct lives){.law = law, .hosts = hosts, .count = count};
    return true;
}

void lives_free(struct lives *lives)
{
    free(lives->hosts);
    *lives = (struct lives){0};
}

static double drawn(const struct lives_law *law, struct chance *chance)
{
    switch (law->kind) {
    case LIVES_WEIBULL:
        return chance_weibull(chance, law->mean, law->shape);
    case LIVES_LOGNORMAL:
        return chance_lognormal(chance, law->mean, law->shape);
    default:
        return chance_exponential(chance, law->mean);
    }
}

/* When a life of that length ends, in seconds: lives elapse by D / ln 2 (2^(t / D) - 1). */
static double ended(const struct lives_law *law, double up, double length)
{
    if (law->doubling == 0)
        return up + length;
    double power = exp2(up / law->doubling) + length * M_LN2 / law->doubling;
    double down = law->doubling * log2(power);
    return isfinite(down) && down > up ? down : up;
}

static uint64_t in_ns(double seconds)
{
    return seconds < 9e9 ? (uint64_t)(seconds * NS) : LIVES_FOR_EVER;
}

static void draw(const struct lives_law *law, struct lives_host *host, uint64_t up_ns)
{
    host->up_ns = up_ns;
    host->down_ns = LIVES_FOR_EVER;
    if (up_ns == LIVES_FOR_EVER || !isfinite(law->mean))
        return;
    host->down_ns = in_ns(ended(law, (double)up_ns / NS, drawn(law, &host->chance)));
    if (host->down_ns <= up_ns)
        host->down_ns = up_ns + 1;
}

static void take_from_trace(const struct trace *trace, struct lives_host *host, uint32_t index)
{
    host->up_ns = host->down_ns = LIVES_FOR_EVER;
    if (host->next == trace->first[index + 1])
        return;
    const struct trace_life *life = &trace->lives[host->next++];
    host->up_ns = life->up_ns;
    host->down_ns = life->down_ns;
}

void lives_begin(struct lives *lives, uint64_t seed, uint64_t job)
{
    const struct lives_law *law = lives->law;
    for (uint32_t i = 0; i < lives->count; i++) {
        struct lives_host *host = &lives->hosts[i];
        if (law->kind == LIVES_TRACE) {
            host->next = law->trace->first[i];
            take_from_trace(law->trace, host, i);
            continue;
        }
        chance_begin(&host->chance, seed, job, i);
        draw(law, host, 0);
    }
}

void lives_next(struct lives *lives, uint32_t index)
{
    const struct lives_law *law = lives->law;
    struct lives_host *host = &lives->hosts[index];
    if (law->kind == LIVES_TRACE)
        take_from_trace(law->trace, host, index);
    else if (host->down_ns < LIVES_FOR_EVER - law->repair_ns)
        draw(law, host, host->down_ns + law->repair_ns);
    else
        draw(law, host, LIVES_FOR_EVER);
}

double lives_rate(const struct lives_law *law, uint64_t now_ns)
{
    if (law->kind != LIVES_EXPONENTIAL)
        return 0;
    return (law->doubling > 0 ? exp2((double)now_ns / NS / law->doubling) : 1) / law->mean;
}
