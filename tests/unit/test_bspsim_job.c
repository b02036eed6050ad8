/* test_bspsim_job.c - bspsim: simulated jobs, step by step where they are short, and against the
 * exact expectation of the model where they are many. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "coordinator/core/interval.h"
#include "tests/unit/interval_harsh.h"
#include "tests/unit/suite.h"
#include "tools/bspsim/batch.h"

#define S    UINT64_C(1000000000)
#define SURE 5.0 /* standard errors */

/* 200 s of work; snapshots cost 20 s, restores 50 s. */
static struct batch_setup base_setup(uint64_t every)
{
    return (struct batch_setup){
        .job = {.work_ns = 200 * S,
                .superstep_ns = S,
                .snapshot_ns = 20 * S,
                .restore_ns = 50 * S,
                .limit_ns = 1000000 * S,
                .rule = {.kind = every ? POLICY_TIME : POLICY_OFF, .every = every}},
        .law = {.kind = LIVES_EXPONENTIAL, .mean = INFINITY},
        .hosts = 1,
        .seed = 1,
        .runs = 1};
}

static struct job_result run_trace(const struct batch_setup *setup, const char *text)
{
    char error[TRACE_ERROR];
    struct trace trace;
    ck_assert_msg(trace_parse("t", text, NULL, &trace, error), "%s", error);
    struct lives_law law = {.kind = LIVES_TRACE, .trace = &trace};
    struct lives lives;
    struct job_result result;
    ck_assert(lives_make(&law, trace.host_count, &lives));
    job_run(&setup->job, &lives, 0, 0, &result);
    lives_free(&lives);
    trace_free(&trace);
    return result;
}

static void expect(struct job_result result, uint64_t seconds, uint64_t failures,
                   uint64_t snapshots, uint64_t down, uint64_t waiting)
{
    ck_assert(result.finished);
    ck_assert_uint_eq(result.total_ns, seconds * S);
    ck_assert_uint_eq(result.failures, failures);
    ck_assert_uint_eq(result.snapshots, snapshots);
    ck_assert_uint_eq(result.down_ns, down * S);
    ck_assert_uint_eq(result.waiting_ns, waiting * S);
}

#define TRACE(lives) "host,up,down\n" lives

START_TEST(without_failures)
{
    struct batch_setup setup = base_setup(50 * S);
    expect(run_trace(&setup, TRACE("a,0,\n")), 200 + 3 * 20, 0, 3, 0, 0);
    /* At barriers only: after 60, 120 and 180 s of work. */
    setup.job.superstep_ns = 30 * S;
    expect(run_trace(&setup, TRACE("a,0,\n")), 200 + 3 * 20, 0, 3, 0, 0);
    setup.job.superstep_ns = 150 * S;
    expect(run_trace(&setup, TRACE("a,0,\n")), 200 + 20, 0, 1, 0, 0);
    /* Every third superstep of 30 s: after 90 and 180 s. */
    setup.job.rule = (struct policy_rule){.kind = POLICY_SUPERSTEPS, .every = 3};
    setup.job.superstep_ns = 30 * S;
    expect(run_trace(&setup, TRACE("a,0,\n")), 200 + 2 * 20, 0, 2, 0, 0);
    setup.job.rule.kind = POLICY_OFF;
    expect(run_trace(&setup, TRACE("a,0,\n")), 200, 0, 0, 0, 0);
    /* None is due before the commit of the one before: after 60 s of work, then after 100 each. */
    setup = base_setup(60 * S);
    setup.job.work_ns = 600 * S;
    setup.job.commit_ns = 100 * S;
    expect(run_trace(&setup, TRACE("a,0,\n")), 600 + 6 * 20, 0, 6, 0, 0);
}
END_TEST

START_TEST(with_failures)
{
    struct batch_setup setup = base_setup(0);
    /* Lost: all. */
    expect(run_trace(&setup, TRACE("a,0,100\na,100,\n")), 100 + 50 + 200, 1, 0, 50, 0);
    /* Nobody there for a while. */
    expect(run_trace(&setup, TRACE("a,0,100\na,130,\n")), 100 + 30 + 50 + 200, 1, 0, 50, 30);
    /* Half of the hosts: half as fast.  The third one is used from the next failure on. */
    expect(run_trace(&setup, TRACE("a,0,100\nb,0,\n")), 100 + 50 + 400, 1, 0, 50, 0);
    expect(run_trace(&setup, TRACE("a,0,100\nb,0,160\na,120,\nb,160,\n")), 100 + 50 + 10 + 50 + 200,
           2, 0, 100, 0);
    /* Back to the snapshot after 50 s of work. */
    setup = base_setup(50 * S);
    expect(run_trace(&setup, TRACE("a,0,90\na,90,\n")), 90 + 50 + 150 + 2 * 20, 1, 3, 50, 0);
    /* In the middle of a snapshot: it does not count, nor what it took. */
    expect(run_trace(&setup, TRACE("a,0,60\na,60,\n")), 60 + 50 + 200 + 3 * 20, 1, 3, 50, 0);
    /* It counts 30 s after the job has gone on, which was after 70 s. */
    setup.job.commit_ns = 30 * S;
    expect(run_trace(&setup, TRACE("a,0,99\na,99,\n")), 99 + 50 + 200 + 3 * 20, 1, 4, 50, 0);
    expect(run_trace(&setup, TRACE("a,0,101\na,101,\n")), 101 + 50 + 150 + 2 * 20, 1, 3, 50, 0);
}
END_TEST

START_TEST(in_restores)
{
    struct batch_setup setup = base_setup(0);
    const char *text = TRACE("a,0,100\na,100,\nb,0,130\nb,130,\n");
    struct job_result result = run_trace(&setup, text);
    expect(result, 100 + 30 + 50 + 200, 2, 0, 80, 0);
    ck_assert_uint_eq(result.restores, 2);
    setup.job.calm_restores = true;
    expect(run_trace(&setup, text), 100 + 50 + 200, 2, 0, 50, 0);
}
END_TEST

START_TEST(some_are_given_up)
{
    struct batch_setup setup = base_setup(0);
    setup.job.limit_ns = 300 * S;
    struct job_result result = run_trace(&setup, TRACE("a,0,200\na,200,\n"));
    ck_assert(result.finished); /* with the last of it */
    result = run_trace(&setup, TRACE("a,0,199\na,199,\n"));
    ck_assert(!result.finished);
    ck_assert_uint_eq(result.total_ns, 300 * S);
    result = run_trace(&setup, TRACE("a,0,199\n")); /* nobody comes */
    ck_assert(!result.finished);
    ck_assert_uint_eq(result.total_ns, 300 * S);
    setup.law.mean = 1; /* hopeless */
    setup.job.limit_ns = UINT64_MAX / 2;
    struct batch_result batch;
    ck_assert(batch_run(&setup, &batch, NULL, NULL));
    ck_assert_uint_eq(batch.finished, 0);
    ck_assert_double_eq(batch.failures, JOB_FAILURES_MOST);
    ck_assert_double_eq(batch.utilisation, 0); /* nothing was saved */
    ck_assert_double_eq_tol(batch.down + batch.lost, batch.seconds, 1e-6);
}
END_TEST

/* Work that is saved counts if it is so when the job is given up, not after that. */
START_TEST(what_is_saved_after_the_limit_does_not_count)
{
    struct batch_setup setup = base_setup(40 * S);
    setup.job.work_ns = 100 * S;
    setup.job.commit_ns = 60 * S;
    setup.job.limit_ns = 119 * S; /* pause until 60 s, commit at 120 s */
    struct job_result result = run_trace(&setup, TRACE("a,0,\n"));
    ck_assert(!result.finished);
    ck_assert_uint_eq(result.useful_ns, 0);
    setup.job.limit_ns = 120 * S;
    result = run_trace(&setup, TRACE("a,0,\n"));
    ck_assert_uint_eq(result.useful_ns, 40 * S);
    /* On half of the hosts the barrier itself is after the limit. */
    setup = base_setup(0);
    setup.job.rule = (struct policy_rule){.kind = POLICY_SUPERSTEPS, .every = 90};
    setup.job.work_ns = setup.job.limit_ns = 100 * S;
    setup.job.snapshot_ns = 0;
    result = run_trace(&setup, TRACE("a,0,\nb,100000,\n"));
    ck_assert(!result.finished);
    ck_assert_uint_eq(result.useful_ns, 0);
}
END_TEST

static struct batch_result batch_of_trace(struct batch_setup setup, const char *text)
{
    char error[TRACE_ERROR];
    struct trace trace;
    struct batch_result batch;
    ck_assert_msg(trace_parse("t", text, NULL, &trace, error), "%s", error);
    setup.law = (struct lives_law){.kind = LIVES_TRACE, .trace = &trace};
    setup.hosts = trace.host_count;
    ck_assert(batch_run(&setup, &batch, NULL, NULL));
    trace_free(&trace);
    return batch;
}

/* Of a job that is given up, what a committed snapshot has; of others all. */
START_TEST(what_is_saved_is_useful)
{
    struct batch_setup setup = base_setup(50 * S);
    setup.job.limit_ns = 1000 * S;
    const char *text = TRACE("a,0,99\n"); /* nobody comes */
    struct batch_result batch = batch_of_trace(setup, text);
    ck_assert_uint_eq(batch.finished, 0);
    ck_assert_double_eq(batch.useful, 50);
    ck_assert_double_eq(batch.utilisation, 50.0 / 1000);
    ck_assert_double_eq(batch.lost, 1000 - 50 - 20);
    setup.job.commit_ns = 30 * S; /* it fails before the commit */
    batch = batch_of_trace(setup, text);
    ck_assert_double_eq(batch.useful, 0);
    ck_assert_double_eq(batch.lost, 1000 - 20);
    batch = batch_of_trace(setup, TRACE("a,0,\n"));
    ck_assert_uint_eq(batch.finished, 1);
    ck_assert_double_eq(batch.useful, 200);
    ck_assert_double_eq(batch.utilisation, 200.0 / 260);
    ck_assert_double_eq(batch.lost, 0);
}
END_TEST

/* ---- Against the exact expectation -------------------------------------------------------- */

static uint64_t fresh_seed(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t seed = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    return seed;
}

/* Jobs of that many hosts that live 7200 s. */
static struct batch_setup many(uint32_t hosts, uint64_t work, uint64_t every, uint64_t commit)
{
    struct batch_setup setup = base_setup(every * S);
    setup.law.mean = 7200;
    setup.hosts = hosts;
    setup.runs = 2000;
    setup.seed = fresh_seed();
    setup.job.work_ns = work * S;
    setup.job.commit_ns = commit * S;
    setup.job.limit_ns = 1000 * work * S;
    return setup;
}

static struct interval_model model_of(const struct batch_setup *setup)
{
    return (struct interval_model){.rate = setup->hosts / setup->law.mean,
                                   .cost = (double)setup->job.snapshot_ns / 1e9,
                                   .restore = (double)setup->job.restore_ns / 1e9,
                                   .delay = (double)setup->job.commit_ns / 1e9};
}

START_TEST(means_are_those_of_the_model)
{
    static const struct {
        uint32_t hosts;
        uint64_t work, every, commit;
    } cases[] = {{8, 5000, 177, 0},   {8, 5000, 60, 0},     {8, 5000, 300, 0},  {8, 5000, 177, 60},
                 {8, 5000, 177, 170}, {32, 2000, 82, 0},    {32, 2000, 82, 40}, {32, 2000, 82, 80},
                 {1, 20000, 600, 0},  {1, 20000, 600, 400}, {8, 5000, 6000, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct batch_setup setup =
            many(cases[i].hosts, cases[i].work, cases[i].every, cases[i].commit);
        struct interval_model model = model_of(&setup);
        struct batch_result result;
        setup.job.calm_restores = true;
        ck_assert(batch_run(&setup, &result, NULL, NULL));
        ck_assert_uint_eq(result.finished, result.runs);
        double expected = interval_time(&model, (double)cases[i].every, (double)cases[i].work);
        ck_assert_msg(fabs(result.seconds - expected) < SURE * result.error,
                      "case %zu: %.2f +- %.2f s simulated, %.2f s expected", i, result.seconds,
                      result.error, expected);
    }
}
END_TEST

/* Long jobs: the utilisation of the renewal process, with restores disturbed and not. */
START_TEST(utilisations_are_those_of_the_model)
{
    static const uint64_t delays[] = {0, 60, 150};
    for (size_t i = 0; i < 6; i++) {
        struct batch_setup setup = many(8, 2000000, 177, delays[i / 2]);
        struct interval_model model = model_of(&setup);
        struct batch_result result;
        setup.runs = 20;
        setup.job.calm_restores = i % 2 == 0;
        ck_assert(batch_run(&setup, &result, NULL, NULL));
        double expected = setup.job.calm_restores ? interval_utilisation(&model, 177)
                                                  : interval_utilisation_harsh(&model, 177);
        ck_assert_msg(fabs(result.utilisation - expected) < SURE * result.utilisation_error + 1e-4,
                      "case %zu: %.5f +- %.5f simulated, %.5f expected", i, result.utilisation,
                      result.utilisation_error, expected);
    }
}
END_TEST

/* ---- Seeds -------------------------------------------------------------------------------- */

static void add_up(void *context, uint32_t number, const struct job_result *job)
{
    uint64_t *digest = context;
    *digest =
        (*digest ^ job->total_ns ^ job->snapshots << 40 ^ number) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t digest_of(const struct batch_setup *setup)
{
    struct batch_result result;
    uint64_t digest = 0;
    ck_assert(batch_run(setup, &result, add_up, &digest));
    return digest;
}

START_TEST(a_seed_repeats_a_run)
{
    struct batch_setup setup = many(8, 20000, 100, 10);
    setup.runs = 50;
    setup.job.rule = (struct policy_rule){.kind = POLICY_AUTO, .overhead = 0.05};
    uint64_t digest = digest_of(&setup);
    ck_assert_uint_eq(digest_of(&setup), digest);
    setup.seed++;
    ck_assert_uint_ne(digest_of(&setup), digest);
}
END_TEST

/* AUTO, which knows nothing beforehand, close to the best interval, and its estimate to the truth.
 */
START_TEST(auto_learns_the_rate)
{
    struct batch_setup setup = many(8, 100000, 177, 0);
    struct batch_result fixed, automatic;
    double bias, spread;
    setup.runs = 200;
    ck_assert(batch_run(&setup, &fixed, NULL, NULL));
    setup.job.rule = (struct policy_rule){.kind = POLICY_AUTO, .overhead = 0.05};
    ck_assert(batch_run(&setup, &automatic, NULL, NULL));
    ck_assert_double_lt(automatic.seconds, 1.02 * fixed.seconds);
    observed_error_tell(&automatic.estimate, &bias, &spread);
    ck_assert_double_eq_tol(bias, 1, 0.1);
    ck_assert_double_le(spread, 1.4);
    observed_error_tell(&fixed.estimate, &bias, &spread);
    ck_assert(bias == 1 && spread == 1); /* nothing was compared */
}
END_TEST

/* The first snapshot of AUTO is early, at the first barrier, and without failures there are those
 * that 5 % of the time pay for. */
START_TEST(auto_without_failures)
{
    struct batch_setup setup = base_setup(0);
    setup.job.rule = (struct policy_rule){.kind = POLICY_AUTO, .overhead = 0.05};
    setup.job.work_ns = S; /* no barrier before its end */
    expect(run_trace(&setup, TRACE("a,0,\n")), 1, 0, 0, 0, 0);
    setup.job.work_ns = 2 * S;
    expect(run_trace(&setup, TRACE("a,0,\n")), 22, 0, 1, 0, 0);
    setup.job.work_ns = 9500 * S;
    struct job_result result = run_trace(&setup, TRACE("a,0,\n"));
    ck_assert_uint_ge(result.snapshots, 23);
    ck_assert_uint_le(result.snapshots, 26);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bspsim job");
    TCase *cases = tcase_create("bspsim job");
    const TTest *const tests[] = {without_failures,
                                  with_failures,
                                  in_restores,
                                  some_are_given_up,
                                  what_is_saved_after_the_limit_does_not_count,
                                  what_is_saved_is_useful,
                                  means_are_those_of_the_model,
                                  utilisations_are_those_of_the_model,
                                  a_seed_repeats_a_run,
                                  auto_learns_the_rate,
                                  auto_without_failures};
    tcase_set_timeout(cases, 120);
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
        tcase_add_test(cases, tests[i]);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
