/* check.c - checks the checks of histories: a few known ones, and random ones, for which the search
 * of linear.h and the zones of zones.h must say the same.
 *
 * Usage: check [SEED].  Without it the seed is the clock's, which is printed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/sim/dataspace/zones.h"

#define NEVER     LINEAR_NEVER
#define HISTORIES 300000u
#define MOST      9u /* operations */
#define MOMENTS   16u

static uint64_t state;

static unsigned pick(unsigned below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((state >> 33) % below);
}

static int check_known(void)
{
    static const struct {
        const char *what;
        bool holds, waits;
        unsigned count;
        struct linear_operation operations[4];
    } histories[] = {
        {"a put, then a get", true, false, 2, {{LINEAR_PUT, 1, 1, 2}, {LINEAR_GET, 1, 3, 4}}},
        {"a get that began first", true, false, 2, {{LINEAR_GET, 1, 1, 4}, {LINEAR_PUT, 1, 2, 3}}},
        {"a get before the put", false, false, 2, {{LINEAR_GET, 1, 1, 2}, {LINEAR_PUT, 1, 3, 4}}},
        {"one object got twice",
         false,
         false,
         3,
         {{LINEAR_PUT, 1, 1, 2}, {LINEAR_GET, 1, 3, 4}, {LINEAR_GET, 1, 3, 5}}},
        {"one object read twice",
         true,
         false,
         3,
         {{LINEAR_PUT, 1, 1, 2}, {LINEAR_READ, 1, 3, 4}, {LINEAR_READ, 1, 3, 5}}},
        {"an object that was overwritten",
         false,
         false,
         3,
         {{LINEAR_PUT, 1, 1, 2}, {LINEAR_PUT, 2, 3, 4}, {LINEAR_READ, 1, 5, 6}}},
        {"a reader that sees the old one after the new one",
         false,
         false,
         4,
         {{LINEAR_PUT, 1, 1, 2},
          {LINEAR_PUT, 2, 3, 9},
          {LINEAR_READ, 2, 4, 5},
          {LINEAR_READ, 1, 6, 7}}},
        {"waiting for an object that is there",
         false,
         true,
         2,
         {{LINEAR_PUT, 1, 1, 2}, {LINEAR_GET, 0, 3, NEVER}}},
        {"waiting for one that another got",
         true,
         true,
         3,
         {{LINEAR_PUT, 1, 1, 4}, {LINEAR_GET, 1, 2, 5}, {LINEAR_GET, 0, 3, NEVER}}},
    };
    int wrong = 0;

    for (size_t i = 0; i < sizeof histories / sizeof *histories; i++) {
        bool searched =
            linear_holds(histories[i].operations, histories[i].count, histories[i].waits);
        bool zoned = zones_hold(histories[i].operations, histories[i].count, histories[i].waits);

        if (searched == histories[i].holds && zoned == histories[i].holds)
            continue;
        printf("%s: should %shold\n", histories[i].what, histories[i].holds ? "" : "not ");
        wrong++;
    }
    return wrong;
}

static unsigned make(struct linear_operation *operations, bool *waits)
{
    unsigned count = 1 + pick(MOST), puts = 0;

    *waits = false;
    for (unsigned i = 0; i < count; i++) {
        struct linear_operation *operation = &operations[i];

        operation->called = 1 + pick(MOMENTS);
        operation->returned = operation->called + pick(MOMENTS / 2);
        operation->kind = (enum linear_kind)pick(3);
        if (pick(12) == 0)
            operation->returned = NEVER;
        if (operation->kind == LINEAR_PUT)
            operation->value = ++puts;
        else
            *waits |= operation->returned == NEVER;
    }
    /* Mostly a value that was put. */
    for (unsigned i = 0; i < count; i++)
        if (operations[i].kind != LINEAR_PUT)
            operations[i].value =
                operations[i].returned == NEVER ? 0 : 1 + pick(puts + (puts == 0 || pick(20) == 0));
    return count;
}

static void show(const struct linear_operation *operations, unsigned count)
{
    static const char *const kinds[] = {
        [LINEAR_PUT] = "put", [LINEAR_GET] = "get", [LINEAR_READ] = "read"};

    for (unsigned i = 0; i < count; i++)
        printf("  %s %u from %llu to %lld\n", kinds[operations[i].kind], operations[i].value,
               (unsigned long long)operations[i].called, (long long)operations[i].returned);
}

static int check_random(void)
{
    unsigned held = 0, made = 0;

    for (; made < HISTORIES; made++) {
        struct linear_operation operations[MOST];
        bool waits, searched, zoned;
        unsigned count = make(operations, &waits);

        searched = linear_holds(operations, count, waits);
        zoned = zones_hold(operations, count, waits);
        held += searched;
        if (searched == zoned)
            continue;
        printf("the search says %d, the zones %d, waits %d:\n", searched, zoned, waits);
        show(operations, count);
        return 1;
    }
    printf("%u histories, of which %u have an order\n", made, held);
    return held < made / 100 || held > made - made / 100;
}

int main(int argc, char **argv)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    state = argc == 2 ? strtoull(argv[1], NULL, 10)
                      : (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    printf("seed %llu\n", (unsigned long long)state);
    return check_known() + check_random() > 0;
}
