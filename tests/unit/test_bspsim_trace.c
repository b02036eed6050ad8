/* test_bspsim_trace.c - bspsim: failure traces, and what is taken from a real job. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/suite.h"
#include "tools/bspsim/report.h"
#include "tools/bspsim/trace.h"

#define S UINT64_C(1000000000)

static char error[TRACE_ERROR];

static void expect_wrong(const char *text, const char *hosts, const char *message)
{
    struct trace trace;
    error[0] = '\0';
    ck_assert(!trace_parse("t.csv", text, hosts, &trace, error));
    ck_assert_str_eq(error, message);
}

START_TEST(a_trace_is_read)
{
    struct trace trace;
    const char *text = "# of last week\n\nnote, down ,host,up\r\n"
                       "x,1100.5,b,1000\r\n"
                       "x,2000,a,1010,more\n"
                       "x,,b,1100.5\n"
                       "x,1009,a,1005";
    ck_assert(trace_parse("t.csv", text, NULL, &trace, error));
    ck_assert_uint_eq(trace.host_count, 2);
    ck_assert_str_eq(trace.names[0], "b");
    ck_assert_uint_eq(trace.life_count, 4);
    const struct trace_life expected[] = {{0, 4, 0, 100 * S + S / 2},
                                          {0, 6, 100 * S + S / 2, TRACE_FOR_EVER},
                                          {1, 7, 5 * S, 9 * S},
                                          {1, 5, 10 * S, 1000 * S}};
    for (int i = 0; i < 4; i++) {
        ck_assert_uint_eq(trace.lives[i].host, expected[i].host);
        ck_assert_uint_eq(trace.lives[i].line, expected[i].line);
        ck_assert_uint_eq(trace.lives[i].up_ns, expected[i].up_ns);
        ck_assert_uint_eq(trace.lives[i].down_ns, expected[i].down_ns);
    }
    ck_assert_uint_eq(trace.first[1], 2);
    ck_assert_uint_eq(trace.first[2], 4);
    trace_free(&trace);
    trace_free(&trace);
    trace_free(NULL);
}
END_TEST

START_TEST(what_is_wrong_with_a_trace_is_said)
{
    expect_wrong("", NULL, "t.csv: empty: the first line names the columns host,up,down");
    expect_wrong("host,up,down\n", NULL, "t.csv: it contains no life of a host");
    expect_wrong("host,up\na,1\n", NULL,
                 "t.csv:1: there is no column down: the first line names the columns, which are "
                 "host,up,down");
    expect_wrong("host,up,down,up\n", NULL, "t.csv:1: the column up is named twice");
    expect_wrong("host,up,down\na,1,2\n\nb,3\n", NULL, "t.csv:4: 2 columns, there should be 3");
    expect_wrong("host,up,down\na,5,4\n", NULL,
                 "t.csv:2: host a goes down (4) before it is up (5)");
    expect_wrong("host,up,down\na,5,5\n", NULL,
                 "t.csv:2: host a goes down (5) before it is up (5)");
    expect_wrong("host,up,down\na,1,10\nb,1,2\na,9,20\n", NULL,
                 "t.csv:4: two lives of host a overlap: it is up here before the life of line 2 "
                 "has ended");
    expect_wrong("host,up,down\na,9,20\na,1,\n", NULL,
                 "t.csv:2: two lives of host a overlap: it is up here before the life of line 3 "
                 "has ended");
    expect_wrong("host,up,down\na,soon,20\n", NULL,
                 "t.csv:2: up is not a number of seconds: \"soon\"");
    expect_wrong("host,up,down\na,1,nan\n", NULL,
                 "t.csv:2: down is not a number of seconds: \"nan\"");
    expect_wrong("host,up,down\na,1,1e30\n", NULL,
                 "t.csv:2: down is more than 1e+09 seconds: 1e30");
    expect_wrong("host,up,down\na,,3\n", NULL, "t.csv:2: up is not a number of seconds: \"\"");
    expect_wrong("host,up,down\n,1,3\n", NULL, "t.csv:2: the name of the host is empty");
    expect_wrong("host,up,down\n\"a\",1,3\n", NULL,
                 "t.csv:2: quotes are not supported: host,up,down");
    expect_wrong("host,up,down\nc,1,3\n", "a,b", "t.csv: there is no host a, which --hosts names");
    expect_wrong("host,up,down\na,1,3\nc,1\n", "a", "t.csv:3: 2 columns, there should be 3");
    expect_wrong("host,up,down\na,1,3\n", "a,b", "t.csv: there is no host b, which --hosts names");
}
END_TEST

/* As if the lines of the others were not there: the job begins with the first of these. */
START_TEST(only_some_hosts_are_used)
{
    struct trace trace;
    const char *text = "host,up,down\nc,1,9\nb,4,5\nc,8,\na,6,8\nb,6,7\nab,2,3\n";
    ck_assert(trace_parse("t.csv", text, "a,b", &trace, error));
    ck_assert_uint_eq(trace.host_count, 2);
    ck_assert_str_eq(trace.names[0], "b");
    ck_assert_str_eq(trace.names[1], "a");
    ck_assert_uint_eq(trace.life_count, 3);
    ck_assert_uint_eq(trace.first[1], 2);
    ck_assert_uint_eq(trace.lives[0].up_ns, 0);
    ck_assert_uint_eq(trace.lives[1].up_ns, 2 * S);
    ck_assert_uint_eq(trace.lives[2].down_ns, 4 * S);
    trace_free(&trace);
}
END_TEST

START_TEST(many_hosts_are_kept_apart)
{
    static char text[400000];
    struct trace trace;
    size_t length = (size_t)sprintf(text, "host,up,down\n");
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 5000; i++)
            length += (size_t)sprintf(text + length, "pc-%d,%d,%d\n", i, round * 100 + i,
                                      round * 100 + i + 50);
    ck_assert(trace_parse("t.csv", text, NULL, &trace, error));
    ck_assert_uint_eq(trace.host_count, 5000);
    ck_assert_uint_eq(trace.first[5000], 10000);
    for (uint32_t i = 0; i < 5000; i++)
        ck_assert_uint_eq(trace.first[i + 1] - trace.first[i], 2);
    trace_free(&trace);
}
END_TEST

#define JOB(model)                                                                                 \
    "{\"hosts\":[{\"name\":\"a \\\"b\\\"\",\"slots\":4}],\"failures\":{\"known\":true,"            \
    "\"hosts\":8,\"kinds\":[{\"hosts\":3}],\"model\":{" model "},\"why\":null},\"ranks\":[{}]}\n"

START_TEST(a_real_job_is_read)
{
    struct report report;
    ck_assert(report_parse("r", JOB("\"rate\":1.25e-3,\"cost\":20.5,\"restore\":50,\"delay\":3"),
                           &report, error));
    ck_assert_double_eq(report.hosts, 8);
    ck_assert_double_eq(report.rate, 1.25e-3);
    ck_assert_double_eq(report.snapshot, 20.5);
    ck_assert_double_eq(report.restore, 50);
    ck_assert_double_eq(report.delay, 3);
    ck_assert(report.has_snapshot && report.has_restore);
    ck_assert(report_parse("r", "{\"failures\":null}\n[" JOB("\"rate\":2") "]", &report, error));
    ck_assert_double_eq(report.rate, 2);
    ck_assert(report_parse("r", JOB("\"rate\":0,\"cost\":null"), &report, error));
    ck_assert(report.rate == 0 && !report.has_snapshot && !report.has_restore);
}
END_TEST

START_TEST(what_is_no_real_job_is_said)
{
    struct report report;
    static const char *const texts[] = {"",
                                        "{",
                                        "{\"a\"",
                                        "{\"a\":",
                                        "[1,",
                                        "[1",
                                        "\"abc",
                                        "nope",
                                        "{a:1}",
                                        "[1 2]",
                                        "{} x",
                                        "{\"a\" 1}",
                                        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ck_assert(!report_parse("r", texts[i], &report, error));
        ck_assert_msg(strncmp(error, "r:1: this is ", 13) == 0, "%s: %s", texts[i], error);
    }
    ck_assert(!report_parse("r", JOB("\"rate\":1") JOB("\"rate\":2"), &report, error));
    ck_assert_str_eq(error, "r:2: a second job: leave only the one that is meant in the file");
    ck_assert(!report_parse("r", "{\"failures\": null, \"hosts\": 3}", &report, error));
    ck_assert_ptr_nonnull(strstr(error, "r: it contains nothing about failures and hosts"));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_trace_is_read,          what_is_wrong_with_a_trace_is_said,
                                  only_some_hosts_are_used, many_hosts_are_kept_apart,
                                  a_real_job_is_read,       what_is_no_real_job_is_said};
    return suite_run_tests("bspsim trace", tests, sizeof(tests) / sizeof(tests[0]), NULL, NULL);
}
