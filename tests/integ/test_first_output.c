/* test_first_output.c - what replicas write is shown once, whichever is first. */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bsprun/launcher/first_output.h"
#include "tests/unit/suite.h"

#define REPLICAS 3u
#define STREAMS  4u /* of two processes */
#define WRITTEN  5000u

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 20) % below);
}

/* Each replica writes the same, in pieces of its own, some of them not all. */
START_TEST(any_order)
{
    struct first_output *first = NULL;
    static char text[STREAMS][WRITTEN + 1], shown[STREAMS][WRITTEN + 1];
    size_t written[REPLICAS][STREAMS] = {{0}}, used[STREAMS] = {0};

    for (uint32_t stream = 0; stream < STREAMS; stream++)
        for (uint32_t i = 0; i < WRITTEN; i++)
            text[stream][i] = (char)('a' + draw(26));
    for (uint32_t left = 20000; left > 0; left--) {
        uint32_t host = draw(REPLICAS), stream = draw(STREAMS);
        size_t at = written[host][stream], size = draw(40);

        if (host == 1 && left < 15000)
            continue; /* lost */
        if (size > WRITTEN - at)
            size = WRITTEN - at;
        size_t fresh =
            first_output_take(&first, host, (int)(stream / 2), 1 + (int)(stream % 2), size);
        ck_assert_uint_le(fresh, size);
        memcpy(shown[stream] + used[stream], text[stream] + at + size - fresh, fresh);
        used[stream] += fresh;
        written[host][stream] += size;
    }
    for (uint32_t stream = 0; stream < STREAMS; stream++) {
        ck_assert_uint_eq(used[stream], WRITTEN);
        ck_assert_str_eq(shown[stream], text[stream]);
    }
    first_output_begin(&first);
    ck_assert_uint_eq(first_output_take(&first, 0, 0, 1, 7), 7);
    first_output_begin(&first);
}
END_TEST

/* Hosts 0 and 2 have the same processes, host 1 others; all have children that write the same
 * lines, in orders of their own. */
START_TEST(whose_process_is_unknown)
{
    enum { HOSTS = 3, LINES = 400, DIFFERENT = 150 };
    static const uint32_t leads[HOSTS] = {0, 1, 0};
    struct first_output *first = NULL;
    unsigned written[HOSTS][LINES], left[HOSTS], shown[2] = {0};

    for (unsigned host = 0; host < HOSTS; host++) {
        left[host] = LINES;
        for (unsigned i = 0; i < LINES; i++)
            written[host][i] = i % DIFFERENT;
    }
    while (left[0] + left[1] + left[2] > 0) {
        uint32_t host = draw(HOSTS);
        char line[32];

        if (left[host] == 0)
            continue;
        unsigned at = draw(left[host]);
        int size = snprintf(line, sizeof line, "line %u\n", written[host][at]);
        written[host][at] = written[host][--left[host]];
        shown[leads[host]] += first_output_line(&first, leads[host], host, 2, line, (size_t)size);
    }
    ck_assert_uint_eq(shown[0], LINES);
    ck_assert_uint_eq(shown[1], LINES);
    ck_assert(first_output_line(&first, 0, 2, 1, "line 1\n", 7)); /* the other stream */
    ck_assert(!first_output_line(&first, 0, 0, 1, "line 1\n", 7));
    first_output_begin(&first);
    ck_assert(first_output_line(&first, 0, 0, 1, "line 1\n", 7));
    first_output_begin(&first);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {any_order, whose_process_is_unknown};
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    seed = ((uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec) | 1;
    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout); /* before the processes of the tests begin */
    return suite_run_tests("first_output", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
