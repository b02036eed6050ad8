/* order.c - shows output of several hosts superstep by superstep; see order.h.
 *
 * The stage of a piece is 0 before bsp_begin and s + 1 in superstep s.  Each host has a stage, too:
 * the lowest of which it may still send output.
 */
#include "bsprun/launcher/order.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"

#define PIECE 8192u
#define NEVER UINT64_MAX

struct order_host {
    bool member;
    uint64_t stage;
    uint32_t lead;        /* the host whose processes it has, too: replicas; else itself */
    uint64_t first_stage; /* of a lead: the newest stage of all these hosts */
};

/* The waiting output of one stage: pieces, each with its head. */
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
    struct bspz_snapshot_name name;
    bool *sent; /* by each host */
};

/* The waiting output of one term, oldest first. */
struct order_waiting {
    struct order_stage *stages;
    uint32_t count;
    struct order_mark *marks;
    uint32_t mark_count;
};

struct order {
    struct order_calls calls;
    void *context;
    struct spool *spool;
    struct order_host *hosts;
    uint32_t host_count;
    struct order_waiting present;
    struct order_waiting held; /* of the previous term, until the snapshot of this one is known */
    uint64_t asked;            /* superstep + 1 */
    uint64_t over;             /* supersteps + 1 of the newest mark of this term that is over */
};

static void forget_hosts(struct order *order)
{
    for (uint32_t i = 0; i < order->host_count; i++)
        order->hosts[i] = (struct order_host){.lead = i};
}

struct order *order_new(uint32_t hosts, struct spool *spool, const struct order_calls *calls,
                        void *context)
{
    struct order *order = calloc(1, sizeof *order);

    if (!order)
        return NULL;
    *order = (struct order){.calls = *calls,
                            .context = context,
                            .spool = spool,
                            .hosts = calloc(hosts, sizeof *order->hosts),
                            .host_count = hosts};
    if (order->hosts) {
        forget_hosts(order);
        return order;
    }
    free(order);
    return NULL;
}

static void forget_mark(struct order_waiting *waiting)
{
    free(waiting->marks[0].sent);
    waiting->mark_count--;
    memmove(waiting->marks, waiting->marks + 1, waiting->mark_count * sizeof *waiting->marks);
}

static void forget(struct order *order, struct order_waiting *waiting)
{
    for (uint32_t i = 0; i < waiting->count; i++)
        spool_clear(order->spool, &waiting->stages[i].log, 0);
    while (waiting->mark_count > 0)
        forget_mark(waiting);
    free(waiting->stages);
    free(waiting->marks);
    *waiting = (struct order_waiting){0};
}

void order_free(struct order *order)
{
    if (!order)
        return;
    forget(order, &order->present);
    forget(order, &order->held);
    free(order->hosts);
    free(order);
}

/* ---- What waits ---- */

static struct order_stage *find_stage(struct order_waiting *waiting, uint64_t stage)
{
    uint32_t at = waiting->count;

    while (at > 0 && waiting->stages[at - 1].stage > stage)
        at--;
    if (at > 0 && waiting->stages[at - 1].stage == stage)
        return &waiting->stages[at - 1];
    if (!BSPZ_GROW(waiting->stages, waiting->count))
        return NULL;
    memmove(waiting->stages + at + 1, waiting->stages + at,
            (waiting->count - at) * sizeof *waiting->stages);
    waiting->count++;
    waiting->stages[at] = (struct order_stage){.stage = stage};
    return &waiting->stages[at];
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

/* Shows the stages up to that one.  Each is removed before it is shown, as showing it may end the
 * job, which flushes the rest from within. */
static void show_until(struct order *order, struct order_waiting *waiting, uint64_t stage)
{
    while (waiting->count > 0 && waiting->stages[0].stage <= stage) {
        struct order_stage first = waiting->stages[0];

        waiting->count--;
        memmove(waiting->stages, waiting->stages + 1, waiting->count * sizeof *waiting->stages);
        show(order, &first);
        spool_clear(order->spool, &first.log, 0);
    }
}

/* ---- What may be shown ---- */

/* Of the processes of that host. */
static uint64_t stage_of(const struct order *order, uint32_t host)
{
    return order->hosts[order->hosts[host].lead].first_stage;
}

static uint64_t lowest(const struct order *order)
{
    uint64_t stage = NEVER;

    for (uint32_t i = 0; i < order->host_count; i++)
        if (order->hosts[i].member && stage_of(order, i) < stage)
            stage = stage_of(order, i);
    return stage;
}

/* The newest stage after which no older output can arrive. */
static uint64_t limit(const struct order *order)
{
    uint64_t stage = lowest(order);
    const struct order_mark *mark = order->present.marks;

    return order->present.mark_count > 0 && mark->name.superstep < stage ? mark->name.superstep
                                                                         : stage;
}

/* Whether all replicas of the host's processes have passed the mark: one will not send it any more.
 */
static bool have_passed(const struct order *order, uint32_t lead, const struct order_mark *mark)
{
    for (uint32_t i = 0; i < order->host_count; i++)
        if (order->hosts[i].member && order->hosts[i].lead == lead &&
            order->hosts[i].stage <= mark->name.superstep + 1)
            return false;
    return true;
}

/* Whether all have sent the oldest mark, of replicas one, or (never) one has passed it without. */
static bool first_mark_is_over(const struct order *order, bool *never)
{
    const struct order_mark *mark = order->present.marks;
    bool complete = true;

    *never = false;
    for (uint32_t i = 0; i < order->host_count; i++) {
        const struct order_host *host = &order->hosts[i];

        if (!host->member || mark->sent[host->lead])
            continue;
        complete = false;
        if (host->stage > mark->name.superstep + 1 && have_passed(order, host->lead, mark))
            *never = true;
    }
    return complete || *never;
}

static void advance(struct order *order)
{
    bool never;

    for (;;) {
        show_until(order, &order->present, limit(order));
        if (order->present.mark_count == 0 || !first_mark_is_over(order, &never))
            return;
        struct bspz_snapshot_name name = order->present.marks[0].name;

        forget_mark(&order->present);
        order->over = name.superstep + 1;
        if (!never)
            order->calls.marked(order->context, name);
    }
}

static void reach(struct order *order, uint32_t index, uint64_t stage)
{
    struct order_host *host = &order->hosts[index], *lead = &order->hosts[host->lead];

    if (stage > host->stage)
        host->stage = stage;
    if (host->stage > lead->first_stage)
        lead->first_stage = host->stage;
}

/* ---- Events ---- */

/* Holds the waiting output; that of a term that has not begun is dropped. */
static void hold(struct order *order)
{
    if (order->held.count > 0 || order->held.mark_count > 0) {
        forget(order, &order->present);
        return;
    }
    forget(order, &order->held);
    order->held = order->present;
    order->present = (struct order_waiting){0};
}

void order_begin(struct order *order)
{
    hold(order);
    forget_hosts(order);
    order->asked = order->over = 0;
}

void order_join(struct order *order, uint32_t host)
{
    order->hosts[host].member = true;
}

void order_replica(struct order *order, uint32_t host, uint32_t lead)
{
    order->hosts[host].lead = lead;
    reach(order, host, order->hosts[host].stage);
    for (uint32_t i = 0; i < order->present.mark_count; i++)
        order->present.marks[i].sent[lead] |= order->present.marks[i].sent[host];
    advance(order);
}

void order_leave(struct order *order, uint32_t host)
{
    order->hosts[host].member = false;
    advance(order);
}

bool order_lose(struct order *order, uint32_t host)
{
    uint32_t lead = order->hosts[host].lead;

    for (uint32_t i = 0; i < order->host_count; i++)
        if (i != host && order->hosts[i].member && order->hosts[i].lead == lead) {
            order_leave(order, host);
            return true;
        }
    return false;
}

void order_from(struct order *order, struct bspz_snapshot_name name)
{
    struct order_waiting *held = &order->held;

    for (uint32_t i = 0; i < held->mark_count && held->marks[i].name.superstep <= name.superstep;
         i++) {
        show_until(order, held, held->marks[i].name.superstep);
        order->calls.marked(order->context, held->marks[i].name);
    }
    show_until(order, held, name.superstep);
    forget(order, held);
    for (uint32_t i = 0; i < order->host_count; i++)
        reach(order, i, name.superstep + 1);
    advance(order);
}

static void keep(struct order *order, uint64_t stage, const struct piece_head *head,
                 const char *data)
{
    struct order_stage *place = find_stage(&order->present, stage);
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
    const struct order_host *from = &order->hosts[host];
    const struct piece_head head = {pid, stream, size};
    uint64_t stage = from->stage == 0 && superstep == 0 ? 0 : superstep + 1;

    if (stage < from->stage)
        stage = from->stage; /* it follows the output of that stage */
    reach(order, host, stage);
    advance(order);
    if (stage <= limit(order))
        order->calls.show(order->context, pid, stream, data, size);
    else
        keep(order, stage, &head, data);
}

/* Finds or makes the mark; NULL: no memory. */
static struct order_mark *find_mark(struct order *order, struct bspz_snapshot_name name)
{
    struct order_waiting *waiting = &order->present;
    uint32_t at = waiting->mark_count;

    while (at > 0 && waiting->marks[at - 1].name.superstep > name.superstep)
        at--;
    if (at > 0 && bspz_snapshot_same(waiting->marks[at - 1].name, name))
        return &waiting->marks[at - 1];
    bool *sent = calloc(order->host_count, sizeof *sent);
    if (!sent || !BSPZ_GROW(waiting->marks, waiting->mark_count)) {
        free(sent);
        return NULL;
    }
    struct order_mark *mark = &waiting->marks[at];

    memmove(mark + 1, mark, (waiting->mark_count - at) * sizeof *mark);
    *mark = (struct order_mark){name, sent};
    waiting->mark_count++;
    return mark;
}

void order_mark(struct order *order, uint32_t host, struct bspz_snapshot_name name)
{
    /* That of another replica has come before. */
    struct order_mark *mark = name.superstep < order->over ? NULL : find_mark(order, name);

    if (mark)
        mark->sent[order->hosts[host].lead] = true;
    reach(order, host, name.superstep + 1);
    advance(order);
}

void order_passed(struct order *order, uint32_t host, uint64_t superstep)
{
    reach(order, host, superstep + 2);
    advance(order);
}

bool order_asks(struct order *order, uint64_t *superstep)
{
    const struct order_waiting *waiting = &order->present;
    uint64_t stage = waiting->count > 0 ? waiting->stages[0].stage : 0, asked;

    if (stage == 0)
        return false;
    asked = stage > 1 ? stage - 1 : 1; /* stage 1 begins with the marks of snapshot 0, else then */
    if (stage <= lowest(order) && waiting->mark_count > 0)
        asked = waiting->marks[0].name.superstep + 1;
    if (asked <= order->asked)
        return false;
    order->asked = asked;
    *superstep = asked - 1;
    return true;
}

void order_flush(struct order *order)
{
    show_until(order, &order->held, NEVER);
    forget(order, &order->held);
    show_until(order, &order->present, NEVER);
}
