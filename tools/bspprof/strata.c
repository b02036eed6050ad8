/* strata.c - see strata.h. */
#include "tools/bspprof/strata.h"

#include <stdlib.h>
#include <string.h>

bool strata_begin(struct strata *strata, uint32_t ranks)
{
    *strata = (struct strata){.ranks = ranks, .per = 1};
    strata->bands = ranks < STRATA_BANDS ? ranks : STRATA_BANDS;
    strata->steps = malloc(STRATA_STEPS * sizeof(*strata->steps));
    return strata->steps != NULL;
}

void strata_free(struct strata *strata)
{
    free(strata->steps);
    *strata = (struct strata){0};
}

uint32_t strata_band(const struct strata *strata, uint32_t band)
{
    return (uint32_t)((uint64_t)strata->ranks * band / strata->bands);
}

uint64_t strata_h(const struct traffic *traffic, uint32_t ranks)
{
    uint64_t most = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        uint64_t one = traffic[rank].in > traffic[rank].out ? traffic[rank].in : traffic[rank].out;
        most = one > most ? one : most;
    }
    return (most + 3) / 4;
}

void strata_sum(struct strata_sums *sums, const struct strata_sums *part)
{
    sums->supersteps += part->supersteps;
    sums->computing += part->computing;
    sums->waiting += part->waiting;
    sums->communicating += part->communicating;
    sums->h += part->h;
    sums->bytes += part->bytes;
}

static void merge(struct strata_step *into, const struct strata_step *from, uint32_t bands)
{
    strata_sum(&into->sums, &from->sums);
    into->end = from->end;
    into->h_most = from->h_most > into->h_most ? from->h_most : into->h_most;
    if (from->costliest_took > into->costliest_took) {
        into->costliest_took = from->costliest_took;
        into->costliest = from->costliest;
        into->statement = from->statement;
    }
    for (uint32_t band = 0; band < bands; band++) {
        into->in[band] += from->in[band];
        into->out[band] += from->out[band];
    }
}

/* Each two steps become one. */
static void halve(struct strata *strata)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < strata->count; i += 2) {
        if (count != i)
            strata->steps[count] = strata->steps[i];
        if (i + 1 < strata->count)
            merge(&strata->steps[count], &strata->steps[i + 1], strata->bands);
        count++;
    }
    strata->count = count;
    strata->per *= 2;
}

void strata_shrink(struct strata *strata, uint32_t most)
{
    while (strata->count > most)
        halve(strata);
}

/* The step that the next superstep belongs to. */
static struct strata_step *step_for(struct strata *strata, uint64_t number, uint64_t start)
{
    if (strata->count > 0 && strata->steps[strata->count - 1].sums.supersteps < strata->per)
        return &strata->steps[strata->count - 1];
    if (strata->count == STRATA_STEPS)
        halve(strata);
    struct strata_step *step = &strata->steps[strata->count++];
    memset(step, 0, sizeof(*step));
    step->first = step->costliest = number;
    step->start = start;
    return step;
}

void strata_add(struct strata *strata, uint64_t number, const struct profile_superstep *one,
                const struct traffic *traffic, uint64_t h)
{
    struct strata_step *step = step_for(strata, number, one->start_ns - one->computing_ns);
    uint64_t communicating = one->end_ns - one->start_ns, bytes = 0;
    uint32_t rank = 0;
    for (uint32_t band = 0; band < strata->bands; band++) {
        uint32_t end = strata_band(strata, band + 1);
        uint64_t in = 0, out = 0;
        for (; rank < end; rank++) {
            in += traffic[rank].in;
            out += traffic[rank].out;
        }
        step->in[band] += in;
        step->out[band] += out;
        bytes += out;
    }
    strata_sum(&step->sums,
               &(struct strata_sums){1, one->computing_ns, 0, communicating, h, bytes});
    step->end = one->end_ns;
    step->h_most = h > step->h_most ? h : step->h_most;
    if (one->computing_ns + communicating >= step->costliest_took) {
        step->costliest_took = one->computing_ns + communicating;
        step->costliest = number;
        step->statement = one->statement;
    }
}

void strata_waited(struct strata *strata, uint64_t waiting)
{
    strata->spread = true;
    strata->steps[strata->count - 1].sums.waiting += waiting;
}
