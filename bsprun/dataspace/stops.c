/* stops.c - see stops.h. */
#include "bsprun/dataspace/stops.h"

#include <stdlib.h>
#include <string.h>

#include "bsprun/dataspace/service.h"

struct stop {
    struct stop *next; /* of a later superstep */
    struct stops_one one;
    enum { STOP_ASKED, STOP_ANSWERED, STOP_SET } state;
    uint64_t requests[];
};

struct stops {
    struct dataspace *space;
    uint32_t nprocs;
    const struct stops_calls *calls;
    void *context;
    struct stop *first;
    const struct stop *due; /* the first, while processes are in its superstep; NULL: none is */
    struct stop *newest;    /* a copy of the newest that was set; NULL: none was */
};

struct stops *stops_open(struct dataspace *space, uint32_t nprocs, const struct stops_calls *calls,
                         void *context)
{
    struct stops *stops = malloc(sizeof *stops);

    if (stops)
        *stops =
            (struct stops){.space = space, .nprocs = nprocs, .calls = calls, .context = context};
    return stops;
}

static void drop_first(struct stops *stops)
{
    struct stop *first = stops->first;

    stops->first = first->next;
    free(first);
}

void stops_close(struct stops *stops)
{
    if (!stops)
        return;
    while (stops->first)
        drop_first(stops);
    free(stops->newest);
    free(stops);
}

uint64_t stops_present(const struct stops *stops)
{
    uint64_t most = 0, superstep;
    bool any = false;

    for (uint32_t pid = 0; pid < stops->nprocs; pid++) {
        if (!stops->calls->where(stops->context, pid, &superstep))
            continue;
        any = true;
        most = superstep > most ? superstep : most;
    }
    return any ? most : UINT64_MAX;
}

/* ---- The first of them ----------------------------------------------------------------------- */

static const struct stop *due_in(const struct stops *stops, uint64_t present)
{
    return stops->first && stops->first->one.superstep <= present ? stops->first : NULL;
}

static void apply(struct stops *stops, const struct stop *due)
{
    stops->due = due;
    if (due && due->state == STOP_SET) {
        stops->calls->stop(stops->context, &due->one);
        dataspace_halt_at(stops->space, due->requests);
    } else if (due) {
        dataspace_halt(stops->space);
    } else {
        dataspace_halt_over(stops->space);
    }
}

void stops_passed(struct stops *stops)
{
    uint64_t present = stops_present(stops);
    const struct stop *due = stops->due;

    while (stops->first && stops->first->one.superstep < present)
        drop_first(stops);
    if (due != due_in(stops, present))
        apply(stops, due_in(stops, present));
}

/* If it concerns the superstep in which the processes are. */
static void apply_if_due(struct stops *stops, const struct stop *stop)
{
    if (stop == due_in(stops, stops_present(stops)))
        apply(stops, stop);
}

/* ---- Processor Zero -------------------------------------------------------------------------- */

static struct stop *make(const struct stops *stops, uint64_t superstep)
{
    struct stop *stop = calloc(1, sizeof *stop + stops->nprocs * sizeof *stop->requests);

    if (stop)
        stop->one = (struct stops_one){.superstep = superstep, .requests = stop->requests};
    return stop;
}

static struct stop *find(struct stops *stops, uint64_t superstep)
{
    struct stop **at = &stops->first, *stop;

    while (*at && (*at)->one.superstep < superstep)
        at = &(*at)->next;
    if (*at && (*at)->one.superstep == superstep)
        return *at;
    stop = make(stops, superstep);
    if (!stop)
        return NULL;
    stop->next = *at;
    *at = stop;
    return stop;
}

static void fill(const struct stops *stops, struct stop *stop, const struct stops_one *at)
{
    memcpy(stop->requests, at->requests, stops->nprocs * sizeof *at->requests);
    stop->one.superstep = at->superstep;
    stop->one.round = at->round;
    stop->state = STOP_SET;
}

bool stops_ask(struct stops *stops, uint64_t superstep, uint64_t round)
{
    struct stop *stop;

    stops_passed(stops);
    stop = find(stops, superstep);
    if (!stop)
        return false;
    stop->one.round = round;
    stop->state = STOP_ASKED;
    apply_if_due(stops, stop);
    return true;
}

/* That all go on, as the end is decided, is said again by whoever is Processor Zero: it must not
 * take the place of the last stop, which a host may lack that is behind it. */
static bool note_newest(struct stops *stops, const struct stops_one *at)
{
    if (at->requests[0] == UINT64_MAX)
        return true;
    if (!stops->newest)
        stops->newest = make(stops, at->superstep);
    if (!stops->newest)
        return false;
    fill(stops, stops->newest, at);
    return true;
}

bool stops_set(struct stops *stops, const struct stops_one *at)
{
    struct stop *stop;

    stops_passed(stops);
    if (!note_newest(stops, at))
        return false;
    if (at->superstep < stops_present(stops))
        return true;
    stop = find(stops, at->superstep);
    if (!stop)
        return false;
    fill(stops, stop, at);
    apply_if_due(stops, stop);
    return true;
}

const struct stops_one *stops_answer(struct stops *stops)
{
    uint64_t present = stops_present(stops);
    struct stop *stop = stops->first;

    while (stop && (stop->state != STOP_ASKED ||
                    (present >= stop->one.superstep && !dataspace_halted(stops->space))))
        stop = stop->next;
    if (!stop)
        return NULL;
    stop->state = STOP_ANSWERED;
    for (uint32_t pid = 0; pid < stops->nprocs; pid++)
        stop->requests[pid] = dataspace_reached(stops->space, pid);
    return &stop->one;
}

const struct stops_one *stops_newest(const struct stops *stops)
{
    return stops->newest ? &stops->newest->one : NULL;
}

bool stops_awaited(const struct stops *stops, uint64_t decided, uint64_t *superstep)
{
    if (!stops->newest || stops->newest->one.superstep < decided)
        return false;
    *superstep = stops->newest->one.superstep;
    return true;
}
