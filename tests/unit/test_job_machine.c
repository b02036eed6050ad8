/* test_job_machine.c - bsprun's job machine: terms, elections, replacements, restarts. */
#include <check.h>

#include "tests/unit/job_play.h"
#include "tests/unit/suite.h"

/* One host, term 1. */
static void start_running(struct job_machine_config config)
{
    config.host_count = 1;
    start(config);
    EVENT(AGENT_UP, .host = 4);
    expect("");
    EVENT(REGISTERED, .host = 4);
    expect("E");
    ck_assert_uint_eq(job_machine_term(machine), 1);
}

START_TEST(from_begin_to_end)
{
    start_running(CONFIG());
    ck_assert(!job_machine_restores(machine));
    EVENT(COMMITTED, .term = 1, .name = {0, 1});
    EVENT(CLOSING, .term = 1);
    expect("C");
    EVENT(ENDED, .term = 1, .outcome = {.status = 7});
    expect("F");
    ck_assert_int_eq(effects.items[0].status, 7);
    EVENT(FINISH_RECORDED);
    expect("X");
    ck_assert_int_eq(effects.items[0].status, 7);
    EVENT(STOP, .signal = 2);
    ck_assert(effects.dropped);
}
END_TEST

START_TEST(the_first_to_come_is_elected)
{
    start(CONFIG(.host_count = 3, .spares = 1));
    EVENT(AGENT_UP, .host = 2);
    EVENT(AGENT_UP, .host = 4);
    expect(""); /* process 0 has not registered */
    EVENT(STOP, .signal = 2);
    expect("s");
    ck_assert_uint_eq(effects.items[0].host, 4); /* where the program runs alone */
    EVENT(REGISTERED, .host = 4);
    expect("E");
    ck_assert_uint_eq(effects.items[0].host, 2);
    ck_assert_uint_eq(job_machine_zero(machine), 2);
    ck_assert_uint_eq(job_machine_program(machine), 4);
    ck_assert(job_machine_member(machine, 4) && !job_machine_member(machine, 9));
}
END_TEST

START_TEST(the_next_is_elected_from_the_living)
{
    start(CONFIG(.host_count = 3));
    EVENT(AGENT_UP, .host = 9);
    EVENT(AGENT_UP, .host = 2);
    EVENT(AGENT_UP, .host = 4);
    EVENT(REGISTERED, .host = 4);
    ck_assert_uint_eq(effects.items[0].host, 9);
    EVENT(AGENT_LOST, .host = 4);
    expect("!E");
    ck_assert_uint_eq(effects.items[1].host, 9); /* it lives, and stays */
    EVENT(AGENT_LOST, .host = 9);
    expect("!E");
    ck_assert_uint_eq(effects.items[1].host, 2);
    tear_down();

    start(CONFIG(.host_count = 2, .restore = true, .last_term = 6));
    EVENT(AGENT_UP, .host = 2);
    EVENT(AGENT_UP, .host = 4);
    expect("E");
    ck_assert_uint_eq(effects.items[0].host, 2);
}
END_TEST

START_TEST(a_fault_opens_the_next_term)
{
    start_running(CONFIG());
    EVENT(TERM_OVER, .term = 1, .outcome = death(5));
    expect("!E");
    ck_assert_uint_eq(job_machine_term(machine), 2);
    ck_assert(job_machine_restores(machine));
    EVENT(CHOSEN, .term = 1, .name = {3, 1}); /* of the old term */
    ck_assert(effects.dropped);
    EVENT(CHOSEN, .term = 2, .name = {3, 1});
    expect("R");
    EVENT(RECORDED, .term = 2, .name = {3, 1});
    expect("T");
    ck_assert(
        !coord_lineage_allows(job_machine_lineage(machine), (struct bspz_snapshot_name){4, 1}));
    EVENT(RECORDED, .term = 2, .name = {3, 1}, .error = 28);
    expect("X");
}
END_TEST

START_TEST(faults_are_counted_between_commits)
{
    start_running(CONFIG());
    EVENT(TERM_OVER, .term = 1, .outcome = death(5));
    EVENT(TERM_OVER, .term = 2, .outcome = death(5));
    EVENT(COMMITTED, .term = 3, .name = {4, 3});
    EVENT(TERM_OVER, .term = 3, .outcome = death(5));
    EVENT(TERM_OVER, .term = 4, .outcome = death(5));
    expect("!E");
    ck_assert_uint_eq(job_machine_fault(machine).restarts, 2);
    ck_assert_uint_eq(job_machine_fault(machine).repeats, 4);
    EVENT(TERM_OVER, .term = 5, .outcome = death(5));
    expect("X");
    ck_assert_int_eq(effects.items[0].status, 139);
    ck_assert_uint_eq(job_machine_outcome(machine).signal, 11);
    ck_assert(job_machine_outcome(machine).again);
}
END_TEST

START_TEST(agents_are_replaced)
{
    start_running(CONFIG());
    EVENT(AGENT_LOST, .host = 4, .usable = true);
    expect("A!");
    EVENT(AGENT_UP, .host = 4);
    expect("E");
    EVENT(AGENT_LOST, .host = 4);
    expect("X"); /* nobody is left */
    tear_down();

    start(CONFIG(.host_count = 3, .spares = 1));
    EVENT(AGENT_UP, .host = 2);
    EVENT(REGISTERED, .host = 2);
    EVENT(AGENT_UP, .host = 4);
    EVENT(AGENT_LOST, .host = 2, .unheard = true, .now_ms = 50);
    expect("A!");
    ck_assert_uint_eq(effects.items[0].host, 9);
    EVENT(AGENT_UP, .host = 9, .now_ms = 60);
    expect("w"); /* the lost one may still compute */
    ck_assert_uint_eq(effects.items[0].milliseconds, 90);
    EVENT(TIMER, .now_ms = 150);
    expect("E");
    ck_assert_uint_eq(effects.items[0].host, 4);
}
END_TEST

START_TEST(what_is_not_recovered)
{
    start_running(CONFIG());
    EVENT(CLOSING, .term = 1);
    EVENT(AGENT_LOST, .host = 4, .usable = true);
    expect("X");
    tear_down();

    start_running(CONFIG());
    EVENT(STOP, .signal = 2, .how = WIRE_STOP_SIGNAL);
    expect("s");
    EVENT(AGENT_LOST, .host = 4, .usable = true);
    expect("X");
    ck_assert_int_eq(effects.items[0].status, 130);
    tear_down();

    start_running(CONFIG());
    EVENT(COMMITTED, .term = 1, .name = {0, 1});
    EVENT(SAVE, .stop = true, .signal = 15, .grace_ms = 9);
    expect("S");
    EVENT(TERM_OVER, .term = 1, .outcome = death(5));
    expect("X");
    ck_assert_int_eq(effects.items[0].status, JOB_STATUS_SAVED);
    tear_down();

    struct job_machine_config plain = CONFIG();
    plain.snapshots = false;
    start_running(plain);
    EVENT(ENDED, .term = 1, .outcome = death(5));
    expect("X");
    ck_assert(!job_machine_outcome(machine).again);
}
END_TEST

START_TEST(before_the_first_term)
{
    start(CONFIG(.host_count = 1));
    EVENT(STOP, .signal = 2);
    expect("X"); /* there is not even an agent */
    ck_assert_int_eq(effects.items[0].status, 130);
    tear_down();

    start(CONFIG(.host_count = 1));
    EVENT(AGENT_UP, .host = 4);
    EVENT(SAVE);
    expect("");
    EVENT(SAVE, .stop = true, .signal = 15);
    expect("s"); /* its agent ends the program, which may take it a while */
    EVENT(STOP, .signal = 2, .how = WIRE_STOP_KILL);
    expect("s");
    ck_assert_int_eq(effects.items[0].how, WIRE_STOP_KILL);
    EVENT(ENDED, .term = 0, .outcome = {.status = 143, .cause = WIRE_CAUSE_STOPPED});
    expect("X");
    ck_assert_int_eq(effects.items[0].status, 143);
    tear_down();

    start(CONFIG(.host_count = 1));
    EVENT(AGENT_UP, .host = 4);
    EVENT(ENDED, .term = 0, .outcome = {.status = 5});
    expect("X"); /* a program that gave up, which is nothing to record */
    tear_down();

    start_running(CONFIG());
    EVENT(ENDED, .term = 0, .outcome = death(0)); /* its agent had not heard of the election */
    expect("X");
    ck_assert_int_eq(effects.items[0].status, 139);
    tear_down();

    start(CONFIG(.host_count = 1, .restore = true, .last_term = 6));
    EVENT(AGENT_UP, .host = 4);
    EVENT(ENDED, .term = 6, .outcome = {.status = 5});
    ck_assert(effects.dropped);
}
END_TEST

START_TEST(hosts_that_cannot_be_started)
{
    start(CONFIG(.host_count = 2));
    ck_assert_uint_eq(job_machine_zero(machine), 4);
    EVENT(AGENT_UP, .host = 4);
    EVENT(AGENT_LOST, .host = 2);
    expect("X"); /* fewer hosts are not what was asked for */
    tear_down();

    start(CONFIG(.host_count = 3, .spares = 1));
    EVENT(AGENT_UP, .host = 2);
    EVENT(AGENT_LOST, .host = 4);
    expect("A");
    ck_assert_uint_eq(effects.items[0].host, 9);
    ck_assert_uint_eq(job_machine_zero(machine), 9); /* it begins the program instead */
    EVENT(AGENT_UP, .host = 9);
    EVENT(REGISTERED, .host = 9);
    expect("E");
    EVENT(AGENT_LOST, .host = 9, .usable = true);
    expect("A!"); /* from now on a job goes on with what there is */
    EVENT(AGENT_LOST, .host = 9);
    expect("E");
    ck_assert_uint_eq(effects.items[0].host, 2);
    tear_down();

    start(CONFIG(.host_count = 2, .spares = 1));
    EVENT(AGENT_UP, .host = 4);
    EVENT(REGISTERED, .host = 4);
    expect("E");
    EVENT(AGENT_LOST, .host = 4);
    expect("A!");
    for (int again = 2; again <= 3; again++) {
        EVENT(AGENT_LOST, .host = 2, .usable = true);
        expect("A"); /* a spare is tried three times, as every host */
    }
    EVENT(AGENT_LOST, .host = 2, .usable = true);
    expect("X");
    tear_down();

    start(CONFIG(.host_count = 3, .spares = 1));
    EVENT(AGENT_UP, .host = 4);
    EVENT(AGENT_LOST, .host = 4);
    expect("X"); /* the program may have done anything there */
    tear_down();

    start(CONFIG(.host_count = 2, .restore = true, .last_term = 6));
    EVENT(AGENT_UP, .host = 4);
    EVENT(AGENT_LOST, .host = 4, .usable = true);
    expect("A");
    EVENT(AGENT_UP, .host = 4);
    EVENT(AGENT_LOST, .host = 2);
    expect("E"); /* an old one goes on with what there is */
}
END_TEST

START_TEST(restarted)
{
    start(CONFIG(.host_count = 1, .restore = true, .wanted = 12, .last_term = 6));
    EVENT(AGENT_UP, .host = 4);
    expect("E");
    ck_assert_uint_eq(job_machine_term(machine), 7);
    ck_assert_uint_eq(job_machine_wanted(machine), 12);
    EVENT(TERM_OVER, .term = 7, .outcome = death(12));
    ck_assert_uint_eq(job_machine_wanted(machine), 12);
    EVENT(RECORDED, .term = 8, .name = {12, 3});
    ck_assert_uint_eq(job_machine_wanted(machine), COORD_NEVER);
    struct coord_outcome bad = death(12);
    bad.bad = (struct bspz_snapshot_name){12, 3};
    EVENT(TERM_OVER, .term = 8, .outcome = bad);
    const struct bspz_snapshot_name *avoid;
    ck_assert_uint_eq(job_machine_avoid(machine, &avoid), 1);
    ck_assert_uint_eq(avoid[0].superstep, 12);
    tear_down();

    start(CONFIG(.host_count = 1, .restore = true, .wanted = COORD_NEVER, .last_term = 6));
    EVENT(AGENT_UP, .host = 4);
    EVENT(RECORDED, .term = 7, .name = {12, 3});
    struct coord_outcome differs = death(12);
    differs.right = (struct bspz_snapshot_name){16, 7}; /* newer ones may be wrong */
    EVENT(TERM_OVER, .term = 7, .outcome = differs);
    expect("!E");
    ck_assert(coord_lineage_allows(job_machine_lineage(machine), differs.right));
    ck_assert(
        !coord_lineage_allows(job_machine_lineage(machine), (struct bspz_snapshot_name){20, 7}));
    tear_down();

    start(CONFIG(.host_count = 1, .restore = true, .finished = true, .finished_status = 3));
    expect("X");
    ck_assert_int_eq(effects.items[0].status, 3);
}
END_TEST

START_TEST(a_host_that_does_not_come_costs_no_restart)
{
    start(CONFIG(.host_count = 3, .restore = true, .last_term = 1));
    EVENT(AGENT_UP, .host = 4);
    EVENT(AGENT_UP, .host = 2);
    EVENT(AGENT_LOST, .host = 9); /* nothing has run there that would have to be put back */
    expect("E");
    ck_assert_uint_eq(job_machine_fault(machine).restarts, 0);
    EVENT(TERM_OVER, .term = 2, .outcome = death(5));
    expect("!E");
    ck_assert_uint_eq(job_machine_fault(machine).restarts, 1);
    EVENT(TERM_OVER, .term = 3, .outcome = death(6));
    expect("!E");
    ck_assert_uint_eq(job_machine_fault(machine).restarts, 2); /* of 2 */
    EVENT(TERM_OVER, .term = 4, .outcome = death(7));
    expect("X");
    tear_down();

    /* It is what the job ends of where there is nothing else to go on with. */
    start(CONFIG(.host_count = 1, .restore = true, .last_term = 1));
    EVENT(AGENT_LOST, .host = 4);
    expect("X");
    ck_assert_int_eq(job_machine_outcome(machine).cause, WIRE_CAUSE_HOST_LOST);
}
END_TEST

START_TEST(lost_while_bsp_end_is_agreed_upon)
{
    /* Processor Zero decides what comes of it: when that is a rollback, the host is replaced. */
    start(CONFIG(.host_count = 3, .spares = 1));
    EVENT(AGENT_UP, .host = 4);
    EVENT(AGENT_UP, .host = 2);
    EVENT(REGISTERED, .host = 4);
    EVENT(COMMITTED, .term = 1, .name = {0, 1});
    EVENT(CLOSING, .term = 1);
    EVENT(AGENT_LOST, .host = 2, .usable = true);
    expect("");
    EVENT(TERM_OVER, .term = 1, .outcome = {.cause = WIRE_CAUSE_HOST_LOST});
    expect("c");
    EVENT(ROLL);
    expect("bA!");
    ck_assert_uint_eq(effects.items[1].host, 2);
    EVENT(AGENT_UP, .host = 2);
    expect("E");

    EVENT(CLOSING, .term = 2);
    EVENT(AGENT_LOST, .host = 2);
    expect("");
    EVENT(TERM_OVER, .term = 2, .outcome = death(5));
    expect("A!");
    ck_assert_uint_eq(effects.items[0].host, 9); /* the spare */
    tear_down();

    /* Many are: not all of them in one step. */
    struct wire_host many[20];
    for (uint32_t i = 0; i < 20; i++)
        many[i] = (struct wire_host){.host = i};
    struct job_machine_config wide = CONFIG(.host_count = 20);
    wide.hosts = many;
    start(wide);
    for (uint32_t i = 0; i < 20; i++)
        EVENT(AGENT_UP, .host = i);
    EVENT(REGISTERED, .host = 0);
    EVENT(CLOSING, .term = 1);
    for (uint32_t i = 1; i < 20; i++)
        EVENT(AGENT_LOST, .host = i, .usable = true);
    EVENT(TERM_OVER, .term = 1, .outcome = death(5));
    expect("AAAAAAAA!");
    EVENT(AGENT_UP, .host = 1);
    expect("AAAAAAAA");
    EVENT(AGENT_UP, .host = 2);
    expect("AAA");
    for (uint32_t i = 3; i < 20; i++)
        EVENT(AGENT_UP, .host = i);
    expect("E");
    ck_assert(job_machine_member(machine, 19));
    tear_down();

    /* When it is the end, it is not. */
    start(CONFIG(.host_count = 3, .spares = 1));
    EVENT(AGENT_UP, .host = 4);
    EVENT(AGENT_UP, .host = 2);
    EVENT(REGISTERED, .host = 4);
    EVENT(CLOSING, .term = 1);
    EVENT(AGENT_LOST, .host = 2, .usable = true);
    EVENT(ENDED, .term = 1, .outcome = {.status = 0});
    expect("F");
}
END_TEST

static void expect_reason(const char *text)
{
    char reason[JOB_REASON_MAX];
    expect("X");
    ck_assert_int_ne(effects.items[0].status, 0);
    ck_assert_str_eq(job_machine_reason(machine, reason), text);
    tear_down();
}

START_TEST(every_end_has_a_reason)
{
    start_running(CONFIG());
    EVENT(ENDED, .term = 1, .outcome = {.status = 7, .pid = COORD_NOBODY});
    EVENT(FINISH_RECORDED);
    expect_reason("process 0 ended with status 7");

    struct job_machine_config once = CONFIG();
    once.max_restarts = 0;
    start_running(once);
    EVENT(TERM_OVER, .term = 1, .outcome = death(5));
    expect_reason("process 1 was killed by signal 11; no restarts are left (of 0)");

    start_running(CONFIG());
    EVENT(AGENT_LOST, .host = 4);
    expect_reason("a host was lost");

    start(CONFIG(.host_count = 1, .restore = true, .last_term = 6));
    EVENT(AGENT_UP, .host = 4);
    EVENT(ENDED, .term = 7,
          .outcome = {.status = 1, .cause = WIRE_CAUSE_NOTHING_SAVED, .pid = COORD_NOBODY});
    expect_reason("there is no snapshot to restart from");

    start(CONFIG(.host_count = 1));
    EVENT(STOP, .signal = 2);
    expect_reason("the job was stopped by signal 2");

    start_running(CONFIG());
    EVENT(ENDED, .term = 1, .outcome = {.status = 1, .cause = WIRE_CAUSE_REFUSED, .pid = 3});
    expect_reason("process 3: a process cannot be captured");

    for (enum wire_cause cause = WIRE_CAUSE_NONE; cause < WIRE_CAUSE_COUNT; cause++) {
        char reason[JOB_REASON_MAX];
        start(CONFIG(.host_count = 1));
        EVENT(AGENT_UP, .host = 4);
        EVENT(ENDED, .term = 0, .outcome = {.status = 1, .cause = cause, .pid = COORD_NOBODY});
        expect("X");
        ck_assert_str_ne(job_machine_reason(machine, reason), "");
        tear_down();
    }
}
END_TEST

START_TEST(senseless)
{
    struct job_machine_config config = CONFIG();
    ck_assert_ptr_null(job_machine_new(&config, &effects));
    config.host_count = config.spares = 1;
    ck_assert_ptr_null(job_machine_new(&config, &effects));
    config.spares = 0;
    config.snapshots = false;
    config.restore = true;
    ck_assert_ptr_null(job_machine_new(&config, &effects));
    ck_assert_str_eq(job_machine_state_name(JOB_MACHINE_GATHERING), "GATHERING");
    job_machine_free(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("job machine");
    TCase *tests = tcase_create("jobs");
    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, from_begin_to_end);
    tcase_add_test(tests, the_first_to_come_is_elected);
    tcase_add_test(tests, the_next_is_elected_from_the_living);
    tcase_add_test(tests, a_fault_opens_the_next_term);
    tcase_add_test(tests, faults_are_counted_between_commits);
    tcase_add_test(tests, agents_are_replaced);
    tcase_add_test(tests, what_is_not_recovered);
    tcase_add_test(tests, before_the_first_term);
    tcase_add_test(tests, hosts_that_cannot_be_started);
    tcase_add_test(tests, restarted);
    tcase_add_test(tests, a_host_that_does_not_come_costs_no_restart);
    tcase_add_test(tests, lost_while_bsp_end_is_agreed_upon);
    tcase_add_test(tests, every_end_has_a_reason);
    tcase_add_test(tests, senseless);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
