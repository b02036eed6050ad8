/* test_tables.c - loads of hosts, read and ranked; what bspstat shows, as text and as JSON. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/load/load.h"
#include "bsprun/status/metrics_merge.h"
#include "bsprun/status/status_metrics.h"
#include "bsprun/status/status_text.h"
#include "tests/unit/suite.h"

START_TEST(loads_are_read)
{
    static const struct {
        const char *text;
        double load; /* negative: not understood */
        uint32_t cores;
        double mflops;
    } cases[] = {
        {"bspload 0.50 1.00 2.00 8 2000.5\n", 0.5, 8, 2000.5},
        {"Welcome to host a!\n\nbspload 0.50 1.00 2.00 8 2000.5\nbye\n", 0.5, 8, 2000.5},
        {"0.25 0.10 0.05 2/345 6789\n4\n", 0.25, 4, 0},
        {"You have mail.\n0.25 0.10 0.05 2/345 6789\n4\n", 0.25, 4, 0},
        {"0.25 0.10 0.05 2/345 6789 4\n", 0.25, 4, 0}, /* all in one line */
        {"", -1, 0, 0},
        {"bspload 0.50 1.00 2.00 8\n", -1, 0, 0},
        {"bspload -1 1 2 8 100\n", -1, 0, 0},
        {"bspload nan 1 2 8 100\n", -1, 0, 0},
        {"bspload 1 1 2 0 100\n", -1, 0, 0},
        {"bspload 1 1 2 70000 100\n", -1, 0, 0},
        {"bspload 1 1 2 4 inf\n", -1, 0, 0},
        {"0.25 0.10 0.05 2/345 6789\n", -1, 0, 0},
        {"0.25 0.10 0.05 2/345 6789\nx\n", -1, 0, 0},
        {"0.25 0.10 0.05\n4\n", -1, 0, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct load load = {0};
        bool good = load_read(&load, cases[i].text);

        ck_assert_msg(good == (cases[i].load >= 0) && load.known == good, "%s", cases[i].text);
        if (good)
            ck_assert_msg(load.load[0] == cases[i].load && load.cores == cases[i].cores &&
                              load.mflops == cases[i].mflops,
                          "%s", cases[i].text);
    }
}
END_TEST

START_TEST(answers_of_several)
{
    static const char text[] = "bb 1\na 2\nwho knows\nb 3\nc4\n";

    ck_assert_str_eq(load_line_of(text, "a"), "2\nwho knows\nb 3\nc4\n");
    ck_assert_str_eq(load_line_of(text, "b"), "3\nc4\n");
    ck_assert_ptr_null(load_line_of(text, "c"));
    ck_assert_ptr_null(load_line_of(text, "knows"));
    ck_assert_ptr_null(load_line_of("", "a"));
}
END_TEST

static void expect_order(const struct load *loads, uint32_t count, const char *expected)
{
    uint32_t order[8];
    char text[9] = "";

    load_rank(loads, count, order);
    for (uint32_t i = 0; i < count; i++)
        text[i] = (char)('0' + order[i]);
    ck_assert_str_eq(text, expected);
}

START_TEST(hosts_are_ranked)
{
    struct load loads[] = {
        {.known = true, .load = {3.5}, .cores = 4, .mflops = 1000}, /* 500 */
        {.known = true, .load = {0}, .cores = 1, .mflops = 900},    /* 900 */
        {.known = false},
        {.known = true, .load = {1}, .cores = 2, .mflops = 900},   /* 900 */
        {.known = true, .load = {7}, .cores = 4, .mflops = 2000},  /* none free: 1000 of a core */
        {.known = true, .load = {19}, .cores = 8, .mflops = 2000}, /* 800 */
    };

    expect_order(loads, 6, "130452");
    expect_order(loads, 0, "");
    loads[1].mflops = 0; /* speeds do not count any more */
    expect_order(loads, 6, "130452");
    loads[0].load[0] = 0;
    expect_order(loads, 6, "013452");
}
END_TEST

/* ---- bspstat ---- */

static const struct status_host hosts[] = {{"a", 4, "up", 3 << 20},
                                           {"b-long-name", 0, "spare", UINT64_MAX}};
static const struct status_rank ranks[] = {
    {0, 0, "computing", 7, "bsp_put", "prog.c", 12, 4100, 2048, 12.25, 0.125, 1e-6},
    {1, 0, "waiting", 7, "bsp_sync", "prog.c", 13, 4101, 5000, 0.5, 0.25, 3},
    {2, 0, "waiting", 7, "bsp_sync", "prog.c", 13, 4102, 1 << 20, 1, 0.25, 6},
    {3, 0, "waiting", 7, "bsp_sync", "prog.c", 13, 4103, 6000, 1.5, 0.25, 9},
    {5, 0, "starting", 6, "", "", 0, 0, 0, 0, 0, 0},
};

static struct status_facts facts_of_all(void)
{
    return (struct status_facts){.os_pid = 99,
                                 .program = "./prog a\"b",
                                 .directory = "/d",
                                 .job = "j",
                                 .seconds = 2,
                                 .processes = 6,
                                 .rate = 1234.5,
                                 .term = 2,
                                 .restarts = 1,
                                 .restarted_alone = 2,
                                 .zero = "a",
                                 .snapshots = true,
                                 .has_snapshot = true,
                                 .snapshot_superstep = 4,
                                 .snapshot_count = 3,
                                 .snapshot_age = 1.5,
                                 .hosts = hosts,
                                 .host_count = 2,
                                 .ranks = ranks,
                                 .rank_count = 5};
}

static void expect_text(char *text, const char *expected)
{
    ck_assert_ptr_nonnull(text);
    ck_assert_str_eq(text, expected);
    free(text);
}

static struct learned_facts learned_of_two_failures(void)
{
    struct learned_facts facts = {.units = {4, 8},
                                  .told = true,
                                  .interval_ns = 93000000000,
                                  .why = "because",
                                  .image_bytes = 77};

    estimate_watch(&facts.estimate, facts.units, 3600);
    estimate_failed(&facts.estimate, ESTIMATE_HOST);
    estimate_failed(&facts.estimate, ESTIMATE_HOST);
    estimate_take(&facts.estimate.snapshot, 2);
    estimate_take(&facts.estimate.delay, 1.5);
    estimate_take(&facts.estimate.restores[ESTIMATE_HOST], 20);
    return facts;
}

START_TEST(learned_as_text)
{
    struct learned_facts facts = learned_of_two_failures();
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    learned_print(file, &facts, "  ");
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_msg(strstr(text, "  host           2        4 h    111 min  ") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "  process        0        8 h          -  above 2.67 h\n") != NULL,
                  "%s", text);
    ck_assert_msg(strstr(text,
                         "  a snapshot costs 2 s and is committed 1.5 s later (of 1); a restore "
                         "takes 20 s (host, of 1)\n") != NULL,
                  "%s", text);
    ck_assert_msg(strstr(text, "  a snapshot every 93 s: because; ") != NULL, "%s", text);
    free(text);
}
END_TEST

START_TEST(learned_as_json)
{
    struct learned_facts facts = learned_of_two_failures();
    char *text;
    size_t size;
    struct bspz_json json = {.file = open_memstream(&text, &size)};

    learned_json(&json, NULL, &facts);
    facts.interval_ns = UINT64_MAX;
    learned_json(&json, NULL, &facts);
    ck_assert_int_eq(fclose(json.file), 0);
    ck_assert_ptr_nonnull(strstr(text, "{\"known\":true,\"hosts\":4,\"processes\":8,\"kinds\":["
                                       "{\"kind\":\"host\",\"seen\":2,"));
    ck_assert_ptr_nonnull(strstr(text, "\"kind\":\"split\",\"seen\":0,\"watched\":14400,"
                                       "\"mean_life\":null,"));
    ck_assert_ptr_nonnull(strstr(text, "\"snapshot\":{\"seconds\":2,\"spread\":0,\"count\":1}"));
    ck_assert_ptr_nonnull(strstr(text, "\"interval\":93,\"utilisation\":0."));
    ck_assert_ptr_nonnull(strstr(text, "\"interval\":null,\"utilisation\":null"));
    ck_assert_ptr_null(strstr(text, "inf"));
    ck_assert_ptr_null(strstr(text, "nan"));
    free(text);
}
END_TEST

START_TEST(status_as_text)
{
    struct status_facts facts = facts_of_all();

    expect_text(status_text(&facts),
                "job 99: ./prog a\"b\n"
                "  in /d, j\n"
                "  6 processes on 2 hosts for 2.0 s, superstep 6, 1234 per second\n"
                "  last snapshot: superstep 4, 1.5 s ago (3 taken); 1 restart, 2 processes restarted alone; term 2\n"
                "  host         slots  memory left  processes  state\n"
                "  a                4      3.0 MiB          5  up, Processor Zero\n"
                "  b-long-name      -            -          0  spare\n"
                "  pid          host          superstep    memory   comp. s   comm. s    wait s  "
                "state          last call\n"
                "  0            a                     7   2.0 KiB      12.2       0.1       0.0  "
                "computing      bsp_put at "
                "prog.c:12\n"
                "  1-3          a                     7   1.0 MiB       1.0       0.2       6.0  "
                "waiting        bsp_sync at "
                "prog.c:13\n"
                "  5            a                     6         -       0.0       0.0       0.0  "
                "starting       -\n"
                "  1 process not heard from\n"
                "  process ids on a (pid=process id):\n"
                "    0=4100 1=4101 2=4102 3=4103\n");
    facts.processes = facts.rank_count = 0;
    facts.has_snapshot = false;
    facts.host_count = 1;
    facts.job = "";
    expect_text(status_text(&facts), "job 99: ./prog a\"b\n"
                                     "  in /d\n"
                                     "  not yet in bsp_begin\n"
                                     "  no snapshot yet; 1 restart, 2 processes restarted alone; term 2\n");
}
END_TEST

START_TEST(status_as_json)
{
    struct status_facts facts = facts_of_all();

    facts.rank_count = 1;
    facts.host_count = 1;
    expect_text(status_json(&facts),
                "{\"pid\":99,\"program\":\"./prog a\\\"b\",\"directory\":\"/d\",\"job\":\"j\","
                "\"zero\":\"a\",\"processes\":6,\"seconds\":2.000,\"superstep\":7,\"term\":2,"
                "\"restarts\":1,\"restarted_alone\":2,\"rate\":1234.5,\"snapshot\":{\"superstep\":4,\"taken\":3,"
                "\"age\":1.500},\"failures\":null,\"replicas\":null,\"hosts\":[{\"slots\":4,\"memory_left\":"
                "3145728,\"name\":\"a\",\"state\":\"up\"}],"
                "\"ranks\":[{\"pid\":0,\"os_pid\":4100,\"superstep\":7,\"line\":12,\"memory\":2048,"
                "\"computing\":12.250000,\"communicating\":0.125000,\"waiting\":0.000001,"
                "\"host\":\"a\","
                "\"state\":\"computing\",\"function\":\"bsp_put\",\"file\":\"prog.c\"}],\"coming\":[]}\n");
    facts.rank_count = facts.host_count = 0;
    facts.has_snapshot = false;
    facts.rate = -1;
    facts.job = facts.directory = facts.zero = "";
    /* Whatever is in the name of a program, it is JSON in UTF-8: other bytes are Latin-1. */
    facts.program = "\xc3\xa4\n\xe4\x01\\\xf0\x9f\x98\x80\xf0\x80\x80\x80\xed\xa0\x80\xc3";
    expect_text(status_json(&facts),
                "{\"pid\":99,\"program\":\"\xc3\xa4\\u000a\xc3\xa4\\u0001\\\\\xf0\x9f\x98\x80"
                "\xc3\xb0\xc2\x80\xc2\x80\xc2\x80\xc3\xad\xc2\xa0\xc2\x80\xc3\x83\",\"directory\":\"\","
                "\"job\":\"\",\"zero\":\"\",\"processes\":6,\"seconds\":2.000,\"superstep\":0,"
                "\"term\":2,\"restarts\":1,\"restarted_alone\":2,\"rate\":null,\"snapshot\":null,"
                "\"failures\":null,\"replicas\":null,\"hosts\":[],"
                "\"ranks\":[],\"coming\":[]}\n");
}
END_TEST

/* Whether there is such a line. */
static bool has_line(const char *text, const char *line)
{
    size_t length = strlen(line);

    for (const char *at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
        if (strncmp(at, line, length) == 0 && at[length] == '\n')
            return true;
    return false;
}

START_TEST(status_as_metrics)
{
    struct status_facts facts = facts_of_all();
    struct learned_facts learned = learned_of_two_failures();
    char *text;

    facts.learned = &learned;
    facts.program = "./a\"b\\c\nd\xe4\xc3\xa4";
    text = status_metrics(&facts);
    ck_assert_ptr_nonnull(text);
    static const char *const lines[] = {
        "# TYPE bspzero_job info",
        "bspzero_job_info{bsprun=\"99\",program=\"./a\\\"b\\\\c\\nd\xc3\xa4\xc3\xa4\","
        "directory=\"/d\",name=\"j\",zero=\"a\"} 1",
        "bspzero_processes{bsprun=\"99\"} 6",
        "# UNIT bspzero_running_seconds seconds",
        "bspzero_superstep{bsprun=\"99\"} 6",
        "bspzero_supersteps_per_second{bsprun=\"99\"} 1234.5",
        "# TYPE bspzero_restarts counter",
        "bspzero_restarts_total{bsprun=\"99\"} 1",
        "bspzero_restarted_alone_total{bsprun=\"99\"} 2",
        "bspzero_snapshots_total{bsprun=\"99\"} 3",
        "bspzero_snapshot_age_seconds{bsprun=\"99\"} 1.5",
        "bspzero_snapshot_cost_seconds{bsprun=\"99\"} 2",
        "bspzero_snapshot_interval_seconds{bsprun=\"99\"} 93",
        "bspzero_failures_total{bsprun=\"99\",kind=\"host\"} 2",
        "bspzero_host_info{bsprun=\"99\",host=\"b-long-name\",state=\"spare\"} 1",
        "bspzero_host_available_bytes{bsprun=\"99\",host=\"a\"} 3145728",
        "bspzero_host_processes{bsprun=\"99\",host=\"a\"} 5",
        "bspzero_rank_info{bsprun=\"99\",host=\"a\",pid=\"0\",os_pid=\"4100\",state=\"computing\","
        "function=\"bsp_put\",file=\"prog.c\",line=\"12\"} 1",
        "bspzero_rank_memory_bytes{bsprun=\"99\",host=\"a\",pid=\"0\"} 2048",
        "# TYPE bspzero_rank_seconds counter",
        "# UNIT bspzero_rank_seconds seconds",
        "bspzero_rank_seconds_total{bsprun=\"99\",host=\"a\",pid=\"0\",what=\"computing\"} 12.25",
        "bspzero_rank_seconds_total{bsprun=\"99\",host=\"a\",pid=\"3\",what=\"waiting\"} 9",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        ck_assert_msg(has_line(text, lines[i]), "%s is not in\n%s", lines[i], text);
    /* What is not known has no sample. */
    ck_assert_ptr_null(strstr(text, "available_bytes{bsprun=\"99\",host=\"b-long-name\""));
    ck_assert_ptr_null(strstr(text, "memory_bytes{bsprun=\"99\",host=\"a\",pid=\"5\""));
    ck_assert_ptr_null(strstr(text, "# EOF"));
    free(text);
    facts.learned = NULL;
    facts.rank_count = facts.host_count = facts.processes = 0;
    facts.rate = facts.snapshot_age = -1;
    facts.has_snapshot = false;
    text = status_metrics(&facts);
    ck_assert(has_line(text, "bspzero_processes{bsprun=\"99\"} 0"));
    ck_assert_ptr_null(strstr(text, "bspzero_superstep{"));
    ck_assert_ptr_null(strstr(text, "per_second{"));
    ck_assert_ptr_null(strstr(text, "bspzero_snapshot_superstep{"));
    ck_assert_ptr_null(strstr(text, "bspzero_snapshot_age_seconds{"));
    free(text);
}
END_TEST

START_TEST(metrics_of_several_jobs)
{
    char *const texts[] = {
        "# TYPE a gauge\n# HELP a A.\na{j=\"1\"} 1\na{j=\"1\",x=\"y\"} 2\n"
        "# TYPE none gauge\n# HELP none N.\n"
        "# TYPE ab gauge\n# HELP ab B.\nab{j=\"1\"} 3\n",
        "# TYPE ab gauge\n# HELP ab Other.\nab{j=\"2\"} 4\n"
        "# TYPE c gauge\n# UNIT c s\nc{j=\"2\"} 5\n"
        "# TYPE a gauge\na{j=\"2\"} 6\n",
    };

    expect_text(metrics_merge(texts, 2),
                "# TYPE a gauge\n# HELP a A.\na{j=\"1\"} 1\na{j=\"1\",x=\"y\"} 2\na{j=\"2\"} 6\n"
                "# TYPE none gauge\n# HELP none N.\n"
                "# TYPE ab gauge\n# HELP ab B.\nab{j=\"1\"} 3\nab{j=\"2\"} 4\n"
                "# TYPE c gauge\n# UNIT c s\nc{j=\"2\"} 5\n# EOF\n");
    expect_text(metrics_merge(texts, 0), "# EOF\n");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tables");
    TCase *tests = tcase_create("tables");

    tcase_add_test(tests, loads_are_read);
    tcase_add_test(tests, answers_of_several);
    tcase_add_test(tests, hosts_are_ranked);
    tcase_add_test(tests, status_as_text);
    tcase_add_test(tests, learned_as_text);
    tcase_add_test(tests, learned_as_json);
    tcase_add_test(tests, status_as_json);
    tcase_add_test(tests, status_as_metrics);
    tcase_add_test(tests, metrics_of_several_jobs);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
