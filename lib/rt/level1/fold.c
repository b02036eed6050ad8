/* bsp_fold and bsp_scan: either all processes get all items in one superstep and combine them, or
 * partial results are combined in about log p supersteps, whichever is cheaper by the cost model.
 * Operators need not commute: the left operand always stems from the lower processes.
 */
#include <string.h>

#include "include/bsp_level1.h"
#include "lib/rt/costs.h"
#include "lib/rt/level1/collective.h"

/* A running result.  It moves between two buffers, because an operator's result must not overlap
 * its operands. */
struct partial {
    const struct bspz_operator *op;
    int n;
    unsigned char *value;
    unsigned char *spare;
};

static void combine(struct partial *partial, void *left, void *right)
{
    unsigned char *result = partial->spare;
    int n = partial->n; /* a copy, as the operator may write to it */

    if (partial->op->by_reference != NULL)
        partial->op->by_reference(result, left, right, &n);
    else
        partial->op->by_value(result, left, right, n);
    partial->spare = partial->value;
    partial->value = result;
}

/* partial = left o partial, partial = partial o right. */
static void combine_left(struct partial *partial, void *left)
{
    combine(partial, left, partial->value);
}

static void combine_right(struct partial *partial, void *right)
{
    combine(partial, partial->value, right);
}

/* Work memory of the logarithmic algorithms: what arrives, and the partial result's buffers. */
struct exchange {
    struct bspz_work work;
    void *incoming;
    struct partial partial;
};

static struct exchange exchange_open(struct bspz_collective *call, const struct bspz_operator *op,
                                     const void *src)
{
    /* Buffers begin at multiples of 16. */
    ptrdiff_t step = (call->n + 15) & ~(ptrdiff_t)15;
    struct exchange exchange;

    exchange.work = bspz_work_open(call, 3, 3 * 15);
    exchange.incoming = exchange.work.bytes;
    exchange.partial.op = op;
    exchange.partial.n = (int)call->n;
    exchange.partial.value = exchange.work.bytes + step;
    exchange.partial.spare = exchange.work.bytes + 2 * step;
    memcpy(exchange.partial.value, src, (size_t)call->n);
    return exchange;
}

static void send_partial(const struct bspz_collective *call, const struct exchange *exchange,
                         int pid)
{
    bsp_put_cpp(pid, exchange->partial.value, exchange->work.registered, exchange->work.offset,
                call->n, call->line, call->file);
}

static void exchange_close(const struct bspz_collective *call, struct exchange *exchange, void *dst)
{
    memcpy(dst, exchange->partial.value, (size_t)call->n);
    bspz_work_close(call, &exchange->work);
}

static int floor_power_of_two(int p)
{
    int power = 1;

    while (power <= p / 2)
        power *= 2;
    return power;
}

/* Exchanges between partners whose numbers differ in one bit, which requires a power of two.  So of
 * the first 2*extra processes each even one sends its item to the odd one on its right and gets the
 * result back at the end.  All partial results are of consecutive processes, so that the order is
 * preserved. */
static void fold_by_halves(struct bspz_collective *call, const struct bspz_operator *op,
                           const void *src, void *dst)
{
    int p = bsp_nprocs(), me = bsp_pid();
    int power = floor_power_of_two(p), extra = p - power;
    bool paired = me < 2 * extra;
    bool idle = paired && me % 2 == 0;
    int rank = paired ? me / 2 : me - extra;
    struct exchange exchange = exchange_open(call, op, src);

    if (extra > 0) {
        if (idle)
            send_partial(call, &exchange, me + 1);
        bspz_collective_sync(call);
        if (paired && !idle)
            combine_left(&exchange.partial, exchange.incoming);
    }
    for (int bit = 1; bit < power; bit *= 2) {
        int partner = rank ^ bit;
        if (!idle)
            send_partial(call, &exchange, partner < extra ? 2 * partner + 1 : partner + extra);
        bspz_collective_sync(call);
        if (idle)
            continue;
        if (partner < rank)
            combine_left(&exchange.partial, exchange.incoming);
        else
            combine_right(&exchange.partial, exchange.incoming);
    }
    if (extra > 0) {
        if (paired && !idle)
            send_partial(call, &exchange, me - 1);
        bspz_collective_sync(call);
        if (idle)
            memcpy(exchange.partial.value, exchange.incoming, (size_t)call->n);
    }
    exchange_close(call, &exchange, dst);
}

/* After the step of distance d, a process holds the result of its 2*d nearest lower ones. */
static void scan_by_doubling(struct bspz_collective *call, const struct bspz_operator *op,
                             const void *src, void *dst)
{
    int p = bsp_nprocs(), me = bsp_pid();
    struct exchange exchange = exchange_open(call, op, src);

    for (int distance = 1; distance < p; distance *= 2) {
        if (me + distance < p)
            send_partial(call, &exchange, me + distance);
        bspz_collective_sync(call);
        if (me - distance >= 0)
            combine_left(&exchange.partial, exchange.incoming);
    }
    exchange_close(call, &exchange, dst);
}

/* Gets all items and combines the first `terms` from left to right. */
static void combine_all(struct bspz_collective *call, const struct bspz_operator *op, int terms,
                        const void *src, void *dst)
{
    int p = bsp_nprocs();
    struct bspz_work work = bspz_work_open(call, p + 2, 0);
    struct partial partial = {
        .op = op,
        .n = (int)call->n,
        .value = work.bytes + p * call->n,
        .spare = work.bytes + (p + 1) * call->n,
    };

    bspz_collect(call, &work, src);
    memcpy(partial.value, work.bytes, (size_t)call->n);
    for (int i = 1; i < terms; i++)
        combine_right(&partial, work.bytes + i * call->n);
    memcpy(dst, partial.value, (size_t)call->n);
    bspz_work_close(call, &work);
}

static bool in_steps(const struct bspz_collective *call, int steps)
{
    return bspz_cost_in_steps(bspz_agreed_params(), bsp_nprocs(), steps, call->n);
}

/* Nothing to combine; the processes only agree on that. */
static bool nothing(struct bspz_collective *call)
{
    if (call->n > 0)
        return false;
    bspz_collective_sync(call);
    return true;
}

void bspz_fold(struct bspz_collective *call, const struct bspz_operator *op, const void *src,
               void *dst)
{
    int p = bsp_nprocs();

    if (nothing(call))
        return;
    if (in_steps(call, bspz_cost_fold_steps(p)))
        fold_by_halves(call, op, src, dst);
    else
        combine_all(call, op, p, src, dst);
}

void bspz_scan(struct bspz_collective *call, const struct bspz_operator *op, const void *src,
               void *dst)
{
    if (nothing(call))
        return;
    if (in_steps(call, bspz_cost_scan_steps(bsp_nprocs())))
        scan_by_doubling(call, op, src, dst);
    else
        combine_all(call, op, bsp_pid() + 1, src, dst);
}

static void begin(const struct bspz_collective *call, bsp_operator_t op, const void *src, void *dst)
{
    bspz_collective_begin(call);
    bspz_collective_int(call);
    bspz_collective_operator(call, op != NULL);
    bspz_collective_pointer(call, "src", src);
    bspz_collective_pointer(call, "dst", dst);
}

void bsp_fold_cpp(bsp_operator_t op, const void *src, void *dst, ptrdiff_t nbytes, int line,
                  const char *file)
{
    struct bspz_collective call = {BSPZ_COLLECTIVE(bsp_fold), .root = BSPZ_NO_ROOT, .n = nbytes,
                                   .line = line, .file = file};

    begin(&call, op, src, dst);
    bspz_fold(&call, &(struct bspz_operator){.by_reference = op}, src, dst);
    bspz_collective_end();
}

void bsp_scan_cpp(bsp_operator_t op, const void *src, void *dst, ptrdiff_t nbytes, int line,
                  const char *file)
{
    struct bspz_collective call = {BSPZ_COLLECTIVE(bsp_scan), .root = BSPZ_NO_ROOT, .n = nbytes,
                                   .line = line, .file = file};

    begin(&call, op, src, dst);
    bspz_scan(&call, &(struct bspz_operator){.by_reference = op}, src, dst);
    bspz_collective_end();
}
