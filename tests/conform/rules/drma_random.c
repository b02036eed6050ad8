/* DRMA: hundreds of supersteps of random puts and gets, overlapping at will, against a model of the
 * rules that every process computes for the whole machine.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

enum { AREAS = 3, SIZE = 400, MAX_P = 7, OPS = 40, ROUNDS = 150 };

/* The machine as it should be: memory[pid][area], and the get buffers. */
static unsigned char memory[MAX_P][AREAS][SIZE], before[MAX_P][AREAS][SIZE];
static unsigned char fetch[MAX_P][SIZE];
/* The machine as it is. */
static unsigned char area[AREAS][SIZE], fetched[SIZE];

static unsigned long long state;

static int below(int bound)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((state >> 33) % (unsigned)bound);
}

typedef struct {
    int caller, is_get, other, which, offset, length, local;
    unsigned char data[SIZE];
} operation;

static operation operations[MAX_P * OPS];

static void draw(operation *op, int caller, int p)
{
    op->caller = caller;
    op->is_get = below(3) == 0;
    op->other = below(p);
    op->which = below(AREAS);
    op->length = below(4) ? 1 + below(12) : 1 + below(SIZE);
    op->offset = below(SIZE - op->length + 1);
    op->local = below(SIZE - op->length + 1);
    for (int i = 0; i < op->length; i++)
        op->data[i] = (unsigned char)below(256);
}

static void issue(const operation *op)
{
    if (op->is_get)
        bsp_get(op->other, area[op->which], op->offset, fetched + op->local, op->length);
    else
        bsp_put(op->other, op->data, area[op->which], op->offset, op->length);
}

/* Gets see the state before; their results land in the order of issue, then puts do. */
static void model(int count)
{
    memcpy(before, memory, sizeof memory);
    for (int k = 0; k < count; k++) {
        operation *op = &operations[k];

        if (op->is_get)
            memcpy(fetch[op->caller] + op->local, before[op->other][op->which] + op->offset,
                   (size_t)op->length);
    }
    for (int k = 0; k < count; k++) {
        operation *op = &operations[k];

        if (!op->is_get)
            memcpy(memory[op->other][op->which] + op->offset, op->data, (size_t)op->length);
    }
}

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid();

    state = 12345;
    for (int a = 0; a < AREAS; a++)
        bsp_push_reg(area[a], SIZE);
    bsp_sync();
    for (int round = 0; round < ROUNDS; round++) {
        int count = 0;

        for (int caller = 0; caller < p; caller++)
            for (int k = below(OPS); k > 0; k--)
                draw(&operations[count++], caller, p);
        for (int k = 0; k < count; k++)
            if (operations[k].caller == me)
                issue(&operations[k]);
        model(count);
        bsp_sync();
        CHECK(memcmp(area, memory[me], sizeof area) == 0);
        CHECK(memcmp(fetched, fetch[me], sizeof fetched) == 0);
    }
    conform_done();
    bsp_end();
    return 0;
}
