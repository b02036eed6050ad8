/* gate.c - see gate.h. */
#include "bsprun/agent/core/gate.h"

#include <stdlib.h>

struct early {
    struct early *next; /* decided later */
    struct decided decided;
};

struct gate {
    const struct gate_calls *calls;
    void *context;
    uint64_t consulted;        /* newest consultation passed on ... */
    enum wire_barrier barrier; /* ... if there was any */
    uint64_t held_at;    /* the barrier at which processes wait until RESUME says whether it is
                            to be decided; 0: none */
    struct early *first; /* barriers that processes here have not come to yet */
};

struct gate *gate_open(const struct gate_calls *calls, void *context)
{
    struct gate *gate = calloc(1, sizeof *gate);

    if (gate)
        *gate = (struct gate){.calls = calls, .context = context, .barrier = WIRE_BARRIER_SYNC};
    return gate;
}

void gate_close(struct gate *gate)
{
    if (!gate)
        return;
    gate_forget(gate);
    free(gate);
}

uint64_t gate_consulted(const struct gate *gate)
{
    return gate->consulted;
}

void gate_consult(struct gate *gate, uint64_t consulted, enum wire_barrier barrier)
{
    gate->consulted = consulted;
    gate->barrier = barrier;
}

bool gate_end_reported(const struct gate *gate)
{
    return gate->barrier == WIRE_BARRIER_END;
}

static void answer(struct gate *gate, const struct decided *decided)
{
    gate->calls->answer(gate->context, decided);
}

static bool keep(struct gate *gate, const struct decided *decided)
{
    struct early **last = &gate->first, *entry;

    while (*last)
        last = &(*last)->next;
    entry = malloc(sizeof *entry);
    if (!entry)
        return false;
    *entry = (struct early){NULL, *decided};
    *last = entry;
    return true;
}

/* ---- Past a snapshot of others ---- */

bool gate_go_ahead(struct gate *gate, uint64_t superstep)
{
    const struct decided decided = {
        .superstep = superstep, .consult = superstep + 1, .snapshot = true};

    if (!gate_add(gate, &decided))
        return false;
    gate->held_at = superstep + 1;
    return true;
}

bool gate_holds(const struct gate *gate, uint64_t superstep)
{
    return gate->held_at > 0 && gate->held_at == superstep;
}

/* The barrier before the one at which they would be held; NULL: they have passed it. */
static struct decided *find_before(struct gate *gate)
{
    for (struct early *entry = gate->first; entry; entry = entry->next)
        if (entry->decided.superstep + 1 == gate->held_at)
            return &entry->decided;
    return NULL;
}

/* It is known now which barrier is decided next.  That of bsp_end always is. */
static void let_on(struct gate *gate, uint64_t consult)
{
    const struct decided decided = {.superstep = gate->held_at, .consult = consult};
    bool waits = gate->consulted == decided.superstep + 1;
    struct decided *before = find_before(gate);

    gate->held_at = 0;
    if (waits && (consult == decided.superstep || gate_end_reported(gate)))
        gate->consulted--; /* the next scan reports them */
    else if (waits)
        answer(gate, &decided);
    else if (before)
        before->consult = consult;
    else
        gate->calls->consult(gate->context, consult);
}

bool gate_ask_again(struct gate *gate, uint64_t *superstep)
{
    struct early **link = &gate->first;

    if (gate->held_at == 0)
        return false;
    *superstep = gate->held_at - 1;
    while (*link && (*link)->decided.superstep != *superstep)
        link = &(*link)->next;
    struct early *queued = *link;
    if (!queued)
        return true;
    *link = queued->next;
    free(queued);
    gate->held_at = 0;
    return false;
}

bool gate_unasked(struct gate *gate, uint64_t superstep)
{
    const struct decided decided = {.superstep = superstep,
                                    .consult = gate->calls->consults(gate->context)};

    if (gate->barrier != WIRE_BARRIER_SYNC || superstep >= decided.consult)
        return false;
    answer(gate, &decided);
    return true;
}

/* ---- What was decided ---- */

bool gate_add(struct gate *gate, const struct decided *decided)
{
    if (gate_holds(gate, decided->superstep + 1)) {
        let_on(gate, decided->consult);
        return true;
    }
    if (decided->superstep + 1 == gate->consulted) {
        answer(gate, decided);
        return true;
    }
    if (decided->superstep + 1 < gate->consulted)
        return true; /* came late: they have passed it, as another message said */
    return keep(gate, decided);
}

bool gate_take(struct gate *gate, uint64_t superstep)
{
    struct early *first = gate->first;

    if (!first || first->decided.superstep != superstep)
        return false;
    gate->first = first->next;
    answer(gate, &first->decided);
    free(first);
    return true;
}

void gate_forget(struct gate *gate)
{
    gate->consulted = gate->held_at = 0;
    gate->barrier = WIRE_BARRIER_SYNC;
    while (gate->first) {
        struct early *first = gate->first;

        gate->first = first->next;
        free(first);
    }
}
