/* test_linear.c - the search for an order of operations (tests/sim/dataspace/linear.h), which the
 * simulator and space_run trust, against one that tries all orders.
 */
#include <check.h>
#include <stdio.h>
#include <time.h>

#include "tests/sim/dataspace/linear.h"
#include "tests/unit/suite.h"

#define FEW   6
#define CASES 20000

static struct linear_operation operations[LINEAR_MOST];
static unsigned count;
static bool waits;
static uint64_t state;

static unsigned draw(unsigned below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % below;
}

static void swap(unsigned a, unsigned b)
{
    struct linear_operation before = operations[a];

    operations[a] = operations[b];
    operations[b] = before;
}

static void make_some(void)
{
    unsigned puts = 0, span = 2 + draw(15);

    count = 1 + draw(FEW);
    waits = draw(2) == 0;
    for (unsigned i = 0; i < count; i++) {
        bool put = puts == 0 || draw(2) == 0;
        uint64_t called = draw(span);

        operations[i] = (struct linear_operation){
            .kind = put           ? LINEAR_PUT
                    : draw(2) > 0 ? LINEAR_GET
                                  : LINEAR_READ,
            .value = put ? ++puts : 1 + draw(puts + (draw(10) == 0)),
            .called = called,
            .returned = draw(8) == 0 ? LINEAR_NEVER : called + draw(span)};
    }
    for (unsigned i = count - 1; i > 0; i--)
        swap(i, draw(i + 1));
}

/* Whether some order of those from `at` on explains them, where those before leave `value`. */
static bool try_all(unsigned at, uint32_t value)
{
    bool left = false;

    for (unsigned i = at; i < count; i++)
        left = left || operations[i].returned != LINEAR_NEVER;
    if (!left && (!waits || value == 0))
        return true;
    for (unsigned i = at; i < count; i++) {
        const struct linear_operation *first = &operations[i];
        bool possible =
            first->kind == LINEAR_PUT || (first->returned != LINEAR_NEVER && first->value == value);

        for (unsigned other = at; other < count; other++)
            possible = possible && operations[other].returned >= first->called;
        if (!possible)
            continue;
        uint32_t after = first->kind == LINEAR_PUT    ? first->value
                         : first->kind == LINEAR_READ ? value
                                                      : 0;
        swap(at, i);
        possible = try_all(at + 1, after);
        swap(at, i);
        if (possible)
            return true;
    }
    return false;
}

START_TEST(as_when_all_orders_are_tried)
{
    unsigned right = 0;

    state = (uint64_t)time(NULL);
    printf("seed %llu\n", (unsigned long long)state);
    fflush(stdout);
    for (unsigned i = 0; i < CASES; i++) {
        bool holds;

        make_some();
        holds = try_all(0, 0);
        ck_assert_msg(linear_holds(operations, count, waits) == holds, "case %u", i);
        right += holds;
    }
    ck_assert(right > CASES / 10 && right < CASES - CASES / 10);
}
END_TEST

/* All puts at once, each seen meanwhile; afterwards the tag cannot have had both of two objects. */
START_TEST(a_wide_history_takes_no_time)
{
    waits = false;
    count = LINEAR_MOST;
    for (unsigned i = 0; i < count; i++)
        operations[i] = (struct linear_operation){.kind = i % 2 == 1 ? LINEAR_READ : LINEAR_PUT,
                                                  .value = 1 + i / 2,
                                                  .called = 1,
                                                  .returned = 2};
    operations[1].called = operations[1].returned = 3;
    ck_assert(linear_holds(operations, count, waits));
    operations[3].called = operations[3].returned = 4;
    ck_assert(!linear_holds(operations, count, waits));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {as_when_all_orders_are_tried, a_wide_history_takes_no_time};

    return suite_run_tests("linear", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
