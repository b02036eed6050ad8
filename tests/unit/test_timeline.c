/* test_timeline.c - what the time of a job was, by what happened. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bsprun/launcher/account.h"
#include "bsprun/launcher/past.h"
#include "bsprun/launcher/timeline.h"
#include "tests/unit/suite.h"

static void add(struct timeline *timeline, enum timeline_kind kind, uint64_t at_ms,
                uint64_t superstep)
{
    timeline_add(timeline, &(struct timeline_event){kind, at_ms, superstep, 0, 0, 0, NULL});
}

/* "use from-to" of each span. */
static const char *told_from(const struct timeline *timeline, uint64_t begin_ms, uint64_t end_ms)
{
    static const char letters[] = "SULD";
    static char text[1000];
    struct timeline_span *spans;
    size_t count = timeline_spans(timeline, begin_ms, end_ms, &spans), used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%c %llu-%llu", i ? ", " : "",
                                 letters[spans[i].use], (unsigned long long)spans[i].from_ms,
                                 (unsigned long long)spans[i].to_ms);
    free(spans);
    return text;
}

static const char *told(const struct timeline *timeline, uint64_t end_ms)
{
    return told_from(timeline, 100, end_ms);
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

/* ---- Earlier bspruns of the job ---- */

static struct past_runs read_text(const char *text)
{
    struct past_runs runs = {0};
    past_read(text, strlen(text), 0, &runs);
    return runs;
}

/* The first bsprun was killed at 90, in superstep 12, the second one ended in good order. */
static const char two_runs[] = "\nbsprun 1 5000\n"
                               "running 20 0 0 0 0\n"
                               "saved 50 10 4096 7 9\n"
                               "fault 90 0 0 0 0 process 1 was killed\n"
                               "running 9"
                               "\nbsprun 1 5200\n"
                               "back 0 10 0 0 0\n"
                               "running 10 0 0 0 0\n"
                               "stopped 40 0 0 0 0\n"
                               "end 45\n";

START_TEST(earlier_bspruns_are_read)
{
    struct past_runs runs = read_text(two_runs);
    ck_assert_uint_eq(runs.count, 2);
    ck_assert_uint_eq(runs.begun_ms, 5000);
    ck_assert_uint_eq(runs.ended_ms, 245);
    ck_assert_str_eq(told_from(&runs.timeline, 0, 245),
                     "S 0-20, U 20-50, L 50-90, D 90-210, U 210-240, S 240-245");
    ck_assert_uint_eq(runs.timeline.events[1].bytes, 4096);
    ck_assert_str_eq(runs.timeline.events[2].text, "process 1 was killed");
    ck_assert_int_eq(runs.timeline.events[4].kind, TIMELINE_RESTARTED);
    ck_assert_uint_eq(runs.timeline.events[4].at_ms, 200);
    ck_assert_uint_eq(past_since(&runs, 5300), 300);
    ck_assert_uint_eq(past_since(&runs, 5100), 245); /* the clock was put back */
    timeline_free(&runs.timeline);
}
END_TEST

START_TEST(a_bsprun_that_was_killed_lived_until_it_was_last_heard)
{
    static const char killed[] = "bsprun 1 5000\nrunning 20 0 0 0 0\n";
    struct past_runs runs = {0};
    past_read(killed, strlen(killed), 5090, &runs);
    ck_assert(runs.open);
    ck_assert_str_eq(told_from(&runs.timeline, 0, runs.ended_ms), "S 0-20, U 20-90");
    timeline_free(&runs.timeline);
    runs = (struct past_runs){0};
    past_read(two_runs, strlen(two_runs), 9000, &runs); /* the last one has noted its end */
    ck_assert(!runs.open);
    ck_assert_uint_eq(runs.ended_ms, 245);
    timeline_free(&runs.timeline);
}
END_TEST

START_TEST(this_bsprun_comes_after_earlier_ones)
{
    struct past past = {.begun_ms = 1000, .earlier = read_text(two_runs), .since_ms = 300};
    struct timeline now = {0};
    add(&now, TIMELINE_BACK, 1000, 10);
    add(&now, TIMELINE_RUNNING, 1020, 0);
    struct timeline all = past_and(&past, &now);
    /* What came after superstep 10 was done a second time. */
    ck_assert_str_eq(told_from(&all, 0, 350),
                     "S 0-20, U 20-50, L 50-90, D 90-210, L 210-240, D 240-320, U 320-350");
    timeline_free(&all);
    timeline_free(&now);
    timeline_free(&past.earlier.timeline);
}
END_TEST

START_TEST(nonsense_in_the_file_is_passed_over)
{
    static const char *const wrong[] = {"running 20 0 0 0 0\n",
                                        "bsprun\nbsprun x 1\n",
                                        "bsprun 2 5000\nrunning 20 0 0 0 0\n",
                                        "bsprun 1 5000",
                                        "\n\n\n",
                                        "",
                                        "bsprun 1 -\n"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct past_runs runs = read_text(wrong[i]);
        ck_assert_msg(runs.count == 0 && runs.timeline.count == 0, "%s", wrong[i]);
    }
    struct past_runs runs =
        read_text("bsprun 1 5000\nrunning\nrunning x 0 0 0 0\nrunning 10 0 0\njumped 10 0 0 0 0\n"
                  "restarted 1 0 0 0 0\nrunning 18446744073709551615 0 0 0 0\nsaved 5 5 5 5 5\n");
    ck_assert_uint_eq(runs.count, 1);
    ck_assert_uint_eq(runs.timeline.count, 1);
    ck_assert_int_eq(runs.timeline.events[0].kind, TIMELINE_SAVED);
    timeline_free(&runs.timeline);
}
END_TEST

/* Notes into DIRECTORY as a bsprun that began at 1000 and, with `ends`, ends in good order. */
static void note_run(const char *directory, uint64_t wall_ms, bool ends)
{
    struct past past = {0};
    past_open(&past, directory, 1000, wall_ms);
    ck_assert_ptr_nonnull(past.file);
    past_note(&past, &(struct timeline_event){.kind = TIMELINE_RUNNING, .at_ms = 1010});
    past_note(&past, &(struct timeline_event){
                         .kind = TIMELINE_FAULT, .at_ms = 1020, .text = "two\nlines"});
    if (ends)
        past_close(&past, 1050);
    else
        fclose(past.file);
}

START_TEST(what_is_noted_is_read)
{
    char directory[] = "/tmp/test_timeline.XXXXXX", path[64];
    struct past past = {0};
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/" PAST_FILE, directory);
    note_run(directory, 70000, false);
    /* It lived for 100 ms. */
    ck_assert_int_eq(
        utimensat(AT_FDCWD, path, (struct timespec[]){{70, 100000000}, {70, 100000000}}, 0), 0);
    note_run(directory, 70200, true);
    past_open(&past, directory, 5, 70400);
    ck_assert_uint_eq(past.earlier.count, 2);
    ck_assert_uint_eq(past.since_ms, 400);
    ck_assert_str_eq(past.earlier.timeline.events[1].text, "two lines");
    ck_assert_str_eq(told_from(&past.earlier.timeline, 0, 300),
                     "S 0-10, U 10-100, D 100-210, U 210-250, S 250-300");
    past_close(&past, 10);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(directory), 0);
    past_open(&past, directory, 5, 70400); /* there is nothing to note in */
    ck_assert_ptr_null(past.file);
    past_note(&past, &(struct timeline_event){.kind = TIMELINE_RUNNING, .at_ms = 7});
    past_close(&past, 10);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_job_without_faults_is_useful,
                                  what_is_done_again_is_lost,
                                  too_many_events_are_counted,
                                  spans_are_the_account,
                                  earlier_bspruns_are_read,
                                  a_bsprun_that_was_killed_lived_until_it_was_last_heard,
                                  this_bsprun_comes_after_earlier_ones,
                                  nonsense_in_the_file_is_passed_over,
                                  what_is_noted_is_read};
    return suite_run_tests("timeline", tests, sizeof(tests) / sizeof(tests[0]), NULL, NULL);
}
