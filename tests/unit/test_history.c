/* test_history.c - the history of earlier jobs: its lines, and what they say together. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/history/history.h"
#include "tests/unit/history_life.h"
#include "tests/unit/suite.h"

static struct history_record cost(const char *site, double seconds, uint64_t count)
{
    struct history_record record = {.kind = HISTORY_COST,
                                    .time = 1000,
                                    .seconds = seconds,
                                    .what = HISTORY_SNAPSHOT,
                                    .count = count,
                                    .bytes = 77};

    snprintf(record.site, sizeof record.site, "%s", site);
    return record;
}

/* ---- Lines ---- */

START_TEST(a_line_comes_back)
{
    struct history_record record = {.time = 1763836400, .fault = HISTORY_SPLIT}, back;
    char line[HISTORY_LINE_MAX];

    for (int kind = 0; kind < HISTORY_KIND_COUNT; kind++)
        for (int ended = 0; ended < 2; ended++) {
            record.kind = (enum history_kind)kind;
            record.ended = ended;
            record.what = HISTORY_RESTORE;
            record.seconds = 12.5;
            record.events = 3;
            record.count = 7;
            record.bytes = UINT64_MAX;
            record.share = 0.25;
            record.spread = 0.125;
            snprintf(record.site, sizeof record.site, "slurm:alps");
            snprintf(record.name, sizeof record.name, "node7");
            size_t length = history_print(&record, line);
            ck_assert_uint_eq(length, strlen(line));
            ck_assert_int_eq(line[length - 1], '\n');
            ck_assert(history_parse(line, length - 1, &back));
            ck_assert_int_eq(back.kind, record.kind);
            ck_assert_int_eq(back.time, record.time);
            ck_assert_str_eq(back.site, record.site);
            if (kind == HISTORY_LIFE || kind == HISTORY_SHARE)
                ck_assert_str_eq(back.name, "node7");
            if (kind == HISTORY_SHARE)
                ck_assert(back.share == 0.25 && back.spread == 0.125);
            if (kind == HISTORY_LIFE) {
                ck_assert_int_eq(back.ended, ended);
            }
            if (kind != HISTORY_JOB)
                ck_assert(back.seconds == 12.5);
            if (kind == HISTORY_COST)
                ck_assert(back.bytes == UINT64_MAX && back.what == HISTORY_RESTORE);
            if (kind == HISTORY_SEEN || kind == HISTORY_JOB)
                ck_assert(back.events == 3 && back.count == 7);
        }
}
END_TEST

START_TEST(every_cut_and_every_changed_byte_is_noticed)
{
    struct history_record record = life("local:here", 7200.25, true), back;
    char line[HISTORY_LINE_MAX];
    size_t length = history_print(&record, line) - 1;

    for (size_t i = 0; i < length; i++) {
        ck_assert(!history_parse(line, i, &back));
        for (int bit = 0; bit < 8; bit++) {
            line[i] = (char)(line[i] ^ 1 << bit);
            ck_assert_msg(!history_parse(line, length, &back), "byte %zu, bit %d", i, bit);
            line[i] = (char)(line[i] ^ 1 << bit);
        }
    }
    ck_assert(history_parse(line, length, &back));
}
END_TEST

START_TEST(names_are_one_word_of_limited_length)
{
    struct history_record record = life("a b\n\x1b[31m\xff", -1, true), back;
    char line[HISTORY_LINE_MAX];

    memset(record.name, 'n', sizeof record.name - 1);
    record.name[sizeof record.name - 1] = '\0';
    size_t length = history_print(&record, line);
    ck_assert(history_parse(line, length - 1, &back));
    ck_assert_str_eq(back.site, "a_b__[31m_");
    ck_assert(back.seconds == 0);
    ck_assert_uint_eq(strlen(back.name), HISTORY_NAME_MAX);
}
END_TEST

START_TEST(what_is_damaged_is_left_out_and_counted)
{
    struct history_record record = life("s", 10, true);
    struct history history;
    char text[2048], line[HISTORY_LINE_MAX];
    size_t size = history_head(text), length = history_print(&record, line);

    memcpy(text + size, line, length);
    size += length;
    memcpy(text + size, line, length - 3); /* killed in the middle ... */
    size += length - 3;
    text[size++] = '\n'; /* ... which the next writer closes */
    memcpy(text + size, line, length);
    size += length;
    size += history_head(text + size); /* two jobs have made it */
    memcpy(text + size, line, length);
    size += length;
    memcpy(text + size, line, 20);
    size += 20;
    ck_assert_int_eq(history_read(text, size, &history), HISTORY_GOOD);
    ck_assert_uint_eq(history.count, 3);
    ck_assert_uint_eq(history.bad, 2);
    history_free(&history);
}
END_TEST

START_TEST(other_files_are_not_taken_for_one)
{
    static const struct {
        const char *text;
        int state;
    } cases[] = {{"", HISTORY_EMPTY},
                 {"bspzero-history 1", HISTORY_STRANGE},
                 {"bspzero-history 2\n", HISTORY_OTHER_VERSION},
                 {"bspzero-history 10\n", HISTORY_OTHER_VERSION},
                 {"root:x:0:0::/:/bin/sh\n", HISTORY_STRANGE},
                 {"\n", HISTORY_STRANGE}};
    struct history history;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(history_read(cases[i].text, strlen(cases[i].text), &history),
                         cases[i].state);
        ck_assert_uint_eq(history.count, 0);
        history_free(&history);
    }
}
END_TEST

/* ---- What they say ---- */

static void add(struct history *history, struct history_record record)
{
    history->records = realloc(history->records, (history->count + 1) * sizeof record);
    history->records[history->count++] = record;
}

START_TEST(living_hosts_count_as_time)
{
    struct history history = {0};
    struct history_site site;

    add(&history, life("s", 100, true));
    add(&history, life("other", 5, true));
    add(&history, life("s", 300, false));
    history_look(&history, "s", &site);
    ck_assert(site.rates[HISTORY_HOST].events == 1);
    ck_assert(site.rates[HISTORY_HOST].seconds == 400);
    ck_assert_uint_eq(site.rates[HISTORY_HOST].lives, 1);
    history_free(&history);
}
END_TEST

START_TEST(old_observations_count_less)
{
    struct history history = {0};
    struct history_site site;

    for (int i = 0; i < 40; i++)
        add(&history, life("s", 1000, true));
    for (int i = 0; i < 16; i++)
        add(&history, life("s", 10, true));
    history_look(&history, "s", &site);
    double rate = site.rates[HISTORY_HOST].events / site.rates[HISTORY_HOST].seconds;
    ck_assert(site.rates[HISTORY_HOST].all_events == 56);
    ck_assert(site.rates[HISTORY_HOST].events < 13);
    ck_assert(1 / rate < 400); /* all alike: 717 */
    history_free(&history);
}
END_TEST

START_TEST(costs_are_means)
{
    struct history history = {0};
    struct history_site site;

    add(&history, cost("s", 4, 2));
    add(&history, cost("s", 2, 2));
    history_look(&history, "s", &site);
    ck_assert(site.snapshot.seconds > 2 && site.snapshot.seconds < 3); /* the newer counts more */
    ck_assert_uint_eq(site.snapshot.count, 4);
    ck_assert_uint_eq(site.snapshot.bytes, 77);
    ck_assert(site.commit.weight == 0);
    history_free(&history);
}
END_TEST

static struct history_record share(const char *site, const char *name, double share, double seconds)
{
    struct history_record record = {
        .kind = HISTORY_SHARE, .time = 1000, .share = share, .spread = 0.1, .seconds = seconds};

    snprintf(record.site, sizeof record.site, "%s", site);
    snprintf(record.name, sizeof record.name, "%s", name);
    return record;
}

static void look_at_shares(const struct history *history)
{
    size_t count;
    struct history_share *shares = history_shares(history, "s", &count);
    const struct history_share *busy = history_share_of(shares, count, "busy");

    ck_assert_uint_eq(count, 2);
    ck_assert_ptr_null(history_share_of(shares, count, "x"));
    ck_assert_ptr_nonnull(busy);
    /* A day at 0.6 that is a day older counts by half. */
    ck_assert_double_eq_tol(busy->sum / busy->seconds, (0.3 + 0.5 * 0.6) / 1.5, 1e-3);
    ck_assert_double_eq_tol(busy->squares / busy->seconds,
                            (0.09 + 0.01 + 0.5 * (0.36 + 0.01)) / 1.5, 1e-3);
    ck_assert_double_eq_tol(history_share_of(shares, count, "a_b")->sum, 600, 1);
    free(shares);
}

START_TEST(hosts_have_shares)
{
    struct history history = {0}, smaller;
    struct history_site site;
    size_t size;

    add(&history, share("s", "busy", 0.6, 86400));
    add(&history, share("s", "busy", 0.3, 86400));
    add(&history, share("s", "a_b", 1, 600));
    add(&history, share("t", "x", 1, 86400));
    add(&history, share("s", "x", 1, 0));
    look_at_shares(&history);
    history_look(&history, "s", &site);
    ck_assert(site.jobs == 0 && site.rates[HISTORY_HOST].seconds == 0);
    for (int i = 0; i < 1000; i++)
        add(&history, life("s", 50, false));
    char *text = history_compact(&history, 8192, &size);
    ck_assert_ptr_nonnull(text);
    ck_assert_int_eq(history_read(text, size, &smaller), HISTORY_GOOD);
    look_at_shares(&smaller);
    history_free(&smaller);
    free(text);
    for (int i = 0; i < 5000; i++) { /* the site stays, and its newest hosts */
        char name[32];
        snprintf(name, sizeof name, "h%d", i);
        add(&history, share("s", name, 1, 60));
    }
    for (int i = 0; i < 5000; i++)
        add(&history, life("s", 50, false));
    text = history_compact(&history, HISTORY_FILE_MAX / 2, &size);
    ck_assert_int_eq(history_read(text, size, &smaller), HISTORY_GOOD);
    history_look(&smaller, "s", &site);
    ck_assert(site.rates[HISTORY_HOST].all_seconds > 200000);
    struct history_share *shares = history_shares(&smaller, "s", &size);
    ck_assert_uint_eq(size, HISTORY_HOSTS_MAX);
    ck_assert_ptr_nonnull(history_share_of(shares, size, "h4999"));
    free(shares);
    history_free(&smaller);
    history_free(&history);
    free(text);
}
END_TEST

START_TEST(what_is_made_smaller_says_the_same)
{
    struct history history = {0}, smaller;
    struct history_site before, after;
    size_t size;

    for (int i = 0; i < 3000; i++) {
        add(&history, life(i % 3 ? "s" : "t", 50 + i % 7, i % 2));
        if (i % 100 == 0)
            add(&history, cost("s", 1, 3));
    }
    add(&history,
        (struct history_record){.kind = HISTORY_JOB, .site = "s", .events = 4, .count = 1});
    char *text = history_compact(&history, 32768, &size);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_le(size, 32768);
    ck_assert_int_eq(history_read(text, size, &smaller), HISTORY_GOOD);
    ck_assert_uint_eq(smaller.bad, 0);
    history_look(&history, "s", &before);
    history_look(&smaller, "s", &after);
    double first = before.rates[HISTORY_HOST].seconds / before.rates[HISTORY_HOST].events;
    double second = after.rates[HISTORY_HOST].seconds / after.rates[HISTORY_HOST].events;
    ck_assert(second > 0.95 * first && second < 1.05 * first);
    ck_assert_uint_eq(after.jobs, 1);
    ck_assert_uint_eq(after.hosts, 4);
    ck_assert(after.snapshot.weight > 0 && after.snapshot.seconds == 1);
    history_free(&history);
    history_free(&smaller);
    free(text);
}
END_TEST

START_TEST(of_too_many_sites_the_newest_stay)
{
    struct history history = {0}, smaller;
    const char *names[HISTORY_SITES_MAX];
    struct history_site site;
    size_t size;

    for (int i = 0; i < 2000; i++) {
        char name[32];

        snprintf(name, sizeof name, "site-%d", i);
        add(&history, life(name, 50, true));
    }
    char *text = history_compact(&history, 16384, &size);
    ck_assert_uint_le(size, 16384);
    ck_assert_int_eq(history_read(text, size, &smaller), HISTORY_GOOD);
    history_look(&smaller, "site-1999", &site);
    ck_assert(site.rates[HISTORY_HOST].events == 1);
    ck_assert_uint_gt(history_sites(&smaller, names, HISTORY_SITES_MAX), 50);
    ck_assert_str_eq(names[0], "site-1999");
    history_free(&history);
    history_free(&smaller);
    free(text);
}
END_TEST

START_TEST(sites_have_names)
{
    const char *of_domain[] = {"a.x.org", "b.X.org"}, *mixed[] = {"a.x.org", "b.y.org"},
               *numbers[] = {"10.0.0.1", "10.0.0.2"};
    char name[HISTORY_NAME_MAX + 1];

    history_site_name("alps", "me", mixed, 2, name);
    ck_assert_str_eq(name, "slurm:alps");
    history_site_name("", "me", of_domain, 2, name);
    ck_assert_str_eq(name, "domain:x.org");
    history_site_name(NULL, "me", mixed, 2, name);
    ck_assert_str_eq(name, "hosts-of:me");
    history_site_name(NULL, "me", numbers, 2, name);
    ck_assert_str_eq(name, "hosts-of:me");
    history_site_name(NULL, "me", of_domain, 1, name);
    ck_assert_str_eq(name, "local:me");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("history");
    TCase *tests = tcase_create("lines");

    tcase_add_test(tests, a_line_comes_back);
    tcase_add_test(tests, every_cut_and_every_changed_byte_is_noticed);
    tcase_add_test(tests, names_are_one_word_of_limited_length);
    tcase_add_test(tests, what_is_damaged_is_left_out_and_counted);
    tcase_add_test(tests, other_files_are_not_taken_for_one);
    tcase_add_test(tests, living_hosts_count_as_time);
    tcase_add_test(tests, old_observations_count_less);
    tcase_add_test(tests, costs_are_means);
    tcase_add_test(tests, hosts_have_shares);
    tcase_add_test(tests, what_is_made_smaller_says_the_same);
    tcase_add_test(tests, of_too_many_sites_the_newest_stay);
    tcase_add_test(tests, sites_have_names);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
