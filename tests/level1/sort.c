/* bsp_sort and its typed variants: process i gets the i-th smallest item; equal items keep the
 * order of their processes; an order that says "not after" instead of "before" works as well.
 */
#include <bsp.h>
#include <bsp_level1.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define ROUNDS 50

/* Few different keys, so that many are equal. */
static int key(int pid, int round)
{
    unsigned state = (unsigned)(pid * 7919 + round * 104729);

    next_number(&state);
    return (int)(next_number(&state) % (round % 2 ? 3 : 1000)) - 1;
}

struct record {
    double key;
    int from;
    char text[4];
};

static int record_before(const struct record *a, const struct record *b, int *n)
{
    CHECK(*n == (int)sizeof(struct record));
    return a->key < b->key;
}

static int record_not_after(const struct record *a, const struct record *b, int *n)
{
    (void)n;
    return a->key <= b->key;
}

/* The process whose item has so many before it: smaller ones, and equal ones of lower processes. */
static int owner_of_rank(int p, int rank, int round)
{
    for (int pid = 0; pid < p; pid++) {
        int before = 0;
        for (int other = 0; other < p; other++)
            before += key(other, round) < key(pid, round) ||
                      (key(other, round) == key(pid, round) && other < pid);
        if (before == rank)
            return pid;
    }
    return -1;
}

static void check_records(int p, int me, int round)
{
    struct record mine = {key(me, round), me, "abc"}, sorted;
    int taken[64] = {0};

    bsp_sort(record_before, &mine, &sorted, sizeof(mine));
    CHECK(sorted.from == owner_of_rank(p, me, round));
    CHECK(sorted.key == key(sorted.from, round));
    CHECK(strcmp(sorted.text, "abc") == 0);
    CHECK(mine.from == me);

    bsp_sort(record_not_after, &mine, &mine, sizeof(mine));
    CHECK(mine.key == sorted.key);
    bsp_push_reg(taken, sizeof(taken));
    bsp_sync();
    for (int pid = 0, one = 1; pid < p; pid++)
        bsp_put(pid, &one, taken, mine.from * (int)sizeof(int), sizeof(int));
    bsp_pop_reg(taken);
    bsp_sync();
    for (int pid = 0; pid < p; pid++)
        CHECK(taken[pid] == 1);
}

enum { LARGE = 100000 };

static int large_before(const int *a, const int *b, int *n)
{
    CHECK(*n == LARGE * (int)sizeof(int));
    return a[LARGE / 2] < b[LARGE / 2];
}

static void check_large_items(int p, int me)
{
    int *item = malloc(LARGE * sizeof(int)), *sorted = malloc(LARGE * sizeof(int));

    for (int i = 0; i < LARGE; i++)
        item[i] = (p - 1 - me) * LARGE + i;
    bsp_sort(large_before, item, sorted, LARGE * sizeof(int));
    for (int i = 0; i < LARGE; i++)
        CHECK(sorted[i] == me * LARGE + i);
    bsp_sort(large_before, item, sorted, 0);
    free(item);
    free(sorted);
}

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid();
    for (int round = 0; round < ROUNDS; round++) {
        int expected = key(owner_of_rank(p, me, round), round);
        check_records(p, me, round);
        CHECK(bsp_sortI(key(me, round)) == expected);
        CHECK(bsp_sortR((float)key(me, round)) == (float)expected);
        CHECK(bsp_sortD(key(me, round) / 8.0) == expected / 8.0);
    }
    CHECK(bsp_sortC((char)('a' + p - me)) == 'a' + me + 1);
    double last = bsp_sortD(me == 0 ? NAN : me); /* what is not a number comes last */
    CHECK(me == p - 1 ? isnan(last) : last == me + 1);
    check_large_items(p, me);
    bsp_end();
    puts("ok");
    return 0;
}
