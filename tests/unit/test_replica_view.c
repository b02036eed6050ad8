/* test_replica_view.c - what bsprun knows of replicas: lost, missing, made anew; and bspstat's
 * text. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/launcher/replica_view.h"
#include "tests/unit/suite.h"

static struct replica_view view;

static void set_up(void)
{
    struct replica_counts counts = replica_counts_all(2);

    replica_view_begin(&view, &counts);
    replica_view_elect(&view);
}

static void tear_down(void)
{
    replica_view_free(&view);
}

/* Processes 0 and 1: of them hosts 0 and 1 are the leads. */
static void run(const uint64_t *leads, uint32_t count)
{
    static const uint64_t homes[] = {0, 1};

    replica_view_run(&view, &(struct wire_numbers){homes, 2}, &(struct wire_numbers){leads, count});
}

START_TEST(a_loss)
{
    uint32_t count;

    run((const uint64_t[]){2, 0, 3, 1}, 4);
    ck_assert(replica_view_any(&view) && view.missing == 0);
    ck_assert(replica_view_lives(&view, 0, 2) && !replica_view_lives(&view, 1, 2));
    replica_view_lose(&view, 3);
    replica_view_lose(&view, 3); /* said twice */
    replica_view_lose(&view, 9); /* it had none */
    ck_assert_uint_eq(view.lost, 1);
    ck_assert_uint_eq(view.missing, 1);
    const struct status_lost *lost = replica_view_lost(&view, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert(lost[0].pid == 1 && lost[0].host == 3);
    /* The next term has it again. */
    replica_view_elect(&view);
    run((const uint64_t[]){2, 0, 3, 1}, 4);
    ck_assert_uint_eq(view.made, 1);
    ck_assert_uint_eq(view.missing, 0);
    replica_view_lost(&view, &count);
    ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(too_few_hosts_for_all)
{
    run((const uint64_t[]){2, 0}, 2);
    ck_assert_uint_eq(view.missing, 1);
    replica_view_elect(&view);
    run((const uint64_t[]){2, 0, 3, 1}, 4);
    ck_assert_uint_eq(view.missing, 0);
    ck_assert_uint_eq(view.made, 1);
    ck_assert_uint_eq(view.lost, 0);
}
END_TEST

static void expect_missing(const char *text)
{
    char got[REPLICA_VIEW_TEXT];

    ck_assert(replica_view_missing(&view, got));
    ck_assert_str_eq(got, text);
}

START_TEST(why_some_are_missing)
{
    char text[REPLICA_VIEW_TEXT];

    run((const uint64_t[]){2, 0, 3, 1}, 4);
    ck_assert(!replica_view_missing(&view, text));
    replica_view_elect(&view);
    run((const uint64_t[]){2, 0}, 2);
    expect_missing("1 replica is missing, as there are too few hosts: they are made at a snapshot "
                   "when there are more");
    /* Hosts would suffice, and Processor Zero says why they are not there nevertheless. */
    replica_view_elect(&view);
    replica_view_explain(&view, "there is too little memory: of all");
    run(NULL, 0);
    expect_missing("2 replicas are missing, as there is too little memory: of all");
    /* Of the next term nothing is said. */
    replica_view_elect(&view);
    run((const uint64_t[]){3, 1}, 2);
    expect_missing("1 replica is missing, as there are too few hosts: they are made at a snapshot "
                   "when there are more");
}
END_TEST

/* Another number is no loss, and nothing was made anew. */
START_TEST(another_number)
{
    run((const uint64_t[]){2, 0, 3, 1}, 4);
    replica_view_lose(&view, 3);
    view.wanted = replica_counts_all(1);
    ck_assert(replica_view_any(&view)); /* until the next term */
    replica_view_elect(&view);
    run(NULL, 0);
    ck_assert(!replica_view_any(&view) && view.any);
    ck_assert_uint_eq(view.made, 0);
    replica_view_lose(&view, 1);
    ck_assert_uint_eq(view.lost, 1);
}
END_TEST

static const char *name_of(void *context, uint32_t host)
{
    static char name[16];

    (void)context;
    snprintf(name, sizeof name, "h%u", host);
    return name;
}

START_TEST(text)
{
    run((const uint64_t[]){4, 0}, 2);
    char *said = replica_view_text(&view, name_of, NULL);
    ck_assert_str_eq(said, "host h0, host h4: process 0\n");
    free(said);
}
END_TEST

/* ---- bspstat ---- */

START_TEST(who_leads)
{
    struct status_rank ranks[] = {{.pid = 1, .host = 3, .superstep = 7},
                                  {.pid = 0, .host = 2, .superstep = 4},
                                  {.pid = 1, .host = 1, .superstep = 9},
                                  {.pid = 0, .host = 0, .superstep = 4}};

    status_compare(ranks, 4);
    ck_assert(ranks[0].pid == 0 && ranks[0].host == 0 && !ranks[0].trails);
    ck_assert(ranks[1].host == 2 && ranks[1].trails && ranks[1].behind == 0);
    ck_assert(ranks[2].host == 1 && !ranks[2].trails);
    ck_assert(ranks[3].trails && ranks[3].behind == 2);
    ck_assert_uint_eq(status_superstep(ranks, 4), 4);
    ranks[0].superstep = ranks[1].superstep = 30;
    status_compare(ranks, 4);
    ck_assert_uint_eq(status_superstep(ranks, 4), 9); /* not 7, of one that trails */
}
END_TEST

static struct status_host status_hosts[] = {
    {.name = "a", .state = "up"}, {.name = "b", .state = "lost"}, {.name = "c", .state = "up"}};
static struct status_rank status_ranks[] = {
    {.pid = 0, .host = 2, .state = "computing", .superstep = 9, .function = "", .file = ""},
    {.pid = 0, .host = 0, .state = "computing", .superstep = 12, .function = "", .file = ""}};

static struct status_facts facts_of(void)
{
    static const struct status_lost lost[] = {{1, 1}, {2, 1}};

    status_compare(status_ranks, 2);
    return (struct status_facts){.program = "p",
                                 .directory = "d",
                                 .job = "",
                                 .zero = "a",
                                 .rate = -1,
                                 .processes = 1,
                                 .hosts = status_hosts,
                                 .host_count = 3,
                                 .ranks = status_ranks,
                                 .rank_count = 2,
                                 .replicas = "0=3,1-2=2",
                                 .missing = 2,
                                 .lost = lost,
                                 .lost_count = 2,
                                 .replicas_lost = 5,
                                 .replicas_made = 3};
}

START_TEST(status_lines)
{
    struct status_facts facts = facts_of();
    char *said = status_text(&facts);

    ck_assert_ptr_nonnull(strstr(said, "superstep 12"));
    ck_assert_ptr_nonnull(
        strstr(said, "  replicas: 0=3,1-2=2, 2 of them missing; lost: pid 1,2 on b (5 lost so far, "
                     "3 made anew)\n"));
    ck_assert_ptr_nonnull(strstr(said, "  0            a             12    leads  "));
    ck_assert_ptr_nonnull(strstr(said, "  0            c              9        3  "));
    ck_assert_ptr_null(strstr(said, "not heard from"));
    free(said);
    facts.replicas = NULL; /* nothing of it without */
    said = status_text(&facts);
    ck_assert(!strstr(said, "leads") && !strstr(said, "behind") && !strstr(said, "replica"));
    free(said);
}
END_TEST

START_TEST(status_in_json)
{
    struct status_facts facts = facts_of();
    char *said = status_json(&facts);

    ck_assert_ptr_nonnull(strstr(said,
                                 "\"replicas\":{\"of_each\":\"0=3,1-2=2\",\"missing\":2,\"lost\":5,"
                                 "\"made_anew\":3,\"lost_now\":[{\"pid\":1,\"host\":\"b\"},"
                                 "{\"pid\":2,\"host\":\"b\"}]}"));
    ck_assert_ptr_nonnull(strstr(said, "\"leads\":true,\"behind\":0"));
    ck_assert_ptr_nonnull(strstr(said, "\"leads\":false,\"behind\":3"));
    free(said);
}
END_TEST

/* Each host names those of its processes that were ended since a replica elsewhere had ended. */
START_TEST(reports_cover_each_other)
{
    static const uint64_t one[] = {1}, both[] = {1, 3}, other[] = {3};
    const struct wire_numbers none = {NULL, 0}, early[] = {{one, 1}, {both, 2}, {other, 1}};

    ck_assert(!replica_reports_cover(NULL, 0));
    ck_assert(replica_reports_cover(&none, 1));
    ck_assert(!replica_reports_cover(early, 1));
    ck_assert(!replica_reports_cover(early, 2)); /* process 1 has ended on none of them */
    ck_assert(replica_reports_cover(early, 3));
    ck_assert(!replica_reports_cover(&early[1], 2));
    ck_assert(replica_reports_cover((const struct wire_numbers[]){early[1], none}, 2));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_loss,    too_few_hosts_for_all, why_some_are_missing, another_number,          text,
        who_leads, status_lines,          status_in_json,       reports_cover_each_other};

    return suite_run_tests("replica_view", tests, sizeof tests / sizeof *tests, set_up, tear_down);
}
