/* test_coord_takeover.c - Processor Zero in the place of another one of the same term. */
#include <check.h>
#include <stdio.h>

#include "tests/unit/coord_play.h"
#include "tests/unit/suite.h"

/* Hosts 0 and 3, and hosts 7 and 5, have the same process; that of Processor Zero, 5, is lost. */
static const uint64_t homes[] = {0, 7}, leads[] = {3, 0, 5, 7};

static struct coord_config succeeding(uint64_t committed)
{
    return SAVING(.rule = {POLICY_SUPERSTEPS, 4, 0}, .replicas = 2, .recover = true,
                  .predecessor = {{homes, 2}, {leads, 4}, {committed, 3}});
}

static void start_succeeding(uint64_t committed)
{
    start(4, succeeding(committed));
    ck_assert_int_eq(coord_phase(coord), COORD_TAKING_OVER);
    ck_assert_int_eq(lost(5), 0);
    ck_assert_int_eq(coord_phase(coord), COORD_TAKING_OVER);
}

/* Of a host that runs. */
static int account(uint32_t host, uint64_t decided, uint64_t consult, uint64_t captures,
                   uint64_t committed)
{
    return SAY(ACCOUNT, .account = {.host = host,
                                    .decided = decided,
                                    .consult = consult,
                                    .captures = captures,
                                    .committed = {committed, 3},
                                    .runs = true});
}

/* The snapshot that was committed is announced again. */
static void all_know(uint64_t snapshot)
{
    known(0, snapshot);
    known(3, snapshot);
    known(7, snapshot);
    ck_assert_int_eq(coord->ticket.state, COORD_TICKET_NONE);
}

/* What one of them knew of is said to all, and what comes next is decided by it. */
START_TEST(the_newest_decision_stands)
{
    start_succeeding(0);
    account(0, 3, 5, 0, 0);
    ck_assert_int_eq(arrived(7, 9, WIRE_BARRIER_SYNC), 0); /* said to the former one */
    ck_assert(effects.dropped);
    account(7, 6, 9, 0, 0);
    ck_assert_uint_eq(effects.count, 0);
    account(3, 0, 2, 0, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ck_assert(!has_message(WIRE_RUN));
    ck_assert_uint_eq(message_of(WIRE_TAKEN_OVER)->taken_over.decided, 6);
    ck_assert_uint_eq(message_of(WIRE_TAKEN_OVER)->taken_over.consult, 9);
    ck_assert_int_eq(arrived(3, 2, WIRE_BARRIER_SYNC), 0); /* it will find that decided */
    ck_assert(effects.dropped);
    arrived(7, 9, WIRE_BARRIER_SYNC);
    ck_assert(!has_message(WIRE_RELEASE));
    arrived(3, 9, WIRE_BARRIER_SYNC);
    ck_assert(has_message(WIRE_RELEASE));
}
END_TEST

/* A snapshot that lost hosts may have begun is not begun again under its name. */
START_TEST(the_first_barrier_is_no_snapshot)
{
    start_succeeding(0);
    account(0, 0, 3, 0, 0);
    account(7, 0, 3, 0, 0);
    account(3, 0, 3, 0, 0);
    all_know(0);
    arrived(0, 3, WIRE_BARRIER_SYNC);
    arrived(7, 3, WIRE_BARRIER_SYNC);
    ck_assert_int_eq(message_of(WIRE_RELEASE)->release.decision, WIRE_DECISION_GO);
    for (uint64_t next = 4; next < 7; next++) {
        ck_assert_uint_eq(coord->consult, next);
        arrived(0, next, WIRE_BARRIER_SYNC);
        arrived(7, next, WIRE_BARRIER_SYNC);
    }
    arrived(0, 7, WIRE_BARRIER_SYNC);
    arrived(7, 7, WIRE_BARRIER_SYNC);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
}
END_TEST

/* Processes that wait to be captured go on once they are, without that snapshot. */
START_TEST(captured_for_nothing)
{
    start_succeeding(0);
    account(0, 3, 3, 4, 0);
    account(3, 3, 3, 0, 0);
    account(7, 3, 3, 0, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    ck_assert_uint_eq(message_of(WIRE_RELEASE)->envelope.superstep, 3);
    ck_assert_int_eq(message_of(WIRE_RELEASE)->release.decision, WIRE_DECISION_SNAPSHOT);
    ck_assert_uint_eq(message_of(WIRE_RELEASE)->release.captures.count, 0);
    all_know(0);
    ck_assert_int_eq(arrived(7, 3, WIRE_BARRIER_SYNC), 0); /* it had not heard of it */
    save_now(true);                                        /* is for the next one */
    ck_assert_int_eq(captured(0, 3), 0);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ck_assert_uint_eq(message_of(WIRE_RESUME)->envelope.superstep, 3);
    ck_assert_int_eq(durable(0, 4, 0), 0); /* its writer had not been told yet */
    ck_assert(effects.dropped);
    ck_assert_int_eq(image_failed(0, 4, 0, WIRE_CAUSE_NOT_WRITTEN), 0);
    ck_assert_int_eq(persisted(0, 4, 0), 0);
    ck_assert(effects.dropped);
    arrived(0, 4, WIRE_BARRIER_SYNC);
    arrived(7, 4, WIRE_BARRIER_SYNC);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
}
END_TEST

START_TEST(captured_and_lost)
{
    start_succeeding(0);
    account(0, 3, 3, 4, 0);
    account(3, 3, 3, 0, 0);
    account(7, 3, 3, 0, 0);
    ck_assert_int_eq(lost(0), 0);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ck_assert(has_message(WIRE_RESUME));
}
END_TEST

/* A commit that one of them knew of stands, and bsprun is told. */
START_TEST(the_newest_commit_stands)
{
    start_succeeding(0);
    account(0, 4, 6, 0, 4);
    account(3, 4, 6, 0, 0);
    account(7, 4, 6, 0, 0);
    ck_assert_uint_eq(message_of(WIRE_SAVED)->saved.superstep, 4);
    ck_assert(!message_of(WIRE_SAVED)->saved.known);
    ck_assert_uint_eq(message_of(WIRE_COMMITTED)->envelope.superstep, 4);
    ck_assert_uint_eq(coord_outcome(coord).committed.superstep, 4);
    ck_assert_int_eq(persisted(7, 4, 0), 0);
    all_know(4);
    ck_assert(has_message(WIRE_RETIRE));
}
END_TEST

/* The barrier of a committed snapshot was decided, whether or not a living host has heard that. */
START_TEST(a_commit_says_that_its_barrier_was_decided)
{
    start_succeeding(4);
    account(0, 3, 3, 0, 4);
    account(3, 3, 3, 0, 4);
    account(7, 3, 3, 0, 4);
    ck_assert_uint_eq(message_of(WIRE_TAKEN_OVER)->taken_over.decided, 4);
    ck_assert_uint_ge(message_of(WIRE_TAKEN_OVER)->taken_over.consult, 4);
    ck_assert(!has_message(WIRE_SAVED));
}
END_TEST

START_TEST(after_bsp_end)
{
    start_succeeding(0);
    account(0, 3, 5, 0, 0);
    SAY(ACCOUNT, .account = {.host = 7,
                             .decided = 5,
                             .ended = true,
                             .consult = COORD_NEVER,
                             .committed = {0, 3},
                             .runs = true});
    account(3, 3, 5, 0, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDING);
    ck_assert(message_of(WIRE_TAKEN_OVER)->taken_over.ended);
    exited(3, 0, 0);
    exited(7, 1, 0);
    expect_outcome(0, WIRE_CAUSE_NONE, COORD_NOBODY);
}
END_TEST

/* Those that are left finish. */
START_TEST(after_bsp_end_a_process_has_no_host)
{
    start_succeeding(0);
    SAY(ACCOUNT, .account = {.host = 3,
                             .decided = 5,
                             .ended = true,
                             .consult = COORD_NEVER,
                             .committed = {0, 3},
                             .runs = true});
    lost(7);
    account(0, 3, 5, 0, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDING);
    exited(3, 0, 0);
    expect_outcome(1, WIRE_CAUSE_HOST_LOST, 1);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDED);
    ck_assert(!coord_outcome(coord).again);
}
END_TEST

/* The former one has let the others run, and decided the end. */
START_TEST(after_bsp_end_one_does_not_run)
{
    start_succeeding(0);
    SAY(ACCOUNT, .account = {.host = 7,
                             .decided = 5,
                             .ended = true,
                             .consult = COORD_NEVER,
                             .committed = {0, 3},
                             .runs = true});
    account(0, 3, 5, 0, 0);
    SAY(ACCOUNT,
        .account = {.host = 3, .consult = COORD_NEVER, .ready = true, .committed = {0, 3}});
    ck_assert_int_eq(coord_phase(coord), COORD_ENDING);
    ck_assert_uint_eq(message_of(WIRE_RUN)->run.consult, COORD_NEVER);
    ck_assert(message_of(WIRE_TAKEN_OVER)->taken_over.ended);
}
END_TEST

/* The former one had said END, of which bsprun may not have heard. */
START_TEST(the_job_is_over)
{
    start_succeeding(0);
    account(0, 3, 5, 0, 0);
    account(3, 3, 5, 0, 0);
    SAY(ACCOUNT, .account = {.host = 7,
                             .decided = 5,
                             .ended = true,
                             .consult = COORD_NEVER,
                             .over = true,
                             .status = 4,
                             .committed = {0, 3},
                             .runs = true});
    expect_outcome(4, WIRE_CAUSE_NONE, COORD_NOBODY);
}
END_TEST

/* Only some had been told to run. */
START_TEST(not_all_run)
{
    start_succeeding(0);
    account(0, 0, 0, 0, 0);
    account(3, 0, 0, 0, 0);
    SAY(ACCOUNT,
        .account = {.host = 7, .consult = COORD_NEVER, .committed = {0, 3}, .ready = true});
    ck_assert_uint_eq(message_of(WIRE_RUN)->run.consult, 0);
    ck_assert_uint_eq(message_of(WIRE_RUN)->run.processes, 2);
}
END_TEST

static void account_of_making(uint32_t host, bool ready)
{
    SAY(ACCOUNT,
        .account = {.host = host, .consult = COORD_NEVER, .committed = {0, 3}, .ready = ready});
}

/* They run when those that were still made are ready, or lost. */
static void check_while_they_are_made(bool loss)
{
    start_succeeding(0);
    account_of_making(0, true);
    account_of_making(3, false);
    ck_assert_uint_eq(effects.count, 0);
    account_of_making(7, true);
    ck_assert_int_eq(coord_phase(coord), COORD_PLACING);
    ck_assert(!has_message(WIRE_RUN));
    ck_assert_uint_eq(message_of(WIRE_TAKEN_OVER)->taken_over.decided, 0);
    ck_assert_uint_eq(message_of(WIRE_COMMITTED)->envelope.superstep, 0);
    ck_assert(coord_can_lose(coord, 0));
    ck_assert(!coord_can_lose(coord, 7));
    ck_assert_int_eq(ranks_ready(0, 1), 0); /* it says so again */
    ck_assert(effects.dropped);
    ck_assert(!has_message(WIRE_RUN));
    ck_assert_int_eq(loss ? lost(3) : ranks_ready(3, 1), 0);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ck_assert_uint_eq(message_of(WIRE_RUN)->run.processes, 2);
}

START_TEST(while_they_are_made)
{
    check_while_they_are_made(false);
}
END_TEST

START_TEST(lost_while_they_are_made)
{
    check_while_they_are_made(true);
}
END_TEST

/* The former one had given up a host that was not ready. */
START_TEST(one_has_been_left_behind)
{
    start_succeeding(0);
    account(0, 0, 3, 0, 0);
    account(7, 0, 3, 0, 0);
    account_of_making(3, false);
    expect_outcome(1, WIRE_CAUSE_HOST_LOST, COORD_NOBODY);
}
END_TEST

/* Then the term is over, as by the loss of any other host. */
START_TEST(a_process_has_no_host)
{
    start_succeeding(4);
    account(0, 4, 5, 0, 4);
    lost(7);
    ck_assert_int_eq(coord_phase(coord), COORD_TAKING_OVER); /* which may know that it has ended */
    account(3, 4, 5, 0, 4);
    ck_assert_int_eq(coord_phase(coord), COORD_FAILED);
    expect_outcome(1, WIRE_CAUSE_HOST_LOST, COORD_NOBODY);
    ck_assert(coord_outcome(coord).again);
    tear_down();
    start_succeeding(4);
    account(0, 4, 5, 0, 4);
    account(7, 4, 5, 0, 4);
    SAY(ACCOUNT, .account = {.host = 3, .stopped = true, .runs = true, .committed = {4, 3}});
    ck_assert_int_eq(coord_phase(coord), COORD_FAILED);
}
END_TEST

START_TEST(a_second_loss)
{
    start_succeeding(0);
    account(0, 3, 5, 0, 0);
    account(7, 3, 5, 0, 0);
    lost(3);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ck_assert(!coord_can_lose(coord, 0));
    expect_broken(arrived(0, 6, WIRE_BARRIER_SYNC));
}
END_TEST

START_TEST(accounts_that_cannot_be)
{
    start_succeeding(0);
    expect_broken(account(0, 3, 5, 2, 0));
    expect_broken(SAY(ACCOUNT, .account = {.host = 0, .ended = true}));
    expect_broken(account(0, 3, 2, 0, 0));
    expect_broken(SAY(ACCOUNT, .account = {.host = 0, .committed = {0, 4}}));
    account(0, 3, 5, 0, 0);
    expect_broken(account(0, 3, 5, 0, 0));
    stop(WIRE_STOP_SIGNAL, 15);
    ck_assert_int_eq(coord_phase(coord), COORD_GIVING_UP);
    ck_assert_int_eq(account(7, 3, 5, 0, 0), 0);
    ck_assert(effects.dropped);
    SAY(CLOSED);
    ck_assert(has_message(WIRE_STOP_RANKS));
}
END_TEST

START_TEST(places_that_cannot_be)
{
    static const struct wire_host hosts[] = {{0, 1, "a"}, {7, 1, "b"}};
    static const uint64_t astray[] = {0, 9}, odd[] = {0, 7};
    struct coord_config config = succeeding(0);

    config.term = 3;
    config.host_count = 2;
    config.hosts = hosts;
    ck_assert_ptr_null(coord_new(&config)); /* leads of hosts that are not there */
    config.predecessor.leads = (struct wire_numbers){odd, 1};
    ck_assert_ptr_null(coord_new(&config));
    config.predecessor.leads = (struct wire_numbers){NULL, 0};
    struct coord *state = coord_new(&config);
    ck_assert_ptr_nonnull(state);
    coord_free(state);
    config.predecessor.homes = (struct wire_numbers){astray, 2};
    ck_assert_ptr_null(coord_new(&config));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {the_newest_decision_stands,
                                  the_first_barrier_is_no_snapshot,
                                  captured_for_nothing,
                                  captured_and_lost,
                                  the_newest_commit_stands,
                                  a_commit_says_that_its_barrier_was_decided,
                                  after_bsp_end,
                                  after_bsp_end_a_process_has_no_host,
                                  after_bsp_end_one_does_not_run,
                                  the_job_is_over,
                                  not_all_run,
                                  while_they_are_made,
                                  lost_while_they_are_made,
                                  one_has_been_left_behind,
                                  a_process_has_no_host,
                                  a_second_loss,
                                  accounts_that_cannot_be,
                                  places_that_cannot_be};

    return suite_run_tests("coord_takeover", tests, sizeof tests / sizeof *tests, NULL, tear_down);
}
