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
    bool member;
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

/* A mark that not all hosts have sent. */
struct order_mark {
    struct coord_name name;
    bool *sent; /* by each host */
};

struct order_marks { /* the oldest first */
    struct order_mark *items;
    uint32_t count;
};

struct order {
    struct order_calls calls;
    void *context;
    struct spool *spool;
    struct order_host *hosts;
    uint32_t host_count;
    struct order_marks marks;
    struct order_stage *stages;
    uint32_t stage_count, stage_room;
    struct order_stage
        *held; /* of the term before, until it is known from where this one goes on */
    uint32_t held_count;
    struct order_marks held_marks;
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

static void forget_mark(struct order_marks *marks, uint32_t index)
{
    free(marks->items[index].sent);
    marks->count--;
    memmove(&marks->items[index], &marks->items[index + 1],
            (marks->count - index) * sizeof *marks->items);
}

static void forget_marks(struct order_marks *marks)
{
    while (marks->count > 0)
        forget_mark(marks, marks->count - 1);
    free(marks->items);
    marks->items = NULL;
}

static void forget_held(struct order *order)
{
    for (uint32_t i = 0; i < order->held_count; i++)
        spool_clear(order->spool, &order->held[i].log, 0);
    free(order->held);
    order->held = NULL;
    order->held_count = 0;
    forget_marks(&order->held_marks);
}

void order_free(struct order *order)
{
    if (!order)
        return;
    forget(order, order->stage_count);
    forget_held(order);
    forget_marks(&order->marks);
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
    const struct order_mark *mark = order->marks.items;

    return order->marks.count > 0 && mark->name.superstep < stage ? mark->name.superstep : stage;
}

/* Whether all have sent the oldest mark, or (never) one has gone on without. */
static bool first_mark_is_over(const struct order *order, bool *never)
{
    const struct order_mark *mark = order->marks.items;
    bool complete = true;

    *never = false;
    for (uint32_t i = 0; i < order->host_count; i++) {
        const struct order_host *host = &order->hosts[i];

        if (!host->member || mark->sent[i])
            continue;
        complete = false;
        if (host->stage > mark->name.superstep + 1)
            *never = true;
    }
    return complete || *never;
}

static void advance(struct order *order)
{
    bool never;

    for (;;) {
        while (order->stage_count > 0 && order->stages[0].stage <= limit(order))
            show_first(order);
        if (order->marks.count == 0 || !first_mark_is_over(order, &never))
            return;
        struct coord_name name = order->marks.items[0].name;

        forget_mark(&order->marks, 0);
        if (!never)
            order->calls.marked(order->context, name);
    }
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
    if (order->held_count > 0 || order->held_marks.count > 0) {
        forget(order, order->stage_count);
        forget_marks(&order->marks);
        return;
    }
    free(order->held);
    free(order->held_marks.items);
    order->held = order->stages;
    order->held_count = order->stage_count;
    order->held_marks = order->marks;
    order->marks = (struct order_marks){0};
    order->stages = NULL;
    order->stage_count = order->stage_room = 0;
}

void order_begin(struct order *order)
{
    hold(order);
    memset(order->hosts, 0, order->host_count * sizeof *order->hosts);
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

/* What is held up to the end of a superstep, from *next on. */
static void show_held(struct order *order, uint64_t superstep, uint32_t *next)
{
    while (*next < order->held_count && order->held[*next].stage <= superstep)
        show(order, &order->held[(*next)++]);
}

void order_from(struct order *order, struct coord_name name)
{
    const struct order_marks *marks = &order->held_marks;
    uint32_t next = 0;

    for (uint32_t i = 0; i < marks->count && marks->items[i].name.superstep <= name.superstep;
         i++) {
        show_held(order, marks->items[i].name.superstep, &next);
        order->calls.marked(order->context, marks->items[i].name);
    }
    show_held(order, name.superstep, &next);
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

/* The mark's place, made if need be; NULL: no memory. */
static struct order_mark *find_mark(struct order *order, struct coord_name name)
{
    struct order_marks *marks = &order->marks;
    uint32_t at = marks->count;

    while (at > 0 && marks->items[at - 1].name.superstep > name.superstep)
        at--;
    if (at > 0 && coord_name_same(marks->items[at - 1].name, name))
        return &marks->items[at - 1];
    bool *sent = calloc(order->host_count, sizeof *sent);
    struct order_mark *more =
        sent ? realloc(marks->items, (marks->count + 1) * sizeof *more) : NULL;

    if (!more) {
        free(sent);
        return NULL;
    }
    memmove(more + at + 1, more + at, (marks->count - at) * sizeof *more);
    more[at] = (struct order_mark){name, sent};
    marks->items = more;
    marks->count++;
    return &more[at];
}

void order_mark(struct order *order, uint32_t host, struct coord_name name)
{
    struct order_mark *mark = find_mark(order, name);

    if (mark)
        mark->sent[host] = true;
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
    if (stage <= lowest(order) && order->marks.count > 0)
        asked = order->marks.items[0].name.superstep + 1;
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
