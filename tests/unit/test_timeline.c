/* test_timeline.c - what the time of a job was, by what happened. */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bsprun/launcher/account.h"
#include "bsprun/launcher/timeline.h"
#include "tests/unit/suite.h"

static void add(struct timeline *timeline, enum timeline_kind kind, uint64_t at_ms,
                uint64_t superstep)
{
    timeline_add(timeline, &(struct timeline_event){kind, at_ms, superstep, 0, 0, 0, NULL});
}

/* "use from-to" of each span. */
static const char *told(const struct timeline *timeline, uint64_t end_ms)
{
    static const char letters[] = "SULD";
    static char text[1000];
    struct timeline_span *spans;
    size_t count = timeline_spans(timeline, 100, end_ms, &spans), used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%c %llu-%llu", i ? ", " : "",
                                 letters[spans[i].use], (unsigned long long)spans[i].from_ms,
                                 (unsigned long long)spans[i].to_ms);
    free(spans);
    return text;
}

START_TEST(a_job_without_faults_is_useful)
{
    struct timeline timeline = {0};
    ck_assert_str_eq(told(&timeline, 100), "");
    ck_assert_str_eq(told(&timeline, 150), "S 100-150");
    add(&timeline, TIMELINE_RUNNING, 120, 0);
    add(&timeline, TIMELINE_RUNNING, 125, 0);
    ck_assert_str_eq(told(&timeline, 150), "S 100-120, U 120-150");
    add(&timeline, TIMELINE_STOPPED, 140, 0);
    add(&timeline, TIMELINE_STOPPED, 145, 0);
    ck_assert_str_eq(told(&timeline, 150), "S 100-120, U 120-140, S 140-150");
    timeline_free(&timeline);
}
END_TEST

START_TEST(what_is_done_again_is_lost)
{
    struct timeline timeline = {0};
    add(&timeline, TIMELINE_RUNNING, 120, 0);
    add(&timeline, TIMELINE_SAVED, 150, 10);
    add(&timeline, TIMELINE_SAVED, 170, 20);
    timeline_add(&timeline,
                 &(struct timeline_event){.kind = TIMELINE_FAULT, .at_ms = 190, .text = "x"});
    add(&timeline, TIMELINE_STOPPED, 190, 0);
    add(&timeline, TIMELINE_BACK, 195, 20);
    add(&timeline, TIMELINE_RUNNING, 200, 0);
    ck_assert_str_eq(told(&timeline, 250), "S 100-120, U 120-170, L 170-190, D 190-200, U 200-250");
    /* Farther back: also over the time down. */
    add(&timeline, TIMELINE_STOPPED, 220, 0);
    add(&timeline, TIMELINE_BACK, 220, 15);
    ck_assert_str_eq(told(&timeline, 250), "S 100-120, U 120-150, L 150-170, L 170-190, D 190-200, "
                                           "L 200-220, S 220-250");
    /* A snapshot of which nothing is known: all. */
    add(&timeline, TIMELINE_BACK, 230, 5);
    ck_assert_str_eq(told(&timeline, 250), "S 100-120, L 120-150, L 150-170, L 170-190, D 190-200, "
                                           "L 200-220, S 220-250");
    ck_assert_str_eq(timeline.events[3].text, "x");
    timeline_free(&timeline);
}
END_TEST

START_TEST(too_many_events_are_counted)
{
    struct timeline timeline = {0};
    for (unsigned i = 0; i < TIMELINE_EVENTS + 5; i++)
        add(&timeline, TIMELINE_SAVED, 100 + i, i);
    ck_assert_uint_eq(timeline.count, TIMELINE_EVENTS);
    ck_assert_uint_eq(timeline.dropped, 5);
    timeline_free(&timeline);
}
END_TEST

/* Spans have no gaps, and together what the account of the job says. */
START_TEST(spans_are_the_account)
{
    uint64_t seed = (uint64_t)time(NULL), state = seed;
    printf("seed %llu\n", (unsigned long long)seed);
    for (int round = 0; round < 2000; round++) {
        struct timeline timeline = {0};
        struct account account = {0};
        uint64_t now = 100, superstep = 0, newest = 0, sums[4] = {0}, at = 100;
        struct timeline_span *spans;
        add(&timeline, TIMELINE_RUNNING, now, 0);
        account_running(&account, now);
        for (int i = 0; i < 30; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            now += 1 + (state >> 40) % 50;
            if ((state >> 33) % 3 != 0) {
                newest = ++superstep;
                add(&timeline, TIMELINE_SAVED, now, newest);
                account_saved(&account, (struct bspz_snapshot_name){newest, 1}, now);
                continue;
            }
            add(&timeline, TIMELINE_STOPPED, now, 0);
            account_stopped(&account, now);
            if (newest > 1 && (state >> 35) % 2 == 0)
                newest--; /* not the newest */
            add(&timeline, TIMELINE_BACK, now, newest);
            account_back(&account, (struct bspz_snapshot_name){newest, 1});
            superstep = newest;
            now += (state >> 20) % 20;
            add(&timeline, TIMELINE_RUNNING, now, 0);
            account_running(&account, now);
        }
        account_stopped(&account, now);
        size_t count = timeline_spans(&timeline, 100, now, &spans);
        for (size_t i = 0; i < count; i++) {
            ck_assert_uint_eq(spans[i].from_ms, at);
            ck_assert_uint_gt(spans[i].to_ms, at);
            at = spans[i].to_ms;
            sums[spans[i].use] += spans[i].to_ms - spans[i].from_ms;
        }
        ck_assert_uint_eq(at, now);
        ck_assert_uint_eq(sums[TIMELINE_DOWN], account.down_ms);
        ck_assert_uint_eq(sums[TIMELINE_USEFUL], account.useful_ms);
        ck_assert_uint_eq(sums[TIMELINE_LOST], account.lost_ms);
        free(spans);
        timeline_free(&timeline);
        account_free(&account);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_job_without_faults_is_useful, what_is_done_again_is_lost,
                                  too_many_events_are_counted, spans_are_the_account};
    return suite_run_tests("timeline", tests, sizeof(tests) / sizeof(tests[0]), NULL, NULL);
}
