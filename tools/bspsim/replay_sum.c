/* replay_sum.c - the sums of a replay, pure; see replay.h. */
#include <stdlib.h>
#include <string.h>

#include "tools/bspsim/replay.h"

static bool have_statement(struct replay *replay, uint32_t statement)
{
    uint32_t count = replay->statement_count;
    if (statement < count)
        return true;
    struct replay_statement *more =
        realloc(replay->statements, ((size_t)statement + 1) * sizeof(*more));
    if (!more)
        return false;
    memset(more + count, 0, (statement + 1 - count) * sizeof(*more));
    replay->statements = more;
    replay->statement_count = statement + 1;
    return true;
}

static void add_to(struct replay_statement *sum, bool is_superstep,
                   const struct replay_measured *measured, const struct machine_parts *predicted)
{
    sum->supersteps += is_superstep;
    sum->measured.computing += measured->computing;
    sum->measured.communicating += measured->communicating;
    sum->predicted.computing += predicted->computing;
    sum->predicted.communicating += predicted->communicating;
    sum->predicted.synchronising += predicted->synchronising;
    sum->predicted.waiting += predicted->waiting;
}

static double h_of(const struct traffic *traffic, uint32_t ranks)
{
    uint64_t h = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        h = traffic[rank].in > h ? traffic[rank].in : h;
        h = traffic[rank].out > h ? traffic[rank].out : h;
    }
    return (double)h;
}

bool replay_add(struct replay *replay, const struct profile_superstep *step,
                const struct traffic *traffic, uint32_t ranks,
                const struct replay_measured *measured, const struct machine_parts *predicted)
{
    add_to(&replay->all, step != NULL, measured, predicted);
    if (!step)
        return true;
    if (!have_statement(replay, step->statement))
        return false;
    add_to(&replay->statements[step->statement], true, measured, predicted);
    replay->h += h_of(traffic, ranks);
    return true;
}

void replay_sums_free(struct replay *replay)
{
    free(replay->statements);
    *replay = (struct replay){0};
}

double replay_measured_total(const struct replay_statement *statement)
{
    return statement->measured.computing + statement->measured.communicating;
}

double replay_predicted_total(const struct replay_statement *statement)
{
    return statement->predicted.computing + statement->predicted.communicating +
           statement->predicted.synchronising;
}

double replay_model(const struct replay *replay, const struct machine_facts *facts)
{
    return replay->all.predicted.computing + facts->g * replay->h +
           facts->l * (double)replay->all.supersteps;
}

uint32_t replay_costliest(const struct replay *replay, uint32_t *numbers, uint32_t most)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < replay->statement_count; i++) {
        double total = replay_predicted_total(&replay->statements[i]);
        uint32_t place = count;
        if (replay->statements[i].supersteps == 0)
            continue;
        while (place > 0 && total > replay_predicted_total(&replay->statements[numbers[place - 1]]))
            place--;
        if (place == most)
            continue;
        count += count < most;
        memmove(&numbers[place + 1], &numbers[place], (count - 1 - place) * sizeof(*numbers));
        numbers[place] = i;
    }
    return count;
}
