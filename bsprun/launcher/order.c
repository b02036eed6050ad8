/* order.c - output of several hosts is shown superstep by superstep; see order.h.
 *
 * The stage of a piece is 0 before bsp_begin and s + 1 in superstep s.  Each host has a stage, too:
 * the lowest that it may still send something of.
 */
#include "bsprun/launcher/order.h"

#include <stdlib.h>
#include <string.h>

#define PIECE 16384u
#define NEVER UINT64_MAX

struct order_host {
    bool member, marked;
    uint64_t stage;
};

/* What waits of one stage: pieces, each with its head. */
struct order_stage {
    uint64_t stage;
    struct spool_log log;
};

struct piece_head {
    int32_t pid, stream;
    uint64_t size;
};

struct order {
    struct order_calls calls;
    void *context;
    struct spool *spool;
    struct order_host *hosts;
    uint32_t host_count;
    bool marking;
    struct coord_name mark; /* that not all hosts have sent */
    struct order_stage *stages;
    uint32_t stage_count, stage_room;
    struct order_stage
        *held; /* of the term before, until it is known from where this one goes on */
    uint32_t held_count;
    bool held_marking;
    struct coord_name held_mark;
    uint64_t asked; /* superstep + 1 */
};

struct order *order_new(uint32_t hosts, size_t memory, const struct order_calls *calls,
                        void *context)
{
    struct order *order = calloc(1, sizeof *order);

    if (!order)
        return NULL;
    order->calls = *calls;
    order->context = context;
    order->host_count = hosts;
    order->hosts = calloc(hosts, sizeof *order->hosts);
    order->spool = spool_new(memory, calls->file, context);
    if (order->hosts && order->spool)
        return order;
    order_free(order);
    return NULL;
}

static void forget(struct order *order, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        spool_clear(order->spool, &order->stages[i].log, 0);
    order->stage_count -= count;
    if (order->stage_count > 0)
        memmove(order->stages, order->stages + count, order->stage_count * sizeof *order->stages);
}

static void forget_held(struct order *order)
{
    for (uint32_t i = 0; i < order->held_count; i++)
        spool_clear(order->spool, &order->held[i].log, 0);
    free(order->held);
    order->held = NULL;
    order->held_count = 0;
    order->held_marking = false;
}

void order_free(struct order *order)
{
    if (!order)
        return;
    forget(order, order->stage_count);
    forget_held(order);
    free(order->stages);
    free(order->hosts);
    spool_free(order->spool);
    free(order);
}

/* ---- What waits ---- */

static struct order_stage *find_stage(struct order *order, uint64_t stage)
{
    uint32_t at = order->stage_count;

    while (at > 0 && order->stages[at - 1].stage > stage)
        at--;
    if (at > 0 && order->stages[at - 1].stage == stage)
        return &order->stages[at - 1];
    if (order->stage_count == order->stage_room) {
        uint32_t room = order->stage_room ? 2 * order->stage_room : 4;
        struct order_stage *more = realloc(order->stages, room * sizeof *more);

        if (!more)
            return NULL;
        order->stages = more;
        order->stage_room = room;
    }
    memmove(order->stages + at + 1, order->stages + at,
            (order->stage_count - at) * sizeof *order->stages);
    order->stage_count++;
    order->stages[at] = (struct order_stage){.stage = stage};
    return &order->stages[at];
}

static int read_all(const struct order *order, const struct order_stage *stage, uint64_t *position,
                    void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        int got =
            spool_read(order->spool, &stage->log, *position, (char *)data + done, size - done);

        if (got < 0)
            return got;
        done += (size_t)got;
        *position += (uint64_t)got;
    }
    return 0;
}

static int show_stage(struct order *order, const struct order_stage *stage)
{
    uint64_t position = stage->log.base;
    struct piece_head head;
    char data[PIECE];

    while (position < stage->log.end) {
        int error = read_all(order, stage, &position, &head, sizeof head);

        while (!error && head.size > 0) {
            size_t size = head.size < sizeof data ? (size_t)head.size : sizeof data;

            error = read_all(order, stage, &position, data, size);
            head.size -= size;
            if (!error)
                order->calls.show(order->context, head.pid, head.stream, data, size);
        }
        if (error)
            return error;
    }
    return 0;
}

static void show(struct order *order, const struct order_stage *stage)
{
    int error = show_stage(order, stage);

    if (error)
        order->calls.lost(order->context, error);
}

static void show_first(struct order *order)
{
    show(order, &order->stages[0]);
    forget(order, 1);
}

/* ---- What may be shown ---- */

static uint64_t lowest(const struct order *order)
{
    uint64_t stage = NEVER;

    for (uint32_t i = 0; i < order->host_count; i++)
        if (order->hosts[i].member && order->hosts[i].stage < stage)
            stage = order->hosts[i].stage;
    return stage;
}

/* The newest stage that nothing older can come behind. */
static uint64_t limit(const struct order *order)
{
    uint64_t stage = lowest(order);

    return order->marking && order->mark.superstep < stage ? order->mark.superstep : stage;
}

/* Whether all have sent the mark; when one never will, there is none any more. */
static bool mark_is_complete(struct order *order)
{
    bool complete = order->marking;

    for (uint32_t i = 0; i < order->host_count && order->marking; i++) {
        const struct order_host *host = &order->hosts[i];

        if (!host->member || host->marked)
            continue;
        complete = false;
        if (host->stage > order->mark.superstep + 1)
            order->marking = false;
    }
    return complete;
}

static void advance(struct order *order)
{
    do {
        while (order->stage_count > 0 && order->stages[0].stage <= limit(order))
            show_first(order);
        if (!mark_is_complete(order))
            continue;
        order->marking = false;
        order->calls.marked(order->context, order->mark);
    } while (order->stage_count > 0 && order->stages[0].stage <= limit(order));
}

static void reach(struct order_host *host, uint64_t stage)
{
    if (stage > host->stage)
        host->stage = stage;
}

/* ---- Events ---- */

/* What a term has brought that has not begun is not held beside what the one before has. */
static void hold(struct order *order)
{
    if (order->held_count > 0 || order->held_marking) {
        forget(order, order->stage_count);
        return;
    }
    order->held = order->stages;
    order->held_count = order->stage_count;
    order->held_marking = order->marking;
    order->held_mark = order->mark;
    order->stages = NULL;
    order->stage_count = order->stage_room = 0;
}

void order_begin(struct order *order)
{
    hold(order);
    memset(order->hosts, 0, order->host_count * sizeof *order->hosts);
    order->marking = false;
    order->asked = 0;
}

void order_join(struct order *order, uint32_t host)
{
    order->hosts[host].member = true;
}

void order_leave(struct order *order, uint32_t host)
{
    order->hosts[host].member = false;
    advance(order);
}

void order_from(struct order *order, struct coord_name name)
{
    for (uint32_t i = 0; i < order->held_count && order->held[i].stage <= name.superstep; i++)
        show(order, &order->held[i]);
    if (order->held_marking && coord_name_same(order->held_mark, name))
        order->calls.marked(order->context, name);
    forget_held(order);
    for (uint32_t i = 0; i < order->host_count; i++)
        reach(&order->hosts[i], name.superstep + 1);
    advance(order);
}

static void keep(struct order *order, uint64_t stage, const struct piece_head *head,
                 const char *data)
{
    struct order_stage *place = find_stage(order, stage);
    int error = -1;

    if (place)
        error = spool_append(order->spool, &place->log, (const char *)head, sizeof *head);
    if (!error)
        error = spool_append(order->spool, &place->log, data, (size_t)head->size);
    if (!error)
        return;
    if (place)
        spool_clear(order->spool, &place->log, 0);
    order->calls.lost(order->context, error);
}

void order_piece(struct order *order, uint32_t host, uint64_t superstep, int pid, int stream,
                 const char *data, size_t size)
{
    struct order_host *from = &order->hosts[host];
    const struct piece_head head = {pid, stream, size};
    uint64_t stage = from->stage == 0 && superstep == 0 ? 0 : superstep + 1;

    if (stage < from->stage)
        stage = from->stage; /* it comes behind what is of that stage */
    reach(from, stage);
    advance(order);
    if (stage <= limit(order))
        order->calls.show(order->context, pid, stream, data, size);
    else
        keep(order, stage, &head, data);
}

void order_mark(struct order *order, uint32_t host, struct coord_name name)
{
    bool same =
        order->marking && order->mark.superstep == name.superstep && order->mark.term == name.term;

    if (!same)
        for (uint32_t i = 0; i < order->host_count; i++)
            order->hosts[i].marked = false;
    order->marking = true;
    order->mark = name;
    order->hosts[host].marked = true;
    reach(&order->hosts[host], name.superstep + 1);
    advance(order);
}

void order_passed(struct order *order, uint32_t host, uint64_t superstep)
{
    reach(&order->hosts[host], superstep + 2);
    advance(order);
}

bool order_asks(struct order *order, uint64_t *superstep)
{
    uint64_t stage = order->stage_count > 0 ? order->stages[0].stage : 0, asked;

    if (stage == 0)
        return false;
    asked = stage > 1 ? stage - 1 : 1; /* stage 1 begins with the marks of snapshot 0, else then */
    if (stage <= lowest(order) && order->marking)
        asked = order->mark.superstep + 1;
    if (asked <= order->asked)
        return false;
    order->asked = asked;
    *superstep = asked - 1;
    return true;
}

void order_flush(struct order *order)
{
    for (uint32_t i = 0; i < order->held_count; i++)
        show(order, &order->held[i]);
    forget_held(order);
    while (order->stage_count > 0)
        show_first(order);
}
