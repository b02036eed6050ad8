/* run.c - see run.h. */
#include "tools/bspprof/run.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"

/* ---- The greatest of many ------------------------------------------------------------------- */

typedef uint64_t key_of(const struct run_superstep *item);

static uint64_t by_cost(const struct run_superstep *item)
{
    return item->computing + item->communicating;
}

static uint64_t by_waiting(const struct run_superstep *item)
{
    return item->waiting;
}

static void swap(struct run_superstep *a, struct run_superstep *b)
{
    struct run_superstep kept = *a;
    *a = *b;
    *b = kept;
}

static void sink(struct run_top *top, key_of *key)
{
    for (uint32_t i = 0;;) {
        uint32_t least = i, left = 2 * i + 1;
        for (uint32_t child = left; child < left + 2 && child < top->count; child++)
            if (key(&top->items[child]) < key(&top->items[least]))
                least = child;
        if (least == i)
            return;
        swap(&top->items[i], &top->items[least]);
        i = least;
    }
}

static void offer(struct run_top *top, key_of *key, const struct run_superstep *item)
{
    if (top->count == RUN_TOP) {
        if (key(item) > key(&top->items[0])) {
            top->items[0] = *item;
            sink(top, key);
        }
        return;
    }
    uint32_t i = top->count++;
    top->items[i] = *item;
    for (; i > 0 && key(&top->items[i]) < key(&top->items[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&top->items[i], &top->items[(i - 1) / 2]);
}

static int by_number(const void *a, const void *b)
{
    const struct run_superstep *first = a, *second = b;
    return first->number < second->number ? -1 : first->number > second->number;
}

uint32_t run_single(const struct run *run, struct run_superstep *items)
{
    uint32_t all = run->costliest.count + run->uneven.count, count = 0;
    memcpy(items, run->costliest.items, run->costliest.count * sizeof(*items));
    memcpy(items + run->costliest.count, run->uneven.items, run->uneven.count * sizeof(*items));
    qsort(items, all, sizeof(*items), by_number);
    for (uint32_t i = 0; i < all; i++)
        if (count == 0 || items[count - 1].number != items[i].number)
            items[count++] = items[i];
    return count;
}

/* ---- Reading -------------------------------------------------------------------------------- */

static bool in_section(const struct run *run, const struct profile_superstep *step)
{
    return step->end_ns > run->section.from &&
           step->start_ns - step->computing_ns < run->section.to;
}

static bool add(struct run *run)
{
    const struct profile *profile = &run->file.profile;
    const struct profile_superstep *step = &profile->step;
    uint64_t number = profile->supersteps - 1, h = strata_h(profile->traffic, profile->ranks);
    uint64_t bytes = 0;
    if (!BSPZ_REACH(run->statements, run->statement_room, step->statement + (size_t)1))
        return false;
    for (uint32_t rank = 0; rank < profile->ranks; rank++) {
        run->ranks[rank].in += profile->traffic[rank].in;
        run->ranks[rank].out += profile->traffic[rank].out;
        bytes += profile->traffic[rank].out;
    }
    strata_add(&run->strata, number, step, profile->traffic, h);
    run->newest = (struct run_superstep){.number = number,
                                         .start = step->start_ns - step->computing_ns,
                                         .computing = step->computing_ns,
                                         .communicating = step->end_ns - step->start_ns,
                                         .h = h,
                                         .bytes = bytes,
                                         .statement = step->statement};
    return true;
}

/* What process waited in the mean cannot be more than the time there was. */
static void add_spread(struct run *run)
{
    const struct profile_spread *spread = &run->file.profile.spread;
    uint64_t waiting = spread->most - spread->mean;
    run->newest.waiting = waiting < run->newest.computing ? waiting : run->newest.computing;
    strata_waited(&run->strata, run->newest.waiting);
}

/* Everything is known of the newest superstep. */
static bool conclude(struct run *run, const struct run_calls *calls, char error[PROFILE_ERROR])
{
    const struct run_superstep *one = &run->newest;
    struct run_statement *statement = &run->statements[one->statement];
    struct strata_sums sums = {1,      one->computing, one->waiting, one->communicating,
                               one->h, one->bytes};
    strata_sum(&run->all, &sums);
    strata_sum(&statement->sums, &sums);
    if (by_cost(one) > statement->longest)
        statement->longest = by_cost(one);
    offer(&run->costliest, by_cost, one);
    if (one->waiting > 0)
        offer(&run->uneven, by_waiting, one);
    return !calls->superstep || calls->superstep(calls->context, one, error);
}

static void add_mark(struct run *run)
{
    const struct profile_mark *mark = &run->file.profile.mark;
    if (mark->at_ns < run->section.from || mark->at_ns > run->section.to)
        return;
    if (run->mark_count < RUN_MARKS)
        run->marks[run->mark_count] = *mark;
    run->mark_count++;
}

static bool read_all(struct run *run, const struct run_calls *calls, char error[PROFILE_ERROR])
{
    bool open = false; /* the newest superstep is not concluded */
    for (;;) {
        enum profile_event event = profile_next(&run->file, error);
        if (event == PROFILE_SPREAD && open)
            add_spread(run);
        if (event == PROFILE_MARK)
            add_mark(run);
        if (event == PROFILE_STACK && !calls->stack(calls->context, &run->file.stack, error))
            return false;
        if (event != PROFILE_SUPERSTEP && event != PROFILE_END && event != PROFILE_WRONG)
            continue;
        if (open && !conclude(run, calls, error))
            return false;
        if (event != PROFILE_SUPERSTEP)
            return event == PROFILE_END;
        open = in_section(run, &run->file.profile.step);
        if (open && !add(run)) {
            snprintf(error, PROFILE_ERROR, "out of memory");
            return false;
        }
    }
}

bool run_read(const char *name, struct run_section section, const struct run_calls *calls,
              struct run *run, char error[PROFILE_ERROR])
{
    memset(run, 0, sizeof(*run));
    run->name = name;
    run->section = section;
    if (!profile_open(name, &run->file, error))
        return false;
    run->file.stacks = calls->stack != NULL;
    run->ranks = calloc(run->file.profile.ranks, sizeof(*run->ranks));
    if (!run->ranks || !strata_begin(&run->strata, run->file.profile.ranks)) {
        snprintf(error, PROFILE_ERROR, "out of memory");
        return false;
    }
    if (!read_all(run, calls, error))
        return false;
    if (!BSPZ_REACH(run->statements, run->statement_room, run->file.profile.statement_count)) {
        snprintf(error, PROFILE_ERROR, "out of memory");
        return false;
    }
    if (run->all.supersteps > 0 || run->file.profile.supersteps == 0)
        return true;
    snprintf(error, PROFILE_ERROR,
             "%.200s: no superstep from %.9f s to %.9f s: the profile ends at %.9f s", name,
             (double)section.from / 1e9, (double)section.to / 1e9,
             (double)run->file.profile.total_ns / 1e9);
    return false;
}

void run_free(struct run *run)
{
    profile_close(&run->file);
    strata_free(&run->strata);
    free(run->statements);
    free(run->ranks);
    run->statements = NULL;
    run->ranks = NULL;
    run->statement_room = 0;
}
